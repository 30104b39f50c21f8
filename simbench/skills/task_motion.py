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
from simbench.kinematics.redundancy_body import SkillBody, make_plain_anatomy
from simbench.kinematics.redundancy_law import LawConstants, TaskPath
from simbench.kinematics.task_matrix import BodyMasses, body_masses
from simbench.kinematics.tree import ancestors, frame_on_body, kinematic_tree
from simbench.motion.human_motion import Actor, HumanMotion, InitialPose, resample
from simbench.motion.phases import find_phases
from simbench.retargeting.imitation.imitation import INNER_JOINTS, imitate
from simbench.retargeting.imitation.scaled_model import ScaledActor, calibrate, segment_lengths
from simbench.retargeting.imitation.weighted_posture import (
    chain_coordinates,
    ergonomic_angle,
    masses_on_virtual_joints,
    tree_on_virtual_joints,
)
from simbench.robot.anthropometry import Sex, average_measures
from simbench.robot.body_segments import HanavanBody, segment_inertia
from simbench.robot.human import Human
from simbench.robot.human_skeleton import BASE_JOINTS, UpperBodyLengths, basic_placements, skeleton_lengths
from simbench.robot.sides import SIDES

# Virtual joints that stand for the spine; the others place the person.
_SPINE = ("BaseRoll", "BasePitch")


def build_person(actor: Actor | None, initial: InitialPose, source: str) -> tuple[Human, UpperBodyLengths]:
    """Build the body of the recorded person: average measures, arms and shoulders as recorded.

    `actor`: the person. Sex unknown: a man's measures; mass unknown: that of a body mass index of 22 kg/m².
    `initial`: initial pose of the recording, from which the lengths come. `source`: name of the recording,
    for messages. Returns `human`: body with masses and joints; `lengths`: segment lengths of the human.
    """
    if actor is None:
        raise MotionError(f"{source}: the person's stature is needed for the masses of the body")
    sex: Sex = "female" if actor.sex == "female" else "male"
    mass = actor.mass if actor.mass is not None else 22.0 * actor.height**2
    measures = average_measures(sex, actor.height, mass)
    shoulder_width, upper_arm, forearm = segment_lengths(initial.joints)
    lengths = replace(
        skeleton_lengths(measures, actor.height),
        shoulder_width=shoulder_width,
        upper_arm=float(np.mean(list(upper_arm.values()))),
        forearm=float(np.mean(list(forearm.values()))),
    )
    return Human(HanavanBody(measures, mass), lengths), lengths


def build_romeo_body(
    actor: ScaledActor,
    human: Human,
    lengths: UpperBodyLengths,
    imitated: Array,
    given: Iterable[str] = (),
    hands: Sequence[str] = SIDES,
    limited: bool = False,
) -> tuple[SkillBody, tuple[str, ...]]:
    """Put the scaled model on the six virtual joints of legs and spine.

    `actor`: model of `human.robot`, scaled to the person. `human`: the person's body. `lengths`: segment
    lengths of the human. `imitated` (T, n): coordinates that the recording asks for, rad or m. The ergonomic
    position and heading of the base are those at sample 0, where the person chose to stand. `given`: names of
    the coordinates that no law resolves. `hands`: sides whose hands keep their path. `limited`: whether to
    keep the human's joint limits, widened to contain `imitated`. Returns `body`: body whose redundancy laws
    resolve; its hands are the wrists; `names`: names of the coordinates.
    """
    model = actor.model
    names = (*BASE_JOINTS, *model.names[2:])
    given = tuple(given)
    unknown = [name for name in given if name not in names]
    if unknown:
        raise MotionError(f"coordinates {', '.join(unknown)}: unknown; known: {', '.join(names)}")
    tree = tree_on_virtual_joints(kinematic_tree(model))
    wrists = [frame_on_body(model, actor.joints[f"{side}_wrist"]) for side in hands]
    points = [frame_on_body(model, actor.joints[name]) for name in INNER_JOINTS]
    shift = len(BASE_JOINTS)
    hand_body = np.array([body + shift for body, _, _ in wrists])
    lower, upper = (np.full(len(names), bound) for bound in (-np.inf, np.inf))
    if limited:
        lower[shift:] = np.minimum(model.lowerPositionLimit[7:], imitated[:, shift:].min(axis=0))
        upper[shift:] = np.maximum(model.upperPositionLimit[7:], imitated[:, shift:].max(axis=0))
    ergonomic = np.array([ergonomic_angle(name) for name in names])
    ergonomic[:4] = imitated[0, :4]
    return SkillBody(
        tree=tree,
        masses=_upper_body_masses(model, human, lengths),
        rotor_inertia=np.zeros(len(names)),
        resolved=np.array([k for k, name in enumerate(names) if name not in given]),
        manipulating=np.array([k for k, name in enumerate(names) if name not in given or name in _SPINE]),
        hand_body=hand_body,
        hand_point=np.array([position for _, _, position in wrists]),
        moves_hand=ancestors(tree)[hand_body] > 0.0,
        point_body=np.array([body + shift for body, _, _ in points]),
        point=np.array([position for _, _, position in points]),
        ergonomic=ergonomic,
        lower=lower,
        upper=upper,
        anatomy=make_plain_anatomy(len(names)),
    ), names


def _upper_body_masses(model: pin.Model, human: Human, lengths: UpperBodyLengths) -> BodyMasses:
    """Masses of the bodies; the root's is the pelvis alone, for the virtual joints stand for the legs."""
    upright = model.copy()
    pelvis = basic_placements(human.body, lengths)["lower_trunk"]
    upright.inertias[1] = pelvis.act(segment_inertia(human.body.segments["lower_trunk"]))
    return masses_on_virtual_joints(body_masses(upright))


# p of the manipulability criterion for a person, whose spine helps to reach. The thesis prints 10⁶, with
# which arms would turn at hundreds of rad/s, yet it finds that this criterion alone mostly moves as velocity
# alone does. With this p it pushes the joints of arms at work at 0.05 to 2.5 rad/s.
GAIN = 60.0
FASTEST = 10.0  # rad/s: no joint of a person turns faster at work.
_EVEN = 1e-3  # Unevenness of samples in time, as part of their distance, from which a recording is resampled.


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
    Returns the recording on the thesis's model of a person. Raises MotionError nothing repeats and no span is
    given, or fewer than two samples are within it.
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
        LawConstants(1.0 / motion.rate, gain, FASTEST),
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
