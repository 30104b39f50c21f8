"""The recorded clock is kept: amplitudes of trunk, arms and pelvis give way where a robot is too slow."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.path_solver import AccelerationRows, PathBounds, PathCost, solve_bounded_path
from simbench.kinematics.task_matrix import Targets, make_workspace, path_matrices
from simbench.kinematics.tree import kinematic_tree, place_path
from simbench.retargeting.collision.clearance import ClearanceScene
from simbench.retargeting.imitation.imitation import imitation_tasks
from simbench.retargeting.imitation.limited_posture import WEIGHTS
from simbench.retargeting.imitation.scaled_model import ScaledActor
from simbench.robot.robot import Robot
from simbench.robot.robot_limbs import estimated_accelerations

# Knots of the joints' splines per second: a person's arms move below 5 Hz, and the preferred posture has the
# same.
_KNOT_RATE = 50.0
# Knots that a bounded path has at least.
LEAST_KNOTS = 6
# Fraction of a speed or acceleration limit that is used: leads, and legs that sway, add a little.
_LIMIT_FRACTION = 0.99
# Moment that the soles hold against the trunk's, as a part of the weight, m: about the vertical a sole of
# 0.25 m slips at 0.06 m times the weight.
_MOMENT_ARM = 0.05
# Relative excess of a limit that counts as a violation.
ROUNDING = 1e-3
# Fraction of what is used of a limit from which on a joint counts as on it.
_ON_LIMIT = 0.985
# Most Gauss-Newton rounds of the imitation criterion, each a QP of the whole motion.
_ROUNDS = 3
# Largest change of a joint, rad, at which no further round is needed.
_SETTLED = 0.01
# Weight of a joint's distance from its preferred position, m/rad: for what no task determines.
_HOLD = 0.03
# Margin between the robot's own links that a free motion keeps, m, and the weight of a missing metre.
CLEARANCE, _CLEARANCE_WEIGHT = 0.015, 30.0
# Fraction of the speed limits that may be used at both ends of a motion, and the room for a run-up of 0.1 s
# to a speed, s: a quintic goes back by a fifth of it (`run_up`).
_END_SPEED, _RUN_UP = 0.5, 0.02
# Weight of the distance from the last solution, m/rad, times the square of the round's number: torques and
# legs that change with the solution would else let it jump to and fro.
_NEARNESS = 0.03
# Least distance of the robot's own links, m: what tracking leaves; the factor by which the weight of their
# clearance grows in a round after which they were nearer; and the largest product of these factors.
_GAP, _INSISTENCE, _MOST_INSISTENCE = 0.004, 3.0, 30.0
# Weight λ of the ZMP's shift in the first round: a shift of 10 cm costs as much as 5 mm at the hands.
FIRST_INERTIA = 0.02
# Power of the excess by which the weights of inertia grow from round to round, the least factor where
# something is exceeded, and the excess that counts at most: what is beyond it does not tell how much calmer a
# motion must be.
_GAIN, _STEP = 3.0, 1.3
MOST_EXCESS = 3.0
# Time before and after an excess over which the motion is made calmer, s.
REACH = 0.15
# Fraction of the allowed torque that is used, and down to which it is reduced where the torque exceeds it
# nevertheless: curves between the knots, and legs and sway that change with the motion.
TORQUE_USED, _LEAST_USED = 0.97, 0.4
# How far the pelvis' height may pass the desired range, m.
_HEIGHT_ROOM = 0.005
# Height, m, and vertical speed, m/s, of a pelvis that rests: bounds leave room for the solution inside.
_AT_REST = 1e-4
# Weights of vertical force and of the moment about the vertical beside a shift of the ZMP: a sole is about
# 0.1 m from its middle to its edge, and turns when a third of that times the weight twists it.
_VERTICAL, _YAW = 0.1, 0.3


class UpperBody(NamedTuple):
    """Trunk and arms whose motion is to keep the recorded clock."""

    robot: Robot
    actor: ScaledActor  # The scaled model with the robot's joints.
    # Links and obstacles that trunk and arms keep clear of, and where root and obstacles are at each sample
    # of the motion.
    scene: ClearanceScene
    columns: NDArray[np.int64]  # (m,) int: columns of trunk and arms among the robot's joints.
    bounds: PathBounds  # Their limits.


def tempo_bounds(
    robot: Robot, columns: NDArray[np.int64], position: tuple[Array, Array], speed: Array
) -> PathBounds:
    """Find what a motion of trunk and arms, `columns` (m,), at the recorded tempo may use of its limits.

    Least and greatest positions, rad, and 99 % of speeds, rad/s, and of estimated accelerations; a joint of
    the trunk of a robot on its feet accelerates no more than its soles hold.
    """
    acceleration = estimated_accelerations(robot, [robot.joint_names[column] for column in columns])
    if robot.floating:
        model, trunk = robot.model, {*robot.groups.get("trunk", ())}
        q = np.concatenate([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], robot.postures["standing"]])
        moved = np.diag(pin.crba(model, model.createData(), q))[robot.root_v + columns]
        held = _MOMENT_ARM * GRAVITY * pin.computeTotalMass(model) / moved
        of_trunk = [robot.joint_names[column] in trunk for column in columns]
        acceleration = np.where(of_trunk, np.minimum(acceleration, held), acceleration)
    return PathBounds(*position, _LIMIT_FRACTION * speed, _LIMIT_FRACTION * acceleration)


def knot_samples(time: Array) -> NDArray[np.int64]:
    """Choose K ≥ 6 of T ≥ 6 samples, the first and the last among them, at which splines have knots."""
    stride = max(1, round((len(time) - 1) / (time[-1] - time[0]) / _KNOT_RATE))
    stride = max(1, min(stride, (len(time) - 1) // (LEAST_KNOTS - 1)))
    return np.unique(np.append(np.arange(0, len(time), stride), len(time) - 1))


def keep_tempo(
    upper: UpperBody,
    time: Array,
    preferred: Array,
    near: Array,
    weight: Array,
    path: Array,
    torque: AccelerationRows | None = None,
    number: int = 0,
    insistence: float = 1.0,
) -> tuple[Array, bool]:
    """Find the motion of trunk and arms nearest to a preferred one that keeps the clock and all limits.

        min Σ_k ‖ε(q_k, q*_k)‖² + w_h² ‖q_k − q*_k‖² + λ_k ‖A_k q̈_k‖²,   limits of q, q̇, q̈ and R q̈,

    ε the weighted errors of the imitation criterion between the postures q and q* (points and orientations of
    the segments, hands first), A q̈ the shift of the ZMP by the accelerations (with the vertical force and
    the moment about the vertical beside it), R q̈ their part of all joints' torques. Gauss-Newton: in every
    round ε is linear around the last solution, and the whole motion is one QP (`solve_bounded_path`). Links
    that come nearer than 15 mm add the square of their deficit. The problem reads the same forwards and
    backwards in time, so nothing lags. At both ends half of the speed limits may be used: leads need the
    rest.

    `preferred` (T, m), rad, is inside the limits; T ≥ 6. `near` (T, m), rad, is the solution around which
    torques are linear; the more often they have changed with it, in round `number`, the more a distance from
    it costs. λ is `weight` (T,), m²/m² against errors of the hands, and A that of the configurations `path`
    (T, 7 + n). `torque` has the limits of torques at the K knots, none by default; `insistence` is a factor
    on the weight of the links' clearance.

    Returns positions, (T, m), a cubic spline at the samples, and whether links are nearer than 4 mm. It is a
    `RetargetError` if there is no such motion.
    """
    knots, nearness = knot_samples(time), _NEARNESS * number**2
    rows = zmp_shifts(upper, path[knots])
    inertia = np.asarray(weight[knots, None, None] * (rows.transpose(0, 2, 1) @ rows))
    if torque is None:
        none = np.empty((len(knots), 0))
        torque = AccelerationRows(np.empty((len(knots), 0, preferred.shape[1])), none, none)
    halfway, count = (knots[1:] + knots[:-1]) // 2, len(knots)
    wanted, last = preferred[knots], near[knots]
    at = last
    between = np.asarray(make_interp_spline(time[knots], at, k=3)(time[halfway]))
    # At both ends lead-in and lead-out need speed and room for their run-up.
    lower, highest, speed, acceleration = (np.tile(each, (count, 1)) for each in upper.bounds)
    speed[[0, -1]] *= _END_SPEED
    room = np.minimum(_RUN_UP * speed[[0, -1]], 0.25 * (highest - lower)[[0, -1]])
    lower[[0, -1]] += room
    highest[[0, -1]] -= room
    bounds = PathBounds(lower, highest, speed, acceleration)
    # The root is upright at the origin.
    root = np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (count, 1))
    tree, tasks = kinematic_tree(upper.actor.model), imitation_tasks(upper.actor, WEIGHTS)
    bodies = len(tree.parent) + 1
    rotation, position = np.empty((count, bodies, 3, 3)), np.empty((count, bodies, 3))
    place_path(tree, np.hstack([root, wanted]), rotation, position)
    points = position[:, tasks.point_body] + (rotation[:, tasks.point_body] @ tasks.point[:, :, None])[..., 0]
    frames = np.ascontiguousarray(rotation[:, tasks.rotation_body] @ tasks.rotation)
    targets, weights = Targets(points, frames), np.tile(tasks.point_weight, (count, 1))
    for _ in range(_ROUNDS):
        size = 6 + at.shape[1]
        matrices, vectors, squares = np.empty((count, size, size)), np.empty((count, size)), np.empty(count)
        q, work = np.hstack([root, at]), make_workspace(tree)
        path_matrices(tree, tasks, weights, targets, q, work, matrices, vectors, squares)
        blocks = matrices[:, 6:, 6:] + (_HOLD**2 + nearness**2) * np.eye(at.shape[1])
        drift = vectors[:, 6:] + _HOLD**2 * (wanted - at)
        drift += nearness**2 * (last - at)
        # A hand moves by some centimetres from knot to knot: what is missing halfway counts for both.
        for shared, (samples, postures) in enumerate(((knots, at), (halfway, between)), start=1):
            push = insistence * _CLEARANCE_WEIGHT**2 / shared
            for knot, (sample, posture) in enumerate(zip(samples, postures, strict=True)):
                jacobian, missing = upper.scene.rows(int(sample), posture, CLEARANCE)
                if len(missing):
                    drift[knot : knot + shared] += push * jacobian.T @ missing
                    blocks[knot : knot + shared] += push * jacobian.T @ jacobian
        cost = PathCost(blocks, drift, inertia)
        try:
            curve = solve_bounded_path(time[knots], at, cost, bounds, torque)
        except ArithmeticError as error:
            raise RetargetError(f"{upper.robot.name}: no motion at the recorded tempo: {error}") from None
        before, at, between = at, curve(time[knots]), curve(time[halfway])
        if np.abs(at - before).max() < _SETTLED:
            break
    deficits = [
        float(upper.scene.rows(int(sample), posture, CLEARANCE)[1].max(initial=0.0))
        for samples, postures in ((knots, at), (halfway, between))
        for sample, posture in zip(samples, postures, strict=True)
    ]
    return np.clip(curve(time), upper.bounds.lower, upper.bounds.upper), max(deficits) > CLEARANCE - _GAP


def insist(insistence: float, touching: bool) -> float:
    """Increase the factor on the weight of the links' clearance after a round in which they were too near."""
    return min(insistence * (_INSISTENCE if touching else 1.0), _MOST_INSISTENCE)


