"""Bounded Gauss-Newton: one step, or steps until the least cost is reached."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled
from simbench.kinematics.task_matrix import Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies

Array = NDArray[np.float64]

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
    size, first = len(work.vector), 0 if bounds.root_moves else 6
    matrix = work.matrix[first:, first:].copy()
    low, high = np.full(size, -np.inf), np.full(size, np.inf)
    for i in range(first, size):
        matrix[i - first, i - first] += scale * bounds.damping[i]
    for k in range(len(joints)):
        # A start outside the limits may stay there, but not go further.
        low[6 + k] = min(bounds.low[k] - joints[k], 0.0)
        high[6 + k] = max(bounds.high[k] - joints[k], 0.0)
    change = np.zeros(size)
    change[first:] = solve_box(matrix, work.vector[first:], low[first:], high[first:])
    return change


@compiled
def advance(change: Array, joints: Array, rotation: Array, position: Array) -> None:
    """Add a step to the joints and to the root's pose, in place.

    Parameters
    ----------
    change : (6 + n,) array
        Translation and rotation vector of the root in world axes, then the joints.
    joints : (n,) array
    rotation, position : (3, 3), (3,) array
        Of the root.
    """
    for k in range(len(joints)):
        joints[k] += change[6 + k]
    for i in range(3):
        position[i] += change[i]
    x, y, z = change[3], change[4], change[5]
    angle = np.sqrt(x * x + y * y + z * z)
    # A quaternion of exactly unit length, whatever the angle.
    half = 0.5 * angle
    s = 0.5 if angle < 1e-8 else np.sin(half) / angle
    a, b, c, w = s * x, s * y, s * z, np.cos(half)
    turn = np.empty((3, 3))
    turn[0, 0], turn[0, 1], turn[0, 2] = 1 - 2 * (b * b + c * c), 2 * (a * b - c * w), 2 * (a * c + b * w)
    turn[1, 0], turn[1, 1], turn[1, 2] = 2 * (a * b + c * w), 1 - 2 * (a * a + c * c), 2 * (b * c - a * w)
    turn[2, 0], turn[2, 1], turn[2, 2] = 2 * (a * c - b * w), 2 * (b * c + a * w), 1 - 2 * (a * a + b * b)
    old = rotation.copy()
    for i in range(3):
        for j in range(3):
            rotation[i, j] = turn[i, 0] * old[0, j] + turn[i, 1] * old[1, j] + turn[i, 2] * old[2, j]


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
) -> tuple[float, int]:
    """Minimise ‖ε‖² inside the bounds (Levenberg-Marquardt), starting where the arguments are.

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

    Returns
    -------
    cost : float
        ‖ε‖² where it ends.
    used : int
        Steps tried.
    """
    work.rotation[0], work.position[0] = rotation, position
    place_bodies(tree, joints, work.rotation, work.position)
    cost = gauss_newton(tree, tasks, points, turns, work)
    scale, used = 1.0, 0
    new_joints, new_rotation, new_position = joints.copy(), rotation.copy(), position.copy()
    while used < rounds and scale < _LARGEST_DAMPING:
        used += 1
        change = _bounded(bounds, joints, work, scale)
        new_joints[:], new_rotation[:], new_position[:] = joints, rotation, position
        advance(change, new_joints, new_rotation, new_position)
        work.rotation[0], work.position[0] = new_rotation, new_position
        place_bodies(tree, new_joints, work.rotation, work.position)
        new_cost = gauss_newton(tree, tasks, points, turns, work)
        settled = np.abs(change).max() < _SETTLED_STEP
        if new_cost <= cost:
            settled = settled or cost - new_cost <= _SETTLED_GAIN * cost
            joints[:], rotation[:], position[:] = new_joints, new_rotation, new_position
            cost = new_cost
            scale = max(0.1 * scale, _SMALLEST_DAMPING)
        else:
            scale *= 10.0
            # Back to where the last good step ended.
            work.rotation[0], work.position[0] = rotation, position
            place_bodies(tree, joints, work.rotation, work.position)
            gauss_newton(tree, tasks, points, turns, work)
        if settled:
            break
    return cost, used
