"""Postures of the arms: straight forward, hanging beside the thighs, and ready for work."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.robot.scaffold.chains import LimbChain
from simbench.robot.scaffold.tree import Array, RobotTree

_MARGIN = 0.02
"""Distance of postures from the joint limits, as a fraction of the travel."""
_STARTS = 6
_READY_SAMPLES = 3000


class ArmTarget(NamedTuple):
    """Wanted directions of an arm in the root link's frame."""

    # `upper_arm`, `forearm` (3,): unit vectors from shoulder to elbow and from elbow to wrist.
    upper_arm: Array
    forearm: Array
    palm: Array  # (3, 3): wanted rotation of the palm's frame.
    palm_weight: float  # Weight of the palm against the directions.


class ArmSolution(NamedTuple):
    """Posture of an arm."""

    q: Array  # (n,): positions of all joints of the robot, those of other limbs as they were.
    arm_error: float  # Largest angle between wanted and reached directions of upper arm and forearm, rad.
    palm_error: float  # Angle between wanted and reached palm, rad.
    cost: float  # Weighted square sum, with the nearness to limits and to zero.


def solve_arm(tree: RobotTree, limb: LimbChain, palm: pin.SE3, target: ArmTarget, q: Array) -> ArmSolution:
    """Find the posture of an arm that is nearest to wanted directions.

    `palm`: palm's frame in the frame of the arm's last body; `q` (n,): positions of all joints at the start.
    Returns the best of several descents.
    """
    index = np.array(limb.joints) - 1
    low, high = np.array([tree.limits(joint) for joint in limb.joints]).T
    span = np.maximum(high - low, 1e-6)
    low, high = low + _MARGIN * span, high - _MARGIN * span
    data, moved = tree.model.createData(), q.copy()

    def errors(values: Array) -> tuple[Array, Array]:
        moved[index] = values
        pin.forwardKinematics(tree.model, data, moved)
        shoulder, elbow, wrist = (data.oMi[j].translation for j in (limb.start, limb.middle, limb.joints[-1]))
        rotation = data.oMi[limb.joints[-1]].rotation @ palm.rotation
        arm = np.concatenate(
            [_unit(elbow - shoulder) - target.upper_arm, _unit(wrist - elbow) - target.forearm]
        )
        return arm, pin.log3(rotation.T @ target.palm)

    def residual(values: Array) -> Array:
        arm, hand = errors(values)
        return np.concatenate([arm, target.palm_weight * hand, 0.02 * (values - q[index])])

    random = np.random.default_rng(0)
    starts = [np.clip(q[index], low + 1e-6, high - 1e-6)]
    starts += [low + random.uniform(0.1, 0.9, len(index)) * (high - low) for _ in range(_STARTS)]
    found = [least_squares(residual, start, bounds=(low, high), max_nfev=60) for start in starts]
    best = min(found, key=lambda each: round(float(each.cost), 7))
    arm, hand = errors(best.x)
    margin = np.minimum(best.x - low, high - best.x) / span
    near = float(np.sum(np.maximum(0.08 - margin, 0.0)))
    return ArmSolution(
        moved.copy(),
        float(max(np.linalg.norm(arm[:3]), np.linalg.norm(arm[3:]))),
        float(np.linalg.norm(hand)),
        float(best.cost) + near,
    )


def find_ready_postures(
    tree: RobotTree, limb: LimbChain, palm: pin.SE3, forward: Array, left: Array
) -> list[Array]:
    """Find postures of an arm before its base, away from limits and singularities, the best first.

    Of many configurations within the limits, those with the hand in front, at medium distance and pointing
    forward or down are compared by manipulability (Yoshikawa 1985), relative to the largest found, and by the
    distance from the limits. `palm`: palm's frame in the frame of the arm's last body; `forward`, `left`
    (3,): directions in the root link's frame. Returns list of (n,) array: positions of all joints, those of
    others at rest; the best fifty.
    """
    index = np.array(limb.joints) - 1
    low, high = np.array([tree.limits(joint) for joint in limb.joints]).T
    low, high = np.maximum(low, -np.pi), np.minimum(high, np.pi)
    random = np.random.default_rng(0)
    samples = low + random.uniform(0.12, 0.88, (_READY_SAMPLES, len(index))) * (high - low)
    data, q = tree.model.createData(), tree.rest.copy()
    shoulder = tree.poses[limb.start].translation
    scores, measures, margins = [], [], []
    for values in samples:
        q[index] = values
        pin.computeJointJacobians(tree.model, data, q)
        hand = data.oMi[limb.joints[-1]] * palm
        jacobian = pin.getJointJacobian(tree.model, data, limb.joints[-1], pin.LOCAL)[:, index]
        singular = np.linalg.svd(jacobian)[1][: min(6, len(index))]
        measures.append(float(np.prod(singular)))
        span = np.minimum(values - low, high - values) / np.maximum(high - low, 1e-6)
        margins.append(float(span.min()))
        offset = hand.translation - shoulder
        pointing = hand.rotation[:, 0]
        elbow = data.oMi[limb.middle].translation - shoulder
        scores.append(
            1.0 * _unit(offset) @ forward
            - abs(float(_unit(offset) @ left))
            + max(float(pointing @ forward), 0.8 * float(-pointing[2]))
            + 0.3 * float(np.clip(_unit(elbow)[2], -1, 1))
        )
    measure = np.array(measures) / max(max(measures), 1e-12)
    total = np.array(scores) + 1.5 * np.sqrt(measure) + 3.0 * np.array(margins)
    total -= 0.5 * np.abs(samples - np.clip(0.0, low, high)).mean(axis=1)
    postures = []
    for best in np.argsort(-np.round(total, 9), kind="stable")[:50]:
        q[index] = np.round(samples[best], 3)
        postures.append(q.copy())
    return postures


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
