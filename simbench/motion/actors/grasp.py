"""From the initial configuration to the equipment: the posture of the grasp, and the approach to it."""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline
from scipy.optimize import least_squares

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.actors.human_model import SPINE_JOINTS
from simbench.motion.actors.people import Person
from simbench.motion.actors.reaching import (
    ABDUCTIONS,
    LEAST_ABDUCTION_BEFORE,
    Hold,
    Reacher,
    compute_palm_errors,
    compute_palm_jacobian,
    compute_palm_poses,
    hold_positions,
    update_clavicles,
)
from simbench.motion.actors.redundancy import MAX_CORRECTIONS, TOLERANCE, Manner, follow_palms
from simbench.motion.actors.stance import make_leaning_posture
from simbench.motion.actors.strategy import EVEN, ActorStrategy
from simbench.motion.actors.tasks.task import Task
from simbench.robot.sides import SIDES

# Steps, and the time of each, s, in which hands that hold the equipment settle to the posture a person likes.
SETTLING, SETTLING_STEP = 40, 0.08
# Positions on the approach to the equipment at which the posture is computed, few enough for a smooth spline,
# and the time between them, s.
WAYPOINTS, WAYPOINT_STEP = 12, 0.03
# Weight of the equipment's constraint, per m and rad, against the preferred posture's, per rad.
CONSTRAINT_WEIGHT = 1e4
# Weights of the deviations from the preferred posture: reaching is the arms' work, the trunk leans as it is
# given; in the arms they are largest where the range is small, in pronation and the wrist.
POSTURE_WEIGHTS = np.array([3.0] * len(SPINE_JOINTS) + [1.0, 1.2, 0.8, 0.7, 1.4, 1.2, 2.5] * 2)
# Middle fraction of a joint's range in which no posture strains it.
UNSTRAINED_FRACTION = 0.6


@dataclass(frozen=True)
class Approach:
    """The approach to the equipment."""

    before: Array  # (nq,): configuration with the palms before the equipment.
    # Progress from 0 (before) to 1 (holding it) to configurations (nq,): the palms move on straight lines.
    onto: CubicSpline
    holding: Array  # (nq,): configuration with the palms on the equipment.


def find_grasp(
    reacher: Reacher, person: Person, task: Task, held: Hold, strategy: ActorStrategy, lean: float
) -> Approach:
    """Find how a person holds the equipment, and how they approach it.

    `reacher`: the person's model; `person`: gives the arm posture that is preferred; `task`: gives the poses
    of the palms on the equipment, and from where they approach; `held`: how the equipment holds the hands;
    `strategy`: criteria by which the person settles into the grasp; `lean`: forward lean of the trunk, rad.
    Returns configurations before and on the equipment, and a path between them. Raises MotionError the
    equipment is out of reach.
    """
    q = make_leaning_posture(reacher.human, lean, task.seated)
    for side in task.hands:
        q[reacher.human.arms[side]] = person.comfort
    update_clavicles(reacher, q)
    goal = task.palms(np.zeros(1))[0]
    q = find_nearest_posture(reacher, q, goal, held)
    q = follow_palms(
        reacher,
        q,
        _repeat_pelvis(q, SETTLING),
        np.tile(goal, (SETTLING, 1, 1, 1)),
        np.tile(q[reacher.in_q], (SETTLING, 1)),
        Manner(held, strategy, SETTLING_STEP),
    )[-1]
    away = np.tile(goal, (WAYPOINTS, 1, 1, 1))
    progress = np.linspace(0.0, 1.0, WAYPOINTS)
    for side in task.hands:
        away[:, SIDES.index(side), :3, 3] += progress[:, None] * task.approach[side]
    pelvis, home = _repeat_pelvis(q, WAYPOINTS), np.tile(q[reacher.in_q], (WAYPOINTS, 1))
    manner = Manner(held, replace(EVEN, memory=0.0), WAYPOINT_STEP)
    try:
        path = follow_palms(reacher, q, pelvis, away, home, manner)
    except MotionError:
        # The hands cannot approach in the orientation of the grasp, so they turn into it on the path.
        path = follow_palms(reacher, q, pelvis, away, home, replace(manner, held=hold_positions(task.hands)))
    return Approach(before=path[-1], onto=CubicSpline(progress, path[::-1]), holding=q)


