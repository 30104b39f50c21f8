"""Gaps in marker tracks: short ones are filled by interpolation, long ones are an error."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from simbench.errors import MotionError
from simbench.motion.human_motion import Gap
from simbench.motion.recordings import MarkerRecording


def fill_gaps(recording: MarkerRecording, longest: float) -> tuple[MarkerRecording, tuple[Gap, ...]]:
    """Fill short gaps in marker tracks, and cut the ends at which a marker was not seen.

    A gap with samples on both sides is filled by the cubic spline through all samples of its marker. At the
    ends there is nothing to interpolate between: instead of extrapolating, the whole recording is cut to
    begin with the first sample, and to end with the last one, that every marker has. Both are done only up to
    `longest`. `recording`: marker tracks, with NaN where a marker was not seen; `longest`: longest stretch
    that is filled or cut, s: the number of missing samples times the mean sampling interval. Returns
    `recording`: the same tracks without NaN, time from 0. Markers that were never seen are dropped, with a
    note; `gaps`: the gaps that were filled, as samples of the returned recording.
    """
    absent = np.asarray(np.isnan(recording.positions).any(axis=2))
    frames = len(recording.time)
    seen = np.asarray(~absent.all(axis=0))
    if not seen.any():
        raise MotionError(
            f"{recording.source}: no marker is seen in any of {frames} frame(s); there is nothing to read"
        )
    notes = list(recording.notes)
    if not seen.all():
        never = [name for name, known in zip(recording.names, seen, strict=True) if not known]
        notes.append(f"{len(never)} markers never seen ignored: {', '.join(never)}")
    names = tuple(name for name, known in zip(recording.names, seen, strict=True) if known)
    absent, positions = absent[:, seen], recording.positions[:, seen].copy()
    runs = find_runs(absent)
    _refuse_long(recording, names, runs, longest)
    for marker in np.flatnonzero(absent.any(axis=0)):
        known = ~absent[:, marker]
        if known.sum() > 1:
            missing = np.flatnonzero(~known)
            positions[missing, marker] = interpolate(recording.time, positions[:, marker], missing)
    first = max((last + 1 for _, begin, last in runs if begin == 0), default=0)
    stop = min((begin for _, begin, last in runs if last == frames - 1), default=frames)
    if stop - first < min(2, frames):
        raise MotionError(
            f"{recording.source}: fewer than 2 of {frames} frames are left between the first and the last "
            "that show every marker"
        )
    cut = [
        f"{count} frames at the {end}" for count, end in ((first, "start"), (frames - stop, "end")) if count
    ]
    if cut:
        notes.append(f"cut, because not every marker is seen there: {', '.join(cut)}")
    gaps = tuple(
        Gap(names[marker], max(begin, first) - first, min(last, stop - 1) - first)
        for marker, begin, last in runs
        if begin < stop and last >= first
    )
    start = float(recording.time[first])
    return replace(
        recording,
        time=recording.time[first:stop] - start,
        names=names,
        positions=positions[first:stop],
        events=tuple((label, time - start) for label, time in recording.events),
        notes=tuple(notes),
    ), gaps


def find_runs(absent: NDArray[np.bool_]) -> list[tuple[int, int, int]]:
    """Find the unbroken stretches in which markers were not seen.

    `absent` (T, M) of bool: whether a marker was not seen. Returns marker, first and last frame of each
    stretch, by marker.
    """
    edges = np.diff(np.pad(absent.T.astype(np.int8), ((0, 0), (1, 1))), axis=1)
    markers, first = np.nonzero(edges == 1)
    last = np.nonzero(edges == -1)[1] - 1
    return list(zip(markers.tolist(), first.tolist(), last.tolist(), strict=True))


def interpolate(
    time: NDArray[np.float64], track: NDArray[np.float64], frames: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Interpolate a track by the cubic spline through all its known samples.

    `time` (T,): times of the samples, s; `track` (T, 3): the track, m, with NaN where it is not known; at
    least two samples are; `frames` (N,) of int. Returns (N, 3): positions there, m.
    """
    known = ~np.isnan(track).any(axis=1)
    return np.asarray(CubicSpline(time[known], track[known])(time[frames]))


def _refuse_long(
    recording: MarkerRecording, names: tuple[str, ...], runs: list[tuple[int, int, int]], longest: float
) -> None:
    """Refuse gaps that are longer than `longest` s; the message names the longest."""
    time = recording.time
    interval = float(time[-1] - time[0]) / max(len(time) - 1, 1)
    # Rounding of the times must not decide whether a gap of exactly the allowed length is filled.
    long = [run for run in runs if (run[2] - run[1] + 1) * interval > longest * (1 + 1e-6)]
    if not long:
        return
    marker, first, last = max(long, key=lambda run: run[2] - run[1])
    others = f"; {len(long)} gaps are longer than that" if len(long) > 1 else ""
    raise MotionError(
        f"{recording.source}: marker {names[marker]} is not seen from frame {first} ({time[first]:.3f} s) to "
        f"frame {last} ({time[last]:.3f} s), {(last - first + 1) * interval:.3g} s; "
        f"gaps up to {longest:g} s are filled{others}"
    )
