"""A robot's motion as a file holds it, what a user declares about it, and the times of its samples."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.system.limits import MOST_NUMBERS, MOST_SAMPLES, RATES, require_at_most, require_steps

Array = NDArray[np.float64]

# Largest number of each array, in whatever unit: nanoseconds of a calendar, millimetres, degrees.
_LARGEST = {"time": 1e20, "joints": 1e6, "position": 1e6, "quaternion": 1e6, "euler": 1e6}
_NAMES = {
    "time": "time",
    "joints": "a joint",
    "position": "the base's position",
    "quaternion": "the base's orientation",
    "euler": "the base's orientation",
}
QUATERNIONS = ("xyzw", "wxyz")  # Orders of the parts of a quaternion in files.
_RATE_TOLERANCE = 0.05  # Relative difference between two rates that noise and finite differences explain.
_EVEN = 1e-4  # Relative departure of a time step from the mean that is rounding.
_ROUNDING = 1e-6  # Part of a time step by which the last sample may be late.


@dataclass(frozen=True)
class TrajectoryOptions:
    """What the user declares about a file of a robot's motion; None leaves a property to the file.

    Raises MotionError an unknown order of the quaternion, or a rate that is not between 1 and 10000.
    """

    # Path of a file that lists the names of the file's joint columns, one a line, or as a YAML or JSON list.
    joint_order: str | None = None
    quaternion: str | None = None  # Order of the parts of the base's quaternion, `xyzw` or `wxyz`.
    # Samples per second of a file that does not say it; overrules what the file says.
    fps: float | None = None
    format: str | None = None  # Name of the format, for a file whose suffix or content does not say it.

    def __post_init__(self) -> None:
        if self.quaternion is not None and self.quaternion not in QUATERNIONS:
            raise MotionError(
                f"quaternion {self.quaternion!r}: unknown order; allowed: {', '.join(QUATERNIONS)}"
            )
        if self.fps is not None and not RATES[0] <= self.fps <= RATES[1]:
            raise MotionError(f"fps {self.fps:g}: allowed: {RATES[0]:g} to {RATES[1]:g}")


@dataclass(frozen=True)
class RobotMotion:
    """A robot's motion as read from a file, with what was found out and what was assumed."""

    # The motion from 0 s, joints in the order of the robot; with a base if and only if the robot's floats.
    trajectory: JointTrajectory
    notes: tuple[str, ...]  # What was found out about the file or changed, one line each.
    doubts: tuple[str, ...]  # Assumptions that may well be wrong, one line each.
    format: str


@dataclass(frozen=True)
class StoredMotion:
    """What a file of a robot's motion holds, in the file's own order and conventions."""

    format: str  # Name of the format.
    joints: NDArray[np.float64]  # (T, n): joint positions in the file's order, in the file's unit.
    # Names of the columns of `joints`; None where the file does not name them.
    joint_names: tuple[str, ...] | None = None
    # Unit of each column, `rad`, `deg`, `m`, or an empty text where its name does not say it.
    joint_units: tuple[str, ...] | None = None
    # (T,) or None: times of the samples, s; None where the file holds none.
    time: NDArray[np.float64] | None = None
    fps: float | None = None  # Samples per second that the file declares.
    # Samples per second that is usual in files of this form, taken where the file declares none.
    usual_fps: float = 30.0
    # (T, 3) or None: position of the base in the world, in the file's unit of length.
    position: NDArray[np.float64] | None = None
    length_unit: float | None = None  # Metres per unit of `position`, where the format fixes it.
    quaternion: NDArray[np.float64] | None = None  # (T, 4) or None: orientation of the base in the world.
    # Order of the quaternion's parts, `xyzw` or `wxyz`; None where nothing fixes it.
    quaternion_order: str | None = None
    # Whether the file itself names the parts, so that the order is beyond doubt.
    is_order_named: bool = False
    # (T, 3) or None: orientation of the base as angles about the fixed axes x, y and z, in that order, where
    # it is not a quaternion, in the unit of the joints.
    euler: NDArray[np.float64] | None = None
    velocities: NDArray[np.float64] | None = None  # (T, n) or None: joint velocities in the file's order.
    bodies: NDArray[np.float64] | None = None  # (T, B, 3) or None: positions of links in the world, m.
    notes: tuple[str, ...] = ()  # What was found out or left out, one line each.
    doubts: tuple[str, ...] = ()  # Assumptions that may well be wrong, one line each.


