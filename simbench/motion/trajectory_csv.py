"""Joint trajectories as CSV: one line a sample."""

import os
from pathlib import Path

import numpy as np

from simbench.motion.trajectory import JointTrajectory

_BASE = ("base_x_m", "base_y_m", "base_z_m", "base_qx", "base_qy", "base_qz", "base_qw")


def write_csv(trajectory: JointTrajectory, path: Path) -> None:
    """Write a trajectory: time (s), the base's pose if it has one, joint positions (rad or m).

    The pose is x, y, z (m), then the quaternion x, y, z, w. The file appears under its name only when it is
    whole.

    Parameters
    ----------
    trajectory : JointTrajectory
    path : Path

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    base = trajectory.base
    header = ["time_s", *(() if base is None else _BASE), *trajectory.joint_names]
    columns = [trajectory.time[:, None], *(() if base is None else (base,)), trajectory.q]
    part = path.with_name(path.name + ".part")
    try:
        np.savetxt(part, np.hstack(columns), delimiter=",", header=",".join(header), comments="", fmt="%.9g")
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
