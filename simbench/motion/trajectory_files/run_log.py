"""Reader of the measured motion of the robot in the log of a run."""

from pathlib import Path

import h5py
import numpy as np

from simbench.errors import MotionError
from simbench.files.netcdf_file import check_structure, probe_file, reading
from simbench.files.seal import SealState, inspect_seal
from simbench.motion.trajectory_files.stored_motion import StoredMotion


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
            joints = np.asarray(file[name][...], dtype=float)
            names = tuple(str(each) for each in file["joint"].asstr()[...])
            time = np.asarray(file["time"][...], dtype=float)
            base = np.asarray(file["base_pose"][...], dtype=float) if "base_pose" in file else None
    if joints.ndim != 2 or joints.shape != (len(time), len(names)):
        raise MotionError(f"{log}: {name} has the shape {joints.shape}; must be {(len(time), len(names))}")
    if base is not None and base.shape != (len(time), 7):
        base = None
    return StoredMotion(
        format="run",
        joints=joints,
        joint_names=names,
        joint_units=None,
        time=time,
        position=None if base is None else base[:, :3],
        length_unit=1.0,
        quaternion=None if base is None else base[:, 3:],
        quaternion_order="xyzw",
        is_order_named=True,
    )
