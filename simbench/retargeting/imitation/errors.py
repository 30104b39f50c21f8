"""Errors of the scaled model against the recording it imitates: joints, markers, hands (Tomić 2018, §3.6)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.tree import KinematicTree, frame_on_body, kinematic_tree, place_bodies
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, HumanMotion
from simbench.retargeting.imitation.calibration import ScaledActor
from simbench.retargeting.imitation.imitation import Imitation

HANDS = ("left_hand", "right_hand")


@dataclass(frozen=True)
class ImitationErrors:
    """Distances between a recording and the scaled model.

    Parameters
    ----------
    initial : {str: float}
        Distance of each joint of the arms in the initial configuration, m.
    joints : {str: (T,) array}
        Distance of each joint of the arms over time, m; the wrists' is the paper's hand error.
    markers : {str: (T,) array}
        Distance of each segment's marker over time, m.
    hands : {str: (T,) array}
        Angle between the recorded and the model's marker frame of `left_hand` and `right_hand` over time,
        rad.
    """

    initial: Mapping[str, float]
    joints: Mapping[str, Array]
    markers: Mapping[str, Array]
    hands: Mapping[str, Array]


@dataclass(frozen=True)
class ErrorSummary:
    """Summary of one error over all samples and both sides.

    Parameters
    ----------
    name : str
        Name for tables.
    unit : str
        m or rad.
    mean : float
        Mean, in this unit.
    percentile_95 : float
        95th percentile, in this unit.
    maximum : float
        Maximum, in this unit.
    """

    name: str
    unit: str
    mean: float
    percentile_95: float
    maximum: float


def imitation_errors(imitation: Imitation, motion: HumanMotion) -> ImitationErrors:
    """Measure how far an imitation is from its recording.

    Parameters
    ----------
    imitation : Imitation
        Motion of the scaled model.
    motion : HumanMotion
        The recording, at the imitation's samples.

    Returns
    -------
    ImitationErrors
        Distances and angles at these samples.
    """
    actor = imitation.actor
    start = model_poses(actor, actor.q[None])
    poses = model_poses(actor, imitation.q)
    return ImitationErrors(
        initial={
            name: float(np.linalg.norm(motion.initial.joints[name] - start[name][0, :3, 3]))
            for name in ARM_JOINTS
        },
        joints={name: _distance(motion.joints[name], poses[name][:, :3, 3]) for name in ARM_JOINTS},
        markers={
            name: _distance(motion.segments[name][:, :3, 3], poses[name][:, :3, 3]) for name in ARM_SEGMENTS
        },
        hands={name: rotation_angle(motion.segments[name], poses[name]) for name in HANDS},
    )


def summarise(errors: ImitationErrors) -> tuple[ErrorSummary, ...]:
    """Compute mean, 95th percentile and maximum of each error.

    Parameters
    ----------
    errors : ImitationErrors
        Errors of one imitation.

    Returns
    -------
    tuple of ErrorSummary
        In the order of the figures 3.7-3.10 of Tomić (2018).
    """
    return tuple(
        ErrorSummary(name, unit, float(values.mean()), float(np.quantile(values, 0.95)), float(values.max()))
        for name, unit, values in _quantities(errors)
    )


def model_poses(actor: ScaledActor, q: Array) -> dict[str, Array]:
    """Compute the poses of the scaled model's joints and virtual markers, by one pass of forward kinematics.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model with its frames.
    q : (T, nq) array
        Configurations of `actor.model`.

    Returns
    -------
    {str: (T, 4, 4) array}
        Homogeneous poses in the world frame, m, by joint (`left_wrist`) and segment (`left_hand`) of the
        recording.
    """
    tree = kinematic_tree(actor.model)
    rotation = np.empty((len(q), len(tree.parent) + 1, 3, 3))
    position = np.empty((len(q), len(tree.parent) + 1, 3))
    rotation[:, 0] = Rotation.from_quat(q[:, 3:7]).as_matrix()
    position[:, 0] = q[:, :3]
    _place_all(tree, np.ascontiguousarray(q[:, 7:]), rotation, position)
    poses = {}
    for name, frame in {**actor.joints, **actor.markers}.items():
        body, orientation, offset = frame_on_body(actor.model, frame)
        pose = np.tile(np.eye(4), (len(q), 1, 1))
        pose[:, :3, :3] = rotation[:, body] @ orientation
        pose[:, :3, 3] = position[:, body] + rotation[:, body] @ offset
        poses[name] = pose
    return poses


def rotation_angle(first: Array, second: Array) -> Array:
    """Compute the angle of the rotation between frames.

    Parameters
    ----------
    first : (T, 4, 4) or (T, 3, 3) array
        Poses or rotations.
    second : (T, 4, 4) or (T, 3, 3) array
        Poses or rotations to compare with.

    Returns
    -------
    (T,) array
        0 to π, rad; accurate also where it is small, unlike the arc cosine of the trace.
    """
    difference = first[:, :3, :3] - second[:, :3, :3]
    # ‖R₁ − R₂‖ = 2√2 sin(θ/2), and less than 1 by rounding only.
    half = np.linalg.norm(difference, axis=(1, 2)) / np.sqrt(8.0)
    return 2.0 * np.arcsin(np.minimum(half, 1.0))


@compiled
def _place_all(tree: KinematicTree, joints: Array, rotation: Array, position: Array) -> None:
    """Forward kinematics of every sample; the root's pose is in index 0."""
    for sample in range(len(joints)):
        place_bodies(tree, joints[sample], rotation[sample], position[sample])


def _quantities(errors: ImitationErrors) -> Iterator[tuple[str, str, Array]]:
    """Name, unit and values of each error that is summarised."""
    initial = errors.initial
    yield "initial configuration", "m", np.array(list(initial.values()))
    shoulders = [value for name, value in initial.items() if name.endswith("shoulder")]
    yield "  shoulders", "m", np.array(shoulders)
    for part, plural in (("wrist", "hands (wrists)"), ("elbow", "elbows"), ("shoulder", "shoulders")):
        yield plural, "m", _both_sides(errors.joints, part)
    for part, plural in (("hand", "hand"), ("forearm", "forearm"), ("upper_arm", "upper arm")):
        yield f"{plural} markers", "m", _both_sides(errors.markers, part)
    yield "hand orientation", "rad", _both_sides(errors.hands, "hand")


def _both_sides(tracks: Mapping[str, Array], part: str) -> Array:
    """Values of a part of the left and the right arm."""
    return np.concatenate([tracks[f"left_{part}"], tracks[f"right_{part}"]])


def _distance(first: Array, second: Array) -> Array:
    """Distance (T,) of two paths (T, 3), m."""
    return np.asarray(np.linalg.norm(first - second, axis=1))
