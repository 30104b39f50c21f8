"""Virtual actors: people made of a kinematic model who perform the tasks of a motion-capture session."""

import numpy as np

from simbench.errors import MotionError
from simbench.motion.actors.human_model import build_human_model
from simbench.motion.actors.people import AVERAGE_PERSON
from simbench.motion.actors.perform import perform
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.actors.strategy import EVEN
from simbench.motion.actors.tasks import PLACES
from simbench.motion.actors.tasks.drawer import DrawerTask, drawer_task
from simbench.motion.actors.virtual_mocap import MocapErrors
from simbench.motion.human_motion import HumanMotion

TASKS = PLACES
DEFAULT_SEED = 2018
DEFAULT_TASK, DEFAULT_ERRORS = DrawerTask(), MocapErrors()

__all__ = ["TASKS", "ActorPerformance", "DrawerTask", "perform_drawer", "read_actor"]


def perform_drawer(
    drawer: DrawerTask = DEFAULT_TASK,
    rng: np.random.Generator | int = DEFAULT_SEED,
    errors: MocapErrors = DEFAULT_ERRORS,
) -> ActorPerformance:
    """Have an average person open and close a given drawer.

    Parameters
    ----------
    drawer : DrawerTask
    rng : numpy.random.Generator or int
        Generator or seed: all variation comes from it.
    errors : MocapErrors

    Returns
    -------
    ActorPerformance

    Raises
    ------
    MotionError
        The drawer is out of reach, or its place asks for a joint angle no person has.
    """
    rng = np.random.default_rng(rng)
    return perform(AVERAGE_PERSON, drawer_task(drawer), EVEN, rng, errors, "actor:drawer")


def read_actor(task: str) -> HumanMotion:
    """Record a task with the average person, default equipment and seed.

    Parameters
    ----------
    task : str
        A key of `TASKS`.

    Returns
    -------
    HumanMotion

    Raises
    ------
    MotionError
        Unknown task.
    """
    if task not in TASKS:
        raise MotionError(f"actor:{task}: unknown task; known: {', '.join(TASKS)}")
    if task == "drawer":
        return perform_drawer().motion
    rng = np.random.default_rng(DEFAULT_SEED)
    placed = PLACES[task](build_human_model(AVERAGE_PERSON.actor), AVERAGE_PERSON, rng)
    return perform(AVERAGE_PERSON, placed, EVEN, rng, DEFAULT_ERRORS, f"actor:{task}").motion