def give_inertia_weight(time: Array, inertia: Array, ratio: Array) -> Array:
    """Increase weights of inertia (T,) around samples at which a ratio (T,) to what is allowed exceeds 1."""
    ratio = np.minimum(ratio, MOST_EXCESS)
    return inertia * spread_in_time(time, np.where(ratio > 1.0, np.maximum(ratio**_GAIN, _STEP), 1.0), REACH)


def leave_torque(time: Array, usable: Array, ratio: Array) -> Array:
    """Reduce usable fractions (T, n) of allowed torques around samples at which a ratio to them exceeds 1."""
    return np.maximum(usable / spread_in_time(time, ratio, REACH), _LEAST_USED)


def zmp_shifts(upper: UpperBody, path: Array) -> Array:
    """Compute how accelerations of trunk and arms shift the ZMP, in configurations (K, 7 + n).

    With the centroidal momentum matrix A_G (Orin & Goswami 2008), height z and weight m g, the shift is
    −(z m c̈_x + L̇_y, z m c̈_y − L̇_x) / (m g); vertical force and moment about the vertical count beside it.
    Returns rows A, (K, 4, m): minus the shift along x and y, m s², then vertical force and moment, weighted.
    """
    model = upper.robot.model
    data = model.createData()
    rows = np.empty((len(path), 4, len(upper.columns)))
    for k, q in enumerate(path):
        matrix = pin.computeCentroidalMap(model, data, q)[:, 6 + upper.columns]
        height = data.com[0][2]
        rows[k, 0] = height * matrix[0] + matrix[4]
        rows[k, 1] = height * matrix[1] - matrix[3]
        rows[k, 2] = _VERTICAL * matrix[2]
        rows[k, 3] = _YAW * matrix[5]
    return np.asarray(rows / (GRAVITY * pin.computeTotalMass(model)))


