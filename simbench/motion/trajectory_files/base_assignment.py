"""The motion of a robot's base in the world, from what a file holds of it, or from the joints alone.

The order of a quaternion's parts is found out from the motion that each reading gives. Read in the wrong
order, a base that is upright at a heading far from zero lies on its side or upside down. Near a heading of
zero (of half a turn, for the other order) it stands upright, but faces backwards and leans to another side:
then its supporting foot slides over the floor, or its sole is not level.
"""

from collections.abc import Mapping

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.ndimage import median_filter
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory_files.joint_order import FootPoses, foot_poses, resting_posture
from simbench.motion.trajectory_files.stored_motion import StoredMotion, TrajectoryOptions
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

# Departure from unit length that is rounding: that of eight written digits or of single precision.
UNIT_TOLERANCE = 1e-6
# Lengths of a quaternion that rounding or averaging explains; other numbers are not quaternions.
_LENGTHS = (0.5, 2.0)
# Length of the median filter on the supporting foot, samples: shorter changes are noise.
_SUPPORT_SAMPLES = 5
# Median height of the base over that of the robot's at rest: from lying on the floor to a jump.
_HUMAN_RANGE = (0.15, 1.6)
_UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
_OFF_FLOOR = 0.03  # Median height of the lowest sole from which the floor of a file may be another one, m.
# Median height of the lowest sole that only another link as base explains, m: retargeted feet float less.
_OTHER_LINK = 0.1
_ON_FLOOR = 0.015  # Median height of the lowest sole that shows that another link is the base, m.
# Columns of x, y, z and w in each order.
READINGS: Mapping[str, tuple[int, int, int, int]] = {"xyzw": (0, 1, 2, 3), "wxyz": (1, 2, 3, 0)}
# Departures that retargeted motions show where they are read right: each counts one in the cost of a reading.
_SOLE_ANGLE, _HEIGHT_SPREAD, _SLIP_SPEED, _TILT = 0.1, 0.02, 0.2, 0.5
_MARGIN = 1.0  # Least difference of the costs of two readings by which one is told from the other.
_RATIO = 1.5  # Least ratio of the costs by which one is told from the other.
# The same for the order that is usual: a misread order was never less costly than by a ratio of 1.4.
_FAVOURED_MARGIN, _FAVOURED_RATIO = 0.05, 4.0
_SLIP_SPAN = 0.1  # Time over which the slip of a foot is measured, s.
_TRAVEL_SPEED = 0.2  # Mean speed from which a base without feet is taken to travel forwards, m/s.


def assign_base(
    stored: StoredMotion,
    robot: Robot,
    q: Array,
    are_degrees: bool,
    time: Array,
    options: TrajectoryOptions,
    where: str,
) -> tuple[Array | None, tuple[str, ...], tuple[str, ...]]:
    """Bring the base into the robot's form, or derive it from the joints.

    `stored`: content of the file; `robot`: robot whose motion it is; `q` (T, n): its joint
    positions; `are_degrees`: whether the file's angles are in degrees; `time` (T,): times of the samples, s;
    `options`: what the user declares; `where`: the file, for messages. Returns the pose (T, 7) of the root
    link in the world, x, y, z (m), quaternion x, y, z, w, or None for a fixed base; notes and doubts, one
    line each.
    """
    has_orientation = stored.quaternion is not None or stored.euler is not None
    if not robot.floating:
        ignored = stored.position is not None or has_orientation
        return None, ("the base's pose is ignored: the robot's base is fixed",) if ignored else (), ()
    feet = foot_poses(robot, q)
    if stored.position is None or not has_orientation:
        if feet is None:
            raise MotionError(
                f"{where}: holds no pose of the base, and {robot.name} has no soles from which it could be "
                "derived; give a file with the base's position and quaternion"
            )
        doubt = "no pose of the base in the file: derived, with the lower foot flat and still on the floor"
        return derive_base(feet), (), (doubt,)
    notes: list[str] = []
    doubts: list[str] = []
    # By its declared unit, or by the height at which the robot's base is at rest.
    position = np.asarray(stored.position)
    resting = foot_poses(robot, resting_posture(robot)[None])
    if stored.length_unit is not None:
        position = position * stored.length_unit
    elif resting is not None:
        height = -float(resting.corners[..., 2].min())
        told = float(np.median(position[:, 2]))
        low, high = _HUMAN_RANGE
        fits = [unit for unit, metres in _UNITS.items() if low * height <= told * metres <= high * height]
        # Centimetres only where metres are impossible: a file that says nothing is in SI units.
        if fits and fits[0] != "m":
            notes.append(
                f"the base's position is in {fits[0]}, converted: its height is {told:.4g}, at rest "
                f"{height:.3g} m"
            )
            position = position * _UNITS[fits[0]]
    quaternion = _orientation(stored, position, are_degrees, time, feet, options, where, notes, doubts)
    pose = np.hstack([position, quaternion])
    if feet is not None:
        pose = _check_floor(pose, robot, q, feet, notes, doubts)
    return pose, tuple(notes), tuple(doubts)


