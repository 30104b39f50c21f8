"""Virtual motion capture: from a person's configurations to noisy marker frames and joint centres."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, HumanModel
from simbench.motion.anatomy import transform
from simbench.robot.sides import SIDES

# Positions of the markers in the anatomical frame of their segment, m: on the lateral upper arm, on the back
# of the distal forearm and of the hand (a person of 1.7 m).
MARKER_POSITIONS = {
    "upper_arm": np.array([0.17, 0.0, 0.045]),
    "forearm": np.array([0.19, 0.0, 0.030]),
    "hand": np.array([0.06, 0.0, 0.020]),
}


@dataclass(frozen=True)
class MocapErrors:
    """Errors of motion capture: noise, and skin that moves against the bone."""

    position_noise: float = 0.4e-3  # Standard deviation per axis and sample, m.
    angle_noise: float = np.radians(0.2)  # Standard deviation per axis and sample, rad.
    # Scale of the skin's motion against the bone: 1 for a person's, 0 for markers screwed to the bone.
    skin: float = 1.0


def record_mocap(
    human: HumanModel, q: Array, errors: MocapErrors, rng: np.random.Generator
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Record joint centres and marker frames as a motion-capture system reports them.

    `human`: the person's model; `q` (T, nq): configurations over time, free of noise; `errors`: errors of the
    system and of the skin; `rng`: all noise comes from it. Returns `joints` dict of str to (T, 3) array:
    positions of shoulders, elbows, wrists, `pelvis` and `neck` in the world, m; `segments` dict of str to (T,
    4, 4) array: world poses of upper arms, forearms and hands as marker frames (axes anatomical, origins on
    the skin), of `trunk` and of `pelvis`.
    """
    joint_names = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "elbow", "wrist")]
    joint_names += ["pelvis", "neck"]
    segment_names = [f"{side}_{segment}" for side in SIDES for segment in MARKER_POSITIONS] + [
        "trunk",
        "pelvis",
    ]
    truth = compute_frame_poses(human, q, list(dict.fromkeys(joint_names + segment_names)))
    joints, segments = {}, {}
    for name in joint_names:
        joints[name] = truth[name][:, :3, 3] + rng.normal(0.0, errors.position_noise, (len(q), 3))
    for name in segment_names:
        side, _, segment = name.partition("_")
        frames = truth[name]
        if segment in MARKER_POSITIONS:
            frames = frames @ _on_skin(human, q, side, segment, errors.skin)
        rotation = Rotation.from_rotvec(rng.normal(0.0, errors.angle_noise, (len(q), 3))).as_matrix()
        shift = rng.normal(0.0, errors.position_noise, (len(q), 3))
        segments[name] = transform(frames[:, :3, :3] @ rotation, frames[:, :3, 3] + shift)
    return joints, segments


def compute_frame_poses(human: HumanModel, q: Array, names: list[str]) -> dict[str, Array]:
    """Compute the poses of frames of a person over configurations.

    `human`: the person's model; `q` (T, nq): configurations over time; `names`: names of frames of the model.
    Returns dict of str to (T, 4, 4) array: world poses of each frame.
    """
    data = human.model.createData()
    indices = [human.frame(name) for name in names]
    poses = np.empty((len(names), len(q), 4, 4))
    for k, configuration in enumerate(q):
        pin.framesForwardKinematics(human.model, data, configuration)
        for row, index in zip(poses, indices, strict=True):
            row[k] = data.oMf[index].homogeneous
    return dict(zip(names, poses, strict=True))


def _on_skin(human: HumanModel, q: Array, side: str, segment: str, scale: float) -> Array:
    """Marker poses (T, 4, 4) in the bone's anatomical frame.

    The skin lags behind axial rotation, by about a third at the upper arm (Hamming et al. 2012: errors up to
    30 degrees at the ends of its range), and slides and bulges by some millimetres with the joint next to it,
    most at the hand and towards the shoulder; amplitudes other than the first are estimates.
    """
    angle = dict(zip(ARM_JOINT_NAMES, q[:, human.arms[side]].T, strict=True))
    none = np.zeros(len(q))
    if segment == "upper_arm":
        lag = 0.3 * angle["shoulder_internal_rotation"]
        slide = -0.006 * np.sin(angle["shoulder_flexion"]), none, 0.005 * np.sin(angle["elbow_flexion"] / 2)
    elif segment == "forearm":
        lag = 0.1 * angle["forearm_pronation"]
        slide = 0.002 * np.sin(angle["elbow_flexion"]), none, 0.002 * np.sin(angle["elbow_flexion"] / 2)
    else:
        lag = none
        slide = 0.006 * np.sin(angle["wrist_flexion"]), 0.004 * np.sin(angle["wrist_radial_deviation"]), none
    # Internal rotation and pronation turn the left limb about its x axis, the right one against it.
    skin_angle = (-scale if side == "left" else scale) * lag
    rotation = Rotation.from_rotvec(skin_angle[:, None] * np.array([1.0, 0.0, 0.0])).as_matrix()
    position = MARKER_POSITIONS[segment] + scale * np.stack(slide, axis=1)
    return transform(rotation, (rotation @ position[:, :, None])[:, :, 0])
