"""Joint trajectories as CSV: one line a sample, units in the columns' names."""

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_check import JOINT_UNITS, checked

_BASE = ("base_x_m", "base_y_m", "base_z_m", "base_qx", "base_qy", "base_qz", "base_qw")


def write_csv(trajectory: JointTrajectory, path: Path, units: Sequence[str]) -> None:
    """Write a trajectory: `time_s`, the base's pose if it has one, and joint positions, nine digits each.

    The pose is x, y, z (m), then the quaternion x, y, z, w. A joint's column is its name and its unit,
    `LElbowRoll_rad`. The file appears under its name only when it is whole.

    Parameters
    ----------
    trajectory : JointTrajectory
    path : Path
    units : sequence of str
        `rad` or `m` for each joint.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    base = trajectory.base
    joints = [f"{name}_{unit}" for name, unit in zip(trajectory.joint_names, units, strict=True)]
    header = ["time_s", *(() if base is None else _BASE), *joints]
    columns = [trajectory.time[:, None], *(() if base is None else (base,)), trajectory.q]
    part = path.with_name(path.name + ".part")
    try:
        np.savetxt(part, np.hstack(columns), delimiter=",", header=",".join(header), comments="", fmt="%.9g")
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_csv(path: Path) -> JointTrajectory:
    """Read a trajectory that `write_csv` wrote, or another with the same columns.

    Parameters
    ----------
    path : Path

    Returns
    -------
    JointTrajectory

    Raises
    ------
    MotionError
        If the file cannot be read, or is not a trajectory.
    """
    try:
        header_line, _, rows = path.read_text(encoding="utf-8").partition("\n")
        header = [name.strip() for name in header_line.split(",")]
        joints = _joint_names(header, path)
        if not rows.strip():
            raise MotionError(f"{path}: no samples below the header; there must be at least one")
        table = np.loadtxt(rows.splitlines(), delimiter=",", ndmin=2)
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise MotionError(f"{path}: not a table of numbers below a header: {error}") from error
    if table.shape[1] != len(header):
        raise MotionError(
            f"{path}: {table.shape[1]} numbers a line below a header of {len(header)} columns; "
            "there must be one for each"
        )
    first = len(header) - len(joints)
    base = table[:, 1:first] if first > 1 else None
    return checked(JointTrajectory(table[:, 0], table[:, first:], joints, base), str(path))


def _joint_names(header: list[str], path: Path) -> tuple[str, ...]:
    """Names of the joints' columns, without their units."""
    has_base = tuple(header[1:8]) == _BASE
    columns = header[8:] if has_base else header[1:]
    parts = [column.rpartition("_") for column in columns]
    if header[0] != "time_s" or not all(name and unit in JOINT_UNITS for name, _, unit in parts):
        raise MotionError(
            f"{path}: not a joint trajectory; its columns must be time_s, {', '.join(_BASE)} (or none of "
            f"these seven), then each joint's name and unit, for example LElbowRoll_rad or lift_m"
        )
    return tuple(name for name, _, _ in parts)
