"""All frames of a clip as one problem: a banded Gauss-Newton method inside the limits of the joints."""

from collections.abc import Callable
from dataclasses import dataclass

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

_DIFFERENCES = {1: (-1.0, 1.0), 2: (1.0, -2.0, 1.0), 3: (-1.0, 3.0, -3.0, 1.0)}
"""Coefficients of the differences of samples, by order."""
_ROOT_LENGTH = 0.3
"""Translation of the root that counts as much as a turn by 1 rad, m."""
_HOLD = 1e8
"""Weight that keeps a coordinate where it is."""
_EXCESS_WEIGHT = 100.0
"""Weight of the squared excess of a step between samples over a limit, 1/rad²."""
_BARRIER_WEIGHT = 3e4
"""Weight of the squared distance by which links are too near, 1/m²."""
_LONGEST_STEP = 0.4
"""Largest change of a coordinate in an iteration, rad or m."""
_CONVERGED, _IMPROVED = 2e-4, 5e-4
"""Step, rad or m, and relative decrease of the cost below which the iteration ends."""
_HALVINGS, _ACTIVE_SETS = 3, 4
"""Most halvings of a step, and most changes of the set of barriers that act in an iteration."""
_DAMPING, _MOST_DAMPING = 1e-5, 0.1
"""Least and most Levenberg damping; it grows where a whole step does not lower the cost."""


def no_barriers(q: Array) -> BarrierRows:
    """Let nothing be too near."""
    return BarrierRows(np.empty(0, dtype=np.int64), np.empty(0), np.empty((0, 1)), np.empty(0))


@dataclass(frozen=True)
class Coupling:
    """How the frames of a clip are coupled.

    Parameters
    ----------
    time_constant : float
        τ of the cost ½ ‖τ³ d³q/dt³‖² of each frame, s; root translations count in units of 0.3 m.
    slide_weight : float
        Weight of the squared displacement of a standing heel or toe from frame to frame, 1/m².
    speed, acceleration : (nv,) array
        Limits of the coordinates, 1/s and 1/s²; infinite where there is none.
    """

    time_constant: float
    slide_weight: float
    speed: Array
    acceleration: Array


