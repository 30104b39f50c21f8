"""Paths of many coordinates, all knots at once.

`chain_step` is a Gauss-Newton step of knots that springs join; `solve_bounded_path` finds the path near a
preferred one that keeps limits of position, speed and acceleration at all times; `time_grids` are the
samples of a coarse-to-fine solution.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline
from scipy.linalg import cho_solve_banded, cholesky_banded
from scipy.linalg.blas import dsbmv

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry

_COARSE_RATE = 12.5  # Least rate of a coarse grid, Hz: people's arms move below half of it.
_FEWEST_SAMPLES = 16  # Of a coarse grid: shorter motions are solved at all samples at once.


def time_grids(time: Array) -> list[NDArray[np.int64]]:
    """Choose the grids on which a motion is solved, one after the other.

    What an iteration costs is proportional to the number of samples; so is the number of iterations in which
    the instants are found at which joints come to their limits. A solution at a few samples a second is near
    that at all of them, which is then found in a few iterations. `time` (T,): time of the samples, s, evenly
    spaced. Returns list of (S,) int arrays: samples of each grid: a coarse one, if there is one, and all. The
    first and the last are in each.
    """
    count = len(time)
    stride = int((count - 1) / (time[-1] - time[0]) / _COARSE_RATE) if count > 1 else 1
    if stride < 2 or count < _FEWEST_SAMPLES * stride:
        return [np.arange(count)]
    return [np.append(np.arange(0, count - 1, stride), count - 1), np.arange(count)]


def interpolate_change(time: Array, samples: NDArray[np.int64], change: Array) -> Array:
    """Interpolate the change of a motion from the samples of a grid to all of them, by a cubic spline.

    `time` (T,): time of all samples, s; `samples` (S,) int: samples of the grid, from `time_grids`; `change`
    (S, n): change at these samples. Returns (T, n).
    """
    if len(samples) == len(time):
        return change
    return np.asarray(make_interp_spline(time[samples], change, k=min(3, len(samples) - 1))(time))


def hold_between(count: int, samples: NDArray[np.int64], held: NDArray[np.int8]) -> NDArray[np.int8]:
    """Hold between two samples of a grid what is held the same way at both.

    `count`: T, number of all samples; `samples` (S,) int: samples of the grid, from `time_grids`; `held` (S,
    n) int: how each coordinate is held at these samples; 0 if it is not. Returns (T, n) int.
    """
    every = np.arange(count)
    after = np.searchsorted(samples, every)
    before = after - (samples[after] != every)
    return np.where(held[before] == held[after], held[after], 0).astype(np.int8)


_PIVOTINGS = 6  # Most rounds of a step by default: a new Gauss-Newton matrix helps more than more rounds.


def chain_step(x: Array, gradient: Array, blocks: Array, stiffness: Array, low: Array, high: Array) -> Array:
    """Gauss-Newton step of all knots; coordinates on a limit that would leave it stay.

    `x` (K, n): coordinates, rad or m; `gradient` (K, n): descent direction of the tracking term; `blocks` (K,
    n, n): gauss-Newton matrices of the tracking term; `stiffness` (K - 1, n): springs between neighbouring
    knots; `low` (n,): lower limits of the coordinates; `high` (n,): upper limits of the coordinates. Returns
    (K, n): step of the coordinates; it may pass limits.
    """
    descent = gradient - _spring_force(x, stiffness, None)
    fixed = ((x <= low + 1e-9) & (descent < 0)) | ((x >= high - 1e-9) & (descent > 0))

    return _solve(descent, blocks, stiffness, fixed, np.zeros_like(x))


def bounded_chain_step(
    x: Array,
    gradient: Array,
    blocks: Array,
    stiffness: Array,
    bending: Array | None,
    box: tuple[Array, Array],
    on_limit: NDArray[np.int8] | None = None,
    pivotings: int = _PIVOTINGS,
) -> tuple[Array, NDArray[np.int8]]:
    """Gauss-Newton step of all knots that ends inside the limits, and which coordinates end on them.

    Block principal pivoting (Júdice & Pires 1994), as `solve_box` does for one knot: coordinates that the
    step takes beyond a limit are set onto it, those that the step would take off their limit are released,
    all of them at once, and the others are solved for again. Where a joint comes to its limit and leaves it
    moves by a few knots a round only, so the coordinates on limits are those of the step before at first. `x`
    (K, n): coordinates inside the limits, rad or m. `gradient` (K, n): descent direction of the tracking
    term. `blocks` (K, n, n): gauss-Newton matrices of the tracking term. `stiffness` (K - 1, n): springs
    between neighbouring knots. `bending` (K - 2, n) or None: springs on second differences of three
    neighbouring knots; None: there are none. `box` ((K, n) , (K, n) array): lower and upper limits of the
    coordinates. `on_limit` (K, n) int: coordinates that are expected to end on a limit: -1 on the lower one,
    1 on the upper one, others 0. By default those that are there and would leave the box. `pivotings`: most
    rounds; if that is too few, the step is clipped. Returns `step` (K, n); `on_limit` (K, n) int: coordinates
    that should be on a limit: to be handed over to the next step.
    """
    descent = gradient - _spring_force(x, stiffness, bending)
    low, high = box[0] - x, box[1] - x
    if on_limit is None:
        on_limit = ((high <= 0.0) & (descent > 0.0)).astype(np.int8)
        on_limit[(low >= 0.0) & (descent < 0.0)] = -1
    for _ in range(pivotings):
        held = np.where(on_limit < 0, low, np.where(on_limit > 0, high, 0.0))
        step = _solve(descent, blocks, stiffness, on_limit != 0, held, bending)
        slope = descent - (blocks @ step[:, :, None])[:, :, 0] - _spring_force(step, stiffness, bending)
        # Beyond a limit, or pressed against the one it is held on.
        above = np.where(on_limit > 0, slope > 0.0, (on_limit == 0) & (step > high))
        below = np.where(on_limit < 0, slope < 0.0, (on_limit == 0) & (step < low))
        before, on_limit = on_limit, above.astype(np.int8) - below.astype(np.int8)
        if np.array_equal(on_limit, before):
            break
    return np.clip(step, low, high), on_limit


def _spring_force(x: Array, stiffness: Array, bending: Array | None) -> Array:
    """Gradient of half the springs' energy."""
    force = np.zeros_like(x)
    tension = stiffness * np.diff(x, axis=0)
    force[:-1] -= tension
    force[1:] += tension
    if bending is not None:
        moment = bending * np.diff(x, 2, axis=0)
        force[:-2] += moment
        force[1:-1] -= 2.0 * moment
        force[2:] += moment
    return force


