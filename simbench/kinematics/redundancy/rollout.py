"""A whole motion by the weighted law, compiled: the hands keep their path, the criteria choose the joints."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.redundancy.anatomy import compute_step_bounds, update_clavicles
from simbench.kinematics.redundancy.body import (
    SkillBody,
    add_clavicle_jacobian,
    compute_hand_errors,
    compute_hand_jacobian,
    compute_point_position,
    update_body_poses,
)
from simbench.kinematics.redundancy.objective import LawConstants, Scratch, TaskPath, set_step_problem
from simbench.kinematics.redundancy.step import solve_step
from simbench.kinematics.tree import joint_axes

TOLERANCE = 1e-7
"""Largest distance of a hand from its path, m and rad."""
_MAX_CORRECTIONS = 30
_SLOW = 0.2
"""Corrections that leave more than this fraction of an error need a new Jacobian."""


@compiled
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


@compiled
def roll_out(
    body: SkillBody,
    path: TaskPath,
    constants: LawConstants,
    weights: Array,
    scratch: Scratch,
    motion: Array,
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


@compiled
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


@compiled
def roll_out_errors(
    body: SkillBody,
    path: TaskPath,
    constants: LawConstants,
    weights: Array,
    scratch: Scratch,
    errors: Array,
) -> None:
    """Follow a path by many laws, one after the other, and compare shoulders and elbows with their paths.

    `body`: body that moves. `path`: paths of its hands, its prescribed coordinates, its shoulders and elbows.
    `constants`: numbers of the laws. `weights` (m, 4): k of energy, velocity, ergonomy, manipulability of
    each law: not negative, not all 0. `scratch`: memory from `make_scratch`. `errors` (m, T): norm of the
    position errors of the four points stacked, m; infinite from a sample on that cannot be reached.
    Overwritten.
    """
    for k in range(len(weights)):
        q = path.start.copy()
        update_body_poses(body, q, scratch.work)
        for t in range(errors.shape[1]):
            if t > 0 and not _advance(body, path, constants, weights[k], t, q, scratch):
                errors[k, t:] = np.inf
                break
            errors[k, t] = _point_error(body, path.points[t], scratch)


@compiled
def _point_error(body: SkillBody, points: Array, scratch: Scratch) -> float:
    """Norm of the position errors of shoulders and elbows stacked, m."""
    position = np.empty(3)
    total = 0.0
    for p in range(len(body.point_body)):
        compute_point_position(scratch.work, body.point_body[p], body.point[p], position)
        for i in range(3):
            away = points[p, i] - position[i]
            total += away * away
    return float(np.sqrt(total))
