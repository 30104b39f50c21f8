"""The objective of a step by the four criteria, compiled: W and w of equation 4.23, the hands' Jacobian."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.manipulability import manipulability_gradient
from simbench.kinematics.redundancy.anatomy import compute_joint_limit_stiffness
from simbench.kinematics.redundancy.body import (
    SkillBody,
    add_clavicle_jacobian,
    compute_hand_jacobian,
    compute_inertia_matrix,
    compute_inertial_coupling,
)
from simbench.kinematics.redundancy.step import (
    StepFactors,
    StepProblem,
    make_step_factors,
    make_step_problem,
)
from simbench.kinematics.redundancy.step_state import StepState
from simbench.kinematics.task_matrix import Workspace, make_workspace
from simbench.kinematics.tree import joint_axes

ENERGY, VELOCITY, ERGONOMY, MANIPULABILITY = 0, 1, 2, 3
"""Order of the weights: Tomić (2018), table 4.2."""


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


def make_step_state(coordinates: int) -> StepState:
    """Allocate what the criteria look at in one step.

    `coordinates`: number r of resolved coordinates. Returns all zero but the stiffness, which is 1.
    """
    return StepState(
        inertia=np.zeros((coordinates, coordinates)),
        stiffness=np.ones(coordinates),
        habit_step=np.zeros(coordinates),
        effort_coupling=np.zeros(coordinates),
        ergonomic_coupling=np.zeros(coordinates),
        ergonomic_offset=np.zeros(coordinates),
        gradient=np.zeros(coordinates),
    )


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
        state=make_step_state(size),
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
        _update_joint_axes(body, scratch.work)
    compute_hand_jacobian(body, scratch.work, body.resolved, problem.columns)
    add_clavicle_jacobian(body, scratch.work, q, problem.columns)
    compute_joint_limit_stiffness(body.anatomy, q, scratch.stiffness)
    for a in range(len(body.resolved)):
        joint = body.resolved[a]
        state.stiffness[a] = scratch.stiffness[joint]
        state.habit_step[a] = scratch.habit_step[joint]
        state.ergonomic_offset[a] = q[joint] - body.ergonomic[joint]
    if inertia_weight != 0.0:
        _set_effort_coupling(body, inertia_weight, scratch)
    if pull != 0.0:
        _set_ergonomic_coupling(body, pull, q, scratch)
    if weights[MANIPULABILITY] != 0.0:
        _set_gradient(body, scratch)
    set_objective(weights, period, constants.gain, state, problem.weight, problem.linear_term)


@compiled
def _update_joint_axes(body: SkillBody, work: Workspace) -> None:
    """Compute the joints' twists at the world's origin."""
    joint_axes(body.tree, work.rotation, work.position, work.position[0], work.axes)


@compiled
def _set_effort_coupling(body: SkillBody, inertia_weight: float, scratch: Scratch) -> None:
    """Write W_rt m_t: what the displacements of the prescribed coordinates add to effort."""
    coupling = scratch.state.effort_coupling
    for t in range(len(scratch.prescribed_step)):
        scratch.coupled[t] = inertia_weight * scratch.stiffness[t] * scratch.prescribed_step[t]
    for a in range(len(body.resolved)):
        scratch.coupled[body.resolved[a]] = 0.0
    compute_inertial_coupling(body, scratch.work, scratch.coupled, coupling)
    for a in range(len(body.resolved)):
        coupling[a] = scratch.stiffness[body.resolved[a]] * coupling[a]


@compiled
def _set_ergonomic_coupling(body: SkillBody, pull: float, q: Array, scratch: Scratch) -> None:
    """Write the pull of the prescribed coordinates' distance from q_erg; the clavicles have no such place."""
    for t in range(len(q)):
        scratch.coupled[t] = pull * (q[t] - scratch.prescribed_step[t] - body.ergonomic[t])
    for a in range(len(body.resolved)):
        scratch.coupled[body.resolved[a]] = 0.0
    for g in range(len(body.anatomy.clavicles)):
        for k in body.anatomy.clavicles[g, :2]:
            scratch.coupled[k] = 0.0
    compute_inertial_coupling(body, scratch.work, scratch.coupled, scratch.state.ergonomic_coupling)


@compiled
def _set_gradient(body: SkillBody, scratch: Scratch) -> None:
    """Write the gradient of manipulability by the resolved coordinates."""
    compute_hand_jacobian(body, scratch.work, body.manipulating, scratch.manipulating_columns)
    manipulability_gradient(scratch.manipulating_columns, scratch.manipulating_gradient)
    a = 0
    for s in range(len(body.manipulating)):
        if a < len(body.resolved) and body.resolved[a] == body.manipulating[s]:
            scratch.state.gradient[a] = scratch.manipulating_gradient[s]
            a += 1
