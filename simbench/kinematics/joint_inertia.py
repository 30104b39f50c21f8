"""The joint-space inertia matrix of a tree, by the composite bodies that `task_matrix` assembles."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.task_matrix import Workspace, assemble_matrix
from simbench.kinematics.tree import KinematicTree, first_joint, joint_axes


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
