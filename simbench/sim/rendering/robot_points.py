"""Where a robot's surface is in a posture."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from simbench.robot.inspection.link_extent import shape_points
from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import UrdfLink, read_elements


def link_hulls(robot: Robot) -> dict[str, NDArray[np.float64]]:
    """Corners of the convex hull of what Bullet shows of each link.

    Parameters
    ----------
    robot : Robot

    Returns
    -------
    dict of str to (N, 3) array
        In the link's frame, m; without the links that have no shape that can be measured.
    """
    links = read_elements(ET.fromstring(robot.urdf_text)).links
    clouds = {link.name: _shown(link) for link in links}
    return {name: _hull(np.vstack(parts)) for name, parts in clouds.items() if parts}


def robot_points(
    robot: Robot, hulls: Mapping[str, NDArray[np.float64]], posture: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Corners of a robot in a posture, its root link at the origin.

    Parameters
    ----------
    robot : Robot
    hulls : mapping of str to (N, 3) array
        Of `link_hulls`.
    posture : (n,) array
        Joint positions in the order of `robot.joint_names`, rad.

    Returns
    -------
    (M, 3) array
        m.
    """
    q = pin.neutral(robot.model)
    q[robot.root_q :] = posture
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    poses = {name: data.oMf[robot.model.getFrameId(name, pin.FrameType.BODY)] for name in hulls}
    placed = [points @ poses[name].rotation.T + poses[name].translation for name, points in hulls.items()]
    return np.vstack([np.empty((0, 3)), *placed])


def _shown(link: UrdfLink) -> list[NDArray[np.float64]]:
    """Points of the visible shapes; Bullet shows the collision shapes of a link without any."""
    visual = [shape for shape in link.shapes if shape.role == "visual"]
    # The URDF text names meshes by absolute path.
    clouds = [shape_points(shape, Path("/")) for shape in visual or link.shapes]
    return [cloud for cloud in clouds if cloud is not None]


def _hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        # Flat: no hull, and no need of one.
        return points
