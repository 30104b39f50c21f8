"""One arm's path: the least criterion frame by frame, inside the bounds of its joints."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.retargeting.arm_adaptation.arm_chain import ArmChain
from simbench.retargeting.arm_adaptation.arm_criterion import (
    ArmProblem,
    Posture,
    make_posture,
    minimise_criterion,
    place_arm,
)
from simbench.retargeting.arm_adaptation.arm_targets import ArmTargets
from simbench.retargeting.arm_adaptation.joint_bounds import JointBounds, approach, increment_bounds

_STIFFNESS = 1e-6
"""Cost of leaving the last posture, m²/rad²: a millimetre a radian. It decides where the criterion does not,
as for humerus and forearm of a straight arm, which would otherwise follow the markers' noise."""
_STARTS = 24
_CLEARLY_BETTER = 1e-5
"""m², by which another first posture must be better than the one next to the basic posture."""


def first_posture(
    chain: ArmChain, targets: ArmTargets, weights: Array, bounds: JointBounds, basic: Array
) -> Array:
    """Search all of the joints' range for the posture of the first frame, beginning at the basic posture.

    Parameters
    ----------
    chain : ArmChain
        The stretched arm.
    targets : ArmTargets
        The person's arm; only the first frame is used.
    weights : (4,) array
        Weights of wrist, thumb, pinky and upper arm.
    bounds : JointBounds
        Only the position limits are used.
    basic : (n,) array
        Basic posture, rad.

    Returns
    -------
    (n,) array
        Posture, rad.
    """
    # Its import takes a third of a second of CPU time.
    from scipy.stats.qmc import Halton

    spread = Halton(len(basic), scramble=False).random(_STARTS)
    starts = np.vstack([basic, bounds.lower + spread * (bounds.upper - bounds.lower)])
    starts = np.ascontiguousarray(np.clip(starts, bounds.lower, bounds.upper))
    problem = ArmProblem(chain, make_posture(chain), targets.hand[0], targets.upper_arm[0], weights)
    best, least = starts[0], np.inf
    for q in starts:
        value = minimise_criterion(problem, 0.0, bounds.lower, bounds.upper, q)
        if value < least - _CLEARLY_BETTER:
            best, least = q, value
    return best


@compiled
def arm_path(
    chain: ArmChain,
    hand: Array,
    upper_arm: Array,
    weights: Array,
    bounds: JointBounds,
    period: float,
    first: Array,
) -> tuple[Array, Array, Array]:
    """Follow an arm frame by frame: the least criterion over what joints can do from the frame before.

    With accelerations bounded, the least criterion alone makes a joint that could not keep up pass its target
    at full speed, again and again: nothing in it says that a joint has to slow down in time. So increments
    are also bounded to those that can still slow down to the speed of the target (`approach`), which is the
    solution with position and speed bounds only, the paper's.

    Parameters
    ----------
    chain : ArmChain
        The stretched arm.
    hand : (T, 3, 3) array
        The person's wrist, thumb and pinky from the shoulder, as in `ArmTargets`, m.
    upper_arm : (T, 3) array
        Unit vector from shoulder to elbow of the person.
    weights : (4,) array
        Weights of wrist, thumb, pinky and upper arm.
    bounds : JointBounds
        Bounds of joint position, speed and acceleration.
    period : float
        Time between frames, s.
    first : (n,) array
        Posture of the first frame, rad.

    Returns
    -------
    path : (T, n) array
        Joint positions, rad.
    hand_errors : (T, 3, 3) array
        Person minus robot, m.
    angles : (T,) array
        Between the upper arms, rad.
    """
    samples, n = len(hand), len(first)
    posture = make_posture(chain)
    path, errors, angles = np.empty((samples, n)), np.empty((samples, 3, 3)), np.empty(samples)
    free = JointBounds(bounds.lower, bounds.upper, bounds.speed, np.full(n, np.inf))
    q, target, last_target = first.copy(), first.copy(), first.copy()
    velocity, low, high = np.zeros(n), np.empty(n), np.empty(n)
    bounded = bool((bounds.acceleration < np.inf).any())
    for t in range(samples):
        if t > 0:
            problem = ArmProblem(chain, posture, hand[t], upper_arm[t], weights)
            # Without accelerations the velocity does not matter.
            increment_bounds(free, target, velocity, period, low, high)
            for k in range(n):
                last_target[k] = target[k]
                low[k] += target[k]
                high[k] += target[k]
            minimise_criterion(problem, _STIFFNESS, low, high, target)
            if bounded:
                increment_bounds(bounds, q, velocity, period, low, high)
                _narrow_increments(bounds, period, q, target, last_target, low, high)
                minimise_criterion(problem, _STIFFNESS, low, high, q)
            for k in range(n):
                position = q[k] if bounded else target[k]
                q[k] = min(max(position, bounds.lower[k]), bounds.upper[k])
                velocity[k] = (q[k] - path[t - 1, k]) / period
        for k in range(n):
            path[t, k] = q[k]
        place_arm(chain, q, posture)
        angles[t] = _compute_errors(posture, hand[t], upper_arm[t], errors[t])
    return path, errors, angles


@compiled
def _narrow_increments(
    bounds: JointBounds, period: float, q: Array, target: Array, last_target: Array, low: Array, high: Array
) -> None:
    """Turn increment bounds into position bounds from which joints can slow down to their targets' speed."""
    for k in range(len(q)):
        behind = last_target[k] - q[k]
        change = approach(behind, target[k] - q[k], bounds.acceleration[k], period)
        change = min(max(change, low[k]), high[k])
        if behind > 0.0:
            high[k] = change
        elif behind < 0.0:
            low[k] = change
        low[k] += q[k]
        high[k] += q[k]


@compiled
def _compute_errors(posture: Posture, hand: Array, upper_arm: Array, errors: Array) -> float:
    """Write the errors of the hand points (3, 3), m, and return the angle between the upper arms, rad."""
    along, length = 0.0, 0.0
    for i in range(3):
        for p in range(3):
            errors[p, i] = hand[p, i] - posture.point[p, i]
        along += posture.point[3, i] * upper_arm[i]
        length += posture.point[3, i] * posture.point[3, i]
    return float(np.arccos(min(max(along / np.sqrt(length), -1.0), 1.0)))
