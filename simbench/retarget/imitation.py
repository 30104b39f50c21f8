"""Imitation: posture of the scaled model, frame by frame, from markers and joints of a recording."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import least_squares
from scipy.signal import savgol_filter

from simbench.motion.human_motion import ARM_SEGMENTS, HumanMotion
from simbench.retarget.initial_configuration import ScaledActor, orientation_error

_MARKERS = ARM_SEGMENTS
_INNER_JOINTS = ("left_shoulder", "left_elbow", "right_shoulder", "right_elbow")
_HANDS = ("left_hand", "right_hand")
_WRISTS = ("left_wrist", "right_wrist")
_FIRST_STEPS = 30
_IDENTITY = np.eye(3)


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
        Orientation of upper-arm, forearm and (if recorded) trunk markers. Settles what the paper's criterion
        leaves free: the humerus' turn while the elbow is straight, and trunk against shoulders.
    damping : float
        Weight of each arm coordinate's step; 1/damping is the largest useful gain.
    base_damping : float
        The same for the floating base, larger, so that arms do an arm's work.
    """

    marker: float = 1.0
    joint: float = 2.0
    hand_orientation: float = 10.0
    hand: float = 20.0
    segment_orientation: float = 0.2
    damping: float = 0.03
    base_damping: float = 0.03


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
    weights: ImitationWeights | None = None,
    smoothing_window: int = 31,
    smoothing_order: int = 5,
) -> Imitation:
    """Follow a recording with the scaled model, one Gauss-Newton step per frame (Tomić 2018, §3.5).

    Δq = −ε_β⁺ ε_α with ε_β = ∂ε/∂q at the previous frame's solution, then Savitzky-Golay smoothing.

    Parameters
    ----------
    actor : ScaledActor
        From `calibrate`, of the same recording.
    motion : HumanMotion
    weights : ImitationWeights, optional
    smoothing_window, smoothing_order : int
        Savitzky-Golay window (samples) and polynomial order.

    Returns
    -------
    Imitation
    """
    model, data = actor.model, actor.model.createData()
    weights = weights or ImitationWeights()
    q = np.empty((len(motion.time), model.nq))
    current = first_posture(actor, motion, weights)
    for sample in range(len(motion.time)):
        current = _step(actor, data, current, motion, sample, weights)
        q[sample] = current
    return Imitation(actor, motion.time, smooth(q, smoothing_window, smoothing_order))


def _step(
    actor: ScaledActor,
    data: pin.Data,
    q: NDArray[np.float64],
    motion: HumanMotion,
    sample: int,
    weights: ImitationWeights,
) -> NDArray[np.float64]:
    """One damped Gauss-Newton step toward a frame."""
    jacobian, error = criterion(actor, data, q, motion, sample, weights)
    damping = np.full(actor.model.nv, weights.damping)
    damping[:6] = weights.base_damping
    normal = jacobian.T @ jacobian + np.diag(damping**2)
    return np.asarray(pin.integrate(actor.model, q, np.linalg.solve(normal, jacobian.T @ error)))


def first_posture(actor: ScaledActor, motion: HumanMotion, weights: ImitationWeights) -> NDArray[np.float64]:
    """Match the first frame, near the robot's joint limits.

    A recording may start far from the initial configuration, where one Gauss-Newton step is not enough and
    an unbounded search can wind a joint the wrong way round: search within the limits, then converge.

    Parameters
    ----------
    actor : ScaledActor
    motion : HumanMotion
    weights : ImitationWeights

    Returns
    -------
    (nq,) array
    """
    model, data = actor.model, actor.model.createData()
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    basic = np.clip(actor.basic, lower, upper)
    middle = basic + 0.3 * (0.5 * (lower + upper) - basic)
    bounds = (
        np.concatenate([np.full(6, -np.inf), lower]),
        np.concatenate([np.full(6, np.inf), upper]),
    )

    def configuration(x: NDArray[np.float64]) -> NDArray[np.float64]:
        base = np.concatenate([x[:6], np.zeros(model.nv - 6)])
        q = pin.integrate(model, actor.q, base)
        q[7:] = x[6:]
        return q

    def residual(x: NDArray[np.float64]) -> NDArray[np.float64]:
        return criterion(actor, data, configuration(x), motion, 0, weights)[1]

    starts = [np.concatenate([np.zeros(6), np.clip(q, lower, upper)]) for q in (actor.q[7:], middle)]
    solutions = [
        least_squares(residual, np.clip(start, bounds[0] + 1e-6, bounds[1] - 1e-6), bounds=bounds)
        for start in starts
    ]
    q = configuration(min(solutions, key=lambda solution: float(solution.cost)).x)
    for _ in range(_FIRST_STEPS):
        q = _step(actor, data, q, motion, 0, weights)
    return q


