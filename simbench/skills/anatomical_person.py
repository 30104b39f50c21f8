"""The recorded person with their own joints, whose redundancy laws resolve.

`fit_human` builds the skeleton as a recording shows it: segment lengths, shoulders, how far the girdle
follows; `build_anatomical_body` takes its spine, clavicles, shoulders to wrists.
"""

from collections.abc import Sequence

import numpy as np
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import Anatomy, SkillBody
from simbench.kinematics.task_matrix import body_masses
from simbench.kinematics.tree import ancestors, frame_on_body, kinematic_tree
from simbench.motion.actors.human_model import (
    ARM_JOINT_NAMES,
    AVERAGE,
    CLAVICLE_ELEVATION,
    CLAVICLE_JOINTS,
    CLAVICLE_PROTRACTION,
    SPINE_JOINTS,
    STERNOCLAVICULAR,
    HumanModel,
    Proportions,
)
from simbench.motion.actors.palm_control import (
    FREE_FRACTION,
    LEAST_ABDUCTION_BEFORE,
    LEAST_ABDUCTION_BESIDE,
    LIMIT_MARGIN,
    SINE_IN_FRONT,
    STIFFENING,
    STOPPING_TIME,
    WORKING_FLEXION,
    compute_least_abduction,
)
from simbench.motion.actors.people import ERGONOMIC
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.imitation.imitation import INNER_JOINTS
from simbench.retargeting.imitation.weighted_posture import masses_on_virtual_joints, tree_on_virtual_joints
from simbench.robot.human_skeleton import BASE_JOINTS
from simbench.robot.sides import SIDES

# Segments without which the motion of spine and shoulder girdle cannot be identified.
TRUNK = ("pelvis", "trunk")
# A trunk, hips to shoulders, whose length differs from the average by more than this fraction is none: what
# the source calls pelvis is elsewhere.
_TRUNK_SPREAD = 0.15
LIFTS = 0.0, 2.0  # How much a shoulder girdle may follow the arms, as a multiple of the average.
# A recording in which the upper arms move less than this (range of how far they are raised or point forward)
# does not show how the shoulder girdle follows; it is then taken to follow as an average person's.
_LEAST_MOTION = 0.3


def has_trunk(motion: HumanMotion) -> bool:
    """Tell whether a recording has what `fit_human` needs: both arms, pelvis and trunk, also initially.

    Returns whether the wrists are recorded, and the segments `TRUNK` during the motion and in the initial
    pose.
    """
    recorded = (motion.segments, motion.initial.segments)
    both = all(f"{side}_wrist" in motion.joints for side in SIDES)
    return both and all(name in segments for segments in recorded for name in TRUNK)


def fit_human(motion: HumanMotion) -> HumanModel:
    """Build the recorded person: stature and mass as the file says, lengths and shoulders as recorded.

    `motion`: recording with pelvis and trunk. Returns kinematic and inertial model of the person.
    """
    if motion.actor is None:
        raise MotionError(f"{motion.source}: the person's stature is needed for the masses of the body")
    height = motion.actor.height
    upper, fore = (
        # Mean length over the recording, both sides, m.
        float(
            np.mean(
                np.linalg.norm(
                    [motion.joints[f"{side}_{far}"] - motion.joints[f"{side}_{near}"] for side in SIDES],
                    axis=2,
                )
            )
        )
        for near, far in (("shoulder", "elbow"), ("elbow", "wrist"))
    )
    position, clavicle, lift = fit_shoulders(motion, STERNOCLAVICULAR * height)
    usual = AVERAGE.shoulder_height - AVERAGE.hip_height
    trunk = usual * height
    if "pelvis" in motion.initial.joints:
        # Distance of the sternoclavicular joints from the hips in the initial pose, m.
        pose = motion.initial.segments["trunk"]
        middle = pose[:3, :3] @ position + pose[:3, 3]
        found = float(np.linalg.norm(middle - motion.initial.joints["pelvis"]))
        if abs(found / (usual * height) - 1.0) < _TRUNK_SPREAD:
            trunk = found
    # The hips' height and the levels of the spine only distribute the trunk's motion.
    return HumanModel(
        motion.actor,
        Proportions(
            hip_height=AVERAGE.hip_height,
            shoulder_height=AVERAGE.hip_height + trunk / height,
            shoulder_half_width=clavicle / height + STERNOCLAVICULAR,
            upper_arm=upper / height,
            forearm=fore / height,
        ),
        lift,
    )


