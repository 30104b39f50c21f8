"""A place and postures near given ones in which the robot's links are out of each other."""

from collections.abc import Callable

import numpy as np
import pinocchio as pin
from scipy.optimize import least_squares

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import first_joint
from simbench.retargeting.collision.clearance import clearance_rows
from simbench.retargeting.placement.hand_path import PLACE_SIZE, HandPath, from_base
from simbench.retargeting.placement.reach_model import ReachabilityModel

_CLEARANCE = 0.002
"""That is aimed at, m."""
_MOST_PAIRS = 16
"""Of a pose that are looked at, the deepest."""
_ROUNDS = 40


def separate_links(
    reach: ReachabilityModel, course: HandPath, place: Array, path: Array, box: Array, low: Array, high: Array
) -> tuple[Array, Array]:
    """Find the place and the postures where points and clearances together miss the least.

        min Σ_k Σ_p w_p² ‖p_k,p - p(q_k)‖² + Σ_k Σ_pairs max(0, 2 mm - d(q_k))²

    Parameters
    ----------
    reach : ReachabilityModel
    course : HandPath
        A few poses.
    place : (6,) array
        Where to begin, as in `HandPath`.
    path : (K, n) array
        Where to begin, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    low, high : (6,) array
        Of the place.

    Returns
    -------
    place : (6,) array
    path : (K, n) array
    """
    count, n = path.shape
    least = np.concatenate([low, np.tile(box[0], count)]) - 1e-9
    most = np.concatenate([high, np.tile(box[1], count)]) + 1e-9
    start = np.concatenate([place, path.ravel()]).clip(least + 1e-10, most - 1e-10)
    misses = _once(lambda unknowns: _misses(reach, course, unknowns.copy()))
    solved = least_squares(
        lambda unknowns: misses(unknowns)[0],
        start,
        lambda unknowns: misses(unknowns)[1],
        bounds=(least, most),
        max_nfev=_ROUNDS,
    ).x
    return solved[:PLACE_SIZE].clip(low, high), solved[PLACE_SIZE:].reshape(count, n).clip(*box)


def _misses(reach: ReachabilityModel, course: HandPath, unknowns: Array) -> tuple[Array, Array]:
    """Compute what is missing and its derivatives, the pairs' rows filled up with zeros."""
    model, data, counter = reach.model, reach.pairs.data, reach.counter
    place, joints = unknowns[:PLACE_SIZE], unknowns[PLACE_SIZE:].reshape(len(course.points), -1)
    n, root, first = joints.shape[1], pin.neutral(model)[: reach.robot.root_q], first_joint(model) - 1
    c, s = np.cos(place[3]), np.sin(place[3])
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    seen = from_base(place, course)
    wrong, slopes = [], []
    for pose, own in enumerate(joints):
        q = np.concatenate([root, own])
        columns = slice(PLACE_SIZE + pose * n, PLACE_SIZE + (pose + 1) * n)
        sway, sway_slope = np.zeros(3), np.zeros((3, n))
        carried = pin.jacobianCenterOfMass(model, data, q)[:2, -n:]
        sway[:2] = counter.gain * (data.com[0][:2] - counter.middle)
        sway_slope[:2] = counter.gain[:, None] * carried
        hands = course.hands[pose]
        # How the place moves the root in its own axes; its turn moves what is seen of the points.
        moves = np.zeros((3, PLACE_SIZE))
        moves[:, :3] = turn.T
        moves[:, 3] = turn.T @ (place[5] * hands[2] * np.array([-s, c, 0.0]))
        moves[:, 4] = turn.T @ (hands[0], hands[1], 0.0)
        moves[:, 5] = (hands[2], 0.0, 0.0)
        for k, (body, point, weight) in enumerate(
            zip(reach.tasks.point_body.tolist(), reach.tasks.point, reach.tasks.point_weight, strict=True)
        ):
            jacobian = pin.getJointJacobian(
                model, data, first + body, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
            )[:, -n:]
            arm = data.oMi[first + body].rotation @ point
            slope = np.zeros((3, len(unknowns)))
            slope[:, columns] = jacobian[:3] - pin.skew(arm) @ jacobian[3:] - sway_slope
            slope[:, :PLACE_SIZE] = moves
            slope[:2, 3] += (-seen[pose, k, 1], seen[pose, k, 0])
            wrong.append(weight * (data.oMi[first + body].translation + arm - sway - seen[pose, k]))
            slopes.append(weight * slope)
        away, missing = clearance_rows(reach.pairs, own, _CLEARANCE, root)
        deepest = np.argsort(-missing)[:_MOST_PAIRS]
        rows, short = np.zeros((_MOST_PAIRS, len(unknowns))), np.zeros(_MOST_PAIRS)
        rows[: len(deepest), columns], short[: len(deepest)] = -away[deepest], missing[deepest]
        wrong.append(short)
        slopes.append(rows)
    return np.concatenate(wrong), np.vstack(slopes)


def _once(function: Callable[[Array], tuple[Array, Array]]) -> Callable[[Array], tuple[Array, Array]]:
    """Keep the last result: value and derivative are asked for one after the other."""
    last: list[tuple[Array, tuple[Array, Array]]] = []

    def remembered(unknowns: Array) -> tuple[Array, Array]:
        if not last or not np.array_equal(last[0][0], unknowns):
            last[:] = [(unknowns.copy(), function(unknowns))]
        return last[0][1]

    return remembered
