"""Inverse dynamics of a robot on both feet, or on both thighs: reaction, torques and ZMP of a motion.

Also the polygon that supports it on a horizontal floor, and signed margins in it.
"""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
import shapely
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import gaussian_filter1d

from simbench.balance.inverted_pendulum import GRAVITY, cog_profile, natural_frequency
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_MOMENT_ARM = 0.05  # Moments of the ground reaction count as forces at this lever (m), about half a sole.


def standing_torques(
    robot: Robot, time: Array, base: Array, joints: Array, *, inertia: bool, seated: bool = False
) -> Array:
    """Compute the joint torques of a motion on both feet.

    τ = RNEA(q, v, a) − Σ Jᵀf, the rotors' reflected inertia included, with the foot wrenches f that carry the
    root, Σ G f = RNEA(q, v, a)_root; of the many distributions over two feet the one with the least weighted
    norm is taken. A seated robot is carried by a seat under the thighs instead of the floor under the feet;
    the floor carries what is below the knees, which the joints do not feel. `robot`: robot with two legs;
    `time` (T,): time of each sample, s; `base` (T, 7): pose of the root link in the world frame: position, m,
    and quaternion x, y, z, w; `joints` (T, n): joint positions in the order of `robot.joint_names`, rad;
    `inertia`: whether velocity and acceleration count; otherwise gravity alone; `seated`: whether a seat
    under the thighs carries the robot. Returns (T, n): joint torques in the order of `robot.joint_names`,
    N·m.
    """
    model, frames = carried_model(robot, seated=seated)
    data = model.createData()
    moves, both = find_moving_coordinates(model, frames), np.ones(2)
    q = np.hstack([base, joints])
    velocity = np.zeros((len(q), model.nv))
    if inertia:
        # Central differences on the configuration manifold.
        samples = np.arange(len(q))
        for row, (a, b) in enumerate(
            zip((samples - 1).clip(0), (samples + 1).clip(max=len(q) - 1), strict=True)
        ):
            velocity[row] = pin.difference(model, q[a], q[b]) / (time[b] - time[a])
    # Both are in the moving root frame, where RNEA takes them: its acceleration is the spatial one.
    acceleration = np.gradient(velocity, time, axis=0) if inertia else velocity
    torques = np.empty_like(joints)
    for sample in range(len(joints)):
        effort = pin.rnea(model, data, q[sample], velocity[sample], acceleration[sample])
        pin.computeJointJacobians(model, data, q[sample])
        left, right = (pin.updateFramePlacement(model, data, frame).translation for frame in frames)
        torques[sample] = supported_torque(effort, data.J, left, right, moves, both)
    return torques


def carried_model(robot: Robot, *, seated: bool) -> tuple[pin.Model, list[int]]:
    """Return the model of what is carried, and the frames that carry it.

    `robot`: robot with two legs; `seated`: whether a seat under the thighs carries the robot, and the floor
    what is below the knees. Returns `model`: the robot's, without mass below the knees if it sits; `frames`:
    Pinocchio's ids of the left and right sole frames, or of the thighs.
    """
    model = robot.model
    if seated:
        model = model.copy()
        thighs = {model.frames[model.getFrameId(link)].parentJoint for link in robot.thighs}
        for joint in range(1, model.njoints):
            if thighs & set(list(model.supports[joint])[:-1]):
                model.inertias[joint] = pin.Inertia.Zero()
    carrying = "thigh" if seated else "foot"
    return model, [model.getFrameId(robot.frames[f"{side}_{carrying}"]) for side in SIDES]