def _solve(
    descent: Array,
    blocks: Array,
    stiffness: Array,
    fixed: NDArray[np.bool_],
    held: Array,
    bending: Array | None = None,
) -> Array:
    """Solve for the free coordinates while the fixed ones make the steps they are held at."""
    right = descent
    if held.any():
        right = right - (blocks @ held[:, :, None])[:, :, 0] - _spring_force(held, stiffness, bending)
    springs, beside = np.full_like(descent, 1e-6), -stiffness
    springs[:-1] += stiffness
    springs[1:] += stiffness
    if bending is None:
        bending = beside[:0]
    else:
        springs[:-2] += bending
        springs[1:-1] += 4.0 * bending
        springs[2:] += bending
        beside[:-1] -= 2.0 * bending
        beside[1:] -= 2.0 * bending
    # Every other layout in memory would be compiled anew.
    whole = np.ascontiguousarray
    solved = _solve_banded(
        whole(blocks), whole(springs), whole(beside), whole(bending), whole(fixed), whole(right)
    )
    return np.where(fixed, held, solved)


@compiled_entry("blocks (K, n, n), springs (K, n), beside (K - 1, n), fixed (K, n), right (K, n)")
def _solve_banded(
    blocks: Array, springs: Array, beside: Array, bending: Array, fixed: NDArray[np.bool_], right: Array
) -> Array:
    """Solve for the free coordinates by a banded Cholesky factorisation, column by column.

    `blocks` (K, n, n): only their lower triangles are read; `springs` (K, n): stiffness that is added on the
    diagonal; `beside` (K - 1, n): the entries n below the diagonal; `bending` (K - 2, n) or (0, n) array: the
    entries 2 n below the diagonal; `fixed` (K, n): which coordinates are not free; `right` (K, n): right-hand
    side. Returns (K, n): 0 where fixed.
    """
    knots, n = right.shape
    size, band = knots * n, 2 * n if len(bending) else n
    # Row c holds column c from the diagonal downwards: all that one column does to another is contiguous.
    columns = np.zeros((size + band, band + 1))
    x = np.zeros(size + band)
    for k in range(knots):
        for i in range(n):
            c = k * n + i
            if fixed[k, i]:
                columns[c, 0] = 1.0
                continue
            x[c] = right[k, i]
            columns[c, 0] = blocks[k, i, i] + springs[k, i]
            for j in range(i + 1, n):
                if not fixed[k, j]:
                    columns[c, j - i] = blocks[k, j, i]
            if k + 1 < knots and not fixed[k + 1, i]:
                columns[c, n] = beside[k, i]
            if k < len(bending) and not fixed[k + 2, i]:
                columns[c, 2 * n] = bending[k, i]
    _substitute_banded(columns, x, size)
    return x[:size].reshape((knots, n))


