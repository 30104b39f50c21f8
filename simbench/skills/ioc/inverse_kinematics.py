"""Inverse kinematics with criteria: single laws, the weighted law, and whole motions by it."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.manipulability import manipulability_gradient
from simbench.kinematics.redundancy.anatomy import reluctance
from simbench.kinematics.redundancy.body import (
    SkillBody,
    add_girdle,
    carried_along,
    hand_columns,
    inertia_of,
    stand,
)
from simbench.kinematics.redundancy.criteria import (
    CRITERIA,
    Criterion,
    Quadratic,
    State,
    from_habit,
    manipulability,
    weighted_sum,
)
from simbench.kinematics.redundancy.objective import Constants, Scratch, make_scratch
from simbench.kinematics.redundancy.resolve import make_factors, resolve
from simbench.kinematics.redundancy.rollout import TOLERANCE, advance, roll, tell
from simbench.skills.person.task_motion import TaskMotion

_SUM = 1e-6


def observe(body: SkillBody, constants: Constants, q: Array, scratch: Scratch | None = None) -> State:
    """Compute what criteria look at.

    Parameters
    ----------
    body : SkillBody
    constants : Constants
    q : (n,) array
        All coordinates.
    scratch : Scratch, optional
        To be used again; its bodies stand at q afterwards, its `columns` are the Jacobian's. `told` holds
        how the told coordinates have moved, `back` how the habit would move the others, 0 by default.

    Returns
    -------
    State
    """
    scratch = make_scratch(body) if scratch is None else scratch
    stand(body, q, scratch.work)
    inertia_of(body, scratch.work, scratch.inertia)
    hand_columns(body, scratch.work, body.resolved, scratch.columns)
    hand_columns(body, scratch.work, body.reaching, scratch.wide)
    manipulability_gradient(scratch.wide, scratch.gradient)
    add_girdle(body, scratch.work, q, scratch.columns)
    reluctance(body.anatomy, q, scratch.scale)
    carried, pulled = np.empty(len(body.resolved)), np.empty(len(body.resolved))
    effort = scratch.scale * scratch.told / constants.period
    away = q - scratch.told - body.ergonomic
    effort[body.resolved], away[body.resolved] = 0.0, 0.0
    away[body.anatomy.girdle[:, :2].ravel()] = 0.0
    carried_along(body, scratch.work, effort, carried)
    carried_along(body, scratch.work, away, pulled)
    near = scratch.scale[body.resolved]
    return State(
        q[body.resolved],
        scratch.inertia.copy(),
        near,
        near * carried,
        pulled,
        scratch.back[body.resolved] / constants.period,
        scratch.columns.T.copy(),
        scratch.gradient[np.isin(body.reaching, body.resolved)],
        constants.period,
        constants.gain,
    )


def velocity_law(state: State, twist: Array) -> Array:
    """J⁺Ẋ (Tomić 2018, §4.2.4): joint speeds (r,) for the hands' twists (6 h,)."""
    return np.asarray(np.linalg.pinv(state.jacobian) @ twist)


def energy_law(state: State, twist: Array) -> Array:
    """J_A⁺Ẋ with J_A⁺ = A⁻¹Jᵀ(JA⁻¹Jᵀ)⁻¹ (§4.2.4): joint speeds (r,)."""
    return np.asarray(_inertia_inverse(state) @ twist)


def ergonomy_law(body: SkillBody, state: State, twist: Array) -> Array:
    """J_A⁺Ẋ − (1/Δt)(I − J_A⁺J)(q(t − Δt) − q_erg) (§4.2.4): joint speeds (r,)."""
    inverse = _inertia_inverse(state)
    away = (state.q - body.ergonomic[body.resolved]) / state.period
    return np.asarray(inverse @ (twist + state.jacobian @ away) - away)


def manipulability_law(body: SkillBody, state: State, twist: Array) -> Array:
    """J⁺Ẋ + β(I − J⁺J)ω with β = p (§4.2.4): joint speeds (r,)."""
    push = -manipulability(body, state).linear
    inverse = np.linalg.pinv(state.jacobian)
    return np.asarray(inverse @ (twist - state.jacobian @ push) + push)


