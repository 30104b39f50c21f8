"""A recording as inverse optimal control needs it, on the person's own joints where it shows the trunk."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_law import LawConstants, TaskPath
from simbench.motion.actors.human_model import HumanModel
from simbench.motion.actors.strategy import MANIPULABILITY_GAIN
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.imitation.imitation import INNER_JOINTS
from simbench.retargeting.imitation.weighted_posture import chain_coordinates
from simbench.robot.sides import SIDES
from simbench.skills.person.anatomical_body import build_anatomical_body
from simbench.skills.person.anatomical_fit import fit_human, has_trunk
from simbench.skills.person.anatomical_posture import compute_frame_positions, compute_postures
from simbench.skills.person.task_motion import FASTEST, TaskMotion, prepare_romeo_motion, select_samples

HABIT = 0.6
"""1/s: rate at which a person goes back to the posture a task was begun in, where it is not searched."""
# m: palms nearer than this to where they begin to work have arrived.
_ARRIVED = 0.002


PERSON, ROMEO = "person", "romeo"
SKELETONS = (PERSON, ROMEO)
"""The person's own joints, and the thesis's model of a person: ROMEO's at the person's size."""


def prepare_motion(
    motion: HumanMotion,
    *,
    span: tuple[float, float] | None = None,
    hands: Sequence[str] = SIDES,
    skeleton: str = PERSON,
) -> TaskMotion:
    """Prepare a recording: on the person's own joints, or on the thesis's where the trunk is not recorded.

    `span`: first and last time, s; by default the periodic motion that `find_phases` finds; `hands`: sides
    whose hands keep their path; `skeleton`: one of `SKELETONS`; for a recording without pelvis and trunk it
    is always the thesis's. Returns result of `prepare_anatomical_motion` or of `prepare_romeo_motion`. Raises
    MotionError one of these two raises it.
    """
    anatomical = skeleton == PERSON and has_trunk(motion)
    make = prepare_anatomical_motion if anatomical else prepare_romeo_motion
    return make(motion, span=span, hands=hands)


def prepare_anatomical_motion(
    motion: HumanMotion,
    *,
    span: tuple[float, float] | None = None,
    hands: Sequence[str] = SIDES,
) -> TaskMotion:
    """Prepare a recording for laws of a person with spine, clavicles and two-axis wrists.

    The skeleton is fitted to the recording; pelvis, and with it where the person stands, moves as recorded.
    The person likes to return to the posture in which the hands came to where they work. `motion`: recording
    with pelvis and trunk; `span`: first and last time, s; by default the periodic motion that `find_phases`
    finds; `hands`: sides whose hands keep their path. Returns the recording on the person's own joints.
    """
    if not has_trunk(motion):
        raise MotionError(
            f"{motion.source}: both arms, pelvis and trunk must be recorded, also in the initial pose, "
            "to tell the spine's part"
        )
    motion, inside = select_samples(motion, span)
    human = fit_human(motion)
    q = compute_postures(human, motion)
    recorded = chain_coordinates(q)
    home = recorded[_find_arrival(human, q[: int(np.argmax(inside)) + 1], hands)]
    body, names = build_anatomical_body(human, recorded[inside], hands)
    return TaskMotion(
        body,
        _path(human, q[inside], recorded[inside], home, hands),
        LawConstants(1.0 / motion.rate, MANIPULABILITY_GAIN, FASTEST, HABIT),
        names,
        motion.time[inside],
        recorded[inside],
        motion.source,
    )


def _find_arrival(human: HumanModel, q: Array, hands: Sequence[str]) -> int:
    """Find the sample from which on the palms stay where they are in the last one."""
    positions = np.stack(
        [compute_frame_positions(human, q, human.frame(f"{side}_palm")) for side in hands], axis=1
    )
    away = np.linalg.norm(positions - positions[-1], axis=2).max(axis=1) > _ARRIVED
    return int(np.flatnonzero(away)[-1]) + 1 if away.any() else 0


def _path(human: HumanModel, q: Array, recorded: Array, home: Array, hands: Sequence[str]) -> TaskPath:
    """Poses of the wrists, positions of shoulders and elbows on the recorded configurations."""
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
    return TaskPath(recorded[0].copy(), recorded, rotation, position, points, home)
