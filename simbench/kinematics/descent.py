"""Bounded Gauss-Newton: one step, or steps until the least cost is reached."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.kinematics.task_matrix import Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies

_SMALLEST_DAMPING = 1e-9
_LARGEST_DAMPING = 1e9
_SETTLED_STEP = 1e-8
_SETTLED_GAIN = 1e-12


class Bounds(NamedTuple):
    """Where coordinates may be and how they are damped.

    Parameters
    ----------
    low, high : (n,) array
        Joints, rad or m; infinite where there is no limit.
    damping : (6 + n,) array
        Added to the matrix' diagonal: root translation (3), root turn (3), joints.
    root_moves : bool
    """

    low: Array
    high: Array
    damping: Array
    root_moves: bool


@compiled
def step(
    tree: KinematicTree,
    tasks: Tasks,
    points: Array,
    turns: Array,
    bounds: Bounds,
    joints: Array,
    work: Workspace,
    scale: float,
) -> tuple[Array, float]:
    """Find the damped Gauss-Newton step from bodies in place, inside the bounds.

    Parameters
    ----------
    tree, tasks, points, turns, work
        As in `gauss_newton`.
    bounds : Bounds
    joints : (n,) array
        Where the joints are.
    scale : float
        Factor on the damping.

    Returns
    -------
    change : (6 + n,) array
    cost : float
        ‖ε‖² before the step.
    """
    cost = gauss_newton(tree, tasks, points, turns, work)
    return _bounded(bounds, joints, work, scale), cost


@compiled
def _bounded(bounds: Bounds, joints: Array, work: Workspace, scale: float) -> Array:
    size = len(work.vector)
    low, high = np.empty(size), np.empty(size)
    for i in range(6):
        high[i] = np.inf if bounds.root_moves else 0.0
        low[i] = -high[i]
    for k in range(len(joints)):
        # A start outside the limits may stay there, but not go further.
        low[6 + k] = min(bounds.low[k] - joints[k], 0.0)
        high[6 + k] = max(bounds.high[k] - joints[k], 0.0)
    for i in range(size):
        work.matrix[i, i] += scale * bounds.damping[i]
    change = solve_box(work.matrix, work.vector, low, high)
    for i in range(size):
        work.matrix[i, i] -= scale * bounds.damping[i]
    return change


@compiled
def place(tree: KinematicTree, joints: Array, rotation: Array, position: Array, work: Workspace) -> None:
    """Put all bodies where joints and root are.

    Parameters
    ----------
    tree : KinematicTree
    joints : (n,) array
    rotation, position : (3, 3), (3,) array
        Of the root.
    work : Workspace
        Its `rotation` and `position` are overwritten.
    """
    for i in range(3):
        work.position[0, i] = position[i]
        for j in range(3):
            work.rotation[0, i, j] = rotation[i, j]
    place_bodies(tree, joints, work.rotation, work.position)


@compiled
def _held_cost(
    tree: KinematicTree,
    tasks: Tasks,
    points: Array,
    turns: Array,
    bounds: Bounds,
    joints: Array,
    origin: Array,
    work: Workspace,
    hold: float,
) -> float:
    """Compute the matrices as `gauss_newton` does, with springs from the joints to where they began."""
    cost = gauss_newton(tree, tasks, points, turns, work)
    for k in range(len(joints)):
        spring, away = hold * bounds.damping[6 + k], joints[k] - origin[k]
        cost += spring * away * away
        work.matrix[6 + k, 6 + k] += spring
        work.vector[6 + k] -= spring * away
    return cost


@compiled
def _copy(
    joints: Array, rotation: Array, position: Array, to: Array, to_rotation: Array, to_position: Array
) -> None:
    for k in range(len(joints)):
        to[k] = joints[k]
    for i in range(3):
        to_position[i] = position[i]
        for j in range(3):
            to_rotation[i, j] = rotation[i, j]


@compiled
def advance(change: Array, bounds: Bounds, joints: Array, rotation: Array, position: Array) -> None:
    """Add a step to the joints and to the root's pose, in place.

    Parameters
    ----------
    change : (6 + n,) array
        Translation and rotation vector of the root in world axes, then the joints.
    bounds : Bounds
        What was inside stays inside: a sum may round beyond a limit.
    joints : (n,) array
    rotation, position : (3, 3), (3,) array
        Of the root.
    """
    for k in range(len(joints)):
        low, high = min(bounds.low[k], joints[k]), max(bounds.high[k], joints[k])
        joints[k] = min(max(joints[k] + change[6 + k], low), high)
    for i in range(3):
        position[i] += change[i]
    x, y, z = change[3], change[4], change[5]
    angle = np.sqrt(x * x + y * y + z * z)
    # A quaternion of exactly unit length, whatever the angle.
    half = 0.5 * angle
    s = 0.5 if angle < 1e-8 else np.sin(half) / angle
    turn = np.empty((3, 3))
    quaternion_to_matrix(s * x, s * y, s * z, np.cos(half), turn)
    for j in range(3):
        a, b, c = rotation[0, j], rotation[1, j], rotation[2, j]
        for i in range(3):
            rotation[i, j] = turn[i, 0] * a + turn[i, 1] * b + turn[i, 2] * c


@compiled
def descend(
    tree: KinematicTree,
    tasks: Tasks,
    points: Array,
    turns: Array,
    bounds: Bounds,
    joints: Array,
    rotation: Array,
    position: Array,
    work: Workspace,
    rounds: int,
    hold: float,
) -> tuple[float, int]:
    """Minimise ‖ε‖² inside the bounds (Levenberg-Marquardt), starting where the arguments are.

    With `hold` > 0 what is minimised is ‖ε‖² + hold Σ_j damping_j (q_j − q_j,start)² over the joints j: of
    postures that are as good, or nearly, the one nearest to the start.

    Parameters
    ----------
    tree, tasks, points, turns, bounds, work
        As in `step`.
    joints : (n,) array
        Changed in place.
    rotation, position : (3, 3), (3,) array
        Of the root, changed in place.
    rounds : int
        Most steps to take.
    hold : float

    Returns
    -------
    cost : float
        What is minimised, where it ends.
    used : int
        Steps tried.
    """
    place(tree, joints, rotation, position, work)
    origin = joints.copy()
    cost = _held_cost(tree, tasks, points, turns, bounds, joints, origin, work, hold)
    scale, used = 1.0, 0
    new_joints, new_rotation, new_position = joints.copy(), rotation.copy(), position.copy()
    while used < rounds and scale < _LARGEST_DAMPING:
        used += 1
        change = _bounded(bounds, joints, work, scale)
        _copy(joints, rotation, position, new_joints, new_rotation, new_position)
        advance(change, bounds, new_joints, new_rotation, new_position)
        place(tree, new_joints, new_rotation, new_position, work)
        new_cost = _held_cost(tree, tasks, points, turns, bounds, new_joints, origin, work, hold)
        settled = True
        for i in range(len(change)):
            settled = settled and abs(change[i]) < _SETTLED_STEP
        if new_cost <= cost:
            settled = settled or cost - new_cost <= _SETTLED_GAIN * cost
            _copy(new_joints, new_rotation, new_position, joints, rotation, position)
            cost = new_cost
            scale = max(0.1 * scale, _SMALLEST_DAMPING)
        else:
            scale *= 10.0
            # Back to where the last good step ended.
            place(tree, joints, rotation, position, work)
            _held_cost(tree, tasks, points, turns, bounds, joints, origin, work, hold)
        if settled:
            break
    return cost, used
