"""Time-optimal path parameterisation: how fast a given path may be followed at each of its points.

With the path parameter s, x = ṡ² and u = s̈, limits of joint speed, acceleration and torque, and of the ZMP,
are linear in u and x at every point of a path (Bobrow, Dubowsky and Gibson 1985): a u + b x ≤ 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import convolve1d, minimum_filter1d

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry

# Times that a rate is reduced where it breaks a constraint. A few suffice; then all of it is reduced.
_REPAIRS = 30
_TOLERANCE = 1e-6  # Excess of a constraint that counts as none.


def time_scaling_factor(
    time: NDArray[np.float64], q: NDArray[np.float64], speed_limit: NDArray[np.float64]
) -> float:
    """Find the least factor ≥ 1 by which a motion must be slowed to keep all joint speed limits.

    `time` (T,): time, s; `q` (T, n): joint positions, rad; `speed_limit` (n,): speed limits of the joints,
    rad/s. The interpolated speed is examined every millisecond.
    """
    fine = np.arange(time[0], time[-1], 1e-3)
    speed = np.abs(make_interp_spline(time, q, k=min(3, len(time) - 1)).derivative()(fine)).max(axis=0)
    return float(max(1.0, np.max(speed / speed_limit)))


class PathConstraints(NamedTuple):
    """Constraints a u + b x ≤ 1 on u = s̈ and x = ṡ² at evenly spaced nodes of a path.

    Divided by what is left at rest, which must be positive: a path on which the robot can stop anywhere.
    """

    a: Array  # (N, m): coefficients of u, s².
    b: Array  # (N, m): coefficients of x.


def fastest_rate(step: float, ceiling: Array, constraints: PathConstraints) -> Array:
    """Find the greatest ṡ² at every node that a path allows (TOPP-RA: Pham and Pham 2018).

    From the last node to the first, the greatest x from which the constraints allow a step to what the next
    node allows; then from the first to the last, the greatest u. s̈ is constant between nodes, and the
    constraints of both ends hold. The rate is free at both ends: what is before and after the path is
    planned to meet it.

    With 2 Δ u = x' − x for the next node's x', a constraint is c x + d x' ≤ 1. Where c and d are positive,
    near a zero of a (a zero-inertia point), more of one is less of the other: the greedy sweeps would take
    all of x and leave x' = 0. There x and x' are at most 1 / (c + d) = 1 / b each, which is as exact as the
    grid. Without such constraints the greatest x at one node is compatible with the greatest at all others. A
    constant rate that satisfies all constraints is therefore never above what is found. `step`: distance Δ of
    the nodes, in units of s; `ceiling` (N,): upper bound of x at each node, positive: speed limits, and 1 for
    the path's own tempo; `constraints`: constraints at the nodes; m = 0 for none. Returns (N,): x = ṡ², at
    most `ceiling`; the integral of ds/ṡ is the least there is.
    """
    if not (np.isfinite(ceiling).all() and (ceiling > 0.0).all()):
        raise ValueError("the upper bound of the squared rate must be finite and positive")
    if not all(np.isfinite(each).all() for each in constraints):
        raise ValueError("coefficients of constraints must be finite")
    a, b = (np.ascontiguousarray(each, dtype=np.float64) for each in constraints)
    # Where a constraint trades x for that of a neighbour, |a| < 2 Δ b, both are bounded.
    square = np.divide(1.0, b, out=np.full_like(b, np.inf), where=b > 0.0)
    trades = np.abs(a) < 2.0 * step * b
    own = np.where(trades, square, np.inf).min(axis=1, initial=np.inf)
    before = np.where(trades & (a > 0.0), square, np.inf).min(axis=1, initial=np.inf)
    after = np.where(trades & (a < 0.0), square, np.inf).min(axis=1, initial=np.inf)
    own[1:] = np.minimum(own[1:], before[:-1])
    own[:-1] = np.minimum(own[:-1], after[1:])
    ceiling = np.minimum(ceiling, own)
    return np.asarray(_sweep(float(step), ceiling, a, b, constant_rate(ceiling, constraints)))


def constant_rate(ceiling: Array, constraints: PathConstraints) -> float:
    """Find the greatest constant ṡ², that of a path which is slowed by one factor.

    `ceiling` (N,): upper bound of x = ṡ² at each node; `constraints`: constraints at the nodes; with u = 0, b
    x ≤ 1. Returns the least of all bounds of x.
    """
    most = float(constraints.b.max(initial=0.0))
    least = float(ceiling.min())
    return min(least, 1.0 / most) if most > 0.0 else least


def smooth_rate(square: Array, half_width: int) -> Array:
    """Smooth ṡ² by a kernel of compact support, without raising it anywhere.

    The least value within the half width, averaged with the weights 1 + cos over the same width: the result
    is at most `square`, and twice continuously differentiable. Its second derivative, and so the jerk of the
    path, is at most π / w² of the range of x for the half width w. `square` (N,): x = ṡ² at evenly spaced
    nodes; `half_width`: half width of the kernel, in nodes; 0 smooths nothing. Returns (N,).
    """
    if half_width == 0:
        return square
    weights = 1.0 + np.cos(np.pi * np.arange(-half_width, half_width + 1) / (half_width + 1))
    lowest = minimum_filter1d(square, 2 * half_width + 1, mode="nearest")
    return np.asarray(convolve1d(lowest, weights / weights.sum(), mode="nearest"))


def constraint_use(step: float, square: Array, ceiling: Array, constraints: PathConstraints) -> Array:
    """Compute how much of each constraint a rate needs.

    `step`: distance of the nodes, in units of s; `square` (N,): x = ṡ² at the nodes; `ceiling` (N,): upper
    bound of x; `constraints`: constraints at the nodes. Returns (N, 1 + m): x / ceiling, and a u + b x with u
    = dx/ds / 2; feasible up to 1.
    """
    acceleration = 0.5 * np.gradient(square, step)
    rows = constraints.a * acceleration[:, None] + constraints.b * square[:, None]
    return np.hstack([(square / ceiling)[:, None], rows])


def reduce_rate(
    step: float, square: Array, ceiling: Array, constraints: PathConstraints, half_width: int
) -> Array:
    """Reduce a rate smoothly where it breaks a constraint.

    Where the constraints are used by a factor f > 1, x is divided by f, and around it by as much as keeps it
    smooth; slower by √f both speed and acceleration are divided by f. What is left after some rounds divides
    all of x. A steep reduction takes an acceleration of its own and may break more than it mends: where it
    takes longer than to divide all of x from the beginning, or than a constant rate, that is done. `step`:
    distance of the nodes, in units of s; `square` (N,): x = ṡ² at the nodes, smooth; `ceiling` (N,): upper
    bound of x; `constraints`: constraints at the nodes; `half_width`: half width, in nodes, over which a
    reduction begins and ends. Returns (N,): smooth x, at most `square`, for which all constraints hold.
    """
    whole = square / max(1.0, float(constraint_use(step, square, ceiling, constraints).max()))
    constant = np.full_like(square, min(float(square.min()), constant_rate(ceiling, constraints)))
    for _ in range(_REPAIRS):
        use = constraint_use(step, square, ceiling, constraints).max(axis=1)
        if use.max() <= 1.0 + _TOLERANCE:
            break
        square = square * smooth_rate(1.0 / np.maximum(use, 1.0), half_width)
    else:
        square = square / max(1.0, float(constraint_use(step, square, ceiling, constraints).max()))
    return min(square, whole, constant, key=lambda rate: float((1.0 / np.sqrt(rate)).sum()))


@compiled_entry("ceiling (N), a (N, m), b (N, m)")
def _sweep(step: float, ceiling: Array, a: Array, b: Array, least: float) -> Array:
    """Compute the controllable sets [0, x̄] from the last node back, then the greatest x from the first on.

    `least` is a constant rate that is feasible: rounding must not lead below it.
    """
    count, rows = a.shape
    square = ceiling.copy()
    alpha, beta, right = np.empty(2 * rows + 2), np.empty(2 * rows + 2), np.ones(2 * rows + 2)
    for number in range(2 * (count - 1)):
        backwards = number < count - 1
        node = count - 2 - number if backwards else number - (count - 1)
        for row in range(rows):
            alpha[row], beta[row] = a[node, row], b[node, row]
            alpha[rows + row] = a[node + 1, row] + 2.0 * step * b[node + 1, row]
            beta[rows + row] = b[node + 1, row]
        # 0 ≤ x + 2 Δ u ≤ x̄ of the next node.
        alpha[2 * rows], beta[2 * rows], right[2 * rows] = 2.0 * step, 1.0, square[node + 1]
        alpha[2 * rows + 1], beta[2 * rows + 1], right[2 * rows + 1] = -2.0 * step, -1.0, 0.0
        if backwards:
            square[node] = max(least, _greatest_square(alpha, beta, right, square[node]))
        else:
            _, greatest, _, _ = _acceleration_bounds(alpha, beta, right, square[node])
            reached = max(least, square[node] + 2.0 * step * greatest)
            square[node + 1] = min(square[node + 1], reached)
    return square


@compiled
def _greatest_square(alpha: Array, beta: Array, right: Array, ceiling: float) -> float:
    """Find the greatest x ≤ ceiling for which some u satisfies α u + β x ≤ r; x = u = 0 does.

    The room for u between its bounds is a concave, piecewise linear function of x: Newton's method from
    above comes to its zero in finitely many steps.
    """
    square = ceiling
    for row in range(len(alpha)):
        if alpha[row] == 0.0 and beta[row] * square > right[row]:
            square = right[row] / beta[row]
    for _ in range(len(alpha)):
        low, high, lowest, highest = _acceleration_bounds(alpha, beta, right, square)
        room = high - low
        if room >= 0.0:
            break
        slope = beta[lowest] / alpha[lowest] - beta[highest] / alpha[highest]
        if slope >= 0.0:
            break
        square = max(square - room / slope, 0.0)
    return square


@compiled
def _acceleration_bounds(
    alpha: Array, beta: Array, right: Array, square: float
) -> tuple[float, float, int, int]:
    """Compute the bounds of u for α u + β x ≤ r at one x, and the rows that set them."""
    low, high, lowest, highest = -np.inf, np.inf, 0, 0
    for row in range(len(alpha)):
        if alpha[row] != 0.0:
            bound = (right[row] - beta[row] * square) / alpha[row]
            if alpha[row] > 0.0 and bound < high:
                high, highest = bound, row
            elif alpha[row] < 0.0 and bound > low:
                low, lowest = bound, row
    return low, high, lowest, highest
