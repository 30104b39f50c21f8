"""The Gauss-Newton matrix of position and orientation tasks, assembled as a robot's inertia matrix is.

That inertia matrix and the bias torques are here, too, and the matrices of a motion, one block a frame.

A point that is to be at a target with weight w² adds to JᵀJ what a mass w² there adds to the joint-space
inertia: its velocity is the same function of the joints. So masses, first and second moments are
added up from the leaves to the root (Featherstone's composite rigid body algorithm), and the matrix costs
one short product a pair of joints instead of a product of Jacobians.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix
from simbench.kinematics.tree import KinematicTree, first_joint, joint_axes, place_bodies


class Tasks(NamedTuple):
    """Points and frames on the bodies of a tree that follow targets; the targets come frame by frame."""

    point_body: NDArray[np.int64]  # (P,) int: bodies that carry the points.
    point: Array  # (P, 3): positions of the points on their bodies, m.
    point_weight: Array  # (P,): w of each position error.
    rotation_body: NDArray[np.int64]  # (R,) int: bodies that carry the frames.
    rotation: Array  # (R, 3, 3).
    rotation_weight: Array  # (R,): w of each orientation error.


class Targets(NamedTuple):
    """Where the points and frames of `Tasks` are to be, in one frame of a motion or in T."""

    points: Array  # (P, 3) or (T, P, 3) array: positions in the world, m.
    rotations: Array  # (R, 3, 3) or (T, R, 3, 3) array: rotations in the world.


class Workspace(NamedTuple):
    """Arrays that `gauss_newton` writes to; allocated once."""

    rotation: Array  # (n + 1, 3, 3): rotations of the bodies in the world.
    position: Array  # (n + 1, 3): positions of the bodies in the world, m.
    axes: Array  # (n, 6): unit twists of the joints at the root's origin, world axes.
    # (n + 1, 10): weight, first moment and second moment (xx, yy, zz, xy, xz, yz) of each body with its
    # subtree, about the root's origin.
    moment: Array
    # (n + 1, 6): weighted errors of each body with its subtree as forces, and their moments about the root's
    # origin.
    wrench: Array
    # (6 + n, 6 + n): JᵀJ, lower triangle. The root's coordinates come first: its translation and rotation,
    # world axes.
    matrix: Array
    vector: Array  # (6 + n,): Jᵀε.


def make_workspace(tree: KinematicTree) -> Workspace:
    """Allocate what `gauss_newton` needs for a tree.

    `tree`: tree of n joints. Returns workspace with undefined values.
    """
    n = len(tree.parent)
    return Workspace(
        np.empty((n + 1, 3, 3)),
        np.empty((n + 1, 3)),
        np.empty((n, 6)),
        np.empty((n + 1, 10)),
        np.empty((n + 1, 6)),
        np.empty((6 + n, 6 + n)),
        np.empty(6 + n),
    )


@compiled
def gauss_newton(
    tree: KinematicTree, tasks: Tasks, points: Array, rotations: Array, work: Workspace
) -> float:
    """Compute JᵀJ and Jᵀε of all tasks for bodies that are in place.

    ε holds w (target − point) for each point and w Δe for each orientation, Δe the vector part of the unit
    quaternion that rotates the frame into its target (world axes), as in Tomić 2018, eq. 3.4. With η its
    scalar part, ∂Δe/∂ω = −½(η I + S(Δe)), so that an orientation adds w²¼(I − Δe Δeᵀ) to the second moment
    and w²½ η Δe to the wrench. `tree`: joints of the robot; `tasks`: P points and R rotations to follow;
    `points` (P, 3): target positions, m, world; `rotations` (R, 3, 3); `work`: `rotation` and `position` are
    read (from `place_bodies`); the rest is overwritten. Returns ‖ε‖².
    """
    rotation, position, origin = work.rotation, work.position, work.position[0]
    n, moment, wrench = len(tree.parent), work.moment, work.wrench
    for k in range(n + 1):
        for i in range(10):
            moment[k, i] = 0.0
        for i in range(6):
            wrench[k, i] = 0.0
    cost = 0.0
    for k in range(len(tasks.point_body)):
        body = tasks.point_body[k]
        w = tasks.point_weight[k] * tasks.point_weight[k]
        a, b, c = tasks.point[k, 0], tasks.point[k, 1], tasks.point[k, 2]
        x = (position[body, 0] - origin[0] + rotation[body, 0, 0] * a + rotation[body, 0, 1] * b) + rotation[
            body, 0, 2
        ] * c
        y = (position[body, 1] - origin[1] + rotation[body, 1, 0] * a + rotation[body, 1, 1] * b) + rotation[
            body, 1, 2
        ] * c
        z = (position[body, 2] - origin[2] + rotation[body, 2, 0] * a + rotation[body, 2, 1] * b) + rotation[
            body, 2, 2
        ] * c
        dx = points[k, 0] - origin[0] - x
        dy = points[k, 1] - origin[1] - y
        dz = points[k, 2] - origin[2] - z
        cost += w * (dx * dx + dy * dy + dz * dz)
        moment[body, 0] += w
        moment[body, 1] += w * x
        moment[body, 2] += w * y
        moment[body, 3] += w * z
        moment[body, 4] += w * (y * y + z * z)
        moment[body, 5] += w * (x * x + z * z)
        moment[body, 6] += w * (x * x + y * y)
        moment[body, 7] -= w * x * y
        moment[body, 8] -= w * x * z
        moment[body, 9] -= w * y * z
        wrench[body, 0] += w * dx
        wrench[body, 1] += w * dy
        wrench[body, 2] += w * dz
        wrench[body, 3] += w * (y * dz - z * dy)
        wrench[body, 4] += w * (z * dx - x * dz)
        wrench[body, 5] += w * (x * dy - y * dx)
    for k in range(len(tasks.rotation_body)):
        body = tasks.rotation_body[k]
        w = tasks.rotation_weight[k] * tasks.rotation_weight[k]
        ex, ey, ez, eta = rotation_error(rotations, tasks.rotation, k, rotation, body)
        cost += w * (ex * ex + ey * ey + ez * ez)
        moment[body, 4] += 0.25 * w * (1.0 - ex * ex)
        moment[body, 5] += 0.25 * w * (1.0 - ey * ey)
        moment[body, 6] += 0.25 * w * (1.0 - ez * ez)
        moment[body, 7] -= 0.25 * w * ex * ey
        moment[body, 8] -= 0.25 * w * ex * ez
        moment[body, 9] -= 0.25 * w * ey * ez
        wrench[body, 3] += 0.5 * w * eta * ex
        wrench[body, 4] += 0.5 * w * eta * ey
        wrench[body, 5] += 0.5 * w * eta * ez
    for k in range(n - 1, -1, -1):
        carrier = tree.parent[k]
        for i in range(10):
            moment[carrier, i] += moment[k + 1, i]
        for i in range(6):
            wrench[carrier, i] += wrench[k + 1, i]
    joint_axes(tree, rotation, position, origin, work.axes)
    assemble_matrix(tree, work)
    return cost


@compiled
def assemble_matrix(tree: KinematicTree, work: Workspace) -> None:
    """Compute the matrix and the vector from the moments and wrenches of bodies with their subtrees.

    `tree`: joints of the robot; `work`: `axes`, `moment` and `wrench` are read, the lower triangle of
    `matrix` and `vector` overwritten.
    """
    axes, moment, matrix = work.axes, work.moment, work.matrix
    n = len(tree.parent)
    for i in range(6 + n):
        for j in range(i + 1):
            matrix[i, j] = 0.0
    # The root itself: translation and rotation in world axes.
    m = moment[0]
    for i in range(3):
        matrix[i, i] = m[0]
        matrix[3 + i, 3 + i] = m[4 + i]
        work.vector[i] = work.wrench[0, i]
        work.vector[3 + i] = work.wrench[0, 3 + i]
    matrix[3, 1], matrix[3, 2] = -m[3], m[2]
    matrix[4, 0], matrix[4, 2] = m[3], -m[1]
    matrix[5, 0], matrix[5, 1] = -m[2], m[1]
    matrix[4, 3], matrix[5, 3], matrix[5, 4] = m[7], m[8], m[9]
    for k in range(n):
        vx, vy, vz = axes[k, 0], axes[k, 1], axes[k, 2]
        wx, wy, wz = axes[k, 3], axes[k, 4], axes[k, 5]
        row, carried = 6 + k, momentum(moment[k + 1], vx, vy, vz, wx, wy, wz)
        for i in range(6):
            matrix[row, i] = carried[i]
        couple(tree, axes, k, carried, matrix[row, 6:])
        p = work.wrench[k + 1]
        work.vector[row] = vx * p[0] + vy * p[1] + vz * p[2] + wx * p[3] + wy * p[4] + wz * p[5]


@compiled
def momentum(
    m: Array, vx: float, vy: float, vz: float, wx: float, wy: float, wz: float
) -> tuple[float, float, float, float, float, float]:
    """Compute the momentum of a body that moves with a twist, all about one point.

    `m` (10,): mass, first moment and second moment (xx, yy, zz, xy, xz, yz): kg, kg·m and kg·m², or weights
    instead of masses; `vx`: velocity of the body at the point along x, m/s; `vy`: velocity of the body at the
    point along y, m/s; `vz`: velocity of the body at the point along z, m/s; `wx`: angular velocity about x,
    rad/s; `wy`: angular velocity about y, rad/s; `wz`: angular velocity about z, rad/s. Returns linear
    momentum, then angular momentum about the point.
    """
    return (
        m[0] * vx + wy * m[3] - wz * m[2],
        m[0] * vy + wz * m[1] - wx * m[3],
        m[0] * vz + wx * m[2] - wy * m[1],
        m[4] * wx + m[7] * wy + m[8] * wz + m[2] * vz - m[3] * vy,
        m[7] * wx + m[5] * wy + m[9] * wz + m[3] * vx - m[1] * vz,
        m[8] * wx + m[9] * wy + m[6] * wz + m[1] * vy - m[2] * vx,
    )


@compiled
def couple(
    tree: KinematicTree,
    axes: Array,
    k: int,
    carried: tuple[float, float, float, float, float, float],
    row: Array,
) -> None:
    """Project the momentum of a joint's unit motion on the joint itself and on the joints that carry it.

    `tree`: joints of the robot; `axes` (n, 6): unit twists of all joints at one point; `k`: index of the
    joint; `carried`: momentum of what the joint moves at a unit rate, about the same point, from `momentum`;
    `row` (n,): row of the joint-space matrix; the entries of those joints are overwritten.
    """
    body = k + 1
    while body > 0:
        j = body - 1
        row[j] = (
            axes[j, 0] * carried[0]
            + axes[j, 1] * carried[1]
            + axes[j, 2] * carried[2]
            + axes[j, 3] * carried[3]
            + axes[j, 4] * carried[4]
            + axes[j, 5] * carried[5]
        )
        body = tree.parent[j]


@compiled
def rotation_error(
    targets: Array, frames: Array, k: int, rotation: Array, body: int
) -> tuple[float, float, float, float]:
    """Compute the unit quaternion that rotates a frame on a body into its target, world axes.

    `targets` (R, 3, 3); `frames` (R, 3, 3); `k`: index of the frame; `rotation` (n + 1, 3, 3); `body`: index
    of the body that carries the frame. Returns quaternion x, y, z, w with w ≥ 0.
    """
    # E = target (body frame)ᵀ
    e = np.empty((3, 3))
    for j in range(3):
        a = b = c = 0.0
        for i in range(3):
            a += rotation[body, j, i] * frames[k, i, 0]
            b += rotation[body, j, i] * frames[k, i, 1]
            c += rotation[body, j, i] * frames[k, i, 2]
        for i in range(3):
            e[i, j] = targets[k, i, 0] * a + targets[k, i, 1] * b + targets[k, i, 2] * c
    x, y, z, w = matrix_to_quaternion(e)
    sign = 1.0 if w >= 0.0 else -1.0
    return sign * x, sign * y, sign * z, sign * w


@compiled_entry(
    "tree.parent (n), weights (T, P), tasks.point_body (P), targets.points (T, P, 3), "
    "tasks.rotation_body (R), targets.rotations (T, R, 3, 3), path (T, 7 + n), work.axes (n, 6), "
    "blocks (T, 6 + n, 6 + n), vectors (T, 6 + n), cost (T)"
)
def path_matrices(
    tree: KinematicTree,
    tasks: Tasks,
    weights: Array,
    targets: Targets,
    path: Array,
    work: Workspace,
    blocks: Array,
    vectors: Array,
    cost: Array,
) -> None:
    """Compute JᵀJ, Jᵀε and ‖ε‖² of every frame.

    `tree`: joints of the robot; `tasks`: P points and R rotations to follow; the weights of the points are
    overwritten; `weights` (T, P): weights of the points in each frame; `targets`: targets of all frames:
    points (T, P, 3), m, and rotations (T, R, 3, 3), in the world frame; `path` (T, 7 + n): configurations:
    position (m), quaternion x y z w, joints (rad or m); `work`: overwritten; `blocks` (T, 6 +
    n, 6 + n): JᵀJ, overwritten; the coordinates are the root's translation and rotation in world axes, and
    the joints; `vectors` (T, 6 + n): Jᵀε, overwritten; `cost` (T,): ‖ε‖², overwritten.
    """
    n = len(tree.parent)
    joints = np.empty(n)
    for t in range(len(path)):
        for i in range(3):
            work.position[0, i] = path[t, i]
        quaternion_to_matrix(path[t, 3], path[t, 4], path[t, 5], path[t, 6], work.rotation[0])
        for k in range(n):
            joints[k] = path[t, 7 + k]
        for k in range(weights.shape[1]):
            tasks.point_weight[k] = weights[t, k]
        place_bodies(tree, joints, work.rotation, work.position)
        cost[t] = gauss_newton(tree, tasks, targets.points[t], targets.rotations[t], work)
        for i in range(6 + n):
            vectors[t, i] = work.vector[i]
            for j in range(i + 1):
                blocks[t, i, j] = work.matrix[i, j]
                blocks[t, j, i] = work.matrix[i, j]


class BodyMasses(NamedTuple):
    """Masses and inertias of the bodies of a tree."""

    mass: Array  # (n + 1,): masses, kg.
    centre: Array  # (n + 1, 3): centre of mass on the body, m.
    inertia: Array  # (n + 1, 3, 3): about the centre of mass, in the body's axes, kg·m².


def body_masses(model: pin.Model) -> BodyMasses:
    """Take the masses of a tree's bodies out of the model that `kinematic_tree` took the tree from.

    `model`: what is fixed to the world, or to the free-flyer, is body 0's. Returns masses, centres of mass
    and inertias of the bodies of the tree.
    """
    inertias = [model.inertias[joint] for joint in range(first_joint(model) - 1, model.njoints)]
    return BodyMasses(
        np.array([each.mass for each in inertias]),
        np.array([each.lever for each in inertias]),
        np.array([each.inertia for each in inertias]),
    )


@compiled
def joint_inertia(tree: KinematicTree, masses: BodyMasses, work: Workspace) -> None:
    """Compute the joint-space inertia matrix (composite rigid bodies) for bodies that are in place.

    `tree`: kinematic tree of n joints. `masses`: masses, centres of mass and inertias of the bodies of the
    tree. `work`: `rotation` and `position` are read (from `place_bodies`). The lower triangle of `matrix`
    gets the inertia: the root's translation and rotation first, then the joints. The rest is overwritten.
    """
    origin = work.position[0]
    for k in range(len(tree.parent) + 1):
        for i in range(6):
            work.wrench[k, i] = 0.0
    body_moments(masses, work.rotation, work.position, origin, work.moment)
    add_subtrees(tree, work.moment)
    joint_axes(tree, work.rotation, work.position, origin, work.axes)
    assemble_matrix(tree, work)


@compiled
def body_moments(masses: BodyMasses, rotation: Array, position: Array, origin: Array, moment: Array) -> None:
    """Compute each body's mass, first and second moments about a point, world axes.

    `masses`: masses, centres of mass and inertias of the bodies of the tree; `rotation` (n + 1, 3, 3):
    rotations of the bodies, from `place_bodies`; `position` (n + 1, 3): positions of the bodies, from
    `place_bodies`, m; `origin` (3,): the point, m, world; `moment` (n + 1, 10): overwritten: kg, kg·m, and
    the inertia's xx, yy, zz, xy, xz, yz, kg·m².
    """
    turned = np.empty((3, 3))
    for k in range(len(moment)):
        m = masses.mass[k]
        if m == 0.0:
            for i in range(10):
                moment[k, i] = 0.0
            continue
        r, c, own = rotation[k], masses.centre[k], masses.inertia[k]
        x = position[k, 0] - origin[0] + r[0, 0] * c[0] + r[0, 1] * c[1] + r[0, 2] * c[2]
        y = position[k, 1] - origin[1] + r[1, 0] * c[0] + r[1, 1] * c[1] + r[1, 2] * c[2]
        z = position[k, 2] - origin[2] + r[2, 0] * c[0] + r[2, 1] * c[1] + r[2, 2] * c[2]
        for i in range(3):
            for j in range(3):
                turned[i, j] = r[i, 0] * own[0, j] + r[i, 1] * own[1, j] + r[i, 2] * own[2, j]
        moment[k, 0] = m
        moment[k, 1], moment[k, 2], moment[k, 3] = m * x, m * y, m * z
        moment[k, 4] = m * (y * y + z * z) + _entry(turned, r, 0, 0)
        moment[k, 5] = m * (x * x + z * z) + _entry(turned, r, 1, 1)
        moment[k, 6] = m * (x * x + y * y) + _entry(turned, r, 2, 2)
        moment[k, 7] = -m * x * y + _entry(turned, r, 0, 1)
        moment[k, 8] = -m * x * z + _entry(turned, r, 0, 2)
        moment[k, 9] = -m * y * z + _entry(turned, r, 1, 2)


@compiled
def add_subtrees(tree: KinematicTree, moment: Array) -> None:
    """Add the moments of each body's subtree to those of the body, in place.

    `tree`: kinematic tree of n joints; `moment` (n + 1, 10): from `body_moments`; overwritten with the
    moments of the composite bodies.
    """
    for k in range(len(tree.parent) - 1, -1, -1):
        carrier = tree.parent[k]
        for i in range(10):
            moment[carrier, i] += moment[k + 1, i]


@compiled
def _entry(left: Array, right: Array, i: int, j: int) -> float:
    """Entry of left rightᵀ."""
    return float(left[i, 0] * right[j, 0] + left[i, 1] * right[j, 1] + left[i, 2] * right[j, 2])


@compiled
def bias_torque(
    tree: KinematicTree,
    axes: Array,
    moment: Array,
    velocity: Array,
    gravity: float,
    twist: Array,
    effort: Array,
    torque: Array,
) -> None:
    """Compute h(q, q̇) of a tree whose root rests: recursive Newton-Euler with no joint acceleration.

    All twists and wrenches are about one point, in world axes, so that nothing is carried from frame to
    frame. With S the joint's unit twist, V_k = V_parent + S q̇, A_k = A_parent + V_k × S q̇, the root's A
    being gravity upwards, F_k = I A_k + V_k × (I V_k), and the torque Sᵀ Σ F of the subtree on the joint
    (Featherstone 2008, §5.3). `tree`: kinematic tree of n joints; `axes` (n, 6); `moment` (n + 1, 10): mass
    moments of the single bodies about the same point, from `body_moments`; `velocity` (n,): joint velocities,
    rad/s or m/s; `gravity`: along −z, m/s²; `twist` (n + 1, 12): overwritten: V (linear, angular) and A of
    the bodies; `effort` (n + 1, 6): overwritten: force and moment that the bodies with their subtrees need;
    `torque` (n,): overwritten: h, N·m or N.
    """
    n = len(tree.parent)
    for i in range(12):
        twist[0, i] = 0.0
    twist[0, 8] = gravity
    for k in range(n):
        carrier, body, rate = tree.parent[k], k + 1, velocity[k]
        sx, sy, sz = axes[k, 0] * rate, axes[k, 1] * rate, axes[k, 2] * rate
        rx, ry, rz = axes[k, 3] * rate, axes[k, 4] * rate, axes[k, 5] * rate
        vx, vy, vz = twist[carrier, 0] + sx, twist[carrier, 1] + sy, twist[carrier, 2] + sz
        wx, wy, wz = twist[carrier, 3] + rx, twist[carrier, 4] + ry, twist[carrier, 5] + rz
        ax = twist[carrier, 6] + wy * sz - wz * sy + vy * rz - vz * ry
        ay = twist[carrier, 7] + wz * sx - wx * sz + vz * rx - vx * rz
        az = twist[carrier, 8] + wx * sy - wy * sx + vx * ry - vy * rx
        bx = twist[carrier, 9] + wy * rz - wz * ry
        by = twist[carrier, 10] + wz * rx - wx * rz
        bz = twist[carrier, 11] + wx * ry - wy * rx
        twist[body, 0], twist[body, 1], twist[body, 2] = vx, vy, vz
        twist[body, 3], twist[body, 4], twist[body, 5] = wx, wy, wz
        twist[body, 6], twist[body, 7], twist[body, 8] = ax, ay, az
        twist[body, 9], twist[body, 10], twist[body, 11] = bx, by, bz
        m = moment[body]
        px, py, pz, lx, ly, lz = momentum(m, vx, vy, vz, wx, wy, wz)
        fx, fy, fz, tx, ty, tz = momentum(m, ax, ay, az, bx, by, bz)
        f = effort[body]
        f[0] = fx + wy * pz - wz * py
        f[1] = fy + wz * px - wx * pz
        f[2] = fz + wx * py - wy * px
        f[3] = tx + wy * lz - wz * ly + vy * pz - vz * py
        f[4] = ty + wz * lx - wx * lz + vz * px - vx * pz
        f[5] = tz + wx * ly - wy * lx + vx * py - vy * px
    for i in range(6):
        effort[0, i] = 0.0
    for k in range(n - 1, -1, -1):
        total, carrier = 0.0, tree.parent[k]
        for i in range(6):
            total += axes[k, i] * effort[k + 1, i]
            effort[carrier, i] += effort[k + 1, i]
        torque[k] = total
