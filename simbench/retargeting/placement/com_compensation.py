"""A root that gives way to what its joints do, so that the COG is where it should be.

With the feet on the floor, the pelvis sways against the arms: its way is - c(q), where c is how far the
joints take the COG horizontally, times what the pelvis must go for each metre of the COG, as the legs' own
mass goes along with it only in part. A palm is then at p(q) - c(q) from where the root would be.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.task_matrix import Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, first_joint


class ComCompensation(NamedTuple):
    """What the root's sway is computed from.

    Parameters
    ----------
    mass : (n + 1,) array
        Of each body of the tree, as a part of the whole.
    cog : (n + 1, 3) array
        Of each body, on it, m.
    gain : (2,) array
        How far the root goes, along its x and y, for each metre that it is to take the COG; 0 for a root that
        does not sway.
    middle : (2,) array
        Where the COG is in the root's axes while the root does not sway, m.
    """

    mass: Array
    cog: Array
    gain: Array
    middle: Array


def com_compensation(model: pin.Model, joints: Array, gain: tuple[float, float]) -> ComCompensation:
    """Take the masses out of a model.

    Parameters
    ----------
    model : pinocchio.Model
        With a free-flyer root or a fixed one.
    joints : (n,) array
        With which the root does not sway, rad.
    gain : (float, float)

    Returns
    -------
    ComCompensation
    """
    first = first_joint(model)
    inertias = [model.inertias[joint] for joint in range(first - 1, model.njoints)]
    mass = np.array([inertia.mass for inertia in inertias])
    q = np.concatenate([pin.neutral(model)[: len(pin.neutral(model)) - len(joints)], joints])
    middle = pin.centerOfMass(model, model.createData(), q)[:2] if mass.sum() > 0.0 else np.zeros(2)
    return ComCompensation(
        mass / max(float(mass.sum()), 1e-9),
        np.array([inertia.lever for inertia in inertias]),
        np.array(gain),
        np.asarray(middle).copy(),
    )


@compiled
def swayed(counter: ComCompensation, work: Workspace) -> tuple[float, float]:
    """Compute how far bodies that are in place take the COG along the root's x and y, times the gain, m."""
    x = y = 0.0
    for k in range(len(counter.mass)):
        m = counter.mass[k]
        a, b, c = counter.cog[k, 0], counter.cog[k, 1], counter.cog[k, 2]
        turn, place = work.rotation, work.position
        x += m * (place[k, 0] + turn[k, 0, 0] * a + turn[k, 0, 1] * b + turn[k, 0, 2] * c)
        y += m * (place[k, 1] + turn[k, 1, 0] * a + turn[k, 1, 1] * b + turn[k, 1, 2] * c)
    return counter.gain[0] * (x - counter.middle[0]), counter.gain[1] * (y - counter.middle[1])


@compiled
def swaying_gauss_newton(
    tree: KinematicTree, tasks: Tasks, counter: ComCompensation, points: Array, moved: Array, work: Workspace
) -> float:
    """Compute the normal equations of points for a root that sways against its joints.

    The root's translation v and turn ω about z are given way to by the joints' rates:
    v_root = v - C q̇ + ω (c_y, -c_x), C being the derivative of c. So the matrix A and the vector b of a root
    that does not sway become TᵀAT and Tᵀb.

    Parameters
    ----------
    tree : KinematicTree
    tasks : Tasks
        Points only.
    counter : ComCompensation
    points : (P, 3) array
        Targets from where the root would be without swaying, m, root axes.
    moved : (P, 3) array
        Overwritten.
    work : Workspace
        `rotation` and `position` are read, the root upright at the origin; the rest is overwritten. The rows
        of the root's other two turns are not used.

    Returns
    -------
    float
        Sum of squares, m², weighted.
    """
    cx, cy = swayed(counter, work)
    for k in range(len(points)):
        moved[k, 0], moved[k, 1], moved[k, 2] = points[k, 0] + cx, points[k, 1] + cy, points[k, 2]
    cost = gauss_newton(tree, tasks, moved, np.empty((0, 3, 3)), work)
    if counter.gain[0] == 0.0 and counter.gain[1] == 0.0:
        return cost
    n = len(tree.parent)
    a, b = work.matrix, work.vector
    slope = np.empty((2, n))
    _slopes(tree, counter, work, slope)
    total = a[0, 0]
    # The turn about z first, the joints then.
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
def _slopes(tree: KinematicTree, counter: ComCompensation, work: Workspace, slope: Array) -> None:
    """Write how far each joint's rate moves the COG along x and y, times the gain (2, n)."""
    n = len(tree.parent)
    # Mass and first moment of each body with all that hangs on it.
    moment = np.empty((n + 1, 4))
    for k in range(n + 1):
        m = counter.mass[k]
        moment[k, 0] = m
        for i in range(3):
            place = work.position[k, i]
            for j in range(3):
                place += work.rotation[k, i, j] * counter.cog[k, j]
            moment[k, 1 + i] = m * place
    for k in range(n - 1, -1, -1):
        for i in range(4):
            moment[tree.parent[k], i] += moment[k + 1, i]
    for k in range(n):
        m, x, y, z = moment[k + 1, 0], moment[k + 1, 1], moment[k + 1, 2], moment[k + 1, 3]
        a = work.axes
        slope[0, k] = counter.gain[0] * (m * a[k, 0] + a[k, 4] * z - a[k, 5] * y)
        slope[1, k] = counter.gain[1] * (m * a[k, 1] + a[k, 5] * x - a[k, 3] * z)
