"""Imitation: posture of the scaled model, frame by frame, from markers and joints of a recording."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.ndimage import correlate1d, minimum_filter1d

from simbench.errors import MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.savgol import savgol_filter
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.imitation.calibration import ScaledActor
from simbench.retargeting.imitation.stream import MAX_DISTANCE, ImitationStream, follow_frames, open_stream
from simbench.retargeting.imitation.tasks import (
    INNER_JOINTS,
    MARKERS,
    MARKERS_ONLY,
    WRISTS,
    ImitationWeights,
    imitation_targets,
)

METHODS = ("analytical", "numerical", "ude")
"""One Gauss-Newton step a frame; the least error in every frame; the least error of the markers alone."""

_ROUNDS = {"analytical": 0, "numerical": 60, "ude": 60}
"""Most steps per frame; 0 is one, and more only where that one is long."""
_MAX_SMOOTHING_ERROR = 0.005
"""Largest distance by which smoothing may move a wrist, m."""
_PRIOR_WEIGHT = 1.0
"""Weight of the previous frame's posture as a fraction of the damping, for the least error too: so it does
not jump between postures that are nearly as good."""
_FIRST_ROUNDS = 300
"""Most steps for the posture of the first frame."""
_EQUALLY_GOOD = 1e-6
"""Fraction of the least error by which another posture must be better than the first: a waist that turns the
one way while the root turns the other changes nothing, and rounding would choose."""


@dataclass(frozen=True)
class Imitation:
    """Motion of the scaled model.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model, calibrated on the recording.
    time : (T,) array
        Time of each sample, s.
    q : (T, nq) array
        Configurations of `actor.model`.
    """

    actor: ScaledActor
    time: Array
    q: Array


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

    Parameters
    ----------
    actor : ScaledActor
        Scaled model from `calibrate`, of the same recording.
    motion : HumanMotion
        Recording with T samples.
    method : str
        `analytical`: Δq = −ε_β⁺ ε_α with ε_β = ∂ε/∂q at the previous frame's solution; where that step would
        be longer than 0.3 rad, near a singularity, up to ten steps that are drawn to the previous solution.
        `numerical`: the least ‖ε‖², from the previous frame's solution on. `ude`: the same of marker
        positions alone.
    weights : ImitationWeights, optional
        Weights of the errors; not for `ude`, which has its own.
    limited : bool
        Whether to keep the robot's joint limits. A person's ranges are larger: by default the model may leave
        them.
    smoothing_window : int
        Savitzky-Golay window, samples.
    smoothing_order : int
        Savitzky-Golay polynomial order.

    Returns
    -------
    Imitation
        Motion of the scaled model at the recording's samples.

    Raises
    ------
    RetargetError
        If the method is unknown.
    """
    _require_near(motion)
    stream = start_imitation(actor, motion, method=method, weights=weights, limited=limited)
    q, _ = follow_frames(stream, *imitation_targets(actor, motion, stream.weights))
    smoothed = smooth(q, smoothing_window, smoothing_order)
    return Imitation(actor, motion.time, _limit_smoothing(actor, q, smoothed, smoothing_window))


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
    chosen = MARKERS_ONLY if method == "ude" else weights or ImitationWeights()
    # Markers alone do not determine the first posture; everything that was recorded does.
    first = first_posture(actor, motion, ImitationWeights() if method == "ude" else chosen, limited=limited)
    return open_stream(actor, first, chosen, rounds=_ROUNDS[method], hold=_PRIOR_WEIGHT, limited=limited)


def _require_near(motion: HumanMotion) -> None:
    """Refuse tracks that go farther than any measurement, by name."""
    tracks = {name: motion.joints[name] for name in (*INNER_JOINTS, *WRISTS)}
    tracks |= {f"{name} marker": motion.segments[name][:, :3, 3] for name in MARKERS}
    for name, track in tracks.items():
        # Comparisons with NaN are false.
        near = (np.abs(track) < MAX_DISTANCE).all(axis=1)
        if not near.all():
            frame = int(np.argmin(near))
            raise MotionError(
                f"{motion.source}: {name} is {np.abs(track[frame]).max():.3g} m from the origin at frame "
                f"{frame} ({motion.time[frame]:.3f} s); targets must be within {MAX_DISTANCE:g} m"
            )


