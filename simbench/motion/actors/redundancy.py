"""A person's joints while the equipment holds the hands: Tomić (2018), equation 4.23, frame by frame."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.reaching import (
    Hold,
    Reacher,
    lower_limits,
    move_clavicles,
    palm_errors,
    palm_jacobian,
    palm_poses,
    world_twists,
)
from simbench.motion.actors.strategy import ERGONOMIC, MANIPULABILITY_GAIN, Strategy
from simbench.robot.sides import SIDES

# m and rad: what is left of the equipment's constraint in a frame.
TOLERANCE = 1e-5
CORRECTIONS = 8
# s: a joint that nears its limit slows down so that it would need this long for what is left.
STOPPING = 0.10
# Middle part of a joint's range in which it moves freely, and how reluctant it is beyond (our estimate: at
# the end 25 times as much as in the middle).
EASY_RANGE, STIFFENING = 0.7, 45.0
# Row a: the matrix of the cross product (of twists) with the a-th unit twist.
TWIST_CROSS = np.array([pin.Motion(unit).action.ravel() for unit in np.eye(6)])


def follow(
    reacher: Reacher,
    start: Array,
    pelvis: Array,
    targets: Array,
    held: Hold,
    strategy: Strategy,
    home: Array,
    period: float,
) -> Array:
    """Keep the palms where the equipment has them, in the way of one person.

    q̇ = K(Jᵀ(JKJᵀ)⁻¹(Ẋ + JKb) − b), K = ((k_en + k_erg Δt²)A + (k_vel + k_man)I)⁻¹,
    b = k_erg Δt A(q − q_erg) − k_man pω − r K⁻¹(q_home − q): Tomić (2018), equation 4.23, and the return to
    `home` at the rate r = `strategy.memory`. Joints that near a limit become reluctant and slow down
    before it, and the others take over.

    Parameters
    ----------
    reacher : Reacher
    start : (nq,) array
        Configuration before the first frame.
    pelvis : (T, 7) array
        Position (m) and quaternion of the pelvis: stance and sway, given.
    targets : (T, 2, 4, 4) array
        Poses of the left and the right palm, world.
    held : Hold
    strategy : Strategy
    home : (T, 17) array
        Posture the person likes to return to, rad.
    period : float
        Δt, s.

    Returns
    -------
    (T, nq) array
        The constraint is met in every frame to 1e-5 m and 1e-5 rad.

    Raises
    ------
    MotionError
        A palm cannot reach its target within a person's joint ranges.
    """
    path = np.empty((len(targets), len(start)))
    q = start.copy()
    for k, target in enumerate(targets):
        q[:7] = pelvis[k]
        _step(reacher, q, target, held, strategy, home[k], period)
        path[k] = q
    return path


def _step(
    reacher: Reacher,
    q: Array,
    targets: Array,
    held: Hold,
    strategy: Strategy,
    home: Array,
    period: float,
) -> None:
    """One frame, in place."""
    index = reacher.in_q
    posture = q[index]
    poses, both = palm_jacobian(reacher, q)
    weight, wish = _preferences(reacher, q, strategy, home, period)
    # Joints that are too fast for what is left of their range move as fast as they may.
    gentle = min(period / STOPPING, 1.0)
    solved = resolve(
        weight,
        wish,
        held.rows @ both,
        palm_errors(poses, targets, held),
        gentle * (lower_limits(reacher, posture) - posture),
        gentle * (reacher.upper - posture),
    )
    if solved is None:
        raise _unreachable(reacher, targets, poses)
    move, solution = solved
    q[index] += move
    # The same pseudo-inverse serves for what is left, of second order in the step.
    for _ in range(CORRECTIONS):
        move_clavicles(reacher, q)
        poses = palm_poses(reacher, q)
        error = palm_errors(poses, targets, held)
        if np.abs(error).max() < TOLERANCE:
            return
        q[index] += solution @ error
    raise _unreachable(reacher, targets, poses)


def _preferences(
    reacher: Reacher, q: Array, strategy: Strategy, home: Array, period: float
) -> tuple[Array, Array]:
    """K⁻¹ (17, 17) and -bΔt (17,) of equation 4.23: what moves cost, and which way free hands would go."""
    posture = q[reacher.in_q]
    inertia = pin.crba(reacher.human.model, reacher.data, q)[reacher.free[:, None], reacher.free]
    weight = (strategy.energy + strategy.ergonomy * period**2) * inertia
    weight.flat[:: len(posture) + 1] += strategy.velocity + strategy.manipulability
    scale = _stiffening(reacher, posture)
    weight *= scale[:, None] * scale
    wish = weight @ (strategy.memory * period * (home - posture))
    if strategy.ergonomy:
        wish -= strategy.ergonomy * period**2 * (inertia @ (posture - ERGONOMIC))
    if strategy.manipulability:
        gradient = manipulability_gradient(reacher, q)
        wish += strategy.manipulability * MANIPULABILITY_GAIN * period * gradient
    return weight, wish


def resolve(
    weight: Array, wish: Array, jacobian: Array, error: Array, least: Array, most: Array
) -> tuple[Array, Array] | None:
    """Find the least of ½ mᵀWm - wᵀm with Jm = e: equation 4.23 for one frame, within bounds.

    Moves beyond their bound are set to it and the rest is solved again; a bound once met stays.

    Parameters
    ----------
    weight : (N, N) array
        W, symmetric and positive definite.
    wish : (N,) array
        w.
    jacobian : (R, N) array
        J.
    error : (R,) array
        e.
    least, most : (N,) array
        Bounds of m.

    Returns
    -------
    move : (N,) array
    solution : (N, R) array
        Weighted pseudo-inverse of J for the joints within their bounds.
        None instead of both if too few joints are left.
    """
    locked, move = np.zeros(len(wish), bool), np.zeros(len(wish))
    while len(wish) - np.count_nonzero(locked) >= len(error):
        gain = _inverse(weight, locked)
        pull = gain @ jacobian.T
        try:
            solution = pull @ np.linalg.inv(jacobian @ pull)
        except np.linalg.LinAlgError:
            return None
        bound = np.where(locked, np.clip(move, least, most), 0.0)
        free_move = bound + gain @ (wish - weight @ bound)
        move = free_move + solution @ (error - jacobian @ free_move)
        beyond = ((move < least) | (move > most)) & ~locked
        if not beyond.any():
            return move, solution
        locked |= beyond
    return None


def _stiffening(reacher: Reacher, posture: Array) -> Array:
    """How much more reluctantly joints move near the ends of their ranges: roots of weight factors (17,).

    Passive tissue stiffens there; so a joint comes to its limit gently.
    """
    near = np.abs(2.0 * posture - reacher.lower - reacher.upper) / (reacher.upper - reacher.lower)
    stiff: Array = 1.0 + STIFFENING * np.maximum(near - EASY_RANGE, 0.0) ** 2
    return stiff


def _inverse(weight: Array, locked: NDArray[np.bool_]) -> Array:
    """Inverse of a symmetric matrix with the locked rows and columns zero."""
    gain: Array = np.zeros_like(weight)
    free = np.flatnonzero(~locked)
    gain[free[:, None], free] = np.linalg.inv(weight[free[:, None], free])
    return gain


def manipulability_gradient(reacher: Reacher, q: Array) -> Array:
    """Gradient of det(JJᵀ) of both hands: ω_i = 2 det(JJᵀ) tr[(JJᵀ)⁻¹ ∂J/∂q_i Jᵀ], Tomić (2018), ch. 4.

    In world coordinates a joint turns the axes of those beyond it: ∂J_j/∂q_i = J_i × J_j (the cross product
    of twists) if i comes before j, else 0; and the determinant does not depend on the point of reference.
    The clavicles rest, as they are no joints of the thesis's model.

    Parameters
    ----------
    reacher : Reacher
    q : (nq,) array
        The configuration at which the joints' Jacobians were last computed.

    Returns
    -------
    (17,) array
    """
    twists = world_twists(reacher)
    jacobian = twists.reshape(12, -1)
    gram = jacobian @ jacobian.T
    dual = np.linalg.solve(gram, jacobian).reshape(twists.shape)
    # Σ_j dual_j · (J_i x J_j) for j after i is linear in J_i and in the sums over the later j of J_j dual_jᵀ;
    # where a joint does not move a hand, its twist there is zero.
    pairs = (dual[:, :, None] * twists[:, None]).reshape(2, 36, -1)
    later = pairs.sum(axis=-1, keepdims=True) - np.cumsum(pairs, axis=-1)
    change = (twists * (TWIST_CROSS @ later)).sum(axis=(0, 1))
    return np.asarray(2.0 * np.linalg.det(gram) * change)


def _unreachable(reacher: Reacher, targets: Array, poses: Array) -> MotionError:
    missed = np.linalg.norm(targets[:, :3, 3] - poses[:, :3, 3], axis=1)
    hand = int(np.argmax(missed))
    place = np.round(targets[hand, :3, 3], 3).tolist()
    return MotionError(
        f"actor {reacher.human.actor.name}: the {SIDES[hand]} palm cannot reach {place} m within a person's "
        "joint ranges; bring the equipment nearer or change its height"
    )
