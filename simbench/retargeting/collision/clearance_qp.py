"""The bend of a path: one smooth change of all its samples under one-sided demands."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

_LIMIT_WEIGHT = 1e4
"""What a radian beyond a limit costs, squared, against a missing metre."""
_NEWTON_STEPS = 20
_HALVINGS = 30


@dataclass(frozen=True)
class Clearances:
    """One-sided demands: each costs the square of what is missing after a step, nothing if that is negative.

    Parameters
    ----------
    owner : (R,) int array
        Sample of each.
    away : (R, n) array
        How the sample's coordinates change it, m/rad.
    missing : (R,) array
        Before the step, m.
    """

    owner: NDArray[np.int64]
    away: NDArray[np.float64]
    missing: NDArray[np.float64]


@dataclass(frozen=True)
class QpTerms:
    """What the bend of S samples with n coordinates is to do.

    Parameters
    ----------
    shape : (3, S) array
        From `shape_cost`: what the bend itself costs.
    blocks : (S, n, n) array
    descent : (S, n) array
        Gauss-Newton matrices of each sample, and the descent direction of everything but the clearances.
    clearances : Clearances
    lowest, highest : (S, n) array
        Between which the step has to stay.
    """

    shape: NDArray[np.float64]
    blocks: NDArray[np.float64]
    descent: NDArray[np.float64]
    clearances: Clearances
    lowest: NDArray[np.float64]
    highest: NDArray[np.float64]


def shape_cost(time: NDArray[np.float64], start: int, end: int, smoothing_time: float) -> NDArray[np.float64]:
    """Matrix of ‖b‖² + τ⁴‖b̈‖² for a bend b of the samples from `start` up to `end`; it is 0 outside.

    So the bend and its velocity come from 0 and return to it, but for an end of the whole path, which is
    free.

    Parameters
    ----------
    time : (T,) array
        s.
    start, end : int
    smoothing_time : float
        τ, s.

    Returns
    -------
    (3, S) array
        Diagonal and the two below it, the same for every coordinate.
    """
    first = max(start - 2, 0)
    around = time[first : end + 2]
    before, after = np.diff(around)[:-1, None], np.diff(around)[1:, None]
    # Second derivative of the parabola through three samples.
    parts = 2.0 * np.hstack([1.0 / before, -1.0 / before - 1.0 / after, 1.0 / after]) / (before + after)
    cost = np.zeros((3, len(around)))
    cost[0] = 1.0
    for one in range(3):
        for other in range(one, 3):
            products = smoothing_time**4 * parts[:, one] * parts[:, other]
            cost[other - one, one : one + len(products)] += products
    inside = cost[:, start - first : end - first].copy()
    inside[1, -1:] = 0.0
    inside[2, -2:] = 0.0
    return inside


def shape_pull(shape: NDArray[np.float64], bend: NDArray[np.float64]) -> NDArray[np.float64]:
    """Product of the matrix of `shape_cost` and a bend (S, n)."""
    product = shape[0][:, None] * bend
    for offset in (1, 2):
        joined = shape[offset, :-offset, None]
        product[offset:] += joined * bend[:-offset]
        product[:-offset] += joined * bend[offset:]
    return product


def clearance_qp_step(demands: QpTerms) -> NDArray[np.float64]:
    """Step of least cost.

    The cost is convex and piecewise quadratic: Newton's method, with the exact minimum along each direction,
    ends after finitely many steps. Limits cost like clearances, so that what is cut off is smooth.

    Parameters
    ----------
    demands : QpTerms

    Returns
    -------
    (S, n) array
        Less than a milliradian beyond the limits where other demands press against them.
    """
    owner, away = demands.clearances.owner, demands.clearances.away
    squares = away[:, :, None] * away[:, None, :]
    diagonal = np.arange(away.shape[1])
    step = np.zeros_like(demands.descent)
    for _ in range(_NEWTON_STEPS):
        left = demands.clearances.missing - np.einsum("ri,ri->r", away, step[owner])
        under, over = demands.lowest - step, step - demands.highest
        active, beyond = left > 0.0, (under > 0.0) | (over > 0.0)
        matrix = demands.blocks.copy()
        np.add.at(matrix, owner[active], squares[active])
        matrix[:, diagonal, diagonal] += _LIMIT_WEIGHT * beyond
        smooth = demands.descent - _pull(demands, step)
        pull = smooth + _LIMIT_WEIGHT * (under.clip(0.0) - over.clip(0.0))
        np.add.at(pull, owner[active], left[active, None] * away[active])
        way = _solve(demands.shape, matrix, pull)
        change = np.einsum("ri,ri->r", away, way[owner])
        share = _best_share(way, (smooth, _pull(demands, way)), (left, change), (under, over))
        step = step + share * way
        inside = (step >= demands.lowest) & (step <= demands.highest)
        if share == 1.0 and ((left - change > 0.0) == active).all() and (inside == ~beyond).all():
            break
    return step


def _best_share(
    way: NDArray[np.float64],
    smooth: tuple[NDArray[np.float64], NDArray[np.float64]],
    clearances: tuple[NDArray[np.float64], NDArray[np.float64]],
    limits: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> float:
    """Share of a way (S, n) at which the cost is least, at most 1.

    The smooth descent and what it loses on the way; what clearances miss and gain on the way; what is under
    the lower and over the upper limits.
    """
    start, loss = (float((way * part).sum()) for part in smooth)
    missing, gain = clearances
    under, over = limits

    def descent(share: float) -> float:
        short = float((missing - share * gain).clip(0.0) @ gain)
        outside = (under - share * way).clip(0.0) - (over + share * way).clip(0.0)
        return start - share * loss + short + _LIMIT_WEIGHT * float((outside * way).sum())

    if descent(1.0) > -1e-12:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if descent(middle) > 0.0 else (low, middle)
    return low


def _pull(demands: QpTerms, step: NDArray[np.float64]) -> NDArray[np.float64]:
    return shape_pull(demands.shape, step) + np.einsum("sij,sj->si", demands.blocks, step)


def _solve(
    shape: NDArray[np.float64], blocks: NDArray[np.float64], right: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Solve the block-pentadiagonal system for (S, n)."""
    samples, count = right.shape
    banded = np.zeros((2 * count + 1, samples * count))
    for offset in range(count):
        part = blocks[:, np.arange(offset, count), np.arange(count - offset)]
        banded[offset].reshape(samples, count)[:, : count - offset] = part
    banded[0] += np.repeat(shape[0], count)
    for offset in (1, 2):
        banded[offset * count] = np.repeat(shape[offset], count)
    return np.asarray(solveh_banded(banded, right.ravel(), lower=True).reshape(samples, count))
