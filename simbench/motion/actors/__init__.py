"""Virtual actors: people made of a kinematic model who perform the tasks of a motion-capture session."""

import numpy as np

from simbench.errors import MotionError
from simbench.files.text import parse_whole_number
from simbench.motion.actors.free_motions import FREE, OUTSIDE_SESSION
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.people import AVERAGE_PERSON, FRUGAL, STANCES, ActorPerformance
from simbench.motion.actors.perform import perform
from simbench.motion.actors.session import TASKS, perform_in_session
from simbench.motion.actors.tasks import PLACES, DrawerTask, make_drawer_task
from simbench.motion.actors.virtual_mocap import MocapErrors
from simbench.motion.human_motion import HumanMotion

DEFAULT_SEED = 2018
DEFAULT_TASK, DEFAULT_ERRORS = DrawerTask(), MocapErrors()
FREE_MOTIONS = FREE | OUTSIDE_SESSION


def perform_drawer(
    drawer: DrawerTask = DEFAULT_TASK,
    rng: np.random.Generator | int = DEFAULT_SEED,
    errors: MocapErrors = DEFAULT_ERRORS,
) -> ActorPerformance:
    """Have an average person open and close a given drawer.

    Parameters
    ----------
    drawer : DrawerTask
        The drawer and how it is moved.
    rng : numpy.random.Generator or int
        Generator or seed: all variation comes from it.
    errors : MocapErrors
        Errors of the motion capture.

    Returns
    -------
    ActorPerformance
        The recording and its ground truth.

    Raises
    ------
    MotionError
        The drawer is out of reach, or its position asks for a joint angle that no person has.
    """
    rng = np.random.default_rng(rng)
    return perform(AVERAGE_PERSON, make_drawer_task(drawer), FRUGAL, rng, errors, "actor:drawer")


def perform_average(task: str, seed: int = DEFAULT_SEED) -> ActorPerformance:
    """Have an average person, well posed and sparing of energy, perform a task.

    Parameters
    ----------
    task : str
        One of `TASKS`, or `walking`.
    seed : int
        Seed from which all variation comes.

    Returns
    -------
    ActorPerformance
        The recording and its ground truth.

    Raises
    ------
    MotionError
        Unknown task.
    """
    _check(task)
    if task == "drawer":
        return perform_drawer(rng=seed)
    rng, source = np.random.default_rng(seed), f"actor:{task}"
    if task in FREE_MOTIONS:
        return FREE_MOTIONS[task](AVERAGE_PERSON, rng, DEFAULT_ERRORS, source)
    human = HumanModel(AVERAGE_PERSON.actor)
    placed = PLACES[task](human, AVERAGE_PERSON, STANCES[AVERAGE_PERSON.stance], rng)
    return perform(AVERAGE_PERSON, placed, FRUGAL, rng, DEFAULT_ERRORS, source)


def read_actor(name: str) -> HumanMotion:
    """Record a task with the average person, or with a participant of the session.

    `name`: one of `TASKS`, alone or followed by a colon and the participant's number: `valves`, `valves:7`;
    or `walking`, which no session contains. Returns recording of the actor, as motion capture gives it.
    """
    task, colon, number = name.partition(":")
    _check(task)
    if not colon:
        return perform_average(task).motion
    if task in OUTSIDE_SESSION:
        raise MotionError(f"actor:{name}: is performed by the average person only; write actor:{task}")
    participant = parse_whole_number(number)
    if participant is None:
        raise MotionError(
            f"actor:{name:.40}: {number[:20]!r} is no participant's number; for example actor:{task}:1"
        )
    return perform_in_session(DEFAULT_SEED, participant, task).motion


def _check(task: str) -> None:
    known = (*TASKS, *OUTSIDE_SESSION)
    if task not in known:
        raise MotionError(f"actor:{task}: unknown task; known: {', '.join(known)}")
