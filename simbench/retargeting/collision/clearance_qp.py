"""Quadratic program of collision avoidance: a smooth displacement of a path under one-sided clearances."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solveh_banded

from simbench.kinematics.arrays import Array

_LIMIT_WEIGHT = 1e4
"""Squared weight of a radian beyond a limit, against a missing metre of clearance."""
_NEWTON_STEPS = 20
_BISECTIONS = 30


@dataclass(frozen=True)
class Clearances:
    """One-sided terms: each costs the square of its deficit after a step, nothing if that is negative.

    Parameters
    ----------
    owner : (R,) int array
        Sample that each term belongs to.
    gradient : (R, n) array
        Derivative of the distance with respect to the sample's coordinates, m/rad.
    missing : (R,) array
        Deficit before the step, m.
    """

    owner: NDArray[np.int64]
    gradient: Array
    missing: Array


@dataclass(frozen=True)
class QpTerms:
    """Cost and bounds of a step of S samples with n coordinates.

    Parameters
    ----------
    smoothness : (3, S) array
        From `smoothness_matrix`: cost of the displacement itself.
    blocks : (S, n, n) array
        Gauss-Newton matrix of each sample, of everything but smoothness and clearances.
    descent : (S, n) array
        Descent direction of everything but the clearances.
    clearances : Clearances
        One-sided terms.
    lower : (S, n) array
        Lower bound of the step, rad.
    upper : (S, n) array
        Upper bound of the step, rad.
    """

    smoothness: Array
    blocks: Array
    descent: Array
    clearances: Clearances
    lower: Array
    upper: Array


def smoothness_matrix(time: Array, start: int, end: int, smoothing_time: float) -> Array:
    """Build the matrix of ‖b‖² + τ⁴‖b̈‖² for a displacement b of some samples of a path; elsewhere b is 0.

    So the displacement and its velocity come from 0 and return to it, but for an end of the whole path,
    which is free.

    Parameters
    ----------
    time : (T,) array
        Time of each sample of the whole path, s.
    start : int
        First sample that is displaced.
    end : int
        One past the last sample that is displaced; S = end − start.
    smoothing_time : float
        Time constant τ, s.

    Returns
    -------
    (3, S) array
        Diagonal and the two below it, the same for every coordinate.
    """
    first = max(start - 2, 0)
    around = time[first : end + 2]
    before, after = np.diff(around)[:-1, None], np.diff(around)[1:, None]
    # Second derivative of the parabola through three samples.
    stencil = 2.0 * np.hstack([1.0 / before, -1.0 / before - 1.0 / after, 1.0 / after]) / (before + after)
    cost = np.zeros((3, len(around)))
    cost[0] = 1.0
    for one in range(3):
        for other in range(one, 3):
            products = smoothing_time**4 * stencil[:, one] * stencil[:, other]
            cost[other - one, one : one + len(products)] += products
    inside = cost[:, start - first : end - first].copy()
    inside[1, -1:] = 0.0
    inside[2, -2:] = 0.0
    return inside


def multiply_smoothness(smoothness: Array, displacement: Array) -> Array:
    """Multiply the matrix of `smoothness_matrix` and a displacement.

    Parameters
    ----------
    smoothness : (3, S) array
        Diagonal and the two below it.
    displacement : (S, n) array
        One row for each sample.

    Returns
    -------
    (S, n) array
        The product.
    """
    product = smoothness[0][:, None] * displacement
    for offset in (1, 2):
        coupling = smoothness[offset, :-offset, None]
        product[offset:] += coupling * displacement[:-offset]
        product[:-offset] += coupling * displacement[offset:]
    return product


def clearance_qp_step(terms: QpTerms) -> Array:
    """Compute the step of least cost.

    The cost is convex and piecewise quadratic: Newton's method, with the exact minimum along each direction,
    ends after finitely many steps. Limits cost like clearances, so that what is cut off is smooth.

    Parameters
    ----------
    terms : QpTerms
        Cost and bounds of the step.

    Returns
    -------
    (S, n) array
        Step, rad; less than a milliradian beyond the limits where other terms press against them.
    """
    owner, gradient = terms.clearances.owner, terms.clearances.gradient
    squares = gradient[:, :, None] * gradient[:, None, :]
    diagonal = np.arange(gradient.shape[1])
    step = np.zeros_like(terms.descent)
    for _ in range(_NEWTON_STEPS):
        missing = terms.clearances.missing - np.einsum("ri,ri->r", gradient, step[owner])
        under, over = terms.lower - step, step - terms.upper
        active, beyond = missing > 0.0, (under > 0.0) | (over > 0.0)
        matrix = terms.blocks.copy()
        np.add.at(matrix, owner[active], squares[active])
        matrix[:, diagonal, diagonal] += _LIMIT_WEIGHT * beyond
        smooth = terms.descent - _multiply_hessian(terms, step)
        descent = smooth + _LIMIT_WEIGHT * (under.clip(0.0) - over.clip(0.0))
        np.add.at(descent, owner[active], missing[active, None] * gradient[active])
        direction = _solve(terms.smoothness, matrix, descent)
        gain = np.einsum("ri,ri->r", gradient, direction[owner])
        length = _search_line(
            direction, (smooth, _multiply_hessian(terms, direction)), (missing, gain), (under, over)
        )
        step = step + length * direction
        inside = (step >= terms.lower) & (step <= terms.upper)
        if length == 1.0 and ((missing - gain > 0.0) == active).all() and (inside == ~beyond).all():
            break
    return step


def _search_line(
    direction: Array,
    smooth: tuple[Array, Array],
    clearances: tuple[Array, Array],
    limits: tuple[Array, Array],
) -> float:
    """Find the fraction of a direction (S, n) at which the cost is least, at most 1, by bisection.

    Of the smooth part: its descent direction and what that loses along the direction. Of the clearances:
    their deficits and what they gain along it. Of the limits: the distances under the lower and over the
    upper ones.
    """
    start, loss = (float((direction * part).sum()) for part in smooth)
    missing, gain = clearances
    under, over = limits

    def slope(length: float) -> float:
        short = float((missing - length * gain).clip(0.0) @ gain)
        outside = (under - length * direction).clip(0.0) - (over + length * direction).clip(0.0)
        return start - length * loss + short + _LIMIT_WEIGHT * float((outside * direction).sum())

    if slope(1.0) > -1e-12:
        return 1.0
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if slope(middle) > 0.0 else (low, middle)
    return low


def _multiply_hessian(terms: QpTerms, step: Array) -> Array:
    """Product of the smooth cost's Hessian and a step (S, n)."""
    return multiply_smoothness(terms.smoothness, step) + np.einsum("sij,sj->si", terms.blocks, step)


def _solve(smoothness: Array, blocks: Array, right: Array) -> Array:
    """Solve the block-pentadiagonal system for (S, n)."""
    samples, count = right.shape
    banded = np.zeros((2 * count + 1, samples * count))
    for offset in range(count):
        part = blocks[:, np.arange(offset, count), np.arange(count - offset)]
        banded[offset].reshape(samples, count)[:, : count - offset] = part
    banded[0] += np.repeat(smoothness[0], count)
    for offset in (1, 2):
        banded[offset * count] = np.repeat(smoothness[offset], count)
    return np.asarray(solveh_banded(banded, right.ravel(), lower=True).reshape(samples, count))
