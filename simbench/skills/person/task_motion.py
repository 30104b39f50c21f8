"""A recording as inverse optimal control needs it: a person's body, paths of hands, shoulders and elbows.

A recording can be cut into its repetitions, so that a law starts each from the posture recorded there.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import SkillBody
from simbench.kinematics.redundancy_law import LawConstants, TaskPath
from simbench.motion.human_motion import HumanMotion, resample
from simbench.motion.phases import find_phases
from simbench.retargeting.imitation.imitation import INNER_JOINTS, imitate
from simbench.retargeting.imitation.scaled_model import ScaledActor, calibrate
from simbench.retargeting.imitation.weighted_posture import chain_coordinates
from simbench.robot.dh.romeo_table import BASE_JOINTS
from simbench.robot.sides import SIDES
from simbench.skills.person.person import build_person, build_romeo_body

GAIN = 60.0
"""p of the manipulability criterion for a person, whose spine helps to reach. The thesis prints 10⁶, with
which arms would turn at hundreds of rad/s, yet it finds that this criterion alone mostly moves as velocity
alone does. With this p it pushes the joints of arms at work at 0.05 to 2.5 rad/s."""
FASTEST = 10.0
"""rad/s: no joint of a person turns faster at work."""
_EVEN = 1e-3
"""Unevenness of samples in time, as part of their distance, from which a recording is resampled."""


@dataclass(frozen=True)
class TaskMotion:
    """The periodic part of a recording, ready for laws to imitate."""

    body: SkillBody  # The person's body.
    path: TaskPath  # Paths of hands, prescribed coordinates, shoulders and elbows.
    constants: LawConstants  # Numbers of the laws.
    # Coordinates in the order of the tree: the thesis's virtual joints of legs and spine, then ROMEO's or the
    # person's own.
    names: tuple[str, ...]
    time: Array  # (T,): sample times of the recording, s.
    imitated: Array  # (T, n): coordinates that imitation found, rad or m.
    source: str  # Name of the recording.

    @property
    def duration(self) -> float:
        """Time from the first sample to the last, s."""
        return self.constants.period * (len(self.time) - 1)


def prepare_romeo_motion(
    motion: HumanMotion,
    *,
    span: tuple[float, float] | None = None,
    given: Iterable[str] = BASE_JOINTS,
    hands: Sequence[str] = SIDES,
    limited: bool = False,
    gain: float = GAIN,
    fastest: float = FASTEST,
) -> TaskMotion:
    """Prepare a recording (Tomić 2018, chapters 3 and 4).

    The scaled model is ROMEO's upper body with the person's segment lengths and the masses of the person's
    Hanavan body without legs; its 21 coordinates are the six virtual joints of legs and spine, the trunk's
    yaw and both arms: neck and head rest. The paths of the hands, and those that shoulders and elbows should
    take, are the model's after imitation. `span`: first and last time, s; by default the periodic motion that
    `find_phases` finds. `given`: coordinates that move as imitation found them instead of by the law. By
    default the six virtual joints, so that the law resolves trunk yaw and arms, r = 15: with them it would
    rather slide the pelvis than bend an elbow, and det(JJᵀ) would depend on the position of the pelvis.
    Empty: all 21. `hands`: sides whose hands keep their path. `limited`: keep a person's joint ranges,
    widened to hold what was imitated. A law that looks one sample ahead can run into a corner of them, from
    where the hands cannot go on; by default there are none. `gain`: p of the manipulability criterion.
    `fastest`: speed up to which coordinates move in the null space of the hands, rad/s and m/s. Returns the
    recording on the thesis's model of a person. Raises MotionError nothing repeats and no span is given, or
    fewer than two samples are within it.
    """
    motion, inside = select_samples(motion, span)
    human, lengths = build_person(motion.actor, motion.initial, motion.source)
    actor = calibrate(human.robot, motion)
    q = imitate(actor, motion).q[inside]
    imitated = chain_coordinates(q)
    body, names = build_romeo_body(actor, human, lengths, imitated, given, hands, limited)
    return TaskMotion(
        body,
        _path(actor, q, imitated, hands),
        LawConstants(1.0 / motion.rate, gain, fastest),
        names,
        motion.time[inside],
        imitated,
        motion.source,
    )


def select_samples(
    motion: HumanMotion, span: tuple[float, float] | None
) -> tuple[HumanMotion, NDArray[np.bool_]]:
    """Select the samples of a recording that are analysed.

    `span`: first and last time, s; None for the periodic motion. Returns `motion`: the recording, evenly
    sampled; `inside` (T,) bool: whether a sample is analysed.
    """
    chosen = span if span is not None else find_phases(motion).pmp
    if chosen is None:
        raise MotionError(f"{motion.source}: nothing repeats in it; give the span to be analysed")
    steps = np.diff(motion.time)
    if np.ptp(steps) > _EVEN * steps.mean():
        motion = resample(motion, motion.rate)
    inside = (motion.time >= chosen[0] - 1e-9) & (motion.time <= chosen[1] + 1e-9)
    if np.count_nonzero(inside) < 2:
        raise MotionError(f"{motion.source}: fewer than two samples from {chosen[0]:g} s to {chosen[1]:g} s")
    return motion, inside


def _path(actor: ScaledActor, q: Array, imitated: Array, hands: Sequence[str]) -> TaskPath:
    """Poses of the wrists, positions of shoulders and elbows on an imitated motion."""
    model, data = actor.model, actor.model.createData()
    rotation, position = np.empty((len(q), len(hands), 3, 3)), np.empty((len(q), len(hands), 3))
    points = np.empty((len(q), 4, 3))
    for t, at in enumerate(q):
        pin.framesForwardKinematics(model, data, at)
        for h, side in enumerate(hands):
            frame = actor.joints[f"{side}_wrist"]
            rotation[t, h] = data.oMi[model.frames[frame].parentJoint].rotation
            position[t, h] = data.oMf[frame].translation
        points[t] = [data.oMf[actor.joints[name]].translation for name in INNER_JOINTS]
    return TaskPath(imitated[0].copy(), imitated, rotation, position, points, imitated[0].copy())


def split_task(task: TaskMotion, motion: HumanMotion, whole: bool) -> tuple[TaskMotion, ...]:
    """Take a prepared recording as a whole, or each of its repetitions.

    `motion`: the recording, in which `find_phases` finds the repetitions; `whole`: whether it is taken as a
    whole. Returns the recording alone, or its repetitions.
    """
    return (task,) if whole else cut_repetitions(task, find_phases(motion).boundaries)


def cut_repetitions(task: TaskMotion, boundaries: ArrayLike) -> tuple[TaskMotion, ...]:
    """Cut a recording into repetitions.

    A law that resolves redundancy sample by sample does not come back to the posture from which a repetition
    began: over many it drifts, where people return. What it has to explain is a repetition. `task`: the
    prepared recording; `boundaries` (N + 1,) _like: times at which repetitions begin and the last one ends,
    s, as `find_phases` finds them. Returns the N repetitions; neighbours share a sample.
    """
    cuts = np.searchsorted(task.time, np.asarray(boundaries) - 0.5 * task.constants.period)
    cuts = np.minimum(cuts, len(task.time) - 1)
    if len(cuts) < 2 or np.diff(cuts).min() < 1:
        raise MotionError(
            f"{task.source}: boundaries {np.asarray(boundaries).tolist()} s cut nothing out of it"
        )
    return tuple(_cut(task, slice(first, last + 1)) for first, last in pairwise(cuts))


def _cut(task: TaskMotion, samples: slice) -> TaskMotion:
    """Take some samples of a recording; a law starts from the posture of the first."""
    path = task.path
    return replace(
        task,
        path=path._replace(
            start=task.imitated[samples][0].copy(),
            prescribed=path.prescribed[samples],
            hand_rotation=path.hand_rotation[samples],
            hand_position=path.hand_position[samples],
            points=path.points[samples],
        ),
        time=task.time[samples],
        imitated=task.imitated[samples],
    )
