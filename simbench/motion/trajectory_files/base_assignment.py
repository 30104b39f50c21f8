"""The motion of a robot's base in the world, from what a file holds of it."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory_files.base_pose import unit_quaternions
from simbench.motion.trajectory_files.derived_base import derive_base
from simbench.motion.trajectory_files.joint_assignment import AssignedJoints
from simbench.motion.trajectory_files.joint_order import resting_posture
from simbench.motion.trajectory_files.options import TrajectoryOptions
from simbench.motion.trajectory_files.quaternion_order import READINGS, find_quaternion_order
from simbench.motion.trajectory_files.sole_heights import FootPoses, foot_poses, lowest_sole
from simbench.motion.trajectory_files.stored_motion import StoredMotion
from simbench.robot.robot import Robot

Array = NDArray[np.float64]

_HUMAN_RANGE = (0.15, 1.6)
"""Median height of the base over that of the robot's at rest: from lying on the floor to a jump."""
_UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001}
_OFF_FLOOR = 0.03
"""Median height of the lowest sole from which the floor of a file may be another one, m."""
_OTHER_LINK = 0.1
"""Median height of the lowest sole that only another link as base explains, m: retargeted feet float less."""
_ON_FLOOR = 0.015
"""Median height of the lowest sole that shows that another link is the base, m."""


class AssignedBase(NamedTuple):
    """Pose of the base in the robot's form, and what was found out about it."""

    # (T, 7) or None: pose of the root link in the world: x, y, z (m), quaternion x, y, z, w; None for a fixed
    # base.
    pose: Array | None
    notes: tuple[str, ...] = ()  # `notes`, `doubts`: one line each.
    doubts: tuple[str, ...] = ()


def assign_base(
    stored: StoredMotion,
    robot: Robot,
    joints: AssignedJoints,
    time: Array,
    options: TrajectoryOptions,
    where: str,
) -> AssignedBase:
    """Bring the base into the robot's form, or derive it from the joints.

    `stored`: content of the file; `robot`: robot whose motion it is; `joints`: its joint positions; `time`
    (T,): times of the samples, s; `options`: what the user declares; `where`: the file, for messages. Returns
    the motion of the base.
    """
    has_orientation = stored.quaternion is not None or stored.euler is not None
    if not robot.floating:
        ignored = stored.position is not None or has_orientation
        return AssignedBase(
            None, ("the base's pose is ignored: the robot's base is fixed",) if ignored else ()
        )
    feet = foot_poses(robot, joints.q)
    if stored.position is None or not has_orientation:
        if feet is None:
            raise MotionError(
                f"{where}: holds no pose of the base, and {robot.name} has no soles from which it could be "
                "derived; give a file with the base's position and quaternion"
            )
        doubt = "no pose of the base in the file: derived, with the lower foot flat and still on the floor"
        return AssignedBase(derive_base(feet), (), (doubt,))
    metres = _to_metres(stored, robot)
    turned = _orientation(stored, metres.position, joints, time, feet, options, where)
    pose = np.hstack([metres.position, turned.quaternion])
    notes, doubts = (*metres.notes, *turned.notes), (*metres.doubts, *turned.doubts)
    if feet is None:
        return AssignedBase(pose, notes, doubts)
    checked = _check_floor(pose, robot, joints.q, feet)
    return AssignedBase(checked.pose, (*notes, *checked.notes), (*doubts, *checked.doubts))


class _Metres(NamedTuple):
    """Position of the base in metres."""

    position: Array
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class _Orientation(NamedTuple):
    """Orientation of the base as quaternions x, y, z, w."""

    quaternion: Array
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def _to_metres(stored: StoredMotion, robot: Robot) -> _Metres:
    """Convert the position by its declared unit, or by the height at which the robot's base is at rest."""
    position = np.asarray(stored.position)
    if stored.length_unit is not None:
        return _Metres(position * stored.length_unit)
    resting = foot_poses(robot, resting_posture(robot)[None])
    if resting is None:
        return _Metres(position)
    height = -float(resting.corners[..., 2].min())
    told = float(np.median(position[:, 2]))
    fits = [
        unit
        for unit, metres in _UNITS.items()
        if _HUMAN_RANGE[0] * height <= told * metres <= _HUMAN_RANGE[1] * height
    ]
    # Centimetres only where metres are impossible: a file that says nothing is in SI units.
    if not fits or fits[0] == "m":
        return _Metres(position)
    note = f"the base's position is in {fits[0]}, converted: its height is {told:.4g}, at rest {height:.3g} m"
    return _Metres(position * _UNITS[fits[0]], (note,))


