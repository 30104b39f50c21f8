"""Motion by the weighted law, compiled: the hands keep their path, the four criteria choose the joints.

`set_step_problem` writes the objective of a step, W and w of equation 4.23, and the hands' Jacobian;
`roll_out` follows a whole path.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.redundancy_body import (
    SkillBody,
    add_clavicle_jacobian,
    compute_hand_errors,
    compute_hand_jacobian,
    compute_inertia_matrix,
    compute_inertial_coupling,
    compute_joint_limit_stiffness,
    compute_point_position,
    compute_step_bounds,
    update_body_poses,
    update_clavicles,
)
from simbench.kinematics.redundancy_criteria import StepState
from simbench.kinematics.redundancy_step import (
    StepFactors,
    StepProblem,
    make_step_factors,
    make_step_problem,
    manipulability_gradient,
    solve_step,
)
from simbench.kinematics.task_matrix import Workspace, make_workspace
from simbench.kinematics.tree import joint_axes

ENERGY, VELOCITY, ERGONOMY, MANIPULABILITY = 0, 1, 2, 3  # Order of the weights: Tomić (2018), table 4.2.


TOLERANCE = 1e-7  # Largest distance of a hand from its path, m and rad.
_MAX_CORRECTIONS = 30
_SLOW = 0.2  # Corrections that leave more than this fraction of an error need a new Jacobian.


class TaskPath(NamedTuple):
    """What a law follows: paths of the hands and of the prescribed coordinates."""

    start: Array  # (n,): coordinates at sample 0, rad or m.
    # (T, n): values of the coordinates that the law does not resolve, rad or m; the others are not looked at.
    prescribed: Array
    # `hand_rotation`, `hand_position` (T, h, 3, 3), (T, h, 3) array: poses of the hands in the world,
    # positions in m.
    hand_rotation: Array
    hand_position: Array
    # (T, 4, 3): recorded positions of left shoulder, left elbow, right shoulder and right elbow in the world,
    # m.
    points: Array
    # (n,): posture that a person likes to return to, rad or m; looked at only if `LawConstants.habit` is not
    # 0.
    home: Array


class LawConstants(NamedTuple):
    """Numbers of the weighted law."""

    period: float  # Δt, s.
    gain: float  # p of the manipulability criterion.
    # Speed, rad/s and m/s, up to which coordinates move in the null space of the hands: the ergonomics
    # criterion would jump to its posture within one sample.
    fastest: float
    # Rate r at which a person returns to the posture the task was begun in, 1/s: all effort counts from q̇ =
    # r (q_home − q) on instead of from rest. Without it what resolves redundancy sample by sample drifts
    # away, and no criterion alone explains that people do not.
    habit: float = 0.0


class Scratch(NamedTuple):
    """Memory that a rollout writes to; allocated once, n coordinates of which r are resolved."""

    work: Workspace  # Poses of the bodies, twists of the joints, inertia matrix of all coordinates.
    problem: StepProblem  # Quadratic programme of the current step.
    factors: StepFactors  # Factors of its matrices.
    state: StepState  # Configuration and kinematics that the criteria depend on.
    # (s, 6 h): Jacobian, transposed, of the coordinates `SkillBody.manipulating`.
    manipulating_columns: Array
    manipulating_gradient: Array  # (s,): gradient of det(JJᵀ) by these coordinates.
    # (n,): m_t, displacements of the prescribed coordinates in this step; 0 for the others.
    prescribed_step: Array
    habit_step: Array  # (n,): displacements towards the habitual posture; 0 for the prescribed coordinates.
    stiffness: Array  # (n,): s of all coordinates.
    coupled: Array  # (n,): vector that couples through the inertia matrix; 0 for the resolved coordinates.
    step: Array  # (r,): m, displacements of the resolved coordinates.
    locked: NDArray[np.bool_]  # (r,) bool: whether a resolved coordinate is at a bound.


def make_scratch(body: SkillBody) -> Scratch:
    """Allocate the memory that a rollout needs.

    `body`: gives the numbers of coordinates and hands. Returns no coordinate prescribed to move, none locked.
    """
    size, rows = len(body.resolved), 6 * len(body.hand_body)
    total, manipulating = len(body.tree.parent), len(body.manipulating)
    return Scratch(
        work=make_workspace(body.tree),
        problem=make_step_problem(size, rows),
        factors=make_step_factors(size, rows),
        state=StepState(np.zeros((size, size)), np.ones(size), *np.zeros((5, size))),
        manipulating_columns=np.zeros((manipulating, rows)),
        manipulating_gradient=np.zeros(manipulating),
        prescribed_step=np.zeros(total),
        habit_step=np.zeros(total),
        stiffness=np.ones(total),
        coupled=np.zeros(total),
        step=np.zeros(size),
        locked=np.zeros(size, dtype=np.bool_),
    )


@compiled
def set_objective(
    weights: Array, period: float, gain: float, state: StepState, weight: Array, linear_term: Array
) -> None:
    """Write W = K⁻¹ and w = −Δt b of equation 4.23, for displacements m = Δt q̇ of the resolved coordinates.

    W = S ((k_en + k_erg Δt²) A + (k_vel + k_man) I) S: joints near the ends of their ranges are s times as
    stiff. Effort counts from the habitual displacements v on:

    w = W v − W_rt m_t − k_erg Δt² A (q(t − Δt) − q_erg) + k_man Δt p ω,

    where the rows A_rt of the prescribed coordinates t enter the second and the third term. `weights` (4,): k
    of energy, velocity, ergonomy, manipulability; `gain`: p of the manipulability criterion; `state`:
    configuration and kinematics that the criteria depend on; `weight` (r, r): W; its lower triangle is
    overwritten; `linear_term` (r,): w, overwritten.
    """
    size = len(linear_term)
    inertia_weight = weights[ENERGY] + weights[ERGONOMY] * period * period
    unit_weight = weights[VELOCITY] + weights[MANIPULABILITY]
    for a in range(size):
        for b in range(a + 1):
            value = inertia_weight * state.inertia[a, b]
            if a == b:
                value += unit_weight
            weight[a, b] = value * state.stiffness[a] * state.stiffness[b]
    for a in range(size):
        linear_term[a] = 0.0
        for b in range(size):
            entry = weight[a, b] if a >= b else weight[b, a]
            linear_term[a] += entry * state.habit_step[b]
    pull = weights[ERGONOMY] * period * period
    push = weights[MANIPULABILITY] * period * gain
    for a in range(size):
        if inertia_weight != 0.0:
            linear_term[a] -= state.effort_coupling[a]
        if pull != 0.0:
            linear_term[a] -= state.ergonomic_coupling[a]
            for b in range(size):
                linear_term[a] -= state.inertia[a, b] * (pull * state.ergonomic_offset[b])
        if push != 0.0:
            linear_term[a] += push * state.gradient[a]


@compiled
def set_step_problem(
    body: SkillBody, constants: LawConstants, weights: Array, q: Array, scratch: Scratch
) -> None:
    """Write the objective of a step and the hands' Jacobian at a posture of a body.

    Φ is of all coordinates, the prescribed ones included: through A their displacements m_t and their
    distance from q_erg enter w. `body`: body that moves. `constants`: numbers of the law. `weights` (4,): k
    of energy, velocity, ergonomy, manipulability. `q` (n,): coordinates at which the bodies are, rad or m.
    `scratch`: after `apply_prescribed`: `prescribed_step` holds m_t and `habit_step` v. The `problem` gets
    its `weight`, `linear_term` and `columns`.
    """
    state, problem, period = scratch.state, scratch.problem, constants.period
    inertia_weight = weights[ENERGY] + weights[ERGONOMY] * period * period
    pull = weights[ERGONOMY] * period * period
    if inertia_weight != 0.0:
        compute_inertia_matrix(body, scratch.work, state.inertia)
    else:
        work = scratch.work
        joint_axes(body.tree, work.rotation, work.position, work.position[0], work.axes)
    compute_hand_jacobian(body, scratch.work, body.resolved, problem.columns)
    add_clavicle_jacobian(body, scratch.work, q, problem.columns)
    compute_joint_limit_stiffness(body.anatomy, q, scratch.stiffness)
    for a in range(len(body.resolved)):
        joint = body.resolved[a]
        state.stiffness[a] = scratch.stiffness[joint]
        state.habit_step[a] = scratch.habit_step[joint]
        state.ergonomic_offset[a] = q[joint] - body.ergonomic[joint]
    coupled = scratch.coupled
    if inertia_weight != 0.0:
        # W_rt m_t: what the displacements of the prescribed coordinates add to effort.
        for t in range(len(q)):
            coupled[t] = inertia_weight * scratch.stiffness[t] * scratch.prescribed_step[t]
        coupled[body.resolved] = 0.0
        compute_inertial_coupling(body, scratch.work, coupled, state.effort_coupling)
        for a in range(len(body.resolved)):
            state.effort_coupling[a] = scratch.stiffness[body.resolved[a]] * state.effort_coupling[a]
    if pull != 0.0:
        # The pull of the prescribed coordinates' distance from q_erg; the clavicles have no such place.
        for t in range(len(q)):
            coupled[t] = pull * (q[t] - scratch.prescribed_step[t] - body.ergonomic[t])
        coupled[body.resolved] = 0.0
        for g in range(len(body.anatomy.clavicles)):
            for k in body.anatomy.clavicles[g, :2]:
                coupled[k] = 0.0
        compute_inertial_coupling(body, scratch.work, coupled, state.ergonomic_coupling)
    if weights[MANIPULABILITY] != 0.0:
        compute_hand_jacobian(body, scratch.work, body.manipulating, scratch.manipulating_columns)
        manipulability_gradient(scratch.manipulating_columns, scratch.manipulating_gradient)
        a = 0
        for s in range(len(body.manipulating)):
            if a < len(body.resolved) and body.resolved[a] == body.manipulating[s]:
                state.gradient[a] = scratch.manipulating_gradient[s]
                a += 1
    set_objective(weights, period, constants.gain, state, problem.weight, problem.linear_term)


@compiled_entry("body.tree.parent (n), body.hand_body (h), rotation (h, 3, 3), position (h, 3), q (n)")
def take_step(
    body: SkillBody, constants: LawConstants, rotation: Array, position: Array, q: Array, scratch: Scratch
) -> float:
    """Take one step by the objective, in place, and bring the hands to their targets exactly.

    The first step is that of equation 4.23. The error it leaves, of second order, is corrected by Newton
    steps in which only the hands count. `body`: body that moves. `constants`: numbers of the law. `rotation`,
    `position` (h, 3, 3), (h, 3) array: target poses of the hands in the world, positions in m. `q` (n,):
    coordinates, rad or m; changed in place. The bodies' poses are those of q before and after. `scratch`:
    after `set_step_problem`. Returns largest error of the hands that is left, m or rad; infinite where the
    joints cannot do it.
    """
    s = scratch
    left = compute_hand_errors(body, s.work, rotation, position, s.problem.error)
    s.locked[:] = False
    reuse, max_nullspace_step = False, constants.fastest * constants.period
    stopping = body.anatomy.stopping_time
    fraction = constants.period / stopping if stopping > 0.0 else 1.0
    for _ in range(_MAX_CORRECTIONS):
        limits, bounds = (body.lower, body.upper), (s.problem.lower, s.problem.upper)
        compute_step_bounds(body.anatomy, limits, body.resolved, q, fraction, bounds)
        if not _solve(s, max_nullspace_step, reuse):
            # Limits leave too few joints for the whole objective: the hands come first.
            s.locked[:] = False
            if not _solve(s, 0.0, False):
                return np.inf
        for a in range(len(s.step)):
            q[body.resolved[a]] += s.step[a]
        update_clavicles(body.anatomy, q)
        update_body_poses(body, q, s.work)
        before, left = left, compute_hand_errors(body, s.work, rotation, position, s.problem.error)
        if left <= TOLERANCE:
            break
        # From here on only the hands count, by the same factors as long as these bring them nearer.
        reuse, max_nullspace_step, fraction = left <= _SLOW * before, 0.0, 1.0
        if not reuse:
            joint_axes(body.tree, s.work.rotation, s.work.position, s.work.position[0], s.work.axes)
            compute_hand_jacobian(body, s.work, body.resolved, s.problem.columns)
            add_clavicle_jacobian(body, s.work, q, s.problem.columns)
    return left


@compiled
def _solve(s: Scratch, max_nullspace_step: float, reuse_factors: bool) -> bool:
    """Solve for the step; coordinates that are locked already stay where they are."""
    for a in range(len(s.step)):
        if s.locked[a]:
            s.step[a] = 0.0
    return solve_step(s.problem, max_nullspace_step, reuse_factors, s.locked, s.step, s.factors)


@compiled_entry(
    "body.tree.parent (n), path.start (n), path.prescribed (T, n), body.hand_body (h), "
    "path.hand_position (T, h, 3), weights (4), motion (T, n)"
)
def roll_out(
    body: SkillBody, path: TaskPath, constants: LawConstants, weights: Array, scratch: Scratch, motion: Array
) -> int:
    """Follow a whole path by the weighted law.

    `body`: body that moves; `path`: paths of its hands and of its prescribed coordinates; `constants`:
    numbers of the law; `weights` (4,): k of energy, velocity, ergonomy, manipulability: not negative, not all
    0; `scratch`: memory from `make_scratch`; `motion` (T, n): coordinates over time, rad or m; overwritten.
    Returns number of samples before the first that cannot be reached; T if all are.
    """
    q = path.start.copy()
    update_body_poses(body, q, scratch.work)
    for t in range(len(motion)):
        if t > 0 and not _advance(body, path, constants, weights, t, q, scratch):
            return t
        for k in range(len(q)):
            motion[t, k] = q[k]
    return len(motion)


@compiled
def _advance(
    body: SkillBody,
    path: TaskPath,
    constants: LawConstants,
    weights: Array,
    t: int,
    q: Array,
    scratch: Scratch,
) -> bool:
    """Go on to sample t, in place; tell whether it is reached."""
    apply_prescribed(body, path, constants, t, q, scratch)
    set_step_problem(body, constants, weights, q, scratch)
    left = take_step(body, constants, path.hand_rotation[t], path.hand_position[t], q, scratch)
    return bool(left <= TOLERANCE)


@compiled_entry("body.tree.parent (n), path.prescribed (T, n), q (n)")
def apply_prescribed(
    body: SkillBody, path: TaskPath, constants: LawConstants, t: int, q: Array, scratch: Scratch
) -> None:
    """Set the coordinates that no law resolves to their values at a sample, and move the bodies along.

    `path`: holds the prescribed coordinates over time and the posture to return to; `constants`: numbers of
    the law; `t`: index of the sample; `q` (n,): coordinates, rad or m; the prescribed ones and the clavicles,
    which follow the arms, are changed in place; `scratch`: its `prescribed_step` gets the displacements of
    the prescribed coordinates, its `habit_step` those by which the habit would move the resolved ones; the
    clavicles are in neither.
    """
    for k in body.resolved:
        scratch.habit_step[k] = constants.habit * constants.period * (path.home[k] - q[k])
    if len(body.resolved) == len(q):
        return
    following = 0
    for k in range(len(q)):
        if following < len(body.resolved) and body.resolved[following] == k:
            following += 1
        else:
            scratch.prescribed_step[k] = path.prescribed[t, k] - q[k]
            q[k] = path.prescribed[t, k]
    for g in range(len(body.anatomy.clavicles)):
        for k in body.anatomy.clavicles[g, :2]:
            scratch.prescribed_step[k] = 0.0
    update_clavicles(body.anatomy, q)
    update_body_poses(body, q, scratch.work)


@compiled_entry(
    "body.tree.parent (n), path.start (n), path.prescribed (T, n), path.points (T, 4, 3), weights (m, 4), "
    "limit (m), scratch.step (r), errors (m, T)"
)
def roll_out_errors(
    body: SkillBody,
    path: TaskPath,
    constants: LawConstants,
    weights: Array,
    limit: Array,
    scratch: Scratch,
    errors: Array,
) -> None:
    """Follow a path by many laws, one after the other, and compare shoulders and elbows with their paths.

    `body`: body that moves. `path`: paths of its hands, its prescribed coordinates, its shoulders and elbows.
    `constants`: numbers of the laws. `weights` (m, 4): k of energy, velocity, ergonomy, manipulability of
    each law: not negative, not all 0. `limit` (m,): time integral of the error, m·s, at which a law is given
    up. `scratch`: memory from `make_scratch`. `errors` (m, T): norm of the position errors of the four points
    stacked, m; infinite from a sample on that cannot be reached, or where the law is given up. Overwritten.
    """
    position = np.empty(3)
    for k in range(len(weights)):
        q = path.start.copy()
        update_body_poses(body, q, scratch.work)
        integral = 0.0
        for t in range(errors.shape[1]):
            if t > 0 and (
                integral > limit[k] or not _advance(body, path, constants, weights[k], t, q, scratch)
            ):
                errors[k, t:] = np.inf
                break
            total = 0.0
            for p in range(len(body.point_body)):
                compute_point_position(scratch.work, body.point_body[p], body.point[p], position)
                for i in range(3):
                    away = path.points[t, p, i] - position[i]
                    total += away * away
            errors[k, t] = np.sqrt(total)
            if t > 0:
                integral += 0.5 * constants.period * (errors[k, t - 1] + errors[k, t])
