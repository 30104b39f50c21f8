"""The order of a quaternion's parts in a file, found out from the motion that each reading gives.

Read in the wrong order, a base that is upright at a heading far from zero lies on its side or upside down.
Near a heading of zero (of half a turn, for the other order) it stands upright, but faces backwards and leans
to another side: then its supporting foot slides over the floor, or its sole is not level.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.motion.trajectory_files.sole_heights import FootPoses

Array = NDArray[np.float64]

READINGS: Mapping[str, tuple[int, int, int, int]] = {"xyzw": (0, 1, 2, 3), "wxyz": (1, 2, 3, 0)}
"""Columns of x, y, z and w in each order."""

# Departures that retargeted motions show where they are read right: each counts one in the cost of a reading.
_SOLE_ANGLE, _HEIGHT_SPREAD, _SLIP_SPEED, _TILT = 0.1, 0.02, 0.2, 0.5
_MARGIN = 1.0
"""Least difference of the costs of two readings by which one is told from the other."""
_RATIO = 1.5
"""Least ratio of the costs by which one is told from the other."""
_FAVOURED_MARGIN, _FAVOURED_RATIO = 0.05, 4.0
"""The same for the order that is usual: a misread order was never less costly than by a ratio of 1.4."""
_SLIP_SPAN = 0.1
"""Time over which the slip of a foot is measured, s."""
_TRAVEL_SPEED = 0.2
"""Mean speed from which a base without feet is taken to travel forwards, m/s."""


class Reading(NamedTuple):
    """How plausible the motion of a base is, read in one order."""

    tilt: float  # Median angle of the base's z axis to the vertical, rad.
    sole_angle: float  # Median angle of the lower sole to the floor, rad; 0 without feet.
    # Median departure of the height of the lowest corner of the soles from its median, m; 0 without feet.
    height_spread: float
    slip_speed: float  # Median horizontal speed of the lower foot, m/s; 0 without feet.
    backwards: bool  # Whether a base without feet travels against its heading.

    @property
    def cost(self) -> float:
        """Sum of the departures, each in units of what retargeted motions show."""
        return (
            self.tilt / _TILT
            + self.sole_angle / _SOLE_ANGLE
            + self.height_spread / _HEIGHT_SPREAD
            + self.slip_speed / _SLIP_SPEED
            + 2.0 * self.backwards
        )


def find_quaternion_order(
    quaternion: Array,
    position: Array,
    time: Array,
    feet: FootPoses | None,
    favoured: str | None = None,
) -> str | None:
    """Find the order of a quaternion's parts that gives the plausible motion.

    `quaternion` (T, 4): unit quaternions as the file holds them; `position` (T, 3): position of the base in
    the world, m; `time` (T,): times of the samples, s; `feet`: poses of the feet in the base frame; None for
    a robot without soles; `favoured`: order that files of this form usually have, for which less evidence is
    enough. Returns `xyzw` or `wxyz`; None where both readings are possible.
    """
    costs = {
        order: judge_reading(quaternion[:, list(columns)], position, time, feet).cost
        for order, columns in READINGS.items()
    }
    best, other = sorted(costs, key=lambda order: costs[order])
    difference = costs[other] - costs[best]
    thresholds = [(_MARGIN, _RATIO)]
    if best == favoured:
        thresholds.append((_FAVOURED_MARGIN, _FAVOURED_RATIO))
    told_apart = any(
        difference >= margin and costs[other] >= ratio * costs[best] for margin, ratio in thresholds
    )
    return best if told_apart else None


def judge_reading(quaternion: Array, position: Array, time: Array, feet: FootPoses | None) -> Reading:
    """Measure how plausible the motion of a base is.

    `quaternion` (T, 4): orientation of the base, x, y, z, w; `position` (T, 3): position of the base in the
    world, m; `time` (T,): times of the samples, s; `feet`: poses of the feet in the base frame. Returns the
    departures.
    """
    rotation = Rotation.from_quat(quaternion).as_matrix()
    tilt = float(np.median(_angle_to_vertical(rotation)))
    if feet is None:
        return Reading(tilt, 0.0, 0.0, 0.0, _travels_backwards(rotation, position, time))
    samples = np.arange(len(time))
    centres = np.einsum("tij,ftj->fti", rotation, feet.corners.mean(axis=2)) + position
    lower = centres[..., 2].argmin(axis=0)
    soles = np.einsum("tij,tjk->tik", rotation, feet.rotation[lower, samples])
    corners = np.einsum("tj,tcj->tc", rotation[:, 2], feet.corners[lower, samples]) + position[:, 2, None]
    lowest = corners.min(axis=1)
    slip = 0.0
    # The sample one span later, over which noise of single samples counts little.
    later = np.searchsorted(time, time + _SLIP_SPAN - 1e-9)
    pairs = np.flatnonzero(later < len(time))
    if len(pairs):
        foot, later = lower[pairs], later[pairs]
        moved = centres[foot, later, :2] - centres[foot, pairs, :2]
        slip = float(np.median(np.linalg.norm(moved, axis=1) / (time[later] - time[pairs])))
    return Reading(
        tilt,
        float(np.median(_angle_to_vertical(soles))),
        float(np.median(np.abs(lowest - np.median(lowest)))),
        slip,
        False,
    )


def _angle_to_vertical(rotation: Array) -> Array:
    """Angles (T,) between the z axes of frames and the vertical, rad."""
    return np.arctan2(np.linalg.norm(rotation[:, :2, 2], axis=1), rotation[:, 2, 2])


def _travels_backwards(rotation: Array, position: Array, time: Array) -> bool:
    """Whether a base travels against the direction of its x axis."""
    if len(time) < 2:
        return False
    velocity = np.diff(position[:, :2], axis=0) / np.diff(time)[:, None]
    forward = np.einsum("ti,ti->t", velocity, rotation[:-1, :2, 0])
    return bool(np.median(forward) < -_TRAVEL_SPEED)
