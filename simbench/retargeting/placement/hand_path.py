"""What the palms and the root go through together, and the six numbers that say where the root is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath
from simbench.retargeting.placement.reach_model import ReachabilityModel, handle_way_points

PLACE_SIZE = 6
"""x, y, z (m) and heading (rad) of the root, and how far it goes with the hands: `follow` and `advance`."""


@dataclass(frozen=True)
class HandPath:
    """Poses of the hands along their way, and what moves the root of the robot meanwhile.

    In pose k a root with the numbers (x, y, z, heading, follow, advance) is at

        (x, y, z) + sway_k + follow (h_k,x, h_k,y, 0) + advance h_k,z (cos heading, sin heading, 0),

    h being the hands' way: it goes with them by a part of their horizontal motion, and forward while they
    rise. What it sways against the arms comes on top.

    Parameters
    ----------
    points : (K, P, 3) array
        From `handle_way_points`, m.
    sway : (K, 3) array
        What else balance asks of the root, m.
    hands : (K, 3) array
        From `hand_displacement`, m.
    """

    points: Array
    sway: Array
    hands: Array

    def some(self, poses: NDArray[np.int64]) -> "HandPath":
        """Keep some of the poses only."""
        return HandPath(
            *(np.ascontiguousarray(values[poses]) for values in (self.points, self.sway, self.hands))
        )


def make_hand_path(reach: ReachabilityModel, handles: Mapping[str, HandlePath], sway: Array) -> HandPath:
    """Prepare the course of handles, the root swaying (K, 3), m, world.

    What the COG goes with the hands, the root goes a little farther, as the feet stay.
    """
    return HandPath(
        handle_way_points(handles), sway, float(reach.counter.gain.mean()) * hand_displacement(handles)
    )


def hand_displacement(handles: Mapping[str, HandlePath]) -> Array:
    """Half the sum of what the handles move from the middles of their ways.

    Parameters
    ----------
    handles : {side: HandlePath}

    Returns
    -------
    (K, 3) array
        m, world.
    """
    total = np.zeros((len(handle_way_points(handles)), 3))
    for handle in handles.values():
        way = handle.poses[:, :3, 3]
        total += 0.5 * (way - 0.5 * (way.min(axis=0) + way.max(axis=0)))
    return total


def com_offset(hands: Array, heading: float, follow: float, advance: float) -> Array:
    """How far the root, or the COG, goes with the hands.

    Parameters
    ----------
    hands : (K, 3) array
        From `hand_displacement`, m.
    heading : float
        rad about z.
    follow, advance : float

    Returns
    -------
    (K, 2) array
        m, world.
    """
    ahead = np.array([np.cos(heading), np.sin(heading)])
    return np.asarray(follow * hands[:, :2] + advance * hands[:, 2:] * ahead)


def base_displacement(place: Sequence[float] | Array, course: HandPath) -> Array:
    """Compute where a root with the six numbers is in each pose of a course (K, 3), m."""
    root = np.asarray(place[:3]) + course.sway
    root[:, :2] += com_offset(course.hands, place[3], place[4], place[5])
    return root


def from_base(place: Sequence[float] | Array, course: HandPath) -> Array:
    """Express the points of a course (K, P, 3), m, in the axes of a root with the six numbers."""
    c, s = np.cos(place[3]), np.sin(place[3])
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return np.asarray((course.points - base_displacement(place, course)[:, None]) @ turn)


def rotated_path(course: HandPath, angle: float) -> HandPath:
    """Express a course in axes that are turned about z by an angle, rad."""
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    return HandPath(course.points @ turn, course.sway @ turn, course.hands @ turn)
