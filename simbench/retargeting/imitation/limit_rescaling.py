"""Limit rescaling: joint curves are brought inside their limits by local scaling, not by clipping.

Between two neighbouring extrema a curve is mapped linearly such that extrema outside come to lie on the limit
and those inside stay (Pollard et al. 2002; Safonova, Pollard & Hodgins 2003; Tomić 2018, sec. 3.7.2). The
velocity at extrema is zero, so the pieces join smoothly. Noise has extrema of its own: a piece between one of
them and a far higher extremum would be squeezed flat, or get a corner where the person's motion has none.
Such wiggles are removed, and the next true extremum takes their place, as in the rainflow counting of load
cycles (Matsuishi & Endo 1968).
"""

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array

# A piece that would be scaled by less loses an extremum at its end.
MIN_SCALE = 0.5
# A piece beside one that loses length is a wiggle, if it is shorter than this fraction of the loss.
WIGGLE_FRACTION = 0.25


def rescale_into_limits(time: Array, joints: Array, lower: Array, upper: Array) -> Array:
    """Bring joint curves inside their limits, with their extrema where they were.

    Every piece is scaled by a positive factor of at most 1: rising pieces still rise, falling ones still
    fall, and from sample to sample neither the speed nor its change is greater than before. Only the pieces
    on both sides of an excursion change. A curve that nowhere comes far enough inside moves there as a whole,
    half as wide or filling the joint's range. A joint that cannot move stands still.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    joints : (T, n) array
        Joint positions, rad.
    lower : (n,) array
        Lower joint limits, rad; infinite where there is none.
    upper : (n,) array
        Upper joint limits, rad; infinite where there is none.

    Returns
    -------
    (T, n) array
        Joint positions inside the limits, rad.

    Raises
    ------
    RetargetError
        If shapes do not fit, there are no samples, an angle is NaN or infinite, a limit is NaN, or a lower
        limit is above the upper one.
    """
    _check(time, joints, lower, upper)
    inside = joints.copy()
    for joint in np.flatnonzero(((joints < lower) | (joints > upper)).any(axis=0)):
        inside[:, joint] = _rescale(joints[:, joint], float(lower[joint]), float(upper[joint]))
    return inside


def _rescale(curve: Array, lower: float, upper: float) -> Array:
    """Bring one joint's curve (T,) inside its limits."""
    at = _find_extrema(curve)
    heights = curve[at].tolist()
    at = at[_remove_wiggles(heights, lower, upper)]
    knots = curve[at]
    targets = np.clip(knots, lower, upper)
    spans = np.diff(knots)
    if len(knots) == 2 and _lost(knots[0], knots[1], lower, upper) > (1.0 - MIN_SCALE) * abs(spans[0]):
        targets = _move_inside(knots, lower, upper)
    scales = np.divide(np.diff(targets), spans, out=np.zeros_like(spans), where=spans != 0.0)
    # Samples before the first and after the last of them belong to the piece beside them.
    piece = np.searchsorted(at[1:-1], np.arange(len(curve)), side="right")
    same = (targets == knots)[:-1] & (targets == knots)[1:]
    scaled = targets[piece] + (curve - knots[piece]) * scales[piece]
    # Rounding may miss a limit by a last digit.
    return np.where(same[piece], curve, np.clip(scaled, lower, upper))


def _find_extrema(curve: Array) -> NDArray[np.intp]:
    """Find the samples at which a curve (T,) begins, has an extremum, and ends; on a plateau the last."""
    steps = np.diff(curve)
    moving = np.flatnonzero(steps)
    turning = moving[1:][(steps[moving[1:]] > 0) != (steps[moving[:-1]] > 0)]
    return np.concatenate([[0], turning, [len(curve) - 1]]).astype(np.intp)


def _remove_wiggles(heights: list[float], lower: float, upper: float) -> list[int]:
    """Choose the extrema that stay, at least two: their indices in `heights`.

    Two neighbours are removed together, if the piece between them is no longer than the pieces before and
    after it: the three become one, which spans all their values. At an end the outermost is removed alone.
    """
    heights, kept = list(heights), list(range(len(heights)))
    piece = 0
    while len(kept) > 2 and piece < len(kept) - 1:
        lost = _lost(heights[piece], heights[piece + 1], lower, upper)
        wiggle = _find_wiggle(heights, piece) if lost > 0.0 else piece
        squeezed = lost > (1.0 - MIN_SCALE) * _length(heights, piece)
        if not squeezed and _length(heights, wiggle) >= WIGGLE_FRACTION * lost:
            piece += 1
            continue
        last = len(kept) - 2
        removed = slice(wiggle + (wiggle == last), wiggle + 1 + (wiggle > 0))
        del heights[removed], kept[removed]
        piece = max(0, min(piece, wiggle - 1) - 1)
    return kept


def _find_wiggle(heights: list[float], piece: int) -> int:
    """Go from a piece to ever shorter neighbours until none is shorter."""
    while True:
        around = (k for k in (piece - 1, piece + 1) if 0 <= k < len(heights) - 1)
        shortest = min(around, key=lambda k: _length(heights, k))
        if _length(heights, shortest) >= _length(heights, piece):
            return piece
        piece = shortest


def _length(heights: list[float], piece: int) -> float:
    """Length of the piece after an extremum, rad."""
    return abs(heights[piece + 1] - heights[piece])


def _lost(first: float, second: float, lower: float, upper: float) -> float:
    """Length that limits take from the piece between two extrema; 0 if it then fills the range."""
    low, high = min(first, second), max(first, second)
    if low <= lower and high >= upper:
        return 0.0
    return max(0.0, min(lower, high) - low) + max(0.0, high - max(upper, low))


def _move_inside(knots: Array, lower: float, upper: float) -> Array:
    """Move the lowest and the highest value (2,) of a curve inside that is mostly outside on one side."""
    span = min(MIN_SCALE * float(np.ptp(knots)), upper - lower)
    if knots.max() > upper:
        return np.where(knots == knots.max(), upper, upper - span)
    return np.where(knots == knots.min(), lower, lower + span)


def _check(time: Array, joints: Array, lower: Array, upper: Array) -> None:
    """Refuse shapes that do not fit, and numbers that are not finite or limits that cross."""
    if joints.ndim != 2 or not len(joints) or len(joints) != len(time):
        raise RetargetError(
            f"joint curves have shape {joints.shape}; it must be (T, n), T = {len(time)} and not 0"
        )
    for name, limit in (("lower", lower), ("upper", upper)):
        if limit.shape != joints.shape[1:]:
            raise RetargetError(
                f"{name} joint limits have shape {limit.shape}; it must be {joints.shape[1:]}"
            )
    bad = np.argwhere(~np.isfinite(joints))
    if bad.size:
        sample, joint = bad[0]
        raise RetargetError(
            f"joint {joint} is {joints[sample, joint]} at {time[sample]:.3f} s; every angle must be finite"
        )
    crossed = np.flatnonzero(~(lower <= upper))
    if crossed.size:
        joint = crossed[0]
        raise RetargetError(
            f"joint {joint} has limits {lower[joint]} to {upper[joint]} rad; "
            "the lower must not be above the upper"
        )
