"""A person's joints while the equipment holds the palms: Tomić (2018), equation 4.23, frame by frame.

The step is taken with NumPy. The same formula is compiled in `simbench.kinematics.redundancy_law` and
`redundancy_step`, with Cholesky factors, for the many thousand laws that inverse optimal control tries. Both
agree to rounding, which tests check. Recordings of virtual actors keep this form because a session is named
by its seed and must be the same to the bit: the compiled one moves their joints by up to 7e-15 rad, which the
search for the robot's base placement amplifies to 1e-4 rad in its plan.

On purpose three things differ from the law by which a recording is analysed (`redundancy_law`):

- The equipment holds the palms, and leaves a hand free to turn about its handle (`Hold`); what a recording
  shows are wrists, whose whole pose the analysing law keeps.
- The coupling terms of `StepState` are 0: an actor's criteria look at the 17 joints that move the palms only.
  The sway of the pelvis and the clavicles, which follow the arms, do not enter effort through the inertia
  matrix; in the analysing law what is prescribed does.
- Displacements in the null space have no limit of speed but the joints' bounds: a performance begins after
  the person has settled into a posture (`perform.find_grasp`), the analysing law where the recorded person
  was.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.optimize import least_squares

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import StepState
from simbench.motion.actors.human_model import (
    ARM_JOINT_NAMES,
    SPINE_JOINTS,
    HumanModel,
    compute_clavicle_angles,
    update_clavicles,
)
from simbench.motion.actors.people import ERGONOMIC, MANIPULABILITY_GAIN, ActorStrategy
from simbench.robot.sides import SIDES

# Distance that is kept from the anatomical limits, rad.
LIMIT_MARGIN = np.radians(1.0)
# Nobody works with the spine bent further back or forward than this, rad, although it could.
WORKING_FLEXION = np.radians([-10.0, 30.0])
# The trunk is in the way of adduction: beside it an arm hangs almost straight, in front of it the elbow gets
# some distance across. Abduction, rad, and the sine of the flexion from which the elbow is in front: ours,
# from a trunk 0.32 m wide and 0.24 m deep, an upper arm 0.31 m long and 0.09 m thick.
LEAST_ABDUCTION_BESIDE, LEAST_ABDUCTION_BEFORE, SINE_IN_FRONT = np.radians(-3.0), np.radians(-33.0), 0.60
# Indices of both shoulders' abduction among the free joints; flexion is the joint before.
ABDUCTIONS = (
    len(SPINE_JOINTS) + ARM_JOINT_NAMES.index("shoulder_abduction") + np.array([0, len(ARM_JOINT_NAMES)])
)


class Reacher:
    """A person's model with what is needed at every frame to move the palms."""

    def __init__(self, human: HumanModel) -> None:
        """Prepare a person for reaching. `human`: kinematic and inertial model of the person."""
        model = human.model
        spine = [model.joints[model.getJointId(name)].idx_v for name in SPINE_JOINTS]
        free = np.concatenate([spine, *(human.arms[side] - 1 for side in SIDES)]).astype(np.int64)
        # Memory for Pinocchio's results.
        self.human, self.data = human, model.createData()
        # Velocity indices (17,) of the joints that move the palms: spine, left arm, right arm. The clavicles
        # follow the upper arms.
        self.free: NDArray[np.int64] = free
        self.in_q: NDArray[np.int64] = free + 1  # The same joints in q.
        # Range (17,) in which these joints work, rad.
        self.lower: Array = model.lowerPositionLimit[free + 1] + LIMIT_MARGIN
        self.upper: Array = model.upperPositionLimit[free + 1] - LIMIT_MARGIN
        flexion = SPINE_JOINTS.index("spine_flexion")
        self.lower[flexion], self.upper[flexion] = WORKING_FLEXION
        # Pinocchio's ids of the left and the right palm.
        self.palms = [human.frames[f"{side}_palm"] for side in SIDES]
        # (2, 1, 17): 1 where a free joint moves the palm of that hand, 0 where it does not.
        moves = [np.isin(free, [*spine, *(human.arms[side] - 1)]) for side in SIDES]
        self.moves: Array = np.array(moves, float)[:, None]


def compute_least_abduction(flexion: Array) -> Array:
    """Compute how far adducted (negative) an upper arm can be beside or in front of the trunk.

    `flexion`: flexion of the shoulder, rad. Returns least abduction, rad; of the same shape.
    """
    forward = np.clip(np.sin(flexion) / SINE_IN_FRONT, 0.0, 1.0)
    return np.asarray(
        LEAST_ABDUCTION_BEFORE + (LEAST_ABDUCTION_BESIDE - LEAST_ABDUCTION_BEFORE) * np.sqrt(1.0 - forward**2)
    )


