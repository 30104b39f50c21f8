"""Writing of a robot's motion in the formats that other programs read."""

import pickle
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.storage import whole_file, write_whole
from simbench.kinematics.rotation import continuous_quaternions
from simbench.kinematics.tree import frame_poses, kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.joint_order import body_joints, resting_posture
from simbench.motion.trajectory_files.native import write_trajectory_csv, write_trajectory_netcdf
from simbench.motion.trajectory_files.stored_motion import uniform_rate
from simbench.robot.robot import Robot

Attributes = Mapping[str, str | float]
Array = NDArray[np.float64]

_AT_REST = 1e-6  # Departure from the posture at rest that is rounding, rad or m.
_NUMPY_2, _NUMPY_1 = (f"cnumpy.{core}.multiarray\n_reconstruct\n".encode() for core in ("_core", "core"))


def write_robot_motion(
    trajectory: JointTrajectory, robot: Robot, path: Path, format: str, attributes: Attributes
) -> None:
    """Write a robot's motion in a format.

    `trajectory`: the motion, joints in the order of the robot; `path`: file to write; it appears under its
    name only when it is complete; `format`: name of the format, a key of `WRITERS`; `attributes`: attributes
    that say where the trajectory comes from, for formats that have a place for them. Raises MotionError the
    format is unknown, or cannot hold the motion. Raises OSError if the file cannot be written.
    """
    WRITERS[choose_format(path, format)](trajectory, robot, path, attributes)


def units_of_joints(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions.

    `robot`: robot with n joints. Returns `rad` for a revolute joint, `m` for a prismatic one.
    """
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)


def _write_unitree(trajectory: JointTrajectory, robot: Robot, path: Path, attributes: Attributes) -> None:
    """Write the table without names: base position, quaternion x, y, z, w, joints; nine digits."""
    del attributes
    even_rate(trajectory, "unitree")
    joints = trajectory.q[:, _moved_columns(trajectory, robot)]
    with whole_file(path) as part:
        np.savetxt(part, np.hstack([_base_of(trajectory, "unitree"), joints]), delimiter=",", fmt="%.9g")


def _write_gmr(trajectory: JointTrajectory, robot: Robot, path: Path, attributes: Attributes) -> None:
    """Write GMR's pickle: quaternion x, y, z, w; links relative to the root link, whose axes they have."""
    del attributes
    base = _base_of(trajectory, "gmr")
    rate = even_rate(trajectory, "gmr")
    still = replace(trajectory, base=np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(base), 1)))
    names, position, _ = _link_motion(still, robot)
    content = {
        "fps": int(rate) if rate.is_integer() else rate,
        "root_pos": base[:, :3].copy(),
        "root_rot": base[:, 3:].copy(),
        "dof_pos": trajectory.q[:, _moved_columns(trajectory, robot)],
        "local_body_pos": position,
        "link_body_list": list(names),
    }
    # Protocol 3 names functions in plain text; NumPy before 2 knows this one by its older name only.
    written = pickle.dumps(content, protocol=3).replace(_NUMPY_2, _NUMPY_1, 1)
    write_whole(path, written)


def _write_npz(trajectory: JointTrajectory, robot: Robot, path: Path, attributes: Attributes) -> None:
    """Write the arrays of BeyondMimic and mjlab with names: links in the world, quaternion w, x, y, z."""
    rate = even_rate(trajectory, "npz")
    names, position, quaternion = _link_motion(trajectory, robot)
    # Angular velocities in the world, by central differences, at the ends by one-sided ones.
    samples = np.arange(len(quaternion))
    before, after = np.maximum(samples - 1, 0), np.minimum(samples + 1, samples[-1])
    first, second = (Rotation.from_quat(quaternion[each].reshape(-1, 4)) for each in (before, after))
    turned = (second * first.inv()).as_rotvec().reshape(*quaternion.shape[:2], 3)
    arrays: dict[str, NDArray[Any]] = {
        "fps": np.array([int(rate) if rate.is_integer() else rate]),
        "joint_pos": trajectory.q,
        "joint_vel": np.gradient(trajectory.q, 1.0 / rate, axis=0),
        "body_pos_w": position,
        "body_quat_w": quaternion[..., [3, 0, 1, 2]],
        "body_lin_vel_w": np.gradient(position, 1.0 / rate, axis=0),
        "body_ang_vel_w": turned * (rate / (after - before))[:, None, None],
        "joint_names": np.array(trajectory.joint_names),
        "body_names": np.array(names),
        **{f"attribute_{name}": np.array(value) for name, value in attributes.items()},
    }
    memory = BytesIO()
    np.savez(memory, allow_pickle=False, **arrays)
    write_whole(path, memory.getvalue())


