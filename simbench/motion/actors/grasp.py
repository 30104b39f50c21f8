"""From the initial configuration to the equipment: the posture of the grasp, and the way there."""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from simbench.motion.actors.people import Person
from simbench.motion.actors.reaching import Hold, Reacher, move_clavicles, palm_jacobian, palm_poses, palm_errors
from simbench.motion.actors.redundancy import follow
from simbench.motion.actors.strategy import EVEN, Strategy
from simbench.motion.actors.stance import with_lean
from simbench.motion.actors.tasks.task import Task
from simbench.motion.anatomy import SIDES

Array = NDArray[np.float64]

# Steps by which the hands of a person who stands there with bent elbows are brought to the equipment; then
# the time, s, and the steps in which they settle to the posture they like.
REACHING, SETTLING, SETTLING_STEP = 40, 40, 0.08
# Rate at which a reaching arm tends to its comfortable posture, per step.
COMFORT_RATE = 0.1
WAYPOINTS = 25


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
    start, goal = palm_poses(reacher, q), task.palms(np.zeros(1))[0]
    comfort = q[reacher.in_q].copy()
    eager = replace(EVEN, memory=COMFORT_RATE)
    q = follow(
        reacher, q, _still(q, REACHING), _between(start, goal, REACHING), held, eager,
        np.tile(comfort, (REACHING, 1)), 1.0,
    )[-1]
    q = follow(
        reacher, q, _still(q, SETTLING), np.tile(goal, (SETTLING, 1, 1, 1)), held, strategy,
        np.tile(comfort, (SETTLING, 1)), SETTLING_STEP,
    )[-1]
    away = np.tile(goal, (WAYPOINTS, 1, 1, 1))
    progress = np.linspace(0.0, 1.0, WAYPOINTS)
    for hand, side in enumerate(SIDES):
        away[:, hand, :3, 3] += progress[:, None] * task.approach[side]
    home = np.tile(q[reacher.in_q], (WAYPOINTS, 1))
    way = follow(reacher, q, _still(q, WAYPOINTS), away, held, replace(EVEN, memory=0.0), home, 1.0)
    return Approach(before=way[-1], onto=CubicSpline(progress, way[::-1]), holding=q)


def _still(q: Array, count: int) -> Array:
    """The pelvis of `q` at `count` frames."""
    return np.tile(q[:7], (count, 1))


def _between(start: Array, goal: Array, count: int) -> Array:
    """Poses (count, 2, 4, 4) on the way from `start` to `goal`, (2, 4, 4) each; the last is the goal."""
    return np.stack([_part_of_the_way(start, goal, (k + 1) / count) for k in range(count)])


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
        for _ in range(3):
            poses, both = palm_jacobian(reacher, steady[k])
            jacobian = held.rows @ both
            error = palm_errors(poses, aim, held)
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
