"""Imitation: posture of the scaled model, frame by frame, from markers and joints of a recording, and errors.

Frames may come from a recording or one after the other, in real time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pinocchio as pin
from scipy.ndimage import correlate1d, minimum_filter1d
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_ik import Bounds, TrackingModel, follow
from simbench.kinematics.derivatives import savgol_filter
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace
from simbench.kinematics.tree import frame_on_body, kinematic_tree, place_bodies
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, HumanMotion
from simbench.retargeting.body_errors import ErrorSummary, rotation_angle
from simbench.retargeting.imitation.scaled_model import ScaledActor
from simbench.robot.sides import SIDES

INNER_JOINTS = ("left_shoulder", "left_elbow", "right_shoulder", "right_elbow")
WRISTS = ("left_wrist", "right_wrist")
# One Gauss-Newton step a frame; the least error in every frame; the least error of the markers alone.
METHODS = ("analytical", "numerical", "ude")

# Most steps per frame; 0 is one, and more only where that one is long.
_ROUNDS = {"analytical": 0, "numerical": 60, "ude": 60}
# Largest distance by which smoothing may move a wrist, m.
_MAX_SMOOTHING_ERROR = 0.005
# Weight of the previous frame's posture as a fraction of the damping, for the least error too: so it does
# not jump between postures that are nearly as good.
_PRIOR_WEIGHT = 1.0
# Most steps for the posture of the first frame.
_FIRST_ROUNDS = 300
# Fraction of the least error by which another posture must be better than the first: a waist that turns the
# one way while the root turns the other changes nothing, and rounding would choose.
_EQUALLY_GOOD = 1e-6
# Distance from the world's origin, m, beyond which a target is no measurement.
_MAX_DISTANCE = 1e3


@dataclass(frozen=True)
class ImitationWeights:
    """Weights of the errors; the first four are those of Tomić 2018, eq. 3.5."""

    marker: float = 1.0  # α, of virtual marker positions.
    joint: float = 2.0  # β, of shoulder and elbow positions.
    hand_orientation: float = 10.0  # γ, of hand marker orientations.
    hand: float = 20.0  # δ, of wrist positions.
    # Weight of upper-arm and (if recorded) trunk marker orientations. It determines what the paper's
    # criterion leaves free: the axial rotation of the humerus while the elbow is straight, and trunk against
    # shoulders. Not of forearms: a person's pronates over its whole length, a robot's at the wrist.
    segment_orientation: float = 0.2
    # Weight of each coordinate's step from the previous frame: it keeps a straight elbow from throwing the
    # arm into another posture.
    damping: float = 0.03
    # The same for joints that keep their limits: with less, arms may swing between two limits from frame to
    # frame.
    limited_damping: float = 0.1


@dataclass(frozen=True)
class Imitation:
    """Motion of the scaled model: times (T,), s, and configurations (T, nq) of `actor.model`."""

    actor: ScaledActor
    time: Array
    q: Array


# Distances between a recording and the scaled model, by name: of each joint of the arms in the initial
# configuration, m; of each joint of the arms over time (T,), m, the wrists' being the paper's hand error; of
# each segment's marker over time (T,), m; and the angle between the recorded and the model's marker frame of
# `left_hand` and `right_hand` over time (T,), rad.
ImitationErrors: TypeAlias = tuple[
    Mapping[str, float], Mapping[str, Array], Mapping[str, Array], Mapping[str, Array]
]


def segment_weights(actor: ScaledActor, weights: ImitationWeights) -> dict[str, float]:
    """Weights of the orientations that count: hands, upper arms, and a trunk with a marker; no forearms."""
    found = {
        name: weights.hand_orientation if name.endswith("_hand") else weights.segment_orientation
        for name in (*ARM_SEGMENTS, *(["trunk"] if "trunk" in actor.markers else []))
        if not name.endswith("_forearm")
    }
    return {name: weight for name, weight in found.items() if weight > 0.0}


def imitation_tasks(actor: ScaledActor, weights: ImitationWeights) -> Tasks:
    """Collect the points and orientations of the scaled model that follow the recording.

    Points: the six markers, shoulders and elbows, wrists. Orientations: those of `segment_weights`.
    """
    frames = [actor.markers[name] for name in ARM_SEGMENTS]
    frames += [actor.joints[name] for name in (*INNER_JOINTS, *WRISTS)]
    points = [frame_on_body(actor.model, frame) for frame in frames]
    turning = segment_weights(actor, weights)
    oriented = [frame_on_body(actor.model, actor.markers[name]) for name in turning]
    return Tasks(
        np.array([body for body, _, _ in points]),
        np.array([position for _, _, position in points]),
        np.repeat([weights.marker, weights.joint, weights.hand], [6, 4, 2]),
        np.array([body for body, _, _ in oriented], dtype=np.int64),
        np.array([rotation for _, rotation, _ in oriented]).reshape(-1, 3, 3),
        np.array(list(turning.values()), dtype=float),
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
    points = [motion.segments[name][:, :3, 3] for name in ARM_SEGMENTS]
    points += [motion.joints[name] for name in (*INNER_JOINTS, *WRISTS)]
    rotations = [motion.segments[name][:, :3, :3] for name in segment_weights(actor, weights)]
    stacked = np.stack(rotations, axis=1) if rotations else np.empty((len(motion.time), 0, 3, 3))
    return np.stack(points, axis=1), np.ascontiguousarray(stacked)


class ImitationStream:
    """State of an imitation that is under way: one posture, whatever the length of the stream.

    `weights`: weights of the errors; `model`: scaled model, its points and orientations that follow the
    frames, joint limits and damping; `rounds`: most steps per frame to the least error, 0 for one
    Gauss-Newton step per frame, the analytical method, and more only where that one is long; `hold`: weight
    of the previous frame's posture in those steps, as a fraction of `weights.damping` squared; `q` (nq,):
    present configuration; every frame changes it. `limited`: whether joints keep the robot's limits.
    """

    def __init__(
        self,
        actor: ScaledActor,
        q: Array,
        weights: ImitationWeights,
        *,
        rounds: int,
        hold: float,
        limited: bool,
    ) -> None:
        self.weights, self.rounds, self.hold, self.q = weights, rounds, hold, np.array(q, dtype=float)
        model, tasks = actor.model, imitation_tasks(actor, weights)
        damping, free = np.full(model.nv, weights.damping**2), np.full(model.nv - 6, np.inf)
        limits = -free, free
        if limited:
            damping[6:] = weights.limited_damping**2
            limits = model.lowerPositionLimit[7:].copy(), model.upperPositionLimit[7:].copy()
        bounds = Bounds(*limits, damping, True)
        tree = kinematic_tree(model)
        self.model = TrackingModel(tree, tasks, bounds, make_workspace(tree))


def imitate(
    actor: ScaledActor,
    motion: HumanMotion,
    *,
    method: str = "analytical",
    weights: ImitationWeights | None = None,
    limited: bool = False,
    smoothing_window: int = 31,
    smoothing_order: int = 5,
) -> Imitation:
    """Follow a recording with the scaled model (Tomić 2018, §3.5), then smooth (Savitzky-Golay).

    `analytical`: Δq = −ε_β⁺ ε_α with ε_β = ∂ε/∂q at the previous frame's solution; where that step would be
    longer than 0.3 rad, near a singularity, up to ten steps that are drawn to the previous solution.
    `numerical`: the least ‖ε‖², from the previous frame's solution on. `ude`: the same of marker positions
    alone, with weights of its own. A person's ranges are larger than the robot's: by default the model may
    leave its joint limits. Smoothing is reduced, gradually, around frames where it moves a wrist by more than
    5 mm: near a shoulder's singularity joints move fast though the hand does not; smoothed, they would miss
    it. Tracks that go farther than any measurement are refused, by name.
    """
    tracks = {name: motion.joints[name] for name in (*INNER_JOINTS, *WRISTS)}
    tracks |= {f"{name} marker": motion.segments[name][:, :3, 3] for name in ARM_SEGMENTS}
    for name, track in tracks.items():
        # Comparisons with NaN are false.
        near = (np.abs(track) < _MAX_DISTANCE).all(axis=1)
        if not near.all():
            frame = int(np.argmin(near))
            raise MotionError(
                f"{motion.source}: {name} is {np.abs(track[frame]).max():.3g} m from the origin at frame "
                f"{frame} ({motion.time[frame]:.3f} s); targets must be within {_MAX_DISTANCE:g} m"
            )
    stream = start_imitation(actor, motion, method=method, weights=weights, limited=limited)
    q, _ = follow_frames(stream, *imitation_targets(actor, motion, stream.weights))
    smoothed = smooth(q, smoothing_window, smoothing_order)
    data = actor.model.createData()
    wrists = np.empty((2, len(q), len(WRISTS), 3))
    for path, positions in zip((smoothed, q), wrists, strict=True):
        for sample, at in enumerate(path):
            pin.framesForwardKinematics(actor.model, data, at)
            positions[sample] = [data.oMf[actor.joints[name]].translation for name in WRISTS]
    moved = np.linalg.norm(wrists[0] - wrists[1], axis=2).max(axis=1)
    if moved.max() > _MAX_SMOOTHING_ERROR:
        kept = np.minimum(_MAX_SMOOTHING_ERROR / np.maximum(moved, 1e-12), 1.0)
        bell = np.hanning(smoothing_window + 2)[1:-1]
        kept = correlate1d(minimum_filter1d(kept, smoothing_window), bell / bell.sum(), mode="nearest")
        smoothed = q + kept[:, None] * (smoothed - q)
        smoothed[:, 3:7] /= np.linalg.norm(smoothed[:, 3:7], axis=1, keepdims=True)
    return Imitation(actor, motion.time, smoothed)


def start_imitation(
    actor: ScaledActor,
    motion: HumanMotion,
    *,
    method: str = "analytical",
    weights: ImitationWeights | None = None,
    limited: bool = False,
) -> ImitationStream:
    """Open a stream whose posture matches a recording's first frame, to be fed frame by frame.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model from `calibrate`.
    motion : HumanMotion
        Recording, of which only the first frame is used.
    method : str
        One of `METHODS`, as in `imitate`.
    weights : ImitationWeights, optional
        Weights of the errors; not for `ude`, which has its own.
    limited : bool
        Whether to keep the robot's joint limits.

    Returns
    -------
    ImitationStream
        To be fed by `follow_frames`.

    Raises
    ------
    RetargetError
        If the method is unknown.
    """
    if method not in METHODS:
        raise RetargetError(f"method {method}: unknown; allowed: {', '.join(METHODS)}")
    chosen = first = weights or ImitationWeights()
    if method == "ude":
        # The criterion of Ude et al. (2004), as Tomić 2018 puts it: α = 1, all else 0. Markers alone do not
        # determine the first posture; everything that was recorded does.
        chosen = ImitationWeights(joint=0.0, hand_orientation=0.0, hand=0.0, segment_orientation=0.0)
        first = ImitationWeights()
    start = first_posture(actor, motion, first, limited=limited)
    return ImitationStream(actor, start, chosen, rounds=_ROUNDS[method], hold=_PRIOR_WEIGHT, limited=limited)


def first_posture(
    actor: ScaledActor,
    motion: HumanMotion,
    weights: ImitationWeights,
    *,
    limited: bool = False,
    hold: float = 0.0,
) -> Array:
    """Match the first frame, near the robot's joint limits: configuration (nq,) of `actor.model`.

    A recording may start far from the initial configuration, where one Gauss-Newton step is not enough and
    an unbounded search can wind a joint the wrong way round: search within the limits, then converge. `hold`
    weights the distance from where the search begins: it decides between postures that match equally well.
    """
    model = actor.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    basic = np.clip(actor.basic, lower, upper)
    middle = basic + 0.3 * (0.5 * (lower + upper) - basic)
    points, rotations = (target[:1] for target in imitation_targets(actor, motion, weights))
    best, least = actor.q, np.inf
    for joints in (actor.q[7:], middle):
        start = np.concatenate([actor.q[:7], np.clip(joints, lower, upper)])
        stream = ImitationStream(actor, start, weights, rounds=_FIRST_ROUNDS, hold=hold, limited=True)
        found, cost = follow_frames(stream, points, rotations)
        if cost[0] < (1.0 - _EQUALLY_GOOD) * least:
            best, least = found[0], cost[0]
    if limited:
        return best
    stream = ImitationStream(actor, best, weights, rounds=_FIRST_ROUNDS, hold=hold, limited=False)
    return follow_frames(stream, points, rotations)[0][0]


def follow_frames(stream: ImitationStream, points: Array, rotations: Array) -> tuple[Array, Array]:
    """Follow frames one after the other; the stream goes on from its last posture.

    Parameters
    ----------
    stream : ImitationStream
        Stream to go on; its posture is changed.
    points : (T, 12, 3) array
        Target positions in the order of `imitation_targets`, world frame, m; one frame or many at once.
    rotations : (T, R, 3, 3) array
        Target orientations in that order, world frame.

    Returns
    -------
    q : (T, nq) array
        Configurations of `actor.model`; the quaternion is continuous in sign.
    cost : (T,) array
        ‖ε‖² of the frame; for the analytical method before its step.

    Raises
    ------
    MotionError
        If a shape is wrong, or a target is not finite or too far away; the stream stays where it was.
    """
    tasks = stream.model.tasks
    expected = (len(tasks.point_body), 3), (len(tasks.rotation_body), 3, 3)
    if points.shape[1:] != expected[0] or rotations.shape != (len(points), *expected[1]):
        raise MotionError(
            f"frames: points {points.shape} and rotations {rotations.shape} must be "
            f"(T, {expected[0][0]}, 3) and (T, {expected[1][0]}, 3, 3)"
        )
    # Comparisons with NaN are false.
    near = (np.abs(points) < _MAX_DISTANCE).all(axis=(1, 2)) & (np.abs(rotations) < 2.0).all(axis=(1, 2, 3))
    if not near.all():
        raise MotionError(
            f"frame {int(np.argmin(near))}: targets must be finite rotations and within {_MAX_DISTANCE:g} m "
            "of the origin"
        )
    path, cost = np.empty((len(points), len(stream.q))), np.empty(len(points))
    targets = Targets(np.ascontiguousarray(points), np.ascontiguousarray(rotations))
    follow(stream.model, targets, stream.q, stream.rounds, stream.hold, path, cost)
    return path, cost


def smooth(q: Array, window: int, order: int) -> Array:
    """Smooth floating-base configurations (T, nq) (Savitzky-Golay); the quaternion stays of unit length.

    Columns 3 to 6 are a quaternion, continuous in sign. If the recording is shorter than the window, samples,
    the largest odd one that fits is used; too few samples are returned unchanged.
    """
    window = min(window, len(q) - 1 + len(q) % 2)
    if window <= order:
        return q
    result = savgol_filter(q, window, order)
    result[:, 3:7] /= np.linalg.norm(result[:, 3:7], axis=1, keepdims=True)
    return np.asarray(result)


def imitation_errors(imitation: Imitation, motion: HumanMotion) -> ImitationErrors:
    """Measure how far an imitation is from its recording at the same samples (Tomić 2018, §3.6)."""
    actor = imitation.actor
    start, poses = model_poses(actor, actor.q[None]), model_poses(actor, imitation.q)
    first, joints, segments = motion.initial.joints, motion.joints, motion.segments
    return (
        {name: float(np.linalg.norm(first[name] - start[name][0, :3, 3])) for name in ARM_JOINTS},
        {name: np.linalg.norm(joints[name] - poses[name][:, :3, 3], axis=1) for name in ARM_JOINTS},
        {
            name: np.linalg.norm(segments[name][:, :3, 3] - poses[name][:, :3, 3], axis=1)
            for name in ARM_SEGMENTS
        },
        {name: rotation_angle(segments[name], poses[name]) for name in ("left_hand", "right_hand")},
    )


def imitation_metrics(imitation: Imitation, motion: HumanMotion) -> dict[str, float]:
    """Compute mean and maximum of the paper's hand error, that of the wrists, over both sides and time, m."""
    poses = model_poses(imitation.actor, imitation.q)
    apart = [motion.joints[name] - poses[name][:, :3, 3] for name in WRISTS]
    wrists = np.linalg.norm(apart, axis=2)
    return {"imitation.hand_mean_m": float(wrists.mean()), "imitation.hand_max_m": float(wrists.max())}


