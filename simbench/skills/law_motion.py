"""Motions that criteria choose: whole motions by the weighted law, and by criteria of plug-ins.

Plug-ins are those of the group `simbench.criteria`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import PluginError, SkillError
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
from simbench.kinematics.redundancy_step import manipulability_gradient
from simbench.kinematics.task_matrix import make_workspace
from simbench.plugins.declarations import call_plugin, require_plugin
from simbench.skills.task_motion import TaskMotion

GROUP = "criteria"
# Weights k of a plug-in's criterion that are tried, beside 1 − k times those of the mixture.
SHARES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99, 0.997, 1.0)
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
        body, path, constants = task.body, task.path, task.constants
        scratch, q = make_scratch(body), path.start.copy()
        update_body_poses(body, q, scratch.work)
        motion[0] = q
        for reached in range(1, len(motion)):
            apply_prescribed(body, path, constants, reached, q, scratch)
            state = observe(body, constants, q, scratch)
            forms = [criterion(body, state) for criterion in criteria.values()]
            objective = shift_to_habit(compute_weighted_sum(forms, k), state)
            scratch.problem.weight[:] = objective.weight
            scratch.problem.linear_term[:] = -constants.period * objective.linear
            rotation, position = path.hand_rotation[reached], path.hand_position[reached]
            if not take_step(body, constants, rotation, position, q, scratch) <= TOLERANCE:
                break
            motion[reached] = q
        else:
            reached = len(motion)
    if reached < len(motion):
        raise SkillError(
            f"{task.source}: at {task.time[reached]:.2f} s the hands cannot follow their path from the "
            f"posture that weights {k.round(4).tolist()} of {', '.join(criteria)} have led to"
        )
    return motion


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


def load_criterion(reference: str) -> Criterion:
    """Load the criterion of a plug-in.

    `reference`: name of a plug-in, `MODULE:NAME` or `FILE.py:NAME` of a function of (body, state), as those
    of `kinematics.redundancy_criteria`. Returns the function; what it returns is checked.
    """
    function = require_plugin(GROUP, reference).value

    def criterion(body: SkillBody, state: BodyState) -> Quadratic:
        form = call_plugin(reference, function, body, state)
        if not isinstance(form, Quadratic):
            raise PluginError(
                f"{reference}: returned a value of type {type(form).__name__}; allowed: Quadratic"
            )
        size = len(state.q)
        if np.shape(form.weight) != (size, size) or np.shape(form.linear) != (size,):
            raise PluginError(
                f"{reference}: W of shape {np.shape(form.weight)} and b of shape {np.shape(form.linear)}; "
                f"allowed: ({size}, {size}) and ({size},)"
            )
        if not (np.isfinite(form.weight).all() and np.isfinite(form.linear).all()):
            raise PluginError(f"{reference}: W or b is no finite number")
        return form

    return criterion


def fit_criterion(parts: Sequence[TaskMotion], weights: Array, reference: str) -> tuple[float, float, float]:
    """Compare a recording with motions that a criterion of a plug-in chooses.

    `parts`: repetitions of the task; `weights` (4,): mixture of simbench's own criteria that was found;
    `reference`: how the plug-in is named. Returns `alone`: mean error over time with it alone, m; infinite
    where the hands cannot keep their path; `share`: weight k with the least error, one of `SHARES`, or 0
    where the mixture without it is best; `error`: mean error over time with k times it and 1 − k times the
    mixture, m. Raises PluginError as `load_criterion`.
    """
    criteria = {**CRITERIA, reference: load_criterion(reference)}

    def error(share: float) -> float:
        k = np.append((1.0 - share) * weights, share)
        errors = []
        for task in parts:
            try:
                motion = follow_path(task, k / k.sum(), criteria)
            except SkillError:
                return float("inf")
            away = (place_points(task, motion) - task.path.points).reshape(len(motion), -1)
            total = np.trapezoid(np.linalg.norm(away, axis=1), dx=task.constants.period)
            errors.append(float(total / task.duration))
        return float(np.mean(errors))

    errors = {share: error(share) for share in (0.0, *SHARES)}
    best = min(errors, key=lambda share: errors[share])
    return errors[1.0], best, errors[best]
