"""Time that is stretched only where limits bind: the path is kept, and so is its tempo elsewhere.

Limits are those of speeds, accelerations, torques and the ZMP. Along a path q(s) with v = V ṡ, the effort
RNEA(q, v, v̇) is M V s̈ + (M V′ + h(q, V)) ṡ² + g(q): linear in s̈ and ṡ², as are the foot wrenches and
torques that follow from it, and the ground's force and moment. An effort is an array (3, S, k) of S samples
of the path: what is needed at rest, coefficients of s̈, and coefficients of ṡ².
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import maximum_filter1d

from simbench.balance.ground_reaction import (
    carried_model,
    find_moving_coordinates,
    support_polygons,
    supported_torque,
)
from simbench.balance.leg_ik import Stance
from simbench.kinematics import time_optimal
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import SHORTEST_WINDOW, differentiate
from simbench.kinematics.rotation import free_flyer_derivatives
from simbench.options import RetargetSection
from simbench.retargeting.timing.preserve import LEAST_KNOTS
from simbench.robot.robot import Robot

# Fraction of the motors' torques that a motion may need; control and balance need the rest. The second is the
# fraction that it may need beyond what the weight needs in the same posture.
TORQUE_FRACTION, TORQUE_RESERVE = 0.8, 0.1
# Distance of the ZMP from the edge of the soles, inside, m: what balance leaves of disturbances; and
# distance, m, that the ZMP may go beyond where it is at rest, where that is nearer to the edge.
_ZMP_MARGIN, _ZMP_RESERVE = 0.02, 0.01
# Rate, Hz, at which dynamics are computed: ten times the frequency of people's arms.
_DYNAMICS_RATE = 50.0
# Largest distance of the nodes, s of the recording: people's arms move below 5 Hz.
_NODE_DISTANCE = 0.01
# Points between two nodes at which speeds are examined.
_FINE = 4
# Half width of the kernel that rounds the time law, s of the recording: what it lets through is below 5 Hz,
# as what balance answers.
_SMOOTHING = 0.1
# Stretch from which on time counts as stretched.
_STRETCHED = 1.01
# Times that a tempo is slowed for accelerations: each reduces what is too much by its own factor.
_CORNER_ROUNDS = 6
# Greatest local stretch that is believed: beyond it the limits leave no smooth way through, and all of the
# motion is slowed by one factor; and what is said then.
MOST_STRETCH = 20.0
UNIFORM_INSTEAD = "stretched by one factor: no local tempo keeps the limits"
# Distance of ṡ² from 1 below which the recorded tempo is kept exactly.
_ROUNDING = 1e-12


class PathLimits:
    """How fast a path (T, n), rad, may be followed: bounds of ṡ² and s̈ at N evenly spaced nodes.

    |q′ ṡ| ≤ v between the nodes too, on the cubic spline through the samples; |q″ ṡ² + q′ s̈| ≤ a at the
    nodes, which are at most 10 ms apart, with smoothed derivatives. Limits are of speed, rad/s, and
    acceleration, rad/s², of which an infinite one is no limit.

    `step`: distance of the nodes, s of the recording; `nodes` (N,): recorded time of the nodes, s; `ceiling`
    (N,): upper bound of ṡ²: the squares of the speed limits, at most 1; `fastest` (N,) int: joint whose speed
    is nearest its limit at each node; `constraints`: what else bounds ṡ² and s̈, m rows; `names`: names of
    the joints' speeds, then of the m rows: what binds; `half_width`: half width of the kernel that rounds the
    time law, in nodes.
    """

    def __init__(
        self,
        time: Array,
        joints: Array,
        speed: Array,
        acceleration: Array,
        names: Sequence[str],
        others: tuple[Array, time_optimal.PathConstraints, Sequence[str]] | None = None,
    ) -> None:
        """Find the limits. `others`: m more constraints with names, such as `torque of r_knee`.

        They are known at recorded times (S,), s, increasing, and linear in between.
        """
        count = max(1, int(np.ceil((time[1] - time[0]) / _NODE_DISTANCE - 1e-6))) * (len(time) - 1)
        spline = make_interp_spline(time, joints, k=min(3, len(time) - 1))
        fine = np.linspace(time[0], time[-1], _FINE * count + 1)
        ratio = np.abs(spline.derivative()(fine)) / speed
        # At a node the greatest up to its neighbours.
        greatest = maximum_filter1d(ratio, 2 * _FINE + 1, axis=0, mode="nearest")[::_FINE]
        self.ceiling = 1.0 / np.maximum(1.0, greatest.max(axis=1)) ** 2
        none = np.empty((count + 1, 0))
        self.fastest, self.constraints = greatest.argmax(axis=1), time_optimal.PathConstraints(none, none)
        self.names = tuple(f"speed of {name}" for name in names)
        self.step = float((time[-1] - time[0]) / count)
        self.nodes: Array = float(time[0]) + self.step * np.arange(count + 1, dtype=np.float64)
        self.half_width = round(_SMOOTHING / self.step)
        limited = np.flatnonzero(np.isfinite(acceleration))
        if len(limited) and len(time) >= SHORTEST_WINDOW:
            found = differentiate(time, joints[:, limited])
            a, b = (
                _interpolate(time, values / acceleration[limited], fine[::_FINE])
                for values in (found.velocity, found.acceleration)
            )
            self.constraints = time_optimal.PathConstraints(np.hstack([a, -a]), np.hstack([b, -b]))
            self.names += 2 * tuple(f"acceleration of {names[column]}" for column in limited.tolist())
        if others is not None:
            known, rows, added = others
            a, b = (
                np.hstack([old, _interpolate(known, new, self.nodes)])
                for old, new in zip(self.constraints, rows, strict=True)
            )
            self.constraints, self.names = time_optimal.PathConstraints(a, b), (*self.names, *added)


class TempoMap:
    """The robot's time over the recording's, by the squared rate at which that passes in the robot's time.

    `recorded` (N,): evenly spaced times of the recording, s; `robot` (N,): the robot's time at these, s, from
    0 on; `square` (N,): ṡ², at most 1.
    """

    def __init__(self, limits: PathLimits, square: Array) -> None:
        # The mean of ones is 1 but for rounding.
        self.square = np.where(square > 1.0 - _ROUNDING, 1.0, square)
        stretch = 1.0 / np.sqrt(self.square)
        passed = 0.5 * limits.step * (stretch[1:] + stretch[:-1])
        self.recorded, self.robot = limits.nodes, np.concatenate([[0.0], np.cumsum(passed)])

    def __call__(self, time: Array) -> Array:
        """Map times (T,) of the recording, s, to the robot's; they are the same if nothing is stretched."""
        if (self.square == 1.0).all():
            return time
        return np.asarray(self.recorded[0] + np.interp(time, self.recorded, self.robot))


