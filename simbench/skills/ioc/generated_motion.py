"""A motion that a known mixture of criteria made: what inverse optimal control has to find again."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from simbench.kinematics.redundancy.body import point_on, stand
from simbench.kinematics.task_matrix import make_workspace
from simbench.skills.ioc.inverse_kinematics import follow_path
from simbench.skills.person.task_motion import TaskMotion


def generate_motion(task: TaskMotion, weights: ArrayLike) -> TaskMotion:
    """Let the weighted law perform a recorded task, and take that for the recording.

    Parameters
    ----------
    task : TaskMotion
        Gives the body, the start and the path of the hands.
    weights : (4,) array_like
        k of energy, velocity, ergonomy, manipulability.

    Returns
    -------
    TaskMotion
        Its shoulders and elbows are where the law has them, so that these weights have fitness 0.

    Raises
    ------
    SkillError
        Weights are not such, or the hands cannot go on.
    """
    motion, body = follow_path(task, weights), task.body
    work, points = make_workspace(body.tree), np.empty_like(task.path.points)
    for q, places in zip(motion, points, strict=True):
        stand(body, q, work)
        for p, place in enumerate(places):
            point_on(work, body.point_body[p], body.point[p], place)
    return replace(task, path=task.path._replace(points=points), imitated=motion, source="law")