def _repeat_pelvis(q: Array, count: int) -> Array:
    """Repeat the pelvis of `q` at `count` frames."""
    return np.tile(q[:7], (count, 1))


def find_nearest_posture(reacher: Reacher, preferred: Array, targets: Array, held: Hold) -> Array:
    """Find the posture with the palms at given poses that is nearest to a preferred one.

    `reacher`: the person's model; `preferred` (nq,): preferred configuration; its pelvis is kept; `targets`
    (2, 4, 4): target poses of the left and the right palm, world; `held`: which components of the palms'
    poses count. Returns (nq,): configuration within the joint ranges; the palms are as near to their targets
    as these allow.
    """
    index, q = reacher.in_q, preferred.copy()

    def set_posture(posture: Array) -> None:
        q[index] = posture
        update_clavicles(reacher, q)

    def residual(posture: Array) -> Array:
        set_posture(posture)
        miss = compute_palm_errors(compute_palm_poses(reacher, q), targets, held)
        return np.concatenate(
            [
                CONSTRAINT_WEIGHT * miss,
                POSTURE_WEIGHTS * (posture - preferred[index]),
                compute_strain(reacher, posture)[0],
            ]
        )

    def slopes(posture: Array) -> Array:
        set_posture(posture)
        hands = -CONSTRAINT_WEIGHT * (held.rows @ compute_palm_jacobian(reacher, q)[1])
        return np.vstack([hands, np.diag(POSTURE_WEIGHTS), np.diag(compute_strain(reacher, posture)[1])])

    # With the arms in front of the trunk, where work is done.
    lower = reacher.lower.copy()
    lower[ABDUCTIONS] = np.maximum(lower[ABDUCTIONS], LEAST_ABDUCTION_BEFORE)
    start = np.clip(preferred[index], lower, reacher.upper)
    set_posture(least_squares(residual, start, slopes, bounds=(lower, reacher.upper), max_nfev=200).x)
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


def compensate_sway(reacher: Reacher, q: Array, undisturbed: Array, fraction: Array, held: Hold) -> Array:
    """Take the palms' deviations by sway out of a movement, increasingly.

    `reacher`: the person's model; `q` (T, nq): configurations with sway; `undisturbed` (T, nq):
    configurations of the same movement without sway; `fraction` (T,): fraction of the palms' deviation that
    is taken out in each frame, 0 to 1; `held`: which components of the palms' poses count. Returns (T, nq):
    configurations with steadier palms.
    """
    steady = q.copy()
    for k in np.flatnonzero(fraction > 0.0):
        goal = compute_palm_poses(reacher, undisturbed[k])
        swayed = compute_palm_poses(reacher, steady[k])
        aim = _interpolate_poses(swayed, goal, float(fraction[k]))
        for _ in range(MAX_CORRECTIONS):
            poses, both = compute_palm_jacobian(reacher, steady[k])
            jacobian, error = held.rows @ both, compute_palm_errors(poses, aim, held)
            if np.abs(error).max() < TOLERANCE:
                break
            steady[k, reacher.in_q] += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T, error)
            update_clavicles(reacher, steady[k])
    return steady


def _interpolate_poses(start: Array, goal: Array, fraction: float) -> Array:
    aim = goal.copy()
    for hand in range(2):
        rotation = pin.log3(start[hand, :3, :3].T @ goal[hand, :3, :3])
        aim[hand, :3, :3] = start[hand, :3, :3] @ pin.exp3(fraction * rotation)
        aim[hand, :3, 3] = (1.0 - fraction) * start[hand, :3, 3] + fraction * goal[hand, :3, 3]
    return aim
