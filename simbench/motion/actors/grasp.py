"""From the initial configuration to the equipment: the posture of the grasp, and the way there."""

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
    BEFORE_TRUNK,
    PLACE_ONLY,
    Hold,
    Reacher,
    move_clavicles,
    palm_errors,
    palm_jacobian,
    palm_poses,
)
from simbench.motion.actors.redundancy import CORRECTIONS, TOLERANCE, follow
from simbench.motion.actors.stance import with_lean
from simbench.motion.actors.strategy import EVEN, Strategy
from simbench.motion.actors.tasks.task import Task
from simbench.robot.sides import SIDES

# Steps, and the time of each, s, in which hands that hold the equipment settle to the posture a person likes.
SETTLING, SETTLING_STEP = 40, 0.08
# Places on the way onto the equipment at which the posture is computed, few enough for a smooth spline, and
# the time between them, s.
WAYPOINTS, WAYPOINT_STEP = 12, 0.03
# Weight of the equipment's constraint, per m and rad, against the preferred posture's, per rad.
HOLDING = 1e4
# Reluctance to leave the preferred posture: reaching is the arms' work, the trunk leans as it was told; in
# the arms it is largest where the range is small, in pronation and the wrist.
RELUCTANCE = np.array([3.0] * len(SPINE_JOINTS) + [1.0, 1.2, 0.8, 0.7, 1.4, 1.2, 2.5] * 2)
# Part of a joint's range, about its middle, in which no posture strains it.
EASY = 0.6


@dataclass(frozen=True)
class Approach:
    """The way onto the equipment.

    Parameters
    ----------
    before : (nq,) array
        Posture with the palms before the equipment.
    onto : CubicSpline
        From 0 (before) to 1 (holding it) to configurations (nq,): the palms move on straight lines.
    holding : (nq,) array
    """

    before: Array
    onto: CubicSpline
    holding: Array


def find_grasp(
    reacher: Reacher, person: Person, task: Task, held: Hold, strategy: Strategy, lean: float
) -> Approach:
    """Find how a person holds the equipment, and how they come there.

    Parameters
    ----------
    reacher : Reacher
    person : Person
    task : Task
    held : Hold
    strategy : Strategy
    lean : float
        Of the trunk, rad.

    Returns
    -------
    Approach

    Raises
    ------
    MotionError
        The equipment is out of reach.
    """
    q = with_lean(reacher.human, lean, task.seated)
    for side in SIDES:
        q[reacher.human.arms[side]] = person.comfort
    move_clavicles(reacher, q)
    goal = task.palms(np.zeros(1))[0]
    q = nearest_posture(reacher, q, goal, held)
    q = follow(
        reacher,
        q,
        _still(q, SETTLING),
        np.tile(goal, (SETTLING, 1, 1, 1)),
        held,
        strategy,
        np.tile(q[reacher.in_q], (SETTLING, 1)),
        SETTLING_STEP,
    )[-1]
    away = np.tile(goal, (WAYPOINTS, 1, 1, 1))
    progress = np.linspace(0.0, 1.0, WAYPOINTS)
    for hand, side in enumerate(SIDES):
        away[:, hand, :3, 3] += progress[:, None] * task.approach[side]
    home, calm = np.tile(q[reacher.in_q], (WAYPOINTS, 1)), replace(EVEN, memory=0.0)
    try:
        way = follow(reacher, q, _still(q, WAYPOINTS), away, held, calm, home, WAYPOINT_STEP)
    except MotionError:
        # The hands cannot come as they will hold it, so they turn into it on the way.
        way = follow(reacher, q, _still(q, WAYPOINTS), away, PLACE_ONLY, calm, home, WAYPOINT_STEP)
    return Approach(before=way[-1], onto=CubicSpline(progress, way[::-1]), holding=q)


def _still(q: Array, count: int) -> Array:
    """Repeat the pelvis of `q` at `count` frames."""
    return np.tile(q[:7], (count, 1))


