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
"""Usual are a dozen."""
_FIRST = 0.1
"""Least slack and multiplier at the start, in units of limits and of the cost's scale."""
_TO_THE_BORDER = 0.99
"""Fraction of the way to the border of the feasible set that a step goes at most."""


class PathBounds(NamedTuple):
    """Limits of a path's n coordinates, at all of its K knots or at each."""

    lower: Array  # (n,) or (K, n) array: least positions, rad.
    upper: Array  # (n,) or (K, n) array: greatest positions, rad.
    speed: Array  # (n,) or (K, n) array: greatest speeds, rad/s.
    acceleration: Array  # (n,) or (K, n) array: greatest accelerations, rad/s².


class PathCost(NamedTuple):
    """What a path costs near a preferred one."""

    # (K, n, n): weights H of the distance from the preferred positions, symmetric, positive semidefinite.
    blocks: Array
    # (K, n): descent direction g at the preferred positions; 0 where these are the best without limits.
    drift: Array
    inertia: Array  # (K, n, n): weights W of the acceleration, symmetric, positive semidefinite.


class AccelerationRows(NamedTuple):
    """Limits of R combinations of accelerations, such as torques, at every knot."""

    matrix: Array  # (K, R, n).
    lower: Array  # (K, R): least values.
    upper: Array  # (K, R): greatest values.


class _Rows(NamedTuple):
    """Constraint rows, each in units of half its range: what they take of neighbouring coefficients."""

    position: Array  # (K, n).
    speed: Array  # (2, K - 1, n): of two neighbours.
    acceleration: Array  # (3, K - 2, n): of three.
    second: Array  # (3, K - 2): what accelerations take of three coefficients, 1/s².
    combined: Array  # (K - 2, R, n): what further rows take of accelerations.
    lower: Array  # (M,): least values of all rows, one after the other.
    upper: Array  # (M,): greatest values.


def solve_bounded_path(
    time: Array,
    preferred: Array,
    cost: PathCost,
    bounds: PathBounds,
    combined: AccelerationRows | None = None,
) -> BSpline:
    """Find the path nearest to a preferred one that keeps its limits, all knots at once.

        min Σ_k (c_k − c*_k)ᵀ H_k (c_k − c*_k) − 2 g_kᵀ (c_k − c*_k) + q̈(t_k)ᵀ W_k q̈(t_k),
        lower ≤ q ≤ upper,   |q̇| ≤ speed,   |q̈| ≤ acceleration,   l_k ≤ R_k q̈(t_k) ≤ u_k

    for the cubic spline q(t) with knots at the given times (not-a-knot at its ends, as interpolation has it)
    and coefficients c; c* are those of the spline through the preferred positions, near which they are. A
    spline lies in the convex hull of its coefficients (de Boor 1978, A Practical Guide to Splines, ch. XI),
    and those of its derivatives are differences of c: limits on coefficients hold between the knots, too. For
    the acceleration, which is linear between knots, they are no narrower than they need to be; for position
    and speed by as much as these curve from knot to knot. The QP is solved by a primal-dual interior-point
    method (Mehrotra 1992, SIAM J. Optim. 2: 575-601), whose matrix is banded: a coefficient is coupled to the
    two before it and the two after it, so that the time is in proportion to K.

    `time` (K,): time of the knots, s, ascending, K ≥ 6; `preferred` (K, n): preferred positions, rad; `cost`:
    weights of distance and acceleration; `bounds`: limits; where they differ from knot to knot, the narrowest
    of those nearby hold between them; `combined`: limits of combinations of accelerations; those of the
    second knot and the last but one do not count, where the acceleration is between those of their
    neighbours. Returns the path: called with times (T,), positions (T, n), rad. Raises ArithmeticError if
    there is no such path, or the method finds none.
    """
    count, n = preferred.shape
    spline = make_interp_spline(time, preferred, k=3)
    kept = _acceleration_knots(count)
    if combined is None:
        combined = AccelerationRows(np.empty((count, 0, n)), np.empty((count, 0)), np.empty((count, 0)))
    rows = _constraint_rows(time, spline.t, bounds, AccelerationRows(*(each[kept] for each in combined)))
    scale = max(float(np.einsum("kii->", cost.blocks)) / preferred.size, 1e-12)
    distance = (cost.blocks + _REGULARISATION * scale * np.eye(n)) / scale
    inertia = cost.inertia[kept] / scale
    band = _banded(distance, inertia, rows.second)
    # Around the preferred coefficients only inertia and drift pull away from them.
    pull = _apply(band, spline.c) - (distance @ spline.c[:, :, None])[:, :, 0]
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


