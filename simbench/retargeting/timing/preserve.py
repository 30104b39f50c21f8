"""The recorded clock is kept: amplitudes of trunk, arms and pelvis give way where a robot is too slow."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_path import (
    AccelerationRows,
    PathBounds,
    PathCost,
    solve_bounded_path,
)
from simbench.kinematics.path_matrix import make_path_equations, path_matrices
from simbench.kinematics.task_matrix import Targets, Tasks, make_workspace
from simbench.kinematics.tree import KinematicTree, kinematic_tree, make_path_poses, place_path
from simbench.retargeting.arm_adaptation.acceleration_limits import estimated_accelerations
from simbench.retargeting.collision.scene import ClearanceScene
from simbench.retargeting.imitation.imitation import imitation_tasks
from simbench.retargeting.imitation.limited_posture import WEIGHTS
from simbench.retargeting.imitation.scaled_model import ScaledActor
from simbench.robot.robot import Robot

_KNOT_RATE = 50.0
"""Knots of the joints' splines per second: a person's arms move below 5 Hz, and the preferred posture has the
same."""
LEAST_KNOTS = 6
"""Knots that a bounded path has at least."""
LIMIT_FRACTION = 0.99
"""Fraction of a speed or acceleration limit that is used: leads, and legs that sway, add a little."""
ROUNDING = 1e-3
"""Relative excess of a limit that counts as a violation."""
_ON_LIMIT = 0.985
"""Fraction of what is used of a limit from which on a joint counts as on it."""
_ROUNDS = 3
"""Most Gauss-Newton rounds of the imitation criterion, each a QP of the whole motion."""
_SETTLED = 0.01
"""Largest change of a joint, rad, at which no further round is needed."""
_HOLD = 0.03
"""Weight of a joint's distance from its preferred position, m/rad: for what no task determines."""
CLEARANCE, _CLEARANCE_WEIGHT = 0.015, 30.0
"""Margin between the robot's own links that a free motion keeps, m, and the weight of a missing metre."""
_END_SPEED, _RUN_UP = 0.5, 0.02
"""Fraction of the speed limits that may be used at both ends of a motion, and the room for a run-up of 0.1 s
to a speed, s: a quintic goes back by a fifth of it (`run_up`)."""
_HEIGHT_ROOM = 0.005
"""How far the pelvis' height may pass the desired range, m."""
_AT_REST = 1e-4
"""Height, m, and vertical speed, m/s, of a pelvis that rests: bounds leave room for the solution inside."""
_VERTICAL, _YAW = 0.1, 0.3
"""Weights of vertical force and of the moment about the vertical beside a shift of the ZMP: a sole is about
0.1 m from its middle to its edge, and turns when a third of that times the weight twists it."""


class Amplitude(NamedTuple):
    """How much the inertia of a motion counts, over time: what gives way where dynamics do not allow it.

    Parameters
    ----------
    zmp : (T,) array
        Weight λ of the ZMP's shift by the accelerations of trunk and arms.
    height : (T,) array
        Fraction of the pelvis' speed and acceleration limits that may be used, 0 to 1.
    """

    zmp: Array
    height: Array


class UpperBody(NamedTuple):
    """Trunk and arms whose motion is to keep the recorded clock.

    Parameters
    ----------
    robot : Robot
        The robot.
    actor : ScaledActor
        The scaled model with the robot's joints.
    scene : ClearanceScene
        Links and obstacles that trunk and arms keep clear of, and where root and obstacles are at each
        sample of the motion.
    columns : (m,) int array
        Columns of trunk and arms among the robot's joints.
    bounds : PathBounds
        Their limits.
    """

    robot: Robot
    actor: ScaledActor
    scene: ClearanceScene
    columns: NDArray[np.int64]
    bounds: PathBounds


def tempo_bounds(
    robot: Robot, columns: NDArray[np.int64], position: tuple[Array, Array], speed: Array
) -> PathBounds:
    """Find what a motion at the recorded tempo may use of its limits.

    Parameters
    ----------
    robot : Robot
        The robot.
    columns : (m,) int array
        Columns of trunk and arms among its joints.
    position : ((m,) array, (m,) array)
        Least and greatest positions, rad.
    speed : (m,) array
        Greatest speeds, rad/s.

    Returns
    -------
    PathBounds
        Positions, and 99 % of speeds and of estimated accelerations.
    """
    names = [robot.joint_names[column] for column in columns]
    return PathBounds(
        position[0],
        position[1],
        LIMIT_FRACTION * speed,
        LIMIT_FRACTION * estimated_accelerations(robot, names),
    )


