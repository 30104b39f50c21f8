"""Path of the hands and base parameters: six numbers that say where the root is while the hands move."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.reach_model import ReachabilityModel, handle_path_points

BASE_SIZE = 6
"""x, y, z (m) and heading (rad) of the root, and how far it goes with the hands: `follow` and `advance`."""


class HandPath(NamedTuple):
    """Points of the palms along their path, and what moves the root of the robot meanwhile.

    In pose k a root with the base parameters (x, y, z, heading, follow, advance) is at

        (x, y, z) + sway_k + follow (h_k,x, h_k,y, 0) + advance h_k,z (cos heading, sin heading, 0),

    h being the displacement of the hands: the root goes with them by a part of their horizontal motion, and
    forward while they rise. What it sways against the arms comes on top.

    Parameters
    ----------
    points : (K, P, 3) array
        Targets of the palms' points in the world, from `handle_path_points`, m.
    sway : (K, 3) array
        What else balance asks of the root, m, world.
    hands : (K, 3) array
        Displacement of the hands in the world, from `hand_displacement`, m.
    """

    points: Array
    sway: Array
    hands: Array


def make_hand_path(reach: ReachabilityModel, handles: Mapping[str, HandlePath], sway: Array) -> HandPath:
    """Prepare the path of the hands along their handles.

    What the COG goes with the hands, the root goes a little farther, as the feet stay.

    Parameters
    ----------
    reach : ReachabilityModel
        Reachability model of the robot; only the gain of its COM compensation is used.
    handles : {side: HandlePath}
        Path of the handle that each hand holds.
    sway : (K, 3) array
        What else balance asks of the root, m, world.

    Returns
    -------
    HandPath
        Hand path in the axes of the world.
    """
    gain = float(reach.hands.compensation.gain.mean())
    return HandPath(handle_path_points(handles), sway, gain * hand_displacement(handles))


def select_poses(hand_path: HandPath, poses: NDArray[np.int64]) -> HandPath:
    """Keep some of the poses of a path only.

    Parameters
    ----------
    hand_path : HandPath
        Hand path of K poses.
    poses : (S,) int array
        Indices of the poses to keep.

    Returns
    -------
    HandPath
        Hand path of the S selected poses.
    """
    return HandPath(*(np.ascontiguousarray(values[poses]) for values in hand_path))


def hand_displacement(handles: Mapping[str, HandlePath]) -> Array:
    """Add up half of what each handle moves from the middle of its path.

    Parameters
    ----------
    handles : {side: HandlePath}
        Path of the handle that each hand holds; both move together.

    Returns
    -------
    (K, 3) array
        Displacement in the world, m.
    """
    total = np.zeros((len(handle_path_points(handles)), 3))
    for handle in handles.values():
        path = handle.poses[:, :3, 3]
        total += 0.5 * (path - 0.5 * (path.min(axis=0) + path.max(axis=0)))
    return total


def com_offset(hands: Array, heading: float, follow: float, advance: float) -> Array:
    """Compute how far the root, or the COG, goes with the hands.

    Parameters
    ----------
    hands : (K, 3) array
        Displacement of the hands, from `hand_displacement`, m.
    heading : float
        Heading of the robot, rad about z.
    follow : float
        Part of the hands' horizontal displacement.
    advance : float
        Displacement forward, m, for each metre that the hands rise.

    Returns
    -------
    (K, 2) array
        Displacement in the world, m.
    """
    ahead = np.array([np.cos(heading), np.sin(heading)])
    return np.asarray(follow * hands[:, :2] + advance * hands[:, 2:] * ahead)


def base_displacement(base: Sequence[float] | Array, hand_path: HandPath) -> Array:
    """Compute where a root is in each pose of a path.

    Parameters
    ----------
    base : (6,) array or sequence of float
        Base parameters, as in `HandPath`.
    hand_path : HandPath
        Hand path of K poses.

    Returns
    -------
    (K, 3) array
        Positions of the root in the axes of the path, m.
    """
    root = np.asarray(base[:3]) + hand_path.sway
    root[:, :2] += com_offset(hand_path.hands, base[3], base[4], base[5])
    return root


def from_base(base: Sequence[float] | Array, hand_path: HandPath) -> Array:
    """Express the points of a path in the axes of a root.

    Parameters
    ----------
    base : (6,) array or sequence of float
        Base parameters, as in `HandPath`.
    hand_path : HandPath
        Hand path of K poses.

    Returns
    -------
    (K, P, 3) array
        Points, m.
    """
    displacement = base_displacement(base, hand_path)[:, None]
    return np.asarray((hand_path.points - displacement) @ rotation_about_z(base[3]))


def rotated_path(hand_path: HandPath, angle: float) -> HandPath:
    """Express a path in axes that are rotated about z.

    Parameters
    ----------
    hand_path : HandPath
        Hand path in any axes.
    angle : float
        Rotation of the new axes, rad.

    Returns
    -------
    HandPath
        Hand path in the rotated axes.
    """
    rotation = rotation_about_z(angle)
    return HandPath(hand_path.points @ rotation, hand_path.sway @ rotation, hand_path.hands @ rotation)


def rotation_about_z(angle: float) -> Array:
    """Compute the rotation matrix of an angle about z.

    Parameters
    ----------
    angle : float
        Angle, rad.

    Returns
    -------
    (3, 3) array
        Rotation matrix.
    """
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