def resolve_timing(
    settings: RetargetSection, *, holds_equipment: bool, standing: bool, sample_count: int
) -> RetargetSection:
    """Replace the timing `auto` by the one that suits the motion.

    Free motion of a robot on legs keeps the recorded clock (`preserve`): nothing but the person says how fast
    it is. Hands that hold equipment keep their path, and time gives way (`local`); so does an arm on a fixed
    base. A motion of less than six samples has no path to bend, and is slowed as a whole (`uniform`).
    """
    if settings.timing != "auto":
        return settings
    timing = "local"
    if standing and not holds_equipment:
        timing = "uniform" if sample_count < LEAST_KNOTS else "preserve"
    return settings.model_copy(update={"timing": timing})


def _interpolate(time: Array, values: Array, at: Array) -> Array:
    """Interpolate columns (T, m) linearly."""
    return values if len(time) == len(at) else np.asarray(make_interp_spline(time, values, k=1)(at))


def fixed_base_constraints(
    robot: Robot, time: Array, joints: Array
) -> tuple[Array, time_optimal.PathConstraints, tuple[str, ...]]:
    """Constrain the rate of a fixed-base robot's path (T, n) by its motors' torques.

    Returns the recorded times of the constraints, (S,), s, two rows a joint with a torque limit, and their
    names.
    """
    samples, path = path_velocity(time, None, joints)
    data = robot.model.createData()
    torque = np.stack([_effort(robot.model, data, *each) for each in zip(*path, strict=True)], axis=1)
    return time[samples], *_torque_constraints(robot, torque)


