"""Inverse optimal control over a session: each recording alone, and each task for all actors together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from simbench.errors import SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.motion.actors.people import DOMINANT, session_people
from simbench.motion.actors.session import TASKS, perform_in_session
from simbench.motion.human_motion import HumanMotion
from simbench.runs.study import Item
from simbench.skills.anatomical_motion import PERSON, ROMEO, SKELETONS, prepare_motion
from simbench.skills.inverse_optimal_control import (
    Mixture,
    compute_criterion_shares,
    explore_mixture,
    mean_period,
)
from simbench.skills.task_motion import TaskMotion, split_task
from simbench.skills.weight_search import GENETIC, LATTICE, METHODS

THESIS_TASKS = tuple(task for task in TASKS if task in DOMINANT and task != "hand_drill")
"""The seven of chapter 4; the hand drill is the unseen task of chapter 5."""
THESIS_ACTORS = tuple(range(1, 16))
EVERYBODY = 0
"""Number of an actor that stands for all of them, where one mixture is for all."""

# For a mixture of many people every second repetition of each carries enough information.
_SPARSE = 2

Span = tuple[float, float]


@dataclass(frozen=True)
class MixtureSearch:
    """How the criteria behind recordings of a virtual session are searched for."""

    session: int = 2018  # Seed of the session.
    method: str = LATTICE
    seed: int = 0
    # Start and end of the part of each recording that is analysed as one piece, s; by default the periodic
    # motion.
    span: Span | None = None
    # Analyse the periodic motion in one piece as well, not each repetition from its own posture.
    whole: bool = False
    skeleton: str = PERSON  # Skeleton on whose joints the criteria are evaluated, one of `SKELETONS`.
    gain: float | None = None  # p of the manipulability criterion; by default the skeleton's own.
    # Analyse one repetition alone, the one of this index: the thesis's "primitive motion".
    primitive: int | None = None


OWN, THESIS = "own", "thesis"
MODELS: dict[str, dict[str, Any]] = {
    OWN: {},
    # §4.1 to 4.3 as printed: ROMEO's joints at the person's size, which no limit, habit or tissue restrains.
    THESIS: {"skeleton": ROMEO, "method": GENETIC, "gain": 1e6, "primitive": 2},
}
"""What describes a person, as fields of `MixtureSearch`."""


def skill_items(
    tasks: Sequence[str] = THESIS_TASKS,
    actors: Sequence[int] = THESIS_ACTORS,
    search: MixtureSearch = MixtureSearch(),
    *,
    general: bool = True,
) -> list[Item]:
    """Make the jobs of a study for `run_study` with `study_mixture`.

    `tasks`: tasks of a virtual session; any that a strategy is behind; `actors`: numbers of the actors, from
    1; `search`: session, search method and what is analysed; `general`: also find one mixture for each task
    that suits all the actors best. Returns jobs distinguished by `task` and `actor`; actor 0 stands for all
    actors together. Raises SkillError if the method, the skeleton, a task or an actor is unknown.
    """
    if search.skeleton not in SKELETONS:
        raise SkillError(f"skeleton {search.skeleton}: unknown; known: {', '.join(SKELETONS)}")
    if search.method not in METHODS:
        raise SkillError(f"method {search.method}: unknown; known: {', '.join(METHODS)}")
    for task in tasks:
        if task not in DOMINANT:
            raise SkillError(f"task {task}: no criteria are behind it; known: {', '.join(DOMINANT)}")
    people = len(session_people(search.session))
    for actor in actors:
        if not 1 <= actor <= people:
            raise SkillError(f"actor {actor}: a session has actors 1 to {people}")
    groups: list[tuple[int, tuple[int, ...]]] = [(actor, (actor,)) for actor in actors]
    # The longest jobs first, so that no core waits for one in the end.
    if general:
        groups.insert(0, (EVERYBODY, tuple(actors)))
    return [
        Item({"task": task, "actor": actor}, (search, task, group))
        for actor, group in groups
        for task in tasks
    ]


def study_mixture(search: MixtureSearch, task: str, actors: Sequence[int]) -> dict[str, Any]:
    """Find the criteria behind one recording, or those that suit several best, for a row of a table.

    `search`: session, search method and what is analysed; `task`: task of the session; `actors`: actors whose
    recordings are explained by one mixture. Returns `session`; `energy`, `velocity`, `ergonomy`,
    `manipulability` (weights, sum 1); `share_<criterion>` (contribution of each criterion, sum 1); `dominant`
    (the criterion with the greatest share); `fitness_m` (mean error over time, m); `single_<criterion>_m`
    (the same for one criterion alone); `lowest_<criterion>`, `highest_<criterion>` (range of each weight
    among mixtures about as good), `rivals` (criteria that dominate one of these) and `confused` (pairs that
    cannot be distinguished), texts with commas; `hidden_<criterion>` and `hidden_dominant` (the strategy
    behind the recording, the mean over several); `method`, `evaluations`, `generations`, `converged`;
    `pieces`, `samples`, `duration_s`.
    """
    performed = [perform_in_session(search.session, actor, task) for actor in actors]
    motions: list[TaskMotion] = []
    for each in performed:
        parts = analysed_parts(search, each.motion)
        motions += parts if len(actors) == 1 else parts[::_SPARSE]
    mixture = Mixture(motions, search.method, search.seed)
    flat = explore_mixture(motions, mixture)
    strategies = [each.strategy.weights for each in performed if each.strategy is not None]
    hidden = np.mean(strategies, axis=0)
    hidden_shares = compute_criterion_shares(hidden, mean_period(motions))
    return {
        "session": search.session,
        **dict(zip(CRITERIA, mixture.weights.tolist(), strict=True)),
        **_by_criterion("share_{}", mixture.shares),
        "dominant": mixture.dominant,
        "fitness_m": mixture.fitness,
        **_by_criterion("single_{}_m", mixture.single),
        **_by_criterion("lowest_{}", flat.lowest),
        **_by_criterion("highest_{}", flat.highest),
        "rivals": ", ".join(flat.dominant),
        "confused": ", ".join("-".join(pair) for pair in flat.confused),
        **_by_criterion("hidden_{}", hidden),
        "hidden_dominant": list(CRITERIA)[int(np.argmax(hidden_shares))],
        "method": search.method,
        "evaluations": len(mixture.values),
        "generations": mixture.generations,
        "converged": mixture.converged,
        "pieces": len(motions),
        "samples": sum(len(motion.time) for motion in motions),
        "duration_s": sum(motion.duration for motion in motions),
    }


def analysed_parts(search: MixtureSearch, motion: HumanMotion) -> tuple[TaskMotion, ...]:
    """Prepare a recording, and take of it what a search looks at."""
    prepared = prepare_motion(motion, span=search.span, skeleton=search.skeleton)
    if search.gain is not None:
        prepared = replace(prepared, constants=prepared.constants._replace(gain=search.gain))
    parts = split_task(prepared, motion, search.whole or search.span is not None)
    return parts if search.primitive is None or len(parts) == 1 else (parts[search.primitive],)


def _by_criterion(name: str, values: Iterable[float]) -> dict[str, float]:
    """Name a value for each criterion."""
    return {name.format(key): float(value) for key, value in zip(CRITERIA, values, strict=True)}
