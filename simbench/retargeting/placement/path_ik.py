"""Hands that are brought to their handles, pose after pose."""

from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.retargeting.placement.posture_ik import solve_path_ik, solve_posture_ik, weak_pull
from simbench.retargeting.placement.reach_model import LEVER, ReachabilityModel


@dataclass(frozen=True)
class Grasps:
    """How the hands come to their handles.

    Parameters
    ----------
    joints : (K, n) array
        rad.
    off : (K,) array
        Distance of the palm that is farthest from its place, m.
    turned : (K,) array
        Angle of the palm that is turned farthest from where it should be, rad.
    """

    joints: Array
    off: Array
    turned: Array


def grasp_handles(
    reach: ReachabilityModel,
    points: Array,
    rest: Array,
    box: Array,
    *,
    tolerance: tuple[float, float] = (np.inf, np.inf),
    rounds: int = 12,
) -> Grasps:
    """Bring the hands to their handles pose after pose.

    Parameters
    ----------
    reach : ReachabilityModel
    points : (K, P, 3) array
        From `handle_points`, in the axes of the robot's root where it does not sway, m.
    rest : (n,) array
        Joints from which the first pose is looked for, and near which all stay as far as they can, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    tolerance : (float, float)
        Distance (m) and turn (rad) of a palm from its place beyond which the path need not be followed any
        further; the palms then count as infinitely far off.
    rounds : int
        Most steps a pose.

    Returns
    -------
    Grasps
    """
    path, found = np.empty((len(points), len(rest))), np.empty(points.shape)
    solve_path_ik(
        reach.tree,
        reach.tasks,
        reach.counter,
        np.ascontiguousarray(points),
        np.ascontiguousarray(box[0]),
        np.ascontiguousarray(box[1]),
        np.ascontiguousarray(rest),
        reach.work,
        rounds,
        tolerance[0] + LEVER * tolerance[1],
        path,
        found,
    )
    off, turned = np.zeros(len(points)), np.zeros(len(points))
    for side, columns in reach.columns.items():
        wrong = found[:, columns] - points[:, columns]
        if np.isinf(wrong).any():
            return Grasps(path, np.full(len(points), np.inf), np.full(len(points), np.pi))
        off = np.maximum(off, np.linalg.norm(wrong[:, 0], axis=1))
        chords = np.square(wrong[:, 1:] - wrong[:, :1]).sum(axis=(1, 2)) / LEVER**2
        # Three unit axes turned by an angle a move by 8 sin²(a / 2) in sum of squares, a single one by 4.
        whole = 4.0 if reach.free[side] else 8.0
        turned = np.maximum(turned, 2.0 * np.arcsin(np.sqrt(np.minimum(chords / whole, 1.0))))
    return Grasps(path, off, turned)


def step_towards(reach: ReachabilityModel, points: Array, rest: Array, box: Array, joints: Array) -> None:
    """Bring the hands of one pose to points nearby, as `grasp_handles` does from pose to pose.

    Parameters
    ----------
    reach : ReachabilityModel
    points : (P, 3) array
        As in `grasp_handles`, m.
    rest : (n,) array
        Near what the joints stay, rad.
    box : (2, n) array
        Least and greatest positions of the joints, rad.
    joints : (n,) array
        Where to begin; overwritten.
    """
    solve_posture_ik(
        reach.tree,
        reach.tasks,
        reach.counter,
        points,
        np.ascontiguousarray(box[0]),
        np.ascontiguousarray(box[1]),
        rest,
        weak_pull(box),
        joints,
        reach.work,
        12,
    )
