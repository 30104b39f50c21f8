"""The Gauss-Newton matrix of position and orientation tasks, assembled as a robot's inertia matrix is.

A point that is to be at a target with weight w² adds to JᵀJ what a mass w² there adds to the joint-space
inertia: its velocity is the same function of the joints. So masses, first and second moments are
added up from the leaves to the root (Featherstone's composite rigid body algorithm), and the matrix costs
one short product a pair of joints instead of a product of Jacobians.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import matrix_to_quaternion
from simbench.kinematics.tree import KinematicTree, joint_axes


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