def _constraint_rows(time: Array, knots: Array, bounds: PathBounds, combined: AccelerationRows) -> _Rows:
    """Scale all rows by half the range between their limits."""
    count = len(time)
    upper = _at_coefficients(bounds.upper, time, knots, 3)
    lower = -_at_coefficients(-bounds.lower, time, knots, 3)
    room = np.maximum(0.5 * (upper - lower), _LEAST_ROOM)
    fastest = np.maximum(_at_coefficients(bounds.speed, time, knots[1:-1], 2), _LEAST_ROOM)
    hardest = np.maximum(_at_coefficients(bounds.acceleration, time, knots[2:-2], 1), _LEAST_ROOM)
    rate = _first_differences(knots, 3, count)[:, None] / fastest
    second = _second_differences(knots, count)
    middle = 0.5 * (upper + lower) / room
    half = np.maximum(0.5 * (combined.upper - combined.lower), _LEAST_ROOM)
    between = 0.5 * (combined.upper + combined.lower) / half
    one = np.ones(fastest.size + hardest.size)
    centre = np.concatenate([middle.ravel(), 0.0 * one, between.ravel()])
    return _Rows(
        1.0 / room,
        np.stack([-rate, rate]),
        second[:, :, None] / hardest,
        second,
        combined.matrix / half[:, :, None],
        centre - 1.0,
        centre + 1.0,
    )


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
    band = np.zeros((3 * n, count * n), order="F")
    # Element (apart n + i - j, k n + j) is that of coordinates i of knot k + apart and j of knot k.
    by_knot = band.T.reshape(count, n, 3 * n)
    _add_blocks(by_knot, 0, blocks)
    _add_inertia(by_knot, inertia, second)
    return band


def _add_blocks(by_knot: Array, apart: int, blocks: Array) -> None:
    """Add blocks (L, n, n) that couple the first L knots with those so many later."""
    count, n, _ = blocks.shape
    for j in range(n):
        first = j if apart == 0 else 0
        start = apart * n + first - j
        by_knot[:count, j, start : start + n - first] += blocks[:, first:, j]


def _add_inertia(by_knot: Array, inertia: Array, second: Array) -> None:
    """Add weights (K - 2, n, n) of the accelerations."""
    count = len(inertia)
    for apart in range(3):
        total = np.zeros((count + 2 - apart, *inertia.shape[1:]))
        for b in range(3 - apart):
            total[b : b + count] += (second[b + apart] * second[b])[:, None, None] * inertia
        _add_blocks(by_knot, apart, total)


def _apply(band: Array, x: Array) -> Array:
    """Multiply a banded symmetric matrix with coefficients (K, n)."""
    return np.asarray(dsbmv(len(band) - 1, 1.0, band, x.ravel(), lower=1)).reshape(x.shape)


def _measure(rows: _Rows, x: Array) -> Array:
    """Values (M,) of all rows for coefficients (K, n)."""
    first, second = rows.speed, rows.acceleration
    near = x[:-2], x[1:-1], x[2:]
    values = [
        rows.position * x,
        first[0] * x[:-1] + first[1] * x[1:],
        second[0] * near[0] + second[1] * near[1] + second[2] * near[2],
    ]
    if rows.combined.size:
        bend = sum(factor[:, None] * each for factor, each in zip(rows.second, near, strict=True))
        values.append((rows.combined @ bend[:, :, None])[:, :, 0])
    return np.concatenate([each.ravel() for each in values])


def _split(rows: _Rows, values: Array) -> tuple[Array, Array, Array, Array]:
    """Part the values (M,) of all rows by their kinds."""
    shapes = rows.position.shape, rows.speed.shape[1:], rows.acceleration.shape[1:], rows.combined.shape[:2]
    ends = np.cumsum([a * b for a, b in shapes])[:-1]
    first, second, third, last = np.split(values, ends)
    return (
        first.reshape(shapes[0]),
        second.reshape(shapes[1]),
        third.reshape(shapes[2]),
        last.reshape(shapes[3]),
    )


