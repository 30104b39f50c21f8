"""A person's joints while the equipment holds the hands: Tomić (2018), equation 4.23, frame by frame.

The step is that of `simbench.kinematics.redundancy`, which analyses use as well. On purpose three things
differ from the law by which a recording is analysed (`simbench.kinematics.redundancy_law`):

- The equipment holds the palms, and leaves a hand free to turn about its handle (`Hold`); what a recording
  shows are wrists, whose whole pose the analysing law keeps.
- The coupling terms of `StepState` are 0: an actor's criteria look at the 17 joints that move the palms only.
  The sway of the pelvis and the clavicles, which follow the arms, do not enter effort through the inertia
  matrix; in the analysing law what is prescribed does.
- Displacements in the null space have no limit of speed but the joints' bounds: a performance begins after
  the person has settled into a posture (`grasp.find_grasp`), the analysing law where the recorded person was.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_criteria import (
    StepState,
    compute_manipulability_gradient,
    compute_objective,
    joint_limit_stiffness,
    solve_dense_step,
)
from simbench.motion.actors.reaching import (
    Hold,
    Reacher,
    compute_lower_limits,
    compute_palm_errors,
    compute_palm_jacobian,
    compute_palm_poses,
    compute_world_twists,
    update_clavicles,
)
from simbench.motion.actors.strategy import ERGONOMIC, MANIPULABILITY_GAIN, ActorStrategy
from simbench.robot.sides import SIDES

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
    q = start.copy()
    for k, target in enumerate(targets):
        q[:7] = pelvis[k]
        _take_step(reacher, q, target, home[k], manner)
        path[k] = q
    return path


def _take_step(reacher: Reacher, q: Array, targets: Array, home: Array, manner: Manner) -> None:
    """Go on by one frame, in place."""
    held, index = manner.held, reacher.in_q
    posture = q[index]
    poses, both = compute_palm_jacobian(reacher, q)
    strategy = manner.strategy
    state = _observe(reacher, q, strategy, home, manner.period)
    weight, linear_term = compute_objective(strategy.weights, manner.period, MANIPULABILITY_GAIN, state)
    # Joints that are too fast for the rest of their range move as fast as they may.
    fraction = min(manner.period / STOPPING_TIME, 1.0)
    solved = solve_dense_step(
        weight,
        linear_term,
        held.rows @ both,
        compute_palm_errors(poses, targets, held),
        fraction * (compute_lower_limits(reacher, posture) - posture),
        fraction * (reacher.upper - posture),
    )
    if solved is None:
        raise _unreachable(reacher, targets, poses)
    q[index] += solved.step
    # The same pseudo-inverse serves for the error that is left, of second order in the step.
    for _ in range(MAX_CORRECTIONS):
        update_clavicles(reacher, q)
        poses = compute_palm_poses(reacher, q)
        error = compute_palm_errors(poses, targets, held)
        if np.abs(error).max() < TOLERANCE:
            return
        q[index] += solved.pseudo_inverse @ error
    raise _unreachable(reacher, targets, poses)


def _observe(reacher: Reacher, q: Array, strategy: ActorStrategy, home: Array, period: float) -> StepState:
    """Collect what the criteria look at; the manipulability's gradient only where it counts."""
    posture = q[reacher.in_q]
    none = np.zeros(len(posture))
    return StepState(
        inertia=pin.crba(reacher.human.model, reacher.data, q)[reacher.free[:, None], reacher.free],
        stiffness=joint_limit_stiffness(posture, reacher.lower, reacher.upper, FREE_FRACTION, STIFFENING),
        habit_step=strategy.memory * period * (home - posture),
        effort_coupling=none,
        ergonomic_coupling=none,
        ergonomic_offset=posture - ERGONOMIC,
        # The clavicles rest for this, as they are no joints of the thesis's model.
        gradient=compute_manipulability_gradient(compute_world_twists(reacher))
        if strategy.manipulability
        else none,
    )


def _unreachable(reacher: Reacher, targets: Array, poses: Array) -> MotionError:
    missed = np.linalg.norm(targets[:, :3, 3] - poses[:, :3, 3], axis=1)
    hand = int(np.argmax(missed))
    position = np.round(targets[hand, :3, 3], 3).tolist()
    return MotionError(
        f"actor {reacher.human.actor.name}: the {SIDES[hand]} palm cannot reach {position} m within a "
        "person's joint ranges; bring the equipment nearer or change its height"
    )