def fit_shoulders(motion: HumanMotion, middle: float) -> tuple[Array, float, float]:
    """Fit how the shoulders move on the thorax: they go up and forward as the upper arms do.

    Least squares of both shoulders' positions in the thorax's axes over the whole recording. `motion`:
    recording with the trunk; `middle`: distance of the sternoclavicular joints from the midline, m. Returns
    `position` (3,): position of the point midway between the sternoclavicular joints in the trunk's frame, m;
    `clavicle`: length from the sternoclavicular joint to the shoulder, m; `lift`: how much the clavicles
    follow the upper arms, 1 on average.
    """
    trunk = motion.segments["trunk"]
    positions, arms = [], []
    for side in SIDES:
        mirror = np.array([1.0, 1.0 if side == "left" else -1.0, 1.0])
        shoulder, elbow = (motion.joints[f"{side}_{name}"] for name in ("shoulder", "elbow"))
        positions.append(mirror * _express_in(trunk, shoulder - trunk[:, :3, 3]))
        along = elbow - shoulder
        arms.append(mirror * _express_in(trunk, along / np.linalg.norm(along, axis=1, keepdims=True)))
    position, arm = np.concatenate(positions), np.concatenate(arms)
    forward, up = arm[:, 0], 1.0 + arm[:, 2]
    shows_lift = max(float(np.ptp(forward)), float(np.ptp(up))) > _LEAST_MOTION

    def miss(values: Array) -> Array:
        ahead, above, clavicle, lift = values
        raised, swung = lift * CLAVICLE_ELEVATION * up, lift * CLAVICLE_PROTRACTION * forward
        x = ahead + clavicle * np.sin(swung)
        y = middle + clavicle * np.cos(swung) * np.cos(raised)
        z = above + clavicle * np.cos(swung) * np.sin(raised)
        return np.asarray((np.stack([x, y, z], axis=1) - position).ravel())

    x, y, z = position.mean(axis=0)
    if shows_lift:
        free = [np.inf] * 3
        bounds = ([*(-bound for bound in free), LIFTS[0]], [*free, LIFTS[1]])
        fitted = least_squares(miss, [x, z, y - middle, 1.0], bounds=bounds).x
    else:
        fitted = np.append(
            least_squares(lambda values: miss(np.append(values, 1.0)), [x, z, y - middle]).x, 1.0
        )
    return np.array([fitted[0], 0.0, fitted[1]]), float(fitted[2]), float(fitted[3])


def _express_in(frames: Array, vectors: Array) -> Array:
    """Express vectors (T, 3) in the axes of frames (T, 4, 4)."""
    return np.asarray(Rotation.from_matrix(frames[:, :3, :3]).inv().apply(vectors))


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
        [frame_on_body(model, human.frames[name]) for name in frames]
        for frames in ([f"{side}_wrist" for side in hands], INNER_JOINTS)
    )
    hand_body = np.array([body + shift for body, _, _ in wrists])
    ergonomic = np.zeros(len(names))
    ergonomic[free], ergonomic[:shift] = ERGONOMIC, recorded[0, :shift]
    # The ranges in which the joints work, rad; infinite for coordinates that no law resolves. The model's
    # joints follow the virtual ones in the same order, in q after seven numbers of the root.
    lower, upper = (np.full(len(names), bound) for bound in (-np.inf, np.inf))
    in_q = resolved - len(BASE_JOINTS) + 7
    lower[resolved] = model.lowerPositionLimit[in_q] + LIMIT_MARGIN
    upper[resolved] = model.upperPositionLimit[in_q] - LIMIT_MARGIN
    spine = names.index("spine_flexion")
    lower[spine], upper[spine] = WORKING_FLEXION
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