@compiled
def _substitute_banded(columns: Array, x: Array, size: int) -> None:
    """Factorise the columns (size + band, band + 1) and solve for x (size + band,), in place."""
    band = columns.shape[1] - 1
    for c in range(size):
        pivot = columns[c, 0]
        if not pivot > 0.0:
            raise np.linalg.LinAlgError("the chain's matrix is not positive definite")
        scale = 1.0 / np.sqrt(pivot)
        for d in range(band + 1):
            columns[c, d] *= scale
        x[c] *= scale
        for d in range(1, band + 1):
            factor = columns[c, d]
            if factor != 0.0:
                x[c + d] -= factor * x[c]
                for e in range(band + 1 - d):
                    columns[c + d, e] -= factor * columns[c, d + e]
    for c in range(size - 1, -1, -1):
        for d in range(1, band + 1):
            x[c] -= columns[c, d] * x[c + d]
        x[c] /= columns[c, 0]


# Weight of each coefficient's distance from the preferred path, as a fraction of the blocks' mean diagonal:
# what no block determines stays where it is preferred.
_REGULARISATION = 1e-6
_LEAST_ROOM = 1e-6  # Least width of a limit, rad, rad/s or rad/s²: the method goes through the inside.
# Residuals and complementarity at which the method ends, in units of limits and of the cost's scale.
_ACCURACY = 1e-5
_MAX_ITERATIONS = 60  # Usual are a dozen.
_FIRST = 0.1  # Least slack and multiplier at the start, in units of limits and of the cost's scale.
_TO_THE_BORDER = 0.99  # Fraction of the way to the border of the feasible set that a step goes at most.


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
    # The knots at which the coefficients of the acceleration are the accelerations: not-a-knot ends.
    kept = np.array([0, *range(2, count - 2), count - 1])
    if combined is None:
        combined = AccelerationRows(np.empty((count, 0, n)), np.empty((count, 0)), np.empty((count, 0)))
    rows = _ConstraintRows(time, spline.t, bounds, AccelerationRows(*(each[kept] for each in combined)))
    scale = max(float(np.einsum("kii->", cost.blocks)) / preferred.size, 1e-12)
    distance = (cost.blocks + _REGULARISATION * scale * np.eye(n)) / scale
    inertia = cost.inertia[kept] / scale
    # LAPACK's lower banded storage: element (apart n + i - j, k n + j) is that of coordinates i of knot
    # k + apart and j of knot k.
    band = np.zeros((3 * n, count * n), order="F")
    by_knot = band.T.reshape(count, n, 3 * n)
    _add_blocks(by_knot, 0, distance)
    _add_inertia(by_knot, inertia, rows.second)
    # Around the preferred coefficients only inertia and drift pull away from them.
    pull = _apply(band, spline.c) - (distance @ spline.c[:, :, None])[:, :, 0]
    step = _interior_point(band, pull - cost.drift / scale, rows, spline.c)
    return BSpline(spline.t, spline.c + step, 3)


