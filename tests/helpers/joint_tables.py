"""Denavit-Hartenberg tables in tests: that of ROMEO's upper body, and frames of a table's Pinocchio model."""

from math import pi

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from simbench.robot.dh import BASE, DhJoint, DhRow, DhTable, Sigma, link_name
from simbench.robot.human_skeleton import BASE_JOINTS, UpperBodyLengths, upper_body_joints


def romeo_table(lengths: UpperBodyLengths) -> DhTable:
    """Build the table of ROMEO's upper body on six virtual joints for legs and spine.

    The thesis prints row 6 with q5 instead of q6. At zero joint positions the arms are horizontal forward,
    palms down (the *basic configuration*), and the frames of the trunk and of both hands are parallel to the
    world's. `lengths`: lengths L1 to L9, m. Returns the 25 joints in the thesis's order, then the fixed
    frames `l_hand` and `r_hand`.
    """
    half = pi / 2
    base_rows = (
        (DhRow(), Sigma.PRISMATIC),
        (DhRow(alpha=-half, theta=-half), Sigma.PRISMATIC),
        (DhRow(alpha=-half, theta=-half), Sigma.PRISMATIC),
        (DhRow(alpha=-half), Sigma.REVOLUTE),
        (DhRow(alpha=half, theta=half), Sigma.REVOLUTE),
        (DhRow(alpha=half, theta=half), Sigma.REVOLUTE),
    )
    base = [
        DhJoint(name, parent, row, sigma)
        for name, parent, (row, sigma) in zip(BASE_JOINTS, (BASE, *BASE_JOINTS), base_rows, strict=False)
    ]
    return DhTable((*base, *upper_body_joints(lengths, BASE_JOINTS[-1], DhRow(alpha=half))))


def model_frames(table: DhTable, model: pin.Model, variables: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Compute the frames of all joints of a table by Pinocchio's forward kinematics.

    `model`: model from `table_model`, or read from a URDF that `table_urdf` wrote; `variables` (n,) _like:
    joint variables in the order of `table.moving`, rad or m. Returns dict of str to (4, 4) array: homogeneous
    transforms in the world by joint name. Raises RobotError if the number of variables is not that of the
    moving joints.
    """
    q = pin.neutral(model)
    for name, value in zip(table.moving, np.asarray(variables), strict=True):
        q[model.joints[model.getJointId(name)].idx_q] = value
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return {
        joint.name: data.oMf[model.getFrameId(link_name(joint.name), pin.FrameType.BODY)].homogeneous
        for joint in table.joints
    }
