"""Inverse kinematics inside joint limits: one bounded step, or a bounded minimum, in every frame.

`solve_damped_ik` is the paper's form for both hands, with a posture in the null space and a clamping loop.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry, compiled_into_callers
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step, solve_box
from simbench.kinematics.rotation import ROTATION_WEIGHT, matrix_to_quaternion, quaternion_to_matrix
from simbench.kinematics.task_matrix import Targets, Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies

DAMPING = 0.003  # λ of the damped least squares (Tomić 2018, §3.7.1).
_MAX_STEP = 0.1  # Of a hand (m, rotations weighted) or of a joint toward the posture (rad).
# Of any coordinate, rad or m: a longer one leaves the neighbourhood in which Jacobians are valid.
_LONGEST_STEP = 0.3
_ROUNDS = 10
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


@compiled_entry(
    "model.tree.parent (n), model.tasks.point_body (P), targets.points (T, P, 3), "
    "model.tasks.rotation_body (R), targets.rotations (T, R, 3, 3), q (7 + n), path (T, 7 + n), cost (T)"
)
def follow(
    model: TrackingModel, targets: Targets, q: Array, rounds: int, hold: float, path: Array, cost: Array
) -> None:
    """Follow targets frame by frame, each from where the last one ended.

    One step a frame goes wrong near a singularity, where it may be half a turn long, and nothing verifies
    that it reduced the error. Where it would be longer than 0.3 rad or m, ten times what motion at 100 Hz
    asks for, `solve_bounded_ik` takes its place, which rejects steps that increase the error. `model`: robot,
    tasks and bounds; its workspace is overwritten. `targets`: targets of all frames: points (T, P, 3), m, and
    rotations (T, R, 3, 3), in the world frame. `q` (7 + n,): configuration before the first frame: position
    (m), quaternion x y z w, joints (rad or m). Changed in place to the last frame's. `rounds`: 0: one
    Gauss-Newton step a frame, and `solve_bounded_ik` with at most ten only where that step is long. Else
    `solve_bounded_ik` with at most so many. It holds to the frame before. `hold`: weight of the distance from
    the previous frame, as in `solve_bounded_ik`. `path` (T, 7 + n): overwritten: the configuration in every
    frame, its quaternion continuous in sign. `cost` (T,): overwritten: ‖ε‖² in every frame; with `rounds` 0
    before its step.
    """
    n = len(model.tree.parent)
    # A constant as an argument would be a type of its own, and `solve_bounded_ik` compiled twice.
    most = rounds if rounds > 0 else _ROUNDS
    current = Configuration(np.empty(n), np.empty((3, 3)), np.empty(3))
    for k in range(n):
        current.joints[k] = q[7 + k]
    for i in range(3):
        current.position[i] = q[i]
    quaternion_to_matrix(q[3], q[4], q[5], q[6], current.rotation)
    for t in range(len(targets.points)):
        frame = Targets(targets.points[t], targets.rotations[t])
        if rounds == 0:
            place_tree(model.tree, current, model.work)
            change, cost[t] = gauss_newton_step(model, frame, current.joints, 1.0)
            longest = 0.0
            for i in range(len(change)):
                longest = max(longest, abs(change[i]))
            if longest <= _LONGEST_STEP:
                integrate_step(change, model.bounds, current)
            else:
                solve_bounded_ik(model, frame, current, most, hold)
        else:
            cost[t], _ = solve_bounded_ik(model, frame, current, most, hold)
        for k in range(n):
            q[7 + k] = current.joints[k]
        for i in range(3):
            q[i] = current.position[i]
        x, y, z, w = matrix_to_quaternion(current.rotation)
        # With the sign of the old one.
        sign = 1.0 if x * q[3] + y * q[4] + z * q[5] + w * q[6] >= 0.0 else -1.0
        q[3], q[4], q[5], q[6] = sign * x, sign * y, sign * z, sign * w
        # So that frames one by one give the same bits as all at once.
        quaternion_to_matrix(q[3], q[4], q[5], q[6], current.rotation)
        for i in range(7 + n):
            path[t, i] = q[i]


class PostureBounds(NamedTuple):
    """Posture that joints prefer, and their limits."""

    posture: Array  # (n,): joint positions preferred where the hands leave a choice, rad.
    lower: Array  # (n,): lower joint limits, rad.
    upper: Array  # (n,): upper joint limits, rad.


def solve_damped_ik(
    model: pin.Model,
    data: pin.Data,
    q: Array,
    targets: Mapping[int, pin.SE3],
    bounds: PostureBounds,
    *,
    iterations: int = 1,
    tolerance: float = 1e-5,
) -> Array:
    """Move the joints of a floating-base model toward hand poses; the base stays.

    dq = J^{+λ} dX − (I − J⁺J)(q − posture) (Tomić 2018, eq. 3.16), the posture's pull limited to
    0.1 rad a joint. A joint that passes a limit is set to it and leaves the problem, which is solved again
    (Baerlocher & Boulic 2004). That clamping, and singular values for the null space, are why it does not
    share the solver of `least_squares`.

    `model`: model with a free-flyer root; `data`: data of the model; overwritten; `q` (7 + n,): start;
    columns 0 to 6 are the base pose: position (m), quaternion x y z w; `targets`: desired poses of the hands
    in the world, by their frame ids; `bounds`: preferred posture and joint limits; `iterations`: upper bound
    of steps; `tolerance`: stop when the norm of the hand error (m, rotations weighted) is below. Returns (7 +
    n,): configuration that was reached; its base pose is that of the start.
    """
    posture, lower, upper = bounds
    q = q.copy()
    weights = np.array([1.0, 1.0, 1.0, ROTATION_WEIGHT, ROTATION_WEIGHT, ROTATION_WEIGHT])[:, None]
    for _ in range(iterations):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        # Position (m) and weighted rotation from current to target, world axes.
        errors = []
        for frame, target in targets.items():
            current = data.oMf[frame]
            errors += [
                target.translation - current.translation,
                ROTATION_WEIGHT * pin.log3(target.rotation @ current.rotation.T),
            ]
        error = np.concatenate(errors)
        jacobian = np.vstack(
            [
                weights
                * pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
                for frame in targets
            ]
        )
        # Far targets are approached in pieces: one long step would drive half the joints into their limits.
        desired = error * min(1.0, _MAX_STEP / max(float(np.abs(error).max()), 1e-12))
        free = np.ones(len(posture), dtype=bool)
        joints = q[7:].copy()
        while True:
            moved = joints.copy()
            if not free.any():
                break
            left = desired - jacobian[:, ~free] @ (joints - q[7:])[~free]
            # Damped least-squares step plus the posture's pull in the null space.
            u, values, vt = np.linalg.svd(jacobian[:, free], full_matrices=False)
            damped = vt.T @ ((values / (values**2 + DAMPING**2)) * (u.T @ left))
            kept = vt[values > 1e-3]
            null = np.clip((posture - q[7:])[free], -_MAX_STEP, _MAX_STEP)
            moved[free] = q[7:][free] + (damped + null - kept.T @ (kept @ null))
            beyond = free & ((moved < lower) | (moved > upper))
            if not beyond.any():
                joints = moved
                break
            joints[beyond] = np.clip(moved, lower, upper)[beyond]
            free &= ~beyond
        q[7:] = joints
        if np.linalg.norm(error) < tolerance:
            break
    return q