def knot_samples(time: Array) -> NDArray[np.int64]:
    """Choose the samples at which splines of a motion have their knots.

    Parameters
    ----------
    time : (T,) array
        Time of the samples, s, T ≥ 6.

    Returns
    -------
    (K,) int array
        Indices, K ≥ 6, the first and the last sample among them.
    """
    stride = max(1, round((len(time) - 1) / (time[-1] - time[0]) / _KNOT_RATE))
    stride = max(1, min(stride, (len(time) - 1) // (LEAST_KNOTS - 1)))
    return np.unique(np.append(np.arange(0, len(time), stride), len(time) - 1))


class Dynamics(NamedTuple):
    """What a motion of trunk and arms costs beside imitation, at its K knots.

    Parameters
    ----------
    near : (K, m) array
        Solution around which torques are linear, rad.
    nearness : float
        Weight of the distance from it, m/rad: more, the more often torques have changed with the solution.
    insistence : float
        Factor on the weight of the links' clearance.
    inertia : (K, m, m) array
        Weights of accelerations.
    torque : AccelerationRows
        Limits of torques, as combinations of accelerations.
    """

    near: Array
    nearness: float
    insistence: float
    inertia: Array
    torque: AccelerationRows


def keep_tempo(upper: UpperBody, time: Array, preferred: Array, dynamics: Dynamics) -> tuple[Array, float]:
    """Find the motion of trunk and arms nearest to a preferred one that keeps the clock and all limits.

        min Σ_k ‖ε(q_k, q*_k)‖² + w_h² ‖q_k − q*_k‖² + λ_k ‖A_k q̈_k‖²,   limits of q, q̇, q̈ and R q̈,

    ε the weighted errors of the imitation criterion between the postures q and q* (points and orientations of
    the segments, hands first), A q̈ the shift of the ZMP by the accelerations (with the vertical force and the
    moment about the vertical beside it), R q̈ their part of all joints' torques. Gauss-Newton: in every round
    ε is linear around the last solution, and the whole motion is one QP (`solve_bounded_path`). Links that
    come nearer than 15 mm add the square of their deficit. The problem reads the same forwards and backwards
    in time, so nothing lags. At both ends half of the speed limits may be used: leads need the rest.

    Parameters
    ----------
    upper : UpperBody
        Joints, their limits and the scaled model.
    time : (T,) array
        Time of the samples, s, T ≥ 6.
    preferred : (T, m) array
        Preferred positions of trunk and arms, rad, inside their limits.
    dynamics : Dynamics
        What else the motion costs.

    Returns
    -------
    joints : (T, m) array
        Positions of trunk and arms, rad: a cubic spline at the samples.
    missing : float
        Largest deficit of the links' clearance, m.

    Raises
    ------
    ArithmeticError
        If there is no such motion.
    """
    knots = knot_samples(time)
    wanted = preferred[knots]
    model = upper.actor.model
    tree, tasks = kinematic_tree(model), imitation_tasks(upper.actor, WEIGHTS)
    targets = _task_poses(tree, tasks, wanted)
    at, path, bounds = dynamics.near, None, _slower_ends(upper.bounds, len(knots))
    halfway = (knots[1:] + knots[:-1]) // 2
    between = np.asarray(make_interp_spline(time[knots], at, k=3)(time[halfway]))
    for _ in range(_ROUNDS):
        blocks, drift = _imitation_blocks(tree, tasks, targets, at)
        blocks = blocks + (_HOLD**2 + dynamics.nearness**2) * np.eye(at.shape[1])
        drift = drift + _HOLD**2 * (wanted - at) + dynamics.nearness**2 * (dynamics.near - at)
        postures = (knots, at), (halfway, between)
        _add_clearance(upper.scene, postures, dynamics.insistence, (blocks, drift))
        cost = PathCost(blocks, drift, dynamics.inertia)
        path = solve_bounded_path(time[knots], at, cost, bounds, dynamics.torque)
        before, at, between = at, path(time[knots]), path(time[halfway])
        if np.abs(at - before).max() < _SETTLED:
            break
    assert path is not None
    missing = [
        upper.scene.rows(int(sample), each, CLEARANCE)[1].max(initial=0.0)
        for samples, postures in ((knots, at), (halfway, between))
        for sample, each in zip(samples, postures, strict=True)
    ]
    return np.clip(path(time), upper.bounds.lower, upper.bounds.upper), float(max(missing))


def _slower_ends(bounds: PathBounds, count: int) -> PathBounds:
    """Limits at each knot: at both ends lead-in and lead-out need speed and room for their run-up."""
    lower, upper, speed, acceleration = (np.tile(each, (count, 1)) for each in bounds)
    speed[[0, -1]] *= _END_SPEED
    room = np.minimum(_RUN_UP * speed[[0, -1]], 0.25 * (upper - lower)[[0, -1]])
    lower[[0, -1]] += room
    upper[[0, -1]] -= room
    return PathBounds(lower, upper, speed, acceleration)


def _task_poses(tree: KinematicTree, tasks: Tasks, joints: Array) -> Targets:
    """Where the tasks' points and frames are in postures (K, m), the root upright at the origin."""
    path = _upright(joints)
    rotation, position = make_path_poses(tree, len(path))
    place_path(tree, path, rotation, position)
    turned = rotation[:, tasks.point_body] @ tasks.point[:, :, None]
    points = position[:, tasks.point_body] + turned[..., 0]
    return Targets(points, np.ascontiguousarray(rotation[:, tasks.rotation_body] @ tasks.rotation))


def _upright(joints: Array) -> Array:
    """Put the root upright at the origin: configurations (K, 7 + m)."""
    return np.hstack([np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(joints), 1)), joints])


