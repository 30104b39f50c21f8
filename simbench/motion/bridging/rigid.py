"""A lost marker's place from the other markers of its rigid segment."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.centres import fit_cluster_pose

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


class KnownSegments(NamedTuple):
    """What was found out about segments, which a recording with many gaps needs again and again."""

    distances: dict[int, tuple[Array, Array]]  # Mean and deviation of a marker's distances to the others, m.
    # For a marker and its mates, the error of its place among them, m, and their shape.
    fits: dict[tuple[int, ...], tuple[float, Array] | None]


def bridge_by_segment(
    positions: Array, marker: int, first: int, last: int, known: KnownSegments
) -> Bridge | None:
    """Bridge a gap of a marker by the pose of at least three other markers of its segment.

    The marker's place in the segment is interpolated from where it was before the gap to where it is after,
    so that the track joins at both ends; at an end of the recording it keeps the place of the other end.
    `positions` (T, M, 3): tracks of the markers, m; NaN where one was not seen; `marker`: index of the
    marker; `first`, `last`: first and last frame of the gap; `known`: what earlier calls for the same
    recording found out; it is added to. Returns the track; None if the segment has too few markers that are
    seen, or is not rigid.
    """
    begin, end = max(first - 1, 0), min(last + 1, len(positions) - 1)
    whole = ~np.isnan(positions[begin : end + 1, :, 0]).any(axis=0)
    if marker not in known.distances:
        frames = spread_frames(~np.isnan(positions[:, marker, 0]), MOST_FRAMES)
        known.distances[marker] = measure_distances(positions, marker, frames)
    mean, deviation = known.distances[marker]
    fit = np.flatnonzero(whole & (deviation < CONSTANT) & (mean < LONGEST))
    mates = fit[np.argsort(deviation[fit] + NEARNESS * mean[fit])][:MOST_MATES]
    best: tuple[float, Array, Indices] | None = None
    # More markers average out more noise, and one on another segment spoils them all.
    for count in range(3, len(mates) + 1):
        key = (marker, *(int(mate) for mate in mates[:count]))
        if key not in known.fits:
            frames = spread_frames(~np.isnan(positions[:, marker, 0]), MOST_FRAMES)
            known.fits[key] = _fit_segment(positions[frames], marker, mates[:count])
        fitted = known.fits[key]
        if fitted is not None and (best is None or fitted[0] < best[0]):
            best = (*fitted, mates[:count])
    if best is None or best[0] > LARGEST_RESIDUAL:
        return None
    residual, shape, mates = best[0], best[1], best[2]
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