def speed_difference(time: Array, imitated: Array, joints: Array) -> float:
    """Compute S = (1/N) Σ ‖q̇_imitation − q̇_robot‖² over N samples, (rad/s)² (Tomić 2018, eq. 4.25).

    0 for the same motion (T, n), rad, of trunk and arms at the recording's times. The thesis prints the sum
    over the samples alone, which a longer recording or a higher rate would let grow; ratios of motions of one
    recording are the same.
    """
    difference = np.diff(joints - imitated, axis=0) / np.diff(time)[:, None]
    return float((difference**2).sum(axis=1).mean())


def summarise(errors: ImitationErrors) -> tuple[ErrorSummary, ...]:
    """Compute mean, 95th percentile and maximum of each error in the order of Tomić's figures 3.7-3.10."""
    first, joints, markers, hands = errors
    initial = {name: np.array([value]) for name, value in first.items()}
    rows = (
        ("initial configuration", "m", initial, ("shoulder", "elbow", "wrist")),
        ("  shoulders", "m", initial, ("shoulder",)),
        ("hands (wrists)", "m", joints, ("wrist",)),
        ("elbows", "m", joints, ("elbow",)),
        ("shoulders", "m", joints, ("shoulder",)),
        ("hand markers", "m", markers, ("hand",)),
        ("forearm markers", "m", markers, ("forearm",)),
        ("upper arm markers", "m", markers, ("upper_arm",)),
        ("hand orientation", "rad", hands, ("hand",)),
    )
    found = []
    for name, unit, tracks, parts in rows:
        values = np.concatenate([tracks[f"{side}_{part}"] for side in SIDES for part in parts])
        numbers = float(values.mean()), float(np.quantile(values, 0.95)), float(values.max())
        found.append(ErrorSummary(name, unit, *numbers))
    return tuple(found)


def model_poses(actor: ScaledActor, q: Array) -> dict[str, Array]:
    """Compute the poses (T, 4, 4) of the scaled model's joints and virtual markers in configurations (T, nq).

    World frame, m, by joint (`left_wrist`) and segment (`left_hand`) of the recording.
    """
    tree = kinematic_tree(actor.model)
    bodies = len(tree.parent) + 1
    rotation, position = np.empty((len(q), bodies, 3, 3)), np.empty((len(q), bodies, 3))
    rotation[:, 0], position[:, 0] = Rotation.from_quat(q[:, 3:7]).as_matrix(), q[:, :3]
    for sample, joints in enumerate(np.ascontiguousarray(q[:, 7:])):
        place_bodies(tree, joints, rotation[sample], position[sample])
    poses = {}
    for name, frame in {**actor.joints, **actor.markers}.items():
        body, orientation, offset = frame_on_body(actor.model, frame)
        poses[name] = np.tile(np.eye(4), (len(q), 1, 1))
        poses[name][:, :3, :3] = rotation[:, body] @ orientation
        poses[name][:, :3, 3] = position[:, body] + rotation[:, body] @ offset
    return poses
