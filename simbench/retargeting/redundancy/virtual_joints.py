"""Virtual joints of legs and spine (Tomić 2018): three prismatic and three revolute joints of a root."""

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.joint_inertia import BodyMasses
from simbench.kinematics.tree import KinematicTree
from simbench.robot.dh.romeo_table import BASE_JOINTS

_COUNT = len(BASE_JOINTS)


def tree_on_virtual_joints(tree: KinematicTree) -> KinematicTree:
    """Let the root of a tree translate along z, y, x and rotate by yaw, roll and pitch, about z, x and y.

    Parameters
    ----------
    tree : KinematicTree
        Tree of n bodies on a root.

    Returns
    -------
    KinematicTree
        Tree of 6 + n bodies, the virtual joints first.
    """
    z, y, x = np.eye(3)[::-1]
    return KinematicTree(
        np.concatenate([np.arange(_COUNT), tree.parent + _COUNT]),
        np.concatenate([np.tile(np.eye(3), (_COUNT, 1, 1)), tree.rotation]),
        np.concatenate([np.zeros((_COUNT, 3)), tree.translation]),
        np.concatenate([np.array([z, y, x, z, x, y]), tree.axis]),
        np.concatenate([np.arange(_COUNT) < 3, tree.sliding]),
    )


def masses_on_virtual_joints(masses: BodyMasses) -> BodyMasses:
    """Add the massless bodies between the virtual joints.

    Parameters
    ----------
    masses : BodyMasses
        Masses of the root's body and of those it carries.

    Returns
    -------
    BodyMasses
        Masses of the bodies of the tree on virtual joints.
    """
    return BodyMasses(
        np.concatenate([np.zeros(_COUNT), masses.mass]),
        np.concatenate([np.zeros((_COUNT, 3)), masses.centre]),
        np.concatenate([np.zeros((_COUNT, 3, 3)), masses.inertia]),
    )


def joints_that_carry(tree: KinematicTree, body: int) -> NDArray[np.bool_]:
    """Find the joints that move a body.

    Parameters
    ----------
    tree : KinematicTree
        Tree with n joints.
    body : int
        Index of the body; 0 is the root.

    Returns
    -------
    (n,) bool array
        Whether each joint moves it.
    """
    moved = np.zeros(len(tree.parent), dtype=bool)
    while body > 0:
        moved[body - 1] = True
        body = int(tree.parent[body - 1])
    return moved