def standing_constraints(
    robot: Robot,
    stance: Stance,
    time: Array,
    base: Array,
    joints: Array,
    loads: Mapping[str, Array],
    moving: Array,
) -> tuple[Array, time_optimal.PathConstraints, tuple[str, ...]]:
    """Constrain the rate of a standing robot's path by its motors' torques and by its ZMP.

    The torques are those of `standing_torques`, with the wrench (T, 6) of the equipment on each hand that
    moves it, force (N) and moment about the world's origin (N·m), in the world frame; a seated robot has no
    ZMP to keep. Of the inertia the part `moving` (T,) counts for the ZMP: at both ends, lead-in and lead-out
    accelerate the robot.

    Returns the recorded times of the constraints, (S,), s, two rows a joint with a torque limit and one an
    edge of the support polygon, and their names.
    """
    samples, path = path_velocity(time, base, joints)
    model, frames = carried_model(robot, seated=stance.seated)
    data = model.createData()
    moves, both = find_moving_coordinates(model, frames), np.ones(2)
    hands = find_moving_coordinates(model, [model.getFrameId(robot.frames[f"{side}_hand"]) for side in loads])
    # Joint torques, and the ground's force and moment about the world's origin.
    torque, ground = np.empty((3, len(samples), model.nv - 6)), np.empty((3, len(samples), 6))
    for row, (q, first, second) in enumerate(zip(*path, strict=True)):
        effort = _effort(model, data, q, first, second)
        pin.computeJointJacobians(model, data, q)
        left, right = (pin.updateFramePlacement(model, data, frame).translation for frame in frames)
        for moved, wrench in zip(hands, loads.values(), strict=True):
            effort[0] -= np.where(moved, wrench[samples[row]] @ data.J, 0.0)
        root = data.oMi[1]
        for part in range(3):
            torque[part, row] = supported_torque(effort[part], data.J, left, right, moves, both)
            force = root.rotation @ effort[part, :3]
            moment = root.rotation @ effort[part, 3:6] + np.cross(root.translation, force)
            ground[part, row] = [*force, *moment]
    rows, names = _torque_constraints(robot, torque)
    if stance.seated:
        return time[samples], rows, names
    # One row an edge of the soles' convex hull: n·p ≤ d with the ZMP p = (−N_y, N_x) / F_z, times the
    # vertical force.
    corners = [
        robot.soles[f"{side}_foot"] @ sole.rotation.T + sole.translation
        for side, sole in stance.soles.items()
    ]
    polygon = support_polygons(np.concatenate(corners)[None, :, :2])[0]
    polygon = polygon[~np.isnan(polygon[:, 0])]
    along = np.roll(polygon, -1, axis=0) - polygon
    normal = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1, keepdims=True)
    distance = (normal * polygon).sum(axis=1)
    still, *rest = (
        np.stack([-each[:, 4], each[:, 3]], axis=1) @ normal.T - (distance - _ZMP_MARGIN) * each[:, 2:3]
        for each in ground
    )
    room = np.maximum(-still, _ZMP_RESERVE * ground[0, :, 2:3])
    edges = (moving[samples, None] * each / room for each in rest)
    whole = time_optimal.PathConstraints(*(np.hstack(pair) for pair in zip(rows, edges, strict=True)))
    return time[samples], whole, (*names, *(len(polygon) * ["ZMP"]))


def path_velocity(
    time: Array, base: Array | None, joints: Array
) -> tuple[NDArray[np.int64], tuple[Array, Array, Array]]:
    """Differentiate a path of T ≥ 5 even samples twice, where dynamics are computed.

    `base` (T, 7) is the pose of the root link in the world frame, position, m, and quaternion; None for a
    fixed base. Returns these samples, (S,), at 50 Hz or less, the first and the last among them, and there
    the configurations (S, nq) and their first and second derivatives by the path parameter, V and V′, (S,
    nv), per second of the recording; the root's in its own frame.
    """
    stride = max(1, int((len(time) - 1) / (time[-1] - time[0]) / _DYNAMICS_RATE + 1e-6))
    samples = np.append(np.arange(0, len(time) - 1, stride), len(time) - 1)
    if base is None:
        found = differentiate(time, joints)
        path = found.position, found.velocity, found.acceleration
    else:
        found = differentiate(time, np.hstack([base, joints]), 7)
        path = free_flyer_derivatives(found.position, found.velocity, found.acceleration)
    q, first, second = (each[samples] for each in path)
    return samples, (q, first, second)


def _effort(model: pin.Model, data: pin.Data, q: Array, first: Array, second: Array) -> Array:
    """Still, s̈ and ṡ² parts (3, nv) of RNEA at a point of a path."""
    none = np.zeros(model.nv)
    effort = np.empty((3, model.nv))
    effort[0] = pin.rnea(model, data, q, none, none)
    effort[1] = pin.rnea(model, data, q, none, first)
    effort[2] = pin.rnea(model, data, q, first, second)
    effort[1:] -= effort[0]
    return effort


def _torque_constraints(robot: Robot, torque: Array) -> tuple[time_optimal.PathConstraints, tuple[str, ...]]:
    """Bound an effort of joints, N·m, by 80 % of the motors', or what the weight needs and 10 % of them."""
    limit = np.asarray(robot.motors.torque_limit)
    known = np.flatnonzero(np.isfinite(limit) & (limit > 0.0))
    limits = np.tile(limit[known], 2)
    still, a, b = np.concatenate([torque[:, :, known], -torque[:, :, known]], axis=2)
    room = np.maximum(TORQUE_FRACTION * limits - still, TORQUE_RESERVE * limits)
    names = [f"torque of {robot.joint_names[column]}" for column in known]
    return time_optimal.PathConstraints(a / room, b / room), (*names, *names)


