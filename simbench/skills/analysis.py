"""Analysis of a person's skill from one recording: criteria, how certain they are, and fuzzy strategy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.human_motion import Actor, HumanMotion
from simbench.robot.sides import SIDES
from simbench.skills.anatomical_motion import PERSON, prepare_motion
from simbench.skills.fuzzy_rules import TUNED
from simbench.skills.fuzzy_strategy import DetectedStrategy, detect_strategy, read_rule_base
from simbench.skills.inverse_optimal_control import Flatness, Mixture, compute_path_errors, explore_mixture
from simbench.skills.task_motion import TaskMotion, split_task
from simbench.skills.weight_search import LATTICE

_STATURES = 0.5, 2.5
_MASSES = 10.0, 300.0


@dataclass(frozen=True)
class SkillAnalysis:
    """Inverse optimal control and fuzzy detection of one recording."""

    task: TaskMotion  # The recording, on the person's own joints where it shows the trunk.
    mixture: Mixture  # Weights of the criteria that inverse optimal control finds.
    flatness: Flatness  # Mixtures about as good.
    strategy: DetectedStrategy  # What the fuzzy rules say, independently.
    # Repetitions of the task, or the whole of a given span: a law starts each of them where the person was.
    parts: tuple[TaskMotion, ...]
    # Tuple of (5, T) array: for each part the errors of shoulders and elbows together over time, m, with the
    # mixture and with each criterion alone; infinite from where the hands cannot keep their path.
    errors: tuple[Array, ...]


def analyse_skill(
    motion: HumanMotion,
    *,
    span: tuple[float, float] | None = None,
    hands: Sequence[str] = SIDES,
    skeleton: str = PERSON,
    method: str = LATTICE,
    seed: int = 0,
    terms: str = TUNED,
) -> SkillAnalysis:
    """Find the criteria behind a recording by both of the thesis's methods.

    `span`: first and last time, s; by default the repetitions of the periodic motion; `hands`: sides whose
    hands do the task: they keep their path; `skeleton`: one of `anatomical_motion.SKELETONS`: the person's
    own joints or the thesis's model; `method`: search method, one of `simplex_search.METHODS`; `seed`: seed
    of the search; `terms`: fuzzy rules, one of `fuzzy_rules.TERM_SETS`. Returns results of both methods.
    Raises MotionError nothing repeats, or the person's stature is not known. Raises SkillError no law can
    follow the recording, a library is missing, or the terms are unknown.
    """
    rules = read_rule_base(terms)
    task = prepare_motion(motion, span=span, hands=hands, skeleton=skeleton)
    parts = split_task(task, motion, span is not None)
    mixture = Mixture(parts, method, seed)
    laws = np.vstack([mixture.weights, np.eye(len(CRITERIA))])
    return SkillAnalysis(
        task,
        mixture,
        explore_mixture(parts, mixture),
        detect_strategy(task, rules),
        parts,
        tuple(compute_path_errors(part, laws) for part in parts),
    )


def compute_point_spread(task: TaskMotion) -> float:
    """Compute how far shoulders and elbows are from their mean positions at the pelvis.

    A law whose error is not much smaller explains nothing. `task`: the prepared recording. Returns mean over
    time, m, all four together as in the fitness.
    """
    # The first coordinates are the pelvis's z, y, x.
    positions = task.path.points - task.imitated[:, None, 2::-1]
    away = positions - positions.mean(axis=0)
    return float(np.mean(np.linalg.norm(away.reshape(len(away), -1), axis=1)))


def complete_person(
    motion: HumanMotion, height: float | None, mass: float | None, sex: str | None
) -> HumanMotion:
    """Add what a recording's file does not say of the person, or says wrongly.

    `height`: stature, m; `mass`: mass of the body, kg; `sex`: sex, which says what measures are average.
    Returns the recording with these data of its actor.
    """
    for name, value, (low, high), unit in (("height", height, _STATURES, "m"), ("mass", mass, _MASSES, "kg")):
        if value is not None and not low <= value <= high:
            raise MotionError(f"{name} {value:g}: must be from {low:g} to {high:g} {unit}")
    known = motion.actor
    if known is None:
        if height is None:
            raise MotionError(
                f"{motion.source}: the person's stature is needed for the masses of the body; give --height"
            )
        return replace(motion, actor=Actor("unnamed", height, mass, sex))
    return replace(
        motion,
        actor=replace(
            known,
            height=known.height if height is None else height,
            mass=known.mass if mass is None else mass,
            sex=known.sex if sex is None else sex,
        ),
    )