def compute_palm_poses(reacher: Reacher, q: Array) -> Array:
    """Compute the poses of the palms at a configuration.

    `reacher`: the person's model; its data are overwritten; `q` (nq,). Returns (2, 4, 4): poses of the left
    and the right palm in the world.
    """
    pin.forwardKinematics(reacher.human.model, reacher.data, q)
    model, data = reacher.human.model, reacher.data
    return np.array([pin.updateFramePlacement(model, data, palm).homogeneous for palm in reacher.palms])


def compute_palm_jacobian(reacher: Reacher, q: Array) -> tuple[Array, Array]:
    """Compute the Jacobian of the palms by the free joints.

    `reacher`: the person's model; its data are overwritten; `q` (nq,): configuration. Returns `poses` (2, 4,
    4): poses of the left and the right palm in the world; `jacobian` (12, 17): linear then angular velocity
    of the left, then of the right palm, in the palm's own axes (m/rad, 1), the clavicles' part included.
    """
    human, data = reacher.human, reacher.data
    pin.computeJointJacobians(human.model, data, q)
    # Velocity of the point of each hand that is at the world's origin (m/rad), then angular velocity.
    columns = np.asarray(data.J)
    twists = columns[:, reacher.free] * reacher.moves
    for hand, side in enumerate(SIDES):
        first = len(SPINE_JOINTS) + len(ARM_JOINT_NAMES) * hand
        slopes = compute_clavicle_angles(human, q[human.arms[side]])[1]
        twists[hand, :, first : first + 2] += columns[:, human.clavicles[side] - 1] @ slopes
    palms = [pin.updateFramePlacement(human.model, data, palm) for palm in reacher.palms]
    jacobian = np.array([palm.actionInverse for palm in palms]) @ twists
    return np.array([palm.homogeneous for palm in palms]), jacobian.reshape(12, -1)


@dataclass(frozen=True)
class Hold:
    """How the equipment holds the hands: fully, free to turn about one axis of the palm, or not at all."""

    # Two of (3,) array or None: unit axis of the left and the right palm, in the palm's own axes; None where
    # the hand cannot turn.
    axes: tuple[Array | None, ...]
    rows: Array  # (R, 12): selects the constrained components of both hands' twists.


def make_hold(turn_axes: Mapping[str, Array | None]) -> Hold:
    """Describe how the equipment holds both hands.

    `turn_axes` mapping of side to (3,) array or None: axis, in the palm's axes, about which the hand may turn
    on the handle; None if it may not. Without the side of a hand, that one is free. Returns axes, and rows
    that select the constrained components.
    """
    axes, blocks = [], []
    for hand, side in enumerate(SIDES):
        axis = turn_axes.get(side)
        picks = np.eye(12)[6 * hand : 6 * hand + 6 * (side in turn_axes)]
        if axis is not None:
            axis = axis / np.linalg.norm(axis)
            # Two directions across the axis.
            across = np.linalg.svd(axis[None])[2][1:]
            picks = np.vstack([picks[:3], across @ picks[3:]])
        axes.append(axis)
        blocks.append(picks)
    return Hold(tuple(axes), np.vstack(blocks))


def hold_positions(hands: Collection[str]) -> Hold:
    """Describe hands of which the positions of the palms count, not their orientations.

    `hands`: sides of the hands that count. Returns rows that select these positions.
    """
    rows = [6 * hand + axis for hand, side in enumerate(SIDES) if side in hands for axis in range(3)]
    return Hold((None, None), np.eye(12)[rows])


def compute_palm_errors(poses: Array, targets: Array, held: Hold) -> Array:
    """Compute the pose errors of the palms in the constrained directions.

    `poses`, `targets` (2, 4, 4): actual and target poses of the left and the right palm in the world; `held`:
    how the equipment holds the hands. Returns (R,): target less actual, m and rad, in the palms' own axes; to
    first order zero exactly where the hold is met.
    """
    to_palm = poses[:, :3, :3].transpose(0, 2, 1)
    twist = np.empty((2, 6))
    twist[:, :3] = (to_palm @ (targets[:, :3, 3] - poses[:, :3, 3])[:, :, None])[:, :, 0]
    relative = to_palm @ targets[:, :3, :3]
    for hand, a in enumerate(held.axes):
        if a is None:
            twist[hand, 3:] = pin.log3(relative[hand])
        else:
            b = relative[hand] @ a
            # np.cross takes ten times as long for two vectors.
            twist[hand, 3:] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]
    return held.rows @ twist.ravel()


