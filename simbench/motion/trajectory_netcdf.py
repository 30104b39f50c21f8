"""Joint trajectories as NetCDF: bit for bit, with dimensions, units, and where they come from."""

import os
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

import h5netcdf
import h5py
import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_check import checked
from simbench.motion.writers.netcdf import SEAL, checksum

FORMAT = "simbench joint trajectory 1"


def write_netcdf(
    trajectory: JointTrajectory,
    path: Path,
    units: Sequence[str],
    attributes: Mapping[str, str | float],
) -> None:
    """Write a trajectory that xarray and other NetCDF readers open.

    `position` (time, joint), with `joint_unit` (joint) where some joints turn and others slide;
    `base_position` (time, xyz) and `base_orientation` (time, quaternion) if there is a base. The same
    trajectory gives the same bytes. The file appears under its name only when it is whole.

    Parameters
    ----------
    trajectory : JointTrajectory
    path : Path
    units : sequence of str
        `rad` or `m` for each joint.
    attributes : mapping of str to str or number
        Of the file.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    # In memory, because the HDF5 library aborts the process when the disk is full.
    memory = BytesIO()
    with h5netcdf.File(memory, "w") as file:
        file.attrs.update({"format": FORMAT, **attributes})

        def add(name: str, dims: tuple[str, ...], values: ArrayLike, unit: str, text: str) -> None:
            array = np.asarray(values)
            if array.dtype.kind == "U":
                array = array.astype(h5py.string_dtype())
            for dim, length in zip(dims, array.shape, strict=True):
                if dim not in file.dimensions:
                    file.dimensions[dim] = length
            variable = file.create_variable(name, dims, array.dtype, data=array)
            variable.attrs.update({"units": unit, "long_name": text})

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
    content = memory.getvalue()
    part = path.with_name(path.name + ".part")
    try:
        part.write_bytes(content + SEAL + checksum(content))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_netcdf(path: Path) -> JointTrajectory:
    """Read a trajectory that `write_netcdf` wrote, bit for bit.

    Parameters
    ----------
    path : Path

    Returns
    -------
    JointTrajectory

    Raises
    ------
    MotionError
        If the file cannot be read, has changed since it was written, or is not a trajectory.
    """
    try:
        stored = path.read_bytes()
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    content, _, found = stored.rpartition(SEAL)
    # The HDF5 library hangs on some files that are damaged: nothing but intact ones may reach it.
    if not content or found != checksum(content):
        raise MotionError(
            f"{path}: not a joint trajectory that simbench wrote, or damaged: "
            "its bytes do not give the checksum that must stand at its end"
        )
    with h5py.File(BytesIO(content), "r") as file:
        if (kind := file.attrs.get("format")) != FORMAT:
            raise MotionError(f"{path}: holds {kind!r}; a joint trajectory is {FORMAT!r}")
        names = tuple(str(name) for name in file["joint"].asstr()[...])
        base = None
        if "base_position" in file:
            base = np.hstack([file["base_position"][...], file["base_orientation"][...]])
        trajectory = JointTrajectory(file["time"][...], file["position"][...], names, base)
    return checked(trajectory, str(path))