def _orientation(
    stored: StoredMotion,
    position: Array,
    are_degrees: bool,
    time: Array,
    feet: FootPoses | None,
    options: TrajectoryOptions,
    where: str,
    notes: list[str],
    doubts: list[str],
) -> Array:
    """Bring the orientation into unit quaternions x, y, z, w (T, 4)."""
    if stored.euler is not None:
        angles = stored.euler
        if are_degrees or float(np.abs(angles).max(initial=0.0)) > 2.0 * np.pi:
            angles = np.radians(angles)
            notes.append("the base's angles are in degrees, converted")
        return unit_quaternions(Rotation.from_euler("xyz", angles).as_quat(), where, [])
    unit = unit_quaternions(np.asarray(stored.quaternion), where, notes)
    told = stored.quaternion_order
    if stored.is_order_named:
        order = told or "xyzw"
    elif options.quaternion is not None:
        order = options.quaternion
        notes.append(f"quaternion {order}, as declared")
    else:
        favoured = told or ("xyzw" if stored.format == "unitree" else None)
        found = find_quaternion_order(unit, position, time, feet, favoured)
        if found is None and told is None:
            raise MotionError(
                f"{where}: the base's quaternion may be x, y, z, w or w, x, y, z: both give a possible "
                "motion; declare it with --quaternion xyzw|wxyz"
            )
        if found is not None and told is not None and found != told:
            doubts.append(
                f"quaternion read as {found}, by the soles and the upright base, although such files usually "
                f"have {told}; declare it with --quaternion"
            )
        order = found or told or "xyzw"
        why = "by the soles and the upright base" if found else "as such files have it"
        notes.append(f"quaternion {order}, {why}")
    return unit[:, list(READINGS[order])]


def unit_quaternions(quaternion: Array, where: str, notes: list[str]) -> Array:
    """Normalise finite quaternions (T, 4), with their parts in any order, and remove jumps of their sign."""
    length = np.linalg.norm(quaternion, axis=1)
    off = np.flatnonzero((length < _LENGTHS[0]) | (length > _LENGTHS[1]))
    if off.size:
        raise MotionError(
            f"{where}: the base's quaternion at sample {off[0]} has length {length[off[0]]:.4g}; it must be "
            "near 1: these columns may not be a quaternion"
        )
    worst = float(np.abs(length - 1.0).max(initial=0.0))
    if worst > UNIT_TOLERANCE:
        notes.append(f"quaternions normalised: their length was off by up to {worst:.2g}")
    unit = quaternion / length[:, None]
    flips = np.einsum("ti,ti->t", unit[1:], unit[:-1]) < 0.0
    if flips.any():
        notes.append(f"quaternions made continuous: {int(flips.sum())} jump(s) of sign removed")
        sign = np.cumprod(np.r_[1.0, np.where(flips, -1.0, 1.0)])
        unit = unit * sign[:, None]
    return np.asarray(unit)


def _check_floor(
    pose: Array, robot: Robot, q: Array, feet: FootPoses, notes: list[str], doubts: list[str]
) -> Array:
    """Compare the soles with the floor, and take another link as base where only that brings them to it."""
    low = _median_height(pose, feet)
    side = "above" if low >= 0.0 else "below"
    line = f"the lower sole is {1000 * abs(low):.0f} mm {side} z = 0 (median)"
    if abs(low) <= _OFF_FLOOR:
        notes.append(line)
        return pose
    still = np.tile(pin.neutral(robot.model)[: robot.root_q], (len(q), 1))
    for role in ("pelvis", "trunk"):
        frame = robot.frames.get(role)
        if frame is None:
            continue
        # Pose of the root link (T, 7) if the pose is that of this link.
        link = frame_poses(robot.model, [robot.model.getFrameId(frame)], np.hstack([still, q]))[0]
        turned = Rotation.from_quat(pose[:, 3:]).as_matrix() @ link[:, :3, :3].transpose(0, 2, 1)
        position = pose[:, :3] - np.einsum("tij,tj->ti", turned, link[:, :3, 3])
        other = np.hstack([position, Rotation.from_matrix(turned).as_quat()])
        if abs(_median_height(other, feet)) > _ON_FLOOR:
            continue
        if abs(low) > _OTHER_LINK:
            doubts.append(f"the base's pose is taken for that of {frame}: as that of the root link, {line}")
            return other
        doubts.append(f"{line}: the pose may be that of {frame}, or the floor another one")
        return pose
    doubts.append(f"{line}: the file's floor or base may be another one")
    return pose


