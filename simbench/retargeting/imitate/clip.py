"""All frames of a clip as one problem: a banded Gauss-Newton method inside the limits of the joints."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve_banded, cholesky_banded

from simbench.kinematics.arrays import Array
from simbench.retargeting.imitate.barriers import BarrierRows
from simbench.retargeting.imitate.problem import (
    FrameCosts,
    ImitationProblem,
    frame_costs,
    increments,
    step_from,
)

# Coefficients of the differences of samples, by order.
_DIFFERENCES = {1: (-1.0, 1.0), 2: (1.0, -2.0, 1.0), 3: (-1.0, 3.0, -3.0, 1.0)}
# Translation of the root that counts as much as a turn by 1 rad, m.
_ROOT_LENGTH = 0.3
# Weight that keeps a coordinate where it is.
_HOLD = 1e8
# Weight of the squared excess of a step between samples over a limit, 1/rad².
_EXCESS_WEIGHT = 1e3
# Weight of the squared distance by which links are too near, 1/m².
_BARRIER_WEIGHT = 3e4
# Largest change of a coordinate in an iteration, rad or m.
_LONGEST_STEP = 0.4
# Step, rad or m, and relative decrease of the cost below which the iteration ends.
_CONVERGED, _IMPROVED = 2e-4, 5e-4
# Distance beyond a limit that rounding makes, rad or m.
_PASSED = 1e-9
# Most halvings of a step, and most changes of the set of barriers that act in an iteration.
_HALVINGS, _ACTIVE_SETS = 3, 4
# Least and most Levenberg damping; it grows where a whole step does not lower the cost.
_DAMPING, _MOST_DAMPING = 1e-5, 10.0

FindBarriers = Callable[[Array], BarrierRows]
"""Linearises the links that are near each other in configurations (T, 7 + n)."""


@dataclass(frozen=True)
class Coupling:
    """How the frames of a clip are coupled."""

    # τ of the cost ½ ‖τ³ d³q/dt³‖² of each frame, s; root translations count in units of 0.3 m.
    time_constant: float
    # Weight of the squared displacement of a standing heel or toe from frame to frame, 1/m².
    slide_weight: float
    # `speed`, `acceleration` (nv,): limits of the coordinates, 1/s and 1/s²; infinite where there is none.
    speed: Array
    acceleration: Array


class _Difference(NamedTuple):
    """Differences of an order between samples (T - order, nv) that cost ½ Σ weight · residual²."""

    order: int
    weight: Array
    residual: Array


class _Evaluated(NamedTuple):
    """A motion with everything that it costs."""

    q: Array
    costs: FrameCosts
    stays: Array
    """Weight (T - 1, F, 2) of the displacement of heels and toes that stand in two frames, 1/m²."""
    differences: list[_Difference]
    near: BarrierRows
    value: float


def no_barriers(q: Array) -> BarrierRows:
    """Let nothing be too near."""
    return BarrierRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 1)), np.empty(0))


def solve_clip(
    problem: ImitationProblem,
    q: Array,
    frames: slice,
    coupling: Coupling,
    *,
    fixed: NDArray[np.bool_] | None = None,
    rounds: int = 30,
    least_damping: float = _DAMPING,
    barriers: FindBarriers = no_barriers,
) -> Array:
    """Find the motion of least cost in all frames together.

    ½ Σ (costs of the frames) + ½ Σ ‖τ³ Δ³q/Δt³‖² + ½ w Σ ‖displacement of standing heels and toes‖², with
    squared penalties of speeds and accelerations over their limits and of links that are too near, inside the
    joint limits. Each iteration solves the linearised problem by a banded Cholesky factorisation; coordinates
    at a limit that the cost pushes out are held there. `problem`: body and targets; `q` (T, 7 + n): first
    guess; `frames`: the T frames of the targets; `fixed` (T,) bool: frames that stay as they are; `rounds`:
    largest number of iterations; `least_damping`: levenberg damping of the first iteration, below which it
    does not go. Returns (T, 7 + n).
    """
    fixed = np.zeros(len(q), dtype=bool) if fixed is None else fixed
    moving = np.ix_(~fixed, 7 + problem.body.joints)

    def evaluate(q: Array) -> _Evaluated:
        """Bring a motion inside the limits; evaluate all its costs, with what their derivatives need."""
        q[moving] = np.clip(q[moving], problem.lower, problem.upper)
        count, nv = len(q), problem.nv
        costs, near = frame_costs(problem, q, frames), barriers(q)
        contact = problem.targets.contact[frames]
        stays = (contact[1:] & contact[:-1]).astype(float) * coupling.slide_weight
        differences = []
        if count > 1:
            time = problem.targets.time[frames]
            interval = (time[-1] - time[0]) / (count - 1)
            steps = increments(problem, q)
            if count > 3:
                weight = np.full(nv, (coupling.time_constant / interval) ** 6)
                weight[:3] /= _ROOT_LENGTH**2
                jerk = np.diff(steps, n=2, axis=0)
                differences.append(_Difference(3, np.broadcast_to(weight, jerk.shape), jerk))
            for order, limit in ((1, coupling.speed * interval), (2, coupling.acceleration * interval**2)):
                if count > order:
                    difference = np.diff(steps, n=order - 1, axis=0)
                    excess = difference - np.clip(difference, -limit, limit)
                    if excess.any():
                        differences.append(_Difference(order, _EXCESS_WEIGHT * (excess != 0.0), excess))
        value = float(costs.cost.sum())
        value += 0.5 * _BARRIER_WEIGHT * float((np.maximum(near.missing, 0.0) ** 2).sum())
        value += 0.5 * float((stays[..., None] * np.diff(costs.feet, axis=0) ** 2).sum())
        value += sum(0.5 * float((weight * residual**2).sum()) for _, weight, residual in differences)
        return _Evaluated(q, costs, stays, differences, near, value)

    now, damping = evaluate(q.copy()), least_damping
    for _ in range(rounds):
        step = _find_step(problem, now, fixed, damping)
        largest = float(np.abs(step).max())
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
        fraction = 1.0
        trial = evaluate(step_from(problem, now.q, step))
        while trial.value >= now.value and fraction > 0.5**_HALVINGS:
            fraction *= 0.5
            trial = evaluate(step_from(problem, now.q, fraction * step))
        if trial.value >= now.value:
            if damping > _MOST_DAMPING:
                break
            damping *= 100.0
            continue
        damping = max(least_damping, 0.3 * damping) if fraction == 1.0 else 10.0 * damping
        before, now = now.value, trial
        if fraction * largest < _CONVERGED or before - now.value < _IMPROVED * before:
            break
    return now.q


def _find_step(problem: ImitationProblem, now: _Evaluated, fixed: NDArray[np.bool_], damping: float) -> Array:
    """Solve the linearised problem for the step (T, nv) of all coordinates.

    The normal equations are banded: entry (i, j) of the lower triangle stands in `band[i - j, j]`. Which
    barriers act is found by solving again with those that the last step would pass.
    """
    near, (count, nv) = now.near, now.costs.gradient.shape
    hessian, gradient, band = _assemble(now)
    start = nv * np.arange(count)
    row, column = np.divmod(np.arange(nv * nv), nv)
    lower_row, lower_column = row[row >= column], column[row >= column]
    # Frames at the beginning that stay are no unknowns.
    begin = nv * int(np.argmin(fixed))
    following = np.minimum(near.frames + 1, count - 1)
    joints = now.q[:, 7 + problem.body.joints]
    at_lower, at_upper = joints <= problem.lower, joints >= problem.upper
    active = near.missing > 0.0
    pinned, goal = np.zeros((count, nv), dtype=bool), np.zeros((count, nv))
    for _ in range(_ACTIVE_SETS):
        matrix, slope, solved = hessian.copy(), gradient.copy(), band.copy()
        if active.any():
            rows, at, after = near.jacobian[active], near.frames[active], following[active]
            share = near.share[active, None]
            push = _BARRIER_WEIGHT * near.missing[active, None] * rows
            square = _BARRIER_WEIGHT * rows[:, :, None] * rows[:, None, :]
            shared = np.zeros_like(matrix)
            for frame, part in ((at, 1.0 - share), (after, share)):
                _add_by_frame(slope, frame, -part * push)
                _add_by_frame(matrix, frame, part[..., None] ** 2 * square)
            if count > 1:
                _add_by_frame(shared, at, (share * (1.0 - share))[..., None] * square)
                blocks = shared[:-1].reshape(count - 1, -1).T
                solved[(nv + row - column)[:, None], column[:, None] + start[:-1]] += blocks
        held = np.zeros((count, nv), dtype=bool)
        held[:, 6:] = (at_lower & (slope[:, 6:] > 0.0)) | (at_upper & (slope[:, 6:] < 0.0))
        held |= pinned
        held[fixed] = True
        held[:, :6] |= not problem.root_moves
        solved[(lower_row - lower_column)[:, None], lower_column[:, None] + start] += matrix[
            :, lower_row, lower_column
        ].T
        solved[0] += damping + _HOLD * held.ravel()
        right = np.where(held, _HOLD * goal, -slope).ravel()
        solved = solved[: len(right) - begin, begin:]
        factor = cholesky_banded(solved, overwrite_ab=True, lower=True, check_finite=False)
        found = cho_solve_banded((factor, True), right[begin:], overwrite_b=True, check_finite=False)
        step = np.concatenate([np.zeros(begin), found]).reshape(count, nv)
        # What would pass a limit goes up to it, and the other joints make up for the rest.
        reached = joints + step[:, 6:]
        room = np.clip(reached, problem.lower, problem.upper)
        beyond = np.zeros_like(pinned)
        beyond[:, 6:] = (np.abs(reached - room) > _PASSED) & ~held[:, 6:]
        goal[:, 6:] = np.where(beyond[:, 6:], room - joints, goal[:, 6:])
        pinned |= beyond
        # A barrier acts if it would be passed with this step; one that would pull does not.
        if len(near.frames):
            share = near.share[:, None]
            moved = (1.0 - share) * step[near.frames] + share * step[following]
            passed = near.missing - (near.jacobian * moved).sum(axis=1) > 0.0
            if (passed == active).all() and not beyond.any():
                break
            active = passed
        elif not beyond.any():
            break
    return step


def _assemble(now: _Evaluated) -> tuple[Array, Array, Array]:
    """Assemble the Gauss-Newton matrix but for barriers: blocks of the frames, gradient, and bands beside."""
    costs, (count, nv) = now.costs, now.costs.gradient.shape
    hessian, gradient = costs.hessian.copy(), costs.gradient.copy()
    width = min(3 * nv, count * nv - 1)
    band = np.zeros((width + 1, count * nv))
    if count > 1:
        row, column = np.divmod(np.arange(nv * nv), nv)
        feet = costs.foot_jacobian.reshape(count, -1, nv)
        weight = np.repeat(now.stays.reshape(count - 1, -1), 2, axis=1)
        slide = weight * np.diff(costs.feet.reshape(count, -1), axis=0)
        after, before = feet[1:].transpose(0, 2, 1), feet[:-1].transpose(0, 2, 1)
        gradient[1:] += (after @ slide[..., None])[..., 0]
        gradient[:-1] -= (before @ slide[..., None])[..., 0]
        hessian[1:] += after @ (weight[..., None] * feet[1:])
        weighted = weight[..., None] * feet[:-1]
        hessian[:-1] += before @ weighted
        beside = -(after @ weighted).reshape(count - 1, -1)
        band[(nv + row - column)[:, None], column[:, None] + nv * np.arange(count - 1)] = beside.T
    bands = band.reshape(width + 1, count, nv)
    for order, weight, residual in now.differences:
        factors = _DIFFERENCES[order]
        for k, factor in enumerate(factors):
            gradient[k : count - order + k] += factor * weight * residual
            for j in range(k, order + 1):
                bands[(j - k) * nv, k : count - order + k] += factor * factors[j] * weight
    return hessian, gradient, band


def _add_by_frame(total: Array, frames: NDArray[np.int64], values: Array) -> None:
    """Add values (K, ...) to the frames of a total (T, ...), those of the same frame together."""
    order = np.argsort(frames, kind="stable")
    of_frame = frames[order]
    first = np.flatnonzero(np.diff(of_frame, prepend=-1))
    total[of_frame[first]] += np.add.reduceat(values[order], first, axis=0)