def weighted_law(objective: Quadratic, jacobian: Array, twist: Array) -> Array:
    """Find the joint speeds with the least Φ of those that move the hands as asked (eq. 4.23).

    q̇ = K(Jᵀ(JKJᵀ)⁻¹(Ẋ + JKb) − b), K = W⁻¹.

    Parameters
    ----------
    objective : Quadratic
        Φ, from `weighted_sum`.
    jacobian : (6 h, r) array
    twist : (6 h,) array
        Ẋ, m/s and rad/s.

    Returns
    -------
    (r,) array
        rad/s and m/s.

    Raises
    ------
    SkillError
        W or J is singular.
    """
    rows, size = jacobian.shape
    free, move = np.full(size, np.inf), np.zeros(size)
    solved = resolve(
        np.ascontiguousarray(objective.weight),
        -objective.linear,
        np.ascontiguousarray(jacobian.T),
        np.ascontiguousarray(twist),
        -free,
        free,
        np.inf,
        np.zeros(size, dtype=np.bool_),
        move,
        make_factors(size, rows),
        False,
    )
    if not solved:
        raise SkillError("the weighted law has no solution: its weight matrix or the Jacobian is singular")
    return move


def follow_path(task: TaskMotion, weights: ArrayLike, criteria: Mapping[str, Criterion] = CRITERIA) -> Array:
    """Move as the weighted law does, hands on the recorded path.

    Parameters
    ----------
    task : TaskMotion
    weights : (c,) array_like
        k of each criterion: not negative, sum 1.
    criteria : mapping of str to Criterion
        The four of the thesis run compiled; with others a step takes ten times as long.

    Returns
    -------
    (T, n) array
        Coordinates named `task.names`; the hands are within 1e-7 m and rad of their path.

    Raises
    ------
    SkillError
        Weights are not such, or the hands cannot go on.
    """
    k = checked_weights(weights, len(criteria))[0]
    motion = np.empty((len(task.time), len(task.names)))
    if dict(criteria) == CRITERIA:
        reached = roll(task.body, task.path, task.constants, k, make_scratch(task.body), motion)
    else:
        reached = _roll_with(task, k, list(criteria.values()), motion)
    if reached < len(motion):
        raise SkillError(
            f"{task.source}: at {task.time[reached]:.2f} s the hands cannot follow their path from the "
            f"posture that weights {k.round(4).tolist()} of {', '.join(criteria)} have led to"
        )
    return motion


def checked_weights(weights: ArrayLike, count: int) -> Array:
    """Weights as an (m, count) array.

    Raises
    ------
    SkillError
        They are not `count` numbers each, or negative, or do not add up to 1.
    """
    k = np.atleast_2d(np.asarray(weights, dtype=float))
    # Comparisons with NaN are false.
    if k.ndim != 2 or k.shape[1] != count or not ((k >= 0.0).all() and (abs(k.sum(1) - 1.0) < _SUM).all()):
        raise SkillError(
            f"weights {k.tolist()}: must be {count} numbers for each law, not negative, that add up to 1"
        )
    return k


def _roll_with(task: TaskMotion, weights: Array, criteria: list[Criterion], motion: Array) -> int:
    """Follow the path by any criteria; the number of samples reached."""
    body, path, constants = task.body, task.path, task.constants
    scratch, q = make_scratch(body), path.start.copy()
    stand(body, q, scratch.work)
    motion[0] = q
    for t in range(1, len(motion)):
        tell(body, path, constants, t, q, scratch)
        state = observe(body, constants, q, scratch)
        forms = [criterion(body, state) for criterion in criteria]
        objective = from_habit(weighted_sum(forms, weights), state)
        scratch.weight[:] = objective.weight
        scratch.wish[:] = -constants.period * objective.linear
        left = advance(body, constants, path.hand_rotation[t], path.hand_position[t], q, scratch)
        if not left <= TOLERANCE:
            return t
        motion[t] = q
    return len(motion)


def _inertia_inverse(state: State) -> Array:
    """J_A⁺ (r, 6 h)."""
    spread = np.linalg.solve(state.inertia, state.jacobian.T)
    return np.asarray(spread @ np.linalg.inv(state.jacobian @ spread))
