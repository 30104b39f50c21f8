"""The criterion of imitation: what of the scaled model is to be where, and how much each error weighs."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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
    """Weights of the criterion; the first four are those of Tomić 2018, eq. 3.5.

    Parameters
    ----------
    marker : float
        α, virtual marker positions.
    joint : float
        β, shoulder and elbow positions.
    hand_orientation : float
        γ, hand marker orientations.
    hand : float
        δ, wrist positions.
    segment_orientation : float
        Orientation of upper-arm and (if recorded) trunk markers. Settles what the paper's criterion leaves
        free: the humerus' turn while the elbow is straight, and trunk against shoulders. Not of forearms: a
        person's pronates over its whole length, a robot's at the wrist.
    damping : float
        Weight of each coordinate's step from the frame before: it keeps a straight elbow from throwing the
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
    """Say what of the scaled model follows the recording, for the compiled kinematics.

    Points: the six markers, shoulders and elbows, wrists. Orientations: hands, upper arms, and the trunk
    where the actor has one; those of weight 0 are left out.

    Parameters
    ----------
    actor : ScaledActor
    weights : ImitationWeights

    Returns
    -------
    Tasks
    """
    model = actor.model
    points = [frame_on_body(model, actor.markers[name]) for name in MARKERS]
    points += [frame_on_body(model, actor.joints[name]) for name in (*INNER_JOINTS, *WRISTS)]
    turned = [frame_on_body(model, actor.markers[name]) for name in turned_segments(actor, weights)]
    return Tasks(
        np.array([body for body, _, _ in points]),
        np.array([place for _, _, place in points]),
        np.concatenate(
            [
                np.full(len(MARKERS), weights.marker),
                np.full(len(INNER_JOINTS), weights.joint),
                np.full(len(WRISTS), weights.hand),
            ]
        ),
        np.array([body for body, _, _ in turned], dtype=np.int64),
        np.array([turn for _, turn, _ in turned]).reshape(-1, 3, 3),
        np.array([_turn_weight(name, weights) for name in turned_segments(actor, weights)], dtype=float),
    )


def imitation_targets(
    actor: ScaledActor, motion: HumanMotion, weights: ImitationWeights
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Targets of the tasks in every frame of a recording.

    Returns
    -------
    points : (T, 12, 3) array
        m, world.
    turns : (T, R, 3, 3) array
        World.
    """
    points = [motion.segments[name][:, :3, 3] for name in MARKERS]
    points += [motion.joints[name] for name in (*INNER_JOINTS, *WRISTS)]
    turns = [motion.segments[name][:, :3, :3] for name in turned_segments(actor, weights)]
    stacked = np.stack(turns, axis=1) if turns else np.empty((len(motion.time), 0, 3, 3))
    return np.stack(points, axis=1), np.ascontiguousarray(stacked)


def turned_segments(actor: ScaledActor, weights: ImitationWeights) -> tuple[str, ...]:
    """Segments whose orientation counts: hands, upper arms, and the trunk where the actor has a marker."""
    present = (*MARKERS, "trunk") if "trunk" in actor.markers else MARKERS
    return tuple(name for name in present if _turn_weight(name, weights) > 0.0)


def _turn_weight(segment: str, weights: ImitationWeights) -> float:
    if segment.endswith("_forearm"):
        return 0.0
    return weights.hand_orientation if segment in _HANDS else weights.segment_orientation
