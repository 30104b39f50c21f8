"""Inverse kinematics with criteria: single laws, the weighted law, and whole motions by it."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import (
    SkillBody,
    add_clavicle_jacobian,
    compute_hand_jacobian,
    compute_inertia_matrix,
    compute_inertial_coupling,
    compute_joint_limit_stiffness,
    compute_point_position,
    update_body_poses,
)
from simbench.kinematics.redundancy_criteria import (
    CRITERIA,
    BodyState,
    Criterion,
    Quadratic,
    compute_weighted_sum,
    manipulability,
    shift_to_habit,
)
from simbench.kinematics.redundancy_law import (
    TOLERANCE,
    LawConstants,
    Scratch,
    apply_prescribed,
    make_scratch,
    roll_out,
    take_step,
)
from simbench.kinematics.redundancy_step import (
    StepProblem,
    make_step_factors,
    manipulability_gradient,
    solve_step,
)
from simbench.kinematics.task_matrix import make_workspace
from simbench.skills.person.task_motion import TaskMotion

_SUM_TOLERANCE = 1e-6


def observe(body: SkillBody, constants: LawConstants, q: Array, scratch: Scratch | None = None) -> BodyState:
    """Compute what criteria look at.

    `body`: body that moves. `constants`: numbers of the law. `q` (n,): all coordinates, rad or m. `scratch`:
    memory to be used again; its bodies are at q afterwards, the `columns` of its problem are the Jacobian's.
    Its `prescribed_step` says how the prescribed coordinates have moved, its `habit_step` how the habit would
    move the others; both are 0 by default. Returns state before the step.
    """
    scratch = make_scratch(body) if scratch is None else scratch
    inertia, columns = scratch.state.inertia, scratch.problem.columns
    update_body_poses(body, q, scratch.work)
    compute_inertia_matrix(body, scratch.work, inertia)
    compute_hand_jacobian(body, scratch.work, body.resolved, columns)
    compute_hand_jacobian(body, scratch.work, body.manipulating, scratch.manipulating_columns)
    manipulability_gradient(scratch.manipulating_columns, scratch.manipulating_gradient)
    add_clavicle_jacobian(body, scratch.work, q, columns)
    compute_joint_limit_stiffness(body.anatomy, q, scratch.stiffness)
    effort_coupling, ergonomic_coupling = np.empty(len(body.resolved)), np.empty(len(body.resolved))
    effort = scratch.stiffness * scratch.prescribed_step / constants.period
    offset = q - scratch.prescribed_step - body.ergonomic
    effort[body.resolved], offset[body.resolved] = 0.0, 0.0
    offset[body.anatomy.clavicles[:, :2].ravel()] = 0.0
    compute_inertial_coupling(body, scratch.work, effort, effort_coupling)
    compute_inertial_coupling(body, scratch.work, offset, ergonomic_coupling)
    stiffness = scratch.stiffness[body.resolved]
    return BodyState(
        q=q[body.resolved],
        inertia=inertia.copy(),
        stiffness=stiffness,
        effort_coupling=stiffness * effort_coupling,
        ergonomic_coupling=ergonomic_coupling,
        habit_speed=scratch.habit_step[body.resolved] / constants.period,
        jacobian=columns.T.copy(),
        gradient=scratch.manipulating_gradient[np.isin(body.manipulating, body.resolved)],
        period=constants.period,
        gain=constants.gain,
    )


def velocity_law(state: BodyState, twist: Array) -> Array:
    """Compute J⁺Ẋ, the law of least joint velocity (Tomić 2018, §4.2.4).

    `state`: state before the step; `twist` (6 h,): velocities Ẋ of the hands, m/s and rad/s, world axes.
    Returns (r,): joint speeds, rad/s or m/s.
    """
    return np.asarray(np.linalg.pinv(state.jacobian) @ twist)


def energy_law(state: BodyState, twist: Array) -> Array:
    """Compute J_A⁺Ẋ with J_A⁺ = A⁻¹Jᵀ(JA⁻¹Jᵀ)⁻¹, the law of least kinetic energy (§4.2.4).

    `state`: state before the step; `twist` (6 h,): velocities Ẋ of the hands, m/s and rad/s, world axes.
    Returns (r,): joint speeds, rad/s or m/s.
    """
    return np.asarray(_invert_by_inertia(state) @ twist)


def ergonomics_law(body: SkillBody, state: BodyState, twist: Array) -> Array:
    """Compute J_A⁺Ẋ − (1/Δt)(I − J_A⁺J)(q(t − Δt) − q_erg), the law of ergonomics (§4.2.4).

    `body`: gives the ergonomic posture q_erg; `state`: state before the step; `twist` (6 h,): velocities Ẋ of
    the hands, m/s and rad/s, world axes. Returns (r,): joint speeds, rad/s or m/s.
    """
    inverse = _invert_by_inertia(state)
    away = (state.q - body.ergonomic[body.resolved]) / state.period
    return np.asarray(inverse @ (twist + state.jacobian @ away) - away)


def manipulability_law(body: SkillBody, state: BodyState, twist: Array) -> Array:
    """Compute J⁺Ẋ + β(I − J⁺J)ω with β = p, the law of manipulability (§4.2.4).

    `body`: body that moves; `state`: state before the step; `twist` (6 h,): velocities Ẋ of the hands, m/s
    and rad/s, world axes. Returns (r,): joint speeds, rad/s or m/s.
    """
    push = -manipulability(body, state).linear
    inverse = np.linalg.pinv(state.jacobian)
    return np.asarray(inverse @ (twist - state.jacobian @ push) + push)


def weighted_law(objective: Quadratic, jacobian: Array, twist: Array) -> Array:
    """Find the joint speeds with the least Φ of those that move the hands as asked (eq. 4.23).

    q̇ = K(Jᵀ(JKJᵀ)⁻¹(Ẋ + JKb) − b), K = W⁻¹. `objective`: Φ, from `compute_weighted_sum`; `jacobian` (6 h,
    r): J: velocity and angular velocity of each hand per unit of joint speed, world axes; `twist` (6 h,):
    velocities Ẋ of the hands, m/s and rad/s, world axes. Returns (r,): joint speeds, rad/s or m/s.
    """
    rows, size = jacobian.shape
    unbounded, speed = np.full(size, np.inf), np.zeros(size)
    problem = StepProblem(
        weight=np.ascontiguousarray(objective.weight),
        linear_term=-objective.linear,
        columns=np.ascontiguousarray(jacobian.T),
        error=np.ascontiguousarray(twist),
        lower=-unbounded,
        upper=unbounded,
    )
    locked = np.zeros(size, dtype=np.bool_)
    if not solve_step(problem, np.inf, False, locked, speed, make_step_factors(size, rows)):
        raise SkillError("the weighted law has no solution: its weight matrix or the Jacobian is singular")
    return speed


def follow_path(task: TaskMotion, weights: ArrayLike, criteria: Mapping[str, Criterion] = CRITERIA) -> Array:
    """Move as the weighted law does, hands on the recorded path.

    `task`: gives the body, the start and the path of the hands. `weights` (c,) _like: k of each criterion:
    not negative, sum 1. `criteria`: criteria by name. The four of the thesis run compiled; with others a step
    takes ten times as long. Returns (T, n): coordinates named `task.names`; the hands are within 1e-7 m and
    rad of their path.
    """
    k = check_weights(weights, len(criteria))[0]
    motion = np.empty((len(task.time), len(task.names)))
    if dict(criteria) == CRITERIA:
        reached = roll_out(task.body, task.path, task.constants, k, make_scratch(task.body), motion)
    else:
        reached = _roll_out_criteria(task, k, list(criteria.values()), motion)
    if reached < len(motion):
        raise SkillError(
            f"{task.source}: at {task.time[reached]:.2f} s the hands cannot follow their path from the "
            f"posture that weights {k.round(4).tolist()} of {', '.join(criteria)} have led to"
        )
    return motion


def generate_motion(task: TaskMotion, weights: ArrayLike) -> TaskMotion:
    """Let the weighted law perform a recorded task, and take that for the recording.

    Inverse optimal control of such a motion has to find its weights again. `task`: gives the body, the start
    and the path of the hands; `weights` (4,) _like: k of energy, velocity, ergonomy, manipulability. Returns
    its shoulders and elbows are where the law has them, so that these weights have fitness 0. Raises
    SkillError the weights are not of this form, or the hands cannot go on.
    """
    motion = follow_path(task, weights)
    points = place_points(task, motion)
    return replace(task, path=task.path._replace(points=points), imitated=motion, source="law")


def place_points(task: TaskMotion, motion: Array) -> Array:
    """Compute where a motion has the body's shoulders and elbows.

    `task`: gives the body; `motion` (T, n): all coordinates, rad or m. Returns (T, P, 3): positions of its
    points in the world, m.
    """
    body = task.body
    work, points = make_workspace(body.tree), np.empty_like(task.path.points)
    for q, positions in zip(motion, points, strict=True):
        update_body_poses(body, q, work)
        for p, position in enumerate(positions):
            compute_point_position(work, body.point_body[p], body.point[p], position)
    return points


def check_weights(weights: ArrayLike, count: int) -> Array:
    """Check weights of criteria and make them a matrix.

    `weights` (m, count) or (count,) array_like: k of each criterion: not negative, sum 1; `count`: number of
    criteria. Returns (m, count): the weights, one law a row.
    """
    k = np.atleast_2d(np.asarray(weights, dtype=float))
    # Comparisons with NaN are false.
    shaped = k.ndim == 2 and k.shape[1] == count
    if not shaped or not ((k >= 0.0).all() and (abs(k.sum(1) - 1.0) < _SUM_TOLERANCE).all()):
        raise SkillError(
            f"weights {k.tolist()}: must be {count} numbers for each law, not negative, that add up to 1"
        )
    return k


def _roll_out_criteria(task: TaskMotion, weights: Array, criteria: list[Criterion], motion: Array) -> int:
    """Follow the path by any criteria; return the number of samples reached."""
    body, path, constants = task.body, task.path, task.constants
    scratch, q = make_scratch(body), path.start.copy()
    update_body_poses(body, q, scratch.work)
    motion[0] = q
    for t in range(1, len(motion)):
        apply_prescribed(body, path, constants, t, q, scratch)
        state = observe(body, constants, q, scratch)
        forms = [criterion(body, state) for criterion in criteria]
        objective = shift_to_habit(compute_weighted_sum(forms, weights), state)
        scratch.problem.weight[:] = objective.weight
        scratch.problem.linear_term[:] = -constants.period * objective.linear
        left = take_step(body, constants, path.hand_rotation[t], path.hand_position[t], q, scratch)
        if not left <= TOLERANCE:
            return t
        motion[t] = q
    return len(motion)


def _invert_by_inertia(state: BodyState) -> Array:
    """Pseudo-inverse J_A⁺ (r, 6 h) of the Jacobian, weighted by the inertia matrix."""
    spread = np.linalg.solve(state.inertia, state.jacobian.T)
    return np.asarray(spread @ np.linalg.inv(state.jacobian @ spread))