def solve_clip(
    problem: ImitationProblem,
    q: Array,
    frames: slice,
    coupling: Coupling,
    *,
    fixed: NDArray[np.bool_] | None = None,
    rounds: int = 30,
    barriers: Callable[[Array], BarrierRows] = lambda q: no_barriers(q),
) -> Array:
    """Find the motion of least cost in all frames together.

    ½ Σ (costs of the frames) + ½ Σ ‖τ³ Δ³q/Δt³‖² + ½ w Σ ‖displacement of standing heels and toes‖², with squared
    penalties of speeds and accelerations over their limits and of links that are too near, inside the joint
    limits. Each iteration solves the linearised problem by a banded Cholesky factorisation; coordinates at a
    limit that the cost pushes out are held there.

    Parameters
    ----------
    problem : ImitationProblem
        Body and targets.
    q : (T, 7 + n) array
        First guess.
    frames : slice
        The T frames of the targets.
    coupling : Coupling
        Coupling of the frames.
    fixed : (T,) bool array, optional
        Frames that stay as they are.
    rounds : int
        Largest number of iterations.
    barriers : callable, optional
        Finds the links that are too near in configurations (T, 7 + n).

    Returns
    -------
    (T, 7 + n) array
        The motion.
    """
    count, nv = len(q), problem.nv
    time = problem.targets.time[frames]
    interval = (time[-1] - time[0]) / (count - 1) if count > 1 else 1.0
    jerk_weight = np.full(nv, (coupling.time_constant / interval) ** 6)
    jerk_weight[:3] /= _ROOT_LENGTH**2
    limits = ((1, coupling.speed * interval), (2, coupling.acceleration * interval**2))
    contact = problem.targets.contact[frames]
    stays = (contact[1:] & contact[:-1]).astype(float) * coupling.slide_weight
    columns = 7 + problem.body.joints
    diagonal, row, column = np.arange(nv), *np.divmod(np.arange(nv * nv), nv)
    lower_row, lower_column = np.tril_indices(nv)
    start = nv * np.arange(count)

    def differences(moved: Array) -> list[tuple[int, Array, Array]]:
        """Coupled differences as (order, weight, residual), each (T - order, nv)."""
        found = []
        steps = increments(problem, moved)
        if count > 3:
            jerk = np.diff(steps, n=2, axis=0)
            found.append((3, np.broadcast_to(jerk_weight, jerk.shape), jerk))
        for order, limit in limits:
            if count > order:
                difference = np.diff(steps, n=order - 1, axis=0)
                excess = difference - np.clip(difference, -limit, limit)
                if excess.any():
                    found.append((order, _EXCESS_WEIGHT * (excess != 0.0), excess))
        return found

    def total(costs: FrameCosts, coupled: list[tuple[int, Array, Array]], near: BarrierRows) -> float:
        """Cost of everything."""
        value = float(costs.cost.sum())
        value += 0.5 * _BARRIER_WEIGHT * float((np.maximum(near.missing, 0.0) ** 2).sum())
        if count > 1:
            value += 0.5 * float((stays[..., None] * np.diff(costs.feet, axis=0) ** 2).sum())
        return value + sum(0.5 * float((weight * residual**2).sum()) for _, weight, residual in coupled)

    q = q.copy()
    fixed = np.zeros(count, dtype=bool) if fixed is None else fixed
    moving = np.ix_(~fixed, columns)
    q[moving] = np.clip(q[moving], problem.lower, problem.upper)
    costs, coupled, near = frame_costs(problem, q, frames), differences(q), barriers(q)
    value, damping = total(costs, coupled, near), _DAMPING
    for _ in range(rounds):
        hessian, gradient = costs.hessian.copy(), costs.gradient.copy()
        # Bands of the lower triangle: band[i - j, j] is the entry of row i and column j.
        width = nv - 1 + nv * min(count - 1, 1) if count < 4 else 3 * nv
        band = np.zeros((width + 1, count * nv))
        if count > 1:
            feet = costs.foot_jacobian.reshape(count, -1, nv)
            weight = np.repeat(stays.reshape(count - 1, -1), 2, axis=1)
            slide = weight * np.diff(costs.feet.reshape(count, -1), axis=0)
            after, before = feet[1:].transpose(0, 2, 1), feet[:-1].transpose(0, 2, 1)
            gradient[1:] += (after @ slide[..., None])[..., 0]
            gradient[:-1] -= (before @ slide[..., None])[..., 0]
            hessian[1:] += after @ (weight[..., None] * feet[1:])
            weighted = weight[..., None] * feet[:-1]
            hessian[:-1] += before @ weighted
            beside = -(after @ weighted).reshape(count - 1, -1)
            band[(nv + row - column)[:, None], column[:, None] + start[:-1]] = beside.T
        bands = band.reshape(width + 1, count, nv)
        for order, weight, residual in coupled:
            factors = _DIFFERENCES[order]
            for k, factor in enumerate(factors):
                gradient[k : count - order + k] += factor * weight * residual
                for j in range(k, order + 1):
                    if j - k < 2 or count > 3:
                        bands[(j - k) * nv, k : count - order + k] += factor * factors[j] * weight
        bands[0] += damping
        joints = q[:, columns]
        active = near.missing > 0.0
        for _ in range(_ACTIVE_SETS):
            matrix, slope, solved = hessian.copy(), gradient.copy(), band.copy()
            if active.any():
                rows, at, share = near.jacobian[active], near.frames[active], near.share[active, None]
                following = np.minimum(at + 1, count - 1)
                push = _BARRIER_WEIGHT * near.missing[active, None] * rows
                square = _BARRIER_WEIGHT * rows[:, :, None] * rows[:, None, :]
                for frame, part in ((at, 1.0 - share), (following, share)):
                    _add_by_frame(slope, frame, -part * push)
                    _add_by_frame(matrix, frame, part[..., None] ** 2 * square)
                if count > 1:
                    shared = np.zeros((count, nv, nv))
                    _add_by_frame(shared, at, (share * (1.0 - share))[..., None] * square)
                    blocks = shared[:-1].reshape(count - 1, -1).T
                    solved[(nv + row - column)[:, None], column[:, None] + start[:-1]] += blocks
            held = np.zeros((count, nv), dtype=bool)
            held[:, 6:] = ((joints <= problem.lower) & (slope[:, 6:] > 0.0)) | (
                (joints >= problem.upper) & (slope[:, 6:] < 0.0)
            )
            held[fixed] = True
            held[:, :6] |= not problem.root_moves
            matrix[:, diagonal, diagonal] += _HOLD * held
            solved[(lower_row - lower_column)[:, None], lower_column[:, None] + start] += matrix[
                :, lower_row, lower_column
            ].T
            right = np.where(held, 0.0, -slope).ravel()
            factorised = (cholesky_banded(solved, overwrite_ab=True, lower=True, check_finite=False), True)
            step = cho_solve_banded(factorised, right, overwrite_b=True, check_finite=False).reshape(
                count, nv
            )
            # A barrier acts if it would be passed with this step; one that would pull does not.
            predicted = near.missing
            if len(near.frames):
                following = np.minimum(near.frames + 1, count - 1)
                moved = (1.0 - near.share[:, None]) * step[near.frames] + near.share[:, None] * step[
                    following
                ]
                predicted = near.missing - (near.jacobian * moved).sum(axis=1)
            if ((predicted > 0.0) == active).all():
                break
            active = predicted > 0.0
        largest = float(np.abs(step).max())
        step *= np.minimum(1.0, _LONGEST_STEP / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
        fraction = 1.0
        for _ in range(_HALVINGS):
            trial = step_from(problem, q, fraction * step)
            trial[moving] = np.clip(trial[moving], problem.lower, problem.upper)
            trial_costs, trial_coupled = frame_costs(problem, trial, frames), differences(trial)
            trial_near = barriers(trial)
            trial_value = total(trial_costs, trial_coupled, trial_near)
            if trial_value < value:
                break
            fraction *= 0.5
        else:
            if damping > _MOST_DAMPING:
                break
            damping *= 100.0
            continue
        damping = max(_DAMPING, 0.3 * damping) if fraction == 1.0 else 10.0 * damping
        before, value = value, trial_value
        q, costs, coupled, near = trial, trial_costs, trial_coupled, trial_near
        if fraction * largest < _CONVERGED or before - value < _IMPROVED * value:
            break
    return q


def _add_by_frame(total: Array, frames: NDArray[np.int64], values: Array) -> None:
    """Add values (K, ...) to the frames of a total (T, ...), those of the same frame together."""
    order = np.argsort(frames, kind="stable")
    sorted_frames = frames[order]
    first = np.flatnonzero(np.diff(sorted_frames, prepend=-1))
    total[sorted_frames[first]] += np.add.reduceat(values[order], first, axis=0)
