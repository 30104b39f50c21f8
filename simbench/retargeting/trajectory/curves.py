"""Robot trajectories as curves of time with continuous second derivatives: joints, base, and the soles."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES


class SolePath(NamedTuple):
    """Motion of both soles, left and right, in the world frame.

    Parameters
    ----------
    position : (T, 2, 3) array
        Positions of the foot frames, m.
    yaw : (T, 2) array
        Directions of their x axes about the vertical, rad, without jumps.
    tilt : (T, 2) array
        Angle between each sole and the floor, rad.
    corners : tuple of two (T, P, 3) arrays
        Corners of the left and the right sole, m.
    """

    position: Array
    yaw: Array
    tilt: Array
    corners: tuple[Array, Array]

    @property
    def clearance(self) -> Array:
        """Height of the lowest corner of each sole, (T, 2), m."""
        return np.stack([corners[:, :, 2].min(axis=1) for corners in self.corners], axis=1)

    def first(self, count: int) -> "SolePath":
        """Take the first samples.

        Parameters
        ----------
        count : int
            Number of samples.

        Returns
        -------
        SolePath
            These samples.
        """
        left, right = (corners[:count] for corners in self.corners)
        return SolePath(self.position[:count], self.yaw[:count], self.tilt[:count], (left, right))


def continuous_quaternions(quaternion: Array) -> Array:
    """Choose the signs of unit quaternions so that they have no jumps.

    Parameters
    ----------
    quaternion : (T, 4) array
        Unit quaternions.

    Returns
    -------
    (T, 4) array
        The same orientations, each quaternion on the side of the one before.
    """
    same = np.sum(quaternion[1:] * quaternion[:-1], axis=1) >= 0.0
    sign = np.concatenate([[1.0], np.cumprod(np.where(same, 1.0, -1.0))])
    return np.asarray(quaternion * sign[:, None])


def fit_curve(time: Array, values: Array) -> BSpline:
    """Interpolate samples by a curve with a continuous second derivative.

    Parameters
    ----------
    time : (T,) array
        Times of the samples, s, T ≥ 4.
    values : (T, k) array
        Samples.

    Returns
    -------
    scipy.interpolate.BSpline
        Cubic spline through all samples.
    """
    return make_interp_spline(time, values, k=3)


def sample_configurations(trajectory: JointTrajectory, time: Array) -> Array:
    """Interpolate a trajectory with a base.

    Parameters
    ----------
    trajectory : JointTrajectory
        Motion with a base, n joints.
    time : (N,) array
        Times at which to sample it, s, between its first and its last.

    Returns
    -------
    (N, 7 + n) array
        Pose of the root link (position, m, and unit quaternion x, y, z, w), then joint positions, rad.
    """
    assert trajectory.base is not None
    base = np.hstack([trajectory.base[:, :3], continuous_quaternions(trajectory.base[:, 3:])])
    q = fit_curve(trajectory.time, np.hstack([base, trajectory.q]))(time)
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    return np.asarray(q)


def compute_soles(robot: Robot, q: Array) -> SolePath:
    """Compute where the soles are.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    q : (T, 7 + n) array
        Configurations: root pose and joint positions.

    Returns
    -------
    SolePath
        Motion of both soles.
    """
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES]
    position, rotation = np.empty((len(q), 2, 3)), np.empty((len(q), 2, 3, 3))
    for sample, configuration in enumerate(q):
        pin.forwardKinematics(model, data, configuration)
        for foot, frame in enumerate(frames):
            pose = pin.updateFramePlacement(model, data, frame)
            position[sample, foot], rotation[sample, foot] = pose.translation, pose.rotation
    corners = tuple(
        position[:, foot, None] + robot.soles[f"{side}_foot"] @ rotation[:, foot].transpose(0, 2, 1)
        for foot, side in enumerate(SIDES)
    )
    yaw = np.unwrap(np.arctan2(rotation[:, :, 1, 0], rotation[:, :, 0, 0]), axis=0)
    # The right foot's turn is the nearest one to the left foot's.
    yaw[:, 1] += 2.0 * np.pi * np.round((yaw[0, 0] - yaw[0, 1]) / (2.0 * np.pi))
    tilt = np.arctan2(np.linalg.norm(rotation[:, :, :2, 2], axis=2), rotation[:, :, 2, 2])
    return SolePath(position, yaw, tilt, (corners[0], corners[1]))


def cog_heights(robot: Robot, q: Array) -> Array:
    """Compute the height of the COG.

    Parameters
    ----------
    robot : Robot
        Robot with a free root.
    q : (T, 7 + n) array
        Configurations: root pose and joint positions.

    Returns
    -------
    (T,) array
        Height of the COG in the world frame, m.
    """
    data = robot.model.createData()
    return np.array([pin.centerOfMass(robot.model, data, each)[2] for each in q])


Flags = NDArray[np.bool_]
"""Whether each foot is in contact, (T, 2)."""
