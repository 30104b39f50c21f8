"""The motion of a robot's links in the world, from its joint trajectory."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.kinematics.rotation import continuous_quaternions
from simbench.kinematics.tree import frame_poses
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot

Array = NDArray[np.float64]


class LinkMotion(NamedTuple):
    """Poses of B links in T samples."""

    names: tuple[str, ...]  # Names of the links, the root link first.
    position: Array  # (T, B, 3): positions in the world, m.
    quaternion: Array  # (T, B, 4): orientations in the world, x, y, z, w.


def compute_link_motion(trajectory: JointTrajectory, robot: Robot) -> LinkMotion:
    """Compute the poses of all links by forward kinematics.

    `trajectory`: the motion, joints in the order of the robot.
    """
    model = robot.model
    frames = [
        index
        for index, frame in enumerate(model.frames)
        if frame.type == pin.FrameType.BODY and frame.name != "universe"
    ]
    base = np.empty((len(trajectory.q), 0)) if trajectory.base is None else trajectory.base
    poses = np.array(frame_poses(model, frames, np.hstack([base, trajectory.q])))
    turned = Rotation.from_matrix(poses[..., :3, :3].reshape(-1, 3, 3)).as_quat()
    quaternion = turned.reshape(len(frames), -1, 4).transpose(1, 0, 2)
    names = tuple(model.frames[index].name for index in frames)
    return LinkMotion(names, poses[..., :3, 3].transpose(1, 0, 2), continuous_quaternions(quaternion))


def rate_of_change(values: Array, rate: float) -> Array:
    """Differentiate evenly spaced samples by central differences, at the ends by one-sided ones.

    `values` (T, ...): the samples, two or more; `rate`: samples per second. Returns (T, ...): derivatives per
    second.
    """
    return np.asarray(np.gradient(values, 1.0 / rate, axis=0))


def angular_velocity(quaternion: Array, rate: float) -> Array:
    """Compute angular velocities in the world, by central differences, at the ends by one-sided ones.

    `quaternion` (T, B, 4): orientations in the world, x, y, z, w, in two or more evenly spaced samples;
    `rate`: samples per second. Returns (T, B, 3): angular velocities, rad/s.
    """
    samples = np.arange(len(quaternion))
    before, after = np.maximum(samples - 1, 0), np.minimum(samples + 1, samples[-1])
    first, second = (Rotation.from_quat(quaternion[each].reshape(-1, 4)) for each in (before, after))
    turned = (second * first.inv()).as_rotvec().reshape(*quaternion.shape[:2], 3)
    return turned * (rate / (after - before))[:, None, None]
