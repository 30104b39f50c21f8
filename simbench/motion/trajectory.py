"""Joint trajectories: sampled joint positions and base poses over time, and their validation."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.text import is_plain_name
from simbench.motion.human_motion import HumanMotion

JOINT_UNITS = ("rad", "m")  # Units of the positions of revolute and of prismatic joints.


@dataclass(frozen=True)
class JointTrajectory:
    """Joint positions of a robot over time.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s, strictly increasing.
    q : (T, n) array
        Joint positions in the order of `joint_names`, rad or m.
    joint_names : tuple of str, length n
        Names of the joints, all different.
    base : (T, 7) array or None
        Pose of the root link in the world: x, y, z (m), then quaternion x, y, z, w.
    """

    time: NDArray[np.float64]
    q: NDArray[np.float64]
    joint_names: tuple[str, ...]
    base: NDArray[np.float64] | None = None


def validate_trajectory(trajectory: JointTrajectory, where: str) -> JointTrajectory:
    """Check that a trajectory that was read from a file is one that a robot can follow.

    `where`: file it was read from, for messages. Returns the same object.
    """
    time, base = trajectory.time, trajectory.base
    names = trajectory.joint_names
    if odd := [name for name in names if not is_plain_name(name)]:
        raise MotionError(f"{where}: the name {odd[0]!r} must not have control characters")
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
    not_later = np.flatnonzero(np.diff(time) <= 0.0)
    if not_later.size:
        k = int(not_later[0])
        raise MotionError(
            f"{where}: sample {k + 1} is at {time[k + 1]:g} s, after {time[k]:g} s; "
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


def sample_trajectory(trajectory: JointTrajectory, time: NDArray[np.float64]) -> JointTrajectory:
    """Sample a motion, dense as that of a log, at other times (T,), s, linearly between its samples.

    Before the first sample and after the last one the motion stands still.
    """
    after = np.searchsorted(trajectory.time, time).clip(1, len(trajectory.time) - 1)
    start, end = trajectory.time[after - 1], trajectory.time[after]
    share = ((time - start) / (end - start)).clip(0.0, 1.0)[:, None]
    q = (1.0 - share) * trajectory.q[after - 1] + share * trajectory.q[after]
    if trajectory.base is None:
        return replace(trajectory, time=time, q=q)
    first, second = trajectory.base[after - 1], trajectory.base[after].copy()
    # A quaternion and its negative are the same rotation; the nearer one is interpolated to.
    second[:, 3:] *= np.where(np.sum(first[:, 3:] * second[:, 3:], axis=1) < 0.0, -1.0, 1.0)[:, None]
    base = (1.0 - share) * first + share * second
    base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1, keepdims=True)
    return JointTrajectory(time, q, trajectory.joint_names, base)


# Standard deviation of a displacement, m or rad: a thousand times the spacing of numbers of some metres.
ROUNDING = 1e-12


def round_motion(motion: HumanMotion, seed: int, size: float = ROUNDING) -> HumanMotion:
    """Displace the joint centres and segments of a recording at random.

    A plan is a search. Where two of its candidates are nearly equal, the last digit of a matrix product
    decides between them, and libraries for different processors differ in that digit. `seed`: seed of the
    displacements: the same seed gives the same motion; `size`: their standard deviation, m and rad.
    Returns the recording with every joint centre and every segment frame moved by normally distributed
    amounts, m, and every segment frame also turned by such angles about the world's axes, rad. Handles and
    markers are as they were.
    """
    rng = np.random.default_rng(seed)
    joints = {name: at + size * rng.standard_normal(at.shape) for name, at in motion.joints.items()}
    segments = {}
    for name, pose in motion.segments.items():
        segments[name] = pose.copy()
        segments[name][:, :3, 3] += size * rng.standard_normal((len(pose), 3))
        # Rodrigues' formula to first order, R + ω × R, column by column: rotations stay orthonormal to the
        # square of `size`.
        angles = size * rng.standard_normal((len(pose), 1, 3))
        segments[name][:, :3, :3] += np.cross(angles, pose[:, :3, :3], axisb=1, axisc=1)
    return replace(motion, joints=joints, segments=segments)


def round_trajectory(trajectory: JointTrajectory, seed: int, size: float = ROUNDING) -> JointTrajectory:
    """Displace the joints and the base of a robot's motion at random.

    `seed`: seed of the displacements: the same seed gives the same motion; `size`: their standard deviation.
    Returns the motion with every joint position, rad or m, and every position of the base, m, moved by
    normally distributed amounts. The base's quaternion is as it was.
    """
    rng = np.random.default_rng(seed)
    base = trajectory.base
    if base is not None:
        base = np.hstack([base[:, :3] + size * rng.standard_normal((len(base), 3)), base[:, 3:]])
    return replace(trajectory, q=trajectory.q + size * rng.standard_normal(trajectory.q.shape), base=base)
