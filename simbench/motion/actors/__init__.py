"""Virtual actors: people made of a kinematic model who perform the tasks of a motion-capture session."""

from collections.abc import Callable

from simbench.errors import MotionError
from simbench.motion.actors.drawer import DrawerTask, perform_drawer
from simbench.motion.actors.performance import ActorPerformance
from simbench.motion.human_motion import HumanMotion

TASKS: dict[str, Callable[[], ActorPerformance]] = {
    "drawer": perform_drawer,
}

__all__ = ["TASKS", "ActorPerformance", "DrawerTask", "perform_drawer", "read_actor"]


def read_actor(task: str) -> HumanMotion:
    """Record a task with the default actor, equipment and seed.

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
    return TASKS[task]().motion
