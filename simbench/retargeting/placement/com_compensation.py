"""A root that compensates the COG motion of its joints, so that the COG is where it should be.

With the feet on the floor, the pelvis sways against the arms: its displacement is - c(q), where c is how far
the joints take the COG horizontally, times what the pelvis must go for each metre of the COG, as the legs'
own mass goes along with it only in part. A palm is then at p(q) - c(q) from where the root would be.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.task_matrix import Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, first_joint


class ComCompensation(NamedTuple):
    """Masses from which the sway of the root is computed.

    Parameters
    ----------
    mass : (n + 1,) array
        Masses of the bodies of the tree, as fractions of the whole.
    com : (n + 1, 3) array
        Centres of mass of the bodies in their own axes, m.
    gain : (2,) array
        How far the root goes, along its x and y, for each metre that it is to take the COG; 0 for a root that
        does not sway.
    reference : (2,) array
        Where the COG is in the root's axes while the root does not sway, m.
    """

    mass: Array
    com: Array
    gain: Array
    reference: Array


class CompensatedTree(NamedTuple):
    """Trunk and arms with points of the palms, on a root that compensates the COG motion.

    Parameters
    ----------
    tree : KinematicTree
        Joints of trunk and arms.
    tasks : Tasks
        Points only.
    compensation : ComCompensation
        How the root sways against the joints.
    work : Workspace
        Arrays that are overwritten.
    """

    tree: KinematicTree
    tasks: Tasks
    compensation: ComCompensation
    work: Workspace


def make_com_compensation(model: pin.Model, joints: Array, gain: tuple[float, float]) -> ComCompensation:
    """Take the masses out of a model.

    Parameters
    ----------
    model : pinocchio.Model
        Model with a free-flyer root or a fixed one.
    joints : (n,) array
        Posture in which the root does not sway, rad.
    gain : (float, float)
        How far the root goes, along its x and y, for each metre that it is to take the COG.

    Returns
    -------
    ComCompensation
        Its bodies in the order of those of the tree of the model.
    """
    first = first_joint(model)
    inertias = [model.inertias[joint] for joint in range(first - 1, model.njoints)]
    mass = np.array([inertia.mass for inertia in inertias])
    q = np.concatenate([pin.neutral(model)[: len(pin.neutral(model)) - len(joints)], joints])
    reference = pin.centerOfMass(model, model.createData(), q)[:2] if mass.sum() > 0.0 else np.zeros(2)
    return ComCompensation(
        mass / max(float(mass.sum()), 1e-9),
        np.array([inertia.lever for inertia in inertias]),
        np.array(gain),
        np.asarray(reference).copy(),
    )


@compiled
def compute_root_sway(compensation: ComCompensation, work: Workspace) -> tuple[float, float]:
    """Compute how far bodies that are in place take the COG, times what the root goes against it.

    Parameters
    ----------
    compensation : ComCompensation
        Masses and gain.
    work : Workspace
        With the bodies in place, the root upright at the origin.

    Returns
    -------
    (float, float)
        c along the root's x and y, m; the root goes the other way.
    """
    x = y = 0.0
    rotation, position = work.rotation, work.position
    for k in range(len(compensation.mass)):
        m = compensation.mass[k]
        a, b, c = compensation.com[k, 0], compensation.com[k, 1], compensation.com[k, 2]
        x += m * (position[k, 0] + rotation[k, 0, 0] * a + rotation[k, 0, 1] * b + rotation[k, 0, 2] * c)
        y += m * (position[k, 1] + rotation[k, 1, 0] * a + rotation[k, 1, 1] * b + rotation[k, 1, 2] * c)
    return (
        compensation.gain[0] * (x - compensation.reference[0]),
        compensation.gain[1] * (y - compensation.reference[1]),
    )


@compiled
def compensated_gauss_newton(
    tree: KinematicTree,
    tasks: Tasks,
    compensation: ComCompensation,
    points: Array,
    shifted: Array,
    work: Workspace,
) -> float:
    """Compute the normal equations of points on a tree whose root sways against its joints.

    The root's translation v and rotation rate ω about z are reduced by the joints' rates:
    v_root = v - C q̇ + ω (c_y, -c_x), C being the derivative of c. So the matrix A and the vector b of a root
    that does not sway become TᵀAT and Tᵀb.

    Parameters
    ----------
    tree : KinematicTree
        Joints of trunk and arms.
    tasks : Tasks
        Points only.
    compensation : ComCompensation
        How the root sways against the joints.
    points : (P, 3) array
        Targets from where the root would be without swaying, m, root axes.
    shifted : (P, 3) array
        Overwritten.
    work : Workspace
        `rotation` and `position` are read, the root upright at the origin; the rest is overwritten. The rows
        of the root's other two rotations are not used.

    Returns
    -------
    float
        Sum of squares, m², weighted.
    """
    cx, cy = compute_root_sway(compensation, work)
    for k in range(len(points)):
        shifted[k, 0], shifted[k, 1], shifted[k, 2] = points[k, 0] + cx, points[k, 1] + cy, points[k, 2]
    cost = gauss_newton(tree, tasks, shifted, np.empty((0, 3, 3)), work)
    if compensation.gain[0] == 0.0 and compensation.gain[1] == 0.0:
        return cost
    n = len(tree.parent)
    a, b = work.matrix, work.vector
    slope = np.empty((2, n))
    _com_jacobian(tree, compensation, work, slope)
    total = a[0, 0]
    # The rotation about z first, the joints then.
    for j in range(n):
        a[6 + j, 5] += cy * a[6 + j, 0] - cx * a[6 + j, 1]
    a[5, 5] += 2.0 * (cy * a[5, 0] - cx * a[5, 1]) + total * (cx * cx + cy * cy)
    a[5, 0] += cy * total
    a[5, 1] -= cx * total
    b[5] += cy * b[0] - cx * b[1]
    for i in range(n):
        sx, sy = slope[0, i], slope[1, i]
        for j in range(i + 1):
            tx, ty = slope[0, j], slope[1, j]
            a[6 + i, 6 + j] += (
                total * (sx * tx + sy * ty)
                - sx * a[6 + j, 0]
                - sy * a[6 + j, 1]
                - tx * a[6 + i, 0]
                - ty * a[6 + i, 1]
            )
    for i in range(n):
        sx, sy = slope[0, i], slope[1, i]
        a[6 + i, 5] -= sx * a[5, 0] + sy * a[5, 1]
        a[6 + i, 0] -= total * sx
        a[6 + i, 1] -= total * sy
        b[6 + i] -= sx * b[0] + sy * b[1]
    return cost


@compiled
def _com_jacobian(tree: KinematicTree, compensation: ComCompensation, work: Workspace, slope: Array) -> None:
    """Compute how far each joint's rate moves the COG along x and y, times the gain (2, n)."""
    parent, axes = tree.parent, work.axes
    n = len(parent)
    # Mass and first moment of each body with its subtree.
    moment = np.empty((n + 1, 4))
    for k in range(n + 1):
        m = compensation.mass[k]
        moment[k, 0] = m
        for i in range(3):
            com = work.position[k, i]
            for j in range(3):
                com += work.rotation[k, i, j] * compensation.com[k, j]
            moment[k, 1 + i] = m * com
    for k in range(n - 1, -1, -1):
        for i in range(4):
            moment[parent[k], i] += moment[k + 1, i]
    for k in range(n):
        m, x, y, z = moment[k + 1, 0], moment[k + 1, 1], moment[k + 1, 2], moment[k + 1, 3]
        slope[0, k] = compensation.gain[0] * (m * axes[k, 0] + axes[k, 4] * z - axes[k, 5] * y)
        slope[1, k] = compensation.gain[1] * (m * axes[k, 1] + axes[k, 5] * x - axes[k, 3] * z)
