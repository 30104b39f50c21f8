"""Virtual motion capture: from a person's configurations to noisy frames, joint centres and markers."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import ARM_JOINT_NAMES, HumanModel
from simbench.motion.human_motion import transform
from simbench.robot.sides import SIDES

# Positions of the markers of a person of 1.7 m, m.
_POSITIONS = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
# In the anatomical frame of their segment.
MARKER_POSITIONS = {segment: np.array(position) for segment, position in _POSITIONS["segments"].items()}


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
            # The skin lags behind axial rotation, by about a third at the upper arm (Hamming et al. 2012:
            # errors up to 30 degrees at the ends of its range), and slides and bulges by some millimetres
            # with the joint next to it, most at the hand and towards the shoulder; amplitudes other than the
            # first are estimates.
            angle = dict(zip(ARM_JOINT_NAMES, q[:, human.arms[side]].T, strict=True))
            none, flexion = np.zeros(len(q)), angle["elbow_flexion"]
            if segment == "upper_arm":
                lag = 0.3 * angle["shoulder_internal_rotation"]
                slide = -0.006 * np.sin(angle["shoulder_flexion"]), none, 0.005 * np.sin(flexion / 2)
            elif segment == "forearm":
                lag = 0.1 * angle["forearm_pronation"]
                slide = 0.002 * np.sin(flexion), none, 0.002 * np.sin(flexion / 2)
            else:
                lag, deviation = none, angle["wrist_radial_deviation"]
                slide = 0.006 * np.sin(angle["wrist_flexion"]), 0.004 * np.sin(deviation), none
            # Internal rotation and pronation turn the left limb about its x axis, the right one against it.
            turned = (-errors.skin if side == "left" else errors.skin) * lag
            skin = Rotation.from_rotvec(turned[:, None] * np.array([1.0, 0.0, 0.0])).as_matrix()
            position = MARKER_POSITIONS[segment] + errors.skin * np.stack(slide, axis=1)
            frames = frames @ transform(skin, (skin @ position[:, :, None])[:, :, 0])
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
    indices = [human.frames[name] for name in names]
    poses = np.empty((len(names), len(q), 4, 4))
    for k, configuration in enumerate(q):
        pin.framesForwardKinematics(human.model, data, configuration)
        for row, index in zip(poses, indices, strict=True):
            row[k] = data.oMf[index].homogeneous
    return dict(zip(names, poses, strict=True))


# Stature of the person for whom the positions of the markers are given, m; they scale with it.
STATURE = 1.70
# On the iliac spines, from midway between the hips, which lie behind and below the front ones by 22 and 30 %
# of the distance of these (Bell, Pedersen & Brand 1990).
FRONT_SPINES = 0.24
PELVIS_POSITIONS = {
    "left_asis": (0.22 * FRONT_SPINES, 0.5 * FRONT_SPINES, 0.30 * FRONT_SPINES),
    "right_asis": (0.22 * FRONT_SPINES, -0.5 * FRONT_SPINES, 0.30 * FRONT_SPINES),
    "left_psis": (0.22 * FRONT_SPINES - 0.16, 0.05, 0.30 * FRONT_SPINES),
    "right_psis": (0.22 * FRONT_SPINES - 0.16, -0.05, 0.30 * FRONT_SPINES),
}
# Height of the acromion's marker above the shoulder's centre, as a fraction of the distance of both markers
# (Rab, Petuskey & Bagley 2002).
ACROMION = 0.17
# The skin on bony points follows the bone: this fraction of the soft tissue's motion is seen there. The
# acromion's marker rotates by the same fraction of the clavicle's rotation.
BONY = 0.3


def record_kim_markers(
    human: HumanModel, q: Array, errors: MocapErrors, rng: np.random.Generator
) -> dict[str, Array]:
    """Record markers as the system reports them, under the names of the marker map `kim2005`.

    `human`: the person's model; `q` (T, nq): configurations over time, free of noise; `errors`: errors of the
    system and of the skin, without the noise of angles: markers are points; `rng`: all noise comes from it.
    Returns dict of str to (T, 3) array: positions in the world, m: six on each arm, four on the head, five on
    the thorax, four on the pelvis.
    """
    size = human.actor.height / STATURE
    joints, skin = record_mocap(human, q, replace(errors, position_noise=0.0, angle_noise=0.0), rng)
    bones = compute_frame_poses(human, q, [f"{side}_upper_arm" for side in SIDES])
    trunk = skin["trunk"][:, :3, :3]
    markers = {
        name: joints["neck"] + trunk @ (size * np.array(at)) for name, at in _POSITIONS["trunk"].items()
    }
    markers |= {
        name: _transform_point(skin["pelvis"], size * np.array(at)) for name, at in PELVIS_POSITIONS.items()
    }
    for side, outward in zip(SIDES, (1.0, -1.0), strict=True):
        height = ACROMION * 2.0 * human.proportions.shoulder_half_width * human.actor.height
        # With the bone, as it would be without skin, and less with it.
        elevation = (1.0 - (1.0 - BONY) * errors.skin) * q[:, human.clavicles[side][0]]
        none = np.zeros(len(q))
        acromion = height * np.stack([none, -outward * np.sin(elevation), np.cos(elevation)], axis=1)
        marker = joints[f"{side}_shoulder"] + np.einsum("tij,tj->ti", trunk, acromion)
        markers[f"{side}_shoulder_marker"] = marker
        for name, (segment, at) in _POSITIONS["arm"].items():
            position = size * np.array(at) * [1.0, outward, 1.0]
            if segment == "upper_arm":
                position[0] += human.proportions.upper_arm * human.actor.height
            # The recorded frame is itself that of a marker.
            seen = _transform_point(skin[f"{side}_{segment}"], position - MARKER_POSITIONS[segment])
            if name == "elbow_marker":
                seen = BONY * seen + (1.0 - BONY) * _transform_point(bones[f"{side}_upper_arm"], position)
            markers[f"{side}_{name}"] = seen
    return {
        name: track + rng.normal(0.0, errors.position_noise, track.shape) for name, track in markers.items()
    }


def _transform_point(frames: Array, point: Array) -> Array:
    """Compute the track (T, 3) of a point that is fixed in moving frames (T, 4, 4)."""
    return np.asarray(frames[:, :3, :3] @ point + frames[:, :3, 3])
