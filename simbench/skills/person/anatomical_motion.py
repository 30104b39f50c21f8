"""A recording as inverse optimal control needs it, on the person's own joints where it shows the trunk."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy.objective import Constants, Path
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.strategy import MANIPULABILITY_GAIN
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.imitation.tasks import INNER_JOINTS
from simbench.retargeting.redundancy.robot_motion import chain_coordinates
from simbench.robot.sides import SIDES
from simbench.skills.person.anatomical_body import anatomical_body
from simbench.skills.person.anatomical_fit import fit_human, shows_trunk
from simbench.skills.person.anatomical_posture import frame_places, recorded_postures
from simbench.skills.person.task_motion import FASTEST, TaskMotion, looked_at, task_motion

HABIT = 0.6
"""1/s: how fast a person goes back to the posture a task was begun in, where it is not searched."""
# m: palms nearer than this to where they begin to work are there.
_THERE = 0.002


PERSON, ROMEO = "person", "romeo"
SKELETONS = (PERSON, ROMEO)
"""The person's own joints, and the thesis's model of a person: ROMEO's at the person's size."""


def person_motion(
    motion: HumanMotion,
    *,
    span: tuple[float, float] | None = None,
    hands: Sequence[str] = SIDES,
    skeleton: str = PERSON,
) -> TaskMotion:
    """Prepare a recording: on the person's own joints, or on the thesis's where the trunk is not recorded.

    Parameters
    ----------
    motion : HumanMotion
    span : (float, float), optional
        First and last time, s; by default the periodic motion that `find_phases` finds.
    hands : sequence of str
        Sides whose hands keep their path.
    skeleton : str
        One of `SKELETONS`; of a recording without pelvis and trunk it is always the thesis's.

    Returns
    -------
    TaskMotion
        Of `anatomical_motion`, or of `task_motion`.

    Raises
    ------
    MotionError
        As these two.
    """
    own = skeleton == PERSON and shows_trunk(motion)
    make = anatomical_motion if own else task_motion
    return make(motion, span=span, hands=hands)


def anatomical_motion(
    motion: HumanMotion,
    *,
    span: tuple[float, float] | None = None,
    hands: Sequence[str] = SIDES,
) -> TaskMotion:
    """Prepare a recording for laws of a person with spine, clavicles and two-axis wrists.

    The skeleton is fitted to the recording; pelvis, and with it where the person stands, moves as recorded.
    The person likes to return to the posture in which the hands came to where they work.

    Parameters
    ----------
    motion : HumanMotion
        Shows pelvis and trunk.
    span, hands
        As for `person_motion`.

    Returns
    -------
    TaskMotion

    Raises
    ------
    MotionError
        Nothing repeats and no span is given, fewer than two samples are within it, the stature is not known,
        or pelvis and trunk are not recorded.
    """
    if not shows_trunk(motion):
        raise MotionError(
            f"{motion.source}: both arms, pelvis and trunk must be recorded, also in the initial pose, "
            "to tell the spine's part"
        )
    motion, inside = looked_at(motion, span)
    human = fit_human(motion)
    q = recorded_postures(human, motion)
    recorded = chain_coordinates(q)
    home = recorded[_arrival(human, q[: int(np.argmax(inside)) + 1], hands)]
    body, names = anatomical_body(human, recorded[inside], hands)
    return TaskMotion(
        body,
        _path(human, q[inside], recorded[inside], home, hands),
        Constants(1.0 / motion.rate, MANIPULABILITY_GAIN, FASTEST, HABIT),
        names,
        motion.time[inside],
        recorded[inside],
        motion.source,
    )


def _arrival(human: HumanModel, q: Array, hands: Sequence[str]) -> int:
    """Sample from which the palms are where they are in the last one."""
    places = np.stack([frame_places(human, q, human.frame(f"{side}_palm")) for side in hands], axis=1)
    away = np.linalg.norm(places - places[-1], axis=2).max(axis=1) > _THERE
    return int(np.flatnonzero(away)[-1]) + 1 if away.any() else 0


def _path(human: HumanModel, q: Array, recorded: Array, home: Array, hands: Sequence[str]) -> Path:
    """Poses of the wrists, places of shoulders and elbows on the recorded configurations."""
    model, data = human.model, human.model.createData()
    rotation, position = np.empty((len(q), len(hands), 3, 3)), np.empty((len(q), len(hands), 3))
    points = np.empty((len(q), 4, 3))
    wrists = [human.frame(f"{side}_wrist") for side in hands]
    inner = [human.frame(name) for name in INNER_JOINTS]
    for t, at in enumerate(q):
        pin.framesForwardKinematics(model, data, at)
        for h, frame in enumerate(wrists):
            rotation[t, h] = data.oMi[model.frames[frame].parentJoint].rotation
            position[t, h] = data.oMf[frame].translation
        points[t] = [data.oMf[frame].translation for frame in inner]
    return Path(recorded[0].copy(), recorded, rotation, position, points, home)