# Weight of the equipment's constraint, per m and rad, against the preferred posture's, per rad.
CONSTRAINT_WEIGHT = 1e4
# Weights of the deviations from the preferred posture: reaching is the arms' work, the trunk leans as it is
# given; in the arms they are largest where the range is small, in pronation and the wrist.
POSTURE_WEIGHTS = np.array([3.0] * len(SPINE_JOINTS) + [1.0, 1.2, 0.8, 0.7, 1.4, 1.2, 2.5] * 2)
# Middle fraction of a joint's range in which no posture strains it.
UNSTRAINED_FRACTION = 0.6


def find_nearest_posture(reacher: Reacher, preferred: Array, targets: Array, held: Hold) -> Array:
    """Find the posture with the palms at given poses that is nearest to a preferred one.

    `reacher`: the person's model; `preferred` (nq,): preferred configuration; its pelvis is kept; `targets`
    (2, 4, 4): target poses of the left and the right palm, world; `held`: which components of the palms'
    poses count. Returns (nq,): configuration within the joint ranges; the palms are as near to their targets
    as these allow.
    """
    index, q = reacher.in_q, preferred.copy()

    def residual(posture: Array) -> Array:
        q[index] = posture
        update_clavicles(reacher.human, q)
        miss = compute_palm_errors(compute_palm_poses(reacher, q), targets, held)
        return np.concatenate(
            [
                CONSTRAINT_WEIGHT * miss,
                POSTURE_WEIGHTS * (posture - preferred[index]),
                compute_strain(reacher, posture)[0],
            ]
        )

    def slopes(posture: Array) -> Array:
        q[index] = posture
        update_clavicles(reacher.human, q)
        hands = -CONSTRAINT_WEIGHT * (held.rows @ compute_palm_jacobian(reacher, q)[1])
        return np.vstack([hands, np.diag(POSTURE_WEIGHTS), np.diag(compute_strain(reacher, posture)[1])])

    # With the arms in front of the trunk, where work is done.
    lower = reacher.lower.copy()
    lower[ABDUCTIONS] = np.maximum(lower[ABDUCTIONS], LEAST_ABDUCTION_BEFORE)
    start = np.clip(preferred[index], lower, reacher.upper)
    q[index] = least_squares(residual, start, slopes, bounds=(lower, reacher.upper), max_nfev=200).x
    update_clavicles(reacher.human, q)
    return q


def compute_strain(reacher: Reacher, posture: Array) -> tuple[Array, Array]:
    """Compute the discomfort of joints near the ends of their ranges.

    It is zero in the middle fraction `UNSTRAINED_FRACTION` of a range and rises with the square of the
    distance beyond, to 1 at its end, so that people rather turn a joint that has range left. `reacher`: gives
    the ranges; `posture` (17,): angles of the free joints, rad. Returns `discomfort` (17,): discomfort of
    each joint, counted as rad; `slopes` (17,): its derivative by the joint's angle.
    """
    middle, half = 0.5 * (reacher.lower + reacher.upper), 0.5 * (reacher.upper - reacher.lower)
    relative = (posture - middle) / half
    beyond = np.maximum(np.abs(relative) - UNSTRAINED_FRACTION, 0.0) / (1.0 - UNSTRAINED_FRACTION)
    return beyond**2, 2.0 * beyond * np.sign(relative) / ((1.0 - UNSTRAINED_FRACTION) * half)


# Error of the equipment's constraint that may be left in a frame, m and rad.
TOLERANCE = 1e-5
MAX_CORRECTIONS = 8
# s: a joint that nears its limit slows down so that it would need this long for the rest of its range.
STOPPING_TIME = 0.10
# Middle fraction of a joint's range in which it moves freely, and how much stiffer it is beyond (our
# estimate: at the end, effort counts 25 times as much as in the middle).
FREE_FRACTION, STIFFENING = 0.7, 45.0


@dataclass(frozen=True)
class Manner:
    """In which manner a person follows the equipment."""

    held: Hold  # How the equipment holds the hands.
    strategy: ActorStrategy  # Weights of the criteria, and the habit of returning to a posture.
    period: float  # Δt between frames, s.


# Row a: the matrix of the cross product (of twists) with the a-th unit twist.
_TWIST_CROSS = np.array([pin.Motion(unit).action.ravel() for unit in np.eye(6)])