def _orientation(
    stored: StoredMotion,
    position: Array,
    joints: AssignedJoints,
    time: Array,
    feet: FootPoses | None,
    options: TrajectoryOptions,
    where: str,
) -> _Orientation:
    """Bring the orientation into unit quaternions x, y, z, w."""
    if stored.euler is not None:
        degrees = joints.are_degrees or float(np.abs(stored.euler).max(initial=0.0)) > 2.0 * np.pi
        angles = np.radians(stored.euler) if degrees else stored.euler
        quaternion = unit_quaternions(Rotation.from_euler("xyz", angles).as_quat(), where).values
        return _Orientation(quaternion, ("the base's angles are in degrees, converted",) if degrees else ())
    unit = unit_quaternions(np.asarray(stored.quaternion), where)
    if options.quaternion is not None and not stored.is_order_named:
        note = f"quaternion {options.quaternion}, as declared"
        return _Orientation(unit.values[:, list(READINGS[options.quaternion])], (*unit.notes, note))
    if stored.is_order_named:
        return _Orientation(unit.values[:, list(READINGS[stored.quaternion_order or "xyzw"])], unit.notes)
    told = stored.quaternion_order
    favoured = told or ("xyzw" if stored.format == "unitree" else None)
    found = find_quaternion_order(unit.values, position, time, feet, favoured)
    doubts: tuple[str, ...] = ()
    if found is None and told is None:
        raise MotionError(
            f"{where}: the base's quaternion may be x, y, z, w or w, x, y, z: both give a possible motion; "
            "declare it with --quaternion xyzw|wxyz"
        )
    if found is not None and told is not None and found != told:
        doubts = (
            f"quaternion read as {found}, by the soles and the upright base, although such files usually "
            f"have {told}; declare it with --quaternion",
        )
    order = found or told or "xyzw"
    why = "by the soles and the upright base" if found else "as such files have it"
    return _Orientation(
        unit.values[:, list(READINGS[order])], (*unit.notes, f"quaternion {order}, {why}"), doubts
    )


def _check_floor(pose: Array, robot: Robot, q: Array, feet: FootPoses) -> AssignedBase:
    """Compare the soles with the floor, and take another link as base where only that brings them to it."""
    low = _median_height(pose, feet)
    side = "above" if low >= 0.0 else "below"
    line = f"the lower sole is {1000 * abs(low):.0f} mm {side} z = 0 (median)"
    if abs(low) <= _OFF_FLOOR:
        return AssignedBase(pose, (line,))
    for role in ("pelvis", "trunk"):
        frame = robot.frames.get(role)
        if frame is None:
            continue
        other = _base_of_link(pose, robot, q, frame)
        if abs(_median_height(other, feet)) > _ON_FLOOR:
            continue
        if abs(low) > _OTHER_LINK:
            doubt = f"the base's pose is taken for that of {frame}: as that of the root link, {line}"
            return AssignedBase(other, (), (doubt,))
        return AssignedBase(pose, (), (f"{line}: the pose may be that of {frame}, or the floor another one",))
    return AssignedBase(pose, (), (f"{line}: the file's floor or base may be another one",))


def _median_height(pose: Array, feet: FootPoses) -> float:
    """Median height of the lowest corner of the soles above z = 0, m."""
    rotation = Rotation.from_quat(pose[:, 3:]).as_matrix()
    return float(np.median(lowest_sole(feet, rotation, pose[:, :3])))


def _base_of_link(pose: Array, robot: Robot, q: Array, frame: str) -> Array:
    """Pose of the root link (T, 7) where a pose is that of another link."""
    still = np.tile(pin.neutral(robot.model)[: robot.root_q], (len(q), 1))
    link = frame_poses(robot.model, [robot.model.getFrameId(frame)], np.hstack([still, q]))[0]
    turned = Rotation.from_quat(pose[:, 3:]).as_matrix() @ link[:, :3, :3].transpose(0, 2, 1)
    position = pose[:, :3] - np.einsum("tij,tj->ti", turned, link[:, :3, 3])
    return np.hstack([position, Rotation.from_matrix(turned).as_quat()])
