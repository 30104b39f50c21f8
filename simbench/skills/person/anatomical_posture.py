"""A person's joints as a recording shows them, in closed form: pelvis, spine, clavicles, arms, wrists."""

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import savgol_filter
from simbench.motion.actors.human_model import (
    ARM_AXES,
    ARM_JOINT_NAMES,
    CLAVICLE_JOINTS,
    SPINE_JOINTS,
    STERNOCLAVICULAR,
    HumanModel,
)
from simbench.motion.actors.posture import compute_clavicle_angles
from simbench.motion.actors.stance import find_arms_forward_posture
from simbench.motion.anatomy import HANGING_LIMB
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES
from simbench.skills.person.anatomical_fit import fit_shoulders

ORDER, WINDOW = 5, 31
"""Savitzky-Golay filter of the joints' paths, as the thesis smooths what it imitates."""
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
    position = fit_shoulders(motion, STERNOCLAVICULAR * human.actor.height).position
    trunk = motion.segments["trunk"]
    q[:, :3] += (
        trunk[:, :3, 3] + trunk[:, :3, :3] @ position - _clavicle_origins(human, q, rotations["trunk"])
    )
    for side in SIDES:
        hand = _rotation_since_initial(motion, f"{side}_hand") * Rotation.from_matrix(
            data.oMf[human.frame(f"{side}_hand")].rotation @ HANGING_LIMB[side].T
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
    axes = _axes(side)
    shoulder = compute_frame_positions(human, q, human.frame(f"{side}_shoulder"))
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


def _axes(side: str) -> dict[str, Array]:
    """Axes of an arm's joints, as `build_human_model` has them."""
    sign = 1.0 if side == "left" else -1.0
    return {name: np.array([sign, 1.0, sign]) * np.array(axis) for name, (axis, _) in ARM_AXES.items()}


def _clavicle_origins(human: HumanModel, q: Array, trunk: Rotation) -> Array:
    """Positions (T, 3) of the point midway between the sternoclavicular joints, m, world."""
    model = human.model
    above = model.jointPlacements[model.getJointId("left_clavicle_elevation")].translation[2]
    return np.asarray(
        compute_frame_positions(human, q, human.frame("trunk")) + trunk.apply([0.0, 0.0, above])
    )


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
