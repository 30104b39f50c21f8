"""A path near a preferred one that keeps limits of position, speed and acceleration at all times: one QP."""

from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.linalg.blas import dsbmv

from simbench.kinematics.arrays import Array

_REGULARISATION = 1e-6
"""Weight of each coefficient's distance from the preferred path, as a fraction of the blocks' mean diagonal:
what no block determines stays where it is preferred."""
_LEAST_ROOM = 1e-6
"""Least width of a limit, rad, rad/s or rad/s²: the method goes through the inside."""
_ACCURACY = 1e-5
"""Residuals and complementarity at which the method ends, in units of limits and of the cost's scale."""
_MAX_ITERATIONS = 60
_TO_THE_BORDER = 0.99
"""Fraction of the way to the border of the feasible set that a step goes at most."""


class PathBounds(NamedTuple):
    """Limits of a path's n coordinates, at all of its K knots or at each.

    Parameters
    ----------
    lower : (n,) or (K, n) array
        Least positions, rad.
    upper : (n,) or (K, n) array
        Greatest positions, rad.
    speed : (n,) or (K, n) array
        Greatest speeds, rad/s.
    acceleration : (n,) or (K, n) array
        Greatest accelerations, rad/s².
    """

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array


class PathCost(NamedTuple):
    """What a path costs near a preferred one.

    Parameters
    ----------
    blocks : (K, n, n) array
        Weights H of the distance from the preferred positions, symmetric, positive semidefinite.
    drift : (K, n) array
        Descent direction g at the preferred positions; 0 where these are the best without limits.
    inertia : (K, n, n) array
        Weights W of the acceleration, symmetric, positive semidefinite.
    """

    blocks: Array
    drift: Array
    inertia: Array


class _Rows(NamedTuple):
    """Constraint rows in units of their limits: what each takes of its coefficient and the next ones."""

    position: Array
    speed: Array
    acceleration: Array
    lower: Array
    upper: Array


def solve_bounded_path(time: Array, preferred: Array, cost: PathCost, bounds: PathBounds) -> BSpline:
    """Find the path nearest to a preferred one that keeps its limits, all knots at once.

        min Σ_k (c_k − c*_k)ᵀ H_k (c_k − c*_k) − 2 g_kᵀ (c_k − c*_k) + q̈(t_k)ᵀ W_k q̈(t_k),
        lower ≤ q ≤ upper,   |q̇| ≤ speed,   |q̈| ≤ acceleration

    for the cubic spline q(t) with knots at the given times (not-a-knot at its ends, as interpolation has it)
    and coefficients c; c* are those of the spline through the preferred positions, near which they are. A
    spline lies in the convex hull of its coefficients (de Boor 1978, A Practical Guide to Splines, ch. XI),
    and those of its derivatives are differences of c: limits on coefficients hold between the knots, too. For
    the acceleration, which is linear between knots, they are no narrower than they need to be; for position
    and speed by as much as these curve from knot to knot. The QP is solved by a primal-dual interior-point
    method (Mehrotra 1992, SIAM J. Optim. 2: 575-601), whose matrix is banded: a coefficient is coupled to the
    two before it and the two after it, so that the time is in proportion to K.

    Parameters
    ----------
    time : (K,) array
        Time of the knots, s, ascending, K ≥ 4.
    preferred : (K, n) array
        Preferred positions, rad.
    cost : PathCost
        Weights of distance and acceleration.
    bounds : PathBounds
        Limits; where they differ from knot to knot, the narrowest of those nearby hold between them.

    Returns
    -------
    scipy.interpolate.BSpline
        The path: called with times (T,), positions (T, n), rad.

    Raises
    ------
    ArithmeticError
        If there is no such path, or the method finds none.
    """
    spline = make_interp_spline(time, preferred, k=3)
    rows = _constraint_rows(time, spline.t, bounds)
    second = _second_differences(spline.t, len(time))
    scale = max(float(np.einsum("kii->", cost.blocks)) / preferred.size, 1e-12)
    weights = cost.blocks + _REGULARISATION * scale * np.eye(preferred.shape[1])
    band = _banded(weights / scale, cost.inertia[_acceleration_knots(len(time))] / scale, second)
    # Around the preferred coefficients: only the inertia and the drift pull away from them.
    pull = _apply(_banded(0.0 * weights, cost.inertia[_acceleration_knots(len(time))] / scale, second), spline.c)
    step = _solve(band, pull - cost.drift / scale, rows, spline.c)
    return BSpline(spline.t, spline.c + step, 3)


