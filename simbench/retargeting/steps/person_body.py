"""A recorded person on a level floor: heading, lean and centre of gravity, and the view from their trunk."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals, point_speeds
from simbench.motion.foot_motion import foot_points, person_feet, standing_heights
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES

# Part of the body's mass in the trunk with head and neck, and where on it from pelvis to shoulders its centre
# is; the same for the limbs (the forearm with the hand, the shank with the foot), each from its proximal to
# its distal joint (Winter 2009, table 4.1).
_TRUNK_MASS, _TRUNK_CENTRE = 0.578, 0.5
_LIMBS = (
    (0.028, 0.436, "shoulder", "elbow"),
    (0.022, 0.682, "elbow", "wrist"),
    (0.100, 0.433, "hip", "knee"),
    (0.061, 0.606, "knee", "ankle"),
)
# Bandwidth of the person's heading, Hz: a turn takes half a second, the pelvis' rotation in a step less.
_HEADING_BANDWIDTH = 2.0
# Bandwidth of the trunk's lean, Hz.
_LEAN_BANDWIDTH = 3.0
# Largest lean of the robot's root forward or back and to a side, rad; waist joints take the rest. To a side,
# the hips' range is small, and steps need it.
_MAX_PITCH, _MAX_ROLL = 0.4, 0.12
# Speeds below which a foot may stand, and above which it swings, so that the other one carries, m/s.
_STANDING_SPEED, _SWINGING_SPEED = 0.25, 0.6
# Time for which a foot must stand to say where the floor is, s: at the top of a jump both feet are slow for
# less.
_STAY = 0.15
# Height above the floor from which on a person who stands is on a step, m: a stair is 0.15 to 0.2 m high, and
# markers of one foot differ by a few centimetres.
_STEP_HEIGHT = 0.10
# Range of the heights at which feet stand up to which they are on one plane, m.
_UNEVEN = 0.04
# Part of the heights at both ends that does not count.
_OUTLIERS = 0.02
# Largest tilt of a recording's floor, a slope: 5 degrees. Stairs have 25 to 40.
_LARGEST_TILT = 0.09
# Height over z = 0 from which on feet float, or sink, m: joints and markers of feet that stand on it are up
# to 4 cm away from where they are expected.
_FLOATING = 0.04
# Height of the lowest joint over z = 0 from which on it is noted, m.
_NOTED = 0.02
# Height of the ankle over the floor by the length of thigh and shank (Drillis and Contini 1966: 0.039 by
# 0.491 of the stature).
_ANKLE = 0.079


class PersonBody(NamedTuple):
    """Motion of a person's body as a whole.

    Parameters
    ----------
    pelvis : (T, 3) array
        Middle of the hips, or the pelvis where no hips are recorded, in the world frame, m.
    cog : (T, 3) array
        Centre of gravity, m.
    heading : (T,) array
        Direction in which the pelvis looks, rad about the vertical, without jumps.
    pitch, roll : (T,) array
        Lean of the trunk in the frame of the heading, rad: forward, and to the right.
    """

    pelvis: Array
    cog: Array
    heading: Array
    pitch: Array
    roll: Array


def measure_body(motion: HumanMotion) -> tuple[PersonBody, Array]:
    """Measure heading, lean and centre of gravity of a person, and the vector from pelvis to neck (T, 3), m.

    The vector ends between the shoulders where no neck is recorded. The centre of gravity is that of the
    segments that are recorded. It is a `MotionError` if neither hips nor a pelvis with its orientation are.
    """
    joints = motion.joints
    shoulders = np.mean([joints[f"{side}_shoulder"] for side in SIDES], axis=0)
    if all(f"{side}_hip" in joints for side in SIDES):
        pelvis = np.mean([joints[f"{side}_hip"] for side in SIDES], axis=0)
        left = joints["left_hip"] - joints["right_hip"]
        heading = np.unwrap(np.arctan2(-left[:, 0], left[:, 1]))
    elif "pelvis" in joints and "pelvis" in motion.segments:
        pelvis = joints["pelvis"]
        forward = motion.segments["pelvis"][:, :3, 0]
        heading = np.unwrap(np.arctan2(forward[:, 1], forward[:, 0]))
    else:
        raise MotionError(
            f"{motion.source}: the recording lacks left_hip and right_hip, from which the person's heading "
            "is taken; retarget.physics: steps needs them"
        )
    total, mass = _TRUNK_MASS * (pelvis + _TRUNK_CENTRE * (shoulders - pelvis)), _TRUNK_MASS
    for part, along, proximal, distal in _LIMBS:
        for side in SIDES:
            begin, end = joints.get(f"{side}_{proximal}"), joints.get(f"{side}_{distal}")
            if begin is not None and end is not None:
                total, mass = total + part * (begin + along * (end - begin)), mass + part
    up = joints.get("neck", shoulders) - pelvis
    ahead = np.cos(heading) * up[:, 0] + np.sin(heading) * up[:, 1]
    across = -np.sin(heading) * up[:, 0] + np.cos(heading) * up[:, 1]
    height = np.maximum(up[:, 2], 0.05)
    body = PersonBody(
        pelvis,
        total / mass,
        low_pass(heading, _HEADING_BANDWIDTH, motion.rate),
        low_pass(np.arctan2(ahead, height), _LEAN_BANDWIDTH, motion.rate),
        low_pass(-np.arctan2(across, height), _LEAN_BANDWIDTH, motion.rate),
    )
    return body, up


def root_rotations(body: PersonBody, part: float = 1.0) -> Rotation:
    """Choose the T orientations of the robot's root that the person's heading and a part of their lean ask for.

    They are in the recording's world frame. The lean is bounded smoothly to 0.4 rad forward and 0.12 rad to a
    side.
    """
    pitch = part * _MAX_PITCH * np.tanh(body.pitch / _MAX_PITCH)
    roll = part * _MAX_ROLL * np.tanh(body.roll / _MAX_ROLL)
    return Rotation.from_euler("ZYX", np.column_stack([body.heading, pitch, roll]))


def seen_from_root(motion: HumanMotion, pelvis: Array, rotation: Rotation) -> HumanMotion:
    """Express a recording in axes that turn and lean with the robot's root, the pelvis above the origin.

    The recording is turned about `pelvis` (T, 3), m, by the inverse of the root's T orientations. What is
    left is what trunk and arms do relative to the root, as if the person stood upright and looked along x.
    """
    back = rotation.inv()
    height = pelvis * [0.0, 0.0, 1.0]

    def turned(points: Array) -> Array:
        return np.asarray(back.apply(points - pelvis) + height)

    segments = {}
    for name, frames in motion.segments.items():
        segments[name] = frames.copy()
        segments[name][:, :3, 3] = turned(frames[:, :3, 3])
        segments[name][:, :3, :3] = back.as_matrix() @ frames[:, :3, :3]
    return replace(
        motion,
        joints={name: turned(points) for name, points in motion.joints.items()},
        segments=segments,
        markers={name: turned(points) for name, points in motion.markers.items()},
    )


def low_pass(values: Array, bandwidth: float, rate: float) -> Array:
    """Filter even samples (T, ...) at a rate, Hz, by a Gaussian without delay, half as strong at its bandwidth.

    The bandwidth, Hz, is the frequency at which half of an amplitude is left.
    """
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * bandwidth) * rate
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="nearest"))


def leg_segments(motion: HumanMotion) -> float:
    """Measure thigh and shank together, hip to ankle: the median over time and the mean of both legs, m."""
    lengths = []
    for side in SIDES:
        hip, knee, ankle = (motion.joints[f"{side}_{name}"] for name in ("hip", "knee", "ankle"))
        lengths.append(np.median(np.linalg.norm(hip - knee, axis=1) + np.linalg.norm(knee - ankle, axis=1)))
    return float(np.mean(lengths))


def on_level_floor(motion: HumanMotion) -> tuple[HumanMotion, list[str], list[str]]:
    """Put a person, recorded with hips, knees and ankles, on a level floor at z = 0.

    Heights that drift at a constant speed, or a floor that is tilted by up to 5 degrees, are taken off if the
    feet stand on such a plane and not on a level one; of both, the one that leaves less is taken, and none
    that leaves more than half of the heights' differences. Then feet that float or sink by more than 4 cm are
    put on the floor. Otherwise the recording is returned as it is. Feet that carry the person at heights that
    differ by more than 10 cm and are on no such plane, as on stairs, a step or a slope, are refused.

    Also returns what was assumed, and what may be wrong, one line each.
    """
    doubts: list[str] = []
    time, places, heights = _find_support(motion)
    upward = np.array([0.0, 0.0, 1.0])
    uneven = _spread(heights)
    if uneven > _UNEVEN:
        fits = []
        for known in (places, time[:, None]):
            centred, wanted = known - known.mean(axis=0), heights - heights.mean()
            solution = np.linalg.lstsq(centred, wanted, rcond=1e-3)[0]
            fits.append((_spread(wanted - centred @ solution), solution))
        (beside_tilt, slope), (beside_drift, speed) = fits
        drifts = beside_drift <= beside_tilt
        fitted = min(beside_tilt, beside_drift) <= min(_UNEVEN, 0.5 * _spread(heights - heights.mean()))
        if fitted and (drifts or np.linalg.norm(slope) <= _LARGEST_TILT):
            feet = np.mean([motion.joints[f"{side}_ankle"][:, :2] for side in SIDES], axis=0)
            if drifts:
                slope = np.zeros(2)
                what = f"the heights drift by {speed[0] * motion.time[-1]:+.2f} m in {motion.time[-1]:.1f} s"
            else:
                speed = np.zeros(1)
                angle = np.degrees(np.arctan(np.linalg.norm(slope)))
                what = (
                    f"the recording's floor is tilted by {angle:.1f} degrees, "
                    f"{np.ptp(feet @ slope):.2f} m along the way"
                )
            doubts.append(f"{what}: taken off, the robot's floor is level")
            joints = {}
            for name, track in motion.joints.items():
                # Nothing is taken off where the person begins.
                above = (track[:, :2] - feet[0]) @ slope + speed[0] * motion.time
                joints[name] = track - above[:, None] * upward
            motion = replace(motion, joints=joints)
        elif uneven > _STEP_HEIGHT:
            from_start = np.abs(heights - heights[0])
            raise RetargetError(
                f"retarget.physics: steps: {motion.source}: the person stands at heights that differ by "
                f"{uneven:.2f} m, {from_start.max():.2f} m from the first at "
                f"{time[from_start.argmax()]:.2f} s: stairs, a step or a slope; allowed: a level floor"
            )
        else:
            doubts.append(
                f"the feet stand at heights that differ by {uneven:.2f} m; the floor is taken to be level"
            )
    # The floor is where what is nearest to it stands.
    standing, ankle = standing_heights(motion), _ANKLE * leg_segments(motion)
    over = [height - (ankle if name.endswith("_ankle") else 0.0) for name, height in standing.items()]
    offset, lowest = max(min(over), 0.0) + min(max(over), 0.0), min(standing.values())
    if abs(offset) > _FLOATING:
        how, where = ("float: they stand", "above") if offset > 0.0 else ("sink: they are", "below")
        doubts.append(
            f"the feet {how} {abs(offset):.2f} m {where} the recording's floor; it is taken to be there"
        )
        lowered = {name: track - offset * upward for name, track in motion.joints.items()}
        return replace(motion, joints=lowered), [], doubts
    note = f"the feet's lowest joint stands {lowest:.3f} m above z = 0, which is taken for the floor"
    return motion, [note] if abs(lowest) > _NOTED else [], doubts


def _find_support(motion: HumanMotion) -> tuple[Array, Array, Array]:
    """Find the N samples at which one foot carries: it stands while the other one swings or stands higher.

    Returns their times (N,), s, where the ankle is (N, 2), m, and how much higher the foot's lowest joint is
    than where it usually stands (N,), m.
    """
    floor, feet = standing_heights(motion), person_feet(motion)
    above, speed = {}, {}
    for side, points in feet.items():
        stands = np.array([floor[name] for name in foot_points(motion, side)])
        above[side] = (points[..., 2] - stands).min(axis=1)
        speed[side] = point_speeds(motion.time, points).min(axis=1)
    rows, sides = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for index, (side, other) in enumerate((SIDES, SIDES[::-1])):
        lower = (speed[other] < _STANDING_SPEED) & (above[side] <= above[other])
        carries = (speed[side] < _STANDING_SPEED) & ((speed[other] > _SWINGING_SPEED) | lower)
        for first, last in contact_intervals(np.asarray(carries)):
            if motion.time[last] - motion.time[first] >= _STAY:
                rows.append(np.arange(first, last + 1))
                sides.append(np.full(last + 1 - first, index))
    order = np.argsort(np.concatenate(rows), kind="stable")
    row, foot = np.concatenate(rows)[order], np.concatenate(sides)[order]
    ankles = np.stack([motion.joints[f"{side}_ankle"][:, :2] for side in SIDES])
    return motion.time[row], ankles[foot, row], np.stack([above[side] for side in SIDES])[foot, row]


def _spread(heights: Array) -> float:
    """Range of heights without the outermost ones, m."""
    return float(np.ptp(np.quantile(heights, [_OUTLIERS, 1.0 - _OUTLIERS]))) if len(heights) else 0.0
