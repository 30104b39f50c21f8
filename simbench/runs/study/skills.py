"""Inverse optimal control over a session: every recording by itself, and every task for all its people."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from simbench.errors import SkillError
from simbench.kinematics.redundancy.criteria import CRITERIA
from simbench.motion.actors.people import session_people
from simbench.motion.actors.session import TASKS, perform_in_session
from simbench.motion.actors.strategy import DOMINANT, ActorStrategy
from simbench.runs.study.study import Item
from simbench.skills.ioc.identifiability import explore_mixture
from simbench.skills.ioc.inverse_optimal_control import compute_criterion_shares, find_mixture, mean_period
from simbench.skills.ioc.simplex_search import LATTICE, METHODS
from simbench.skills.person.anatomical_motion import PERSON, SKELETONS, prepare_motion
from simbench.skills.person.task_motion import TaskMotion, split_task

THESIS_TASKS = tuple(task for task in TASKS if task in DOMINANT and task != "hand_drill")
"""The seven of chapter 4; the hand drill is the unseen task of chapter 5."""
THESIS_ACTORS = tuple(range(1, 16))
EVERYBODY = 0
"""Stands for the number of an actor where one mixture is for all of them."""

# Where one mixture is for many people, every second repetition of each says as much.
_SPARSE = 2

Span = tuple[float, float]


def skill_items(
    tasks: Sequence[str] = THESIS_TASKS,
    actors: Sequence[int] = THESIS_ACTORS,
    *,
    session: int = 2018,
    method: str = LATTICE,
    seed: int = 0,
    span: Span | None = None,
    whole: bool = False,
    general: bool = True,
    skeleton: str = PERSON,
) -> list[Item]:
    """Make the work of a study for `run_study` with `study_mixture`.

    Parameters
    ----------
    tasks : sequence of str
        Of a virtual session; any that a strategy is behind.
    actors : sequence of int
    session : int
        Its seed.
    method, seed : str, int
        Of the search, as for `minimise`.
    span : (float, float), optional
        What of each recording is looked at, as one piece, s; by default the periodic motion.
    whole : bool
        Take the periodic motion in one piece as well, not each repetition from its own posture.
    general : bool
        Also one mixture for each task that suits all the actors best.
    skeleton : str
        As for `prepare_motion`.

    Returns
    -------
    list of Item
        Told apart by `task` and `actor`; actor 0 is everybody.

    Raises
    ------
    SkillError
        Unknown method, skeleton, task or actor.
    """
    if skeleton not in SKELETONS:
        raise SkillError(f"skeleton {skeleton}: unknown; known: {', '.join(SKELETONS)}")
    if method not in METHODS:
        raise SkillError(f"method {method}: unknown; known: {', '.join(METHODS)}")
    for task in tasks:
        if task not in DOMINANT:
            raise SkillError(f"task {task}: no criteria are behind it; known: {', '.join(DOMINANT)}")
    people = len(session_people(session))
    for actor in actors:
        if not 1 <= actor <= people:
            raise SkillError(f"actor {actor}: a session has actors 1 to {people}")
    groups: list[tuple[int, tuple[int, ...]]] = [(actor, (actor,)) for actor in actors]
    # The longest work first, so that no core waits for it in the end.
    if general:
        groups.insert(0, (EVERYBODY, tuple(actors)))
    return [
        Item({"task": task, "actor": actor}, (session, task, group, method, seed, span, whole, skeleton))
        for actor, group in groups
        for task in tasks
    ]


def study_mixture(
    session: int,
    task: str,
    actors: Sequence[int],
    method: str,
    seed: int,
    span: Span | None,
    whole: bool,
    skeleton: str,
) -> dict[str, Any]:
    """Find the criteria behind one recording, or those that suit several best, for a row of a table.

    Parameters
    ----------
    session, task, actors, method, seed, span, whole, skeleton
        As for `skill_items`.

    Returns
    -------
    dict of str to float, int, bool or str
        `session`; `energy`, `velocity`, `ergonomy`, `manipulability` (weights, sum 1); `share_<criterion>`
        (what each counts for, sum 1); `dominant` (the greatest share); `fitness_m` (mean error over time,
        m); `single_<criterion>_m` (the same by one alone); `lowest_<criterion>`, `highest_<criterion>`
        (extent of each weight among mixtures about as good), `rivals` (criteria that dominate one of these)
        and `confused` (pairs not told apart), texts with commas; `hidden_<criterion>` and `hidden_dominant`
        (the strategy behind the recording, the mean over several); `method`, `evaluations`, `generations`,
        `converged`; `pieces`, `samples`, `duration_s`.
    """
    performed = [perform_in_session(session, actor, task) for actor in actors]
    motions: list[TaskMotion] = []
    for each in performed:
        prepared = prepare_motion(each.motion, span=span, skeleton=skeleton)
        parts = split_task(prepared, each.motion, whole or span is not None)
        motions += parts if len(actors) == 1 else parts[::_SPARSE]
    mixture = find_mixture(motions, method, seed)
    flat = explore_mixture(motions, mixture)
    hidden = [each.strategy for each in performed if each.strategy is not None]
    return {
        "session": session,
        **dict(zip(CRITERIA, mixture.weights.tolist(), strict=True)),
        **_by_criterion("share_{}", mixture.shares),
        "dominant": mixture.dominant,
        "fitness_m": mixture.fitness,
        **_by_criterion("single_{}_m", mixture.single),
        **_by_criterion("lowest_{}", flat.lowest),
        **_by_criterion("highest_{}", flat.highest),
        "rivals": ", ".join(flat.dominant),
        "confused": ", ".join("-".join(pair) for pair in flat.confused),
        **_hidden(hidden, mean_period(motions)),
        "method": method,
        "evaluations": mixture.found.evaluations,
        "generations": mixture.found.generations,
        "converged": mixture.found.converged,
        "pieces": len(motions),
        "samples": sum(len(motion.time) for motion in motions),
        "duration_s": sum(motion.duration for motion in motions),
    }


def _by_criterion(name: str, values: Iterable[float]) -> dict[str, float]:
    return {name.format(key): float(value) for key, value in zip(CRITERIA, values, strict=True)}


def _hidden(strategies: Sequence[ActorStrategy], period: float) -> Mapping[str, Any]:
    """Name what virtual people did it by, to be put beside what was found."""
    weights = np.mean([strategy.weights for strategy in strategies], axis=0)
    return {
        **_by_criterion("hidden_{}", weights),
        "hidden_dominant": list(CRITERIA)[int(np.argmax(compute_criterion_shares(weights, period)))],
    }