def _first_differences(knots: Array, degree: int, count: int) -> Array:
    """Rates 1 / s (count - 1,) by which differences of a spline's coefficients become those of its speed."""
    return np.asarray(degree / (knots[degree + 1 : degree + count] - knots[1:count]))


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


class _ConstraintRows:
    """Constraint rows, each in units of half its range: what they take of neighbouring coefficients.

    `position` (K, n); `speed` (2, K - 1, n): of two neighbours; `acceleration` (3, K - 2, n): of three;
    `second` (3, K - 2): what accelerations take of three coefficients, 1/s²; `combined` (K - 2, R, n): what
    further rows take of accelerations; `lower`, `upper` (M,): least and greatest values of all rows, one
    after the other.
    """

    def __init__(self, time: Array, knots: Array, bounds: PathBounds, combined: AccelerationRows) -> None:
        count = len(time)
        upper = _at_coefficients(bounds.upper, time, knots, 3)
        lower = -_at_coefficients(-bounds.lower, time, knots, 3)
        room = np.maximum(0.5 * (upper - lower), _LEAST_ROOM)
        fastest = np.maximum(_at_coefficients(bounds.speed, time, knots[1:-1], 2), _LEAST_ROOM)
        hardest = np.maximum(_at_coefficients(bounds.acceleration, time, knots[2:-2], 1), _LEAST_ROOM)
        # Three coefficients in one of the acceleration, 1 / s².
        first = _first_differences(knots, 3, count)
        second = _first_differences(knots[1:-1], 2, count - 1)
        second = np.stack([second * first[:-1], -second * (first[:-1] + first[1:]), second * first[1:]])
        rate = first[:, None] / fastest
        middle = 0.5 * (upper + lower) / room
        half = np.maximum(0.5 * (combined.upper - combined.lower), _LEAST_ROOM)
        between = 0.5 * (combined.upper + combined.lower) / half
        one = np.ones(fastest.size + hardest.size)
        centre = np.concatenate([middle.ravel(), 0.0 * one, between.ravel()])
        self.position, self.speed = 1.0 / room, np.stack([-rate, rate])
        self.acceleration, self.second = second[:, :, None] / hardest, second
        self.combined = combined.matrix / half[:, :, None]
        self.lower, self.upper = centre - 1.0, centre + 1.0

    def measure(self, x: Array) -> Array:
        """Values (M,) of all rows for coefficients (K, n)."""
        first, second = self.speed, self.acceleration
        near = x[:-2], x[1:-1], x[2:]
        values = [
            self.position * x,
            first[0] * x[:-1] + first[1] * x[1:],
            second[0] * near[0] + second[1] * near[1] + second[2] * near[2],
        ]
        if self.combined.size:
            bend = sum(factor[:, None] * each for factor, each in zip(self.second, near, strict=True))
            values.append((self.combined @ bend[:, :, None])[:, :, 0])
        return np.concatenate([each.ravel() for each in values])

    def split(self, values: Array) -> tuple[Array, Array, Array, Array]:
        """Part the values (M,) of all rows by their kinds."""
        shapes = (
            self.position.shape,
            self.speed.shape[1:],
            self.acceleration.shape[1:],
            self.combined.shape[:2],
        )
        ends = np.cumsum([a * b for a, b in shapes])[:-1]
        first, second, third, last = np.split(values, ends)
        return (
            first.reshape(shapes[0]),
            second.reshape(shapes[1]),
            third.reshape(shapes[2]),
            last.reshape(shapes[3]),
        )

    def gather(self, values: Array) -> Array:
        """Transpose of `measure`."""
        position, speed, acceleration, combined = self.split(values)
        x = self.position * position
        x[:-1] += self.speed[0] * speed
        x[1:] += self.speed[1] * speed
        bend = (combined[:, None, :] @ self.combined)[:, 0] if combined.size else None
        for k, factor in enumerate(self.acceleration):
            part = x[k : k + len(acceleration)]
            part += factor * acceleration
            if bend is not None:
                part += self.second[k][:, None] * bend
        return x

    def normal_matrix(self, band: Array, weights: Array) -> Array:
        """Cost's matrix with Aᵀ diag(weights) A of the constraint rows, banded."""
        position, speed, acceleration, combined = self.split(weights)
        count, n = position.shape
        matrix = band.copy(order="F")
        added = np.zeros((3, count, n))
        added[0] += self.position**2 * position
        first, second = self.speed, self.acceleration
        added[0, :-1] += first[0] ** 2 * speed
        added[0, 1:] += first[1] ** 2 * speed
        added[1, :-1] += first[0] * first[1] * speed
        for a in range(3):
            for b in range(a + 1):
                added[a - b, b : b + count - 2] += second[a] * second[b] * acceleration
        for apart in range(3):
            matrix[apart * n] += added[apart].ravel()
        if combined.size:
            bent = self.combined.transpose(0, 2, 1) @ (combined[:, :, None] * self.combined)
            _add_inertia(matrix.T.reshape(count, n, 3 * n), bent, self.second)
        return matrix


