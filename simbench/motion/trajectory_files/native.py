"""Joint trajectories as simbench writes them: CSV with nine digits, or NetCDF bit for bit, by the suffix.

A CSV file has one line for each sample, and units in the names of the columns. A NetCDF file has dimensions,
units, and attributes that say where the trajectory comes from. The measured motion in the log of a run is
read, too.
"""

import hashlib
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import h5py
import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import MotionError
from simbench.files.netcdf_file import (
    SEAL,
    NetcdfGroup,
    SealState,
    check_structure,
    inspect_seal,
    probe_file,
    reading,
    writing_in_memory,
)
from simbench.files.storage import whole_file, write_whole
from simbench.files.text import require_regular_file
from simbench.motion.trajectory import JOINT_UNITS, JointTrajectory, validate_trajectory
from simbench.motion.trajectory_files.stored_motion import StoredMotion
from simbench.system.limits import MOST_NUMBERS, MOST_SAMPLES, require_at_most

FORMAT = "simbench joint trajectory 1"

_BASE = ("base_x_m", "base_y_m", "base_z_m", "base_qx", "base_qy", "base_qz", "base_qw")

SUFFIXES = (".csv", ".nc")


def write_trajectory(
    trajectory: JointTrajectory, path: str | Path, units: Sequence[str], attributes: Mapping[str, str | float]
) -> None:
    """Write a trajectory as CSV (nine digits) or NetCDF (bit for bit).

    `path`: file to write; its name ends in .csv or .nc; `units`: unit of each joint's position, `rad` or `m`,
    in the order of the joints; `attributes`: attributes that say where the trajectory comes from; a CSV file
    has no place for them. Raises MotionError the name has another suffix. Raises OSError if the file cannot
    be written.
    """
    path = Path(path)
    if trajectory_suffix(path) == ".csv":
        write_trajectory_csv(trajectory, path, units)
    else:
        write_trajectory_netcdf(trajectory, path, units, attributes)


def read_trajectory(path: str | Path) -> JointTrajectory:
    """Read a trajectory that `write_trajectory` or `simbench retarget --out` wrote.

    Parameters
    ----------
    path : str or Path
        File to read; its name ends in .csv or .nc.

    Returns
    -------
    JointTrajectory
        The trajectory.

    Raises
    ------
    MotionError
        The name has another suffix, or the file cannot be read or is not a trajectory.
    """
    path = Path(path)
    require_regular_file(path, MotionError)
    return read_trajectory_csv(path) if trajectory_suffix(path) == ".csv" else read_trajectory_netcdf(path)