def standing_inertia(
    robot: Robot, base: Array, joints: Array, columns: NDArray[np.int64], *, seated: bool = False
) -> Array:
    """Compute the torques of all joints on both feet for the acceleration of each of some joints.

    ∂τ/∂q̈ of `standing_torques`: what a motion of trunk and arms costs in every joint, the legs' that carry
    it among them, while root and legs do not accelerate. `robot`: robot with two legs; `base` (T, 7): pose of
    the root link in the world frame: position, m, and quaternion x, y, z, w; `joints` (T, n): joint positions
    in the order of `robot.joint_names`, rad; `columns` (m,) int; `seated`: whether a seat under the thighs
    carries the robot. Returns (T, n, m): torque of each joint for 1 rad/s² of each of the accelerated ones,
    kg·m².
    """
    model, frames = carried_model(robot, seated=seated)
    data = model.createData()
    moves = find_moving_coordinates(model, frames)
    torques = np.empty((*joints.shape, len(columns)))
    for sample, q in enumerate(np.hstack([base, joints])):
        # Only its upper triangle is computed.
        upper = pin.crba(model, data, q)
        inertia = np.where(np.tri(model.nv, dtype=bool), upper.T, upper)
        pin.computeJointJacobians(model, data, q)
        left, right = (pin.updateFramePlacement(model, data, frame).translation for frame in frames)
        efforts = np.ascontiguousarray(inertia[:, 6 + columns].T)
        torques[sample] = _supported_torques(efforts, data.J, left, right, moves).T
    return torques


def find_moving_coordinates(model: pin.Model, frames: Sequence[int]) -> NDArray[np.bool_]:
    """Find which coordinates of the velocity vector move frames, such as those of the soles.

    `model`: model with n joint velocities behind the six of its root; `frames`: Pinocchio's ids of the
    frames. Returns true where a coordinate moves the frame of the row.
    """
    moves = np.zeros((len(frames), model.nv), bool)
    for row, frame in zip(moves, frames, strict=True):
        # The first support is the universe.
        for joint in list(model.supports[model.frames[frame].parentJoint])[1:]:
            first = model.joints[joint].idx_v
            row[first : first + model.joints[joint].nv] = True
    return moves