def _imitation_blocks(
    tree: KinematicTree, tasks: Tasks, targets: Targets, joints: Array
) -> tuple[Array, Array]:
    """Gauss-Newton matrices (K, m, m) and vectors (K, m) of the imitation criterion, the root at rest."""
    equations = make_path_equations(*joints.shape)
    weights = np.tile(tasks.point_weight, (len(joints), 1))
    path_matrices(tree, tasks, weights, targets, _upright(joints), make_workspace(tree), equations)
    return equations.blocks[:, 6:, 6:].copy(), equations.vectors[:, 6:].copy()


def _add_clearance(
    scene: ClearanceScene,
    postures: tuple[tuple[NDArray[np.int64], Array], tuple[NDArray[np.int64], Array]],
    insistence: float,
    equations: tuple[Array, Array],
) -> None:
    """Add what is missing of the links' clearance at the knots, and halfway between them, to the equations.

    A hand moves by some centimetres from knot to knot: what is missing halfway counts for both.
    """
    blocks, drift = equations
    weight = insistence * _CLEARANCE_WEIGHT**2
    for count, (samples, joints) in enumerate(postures, start=1):
        for knot, (sample, posture) in enumerate(zip(samples, joints, strict=True)):
            jacobian, missing = scene.rows(int(sample), posture, CLEARANCE)
            if len(missing):
                drift[knot : knot + count] += weight / count * jacobian.T @ missing
                blocks[knot : knot + count] += weight / count * jacobian.T @ jacobian


def zmp_shifts(upper: UpperBody, base: Array, joints: Array) -> Array:
    """Compute how accelerations of trunk and arms shift the ZMP.

    With the centroidal momentum matrix A_G (Orin & Goswami 2008), height z and weight m g, the shift is
    −(z m c̈_x + L̇_y, z m c̈_y − L̇_x) / (m g); vertical force and moment about the vertical count beside it.

    Parameters
    ----------
    upper : UpperBody
        Trunk and arms.
    base : (K, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (K, n) array
        Positions of all joints, rad.

    Returns
    -------
    (K, 4, m) array
        Rows A: minus the shift along x and y, m s², then vertical force and moment, weighted.
    """
    model = upper.robot.model
    data = model.createData()
    rows = np.empty((len(base), 4, len(upper.columns)))
    for k, q in enumerate(np.hstack([base, joints])):
        matrix = pin.computeCentroidalMap(model, data, q)[:, 6 + upper.columns]
        height = data.com[0][2]
        rows[k, 0] = height * matrix[0] + matrix[4]
        rows[k, 1] = height * matrix[1] - matrix[3]
        rows[k, 2] = _VERTICAL * matrix[2]
        rows[k, 3] = _YAW * matrix[5]
    return np.asarray(rows / (GRAVITY * pin.computeTotalMass(model)))


def zmp_inertia(upper: UpperBody, base: Array, joints: Array, weight: Array) -> Array:
    """Weigh accelerations of trunk and arms by how they shift the ZMP (`zmp_shifts`).

    Parameters
    ----------
    upper : UpperBody
        Trunk and arms.
    base : (K, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (K, n) array
        Positions of all joints, rad.
    weight : (K,) array
        Weight λ, m²/m² against errors of the hands.

    Returns
    -------
    (K, m, m) array
        λ AᵀA.
    """
    rows = zmp_shifts(upper, base, joints)
    return np.asarray(weight[:, None, None] * (rows.transpose(0, 2, 1) @ rows))


