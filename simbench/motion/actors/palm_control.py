"""A person's joints while the equipment holds the palms: Tomić (2018), equation 4.23, frame by frame.

The step is that of `simbench.kinematics.redundancy_step`, which analyses use as well. On purpose three things
differ from the law by which a recording is analysed (`simbench.kinematics.redundancy_law`):

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

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import (
    StepState,
    compute_manipulability_gradient,
    compute_objective,
    joint_limit_stiffness,
    solve_dense_step,
)
from simbench.motion.actors.human_model import (
    ARM_JOINT_NAMES,
    SPINE_JOINTS,
    HumanModel,
    compute_clavicle_angles,
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


def update_clavicles(reacher: Reacher, q: Array) -> None:
    """Set the clavicles of a configuration to the angles at which they follow its arms, in place.

    `reacher`: the person's model; `q` (nq,): configuration, changed in place.
    """
    for side in SIDES:
        q[reacher.human.clavicles[side]] = compute_clavicle_angles(
            reacher.human, q[reacher.human.arms[side]]
        )[0]


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
        weight, linear_term = compute_objective(strategy.weights, period, MANIPULABILITY_GAIN, state)
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
                update_clavicles(reacher, q)
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
