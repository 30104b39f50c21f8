"""The floor under a recorded person: where it is, and whether it is level, from where the feet carry them."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals, point_speeds
from simbench.motion.foot_motion import foot_points, person_feet, standing_heights
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

_STANDING_SPEED, _SWINGING_SPEED = 0.25, 0.6
"""Speeds below which a foot may stand, and above which it swings, so that the other one carries, m/s."""
_STAY = 0.15
"""Time for which a foot must stand to say where the floor is, s: at the top of a jump both feet are slow for
less."""
_STEP_HEIGHT = 0.10
"""Height above the floor from which on a person who stands is on a step, m: a stair is 0.15 to 0.2 m high,
and markers of one foot differ by a few centimetres."""
_UNEVEN = 0.04
"""Range of the heights at which feet stand up to which they are on one plane, m."""
_OUTLIERS = 0.02
"""Part of the heights at both ends that does not count."""
_LARGEST_TILT = 0.09
"""Largest tilt of a recording's floor, a slope: 5 degrees. Stairs have 25 to 40."""
_FLOATING = 0.04
"""Height over z = 0 from which on feet float, or sink, m: joints and markers of feet that stand on it are up
to 4 cm away from where they are expected."""
_NOTED = 0.02
"""Height of the lowest joint over z = 0 from which on it is noted, m."""
_ANKLE = 0.079
"""Height of the ankle over the floor by the length of thigh and shank (Drillis and Contini 1966: 0.039 by
0.491 of the stature)."""


class _Support(NamedTuple):
    """N samples at which one foot is known to carry the person.

    Parameters
    ----------
    time : (N,) array
        Times, s.
    places : (N, 2) array
        Where the ankle is, m.
    heights : (N,) array
        How much higher the foot's lowest joint is than where it usually stands, m.
    """

    time: Array
    places: Array
    heights: Array


class _Plane(NamedTuple):
    """A floor that is not level: its slope along x and y, and its speed upwards, m/s; one of them is zero."""

    slope: Array
    speed: float


def on_level_floor(motion: HumanMotion) -> tuple[HumanMotion, tuple[str, ...], tuple[str, ...]]:
    """Put a person on a level floor at z = 0.

    Heights that drift at a constant speed, or a floor that is tilted by up to 5 degrees, are taken off if the
    feet stand on such a plane and not on a level one; then feet that float or sink by more than 4 cm are put
    on the floor. Otherwise the recording is returned as it is.

    Parameters
    ----------
    motion : HumanMotion
        The recording, with hips, knees and ankles.

    Returns
    -------
    motion : HumanMotion
        The same motion over a level floor, world frame.
    notes, doubts : tuple of str
        What was assumed, and what may be wrong, one line each.

    Raises
    ------
    RetargetError
        If the feet carry the person at heights that differ by more than 10 cm and are on no such plane:
        stairs, a step or a slope.
    """
    doubts: list[str] = []
    support = _find_support(motion)
    uneven = _spread(support.heights)
    if uneven > _UNEVEN:
        plane = _fit_plane(support)
        if plane is not None:
            doubts.append(_describe(plane, motion))
            motion = _without_plane(motion, plane)
        elif uneven > _STEP_HEIGHT:
            from_start = np.abs(support.heights - support.heights[0])
            raise RetargetError(
                f"retarget.physics: steps: {motion.source}: the person stands at heights that differ by "
                f"{uneven:.2f} m, {from_start.max():.2f} m from the first at "
                f"{support.time[from_start.argmax()]:.2f} s: stairs, a step or a slope; allowed: a level "
                "floor"
            )
        else:
            doubts.append(
                f"the feet stand at heights that differ by {uneven:.2f} m; the floor is taken to be level"
            )
    offset, lowest = _floor_height(motion)
    if abs(offset) > _FLOATING:
        how = "float: they stand" if offset > 0.0 else "sink: they are"
        where = "above" if offset > 0.0 else "below"
        doubts.append(
            f"the feet {how} {abs(offset):.2f} m {where} the recording's floor; it is taken to be there"
        )
        return _shifted(motion, np.full(len(motion.time), -offset)), (), tuple(doubts)
    note = f"the feet's lowest joint stands {lowest:.3f} m above z = 0, which is taken for the floor"
    return motion, (note,) if abs(lowest) > _NOTED else (), tuple(doubts)


