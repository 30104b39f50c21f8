"""A base pose and postures near given ones in which the robot's links are not inside each other."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import first_joint
from simbench.retargeting.collision.clearance import clearance_rows
from simbench.retargeting.placement.base_gauss_newton import BaseRange
from simbench.retargeting.placement.hand_path import BASE_SIZE, HandPath, from_base, rotation_about_z
from simbench.retargeting.placement.reach_model import ReachabilityModel

_CLEARANCE = 0.002
"""That is aimed at, m."""
_MOST_PAIRS = 16
"""Of a pose that are looked at, the deepest."""
_ROUNDS = 40


def separate_links(
    reach: ReachabilityModel, hand_path: HandPath, base: Array, path: Array, box: Array, base_range: BaseRange
) -> tuple[Array, Array]:
    """Find the base pose and the postures where points and clearances together miss the least.

        min Σ_k Σ_p w_p² ‖p_k,p - p(q_k)‖² + Σ_k Σ_pairs max(0, 2 mm - d(q_k))²

    Unlike the placement's other problems it is solved by scipy's trust region: the base and the joints of all
    poses are unknowns together, as the links of one pose may have to be separated by moving the base.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot.
    hand_path : HandPath
        A few poses.
    base : (6,) array
        Base parameters to begin with, as in `HandPath`.
    path : (K, n) array
        Joint positions to begin with, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    base_range : BaseRange
        Bounds of the base pose.

    Returns
    -------
    base : (6,) array
        Base parameters.
    path : (K, n) array
        Joint positions, rad.
    """
    count, n = path.shape
    least = np.concatenate([base_range.low, np.tile(box[0], count)]) - 1e-9
    most = np.concatenate([base_range.high, np.tile(box[1], count)]) + 1e-9
    start = np.concatenate([base, path.ravel()]).clip(least + 1e-10, most - 1e-10)
    residuals = _once(lambda unknowns: _residuals(reach, hand_path, unknowns.copy()))
    solved = least_squares(
        lambda unknowns: residuals(unknowns)[0],
        start,
        lambda unknowns: residuals(unknowns)[1],
        bounds=(least, most),
        max_nfev=_ROUNDS,
    ).x
    found = solved[:BASE_SIZE].clip(base_range.low, base_range.high)
    return found, solved[BASE_SIZE:].reshape(count, n).clip(*box)


def _residuals(reach: ReachabilityModel, hand_path: HandPath, unknowns: Array) -> tuple[Array, Array]:
    """Compute what is missing and its derivatives, the pairs' rows filled up with zeros."""
    model, data, hands = reach.model, reach.pairs.data, reach.hands
    base, joints = unknowns[:BASE_SIZE], unknowns[BASE_SIZE:].reshape(len(hand_path.points), -1)
    n, root, first = joints.shape[1], pin.neutral(model)[: reach.robot.root_q], first_joint(model) - 1
    gain, reference = hands.compensation.gain, hands.compensation.reference
    targets = from_base(base, hand_path)
    errors, slopes = [], []
    for pose, posture in enumerate(joints):
        q = np.concatenate([root, posture])
        columns = slice(BASE_SIZE + pose * n, BASE_SIZE + (pose + 1) * n)
        sway, sway_slope = np.zeros(3), np.zeros((3, n))
        com_jacobian = pin.jacobianCenterOfMass(model, data, q)[:2, -n:]
        sway[:2] = gain * (data.com[0][:2] - reference)
        sway_slope[:2] = gain[:, None] * com_jacobian
        moves = _root_motion(base, hand_path.hands[pose])
        for k, (body, point, weight) in enumerate(
            zip(hands.tasks.point_body.tolist(), hands.tasks.point, hands.tasks.point_weight, strict=True)
        ):
            jacobian = pin.getJointJacobian(
                model, data, first + body, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )[:, -n:]
            arm = data.oMi[first + body].rotation @ point
            slope = np.zeros((3, len(unknowns)))
            slope[:, columns] = jacobian[:3] - pin.skew(arm) @ jacobian[3:] - sway_slope
            slope[:, :BASE_SIZE] = moves
            # The rotation of the root moves the targets in its axes, too.
            slope[:2, 3] += (-targets[pose, k, 1], targets[pose, k, 0])
            errors.append(weight * (data.oMi[first + body].translation + arm - sway - targets[pose, k]))
            slopes.append(weight * slope)
        away, missing = clearance_rows(reach.pairs, posture, _CLEARANCE, root)
        deepest = np.argsort(-missing)[:_MOST_PAIRS]
        rows, short = np.zeros((_MOST_PAIRS, len(unknowns))), np.zeros(_MOST_PAIRS)
        rows[: len(deepest), columns], short[: len(deepest)] = -away[deepest], missing[deepest]
        errors.append(short)
        slopes.append(rows)
    return np.concatenate(errors), np.vstack(slopes)


def _root_motion(base: Array, hands: Array) -> Array:
    """Compute how the base parameters move the root in its own axes (3, 6)."""
    c, s = np.cos(base[3]), np.sin(base[3])
    rotation = rotation_about_z(base[3])
    moves = np.zeros((3, BASE_SIZE))
    moves[:, :3] = rotation.T
    moves[:, 3] = rotation.T @ (base[5] * hands[2] * np.array([-s, c, 0.0]))
    moves[:, 4] = rotation.T @ (hands[0], hands[1], 0.0)
    moves[:, 5] = (hands[2], 0.0, 0.0)
    return moves


def _once(function: Callable[[Array], tuple[Array, Array]]) -> Callable[[Array], tuple[Array, Array]]:
    """Keep the last result: value and derivative are asked for one after the other."""
    last: list[tuple[Array, tuple[Array, Array]]] = []

    def remembered(unknowns: Array) -> tuple[Array, Array]:
        if not last or not np.array_equal(last[0][0], unknowns):
            last[:] = [(unknowns.copy(), function(unknowns))]
        return last[0][1]

    return remembered
