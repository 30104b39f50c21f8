"""Where a robot's root was to be, from the log of a run: on its seat, or standing on the planned feet."""

import numpy as np
import pinocchio as pin
import xarray as xr
from numpy.typing import NDArray

from simbench.robot.robot import Robot


def planned_base(robot: Robot, log: xr.Dataset) -> NDArray[np.float64]:
    """Let the reference sit, or stand on one planned foot after the other, where the reference put it down.

    Balance moves the reference on with what it measures; what the joints then do differently, and that the
    soles give way or slip, is not in it.

    Parameters
    ----------
    robot : Robot
    log : xarray.Dataset
        From `open_run`.

    Returns
    -------
    (T, 7) array
        Pose of the root link at the log's times: x, y, z (m), quaternion x, y, z, w; world. That of the log
        for a robot with a fixed base.
    """
    measured = log["base_pose"].values
    if not robot.floating:
        return np.asarray(measured)
    if log.attrs["seat"]:
        return np.tile(measured[0], (len(measured), 1))
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(robot.frames[role]) for role in robot.feet]
    contact, joints = log["contact_planned"].values, log["joint_reference"].values
    configuration = pin.neutral(model)
    standing, anchor = 0, pin.SE3.Identity()
    base = pin.XYZQUATToSE3(measured[0])
    poses = np.empty_like(measured)
    for sample, row in enumerate(joints):
        configuration[robot.root_q :] = row
        pin.framesForwardKinematics(model, data, configuration)
        # Relative to the root, which is at the model's origin.
        feet = [data.oMf[frame].copy() for frame in frames]
        if sample == 0:
            anchor = base * feet[standing]
        base = anchor * feet[standing].inverse()
        if not contact[sample, standing] and contact[sample].any():
            standing = int(contact[sample].argmax())
            anchor = base * feet[standing]
        poses[sample] = pin.SE3ToXYZQUAT(base)
    return poses