@compiled_entry("effort (v), jacobian (6, v), left (3), right (3), moves (2, v), load_fractions (2)")
def supported_torque(
    effort: Array, jacobian: Array, left: Array, right: Array, moves: NDArray[np.bool_], load_fractions: Array
) -> Array:
    """Compute the joint torques of a motion when each foot carries a given part of the root.

    τ = e − Jᵀf with the foot wrenches f of Σ G f = e_root and the least norm, weighted by the inverse of the
    load fractions: a foot with fraction 0 carries nothing. With D the weights' inverse f = D Gᵀ (G D Gᵀ)⁻¹
    e_root. `effort` (6 + n,): e = RNEA(q, v, a) without external forces, N and N·m; `jacobian` (6, 6 + n):
    Pinocchio's `data.J`: the joints' spatial Jacobian, linear then angular, at the world's origin; `left`
    (3,): position of the left sole frame in the world frame, m; `right` (3,): position of the right sole
    frame in the world frame, m; `moves` (2, 6 + n) of bool: which coordinates move the soles, from
    `find_moving_coordinates`; `load_fractions` (2,): part of the weight on the left and the right foot, 0 to
    1, not both 0. Returns (n,): joint torques, N·m.
    """
    at_soles = np.zeros((12, len(effort)))
    _write_jacobian_at(jacobian, left, moves[0], at_soles[:6])
    _write_jacobian_at(jacobian, right, moves[1], at_soles[6:])
    weight_inverse = np.empty(12)
    for row in range(12):
        weight_inverse[row] = load_fractions[row // 6] * (_MOMENT_ARM * _MOMENT_ARM if row % 6 > 2 else 1.0)
    solution = _solve_root_reaction(at_soles, weight_inverse, effort)
    torque = effort[6:].copy()
    for row in range(12):
        force = 0.0
        for i in range(6):
            force += weight_inverse[row] * at_soles[row, i] * solution[i]
        for joint in range(len(torque)):
            torque[joint] -= at_soles[row, 6 + joint] * force
    return torque


@compiled_entry("efforts (m, v), jacobian (6, v), left (3), right (3), moves (2, v)")
def _supported_torques(
    efforts: Array, jacobian: Array, left: Array, right: Array, moves: NDArray[np.bool_]
) -> Array:
    """Joint torques (m, n) of m efforts (m, 6 + n), both feet carrying the same."""
    torques = np.empty((len(efforts), efforts.shape[1] - 6))
    both = np.ones(2)
    for row in range(len(efforts)):
        torques[row] = supported_torque(efforts[row], jacobian, left, right, moves, both)
    return torques


@compiled
def _write_jacobian_at(
    jacobian: Array, position: Array, moves: NDArray[np.bool_], at_position: Array
) -> None:
    """Write the Jacobian of a point, linear then angular, world axes, (6, 6 + n), where `moves` is true."""
    for column in range(jacobian.shape[1]):
        if moves[column]:
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                turning = jacobian[3 + j, column] * position[k] - jacobian[3 + k, column] * position[j]
                at_position[i, column] = jacobian[i, column] + turning
                at_position[3 + i, column] = jacobian[3 + i, column]


@compiled
def _solve_root_reaction(at_soles: Array, weight_inverse: Array, effort: Array) -> Array:
    """Solve (G D Gᵀ) x = e_root by Cholesky's G D Gᵀ = LLᵀ."""
    # L and L⁻¹ e_root side by side; then the latter is overwritten with the solution.
    lower, solution = np.zeros((6, 6)), np.empty(6)
    for i in range(6):
        for j in range(i + 1):
            value = 0.0
            for row in range(12):
                value += at_soles[row, i] * weight_inverse[row] * at_soles[row, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(value) if i == j else value / lower[j, j]
        solution[i] = effort[i]
        for k in range(i):
            solution[i] -= lower[i, k] * solution[k]
        solution[i] /= lower[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            solution[i] -= lower[k, i] * solution[k]
        solution[i] /= lower[i, i]
    return solution


# Bandwidth of the COG's response, Hz: people's arms move below it; above are corners of joint curves and
# noise, which the legs would pass on to every torque.
_BANDWIDTH = 5.0
_RATE = 200.0  # Least rate of the samples between which the pendulum's ZMP is linear, Hz.
# Time before and after the motion in which it is mirrored, in units of 1 / ω: what happens at its far end has
# an effect of exp(−8).
_MIRRORED = 8.0


def ground_wrench(
    robot: Robot,
    time: Array,
    base: Array,
    joints: Array,
    load: Array | None = None,
    moving: Array | None = None,
) -> tuple[Array, Array]:
    """Compute the wrench of the ground that a motion requires, from the momentum of all bodies, and the COG.

    With the COG c, the mass m, the angular momentum L about the COG and a load's force f and moment n about
    the world's origin, the ground's force and moment there are F = m (c̈ + g ẑ) − f and N = c × m (c̈ + g ẑ)
    + L̇ − n. `robot`: robot with a free root; `time` (T,): time of each sample, s, T ≥ 2; `base` (T, 7): pose
    of the root link in the world frame: position, m, and quaternion x, y, z, w; `joints` (T, n): joint
    positions in the order of `robot.joint_names`, rad; `load` (T, 6): external force (N) on the robot and its
    moment about the world's origin (N·m), world axes; none by default; `moving` (T,): part of m c̈ and L̇
    that counts, 0 to 1; all by default. Returns `wrench` (T, 6): F, N, and N about the world's origin, N·m,
    world axes; `cog` (T, 3): position of the COG in the world frame, m.
    """
    model, data = robot.model, robot.model.createData()
    q = np.hstack([base, joints])
    last = len(q) - 1
    before, after = np.maximum(np.arange(len(q)) - 1, 0), np.minimum(np.arange(len(q)) + 1, last)
    momentum, cog = np.empty((len(q), 6)), np.empty((len(q), 3))
    for sample, (a, b) in enumerate(zip(before, after, strict=True)):
        velocity = pin.difference(model, q[a], q[b]) / (time[b] - time[a])
        momentum[sample] = pin.computeCentroidalMomentum(model, data, q[sample], velocity).vector
        cog[sample] = data.com[0]
    rate: Array = np.asarray(np.gradient(momentum, time, axis=0))
    if moving is not None:
        rate *= moving[:, None]
    force = rate[:, :3] + [0.0, 0.0, GRAVITY * pin.computeTotalMass(model)]
    wrench = np.hstack([force, np.cross(cog, force) + rate[:, 3:]])
    return wrench if load is None else wrench - load, cog


def planned_zmp(
    robot: Robot,
    time: Array,
    base: Array,
    joints: Array,
    load: Array | None = None,
    moving: Array | None = None,
) -> tuple[Array, Array]:
    """Compute the ZMP (T, 2) on the floor z = 0 that a motion requires, m, and the COG (T, 3), m.

    With the force F and the moment N of `ground_wrench`, which takes the same, it is at (−N_y, N_x) / F_z.
    """
    wrench, cog = ground_wrench(robot, time, base, joints, load, moving)
    return np.stack([-wrench[:, 4], wrench[:, 3]], axis=1) / wrench[:, 2:3], cog


def lipm_com_offset(time: Array, zmp: Array, height: float) -> Array:
    """Find the COG offset that shifts the ZMP of a linear inverted pendulum as required.

    The bounded solution of d − d̈/ω² = z̄, with z̄ the required ZMP shift up to 5 Hz (a Gaussian without
    delay, half as strong there). Beyond its ends the motion is taken to be its own mirror image, so that the
    offset is at rest at both. `time` (T,): time of each sample, s; `zmp` (T, 2): required shift of the ZMP,
    m; `height`: height of the pendulum, m. Returns (T, 2): offset d of the COG, m.
    """
    omega = natural_frequency(height)
    count = max(2, 1 + int(np.ceil((time[-1] - time[0]) * _RATE)))
    clock = np.linspace(time[0], time[-1], count)
    timestep = float(clock[1] - clock[0])
    even = make_interp_spline(time, zmp, k=1)(clock)
    margin = int(np.ceil(_MIRRORED / (omega * timestep)))
    mirrored = np.pad(even, ((margin, margin), (0, 0)), mode="reflect")
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * _BANDWIDTH * timestep)
    smooth = gaussian_filter1d(mirrored, width, axis=0, mode="nearest")
    offset = cog_profile(smooth, timestep, omega)[0][margin:-margin]
    return np.asarray(make_interp_spline(clock, offset, k=min(3, count - 1))(time))


def support_polygons(points: Array) -> Array:
    """Find the support polygons of samples: the convex hulls of contact points, counter-clockwise.

    `points` (T, N, 2): contact points on the floor, m; NaN where a sample has fewer. Returns (T, N, 2):
    corners, m, and NaN after the last; fewer than three if the points lie on a line.
    """
    hulls = _convex_hulls(points)
    # Polygons, rather than lines, points or none.
    areas = shapely.get_type_id(hulls) == shapely.GeometryType.POLYGON
    clockwise = areas & ~shapely.is_ccw(shapely.get_exterior_ring(hulls))
    hulls[clockwise] = shapely.reverse(hulls[clockwise])
    corners, samples = shapely.get_coordinates(hulls, return_index=True)
    first = np.searchsorted(samples, samples)
    columns = np.arange(len(samples)) - first
    # A ring ends where it begins.
    count = np.bincount(samples, minlength=len(points)) - areas
    kept = columns < count[samples]
    polygons = np.full_like(points, np.nan)
    polygons[samples[kept], columns[kept]] = corners[kept]
    return polygons


def support_margins(points: Array, polygons: Array) -> Array:
    """Find the distances of points from the edges of polygons, positive inside, negative outside.

    `points` (T, 2): points on the floor, m; NaN for none. `polygons` (T, M, 2): corners of convex polygons,
    m, and NaN after the last. Nothing is inside fewer than three. Returns (T,): signed distances, m; -inf
    without any corner or without a point.
    """
    hulls = _convex_hulls(polygons)
    where = np.full(len(points), None)
    given = ~np.isnan(points[:, 0])
    where[given] = shapely.points(points[given])
    areas = shapely.get_type_id(hulls) == shapely.GeometryType.POLYGON
    edges = np.where(areas, shapely.get_exterior_ring(hulls), hulls)
    distances = shapely.distance(where, edges)
    margins = np.where(areas & shapely.contains(hulls, where), distances, -distances)
    return np.where(np.isnan(margins), -np.inf, margins)


def _convex_hulls(points: Array) -> NDArray[np.object_]:
    """Make the convex hull of each sample's points (T, N, 2), NaN where there are fewer; None without any."""
    present = ~np.isnan(points[..., 0])
    found = present.any(axis=1)
    hulls = np.full(len(points), None)
    if found.any():
        first = points[np.arange(len(points)), present.argmax(axis=1)]
        # A line through the points: one geometry a sample, where a multipoint has one for each of its points.
        # At least two points make a line.
        lines = np.where(present[..., None], points, first[:, None])[found]
        hulls[found] = shapely.convex_hull(shapely.linestrings(np.concatenate([lines, lines[:, :1]], axis=1)))
    return hulls


def support_polygon(points: Array) -> Array:
    """Find the support polygon: the convex hull of contact points, counter-clockwise.

    `points` (N, 2): contact points on the floor, m. Returns (M, 2): corners, m; M < 3 if the points lie on a
    line or there are fewer than three.
    """
    [polygon] = support_polygons(np.asarray(points)[None])
    return np.asarray(polygon[~np.isnan(polygon[:, 0])])


def support_margin(point: Array, polygon: Array) -> float:
    """Find the distance of a point from the edge of a polygon, positive inside, negative outside.

    `point` (2,): point on the floor, m. `polygon` (M, 2): corners of a convex polygon, m. With fewer than
    three corners nothing is inside. Returns signed distance, m; -inf without any corner.
    """
    return float(support_margins(np.asarray(point)[None], np.asarray(polygon)[None])[0])


def zmp_from_wrench(force: Array, moment: Array) -> Array:
    """Compute the ZMP: the point of the floor z = 0 about which the ground reaction has no horizontal moment.

    p_x = −M_y / F_z, p_y = M_x / F_z, moment about the world origin. `force` (..., 3): force of the ground on
    the robot, world axes, N; `moment` (..., 3): its moment about the world origin, N·m. Returns (..., 2): ZMP
    in the world frame, m; NaN where the vertical force is not positive.
    """
    vertical = np.where(force[..., 2] > 0.0, force[..., 2], np.nan)
    return np.stack([-moment[..., 1] / vertical, moment[..., 0] / vertical], axis=-1)


def zmp_from_momentum(
    mass: float,
    gravity: float,
    cog: Array,
    linear_rate: Array,
    angular_rate: Array,
    other_force: Array,
    other_moment: Array,
) -> Array:
    """Compute the ZMP from the motion of the robot, independent of any contact measurement.

    Newton and Euler about the world origin give the ground reaction F = Ṗ + m g e_z − F_other, M = L̇ + c × Ṗ
    + c × m g e_z − M_other. `mass`: mass of the robot, kg; `gravity`: gravitational acceleration, m/s²; `cog`
    (..., 3): position of the COG in the world frame, m; `linear_rate` (..., 3): rate of the linear momentum,
    world axes, N; `angular_rate` (..., 3): rate of the angular momentum about the COG, world axes, N·m;
    `other_force` (..., 3): external forces other than the ground's, world axes, N; `other_moment` (..., 3):
    their moment about the world origin, N·m. Returns (..., 2): ZMP in the world frame, m.
    """
    carried = linear_rate + np.array([0.0, 0.0, mass * gravity])
    moment = angular_rate + np.cross(cog, carried) - other_moment
    return zmp_from_wrench(carried - other_force, moment)
