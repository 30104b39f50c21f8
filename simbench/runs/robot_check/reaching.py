"""Whether a robot's hands reach where a person's do, without simulation."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares, minimize
from scipy.spatial import KDTree

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.robot_check.findings import Finding, Limits, judge
from simbench.runs.robot_check.palm_paths import MOTIONS, palm_poses

_REACHED = Limits(0.95, 0.7)
_TURNED = Limits(0.7, 0.0)
_POSITION_ERROR = 0.01
"""Position error with which a pose counts as reached, in lengths of the arm."""
_ROTATION_ERROR = 0.5
"""Angle between the robot's palm and the person's with which it counts as turned alike, rad."""
_REACH_SAMPLES, _REACH_STARTS = 200, 3
"""Random configurations of which the farthest reaching ones are improved to find the length of the arm."""
_CLOUD = 4000
"""Random configurations that say roughly where a palm can be."""
_NEAR = 0.06
"""Distance from one of them, in lengths of the arm, that counts as reached there."""
_SHIFTS = np.linspace(-0.4, 0.4, 9)
"""Displacements of the person's palms along each axis that are tried, in lengths of the arm."""
_STARTS = 3
"""Random starts of the inverse kinematics after the last solution."""


class _Arm(NamedTuple):
    """An arm: model, its coordinates and columns, frame of the palm, shoulder, m, and length, m."""

    model: pin.Model
    coordinates: Array
    columns: Array
    palm: int
    shoulder: Array
    length: float


def check_reaching(robot: Robot, posture: Array) -> list[Finding]:
    """Judge whether the hands of a robot reach where a person's do, with the trunk at rest.

    The person's palms in free and equipment motions are scaled from the length of the person's arm to the
    robot's, around the shoulder. Each point is looked for within the joint limits. `robot`: any robot;
    `posture` (n,): posture of the other joints, rad. Returns what speaks for and against it; empty for a
    robot without arms.
    """
    sides = [side for side in SIDES if f"{side}_arm" in robot.groups]
    findings = []
    for side in sides:
        lacking = [role for role in ("shoulder", "hand") if f"{side}_{role}" not in robot.frames]
        if lacking:
            reason = f"frames.{side}_{lacking[0]} is missing"
            findings.append(Finding("reach", f"{side}_hand", "no", None, "", reason))
            continue
        findings += _check_arm(robot, side, posture)
    if len(sides) == 2 and robot.floating:
        findings.append(_human_form(robot))
    return findings


def _human_form(robot: Robot) -> Finding:
    """Whether the robot has all that imitation needs."""
    try:
        require_human_form(robot)
    except RetargetError as error:
        return Finding("reach", "human_form", "no", None, "", str(error))
    reason = "it has the roles, legs and arms that a human motion needs"
    return Finding("reach", "human_form", "yes", None, "", reason)


def _check_arm(robot: Robot, side: str, posture: Array) -> list[Finding]:
    """Share of a person's palm poses that an arm reaches."""
    q = np.concatenate([pin.neutral(robot.model)[: robot.root_q], posture])
    arm = _arm(robot, side, q)
    poses = _shifted(arm, q, palm_poses(side))
    errors = np.array([_descend(arm, q, pose, index) for index, pose in enumerate(poses)])
    reached = errors[:, 0] <= _POSITION_ERROR
    turned = reached & (errors[:, 1] <= _ROTATION_ERROR)
    paths = f"{len(poses)} points of a person's palm ({', '.join(MOTIONS)}) scaled to {arm.length:.3g} m"
    joints = len(robot.groups[f"{side}_arm"])
    return [
        judge("reach", f"{side}_hand_fraction", float(reached.mean()), _REACHED, f"of {paths} are reached"),
        judge(
            "reach",
            f"{side}_palm_fraction",
            float(turned.mean()),
            _TURNED,
            f"of them with the palm turned as the person's to {np.degrees(_ROTATION_ERROR):.0f}°, "
            f"by {joints} joints",
        ),
    ]


def _shifted(arm: _Arm, q: Array, poses: Array) -> Array:
    """Move a person's palm poses as a whole to where the arm reaches most of them.

    A robot stands, and equipment is put, where it suits the robot. Palm positions in random configurations
    say roughly what is reached.
    """
    data, moved = arm.model.createData(), q.copy()
    random = np.random.default_rng(0)
    cloud = np.empty((_CLOUD, 3))
    for point, values in zip(cloud, random.uniform(*_bounds(arm), (_CLOUD, len(arm.columns))), strict=True):
        moved[arm.coordinates] = values
        pin.framesForwardKinematics(arm.model, data, moved)
        point[:] = data.oMf[arm.palm].translation - arm.shoulder
    near = KDTree(cloud / arm.length)
    shifts = np.stack(np.meshgrid(_SHIFTS, _SHIFTS, _SHIFTS, indexing="ij"), axis=-1).reshape(-1, 3)
    shifts = shifts[np.argsort(np.linalg.norm(shifts, axis=1), kind="stable")]
    distance, _ = near.query(shifts[:, None] + poses[None, :, :3, 3])
    placed = poses.copy()
    placed[:, :3, 3] += shifts[int((distance < _NEAR).sum(axis=1).argmax())]
    return placed