def leg_segments(motion: HumanMotion) -> float:
    """Measure the legs from hip to ankle.

    Parameters
    ----------
    motion : HumanMotion
        Recording with hips, knees and ankles.

    Returns
    -------
    float
        Length of thigh and shank together, the median over time and the mean of both legs, m.
    """
    lengths = []
    for side in SIDES:
        hip, knee, ankle = (motion.joints[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        lengths.append(np.median(np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)))
    return float(np.mean(lengths))


def _find_support(motion: HumanMotion) -> _Support:
    """Find when one foot carries the person: it stands while the other one swings or stands higher."""
    floor, feet = standing_heights(motion), person_feet(motion)
    above, speed = {}, {}
    for side, points in feet.items():
        stands = np.array([floor[name] for name in foot_points(motion, side)])
        above[side] = (points[..., 2] - stands).min(axis=1)
        speed[side] = point_speeds(motion.time, points).min(axis=1)
    rows, sides = [], []
    for index, (side, other) in enumerate((SIDES, SIDES[::-1])):
        lower = (speed[other] < _STANDING_SPEED) & (above[side] <= above[other])
        carries = (speed[side] < _STANDING_SPEED) & ((speed[other] > _SWINGING_SPEED) | lower)
        for first, last in contact_intervals(np.asarray(carries)):
            if motion.time[last] - motion.time[first] >= _STAY:
                rows.append(np.arange(first, last + 1))
                sides.append(np.full(last + 1 - first, index))
    if not rows:
        return _Support(np.zeros(0), np.zeros((0, 2)), np.zeros(0))
    row, foot = np.concatenate(rows), np.concatenate(sides)
    order = np.argsort(row, kind="stable")
    row, foot = row[order], foot[order]
    ankles = np.stack([motion.joints[f"{side}_ankle"][:, :2] for side in SIDES])
    heights = np.stack([above[side] for side in SIDES])
    return _Support(motion.time[row], ankles[foot, row], heights[foot, row])


def _spread(heights: Array) -> float:
    """Range of heights without the outermost ones, m."""
    if not len(heights):
        return 0.0
    return float(np.ptp(np.quantile(heights, [_OUTLIERS, 1.0 - _OUTLIERS])))


def _fit_plane(support: _Support) -> _Plane | None:
    """Fit a tilted floor, and one that drifts, and take the better one.

    None if the feet are on neither, if it explains less than half of their heights' differences, or if it is
    too steep.
    """
    heights = support.heights - support.heights.mean()
    found = []
    for known in (support.places, support.time[:, None]):
        centred = known - known.mean(axis=0)
        solution = np.linalg.lstsq(centred, heights, rcond=1e-3)[0]
        found.append((_spread(heights - centred @ solution), solution))
    (beside_tilt, slope), (beside_drift, speed) = found
    if min(beside_tilt, beside_drift) > min(_UNEVEN, 0.5 * _spread(heights)):
        return None
    if beside_drift <= beside_tilt:
        return _Plane(np.zeros(2), float(speed[0]))
    return _Plane(slope, 0.0) if np.linalg.norm(slope) <= _LARGEST_TILT else None


def _without_plane(motion: HumanMotion, plane: _Plane) -> HumanMotion:
    """Take a plane's height off that of each joint, beginning with none where the person begins."""
    feet = np.mean([motion.joints[f"{side}_ankle"][0, :2] for side in SIDES], axis=0)
    joints = {}
    for name, track in motion.joints.items():
        joints[name] = track.copy()
        joints[name][:, 2] -= (track[:, :2] - feet) @ plane.slope + plane.speed * motion.time
    return replace(motion, joints=joints)


def _describe(plane: _Plane, motion: HumanMotion) -> str:
    """Say what is taken off of the heights."""
    if plane.speed:
        what = f"the heights drift by {plane.speed * motion.time[-1]:+.2f} m in {motion.time[-1]:.1f} s"
    else:
        track = np.mean([motion.joints[f"{side}_ankle"][:, :2] for side in SIDES], axis=0)
        what = (
            f"the recording's floor is tilted by {np.degrees(np.arctan(np.linalg.norm(plane.slope))):.1f} "
            f"degrees, {np.ptp(track @ plane.slope):.2f} m along the way"
        )
    return f"{what}: taken off, the robot's floor is level"


def _floor_height(motion: HumanMotion) -> tuple[float, float]:
    """Find how high over z = 0 the floor is, by what is nearest to it, and the lowest joint stands, m."""
    standing = standing_heights(motion)
    expected = _ANKLE * leg_segments(motion)
    over = [height - (expected if name.endswith("_ankle") else 0.0) for name, height in standing.items()]
    offset = max(min(over), 0.0) + min(max(over), 0.0)
    return offset, min(standing.values())


def _shifted(motion: HumanMotion, upward: Array) -> HumanMotion:
    """Move all joints upward by a distance at each sample, m."""
    shift = upward[:, None] * [0.0, 0.0, 1.0]
    return replace(motion, joints={name: track + shift for name, track in motion.joints.items()})