def _link_motion(trajectory: JointTrajectory, robot: Robot) -> tuple[tuple[str, ...], Array, Array]:
    """Compute the poses of the B links in T samples by forward kinematics.

    Returns names of the links, the root link first; positions (T, B, 3) in the world, m; and orientations (T,
    B, 4) in the world, x, y, z, w.
    """
    model = robot.model
    frames = [
        index
        for index, frame in enumerate(model.frames)
        if frame.type == pin.FrameType.BODY and frame.name != "universe"
    ]
    base = np.empty((len(trajectory.q), 0)) if trajectory.base is None else trajectory.base
    poses = np.array(frame_poses(model, frames, np.hstack([base, trajectory.q])))
    turned = Rotation.from_matrix(poses[..., :3, :3].reshape(-1, 3, 3)).as_quat()
    quaternion = turned.reshape(len(frames), -1, 4).transpose(1, 0, 2)
    names = tuple(model.frames[index].name for index in frames)
    return names, poses[..., :3, 3].transpose(1, 0, 2), continuous_quaternions(quaternion)


def even_rate(trajectory: JointTrajectory, name: str) -> float:
    """Compute the rate of a trajectory for a format that stores a rate and no times.

    `trajectory`: the motion; `name`: name of the format, for the message. Returns samples per second.
    """
    rate = uniform_rate(trajectory.time)
    if rate is None:
        raise MotionError(
            f"format {name} needs two or more evenly spaced samples; choose a rate with "
            "--rate HZ, or write csv or nc"
        )
    return rate


def _base_of(trajectory: JointTrajectory, name: str) -> Array:
    """Pose of the base, which the format needs."""
    if trajectory.base is None:
        raise MotionError(
            f"format {name} holds the pose of a floating base, and this robot's is fixed; write csv, "
            "nc or npz"
        )
    return trajectory.base


def _moved_columns(trajectory: JointTrajectory, robot: Robot) -> list[int]:
    """Joints that are written: all, but the hands' are left out where none of them leaves its rest."""
    body = [robot.joint_names.index(name) for name in body_joints(robot)]
    hands = [index for index in range(len(robot.joint_names)) if index not in set(body)]
    at_rest = np.abs(trajectory.q[:, hands] - resting_posture(robot)[hands]).max(initial=0.0) < _AT_REST
    return body if at_rest else list(range(len(robot.joint_names)))


# Writer of each format by its name.
WRITERS: dict[str, Callable[[JointTrajectory, Robot, Path, Attributes], None]] = {
    "csv": lambda trajectory, robot, path, _: write_trajectory_csv(trajectory, path, units_of_joints(robot)),
    "unitree": _write_unitree,
    "gmr": _write_gmr,
    "npz": _write_npz,
    "nc": lambda trajectory, robot, path, attributes: write_trajectory_netcdf(
        trajectory, path, units_of_joints(robot), attributes
    ),
}

# Format that is written for each suffix where none is named.
WRITTEN_SUFFIXES: Mapping[str, str] = {".csv": "csv", ".pkl": "gmr", ".npz": "npz", ".nc": "nc"}


def choose_format(path: Path, named: str | None) -> str:
    """Choose the format in which a file is written.

    `path`: file to write; `named`: name of the format, if the user names one. Returns A key of `WRITERS`.
    """
    if named is not None:
        if named not in WRITERS:
            raise MotionError(f"format {named!r}: unknown; allowed: {', '.join(WRITERS)}")
        return named
    found = WRITTEN_SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise MotionError(
            f"{path}: the name of a joint trajectory must end in {', '.join(WRITTEN_SUFFIXES)}, or name the "
            f"format with --format, one of {', '.join(WRITERS)}"
        )
    return found
