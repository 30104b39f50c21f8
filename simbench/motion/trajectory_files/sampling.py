"""Times of the samples of a motion: declared, in the file, implied by velocities, or usual."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.trajectory_files.stored_motion import StoredMotion

Array = NDArray[np.float64]

_RATE_TOLERANCE = 0.05
"""Relative difference between two rates that noise and finite differences explain."""
_EVEN = 1e-4
"""Relative departure of a time step from the mean that is rounding."""
_LARGEST_RATE = 10_000.0


class Sampling(NamedTuple):
    """Times of the samples, and what was found out about them."""

    time: Array  # (T,): times from 0, s.
    notes: tuple[str, ...]  # `notes`, `doubts`: one line each.
    doubts: tuple[str, ...]


def find_sampling(stored: StoredMotion, declared: float | None, where: str) -> Sampling:
    """Find the times of the samples.

    `stored`: content of the file; `declared`: rate that the user declares, Hz; overrules the file; `where`:
    the file, for messages.
    """
    count = len(stored.joints)
    if not count:
        raise MotionError(f"{where}: no samples; there must be at least one")
    if declared is None and stored.time is not None:
        return _own_times(stored, where)
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
    if not 0.1 <= rate <= _LARGEST_RATE:
        raise MotionError(f"{where}: {rate:g} samples a second; allowed: 0.1 to {_LARGEST_RATE:g}")
    if implied is not None and abs(implied / rate - 1.0) > _RATE_TOLERANCE:
        doubts = (
            *doubts,
            f"the joint velocities in the file fit {implied:.4g} samples a second, not {rate:g}",
        )
    return Sampling(np.arange(count) / rate, notes, doubts)


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
    if not explained or not 0.1 <= rate <= _LARGEST_RATE:
        return None
    return float(round(rate)) if abs(round(rate) / rate - 1.0) < _RATE_TOLERANCE / 2 else rate


def _own_times(stored: StoredMotion, where: str) -> Sampling:
    """Take the times of the file, from 0."""
    time = np.asarray(stored.time, dtype=float)
    if len(time) != len(stored.joints):
        raise MotionError(
            f"{where}: {len(time)} times for {len(stored.joints)} samples; there must be one for each"
        )
    not_later = np.flatnonzero(np.diff(time) <= 0.0)
    if not_later.size:
        k = int(not_later[0])
        raise MotionError(
            f"{where}: sample {k + 1} is at {time[k + 1]:g} s, after {time[k]:g} s; time must increase from "
            "sample to sample"
        )
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()
    steps = np.diff(time)
    if time[0] != 0.0:
        notes = (f"times shifted: the first sample is at {time[0]:.6g} s in the file",)
    if len(steps) and (1.0 / np.median(steps) > _LARGEST_RATE or 1.0 / np.median(steps) < 0.5):
        doubts = (
            f"the times in the file are {np.median(steps):.3g} s apart: they may be in another unit; declare "
            "the rate with --fps",
        )
    return Sampling(time - time[0], notes, doubts)


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
