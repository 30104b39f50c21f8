"""A person's joints as a recording shows them, in closed form: pelvis, spine, clavicles, arms, wrists."""

import numpy as np
import pinocchio as pin
from scipy.signal import savgol_filter
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import (
    ARM_AXES,
    ARM_JOINT_NAMES,
    CLAVICLE_JOINTS,
    SPINE_JOINTS,
    STERNOCLAVICULAR,
    HumanModel,
)
from simbench.motion.actors.posture import clavicle_angles
from simbench.motion.actors.stance import arms_forward
from simbench.motion.anatomy import HANGING_LIMB
from simbench.motion.human_motion import HumanMotion
from simbench.robot.sides import SIDES
from simbench.skills.person.anatomical_fit import fit_shoulders

ORDER, WINDOW = 5, 31
"""Savitzky-Golay filter of the joints' paths, as the thesis smooths what it imitates."""
# The girdle goes along with less than a sixth of the arm's turn: each round leaves that part of an error.
_ROUNDS = 6


def recorded_postures(human: HumanModel, motion: HumanMotion) -> Array:
    """Compute the configurations of a person over a recording.

    The pelvis is where its frame is; flexion, bend and twist of the spine turn it into the thorax. The
    clavicles follow the upper arms. Elbow and swivel come from shoulder, elbow and wrist, pronation and both
    angles of the wrist from the hand's turn since the initial pose, in which palms face down.

    Parameters
    ----------
    human : HumanModel
        Of `fit_human`.
    motion : HumanMotion

    Returns
    -------
    (T, nq) array
    """
    model, data = human.model, human.model.createData()
    basic = arms_forward(human)
    pin.framesForwardKinematics(model, data, basic)
    q = np.tile(basic, (len(motion.time), 1))
    turned = {name: _since_initial(motion, name) for name in ("pelvis", "trunk")}
    q[:, :3] = motion.segments["pelvis"][:, :3, 3]
    q[:, 3:7] = turned["pelvis"].as_quat()
    spine = (turned["pelvis"].inv() * turned["trunk"]).as_euler("YXZ")
    for name, angle in zip(SPINE_JOINTS, spine.T, strict=True):
        q[:, model.joints[model.getJointId(name)].idx_q] = angle
    # The shoulders' place on the trunk counts, wherever trunk and pelvis have their frames' origins.
    place = fit_shoulders(motion, STERNOCLAVICULAR * human.actor.height).place
    trunk = motion.segments["trunk"]
    q[:, :3] += trunk[:, :3, 3] + trunk[:, :3, :3] @ place - _middles(human, q, turned["trunk"])
    for side in SIDES:
        hand = _since_initial(motion, f"{side}_hand") * Rotation.from_matrix(
            data.oMf[human.frame(f"{side}_hand")].rotation @ HANGING_LIMB[side].T
        )
        for _ in range(_ROUNDS):
            _put_arm(human, q, motion, side, hand, turned["trunk"])
    window = min(WINDOW, len(q) - 1 + len(q) % 2)
    if window > ORDER:
        q = savgol_filter(q, window, ORDER, axis=0)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    for side in SIDES:
        _put_clavicles(human, q, side)
    return q


def _put_arm(
    human: HumanModel, q: Array, motion: HumanMotion, side: str, hand: Rotation, trunk: Rotation
) -> None:
    """Write the arm's seven joints, then the clavicle's two that go along, in place."""
    axes = _axes(side)
    shoulder = frame_places(human, q, human.frame(f"{side}_shoulder"))
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
    first = _angles(girdle.inv() * humerus, [axes[name] for name in ARM_JOINT_NAMES[:3]])
    radius = humerus * Rotation.from_rotvec(bend[:, None] * axes["elbow_flexion"])
    last = _angles(radius.inv() * hand, [axes[name] for name in ARM_JOINT_NAMES[4:]])
    q[:, human.arms[side]] = np.column_stack([first, bend, last])
    _put_clavicles(human, q, side)


def _put_clavicles(human: HumanModel, q: Array, side: str) -> None:
    for configuration in q:
        configuration[human.clavicles[side]] = clavicle_angles(human, configuration[human.arms[side]])[0]


def _angles(turn: Rotation, axes: list[Array]) -> Array:
    """Angles (T, 3) about three axes that move along, continuous over time."""
    return np.asarray(np.unwrap(turn.as_davenport(np.array(axes), "intrinsic"), axis=0))


def _axes(side: str) -> dict[str, Array]:
    """Axes of an arm's joints, as `build_human_model` has them."""
    sign = 1.0 if side == "left" else -1.0
    return {name: np.array([sign, 1.0, sign]) * np.array(axis) for name, (axis, _) in ARM_AXES.items()}


def _middles(human: HumanModel, q: Array, trunk: Rotation) -> Array:
    """Where the point midway between the sternoclavicular joints is (T, 3), m."""
    model = human.model
    above = model.jointPlacements[model.getJointId("left_clavicle_elevation")].translation[2]
    return np.asarray(frame_places(human, q, human.frame("trunk")) + trunk.apply([0.0, 0.0, above]))


def _since_initial(motion: HumanMotion, segment: str) -> Rotation:
    now = Rotation.from_matrix(motion.segments[segment][:, :3, :3])
    return now * Rotation.from_matrix(motion.initial.segments[segment][:3, :3]).inv()


def frame_places(human: HumanModel, q: Array, frame: int) -> Array:
    """Compute where a frame of the model is over configurations (T, nq): (T, 3), m."""
    data = human.model.createData()
    places = np.empty((len(q), 3))
    for t, configuration in enumerate(q):
        pin.forwardKinematics(human.model, data, configuration)
        places[t] = pin.updateFramePlacement(human.model, data, frame).translation
    return places
