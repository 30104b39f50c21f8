"""A person with their own joints, whose redundancy laws resolve: spine, clavicles, shoulders to wrists."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import Anatomy, SkillBody
from simbench.kinematics.task_matrix import body_masses
from simbench.kinematics.tree import ancestors, frame_on_body, kinematic_tree
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, CLAVICLE_JOINTS, SPINE_JOINTS, HumanModel
from simbench.motion.actors.posture import CLAVICLE_ELEVATION, CLAVICLE_PROTRACTION
from simbench.motion.actors.reaching import (
    LEAST_ABDUCTION_BEFORE,
    LEAST_ABDUCTION_BESIDE,
    LIMIT_MARGIN,
    SINE_IN_FRONT,
    WORKING_FLEXION,
    compute_least_abduction,
)
from simbench.motion.actors.redundancy import FREE_FRACTION, STIFFENING, STOPPING_TIME
from simbench.motion.actors.strategy import ERGONOMIC
from simbench.retargeting.imitation.imitation import INNER_JOINTS
from simbench.retargeting.imitation.weighted_posture import masses_on_virtual_joints, tree_on_virtual_joints
from simbench.robot.dh.romeo_table import BASE_JOINTS
from simbench.robot.sides import SIDES


def build_anatomical_body(
    human: HumanModel, recorded: Array, hands: Sequence[str] = SIDES
) -> tuple[SkillBody, tuple[str, ...]]:
    """Put a person's skeleton on the thesis's six virtual joints, which move as recorded.

    The law resolves the spine and both arms, r = 17. The clavicles follow the arms. Ranges are an average
    person's, widened to hold what was recorded. `human`: kinematic and inertial model of the person;
    `recorded` (T, n): coordinates of the recording, rad or m; `hands`: sides whose hands keep their path.
    Returns `body`: body whose redundancy laws resolve; its hands are the wrists' frames; `names`: names of
    the n = 27 coordinates.
    """
    model = human.model
    tree = tree_on_virtual_joints(kinematic_tree(model))
    names = (*BASE_JOINTS, *model.names[2:])
    arms = [f"{side}_{joint}" for side in SIDES for joint in ARM_JOINT_NAMES]
    free = np.array([names.index(name) for name in (*SPINE_JOINTS, *arms)])
    resolved, shift = np.sort(free), len(BASE_JOINTS)
    wrists, points = (
        [frame_on_body(model, human.frame(name)) for name in frames]
        for frames in ([f"{side}_wrist" for side in hands], INNER_JOINTS)
    )
    hand_body = np.array([body + shift for body, _, _ in wrists])
    ergonomic = np.zeros(len(names))
    ergonomic[free], ergonomic[:shift] = ERGONOMIC, recorded[0, :shift]
    lower, upper = _find_ranges(human, names, resolved)
    return SkillBody(
        tree=tree,
        masses=masses_on_virtual_joints(body_masses(model)),
        rotor_inertia=np.zeros(len(names)),
        resolved=resolved,
        manipulating=resolved,
        hand_body=hand_body,
        hand_point=np.array([position for _, _, position in wrists]),
        moves_hand=ancestors(tree)[hand_body] > 0.0,
        point_body=np.array([body + shift for body, _, _ in points]),
        point=np.array([position for _, _, position in points]),
        ergonomic=ergonomic,
        lower=np.minimum(lower, recorded.min(axis=0)),
        upper=np.maximum(upper, recorded.max(axis=0)),
        anatomy=_make_anatomy(human, names, recorded, lower, upper),
    ), names


def _find_ranges(
    human: HumanModel, names: tuple[str, ...], resolved: NDArray[np.int64]
) -> tuple[Array, Array]:
    """Find the ranges in which the joints work, rad; infinite for coordinates that no law resolves."""
    lower, upper = (np.full(len(names), bound) for bound in (-np.inf, np.inf))
    # The model's joints follow the virtual ones in the same order, in q after seven numbers of the root.
    in_q = resolved - len(BASE_JOINTS) + 7
    lower[resolved] = human.model.lowerPositionLimit[in_q] + LIMIT_MARGIN
    upper[resolved] = human.model.upperPositionLimit[in_q] - LIMIT_MARGIN
    flexion = names.index("spine_flexion")
    lower[flexion], upper[flexion] = WORKING_FLEXION
    return lower, upper


def _make_anatomy(
    human: HumanModel, names: tuple[str, ...], recorded: Array, lower: Array, upper: Array
) -> Anatomy:
    """Describe how a person's joints limit and move each other."""
    flexion, slack = np.full(len(names), -1), np.zeros(len(names))
    for side in SIDES:
        arm, forward = (names.index(f"{side}_shoulder_{angle}") for angle in ("abduction", "flexion"))
        flexion[arm] = forward
        # A slimmer person, or one whose arm presses into the flesh: the median leaves out mere moments.
        closer = compute_least_abduction(recorded[:, forward]) - recorded[:, arm]
        slack[arm] = max(0.0, float(np.median(closer)))
    return Anatomy(
        free_fraction=FREE_FRACTION,
        stiffening=STIFFENING,
        stopping_time=STOPPING_TIME,
        lower=lower,
        upper=upper,
        flexion=flexion,
        slack=slack,
        least_beside=float(LEAST_ABDUCTION_BESIDE),
        least_before=float(LEAST_ABDUCTION_BEFORE),
        sine_in_front=SINE_IN_FRONT,
        clavicles=np.array(
            [
                [names.index(f"{side}_{joint}") for joint in (*CLAVICLE_JOINTS, *ARM_JOINT_NAMES[:2])]
                for side in SIDES
            ]
        ),
        elevation=human.shoulder_lift * CLAVICLE_ELEVATION,
        protraction=human.shoulder_lift * CLAVICLE_PROTRACTION,
    )