def find_quaternion_order(
    quaternion: Array, position: Array, time: Array, feet: FootPoses | None, favoured: str | None = None
) -> str | None:
    """Find the order of a quaternion's parts that gives the plausible motion.

    `quaternion` (T, 4): unit quaternions as the file holds them; `position` (T, 3): position of the base in
    the world, m; `time` (T,): times of the samples, s; `feet`: poses of the feet in the base frame; None for
    a robot without soles; `favoured`: order that files of this form usually have, for which less evidence is
    enough. Returns `xyzw` or `wxyz`; None where both readings are possible.
    """
    costs = {
        order: _reading_cost(quaternion[:, list(columns)], position, time, feet)
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


def _reading_cost(quaternion: Array, position: Array, time: Array, feet: FootPoses | None) -> float:
    """Measure how implausible the motion of a base is, read in one order: x, y, z, w (T, 4).

    The sum of the departures, each in units of what retargeted motions show: the median angles of the base's
    z axis to the vertical and of the lower sole to the floor, the median departure of the height of the
    lowest corner of the soles from its median, and the median horizontal speed of the lower foot; of a base
    without feet, that it travels against the direction of its x axis.
    """
    rotation = Rotation.from_quat(quaternion).as_matrix()
    cost = float(np.median(_angle_to_vertical(rotation))) / _TILT
    if feet is None:
        if len(time) < 2:
            return cost
        velocity = np.diff(position[:, :2], axis=0) / np.diff(time)[:, None]
        forward = np.einsum("ti,ti->t", velocity, rotation[:-1, :2, 0])
        return cost + 2.0 * bool(np.median(forward) < -_TRAVEL_SPEED)
    samples = np.arange(len(time))
    centres = np.einsum("tij,ftj->fti", rotation, feet.corners.mean(axis=2)) + position
    lower = centres[..., 2].argmin(axis=0)
    soles = np.einsum("tij,tjk->tik", rotation, feet.rotation[lower, samples])
    cost += float(np.median(_angle_to_vertical(soles))) / _SOLE_ANGLE
    corners = np.einsum("tj,tcj->tc", rotation[:, 2], feet.corners[lower, samples]) + position[:, 2, None]
    lowest = corners.min(axis=1)
    cost += float(np.median(np.abs(lowest - np.median(lowest)))) / _HEIGHT_SPREAD
    # The sample one span later, over which noise of single samples counts little.
    later = np.searchsorted(time, time + _SLIP_SPAN - 1e-9)
    pairs = np.flatnonzero(later < len(time))
    if len(pairs):
        foot, later = lower[pairs], later[pairs]
        moved = centres[foot, later, :2] - centres[foot, pairs, :2]
        slip = np.median(np.linalg.norm(moved, axis=1) / (time[later] - time[pairs]))
        cost += float(slip) / _SLIP_SPEED
    return cost


def _angle_to_vertical(rotation: Array) -> Array:
    """Angles (T,) between the z axes of frames and the vertical, rad."""
    return np.arctan2(np.linalg.norm(rotation[:, :2, 2], axis=1), rotation[:, 2, 2])


def derive_base(feet: FootPoses) -> Array:
    """Derive the pose of the base: the supporting foot stands flat and still on the floor.

    The supporting foot is the lower of the two when one or the other is taken as level: the one below which
    the other never is. The first supporting foot is below the origin's axes: its frame has heading zero at
    x = y = 0. Returns (T, 7): pose of the base in the world: x, y, z (m), quaternion x, y, z, w.
    """
    support = np.zeros(feet.position.shape[1], dtype=np.intp)
    if len(feet.position) > 1:
        apart = feet.position[1] - feet.position[0]
        # Height of the second foot when the first is level, and of the first when the second is.
        second = np.einsum("ti,ti->t", feet.rotation[0, :, :, 2], apart)
        first = -np.einsum("ti,ti->t", feet.rotation[1, :, :, 2], apart)
        smooth = median_filter(second - first, size=_SUPPORT_SAMPLES, mode="nearest")
        support = (smooth < 0.0).astype(np.intp)
    samples = np.arange(len(support))
    rotation, position = feet.rotation[support, samples], feet.position[support, samples]
    # Of the base in the frame of the supporting foot, whose sole is its plane z = 0.
    relative = rotation.transpose(0, 2, 1)
    offset = -np.einsum("tij,tj->ti", relative, position)
    base = np.empty((len(support), 7))
    starts = np.flatnonzero(np.r_[True, np.diff(support) != 0])
    footprint = pin.SE3.Identity()
    for start, end in zip(starts, [*starts[1:], len(support)], strict=True):
        if start:
            # The foot lands flat where it is: level, at height zero.
            foot = pin.SE3(feet.rotation[support[start], start - 1], feet.position[support[start], start - 1])
            pose = pin.XYZQUATToSE3(base[start - 1]) * foot
            heading = np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])
            level = pin.utils.rotate("z", float(heading))
            footprint = pin.SE3(level, np.array([pose.translation[0], pose.translation[1], 0.0]))
        turned = footprint.rotation @ relative[start:end]
        base[start:end, :3] = offset[start:end] @ footprint.rotation.T + footprint.translation
        base[start:end, 3:] = Rotation.from_matrix(turned).as_quat()
    return base


def _median_height(pose: Array, feet: FootPoses) -> float:
    """Median height of the lowest corner of the soles above z = 0, m."""
    rotation = Rotation.from_quat(pose[:, 3:]).as_matrix()
    heights = np.einsum("tj,ftcj->ftc", rotation[:, 2], feet.corners) + pose[:, 2, None]
    return float(np.median(heights.min(axis=(0, 2))))