def _acceleration_knots(count: int) -> Array:
    """Which knots the coefficients of a spline's acceleration are the accelerations at: not-a-knot ends."""
    return np.array([0, *range(2, count - 2), count - 1])


def _first_differences(knots: Array, degree: int, count: int) -> Array:
    """Rates 1 / s (count - 1,) by which differences of a spline's coefficients become those of its speed."""
    return np.asarray(degree / (knots[degree + 1 : degree + count] - knots[1:count]))


def _second_differences(knots: Array, count: int) -> Array:
    """Factors (3, K - 2) of three coefficients in one of the acceleration, 1 / s²."""
    first = _first_differences(knots, 3, count)
    second = _first_differences(knots[1:-1], 2, count - 1)
    return np.stack([second * first[:-1], -second * (first[:-1] + first[1:]), second * first[1:]])


def _constraint_rows(time: Array, knots: Array, bounds: PathBounds) -> _Rows:
    """Rows of position (K, n), speed (2, K - 1, n) and acceleration (3, K - 2, n), and positions' ends."""
    count = len(time)
    upper = _at_coefficients(bounds.upper, time, knots, 3)
    lower = -_at_coefficients(-bounds.lower, time, knots, 3)
    room = np.maximum(0.5 * (upper - lower), _LEAST_ROOM)
    fastest = np.maximum(_at_coefficients(bounds.speed, time, knots[1:-1], 2), _LEAST_ROOM)
    hardest = np.maximum(_at_coefficients(bounds.acceleration, time, knots[2:-2], 1), _LEAST_ROOM)
    rate = _first_differences(knots, 3, count)[:, None] / fastest
    bend = _second_differences(knots, count)[:, :, None] / hardest
    middle = 0.5 * (upper + lower) / room
    return _Rows(1.0 / room, np.stack([-rate, rate]), bend, middle - 1.0, middle + 1.0)


def _at_coefficients(limits: Array, time: Array, knots: Array, degree: int) -> Array:
    """Limits of a spline's coefficients: the narrowest of the knots at which a coefficient counts."""
    count = len(knots) - degree - 1
    if limits.ndim == 1:
        return np.broadcast_to(limits, (count, len(limits)))
    first = np.searchsorted(time, knots[:count])
    last = np.searchsorted(time, knots[degree + 1 :])
    # At the ends, where a knot is left out, a coefficient reaches over one more.
    reach = np.minimum(first[:, None] + np.arange(degree + 3), last[:, None])
    return np.asarray(limits[reach].min(axis=1))


def _banded(blocks: Array, inertia: Array, second: Array) -> Array:
    """Matrix of the cost in LAPACK's lower banded storage, (3 n, K n)."""
    count, n, _ = blocks.shape
    band = np.zeros((3 * n, count, n))
    parts = [blocks.copy(), np.zeros((count - 1, n, n)), np.zeros((count - 2, n, n))]
    for a in range(3):
        for b in range(a + 1):
            parts[a - b][b : b + count - 2] += (second[a] * second[b])[:, None, None] * inertia
    i, j = np.indices((n, n))
    for apart, part in enumerate(parts):
        row = apart * n + i - j
        kept = row >= 0
        band[row[kept], : len(part), j[kept]] = part[:, i[kept], j[kept]].T
    return np.asfortranarray(band.reshape(3 * n, count * n))


def _apply(band: Array, x: Array) -> Array:
    """Multiply a banded symmetric matrix with coefficients (K, n)."""
    return np.asarray(dsbmv(len(band) - 1, 1.0, band, x.ravel(), lower=1)).reshape(x.shape)


def _measure(rows: _Rows, x: Array) -> tuple[Array, Array, Array]:
    """Positions, speeds and accelerations of coefficients (K, n), in units of their limits."""
    first, second = rows.speed, rows.acceleration
    return (
        rows.position * x,
        first[0] * x[:-1] + first[1] * x[1:],
        second[0] * x[:-2] + second[1] * x[1:-1] + second[2] * x[2:],
    )


def _gather(rows: _Rows, values: tuple[Array, Array, Array]) -> Array:
    """Transpose of `_measure`."""
    position, speed, acceleration = values
    x = rows.position * position
    x[:-1] += rows.speed[0] * speed
    x[1:] += rows.speed[1] * speed
    for k, factor in enumerate(rows.acceleration):
        x[k : k + len(acceleration)] += factor * acceleration
    return x