def nearest_posture(reacher: Reacher, preferred: Array, targets: Array, held: Hold) -> Array:
    """Find the posture with the palms at given poses that is nearest to a preferred one.

    Parameters
    ----------
    reacher : Reacher
    preferred : (nq,) array
        Its pelvis is kept.
    targets : (2, 4, 4) array
        Poses of the left and the right palm, world.
    held : Hold

    Returns
    -------
    (nq,) array
        Within the joint ranges; the palms are as near as these allow.
    """
    index, q = reacher.in_q, preferred.copy()

    def place(posture: Array) -> None:
        q[index] = posture
        move_clavicles(reacher, q)

    def residual(posture: Array) -> Array:
        place(posture)
        miss = palm_errors(palm_poses(reacher, q), targets, held)
        return np.concatenate(
            [HOLDING * miss, RELUCTANCE * (posture - preferred[index]), strain(reacher, posture)[0]]
        )

    def slopes(posture: Array) -> Array:
        place(posture)
        hands = -HOLDING * (held.rows @ palm_jacobian(reacher, q)[1])
        return np.vstack([hands, np.diag(RELUCTANCE), np.diag(strain(reacher, posture)[1])])

    # With the arms in front of the trunk, where work is done.
    lower = reacher.lower.copy()
    lower[ABDUCTIONS] = np.maximum(lower[ABDUCTIONS], BEFORE_TRUNK)
    start = np.clip(preferred[index], lower, reacher.upper)
    place(least_squares(residual, start, slopes, bounds=(lower, reacher.upper), max_nfev=200).x)
    return q


def strain(reacher: Reacher, posture: Array) -> tuple[Array, Array]:
    """Discomfort (17,), in rad, of joints near the ends of their ranges, and its slopes.

    It is zero in the middle `EASY` part of a range and rises with the square of what is beyond, to 1 at its
    end, so that people rather turn a joint that has range left.
    """
    middle, half = 0.5 * (reacher.lower + reacher.upper), 0.5 * (reacher.upper - reacher.lower)
    place = (posture - middle) / half
    beyond = np.maximum(np.abs(place) - EASY, 0.0) / (1.0 - EASY)
    return beyond**2, 2.0 * beyond * np.sign(place) / ((1.0 - EASY) * half)


def steady_hands(reacher: Reacher, q: Array, undisturbed: Array, share: Array, held: Hold) -> Array:
    """Take out of a movement, more and more, what sway does to the palms.

    Parameters
    ----------
    reacher : Reacher
    q : (T, nq) array
        With sway.
    undisturbed : (T, nq) array
        The same movement without.
    share : (T,) array
        How much of the palms' deviation is taken out in each frame, 0 to 1.
    held : Hold

    Returns
    -------
    (T, nq) array
    """
    steady = q.copy()
    for k in np.flatnonzero(share > 0.0):
        goal = palm_poses(reacher, undisturbed[k])
        swayed = palm_poses(reacher, steady[k])
        aim = _part_of_the_way(swayed, goal, float(share[k]))
        for _ in range(CORRECTIONS):
            poses, both = palm_jacobian(reacher, steady[k])
            jacobian, error = held.rows @ both, palm_errors(poses, aim, held)
            if np.abs(error).max() < TOLERANCE:
                break
            steady[k, reacher.in_q] += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T, error)
            move_clavicles(reacher, steady[k])
    return steady


def _part_of_the_way(start: Array, goal: Array, part: float) -> Array:
    aim = goal.copy()
    for hand in range(2):
        turn = pin.log3(start[hand, :3, :3].T @ goal[hand, :3, :3])
        aim[hand, :3, :3] = start[hand, :3, :3] @ pin.exp3(part * turn)
        aim[hand, :3, 3] = (1.0 - part) * start[hand, :3, 3] + part * goal[hand, :3, 3]
    return aim
