"""Joint trajectories: sampled joint positions and base poses, interpolated over time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError

JOINT_UNITS = ("rad", "m")
"""Of joints that turn and of joints that slide."""


@dataclass(frozen=True)
class JointTrajectory:
    """Joint positions of a robot over time.

    Parameters
    ----------
    time : (T,) array
        Strictly increasing, s.
    q : (T, n) array
        Joint positions in the order of `joint_names`, rad or m.
    joint_names : tuple of str, length n
    base : (T, 7) array or None
        Pose of the root link in the world: x, y, z (m), then quaternion x, y, z, w.
    """

    time: NDArray[np.float64]
    q: NDArray[np.float64]
    joint_names: tuple[str, ...]
    base: NDArray[np.float64] | None = None


def checked(trajectory: JointTrajectory, where: str) -> JointTrajectory:
    """Refuse what no robot can follow.

    Parameters
    ----------
    trajectory : JointTrajectory
    where : str
        Where it is from, for the message.

    Returns
    -------
    JointTrajectory
        The same.

    Raises
    ------
    MotionError
        Of the first number that is not finite, the first sample that is not later than the one before, the
        first quaternion that is no rotation, or joints of one name.
    """
    time, base = trajectory.time, trajectory.base
    names = trajectory.joint_names
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise MotionError(
            f"{where}: joint {', '.join(twice)} is there twice; every joint must have one column"
        )
    columns = {"time": time[:, None], "the base": np.empty((len(time), 0)) if base is None else base}
    columns |= {f"joint {name}": trajectory.q[:, [k]] for k, name in enumerate(names)}
    for name, values in columns.items():
        bad = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if bad.size:
            raise MotionError(
                f"{where}: {name} is NaN or infinite at sample {bad[0]}, {bad.size} sample(s) in all; "
                "every number must be finite"
            )
    late = np.flatnonzero(np.diff(time) <= 0.0)
    if late.size:
        raise MotionError(
            f"{where}: sample {late[0] + 1} is at {time[late[0] + 1]:g} s, after {time[late[0]]:g} s; "
            "time must increase from sample to sample"
        )
    if base is not None:
        length = np.linalg.norm(base[:, 3:], axis=1)
        off = np.flatnonzero(np.abs(length - 1.0) > 1e-6)
        if off.size:
            raise MotionError(
                f"{where}: the base's quaternion at sample {off[0]} has length {length[off[0]]:.6g}; "
                "it must be 1 to a millionth"
            )
    return trajectory