def criterion(
    actor: ScaledActor,
    data: pin.Data,
    q: NDArray[np.float64],
    motion: HumanMotion,
    sample: int,
    weights: ImitationWeights,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Compute the weighted error ε of one frame and −∂ε/∂q.

    Parameters
    ----------
    actor : ScaledActor
    data : pinocchio.Data
        Of `actor.model`.
    q : (nq,) array
    motion : HumanMotion
    sample : int
    weights : ImitationWeights

    Returns
    -------
    jacobian : (m, nv) array
        ∂(model)/∂q, weighted, so that the Gauss-Newton step is jacobian⁺ error.
    error : (m,) array
        recording − model, weighted; m rad.
    """
    model = actor.model
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    blocks, errors = [], []

    def jacobian(frame: int) -> NDArray[np.float64]:
        return np.asarray(pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED))

    def add_orientation(frame: int, full: NDArray[np.float64], target: NDArray[np.float64], w: float) -> None:
        vector, scalar = orientation_error(target, data.oMf[frame].rotation)
        blocks.append((pin.skew(0.5 * w * vector) + 0.5 * w * scalar * _IDENTITY) @ full[3:])
        errors.append(w * vector)

    def add_position(frame: int, full: NDArray[np.float64], target: NDArray[np.float64], w: float) -> None:
        blocks.append(w * full[:3])
        errors.append(w * (target - data.oMf[frame].translation))

    for name in _MARKERS:
        frame, pose = actor.markers[name], motion.segments[name][sample]
        full = jacobian(frame)
        add_position(frame, full, pose[:3, 3], weights.marker)
        turn = weights.hand_orientation if name in _HANDS else weights.segment_orientation
        add_orientation(frame, full, pose[:3, :3], turn)
    for name in _INNER_JOINTS:
        add_position(
            actor.joints[name], jacobian(actor.joints[name]), motion.joints[name][sample], weights.joint
        )
    for name in _WRISTS:
        add_position(
            actor.joints[name], jacobian(actor.joints[name]), motion.joints[name][sample], weights.hand
        )
    if "trunk" in actor.markers and "trunk" in motion.segments:
        frame = actor.markers["trunk"]
        pose = motion.segments["trunk"][sample]
        add_orientation(frame, jacobian(frame), pose[:3, :3], weights.segment_orientation)
    return np.vstack(blocks), np.concatenate(errors)


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


def joint_errors(
    imitation: Imitation, motion: HumanMotion, names: tuple[str, ...] = _WRISTS
) -> NDArray[np.float64]:
    """Distance between the actor's joints and the scaled model's, over time.

    Parameters
    ----------
    imitation : Imitation
    motion : HumanMotion
    names : tuple of str
        Joints of the recording; the wrists by default, the paper's hand error.

    Returns
    -------
    (T, len(names)) array
        m.
    """
    model = imitation.actor.model
    data = model.createData()
    errors = np.empty((len(imitation.q), len(names)))
    for sample, q in enumerate(imitation.q):
        pin.framesForwardKinematics(model, data, q)
        for column, name in enumerate(names):
            position = data.oMf[imitation.actor.joints[name]].translation
            errors[sample, column] = np.linalg.norm(motion.joints[name][sample] - position)
    return errors
