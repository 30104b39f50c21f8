"""Criteria of plug-ins (group `simbench.criteria`): how well they explain a recording."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simbench.errors import PluginError, SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy.body import SkillBody
from simbench.kinematics.redundancy.criteria import CRITERIA, BodyState, Criterion, Quadratic
from simbench.plugins.declarations import call_plugin, require_plugin
from simbench.skills.ioc.inverse_kinematics import follow_path, place_points
from simbench.skills.person.task_motion import TaskMotion

GROUP = "criteria"
SHARES = (0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.97, 0.99, 0.997, 1.0)
"""Weights k of a plug-in's criterion that are tried, beside 1 − k times those of the mixture."""


@dataclass(frozen=True)
class CriterionFit:
    """How well a criterion of a plug-in explains a recording."""

    reference: str  # How it was named.
    alone: float  # Mean error over time with it alone, m; infinite where the hands cannot keep their path.
    share: float  # Weight k with the least error, one of `SHARES`, or 0 where the mixture without it is best.
    error: float  # Mean error over time with k times it and 1 − k times the mixture, m.


def load_criterion(reference: str) -> Criterion:
    """Load the criterion of a plug-in.

    `reference`: name of a plug-in, `MODULE:NAME` or `FILE.py:NAME` of a function of (body, state), as those
    of `kinematics.redundancy.criteria`. Returns the function; what it returns is checked.
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


def fit_criterion(parts: Sequence[TaskMotion], weights: Array, reference: str) -> CriterionFit:
    """Compare a recording with motions that a criterion of a plug-in chooses.

    `parts`: repetitions of the task; `weights` (4,): mixture of simbench's own criteria that was found;
    `reference`: how the plug-in is named. Returns errors alone and beside the mixture. Raises PluginError as
    `load_criterion`.
    """
    criteria = {**CRITERIA, reference: load_criterion(reference)}

    def error(share: float) -> float:
        k = np.append((1.0 - share) * weights, share)
        return float(np.mean([_mean_error(part, k / k.sum(), criteria) for part in parts]))

    errors = {share: error(share) for share in (0.0, *SHARES)}
    best = min(errors, key=lambda share: errors[share])
    return CriterionFit(reference, errors[1.0], best, errors[best])


def _mean_error(task: TaskMotion, weights: Array, criteria: dict[str, Criterion]) -> float:
    """Mean over time of ‖P_desired − P_obtained‖, m; infinite where the hands cannot go on."""
    try:
        motion = follow_path(task, weights, criteria)
    except SkillError:
        return float("inf")
    away = (place_points(task, motion) - task.path.points).reshape(len(motion), -1)
    return float(np.trapezoid(np.linalg.norm(away, axis=1), dx=task.constants.period) / task.duration)
