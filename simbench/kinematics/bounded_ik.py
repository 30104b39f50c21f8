"""Bounded inverse kinematics of a tree's tasks: one Gauss-Newton step, or steps until the cost is least."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled, compiled_into_callers
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step
from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.kinematics.task_matrix import Targets, Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies

# The damping is a factor on that of `Bounds`.
_RULE = DampingRule(
    first=1.0,
    least=1e-9,
    greatest=1e9,
    step_tolerance=1e-8,
    gain_tolerance=1e-12,
    loss_tolerance=0.0,
    cost_tolerance=0.0,
)


class Bounds(NamedTuple):
    """Joint limits and damping of a robot's coordinates."""

    low: Array  # (n,): lower joint limits, rad or m; minus infinity where there is none.
    high: Array  # (n,): upper joint limits, rad or m; infinite where there is none.
    # (6 + n,): added to the matrix' diagonal: root translation (3), root rotation (3), joints.
    damping: Array
    root_moves: bool  # Whether the root may move; else it stays where it is.


class Configuration(NamedTuple):
    """Where a robot is; the arrays are changed in place."""

    joints: Array  # (n,): joint positions, rad or m.
    rotation: Array  # (3, 3): rotation of the root in the world.
    position: Array  # (3,): position of the root in the world, m.


class TrackingModel(NamedTuple):
    """A robot with the points and frames that follow targets, its bounds, and space to compute in."""

    tree: KinematicTree  # Joints of the robot.
    tasks: Tasks  # Points and frames on its bodies.
    bounds: Bounds  # Joint limits and damping.
    work: Workspace  # Arrays that are overwritten.


@compiled
def gauss_newton_step(
    model: TrackingModel, targets: Targets, joints: Array, scale: float
) -> tuple[Array, float]:
    """Find the damped Gauss-Newton step from bodies in place, inside the bounds.

    `model`: its bodies are in place (`place_tree`); `targets`: targets of one frame; `joints` (n,): joint
    positions, rad or m; `scale`: factor on the damping. Returns `change` (6 + n,): translation (m) and
    rotation vector (rad) of the root in world axes, then the joints (rad or m); `cost`: ‖ε‖² before the step.
    """
    cost = gauss_newton(model.tree, model.tasks, targets.points, targets.rotations, model.work)
    return _solve_step(model.bounds, joints, model.work, scale), cost


@compiled_into_callers
def _solve_step(bounds: Bounds, joints: Array, work: Workspace, scale: float) -> Array:
    """Solve the damped normal equations inside the bounds."""
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
def place_tree(tree: KinematicTree, configuration: Configuration, work: Workspace) -> None:
    """Compute the poses of all bodies.

    `tree`: joints of the robot; `configuration`: root pose and joint positions of the robot; `work`: its
    `rotation` and `position` are overwritten.
    """
    for i in range(3):
        work.position[0, i] = configuration.position[i]
        for j in range(3):
            work.rotation[0, i, j] = configuration.rotation[i, j]
    place_bodies(tree, configuration.joints, work.rotation, work.position)


@compiled
def integrate_step(change: Array, bounds: Bounds, configuration: Configuration) -> None:
    """Add a step to the joints and to the root's pose, in place.

    `change` (6 + n,): translation (m) and rotation vector (rad) of the root in world axes, then the joints
    (rad or m); `bounds`: joint limits: what was inside stays inside, as a sum may round beyond a limit;
    `configuration`: where the step begins; overwritten with where it ends.
    """
    joints, rotation, position = configuration.joints, configuration.rotation, configuration.position
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
    step = np.empty((3, 3))
    quaternion_to_matrix(s * x, s * y, s * z, np.cos(half), step)
    for j in range(3):
        a, b, c = rotation[0, j], rotation[1, j], rotation[2, j]
        for i in range(3):
            rotation[i, j] = step[i, 0] * a + step[i, 1] * b + step[i, 2] * c


@compiled
def solve_bounded_ik(
    model: TrackingModel, targets: Targets, configuration: Configuration, rounds: int, hold: float
) -> tuple[float, int]:
    """Minimise ‖ε‖² inside the bounds (Levenberg-Marquardt), starting from a configuration.

    With `hold` > 0 what is minimised is ‖ε‖² + hold Σ_j damping_j (q_j − q_j,start)² over the joints j: of
    postures that are as good, or nearly, the one nearest to the start. `model`: robot, tasks and bounds; its
    workspace is overwritten; `targets`: targets of one frame; `configuration`: where to begin; changed in
    place to the solution; `rounds`: most steps to take; `hold`: stiffness that keeps the joints near the
    start, as a factor on their damping. Returns `cost`: value of the cost function at the solution; `used`:
    steps tried.
    """
    trial = Configuration(
        configuration.joints.copy(), configuration.rotation.copy(), configuration.position.copy()
    )
    start, bounds, work = configuration.joints.copy(), model.bounds, model.work
    progress = begin(_RULE, _compute_cost(model, targets, configuration, start, hold))
    while is_running(_RULE, progress, rounds):
        change = _solve_step(bounds, configuration.joints, work, progress.damping)
        largest = 0.0
        for i in range(len(change)):
            largest = max(largest, abs(change[i]))
        _copy(configuration, trial)
        integrate_step(change, bounds, trial)
        new_cost = _compute_cost(model, targets, trial, start, hold)
        progress = judge_step(_RULE, progress, new_cost, largest)
        if progress.accepted:
            _copy(trial, configuration)
        else:
            # Back to the normal equations where the last good step ended: there is one workspace only.
            _compute_cost(model, targets, configuration, start, hold)
    return progress.cost, progress.used


@compiled_into_callers
def _compute_cost(
    model: TrackingModel, targets: Targets, configuration: Configuration, start: Array, hold: float
) -> float:
    """Compute the normal equations as `gauss_newton` does, with springs from the joints to their start."""
    work, joints = model.work, configuration.joints
    place_tree(model.tree, configuration, work)
    cost = gauss_newton(model.tree, model.tasks, targets.points, targets.rotations, work)
    for k in range(len(joints)):
        stiffness, deviation = hold * model.bounds.damping[6 + k], joints[k] - start[k]
        cost += stiffness * deviation * deviation
        work.matrix[6 + k, 6 + k] += stiffness
        work.vector[6 + k] -= stiffness * deviation
    return cost


@compiled_into_callers
def _copy(source: Configuration, target: Configuration) -> None:
    """Overwrite one configuration with another."""
    for k in range(len(source.joints)):
        target.joints[k] = source.joints[k]
    for i in range(3):
        target.position[i] = source.position[i]
        for j in range(3):
            target.rotation[i, j] = source.rotation[i, j]