def first_posture(
    actor: ScaledActor,
    motion: HumanMotion,
    weights: ImitationWeights,
    *,
    limited: bool = False,
    hold: float = 0.0,
) -> Array:
    """Match the first frame, near the robot's joint limits.

    A recording may start far from the initial configuration, where one Gauss-Newton step is not enough and
    an unbounded search can wind a joint the wrong way round: search within the limits, then converge.

    Parameters
    ----------
    actor : ScaledActor
        Scaled model from `calibrate`.
    motion : HumanMotion
        Recording, of which only the first frame is used.
    weights : ImitationWeights
        Weights of the errors.
    limited : bool
        Whether to stay within the limits.
    hold : float
        Weight of the distance from where the search begins, as in `open_stream`: it decides between postures
        that match equally well.

    Returns
    -------
    (nq,) array
        Configuration of `actor.model`.
    """
    model = actor.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    basic = np.clip(actor.basic, lower, upper)
    middle = basic + 0.3 * (0.5 * (lower + upper) - basic)
    points, rotations = (target[:1] for target in imitation_targets(actor, motion, weights))
    best, least = actor.q, np.inf
    for joints in (actor.q[7:], middle):
        start = np.concatenate([actor.q[:7], np.clip(joints, lower, upper)])
        stream = open_stream(actor, start, weights, rounds=_FIRST_ROUNDS, hold=hold, limited=True)
        found, cost = follow_frames(stream, points, rotations)
        if cost[0] < (1.0 - _EQUALLY_GOOD) * least:
            best, least = found[0], cost[0]
    if limited:
        return best
    stream = open_stream(actor, best, weights, rounds=_FIRST_ROUNDS, hold=hold)
    return follow_frames(stream, points, rotations)[0][0]


def _limit_smoothing(actor: ScaledActor, q: Array, smoothed: Array, window: int) -> Array:
    """Reduce smoothing, gradually, around frames where it moves a wrist by more than 5 mm.

    Near a shoulder's singularity joints move fast though the hand does not: smoothed, they would miss it.
    """
    apart = _positions(actor, smoothed, WRISTS) - _positions(actor, q, WRISTS)
    moved = np.linalg.norm(apart, axis=2).max(axis=1)
    if moved.max() <= _MAX_SMOOTHING_ERROR:
        return smoothed
    kept = minimum_filter1d(np.minimum(_MAX_SMOOTHING_ERROR / np.maximum(moved, 1e-12), 1.0), window)
    bell = np.hanning(window + 2)[1:-1]
    kept = correlate1d(kept, bell / bell.sum(), mode="nearest")[:, None]
    result = q + kept * (smoothed - q)
    result[:, 3:7] /= np.linalg.norm(result[:, 3:7], axis=1, keepdims=True)
    return np.asarray(result)


def smooth(q: Array, window: int, order: int) -> Array:
    """Smooth floating-base configurations (Savitzky-Golay); the quaternion stays of unit length.

    Parameters
    ----------
    q : (T, nq) array
        Configurations; columns 3 to 6 are a quaternion, continuous in sign.
    window : int
        Length of the filter, samples; if the recording is shorter, the largest odd window that fits is used.
    order : int
        Order of the filter's polynomials.

    Returns
    -------
    (T, nq) array
        Smoothed configurations; unchanged if they are too few.
    """
    window = min(window, len(q) - 1 + len(q) % 2)
    if window <= order:
        return q
    result = savgol_filter(q, window, order)
    result[:, 3:7] /= np.linalg.norm(result[:, 3:7], axis=1, keepdims=True)
    return np.asarray(result)


def _positions(actor: ScaledActor, q: Array, names: tuple[str, ...]) -> Array:
    """Positions (T, len(names), 3) of joints of the scaled model in the world frame, m."""
    data = actor.model.createData()
    positions = np.empty((len(q), len(names), 3))
    for sample, at in enumerate(q):
        pin.framesForwardKinematics(actor.model, data, at)
        positions[sample] = [data.oMf[actor.joints[name]].translation for name in names]
    return positions