def fit_tempo(limits: PathLimits, square: Array | None = None) -> TempoMap:
    """Find the tempo that takes the least time inside limits, never faster than recorded, without corners.

    The time-optimal ṡ² (`fastest_rate`), smoothed from below over ±0.1 s of the recording, so that jerk is
    bounded; then reduced where the smoothed one breaks a constraint (`reduce_rate`). It takes no longer than
    one factor for all of the motion under the same limits (`constant_rate`). A smooth ṡ² (N,) that is given
    takes the place of the time-optimal one: it is reduced only where it breaks limits.
    """
    if square is None:
        square = time_optimal.fastest_rate(limits.step, limits.ceiling, limits.constraints)
        square = time_optimal.smooth_rate(square, limits.half_width)
    return TempoMap(
        limits,
        time_optimal.reduce_rate(limits.step, square, limits.ceiling, limits.constraints, limits.half_width),
    )


def slow_for_accelerations(
    limits: PathLimits, tempo: TempoMap, time: Array, joints: Array, acceleration: Array
) -> TempoMap:
    """Slow a tempo further where accelerations of joints (T, n) in the robot's time are beyond their limits.

    The windows in which a path is differentiated are of the recording's time. Where it is stretched, and the
    path has a corner, the robot's time resolves the corner better. What is left after some rounds slows all
    of it, unless a constant tempo takes less time. Limits of acceleration (n,), rad/s², are infinite where
    there is none.
    """
    limited = np.isfinite(acceleration)
    if not limited.any() or len(time) < SHORTEST_WINDOW:
        return tempo

    constant = min(float(tempo.square.min()), time_optimal.constant_rate(limits.ceiling, limits.constraints))
    for _ in range(_CORNER_ROUNDS):
        found = differentiate(tempo(time), joints[:, limited]).acceleration
        use = (np.abs(found) / acceleration[limited]).max(axis=1)
        if use.max() <= 1.0:
            return tempo
        at_nodes = np.maximum(1.0, np.interp(limits.nodes, time, use))
        dip = time_optimal.smooth_rate(1.0 / at_nodes, limits.half_width)
        tempo = fit_tempo(limits, tempo.square * dip)
    ways = []
    for each in (tempo, TempoMap(limits, np.full_like(tempo.square, constant))):
        found = differentiate(each(time), joints[:, limited]).acceleration
        most = float((np.abs(found) / acceleration[limited]).max())
        ways.append(TempoMap(limits, each.square / max(1.0, most)))
    return min(ways, key=lambda each: float(each.robot[-1]))


def measure_stretch(limits: PathLimits, tempo: TempoMap) -> tuple[dict[str, float], str]:
    """Measure how much and where time is stretched, and say what asks for it.

    Metrics are `retarget.slow_down_max`, the greatest local stretch, and `retarget.stretched_fraction`, the
    part of the robot's duration in which time is stretched by more than 1 %. The note says what binds where
    most of the time is lost; it is empty if nothing is stretched.
    """
    stretch = 1.0 / np.sqrt(tempo.square)
    stretched = stretch > _STRETCHED
    metrics = {
        "retarget.slow_down_max": float(stretch.max()),
        "retarget.stretched_fraction": float((stretch * stretched).sum() / stretch.sum()),
    }
    if not stretched.any():
        return metrics, ""
    use = time_optimal.constraint_use(limits.step, tempo.square, limits.ceiling, limits.constraints)
    # The recorded tempo is no limit that binds.
    use[limits.ceiling == 1.0, 0] = 0.0
    binding = use.argmax(axis=1)
    offset = len(limits.names) - limits.constraints.a.shape[1]
    which = np.where(binding == 0, limits.fastest, binding - 1 + offset)
    # Beside a limit that binds the tempo changes, without one of its own.
    reach = 2 * limits.half_width
    near = sliding_window_view(np.pad(use.max(axis=1), reach, mode="edge"), 2 * reach + 1).argmax(axis=1)
    which = which[np.clip(np.arange(len(which)) + near - reach, 0, len(which) - 1)]
    lost: dict[str, float] = {}
    for row, extra in zip(which[stretched], limits.step * (stretch[stretched] - 1.0), strict=True):
        lost[limits.names[row]] = lost.get(limits.names[row], 0.0) + float(extra)
    total = sum(lost.values())
    most = sorted(lost.items(), key=lambda each: -each[1])[:3]
    parts = ", ".join(f"{name} ({100 * seconds / total:.0f} %)" for name, seconds in most)
    return metrics, f"{total:.2f} s longer than recorded, most for {parts}"


def slowed_by(metrics: Mapping[str, float], factor: float) -> dict[str, float]:
    """Correct the slow-downs of a plan that was made from a recording slowed beforehand by a factor."""
    keys = [key for key in ("retarget.slow_down", "retarget.slow_down_max") if key in metrics]
    corrected = {**metrics, **{key: factor * metrics[key] for key in keys}}
    if factor > _STRETCHED and "retarget.stretched_fraction" in metrics:
        corrected["retarget.stretched_fraction"] = 1.0
    return corrected
