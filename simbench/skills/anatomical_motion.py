"""A recording as inverse optimal control needs it, on the person's own joints where it shows the trunk."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import savgol_filter
from simbench.kinematics.redundancy_law import LawConstants, TaskPath
from simbench.motion.actors.human_model import (
    ARM_AXES,
    ARM_JOINT_NAMES,
    CLAVICLE_JOINTS,
    SPINE_JOINTS,
    STERNOCLAVICULAR,
    HumanModel,
    compute_clavicle_angles,
    find_arms_forward_posture,
)
from simbench.motion.actors.people import MANIPULABILITY_GAIN
from simbench.motion.human_motion import HANGING_LIMB, HumanMotion
from simbench.retargeting.imitation.imitation import INNER_JOINTS
from simbench.retargeting.imitation.weighted_posture import chain_coordinates
from simbench.robot.sides import SIDES
from simbench.skills.anatomical_person import build_anatomical_body, fit_human, fit_shoulders, has_trunk
from simbench.skills.task_motion import FASTEST, TaskMotion, prepare_romeo_motion, select_samples

ORDER, WINDOW = 5, 31  # Savitzky-Golay filter of the joints' paths, as the thesis smooths what it imitates.
# The clavicles move by less than a sixth of the arm's rotation: each round leaves that fraction of an error.
_ROUNDS = 6


def compute_postures(human: HumanModel, motion: HumanMotion) -> Array:
    """Compute the configurations of a person over a recording.

    The pelvis is where its frame is; flexion, bend and twist of the spine rotate it into the thorax. The
    clavicles follow the upper arms. Elbow and swivel come from shoulder, elbow and wrist, pronation and both
    angles of the wrist from the hand's rotation since the initial pose, in which palms face down. `human`:
    model of the person from `fit_human`; `motion`: recording with pelvis and trunk. Returns (T, nq):
    configurations, smoothed.
    """
    model, data = human.model, human.model.createData()
    basic = find_arms_forward_posture(human)
    pin.framesForwardKinematics(model, data, basic)
    q = np.tile(basic, (len(motion.time), 1))
    rotations = {name: _rotation_since_initial(motion, name) for name in ("pelvis", "trunk")}
    q[:, :3] = motion.segments["pelvis"][:, :3, 3]
    q[:, 3:7] = rotations["pelvis"].as_quat()
    spine = (rotations["pelvis"].inv() * rotations["trunk"]).as_euler("YXZ")
    for name, angle in zip(SPINE_JOINTS, spine.T, strict=True):
        q[:, model.joints[model.getJointId(name)].idx_q] = angle
    # The position of the shoulders on the trunk counts, wherever trunk and pelvis have their frames' origins.
    position, _, _ = fit_shoulders(motion, STERNOCLAVICULAR * human.actor.height)
    trunk = motion.segments["trunk"]
    # The point midway between the sternoclavicular joints, where the trunk's segment and the model have it.
    above = model.jointPlacements[model.getJointId("left_clavicle_elevation")].translation[2]
    origins = compute_frame_positions(human, q, human.frames["trunk"]) + rotations["trunk"].apply(
        [0.0, 0.0, above]
    )
    q[:, :3] += trunk[:, :3, 3] + trunk[:, :3, :3] @ position - origins
    for side in SIDES:
        hand = _rotation_since_initial(motion, f"{side}_hand") * Rotation.from_matrix(
            data.oMf[human.frames[f"{side}_hand"]].rotation @ HANGING_LIMB[side].T
        )
        for _ in range(_ROUNDS):
            _set_arm(human, q, motion, side, hand, rotations["trunk"])
    window = min(WINDOW, len(q) - 1 + len(q) % 2)
    if window > ORDER:
        q = savgol_filter(q, window, ORDER)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    for side in SIDES:
        _set_clavicles(human, q, side)
    return q


def _set_arm(
    human: HumanModel, q: Array, motion: HumanMotion, side: str, hand: Rotation, trunk: Rotation
) -> None:
    """Write the arm's seven joints, then the clavicle's two that follow them, in place."""
    # As `HumanModel` has them.
    sign = 1.0 if side == "left" else -1.0
    axes = {name: np.array([sign, 1.0, sign]) * np.array(axis) for name, (axis, _) in ARM_AXES.items()}
    shoulder = compute_frame_positions(human, q, human.frames[f"{side}_shoulder"])
    upper, fore = human.proportions.upper_arm, human.proportions.forearm
    upper, fore = upper * human.actor.height, fore * human.actor.height
    to_wrist = motion.joints[f"{side}_wrist"] - shoulder
    reach = np.linalg.norm(to_wrist, axis=1)
    cosine = np.clip((reach**2 - upper**2 - fore**2) / (2.0 * upper * fore), -1.0, 1.0)
    bend = np.arccos(cosine)
    line = to_wrist / reach[:, None]
    out = motion.joints[f"{side}_elbow"] - shoulder
    out -= line * np.sum(out * line, axis=1, keepdims=True)
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    along = (upper + fore * cosine) / reach
    across = np.sqrt(np.maximum(1.0 - along**2, 0.0))
    arm = line * along[:, None] + out * across[:, None]
    forearm = (to_wrist - upper * arm) / fore
    # Limbs hang along -z; flexion of the elbow turns the forearm from there to +x.
    z = -arm
    x = forearm - arm * np.sum(forearm * arm, axis=1, keepdims=True)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    humerus = Rotation.from_matrix(np.stack([x, np.cross(z, x), z], axis=2))
    girdle = trunk
    for name, index in zip(CLAVICLE_JOINTS, human.clavicles[side], strict=True):
        girdle = girdle * Rotation.from_rotvec(q[:, index, None] * axes[name])
    first = _decompose(girdle.inv() * humerus, [axes[name] for name in ARM_JOINT_NAMES[:3]])
    radius = humerus * Rotation.from_rotvec(bend[:, None] * axes["elbow_flexion"])
    last = _decompose(radius.inv() * hand, [axes[name] for name in ARM_JOINT_NAMES[4:]])
    q[:, human.arms[side]] = np.column_stack([first, bend, last])
    _set_clavicles(human, q, side)


def _set_clavicles(human: HumanModel, q: Array, side: str) -> None:
    """Write the angles at which a clavicle follows its arm, in place."""
    for configuration in q:
        configuration[human.clavicles[side]] = compute_clavicle_angles(
            human, configuration[human.arms[side]]
        )[0]


def _decompose(rotation: Rotation, axes: list[Array]) -> Array:
    """Angles (T, 3) about three intrinsic axes, continuous over time."""
    return np.asarray(np.unwrap(rotation.as_davenport(np.array(axes), "intrinsic"), axis=0))


def _rotation_since_initial(motion: HumanMotion, segment: str) -> Rotation:
    """Rotation of a segment in the world against its initial pose."""
    now = Rotation.from_matrix(motion.segments[segment][:, :3, :3])
    return now * Rotation.from_matrix(motion.initial.segments[segment][:3, :3]).inv()


def compute_frame_positions(human: HumanModel, q: Array, frame: int) -> Array:
    """Compute the position of a frame of the model over configurations.

    `human`: the person's model; `q` (T, nq); `frame`: Pinocchio's id of the frame. Returns (T, 3): positions
    in the world, m.
    """
    data = human.model.createData()
    positions = np.empty((len(q), 3))
    for t, configuration in enumerate(q):
        pin.forwardKinematics(human.model, data, configuration)
        positions[t] = pin.updateFramePlacement(human.model, data, frame).translation
    return positions


# 1/s: rate at which a person goes back to the posture a task was begun in, where it is not searched.
HABIT = 0.6
# m: palms nearer than this to where they begin to work have arrived.
_ARRIVED = 0.002


PERSON, ROMEO = "person", "romeo"
# The person's own joints, and the thesis's model of a person: ROMEO's at the person's size.
SKELETONS = (PERSON, ROMEO)


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
    motion: HumanMotion, *, span: tuple[float, float] | None = None, hands: Sequence[str] = SIDES
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
        [compute_frame_positions(human, q, human.frames[f"{side}_palm"]) for side in hands], axis=1
    )
    away = np.linalg.norm(positions - positions[-1], axis=2).max(axis=1) > _ARRIVED
    return int(np.flatnonzero(away)[-1]) + 1 if away.any() else 0


def _path(human: HumanModel, q: Array, recorded: Array, home: Array, hands: Sequence[str]) -> TaskPath:
    """Poses of the wrists, positions of shoulders and elbows on the recorded configurations."""
    model, data = human.model, human.model.createData()
    rotation, position = np.empty((len(q), len(hands), 3, 3)), np.empty((len(q), len(hands), 3))
    points = np.empty((len(q), 4, 3))
    wrists = [human.frames[f"{side}_wrist"] for side in hands]
    inner = [human.frames[name] for name in INNER_JOINTS]
    for t, at in enumerate(q):
        pin.framesForwardKinematics(model, data, at)
        for h, frame in enumerate(wrists):
            rotation[t, h] = data.oMi[model.frames[frame].parentJoint].rotation
            position[t, h] = data.oMf[frame].translation
        points[t] = [data.oMf[frame].translation for frame in inner]
    return TaskPath(recorded[0].copy(), recorded, rotation, position, points, home)
