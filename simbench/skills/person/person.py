"""The person who was recorded: ROMEO's upper body at their size, with their masses, on virtual joints."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import SkillBody, make_plain_anatomy
from simbench.kinematics.task_matrix import BodyMasses, body_masses
from simbench.kinematics.tree import ancestors, frame_on_body, kinematic_tree
from simbench.motion.human_motion import Actor, InitialPose
from simbench.retargeting.imitation.imitation import INNER_JOINTS
from simbench.retargeting.imitation.scaled_model import ScaledActor, segment_lengths
from simbench.retargeting.imitation.weighted_posture import (
    ergonomic_angle,
    masses_on_virtual_joints,
    tree_on_virtual_joints,
)
from simbench.robot.dh.romeo_table import BASE_JOINTS, UpperBodyLengths
from simbench.robot.human.average_person import Sex, average_measures
from simbench.robot.human.body_segments import predict_body, segment_inertia
from simbench.robot.human.human import Human, build_human
from simbench.robot.human.human_skeleton import basic_placements, skeleton_lengths
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
    measures, recorded = average_measures(sex, actor.height, mass), segment_lengths(initial.joints)
    lengths = replace(
        skeleton_lengths(measures, actor.height),
        shoulder_width=recorded.shoulder_width,
        upper_arm=float(np.mean(list(recorded.upper_arm.values()))),
        forearm=float(np.mean(list(recorded.forearm.values()))),
    )
    return build_human(predict_body(measures, mass), lengths), lengths


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
