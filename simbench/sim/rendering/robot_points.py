"""Points on the surface of a robot in a posture."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import UrdfLink, read_elements
from simbench.robot.urdf.mesh_files import shape_points


def link_hulls(robot: Robot) -> dict[str, NDArray[np.float64]]:
    """Compute the vertices of the convex hull of each link's visible shapes.

    `robot`: robot with its URDF. Returns dict of str to (N, 3) array: vertices in the link's frame, m, by
    link; without links that have no shape of known extent.
    """
    links = read_elements(ET.fromstring(robot.urdf_text)).links
    clouds = {link.name: _shown(link) for link in links}
    return {name: _hull(np.vstack(parts)) for name, parts in clouds.items() if parts}


def robot_points(
    robot: Robot, hulls: Mapping[str, NDArray[np.float64]], posture: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Compute the hull vertices of all links of a robot in a posture, its root link at the origin.

    `robot`: robot with its kinematic model; `hulls` mapping of str to (N, 3) array: hull vertices of each
    link in its frame, m, from `link_hulls`; `posture` (n,): joint positions in the order of
    `robot.joint_names`, rad. Returns (M, 3): vertices in the root link's frame, m.
    """
    q = pin.neutral(robot.model)
    q[robot.root_q :] = posture
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    poses = {name: data.oMf[robot.model.getFrameId(name, pin.FrameType.BODY)] for name in hulls}
    placed = [points @ poses[name].rotation.T + poses[name].translation for name, points in hulls.items()]
    return np.vstack([np.empty((0, 3)), *placed])


def _shown(link: UrdfLink) -> list[NDArray[np.float64]]:
    """Find points on the shapes of a link that Bullet shows: visual or, without any, collision shapes."""
    visual = [shape for shape in link.shapes if shape.role == "visual"]
    # The URDF text names meshes by absolute path.
    clouds = [shape_points(shape, Path("/")) for shape in visual or link.shapes]
    return [cloud for cloud in clouds if cloud is not None]


def _hull(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Keep those points (N, 3) that are vertices of the convex hull."""
    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except QhullError:
        # The points lie in a plane: Qhull finds no hull, and all points are kept.
        return points