def _normal_matrix(band: Array, rows: _Rows, weights: tuple[Array, Array, Array]) -> Array:
    """Cost's matrix with Aᵀ diag(weights) A of the constraint rows, banded."""
    position, speed, acceleration = weights
    count, n = position.shape
    matrix = band.copy(order="F")
    by_row = matrix.reshape((len(matrix), count, n), order="A")
    del by_row
    added = np.zeros((3, count, n))
    added[0] += rows.position**2 * position
    first, second = rows.speed, rows.acceleration
    added[0, :-1] += first[0] ** 2 * speed
    added[0, 1:] += first[1] ** 2 * speed
    added[1, :-1] += first[0] * first[1] * speed
    for a in range(3):
        for b in range(a + 1):
            added[a - b, b : b + count - 2] += second[a] * second[b] * acceleration
    for apart in range(3):
        matrix[apart * n] += added[apart].ravel()
    return matrix


def _solve(band: Array, linear: Array, rows: _Rows, at: Array) -> Array:
    """Minimise xᵀPx/2 + pᵀx with limits on at + x; x (K, n)."""
    shape = linear.shape
    base = _measure(rows, at)
    sizes = [each.size for each in base]
    ends = np.cumsum(sizes)[:-1]
    shapes = [each.shape for each in base]

    def split(flat: Array) -> tuple[Array, Array, Array]:
        first, second, third = np.split(flat, ends)
        return first.reshape(shapes[0]), second.reshape(shapes[1]), third.reshape(shapes[2])

    def measure(x: Array) -> Array:
        return np.concatenate([each.ravel() for each in _measure(rows, x)])

    offset = np.concatenate([each.ravel() for each in base])
    low, high = np.full(len(offset), -1.0), np.ones(len(offset))
    low[: sizes[0]], high[: sizes[0]] = rows.lower.ravel(), rows.upper.ravel()
    x = np.zeros(shape)
    # Slacks of the lower and the upper limits in one vector, and their multipliers.
    slack = np.maximum(np.concatenate([offset - low, high - offset]), 0.1)
    multiplier = np.full(len(slack), 0.1)
    half = len(offset)
    for _ in range(_MAX_ITERATIONS):
        value = offset + measure(x)
        missing = np.concatenate([value - low, high - value]) - slack
        slope = _apply(band, x) + linear - _gather(rows, split(multiplier[:half] - multiplier[half:]))
        mean = float(slack @ multiplier) / len(slack)
        if max(np.abs(missing).max(), np.abs(slope).max(), mean) < _ACCURACY:
            return x
        ratio = multiplier / slack
        try:
            factor = cholesky_banded(
                _normal_matrix(band, rows, split(ratio[:half] + ratio[half:])),
                overwrite_ab=True,
                lower=True,
                check_finite=False,
            )
        except np.linalg.LinAlgError:
            raise ArithmeticError("no path within its limits: the matrix is not positive definite") from None

        def direction(complement: Array) -> tuple[Array, Array, Array]:
            # ds = A dx + missing, dz = (complement - z ds) / s.
            push = (complement - multiplier * missing) / slack
            right = -slope + _gather(rows, split(push[:half] - push[half:]))
            dx = cho_solve_banded((factor, True), right.ravel(), check_finite=False).reshape(shape)
            moved = measure(dx)
            ds = np.concatenate([moved, -moved]) + missing
            return dx, ds, (complement - multiplier * ds) / slack

        _, ds, dz = direction(-slack * multiplier)
        reach = min(_longest(slack, ds), _longest(multiplier, dz))
        after = float((slack + reach * ds) @ (multiplier + reach * dz)) / len(slack)
        centring = (after / mean) ** 3
        dx, ds, dz = direction(centring * mean - slack * multiplier - ds * dz)
        primal, dual = _TO_THE_BORDER * _longest(slack, ds), _TO_THE_BORDER * _longest(multiplier, dz)
        length = min(primal, dual)
        x = x + length * dx
        slack = slack + length * ds
        multiplier = multiplier + length * dz
    raise ArithmeticError(f"no path within its limits after {_MAX_ITERATIONS} iterations")


def _longest(value: Array, change: Array) -> float:
    """Longest step, at most 1 / `_TO_THE_BORDER`, with which values stay at 0 or above."""
    shrinking = change < 0.0
    if not shrinking.any():
        return 1.0 / _TO_THE_BORDER
    return float(min(1.0 / _TO_THE_BORDER, np.min(-value[shrinking] / change[shrinking])))
