"""Imitation: posture of the scaled model, frame by frame, from markers and joints of a recording."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.ndimage import correlate1d, minimum_filter1d
from scipy.signal import savgol_filter

from simbench.errors import MotionError, RetargetError
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.imitation.calibration import ScaledActor
from simbench.retargeting.imitation.stream import FARTHEST, ImitationStream, follow_frames, open_stream
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
"""Most steps a frame; 0 is one, and more only where that one is long."""
_GIVE = 0.005
"""Farthest that smoothing may move a wrist, m."""
_HOLD = 1.0
"""Of the damping, in the least error too: it does not jump between postures that are nearly as good."""


@dataclass(frozen=True)
class Imitation:
    """Motion of the scaled model.

    Parameters
    ----------
    actor : ScaledActor
    time : (T,) array
        s.
    q : (T, nq) array
        Configurations of `actor.model`.
    """

    actor: ScaledActor
    time: NDArray[np.float64]
    q: NDArray[np.float64]


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
        From `calibrate`, of the same recording.
    motion : HumanMotion
    method : str
        `analytical`: Δq = −ε_β⁺ ε_α with ε_β = ∂ε/∂q at the previous frame's solution; where that step would
        be longer than 0.3 rad, near a singularity, up to ten steps that look back. `numerical`: the least
        ‖ε‖², from the previous frame's solution on. `ude`: the same of marker positions alone.
    weights : ImitationWeights, optional
        Not for `ude`, which has its own.
    limited : bool
        Keep the robot's joint limits. A person's ranges are larger: by default the model may leave them.
    smoothing_window, smoothing_order : int
        Savitzky-Golay window (samples) and polynomial order.

    Returns
    -------
    Imitation

    Raises
    ------
    RetargetError
        If the method is unknown.
    """
    _require_near(motion)
    stream = start_imitation(actor, motion, method=method, weights=weights, limited=limited)
    q, _ = follow_frames(stream, *imitation_targets(actor, motion, stream.weights))
    smoothed = smooth(q, smoothing_window, smoothing_order)
    return Imitation(actor, motion.time, _spare_hands(actor, q, smoothed, smoothing_window))


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
    actor, motion, method, weights, limited
        As in `imitate`; of the recording only the first frame is looked at.

    Returns
    -------
    ImitationStream
    """
    if method not in METHODS:
        raise RetargetError(f"method {method}: unknown; allowed: {', '.join(METHODS)}")
    chosen = MARKERS_ONLY if method == "ude" else weights or ImitationWeights()
    # Markers alone leave a first posture to chance; all that was recorded does not.
    first = first_posture(actor, motion, ImitationWeights() if method == "ude" else chosen, limited=limited)
    return open_stream(actor, first, chosen, rounds=_ROUNDS[method], hold=_HOLD, limited=limited)


def _require_near(motion: HumanMotion) -> None:
    """Refuse tracks that go where nobody was, by name."""
    tracks = {name: motion.joints[name] for name in (*INNER_JOINTS, *WRISTS)}
    tracks |= {f"{name} marker": motion.segments[name][:, :3, 3] for name in MARKERS}
    for name, track in tracks.items():
        # Comparisons with NaN are false.
        near = (np.abs(track) < FARTHEST).all(axis=1)
        if not near.all():
            frame = int(np.argmin(near))
            raise MotionError(
                f"{motion.source}: {name} is {np.abs(track[frame]).max():.3g} m from the origin at frame "
                f"{frame} ({motion.time[frame]:.3f} s); targets must be within {FARTHEST:g} m"
            )


_FIRST_ROUNDS = 300


def first_posture(
    actor: ScaledActor, motion: HumanMotion, weights: ImitationWeights, *, limited: bool = False
) -> NDArray[np.float64]:
    """Match the first frame, near the robot's joint limits.

    A recording may start far from the initial configuration, where one Gauss-Newton step is not enough and
    an unbounded search can wind a joint the wrong way round: search within the limits, then converge.

    Parameters
    ----------
    actor : ScaledActor
    motion : HumanMotion
    weights : ImitationWeights
    limited : bool
        Stay within the limits.

    Returns
    -------
    (nq,) array
    """
    model = actor.model
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    basic = np.clip(actor.basic, lower, upper)
    middle = basic + 0.3 * (0.5 * (lower + upper) - basic)
    points, turns = (target[:1] for target in imitation_targets(actor, motion, weights))
    best, least = actor.q, np.inf
    for joints in (actor.q[7:], middle):
        start = np.concatenate([actor.q[:7], np.clip(joints, lower, upper)])
        stream = open_stream(actor, start, weights, rounds=_FIRST_ROUNDS, limited=True)
        found, cost = follow_frames(stream, points, turns)
        if cost[0] < least:
            best, least = found[0], cost[0]
    if limited:
        return best
    return follow_frames(open_stream(actor, best, weights, rounds=_FIRST_ROUNDS), points, turns)[0][0]


def _spare_hands(
    actor: ScaledActor, q: NDArray[np.float64], smoothed: NDArray[np.float64], window: int
) -> NDArray[np.float64]:
    """Take smoothing back, gradually, around frames where it moves a wrist by more than `_GIVE`.

    Near a shoulder's singularity joints turn fast though the hand does not: smoothed, they would miss it.
    """
    apart = _positions(actor, smoothed, WRISTS) - _positions(actor, q, WRISTS)
    moved = np.linalg.norm(apart, axis=2).max(axis=1)
    if moved.max() <= _GIVE:
        return smoothed
    kept = minimum_filter1d(np.minimum(_GIVE / np.maximum(moved, 1e-12), 1.0), window)
    bell = np.hanning(window + 2)[1:-1]
    kept = correlate1d(kept, bell / bell.sum(), mode="nearest")[:, None]
    result = q + kept * (smoothed - q)
    result[:, 3:7] /= np.linalg.norm(result[:, 3:7], axis=1, keepdims=True)
    return np.asarray(result)


def smooth(q: NDArray[np.float64], window: int, order: int) -> NDArray[np.float64]:
    """Savitzky-Golay smoothing of floating-base configurations; the quaternion stays of unit length.

    Parameters
    ----------
    q : (T, nq) array
        Columns 3 to 6 are a quaternion, continuous in sign.
    window, order : int
        If the recording is shorter than the window, the largest odd window that fits is used.

    Returns
    -------
    (T, nq) array
    """
    window = min(window, len(q) - 1 + len(q) % 2)
    if window <= order:
        return q
    result = savgol_filter(q, window, order, axis=0)
    result[:, 3:7] /= np.linalg.norm(result[:, 3:7], axis=1, keepdims=True)
    return np.asarray(result)


def _positions(actor: ScaledActor, q: NDArray[np.float64], names: tuple[str, ...]) -> NDArray[np.float64]:
    """Places (T, len(names), 3) of joints of the scaled model, m."""
    data = actor.model.createData()
    places = np.empty((len(q), len(names), 3))
    for sample, at in enumerate(q):
        pin.framesForwardKinematics(actor.model, data, at)
        places[sample] = [data.oMf[actor.joints[name]].translation for name in names]
    return places