def keep_height_tempo(time: Array, height: Array, speed: Array, acceleration: Array) -> Array:
    """Find the pelvis height that keeps the clock and its limits, as near to the desired one as can be.

    At both ends the pelvis rests at the stance's height, as lead-in and lead-out leave it: from another speed
    the feet would lose the floor there.

    Parameters
    ----------
    time : (T,) array
        Time of the samples, s.
    height : (T,) array
        Desired height above the stance's, m.
    speed : (T,) array
        Greatest vertical speed, m/s.
    acceleration : (T,) array
        Greatest vertical acceleration, m/s².

    Returns
    -------
    (T,) array
        Height above the stance's, m.
    """
    knots = knot_samples(time)
    count = len(knots)
    cost = PathCost(np.ones((count, 1, 1)), np.zeros((count, 1)), np.zeros((count, 1, 1)))
    low, high = min(float(height.min()), 0.0), max(float(height.max()), 0.0)
    # Coefficients pass the ends of the curve by a little.
    lower, upper = np.full((count, 1), low - _HEIGHT_ROOM), np.full((count, 1), high + _HEIGHT_ROOM)
    fastest = speed[knots, None].copy()
    lower[[0, -1]], upper[[0, -1]], fastest[[0, -1]] = -_AT_REST, _AT_REST, _AT_REST
    bounds = PathBounds(lower, upper, fastest, acceleration[knots, None])
    return np.asarray(solve_bounded_path(time[knots], height[knots, None], cost, bounds)(time)[:, 0])


def spread_in_time(time: Array, excess: Array, reach: float) -> Array:
    """Spread a ratio that exceeds 1 at some samples smoothly to those before and after.

    Parameters
    ----------
    time : (T,) array
        Time of the samples, s.
    excess : (T,) or (T, m) array
        Ratio to what is allowed.
    reach : float
        How far it is spread, s.

    Returns
    -------
    (T,) or (T, m) array
        The ratio, 1 or more, smooth, and nowhere below `excess` by more than smoothing takes.
    """
    samples = reach * (len(time) - 1) / (time[-1] - time[0])
    widest = maximum_filter1d(np.log(np.maximum(excess, 1.0)), 2 * round(samples) + 1, axis=0, mode="nearest")
    return np.asarray(np.exp(gaussian_filter1d(widest, 0.5 * samples, axis=0, mode="nearest")))


class LimitUse(NamedTuple):
    """How much of their limits joints use, and what imitation lost by them.

    Parameters
    ----------
    speed, acceleration : (T, m) array
        Ratios to the limits, of which a motion at the recorded tempo uses 99 %.
    limited : float
        Fraction of samples and joints at which one of both is on what is used of its limit.
    lost : (T, m) array
        Distance from the preferred positions, rad.
    """

    speed: Array
    acceleration: Array
    limited: float
    lost: Array

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Samples (T,) at which a joint is beyond one of its limits by more than rounding."""
        return np.asarray(np.maximum(self.speed, self.acceleration).max(axis=1) > 1.0 + ROUNDING)


def measure_limit_use(time: Array, joints: Array, preferred: Array, bounds: PathBounds) -> LimitUse:
    """Measure how much of their limits joints use, and what imitation lost by them.

    Parameters
    ----------
    time : (T,) array
        Time of the samples, s.
    joints : (T, m) array
        Joint positions, rad; cubic between the samples.
    preferred : (T, m) array
        Positions that imitate the person, rad.
    bounds : PathBounds
        What may be used of the limits, as `tempo_bounds` finds it.

    Returns
    -------
    LimitUse
        Ratios and losses.
    """
    speed, acceleration = limit_ratios(time, joints, bounds)
    limited = (speed > _ON_LIMIT) | (acceleration > _ON_LIMIT)
    return LimitUse(
        LIMIT_FRACTION * speed,
        LIMIT_FRACTION * acceleration,
        float(limited.mean()),
        np.abs(joints - preferred),
    )


def limit_ratios(time: Array, joints: Array, bounds: PathBounds) -> tuple[Array, Array]:
    """Compare speeds and accelerations of joint curves with their limits.

    Parameters
    ----------
    time : (T,) array
        Time of the samples, s.
    joints : (T, m) array
        Joint positions, rad; cubic between the samples.
    bounds : PathBounds
        Limits.

    Returns
    -------
    speed, acceleration : (T, m) array
        Ratios to the limits at the samples.
    """
    spline = make_interp_spline(time, joints, k=min(3, len(time) - 1))
    return (
        np.abs(spline.derivative(1)(time)) / bounds.speed,
        np.abs(spline.derivative(2)(time)) / bounds.acceleration,
    )