def require_numbers(stored: StoredMotion, where: str) -> StoredMotion:
    """Refuse numbers that are not finite, or so large that nothing can be computed with them.

    `stored`: content of the file; `where`: the file, for messages. Returns the same, without velocities and
    link positions if they hold such numbers: they are evidence only.
    """
    require_at_most(len(stored.joints), MOST_SAMPLES, f"{where}: samples", MotionError)
    for name, largest in _LARGEST.items():
        values = getattr(stored, name)
        if values is None:
            continue
        rows = values.reshape(len(values), int(np.prod(values.shape[1:])))
        bad = np.flatnonzero(~(np.abs(rows) <= largest).all(axis=1))
        if bad.size:
            worst = rows[bad[0]][~(np.abs(rows[bad[0]]) <= largest)][0]
            what = f"{worst:g}" if np.isfinite(worst) else "NaN or infinite"
            raise MotionError(
                f"{where}: {_NAMES[name]} is {what} at sample {bad[0]}, {bad.size} sample(s) in all; every "
                f"number must be finite and at most {largest:g}"
            )
    evidence = {
        name: values
        for name in ("velocities", "bodies")
        if (values := getattr(stored, name)) is not None and (np.abs(values) <= _LARGEST["joints"]).all()
    }
    return replace(stored, velocities=evidence.get("velocities"), bodies=evidence.get("bodies"))


def find_sampling(
    stored: StoredMotion, declared: float | None, where: str
) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """Find the times of the samples: declared, in the file, implied by velocities, or usual.

    `stored`: content of the file; `declared`: rate that the user declares, Hz; overrules the file; `where`:
    the file, for messages. Returns times from 0 (T,), s; notes and doubts, one line each.
    """
    count = len(stored.joints)
    if not count:
        raise MotionError(f"{where}: no samples; there must be at least one")
    if declared is None and stored.time is not None:
        return _own_times(np.asarray(stored.time, dtype=float), count, where)
    implied = implied_rate(stored)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    if declared is not None:
        rate, notes = declared, (f"{declared:g} samples a second, as declared",)
    elif stored.fps is not None:
        rate, notes = stored.fps, (f"{stored.fps:g} samples a second, as the file says",)
    elif implied is not None:
        rate, notes = implied, (f"{implied:g} samples a second, found from the joint velocities in the file",)
    else:
        rate = stored.usual_fps
        doubts = (
            f"the file does not say its rate: {rate:g} samples a second are assumed, as is usual for such "
            "files; declare it with --fps",
        )
    if not 0.1 <= rate <= RATES[1]:
        raise MotionError(f"{where}: {rate:g} samples a second; allowed: 0.1 to {RATES[1]:g}")
    if implied is not None and abs(implied / rate - 1.0) > _RATE_TOLERANCE:
        doubts += (f"the joint velocities in the file fit {implied:.4g} samples a second, not {rate:g}",)
    return np.arange(count) / rate, notes, doubts