def _gather(rows: _Rows, values: Array) -> Array:
    """Transpose of `_measure`."""
    position, speed, acceleration, combined = _split(rows, values)
    x = rows.position * position
    x[:-1] += rows.speed[0] * speed
    x[1:] += rows.speed[1] * speed
    bend = (combined[:, None, :] @ rows.combined)[:, 0] if combined.size else None
    for k, factor in enumerate(rows.acceleration):
        part = x[k : k + len(acceleration)]
        part += factor * acceleration
        if bend is not None:
            part += rows.second[k][:, None] * bend
    return x


def _normal_matrix(band: Array, rows: _Rows, weights: Array) -> Array:
    """Cost's matrix with Aᵀ diag(weights) A of the constraint rows, banded."""
    position, speed, acceleration, combined = _split(rows, weights)
    count, n = position.shape
    matrix = band.copy(order="F")
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
    if combined.size:
        bent = rows.combined.transpose(0, 2, 1) @ (combined[:, :, None] * rows.combined)
        _add_inertia(matrix.T.reshape(count, n, 3 * n), bent, rows.second)
    return matrix


class _Newton(NamedTuple):
    """The linear system of one iteration: slacks and multipliers of lower and upper limits in one vector."""

    factor: Array
    slack: Array
    multiplier: Array
    missing: Array
    slope: Array


def _solve(band: Array, linear: Array, rows: _Rows, at: Array) -> Array:
    """Minimise xᵀPx/2 + pᵀx with limits on at + x; x (K, n)."""
    offset, low, high = _measure(rows, at), rows.lower, rows.upper
    x = np.zeros(linear.shape)
    slack = np.maximum(np.concatenate([offset - low, high - offset]), _FIRST)
    multiplier = np.full(len(slack), _FIRST)
    half = len(offset)
    steepest = max(1.0, float(np.abs(linear).max()))
    for _ in range(_MAX_ITERATIONS):
        value = offset + _measure(rows, x)
        missing = np.concatenate([value - low, high - value]) - slack
        slope = _apply(band, x) + linear - _gather(rows, multiplier[:half] - multiplier[half:])
        mean = float(slack @ multiplier) / len(slack)
        if max(np.abs(missing).max(), np.abs(slope).max() / steepest, mean) < _ACCURACY:
            return x
        ratio = multiplier / slack
        matrix = _normal_matrix(band, rows, ratio[:half] + ratio[half:])
        try:
            factor = cholesky_banded(matrix, overwrite_ab=True, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ArithmeticError("no path within its limits: the matrix is not positive definite") from None
        system = _Newton(factor, slack, multiplier, missing, slope)
        # Predictor, which says how far to centre, and corrector.
        _, ds, dz = _direction(system, rows, -slack * multiplier)
        reach = min(_longest(slack, ds), _longest(multiplier, dz))
        after = float((slack + reach * ds) @ (multiplier + reach * dz)) / len(slack)
        centred = (after / mean) ** 3 * mean
        dx, ds, dz = _direction(system, rows, centred - slack * multiplier - ds * dz)
        length = _TO_THE_BORDER * min(_longest(slack, ds), _longest(multiplier, dz))
        x = x + length * dx
        slack = slack + length * ds
        multiplier = multiplier + length * dz
    raise ArithmeticError(f"no path within its limits after {_MAX_ITERATIONS} iterations")


def _direction(system: _Newton, rows: _Rows, complement: Array) -> tuple[Array, Array, Array]:
    """Find the steps of coefficients, slacks and multipliers for a change of their products.

    ds = A dx + missing, dz = (complement − z ds) / s.
    """
    half, shape = len(rows.lower), system.slope.shape
    push = (complement - system.multiplier * system.missing) / system.slack
    right = _gather(rows, push[:half] - push[half:]) - system.slope
    dx = cho_solve_banded((system.factor, True), right.ravel(), check_finite=False).reshape(shape)
    moved = _measure(rows, dx)
    ds = np.concatenate([moved, -moved]) + system.missing
    return dx, ds, (complement - system.multiplier * ds) / system.slack


def _longest(value: Array, change: Array) -> float:
    """Longest step, at most 1 / `_TO_THE_BORDER`, with which values stay at 0 or above."""
    shrinking = change < 0.0
    if not shrinking.any():
        return 1.0 / _TO_THE_BORDER
    return float(min(1.0 / _TO_THE_BORDER, np.min(-value[shrinking] / change[shrinking])))
