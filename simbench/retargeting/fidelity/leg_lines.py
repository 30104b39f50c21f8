"""Lines of a robot's thighs and shanks: from the hip's centre to the knee, and from there to the ankle."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import frame_poses
from simbench.robot.robot import Robot

_FEWEST_JOINTS = 3
"""A leg has at least a joint at hip, knee and ankle."""


class LegLine(NamedTuple):
    """Centres of a leg's hip, knee and ankle on the links that carry them.

    Parameters
    ----------
    thigh : int
        Id of the frame of the thigh: of the last joint of the hip.
    shank : int
        Id of the frame of the shank: of the knee.
    hip : (3,) array
        Point nearest to the axes of the hip's joints, in the frame of the thigh, m.
    knee : (3,) array
        Point of the knee's axis nearest to the line from hip to ankle, in the frame of the thigh, m.
    shank_knee : (3,) array
        The same point in the frame of the shank, m.
    ankle : (3,) array
        Point nearest to the axes of the ankle's joints, in the frame of the shank, m.
    """

    thigh: int
    shank: int
    hip: Array
    knee: Array
    shank_knee: Array
    ankle: Array

    @property
    def length(self) -> float:
        """Length of the straight leg from hip to ankle, m."""
        return float(np.linalg.norm(self.knee - self.hip) + np.linalg.norm(self.ankle - self.shank_knee))


class LegPath(NamedTuple):
    """Motion of a leg.

    Parameters
    ----------
    hip, knee, ankle : (T, 3) array
        Positions in the world frame, m.
    """

    hip: Array
    knee: Array
    ankle: Array


def find_leg_line(robot: Robot, side: str) -> LegLine | None:
    """Find the centres of a leg's hip, knee and ankle.

    The axes of a hip or an ankle need not meet in a point; its centre is the point with the least sum of
    squared distances from them, with all joints at zero.

    Parameters
    ----------
    robot : Robot
        The robot.
    side : str
        left or right.

    Returns
    -------
    LegLine or None
        None for a robot without such a leg.
    """
    names = robot.groups.get(f"{side}_leg", ())
    if not robot.floating or len(names) < _FEWEST_JOINTS or f"{side}_foot" not in robot.frames:
        return None
    model, data = robot.model, robot.model.createData()
    axes = pin.computeJointJacobians(model, data, pin.neutral(model))[3:]
    leg = [model.getJointId(name) for name in names]
    points = np.array([data.oMi[joint].translation for joint in leg])
    axes = np.array([axes[:, model.joints[joint].idx_v] for joint in leg])
    # The knee is the joint in the middle of the leg.
    middle = int(np.linalg.norm(points[:, None] - points[[0, -1]], axis=2).min(axis=1).argmax())
    if not 0 < middle < len(leg) - 1:
        return None
    hip = _nearest_point(points[:middle][::-1], axes[:middle][::-1])
    ankle = _nearest_point(points[middle + 1 :], axes[middle + 1 :])
    knee = _nearest_on_axis(points[middle], axes[middle], hip, ankle)
    thigh, shank = data.oMi[leg[middle - 1]], data.oMi[leg[middle]]
    return LegLine(
        model.getFrameId(model.names[leg[middle - 1]], pin.FrameType.JOINT),
        model.getFrameId(model.names[leg[middle]], pin.FrameType.JOINT),
        thigh.actInv(hip),
        thigh.actInv(knee),
        shank.actInv(knee),
        shank.actInv(ankle),
    )


def follow_leg(robot: Robot, line: LegLine, path: Array) -> LegPath:
    """Compute the motion of a leg's hip, knee and ankle.

    Parameters
    ----------
    robot : Robot
        The robot.
    line : LegLine
        Centres on its links.
    path : (T, 7 + n) array
        Poses of the root link, and joint positions, as for `frame_poses`.

    Returns
    -------
    LegPath
        Positions in the frame of the root's poses.
    """
    thigh, shank = frame_poses(robot.model, [line.thigh, line.shank], path)
    return LegPath(
        _place(thigh, line.hip),
        _place(thigh, line.knee),
        _place(shank, line.ankle),
    )


def _place(poses: Array, point: Array) -> Array:
    """Positions (T, 3) of a point that is fixed in a frame of poses (T, 4, 4)."""
    return np.asarray(poses[:, :3, :3] @ point + poses[:, :3, 3])


def _nearest_point(points: Array, axes: Array) -> Array:
    """Point (3,) nearest to axes (N, 3) through points (N, 3); of many the one nearest to the first point."""
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    offsets = np.einsum("nij,nj->ni", across, points - points[0])
    offset = np.linalg.lstsq(across.sum(axis=0), offsets.sum(axis=0), rcond=1e-9)[0]
    return np.asarray(points[0] + offset)


def _nearest_on_axis(point: Array, axis: Array, start: Array, end: Array) -> Array:
    """Point (3,) of an axis that is nearest to the line through two points."""
    along = (end - start) / np.linalg.norm(end - start)
    cosine = float(axis @ along)
    offset = point - start
    distance = (cosine * (along @ offset) - axis @ offset) / (1.0 - cosine**2)
    return np.asarray(point + distance * axis)