def _arm(robot: Robot, side: str, q: Array) -> _Arm:
    """Collect what the inverse kinematics of an arm needs."""
    model, data = robot.model, robot.model.createData()
    pin.framesForwardKinematics(model, data, q)
    joints = [model.getJointId(name) for name in robot.groups[f"{side}_arm"]]
    palm = model.getFrameId(robot.frames[f"{side}_hand"])
    shoulder = data.oMf[model.getFrameId(robot.frames[f"{side}_shoulder"])].translation.copy()
    coordinates = np.array([model.joints[joint].idx_q for joint in joints])
    columns = np.array([model.joints[joint].idx_v for joint in joints])
    arm = _Arm(model, coordinates, columns, palm, shoulder, 1.0)
    return arm._replace(length=_longest_reach(arm, q))


def _bounds(arm: _Arm) -> tuple[Array, Array]:
    """Limits of the joints of an arm, rad; those without are bounded by half a turn."""
    low = np.maximum(arm.model.lowerPositionLimit[arm.coordinates], -np.pi)
    high = np.minimum(arm.model.upperPositionLimit[arm.coordinates], np.pi)
    return low - 1e-9, np.maximum(high, low) + 1e-9


def _longest_reach(arm: _Arm, q: Array) -> float:
    """Largest distance from the shoulder to the palm within the joint limits, m."""
    data, moved = arm.model.createData(), q.copy()
    low, high = _bounds(arm)

    def nearness(values: Array) -> float:
        moved[arm.coordinates] = values
        pin.framesForwardKinematics(arm.model, data, moved)
        return -float(np.linalg.norm(data.oMf[arm.palm].translation - arm.shoulder))

    random = np.random.default_rng(0)
    samples = random.uniform(low, high, (_REACH_SAMPLES, len(low)))
    best = sorted(samples, key=nearness)[:_REACH_STARTS]
    return -min(float(minimize(nearness, start, bounds=np.column_stack([low, high])).fun) for start in best)


def _descend(arm: _Arm, q: Array, pose: Array, seed: int) -> tuple[float, float]:
    """Errors of position, in lengths of the arm, and rotation, rad, with which an arm reaches a pose."""
    data, index = arm.model.createData(), arm.coordinates
    goal = pin.SE3(pose[:3, :3], arm.shoulder + arm.length * pose[:3, 3])
    low, high = _bounds(arm)
    moved = q.copy()

    def residual(values: Array, weight: float) -> Array:
        moved[index] = values
        pin.framesForwardKinematics(arm.model, data, moved)
        palm = data.oMf[arm.palm]
        offset = (palm.translation - goal.translation) / arm.length
        return np.concatenate([offset, weight * pin.log3(goal.rotation.T @ palm.rotation)])

    def slopes(values: Array, weight: float) -> Array:
        moved[index] = values
        jacobian = pin.computeFrameJacobian(
            arm.model, data, moved, arm.palm, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        )[:, arm.columns]
        palm = pin.updateFramePlacement(arm.model, data, arm.palm)
        turned = goal.rotation.T @ palm.rotation
        local = palm.rotation.T @ jacobian[3:]
        return np.vstack([jacobian[:3] / arm.length, weight * pin.Jlog3(turned) @ local])

    random = np.random.default_rng(seed)
    starts = [np.clip(q[index], low, high), *random.uniform(low, high, (_STARTS, len(index)))]
    best = (np.inf, np.inf)
    for start in starts:
        for weight in (0.05, 0.0):
            found = least_squares(
                residual, start, slopes, bounds=(low, high), args=(weight,), max_nfev=40, xtol=1e-6
            )
            start = np.clip(found.x, low, high)
            errors = residual(found.x, 1.0)
            reached = (float(np.linalg.norm(errors[:3])), float(np.linalg.norm(errors[3:])))
            far = (reached[0] > _POSITION_ERROR, reached[1] > _ROTATION_ERROR)
            if far < (best[0] > _POSITION_ERROR, best[1] > _ROTATION_ERROR) or not np.isfinite(best[0]):
                best = reached
            if not any(far):
                return reached
    return best
