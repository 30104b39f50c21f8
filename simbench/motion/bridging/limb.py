"""A lost marker's place from the two ends of its limb, or from one, at constant distance."""

from itertools import combinations

import numpy as np
from scipy.interpolate import CubicSpline

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import wrap_angle
from simbench.motion.bridging.rigid import MOST_FRAMES, Bridge, measure_distances, spread_frames
from simbench.motion.marker_maps.centres import normalise, reject
from simbench.motion.marker_maps.frames import transport_along

# An end of the limb is a marker whose distance is constant to this standard deviation, m: markers at shoulder
# and wrist keep their distance to one at the elbow to 1 or 2 cm.
CONSTANT, LONGEST, MOST_ANCHORS = 0.025, 0.6, 5
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
    _, deviation, fit = _anchors(positions, marker, span)
    known = positions[[first - 1, last + 1], marker]
    best: tuple[float, Bridge] | None = None
    for near, far in combinations(fit[:MOST_ANCHORS], 2):
        track, radius = _circle(positions[span, near], positions[span, far], known)
        if radius < LEAST_RADIUS or (best is not None and radius >= best[0]):
            continue
        residual = float(np.hypot(deviation[near], deviation[far]))
        # The narrower the circle is, the less the angle on it matters.
        best = radius, Bridge(track[1:-1], (near, far), residual)
    return None if best is None else best[1]


def _circle(near: Array, far: Array, known: Array) -> tuple[Array, float]:
    """Track (N, 3) at interpolated distances from two tracks (N, 3), and the circle's mean radius, m."""
    apart = np.maximum(np.linalg.norm(far - near, axis=1), 1e-6)
    line = (far - near) / apart[:, None]
    ends = [0, -1]
    share = np.linspace(0.0, 1.0, len(near))
    from_near, from_far = (
        np.interp(share, [0.0, 1.0], np.linalg.norm(known - track[ends], axis=1)) for track in (near, far)
    )
    height = (from_near**2 - from_far**2 + apart**2) / (2.0 * apart)
    radius = np.sqrt(np.maximum(from_near**2 - height**2, 0.0))
    basis = transport_along(line)
    plane = np.einsum("tik,ti->tk", basis[ends], normalise(reject(known - near[ends], line[ends])))
    angles = np.arctan2(plane[:, 1], plane[:, 0])
    angle = angles[0] + share * wrap_angle(angles[1] - angles[0])
    around = np.einsum("tik,tk->ti", basis, np.stack([np.cos(angle), np.sin(angle)], axis=1))
    return near + height[:, None] * line + radius[:, None] * around, float(radius.mean())


def bridge_by_direction(positions: Array, time: Array, marker: int, first: int, last: int) -> Bridge | None:
    """Bridge a gap of a marker at the end of a limb, such as the wrist's, at constant distance from another.

    `positions` (T, M, 3): tracks of the markers, m; NaN where one was not seen; `time` (T,): times of the
    samples, s; `marker`: index of the marker; `first`, `last`: first and last frame of the gap, neither the
    recording's first nor its last. Returns the track; None if no marker keeps its distance.
    """
    span = slice(first - 1, last + 2)
    _, deviation, fit = _anchors(positions, marker, span)
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


def _anchors(positions: Array, marker: int, span: slice) -> tuple[Array, Array, list[int]]:
    """Distances of the markers, their deviations, and those that are seen and keep theirs, best first."""
    frames = spread_frames(~np.isnan(positions[:, marker, 0]), MOST_FRAMES)
    mean, deviation = measure_distances(positions, marker, frames)
    whole = ~np.isnan(positions[span, :, 0]).any(axis=0)
    fit = np.flatnonzero(whole & (deviation < CONSTANT) & (mean < LONGEST) & (mean > LEAST_RADIUS))
    return mean, deviation, [int(k) for k in fit[np.argsort(deviation[fit])]]
