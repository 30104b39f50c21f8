"""A recording cut into its repetitions, so that a law starts each from the posture recorded there."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from simbench.errors import MotionError
from simbench.motion.human_motion import HumanMotion
from simbench.motion.phases import find_phases
from simbench.skills.person.task_motion import TaskMotion


def parts_of(task: TaskMotion, motion: HumanMotion, whole: bool) -> tuple[TaskMotion, ...]:
    """Take a prepared recording as a whole, or each of the repetitions that `find_phases` finds in it."""
    return (task,) if whole else cut_repetitions(task, find_phases(motion).boundaries)


def cut_repetitions(task: TaskMotion, boundaries: ArrayLike) -> tuple[TaskMotion, ...]:
    """Cut a recording.

    A law that resolves redundancy sample by sample does not come back to the posture from which a repetition
    began: over many it drifts, where people return. What it has to explain is a repetition.

    Parameters
    ----------
    task : TaskMotion
    boundaries : (N + 1,) array_like
        Times at which repetitions begin and the last one ends, s, as `find_phases` finds them.

    Returns
    -------
    tuple of TaskMotion
        N of them; neighbours share a sample.

    Raises
    ------
    MotionError
        Fewer than two samples are between two boundaries.
    """
    cuts = np.searchsorted(task.time, np.asarray(boundaries) - 0.5 * task.constants.period)
    cuts = np.minimum(cuts, len(task.time) - 1)
    if len(cuts) < 2 or np.diff(cuts).min() < 1:
        raise MotionError(
            f"{task.source}: boundaries {np.asarray(boundaries).tolist()} s cut nothing out of it"
        )
    return tuple(_part(task, slice(first, last + 1)) for first, last in pairwise(cuts))


def _part(task: TaskMotion, samples: slice) -> TaskMotion:
    path = task.path
    return replace(
        task,
        path=path._replace(
            start=task.imitated[samples][0].copy(),
            told=path.told[samples],
            hand_rotation=path.hand_rotation[samples],
            hand_position=path.hand_position[samples],
            points=path.points[samples],
        ),
        time=task.time[samples],
        imitated=task.imitated[samples],
    )