def _own_times(time: Array, count: int, where: str) -> tuple[Array, tuple[str, ...], tuple[str, ...]]:
    """Take the times of the file, from 0."""
    if len(time) != count:
        raise MotionError(f"{where}: {len(time)} times for {count} samples; there must be one for each")
    steps = np.diff(time)
    not_later = np.flatnonzero(steps <= 0.0)
    if not_later.size:
        k = int(not_later[0])
        raise MotionError(
            f"{where}: sample {k + 1} is at {time[k + 1]:g} s, after {time[k]:g} s; time must increase from "
            "sample to sample"
        )
    require_steps(time, where, MotionError)
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    if time[0] != 0.0:
        notes = (f"times shifted: the first sample is at {time[0]:.6g} s in the file",)
    if len(steps) and not 0.5 <= 1.0 / np.median(steps) <= RATES[1]:
        doubts = (
            f"the times in the file are {np.median(steps):.3g} s apart: they may be in another unit; declare "
            "the rate with --fps",
        )
    return time - time[0], notes, doubts


def implied_rate(stored: StoredMotion) -> float | None:
    """Compute the rate at which the differences of the positions are the velocities in the file.

    `stored`: content of the file. Returns rate, Hz, rounded to a whole number that is near; None where
    nothing moves or no rate explains it.
    """
    velocities, joints = stored.velocities, stored.joints
    if velocities is None or len(joints) < 3:
        return None
    steps = (joints[2:] - joints[:-2]) / 2.0
    power = float((steps * steps).sum())
    inner = velocities[1:-1]
    if power < 1e-12 * steps.size:
        return None
    rate = float((steps * inner).sum()) / power
    explained = float(((inner - rate * steps) ** 2).sum()) < 0.1 * float((inner * inner).sum())
    if not explained or not 0.1 <= rate <= RATES[1]:
        return None
    return float(round(rate)) if abs(round(rate) / rate - 1.0) < _RATE_TOLERANCE / 2 else rate


def uniform_rate(time: Array) -> float | None:
    """Compute the rate of samples that are evenly spaced.

    `time` (T,): times of the samples, s. Returns rate, Hz, rounded to a multiple of 1/1000 where that is
    within rounding; None where the steps differ.
    """
    if len(time) < 2:
        return None
    steps = np.diff(time)
    mean = float(time[-1] - time[0]) / len(steps)
    if np.abs(steps - mean).max() > _EVEN * mean:
        return None
    rate = 1.0 / mean
    near = round(rate * 1000.0) / 1000.0
    return near if near and abs(near / rate - 1.0) < 1e-9 * len(time) else rate


def resample_trajectory(trajectory: JointTrajectory, rate: float) -> JointTrajectory:
    """Sample a trajectory at another rate: joints and position linearly, orientation along great circles.

    `rate`: samples per second. Returns the trajectory from its first time up to its last sample at the
    latest.
    """
    if not RATES[0] <= rate <= RATES[1]:
        raise MotionError(f"--rate {rate:g}: allowed: {RATES[0]:g} to {RATES[1]:g} samples a second")
    start, end = trajectory.time[0], trajectory.time[-1]
    samples = (end - start) * rate * (trajectory.q.shape[1] or 1)
    require_at_most(samples, MOST_NUMBERS, f"--rate {rate:g}: numbers", MotionError)
    steps = np.arange(int(np.floor((end - start) * rate + _ROUNDING)) + 1)
    time = np.minimum(start + steps / rate, end)

    def interpolated(values: np.ndarray) -> np.ndarray:
        return np.stack([np.interp(time, trajectory.time, column) for column in values.T], axis=1)

    q = interpolated(trajectory.q) if trajectory.q.shape[1] else np.empty((len(time), 0))
    base = trajectory.base
    if base is not None and len(base) > 1:
        turned = Slerp(trajectory.time, Rotation.from_quat(base[:, 3:]))(time).as_quat()
        # SciPy chooses signs of its own.
        flips = np.where(np.einsum("ti,ti->t", turned[1:], turned[:-1]) < 0.0, -1.0, 1.0)
        turned = turned * np.cumprod(np.r_[1.0, flips])[:, None]
        base = np.hstack([interpolated(base[:, :3]), turned])
    return JointTrajectory(start + steps / rate, q, trajectory.joint_names, base)
