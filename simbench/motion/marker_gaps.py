"""Gaps in marker tracks: filled by splines, or bridged by the markers of a rigid segment or of a limb."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Gap
from simbench.motion.marker_maps.map_evaluation import fit_cluster_pose, normalise, reject, transport_along
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
    time = recording.time
    interval = float(time[-1] - time[0]) / max(len(time) - 1, 1)
    # Rounding of the times must not decide whether a gap of exactly the allowed length is filled.
    long = [run for run in runs if (run[2] - run[1] + 1) * interval > longest * (1 + 1e-6)]
    if long:
        marker, first, last = max(long, key=lambda run: run[2] - run[1])
        others = f"; {len(long)} gaps are longer than that" if len(long) > 1 else ""
        raise MotionError(
            f"{recording.source}: marker {names[marker]} is not seen from frame {first} ({time[first]:.3f} "
            f"s) to frame {last} ({time[last]:.3f} s), {(last - first + 1) * interval:.3g} s; "
            f"gaps up to {longest:g} s are filled{others}"
        )
    for marker in np.flatnonzero(absent.any(axis=0)).tolist():
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
    left = dict(enumerate(names))
    return cut_recording(recording, positions[first:stop], left, runs, first, notes, recording.doubts)


def cut_recording(
    recording: MarkerRecording,
    positions: Array,
    names: Mapping[int, str],
    runs: list[tuple[int, int, int]],
    first: int,
    notes: Sequence[str],
    doubts: Sequence[str],
) -> tuple[MarkerRecording, tuple[Gap, ...]]:
    """Cut a recording to the frames from the first one on, and the markers, of which tracks are given.

    `positions` (T, M, 3): tracks that are left, m; `names`: names of their markers by their number in `runs`,
    the stretches that were not seen. Returns the recording, time from 0, and the gaps that were filled, as
    its samples.
    """
    start, stop = float(recording.time[first]), first + len(positions)
    gaps = tuple(
        Gap(names[marker], max(begin, first) - first, min(last, stop - 1) - first)
        for marker, begin, last in runs
        if begin < stop and last >= first and marker in names
    )
    return replace(
        recording,
        time=recording.time[first:stop] - start,
        names=tuple(names.values()),
        positions=positions,
        events=tuple((label, time - start) for label, time in recording.events),
        notes=tuple(notes),
        doubts=tuple(doubts),
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


# Markers lie on one segment when their distance is constant to this standard deviation, m (skin moves by
# about as much), and not longer than a thigh: in a person who hardly moves, all distances are constant.
CONSTANT, LONGEST = 0.008, 0.5
# Of two markers that keep their distance equally well, one that is nearer by 1 m is preferred by this, m.
NEARNESS = 0.003
# A cluster must be this wide across its longest line for its rotation to be known, m.
LEAST_WIDTH = 0.015
# Largest root mean square error of the marker's place in its segment, m, and numbers of frames that show it.
LARGEST_RESIDUAL, LEAST_FRAMES, MOST_FRAMES = 0.010, 10, 400
MOST_MATES = 6

Indices = NDArray[np.signedinteger[Any]]
Mask = NDArray[np.bool_]


class Bridge(NamedTuple):
    """A track across a gap."""

    track: Array  # (N, 3): positions in the frames of the gap, m.
    mates: tuple[int, ...]  # Indices of the markers from which it follows.
    residual: float  # Root mean square error where the marker was seen, m.


def spread_frames(seen: Mask, most: int) -> Indices:
    """Choose frames, evenly among those in which something is seen.

    `seen` (T,) of bool: whether it is seen; `most`: largest number of frames. Returns (N,) of int: their
    indices.
    """
    frames = np.flatnonzero(seen)
    return frames[np.linspace(0, len(frames) - 1, min(most, len(frames))).round().astype(int)]


def measure_distances(positions: Array, marker: int, frames: Indices) -> tuple[Array, Array]:
    """Measure how constant the distances of a marker to the others are.

    `positions` (T, M, 3): tracks of the markers, m; NaN where one was not seen; `marker`: index of the
    marker; `frames` (N,) of int: frames in which it is seen. Returns `mean`, `deviation` (M,): mean and
    standard deviation of the distances, m; infinite for the marker itself and for markers that are seen in
    too few of the frames.
    """
    sample = positions[frames]
    distances = np.linalg.norm(sample - sample[:, marker, None], axis=2)
    known = ~np.isnan(distances)
    enough = known.sum(axis=0) >= max(LEAST_FRAMES, len(frames) // 5)
    enough[marker] = False
    filled = np.where(known, distances, 0.0)
    count = np.maximum(known.sum(axis=0), 1)
    mean = filled.sum(axis=0) / count
    deviation = np.sqrt((np.where(known, distances - mean, 0.0) ** 2).sum(axis=0) / count)
    return np.where(enough, mean, np.inf), np.where(enough, deviation, np.inf)


def bridge_by_segment(
    positions: Array,
    marker: int,
    first: int,
    last: int,
    distances: dict[int, tuple[Array, Array]],
    fits: dict[tuple[int, ...], tuple[float, Array] | None],
) -> Bridge | None:
    """Bridge a gap of a marker by the pose of at least three other markers of its segment.

    The marker's place in the segment is interpolated from where it was before the gap to where it is after,
    so that the track joins at both ends; at an end of the recording it keeps the place of the other end.
    `positions` (T, M, 3): tracks of the markers, m; NaN where one was not seen; `marker`: index of the
    marker; `first`, `last`: first and last frame of the gap. What earlier calls for the same recording found
    out, to which is added: `distances`, mean and deviation of a marker's distances to the others, m; `fits`,
    for a marker and its mates the error of its place among them, m, and their shape. Returns the track; None
    if the segment has too few markers that are seen, or is not rigid.
    """
    begin, end = max(first - 1, 0), min(last + 1, len(positions) - 1)
    whole = ~np.isnan(positions[begin : end + 1, :, 0]).any(axis=0)
    frames = spread_frames(~np.isnan(positions[:, marker, 0]), MOST_FRAMES)
    if marker not in distances:
        distances[marker] = measure_distances(positions, marker, frames)
    mean, deviation = distances[marker]
    fit = np.flatnonzero(whole & (deviation < CONSTANT) & (mean < LONGEST))
    mates = fit[np.argsort(deviation[fit] + NEARNESS * mean[fit])][:MOST_MATES]
    best: tuple[float, Array, Indices] | None = None
    # More markers average out more noise, and one on another segment spoils them all.
    for count in range(3, len(mates) + 1):
        key = (marker, *(int(mate) for mate in mates[:count]))
        if key not in fits:
            fits[key] = _fit_segment(positions[frames], marker, mates[:count])
        fitted = fits[key]
        if fitted is not None and (best is None or fitted[0] < best[0]):
            best = (*fitted, mates[:count])
    if best is None or best[0] > LARGEST_RESIDUAL:
        return None
    residual, shape, mates = best
    rotation, origin = fit_cluster_pose(positions[begin : end + 1][:, mates], shape)
    ends = np.einsum("tji,tj->ti", rotation[[0, -1]], positions[[begin, end], marker] - origin[[0, -1]])
    ends = ends[~np.isnan(ends).any(axis=1)]
    share = np.linspace(0.0, 1.0, len(rotation))[:, None]
    place = (1.0 - share) * ends[0] + share * ends[-1]
    track = np.einsum("tij,tj->ti", rotation, place) + origin
    return Bridge(track[first - begin : last - begin + 1], tuple(int(mate) for mate in mates), residual)


def _fit_segment(positions: Array, marker: int, mates: Indices) -> tuple[float, Array] | None:
    """Error of a marker's place among others, m, and their shape (N, 3); None if they do not determine it."""
    seen = ~np.isnan(positions[:, [marker, *mates], 0]).any(axis=1)
    if seen.sum() < LEAST_FRAMES:
        return None
    positions = positions[seen]
    sample = positions[:, mates]
    shape = sample[len(sample) // 2]
    for _ in range(2):
        rotation, origin = fit_cluster_pose(sample, shape)
        shape = np.einsum("tji,tmj->tmi", rotation, sample - origin[:, None]).mean(axis=0)
    if np.linalg.svd(shape - shape.mean(axis=0), compute_uv=False)[1] < LEAST_WIDTH:
        return None
    rotation, origin = fit_cluster_pose(sample, shape)
    local = np.einsum("tji,tj->ti", rotation, positions[:, marker] - origin)
    return float(np.sqrt(((local - local.mean(axis=0)) ** 2).sum(axis=1).mean())), shape


# An end of the limb is a marker whose distance is constant to this standard deviation, m: markers at shoulder
# and wrist keep their distance to one at the elbow to 1 or 2 cm.
LIMB_CONSTANT, LONGEST_LIMB, MOST_ANCHORS = 0.025, 0.6, 5
# Distance from the line between the ends below which its direction about that line is not known, m.
LEAST_RADIUS = 0.01


def bridge_by_limb_ends(positions: Array, marker: int, first: int, last: int) -> Bridge | None:
    """Bridge a gap of a marker, such as the elbow's, between two such as those of shoulder and wrist.

    The distances to both leave a circle about the line between them. The angle on it, measured from a
    direction that is moved along with the line without turning about it, is interpolated. `positions` (T, M,
    3): tracks of the markers, m; NaN where one was not seen; `marker`: index of the marker; `first`, `last`:
    first and last frame of the gap, neither the recording's first nor its last. Returns the track; None if
    there are no such markers that are seen.
    """
    span = slice(first - 1, last + 2)
    deviation, fit = _find_anchors(positions, marker, span)
    known, ends = positions[[first - 1, last + 1], marker], [0, -1]
    best: tuple[float, Bridge] | None = None
    for pair in combinations(fit[:MOST_ANCHORS], 2):
        near, far = (positions[span, anchor] for anchor in pair)
        apart = np.maximum(np.linalg.norm(far - near, axis=1), 1e-6)
        line = (far - near) / apart[:, None]
        share = np.linspace(0.0, 1.0, len(near))
        from_near, from_far = (
            np.interp(share, [0.0, 1.0], np.linalg.norm(known - track[ends], axis=1)) for track in (near, far)
        )
        height = (from_near**2 - from_far**2 + apart**2) / (2.0 * apart)
        radius = np.sqrt(np.maximum(from_near**2 - height**2, 0.0))
        width = float(radius.mean())
        # The narrower the circle is, the less the angle on it matters.
        if width < LEAST_RADIUS or (best is not None and width >= best[0]):
            continue
        basis = transport_along(line)
        plane = np.einsum("tik,ti->tk", basis[ends], normalise(reject(known - near[ends], line[ends])))
        angles = np.arctan2(plane[:, 1], plane[:, 0])
        angle = angles[0] + share * np.angle(np.exp(1j * (angles[1] - angles[0])))
        around = np.einsum("tik,tk->ti", basis, np.stack([np.cos(angle), np.sin(angle)], axis=1))
        track = near + height[:, None] * line + radius[:, None] * around
        best = width, Bridge(track[1:-1], pair, float(np.hypot(deviation[pair[0]], deviation[pair[1]])))
    return None if best is None else best[1]


def bridge_by_direction(positions: Array, time: Array, marker: int, first: int, last: int) -> Bridge | None:
    """Bridge a gap of a marker at the end of a limb, such as the wrist's, at constant distance from another.

    `positions` (T, M, 3): tracks of the markers, m; NaN where one was not seen; `time` (T,): times of the
    samples, s; `marker`: index of the marker; `first`, `last`: first and last frame of the gap, neither the
    recording's first nor its last. Returns the track; None if no marker keeps its distance.
    """
    span = slice(first - 1, last + 2)
    deviation, fit = _find_anchors(positions, marker, span)
    if not fit:
        return None
    anchor = fit[0]
    relative = positions[:, marker] - positions[:, anchor]
    known = ~np.isnan(relative[:, 0])
    # A second before and after the gap says how the direction changes.
    reach = np.flatnonzero(known & (time > time[first] - 1.0) & (time < time[last] + 1.0))
    if len(reach) < 4:
        return None
    course = CubicSpline(time[reach], relative[reach])(time[span])
    lengths = np.interp(
        time[span], time[[first - 1, last + 1]], np.linalg.norm(relative[[first - 1, last + 1]], axis=1)
    )
    track = positions[span, anchor] + lengths[:, None] * normalise(course)
    return Bridge(track[1:-1], (int(anchor),), float(deviation[anchor]))


def _find_anchors(positions: Array, marker: int, span: slice) -> tuple[Array, list[int]]:
    """Deviations of the distances of the markers, m, and those that are seen and keep theirs, best first."""
    frames = spread_frames(~np.isnan(positions[:, marker, 0]), MOST_FRAMES)
    mean, deviation = measure_distances(positions, marker, frames)
    whole = ~np.isnan(positions[span, :, 0]).any(axis=0)
    fit = np.flatnonzero(whole & (deviation < LIMB_CONSTANT) & (mean < LONGEST_LIMB) & (mean > LEAST_RADIUS))
    return deviation, fit[np.argsort(deviation[fit])].tolist()