def keep_height_tempo(time: Array, height: Array, speed: Array, acceleration: Array) -> Array:
    """Find the pelvis height (T,), m, above the stance's that keeps the clock, as near to `height` as can be.

    Limits are of vertical speed, m/s, and acceleration, m/s², (T,). At both ends the pelvis rests at the
    stance's height, as lead-in and lead-out leave it: from another speed the feet would lose the floor there.
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
    """Spread a ratio (T,) or (T, m) that exceeds 1 at some samples to those up to `reach`, s, away.

    The result is 1 or more, smooth, and nowhere below `excess` by more than smoothing takes.
    """
    samples = reach * (len(time) - 1) / (time[-1] - time[0])
    widest = maximum_filter1d(np.log(np.maximum(excess, 1.0)), 2 * round(samples) + 1, axis=0, mode="nearest")
    return np.asarray(np.exp(gaussian_filter1d(widest, 0.5 * samples, axis=0, mode="nearest")))


def measure_limit_use(
    time: Array,
    joints: Array,
    preferred: Array,
    bounds: PathBounds,
    torque: Array,
    others: Array,
    leg_speed: Array | float = 0.0,
) -> tuple[dict[str, float], Array]:
    """Measure what joints (T, m), rad, use of their `tempo_bounds`, and what imitation lost by them.

    Ratios to what is allowed are those of torques (T, k), of the legs' speeds, and of what else counts as
    beyond a limit, `others` (T,). Returns metrics `retarget.tempo_*` and `retarget.amplitude_lost_*`, of
    which `tempo_limited_fraction` is that of samples and joints at which speed or acceleration is on what is
    used of its limit; and distances from the preferred positions (T, m), rad.
    """
    ratios, most = limit_ratios(time, joints, bounds), 1.0 + ROUNDING
    speed, acceleration = (_LIMIT_FRACTION * each for each in ratios)
    beyond = np.maximum(speed, acceleration).max(axis=1) > most
    beyond |= np.maximum(others, torque.max(axis=1, initial=0.0)) > most
    lost = np.abs(joints - preferred)
    metrics = {
        "retarget.tempo_limited_fraction": float((np.maximum(*ratios) > _ON_LIMIT).mean()),
        "retarget.tempo_speed_ratio": float(max(speed.max(), np.max(leg_speed))),
        "retarget.tempo_acceleration_ratio": float(acceleration.max()),
        "retarget.tempo_torque_ratio": float(torque.max()),
        "retarget.tempo_violation_fraction": float(beyond.mean()),
        "retarget.amplitude_lost_mean_rad": float(lost.mean()),
        "retarget.amplitude_lost_max_rad": float(lost.max()),
    }
    return metrics, lost


def limit_ratios(time: Array, joints: Array, bounds: PathBounds) -> tuple[Array, Array]:
    """Compare speeds and accelerations (T, m) of joints, cubic between the samples, with their limits."""
    spline = make_interp_spline(time, joints, k=min(3, len(time) - 1))
    speed, acceleration = (np.abs(spline.derivative(order)(time)) for order in (1, 2))
    return speed / bounds.speed, acceleration / bounds.acceleration