def _interior_point(band: Array, linear: Array, rows: _ConstraintRows, at: Array) -> Array:
    """Minimise xᵀPx/2 + pᵀx with limits on at + x; x (K, n)."""
    offset, low, high = rows.measure(at), rows.lower, rows.upper
    x = np.zeros(linear.shape)
    slack = np.maximum(np.concatenate([offset - low, high - offset]), _FIRST)
    multiplier = np.full(len(slack), _FIRST)
    half = len(offset)
    steepest = max(1.0, float(np.abs(linear).max()))
    for _ in range(_MAX_ITERATIONS):
        value = offset + rows.measure(x)
        missing = np.concatenate([value - low, high - value]) - slack
        slope = _apply(band, x) + linear - rows.gather(multiplier[:half] - multiplier[half:])
        mean = float(slack @ multiplier) / len(slack)
        if max(np.abs(missing).max(), np.abs(slope).max() / steepest, mean) < _ACCURACY:
            return x
        ratio = multiplier / slack
        matrix = rows.normal_matrix(band, ratio[:half] + ratio[half:])
        try:
            factor = cholesky_banded(matrix, overwrite_ab=True, lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise ArithmeticError("no path within its limits: the matrix is not positive definite") from None
        system = factor, slack, multiplier, missing, slope
        # Predictor, which says how far to centre, and corrector.
        _, ds, dz = _direction(rows, *system, -slack * multiplier)
        reach = min(_longest(slack, ds), _longest(multiplier, dz))
        after = float((slack + reach * ds) @ (multiplier + reach * dz)) / len(slack)
        centred = (after / mean) ** 3 * mean
        dx, ds, dz = _direction(rows, *system, centred - slack * multiplier - ds * dz)
        length = _TO_THE_BORDER * min(_longest(slack, ds), _longest(multiplier, dz))
        x = x + length * dx
        slack = slack + length * ds
        multiplier = multiplier + length * dz
    raise ArithmeticError(f"no path within its limits after {_MAX_ITERATIONS} iterations")


def _direction(
    rows: _ConstraintRows,
    factor: Array,
    slack: Array,
    multiplier: Array,
    missing: Array,
    slope: Array,
    complement: Array,
) -> tuple[Array, Array, Array]:
    """Find the steps of coefficients, slacks and multipliers for a change of their products.

    Slacks and multipliers of lower and upper limits are in one vector. ds = A dx + missing,
    dz = (complement − z ds) / s.
    """
    half = len(rows.lower)
    push = (complement - multiplier * missing) / slack
    right = rows.gather(push[:half] - push[half:]) - slope
    dx = cho_solve_banded((factor, True), right.ravel(), check_finite=False).reshape(slope.shape)
    moved = rows.measure(dx)
    ds = np.concatenate([moved, -moved]) + missing
    return dx, ds, (complement - multiplier * ds) / slack


def _longest(value: Array, change: Array) -> float:
    """Longest step, at most 1 / `_TO_THE_BORDER`, with which values stay at 0 or above."""
    shrinking = change < 0.0
    if not shrinking.any():
        return 1.0 / _TO_THE_BORDER
    return float(min(1.0 / _TO_THE_BORDER, np.min(-value[shrinking] / change[shrinking])))
