"""Tasks of imitation: points and orientations of the scaled model, their targets, and the errors' weights."""

from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.task_matrix import Tasks
from simbench.kinematics.tree import frame_on_body
from simbench.motion.human_motion import ARM_SEGMENTS, HumanMotion
from simbench.retargeting.imitation.calibration import ScaledActor

MARKERS = ARM_SEGMENTS
INNER_JOINTS = ("left_shoulder", "left_elbow", "right_shoulder", "right_elbow")
WRISTS = ("left_wrist", "right_wrist")
_HANDS = ("left_hand", "right_hand")


@dataclass(frozen=True)
class ImitationWeights:
    """Weights of the errors; the first four are those of Tomić 2018, eq. 3.5.

    Parameters
    ----------
    marker : float
        α, of virtual marker positions.
    joint : float
        β, of shoulder and elbow positions.
    hand_orientation : float
        γ, of hand marker orientations.
    hand : float
        δ, of wrist positions.
    segment_orientation : float
        Weight of upper-arm and (if recorded) trunk marker orientations. It determines what the paper's
        criterion leaves free: the axial rotation of the humerus while the elbow is straight, and trunk
        against shoulders. Not of forearms: a person's pronates over its whole length, a robot's at the wrist.
    damping : float
        Weight of each coordinate's step from the previous frame: it keeps a straight elbow from throwing the
        arm into another posture.
    limited_damping : float
        The same for joints that keep their limits: with less, arms may swing between two limits from frame to
        frame.
    """

    marker: float = 1.0
    joint: float = 2.0
    hand_orientation: float = 10.0
    hand: float = 20.0
    segment_orientation: float = 0.2
    damping: float = 0.03
    limited_damping: float = 0.1


MARKERS_ONLY = ImitationWeights(joint=0.0, hand_orientation=0.0, hand=0.0, segment_orientation=0.0)
"""The criterion of Ude et al. (2004), as Tomić 2018 puts it: α = 1, all else 0."""


def imitation_tasks(actor: ScaledActor, weights: ImitationWeights) -> Tasks:
    """Collect the points and orientations of the scaled model that follow the recording.

    Points: the six markers, shoulders and elbows, wrists. Orientations: hands, upper arms, and the trunk
    where the actor has one; those of weight 0 are left out.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model with its frames.
    weights : ImitationWeights
        Weights of the errors.

    Returns
    -------
    Tasks
        For the compiled kinematics.
    """
    model = actor.model
    points = [frame_on_body(model, actor.markers[name]) for name in MARKERS]
    points += [frame_on_body(model, actor.joints[name]) for name in (*INNER_JOINTS, *WRISTS)]
    segments = oriented_segments(actor, weights)
    oriented = [frame_on_body(model, actor.markers[name]) for name in segments]
    return Tasks(
        np.array([body for body, _, _ in points]),
        np.array([position for _, _, position in points]),
        np.concatenate(
            [
                np.full(len(MARKERS), weights.marker),
                np.full(len(INNER_JOINTS), weights.joint),
                np.full(len(WRISTS), weights.hand),
            ]
        ),
        np.array([body for body, _, _ in oriented], dtype=np.int64),
        np.array([rotation for _, rotation, _ in oriented]).reshape(-1, 3, 3),
        np.array([_orientation_weight(name, weights) for name in segments], dtype=float),
    )


def imitation_targets(
    actor: ScaledActor, motion: HumanMotion, weights: ImitationWeights
) -> tuple[Array, Array]:
    """Collect the targets of the tasks in every frame of a recording.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model with its frames.
    motion : HumanMotion
        Recording with T samples.
    weights : ImitationWeights
        Weights of the errors; orientations of weight 0 are left out.

    Returns
    -------
    points : (T, 12, 3) array
        Positions in the world frame, m.
    rotations : (T, R, 3, 3) array
        Orientations in the world frame.
    """
    points = [motion.segments[name][:, :3, 3] for name in MARKERS]
    points += [motion.joints[name] for name in (*INNER_JOINTS, *WRISTS)]
    rotations = [motion.segments[name][:, :3, :3] for name in oriented_segments(actor, weights)]
    stacked = np.stack(rotations, axis=1) if rotations else np.empty((len(motion.time), 0, 3, 3))
    return np.stack(points, axis=1), np.ascontiguousarray(stacked)


def oriented_segments(actor: ScaledActor, weights: ImitationWeights) -> tuple[str, ...]:
    """Find the segments whose orientation counts: hands, upper arms, and a trunk with a marker.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model with its markers.
    weights : ImitationWeights
        Weights of the errors; segments of weight 0 are left out.

    Returns
    -------
    tuple of str
        Names of the segments.
    """
    present = (*MARKERS, "trunk") if "trunk" in actor.markers else MARKERS
    return tuple(name for name in present if _orientation_weight(name, weights) > 0.0)


def _orientation_weight(segment: str, weights: ImitationWeights) -> float:
    """Weight of a segment's orientation; 0 for forearms."""
    if segment.endswith("_forearm"):
        return 0.0
    return weights.hand_orientation if segment in _HANDS else weights.segment_orientation