def compute_objective(weights: Array, period: float, gain: float, state: StepState) -> tuple[Array, Array]:
    """Compute W = K⁻¹ and w = −Δt b of equation 4.23, as `objective.set_objective` does.

    `weights` (4,): k of energy, velocity, ergonomy, manipulability; `period`: Δt, s; `gain`: p of the
    manipulability criterion; `state`: what the criteria look at; arrays of a criterion without weight are not
    read. Returns `weight` (r, r): W: the cost of displacements; `linear_term` (r,): w: its solution K w is
    where free hands would go.
    """
    energy, velocity, ergonomy, manipulability = weights.tolist()
    weight = (energy + ergonomy * period**2) * state.inertia
    weight.flat[:: len(state.stiffness) + 1] += velocity + manipulability
    weight *= state.stiffness[:, None] * state.stiffness
    linear_term = weight @ state.habit_step
    linear_term -= state.effort_coupling
    if ergonomy:
        linear_term -= ergonomy * period**2 * (state.inertia @ state.ergonomic_offset)
        linear_term -= state.ergonomic_coupling
    if manipulability:
        linear_term += manipulability * gain * period * state.gradient
    return weight, linear_term


def solve_dense_step(
    weight: Array, linear_term: Array, jacobian: Array, error: Array, lower: Array, upper: Array
) -> tuple[Array, Array] | None:
    """Find the displacements with the least ½ mᵀWm − wᵀm of those with J m = e, inside bounds.

    m = K(Jᵀ(JKJᵀ)⁻¹(e − JKw) + w) with K = W⁻¹ (Tomić 2018, equation 4.23). Displacements beyond their bound
    are set to it and the rest is solved again (Baerlocher & Boulic 2004); a joint once locked stays so.
    `weight` (r, r): W, symmetric and positive definite; `linear_term` (r,); `jacobian` (R, r); `error` (R,):
    e, m and rad; `lower`, `upper` (r,): bounds of m, rad or m. Returns the displacements m (r,), rad or
    m, and the weighted pseudo-inverse (r, R) of J for the joints within their bounds, 0 in the rows of
    others; None if too few joints are within their bounds, or J is singular.
    """
    locked, step = np.zeros(len(linear_term), bool), np.zeros(len(linear_term))
    while len(linear_term) - np.count_nonzero(locked) >= len(error):
        # Inverse with the locked rows and columns zero.
        gain = np.zeros_like(weight)
        free = np.flatnonzero(~locked)
        gain[free[:, None], free] = np.linalg.inv(weight[free[:, None], free])
        spread = gain @ jacobian.T
        try:
            pseudo_inverse = spread @ np.linalg.inv(jacobian @ spread)
        except np.linalg.LinAlgError:
            return None
        bound = np.where(locked, np.clip(step, lower, upper), 0.0)
        free_step = bound + gain @ (linear_term - weight @ bound)
        step = free_step + pseudo_inverse @ (error - jacobian @ free_step)
        beyond = ((step < lower) | (step > upper)) & ~locked
        if not beyond.any():
            return step, pseudo_inverse
        locked |= beyond
    return None


def joint_limit_stiffness(
    q: Array, lower: Array, upper: Array, free_fraction: float, stiffening: float
) -> Array:
    """Compute how stiff joints are near the ends of their ranges, as `anatomy` does.

    `q` (n,): joint angles, rad; `lower`, `upper` (n,): ranges of the joints, rad; `free_fraction`: middle
    fraction of a range in which a joint moves freely; `stiffening`: how much stiffer a joint is beyond it.
    Returns (n,): s: speeds count s times; 1 in the middle of a range.
    """
    near = np.abs(2.0 * q - lower - upper) / (upper - lower)
    stiffness: Array = 1.0 + stiffening * np.maximum(near - free_fraction, 0.0) ** 2
    return stiffness


def compute_manipulability_gradient(twists: Array) -> Array:
    """Compute the gradient of det(JJᵀ) of two hands: ω_i = 2 det(JJᵀ) tr[(JJᵀ)⁻¹ ∂J/∂q_i Jᵀ], eq. 4.8.

    In world coordinates a joint turns the axes of those beyond it: ∂J_j/∂q_i = J_i × J_j (the cross product
    of twists) if i comes before j, else 0; and the determinant does not depend on the point of reference.
    `manipulability_gradient` has the same compiled. `twists` (2, 6, n): how each hand moves with the joints,
    parents before children: linear velocity at the world's origin, then angular velocity; 0 for a
    joint that does not move the hand. Returns (n,): ω, per rad.
    """
    jacobian = twists.reshape(12, -1)
    gram = jacobian @ jacobian.T
    dual = np.linalg.solve(gram, jacobian).reshape(twists.shape)
    # Σ_j dual_j · (J_i x J_j) for j after i is linear in J_i and in the sums over the later j of J_j dual_jᵀ;
    # where a joint does not move a hand, its twist there is zero.
    pairs = (dual[:, :, None] * twists[:, None]).reshape(2, 36, -1)
    later = pairs.sum(axis=-1, keepdims=True) - np.cumsum(pairs, axis=-1)
    change = (twists * (_TWIST_CROSS @ later)).sum(axis=(0, 1))
    return np.asarray(2.0 * np.linalg.det(gram) * change)