def trajectory_suffix(path: Path) -> str:
    """Determine the format of a trajectory's file from the suffix of its name.

    Returns `.csv` or `.nc`, in lower case.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise MotionError(f"{path}: the name of a joint trajectory must end in {' or '.join(SUFFIXES)}")
    return suffix


def write_trajectory_csv(trajectory: JointTrajectory, path: Path, units: Sequence[str]) -> None:
    """Write a trajectory as CSV with nine digits for each number.

    The columns are `time_s`, the base's pose if there is one, and the joint positions. The pose is x, y, z
    (m), then the quaternion x, y, z, w. A joint's column is its name and its unit, `LElbowRoll_rad`. The file
    appears under its name only when it is complete. `units`: unit of each joint's position, `rad` or `m`, in
    the order of the joints. Raises OSError if the file cannot be written.
    """
    base = trajectory.base
    joints = [f"{name}_{unit}" for name, unit in zip(trajectory.joint_names, units, strict=True)]
    header = ["time_s", *(() if base is None else _BASE), *joints]
    # Times have more digits, so that the rate can be computed from them without loss.
    formats = ["%.15g", *["%.9g"] * (len(header) - 1)]
    columns = [trajectory.time[:, None], *(() if base is None else (base,)), trajectory.q]
    with whole_file(path) as part:
        np.savetxt(part, np.hstack(columns), delimiter=",", header=",".join(header), comments="", fmt=formats)


def read_trajectory_csv(path: Path) -> JointTrajectory:
    """Read a CSV file that `write_trajectory_csv` wrote, or another with the same columns."""
    try:
        header_line, _, rows = path.read_text(encoding="utf-8").partition("\n")
        header = [name.strip() for name in header_line.split(",")]
        parts = _joint_columns(header)
        if header[0] != "time_s" or not all(name and unit in JOINT_UNITS for name, unit in parts):
            raise MotionError(
                f"{path}: not a joint trajectory; its columns must be time_s, {', '.join(_BASE)} (or none of "
                f"these seven), then each joint's name and unit, for example LElbowRoll_rad or lift_m"
            )
        joints = tuple(name for name, _ in parts)
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
    return validate_trajectory(JointTrajectory(table[:, 0], table[:, first:], joints, base), str(path))


def is_native_header(header: Sequence[str]) -> bool:
    """Return whether the names of a table's columns are those that `write_trajectory_csv` writes.

    Returns true if the first is `time_s` and all others are the base's pose or joints with units.
    """
    parts = _joint_columns(header)
    return header[0] == "time_s" and bool(parts) and all(name and unit in JOINT_UNITS for name, unit in parts)


def _joint_columns(header: Sequence[str]) -> list[tuple[str, str]]:
    """Names and units of the columns behind those of the time and the base."""
    parts = (column.rpartition("_") for column in header[8 if tuple(header[1:8]) == _BASE else 1 :])
    return [(name, unit) for name, _, unit in parts]


def write_trajectory_netcdf(
    trajectory: JointTrajectory, path: Path, units: Sequence[str], attributes: Mapping[str, str | float]
) -> None:
    """Write a trajectory as NetCDF, which xarray and other NetCDF readers open.

    The variables are `position` (time, joint), with `joint_unit` (joint) where some joints are revolute and
    others prismatic; `base_position` (time, xyz) and `base_orientation` (time, quaternion) if there is a
    base. The same trajectory gives the same bytes. The file appears under its name only when it is complete.
    `units`: unit of each joint's position, `rad` or `m`, in the order of the joints. Raises OSError if the
    file cannot be written.
    """
    content = bytearray()
    with writing_in_memory(content) as file:
        file.attrs.update({"format": FORMAT, **attributes})
        group = NetcdfGroup(file)

        def add(name: str, dims: tuple[str, ...], values: ArrayLike, unit: str, text: str) -> None:
            group.add(name, dims, values, {"units": unit, "long_name": text})

        add("time", ("time",), trajectory.time, "s", "of the samples")
        add("joint", ("joint",), list(trajectory.joint_names), "", "the robot's joints")
        unit = units[0] if len(set(units)) == 1 else "joint_unit"
        add("position", ("time", "joint"), trajectory.q, unit, "joint positions")
        add("joint_unit", ("joint",), list(units), "", "units of the joints' positions")
        if trajectory.base is not None:
            text = "of the root link in the world: x forward, y left, z up"
            add("xyz", ("xyz",), ["x", "y", "z"], "", "axes of the world")
            add("base_position", ("time", "xyz"), trajectory.base[:, :3], "m", f"origin {text}")
            add("quaternion", ("quaternion",), ["x", "y", "z", "w"], "", "parts of a unit quaternion")
            orientation = trajectory.base[:, 3:]
            add("base_orientation", ("time", "quaternion"), orientation, "1", f"orientation {text}")
    write_whole(path, bytes(content))


def read_trajectory_netcdf(path: Path) -> JointTrajectory:
    """Read a NetCDF file that `write_trajectory_netcdf` wrote, bit for bit."""
    try:
        stored = path.read_bytes()
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    content, _, found = stored.rpartition(SEAL)
    # The HDF5 library hangs on some damaged files: only intact ones may reach it.
    if not content or found != hashlib.sha256(content).hexdigest().encode():
        raise MotionError(
            f"{path}: not a joint trajectory that simbench wrote, or damaged: "
            "its bytes do not give the checksum that must stand at its end"
        )
    with reading(path, MotionError), h5py.File(BytesIO(content), "r") as file:
        check_structure(file, len(content))
        if (kind := file.attrs.get("format")) != FORMAT:
            raise MotionError(f"{path}: holds {kind!r}; a joint trajectory is {FORMAT!r}")
        _require_sizes(file, path, "position", "base_position")
        names = tuple(str(name) for name in file["joint"].asstr()[...])
        base = None
        if "base_position" in file:
            base = np.hstack([file["base_position"][...], file["base_orientation"][...]])
        trajectory = JointTrajectory(file["time"][...], file["position"][...], names, base)
        samples = len(trajectory.time)
        for name, values, allowed in (
            ("time", trajectory.time, (samples,)),
            ("position", trajectory.q, (samples, len(names))),
            ("base", base, (samples, 7)),
        ):
            if values is not None and values.shape != allowed:
                raise MotionError(f"{path}: {name} has the shape {values.shape}; must be {allowed}")
        return validate_trajectory(trajectory, str(path))


def _require_sizes(file: h5py.File, path: Path, *names: str) -> None:
    """Refuse a motion that is too long, or too large, before it is read."""
    for name in (name for name in ("time", *names) if name in file):
        require_at_most(file[name].size, MOST_NUMBERS, f"{path}: {name}: numbers", MotionError)
        require_at_most(file[name].len(), MOST_SAMPLES, f"{path}: {name}: samples", MotionError)


def to_stored(trajectory: JointTrajectory, name: str) -> StoredMotion:
    """Present a trajectory as the content of a file. `name`: name of the format. Returns the same motion."""
    base = trajectory.base
    return StoredMotion(
        format=name,
        joints=trajectory.q,
        joint_names=trajectory.joint_names,
        time=trajectory.time,
        position=None if base is None else base[:, :3],
        quaternion=None if base is None else base[:, 3:],
        quaternion_order="xyzw",
        is_order_named=True,
        length_unit=1.0,
    )


def is_run_log(path: Path) -> bool:
    """Return whether a file is the log of a run, by its name.

    `path`: the file or run directory. Returns true for a directory, and for a file `log.nc`.
    """
    return path.is_dir() or path.name == "log.nc"


def read_run_log(path: Path) -> StoredMotion:
    """Read the measured motion of the robot in the log of a run.

    `path`: run directory, or its `log.nc`. Returns the motion at the log's rate.
    """
    log = path / "log.nc" if path.is_dir() else path
    if not log.is_file():
        raise MotionError(
            f"{path}: is a directory; give a file of a robot's motion; it is not a run directory with log.nc"
        )
    with reading(log, MotionError):
        state = inspect_seal(log)
        if state is SealState.BROKEN:
            raise MotionError(f"{log}: damaged: its bytes do not give the checksum at its end")
        # The HDF5 library hangs and crashes on some damaged files: others are tried in their own process.
        if state is SealState.ABSENT and (reason := probe_file(log)):
            raise MotionError(f"{log}: cannot be read: {reason}")
        with h5py.File(log, "r") as file:
            check_structure(file, log.stat().st_size)
            name = "joint_position"
            if name not in file or "joint" not in file or "time" not in file:
                raise MotionError(f"{log}: holds no {name}: not the log of a robot's run")
            _require_sizes(file, log, name, "base_pose")
            joints = np.asarray(file[name][...], dtype=float)
            names = tuple(str(each) for each in file["joint"].asstr()[...])
            time = np.asarray(file["time"][...], dtype=float)
            base = np.asarray(file["base_pose"][...], dtype=float) if "base_pose" in file else None
    if joints.ndim != 2 or joints.shape != (len(time), len(names)):
        raise MotionError(f"{log}: {name} has the shape {joints.shape}; must be {(len(time), len(names))}")
    if base is not None and base.shape != (len(time), 7):
        base = None
    return to_stored(JointTrajectory(time, joints, names, base), "run")