def follow_palms(
    reacher: Reacher, start: Array, pelvis: Array, targets: Array, home: Array, manner: Manner
) -> Array:
    """Keep the palms where the equipment has them, in the manner of one person.

    q̇ = K(Jᵀ(JKJᵀ)⁻¹(Ẋ + JKb) − b), K = ((k_en + k_erg Δt²)A + (k_vel + k_man)I)⁻¹, b = k_erg Δt A(q − q_erg)
    − k_man pω − r K⁻¹(q_home − q): Tomić (2018), equation 4.23, and the return to `home` at the rate r =
    `ActorStrategy.memory`. Joints that near a limit become stiffer and slow down before it, and the others
    take over. `reacher`: the person's model; `start` (nq,): configuration before the first frame; `pelvis`
    (T, 7): position (m) and quaternion of the pelvis: stance and sway, given; `targets` (T, 2, 4, 4): poses
    of the left and the right palm, world; `home` (T, 17): posture the person likes to return to, rad;
    `manner`: how the equipment holds the hands, and the person's criteria. Returns (T, nq): configurations;
    the constraint is met in every frame to 1e-5 m and 1e-5 rad. Raises MotionError A palm cannot reach its
    target within a person's joint ranges.
    """
    path = np.empty((len(targets), len(start)))
    q, index = start.copy(), reacher.in_q
    held, strategy, period = manner.held, manner.strategy, manner.period
    weights = strategy.weights
    none = np.zeros(len(index))
    # Joints that are too fast for the rest of their range move as fast as they may.
    fraction = min(period / STOPPING_TIME, 1.0)
    for k, target in enumerate(targets):
        q[:7] = pelvis[k]
        posture = q[index]
        poses, both = compute_palm_jacobian(reacher, q)
        gradient = none
        if strategy.manipulability:
            # The clavicles rest for this, as they are no joints of the thesis's model.
            twists = np.asarray(reacher.data.J)[:, reacher.free] * reacher.moves
            gradient = compute_manipulability_gradient(twists)
        state = StepState(
            inertia=pin.crba(reacher.human.model, reacher.data, q)[reacher.free[:, None], reacher.free],
            stiffness=joint_limit_stiffness(posture, reacher.lower, reacher.upper, FREE_FRACTION, STIFFENING),
            habit_step=strategy.memory * period * (home[k] - posture),
            effort_coupling=none,
            ergonomic_coupling=none,
            ergonomic_offset=posture - ERGONOMIC,
            gradient=gradient,
        )
        # The joints' ranges, and the trunk in the arms' way.
        lower = reacher.lower.copy()
        lower[ABDUCTIONS] = np.maximum(lower[ABDUCTIONS], compute_least_abduction(posture[ABDUCTIONS - 1]))
        weight, linear_term = compute_objective(weights, period, MANIPULABILITY_GAIN, state)
        solved = solve_dense_step(
            weight,
            linear_term,
            held.rows @ both,
            compute_palm_errors(poses, target, held),
            fraction * (lower - posture),
            fraction * (reacher.upper - posture),
        )
        reached = False
        if solved is not None:
            step, pseudo_inverse = solved
            q[index] += step
            # The same pseudo-inverse serves for the error that is left, of second order in the step.
            for _ in range(MAX_CORRECTIONS):
                update_clavicles(reacher.human, q)
                poses = compute_palm_poses(reacher, q)
                error = compute_palm_errors(poses, target, held)
                reached = bool(np.abs(error).max() < TOLERANCE)
                if reached:
                    break
                q[index] += pseudo_inverse @ error
        if not reached:
            hand = int(np.argmax(np.linalg.norm(target[:, :3, 3] - poses[:, :3, 3], axis=1)))
            position = np.round(target[hand, :3, 3], 3).tolist()
            raise MotionError(
                f"actor {reacher.human.actor.name}: the {SIDES[hand]} palm cannot reach {position} m within "
                "a person's joint ranges; bring the equipment nearer or change its height"
            )
        path[k] = q
    return path
