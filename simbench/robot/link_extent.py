"""The extent of a link's shapes, from its URDF and its mesh files."""

from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.meshes.collada import InvalidMeshError
from simbench.robot.meshes.converted import load_triangles
from simbench.robot.meshes.mesh_content import check_mesh
from simbench.robot.meshes.mesh_files import find_file, find_mesh_format_error
from simbench.robot.urdf.elements import LARGEST_LENGTH, UrdfLink, UrdfShape

Points = NDArray[np.float64]

SEGMENTS = 32
ANGLES = np.arange(SEGMENTS) * 2.0 * np.pi / SEGMENTS
RIM = np.stack([np.cos(ANGLES), np.sin(ANGLES), np.zeros(SEGMENTS)], axis=1)
CUBE = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
BALL = np.vstack(
    [
        RIM * [np.cos(height), np.cos(height), 0.0] + [0.0, 0.0, np.sin(height)]
        for height in np.linspace(-0.5 * np.pi, 0.5 * np.pi, SEGMENTS // 2 + 1)
    ]
)


def compute_link_extent(link: UrdfLink, folder: Path) -> Points | None:
    """Compute the bounding box of all visual and collision shapes of a link.

    `folder`: folder of the URDF, to which mesh paths are relative. Returns (2, 3) or None: lowest and highest
    corner in the link's frame, m; None if no shape can be measured.
    """
    known = [
        points for points in (shape_points(shape, folder) for shape in link.shapes) if points is not None
    ]
    if not known:
        return None
    points = np.vstack(known)
    return np.array([points.min(axis=0), points.max(axis=0)])


def shape_points(shape: UrdfShape, folder: Path) -> Points | None:
    """Compute points on the surface of a shape, enough to determine its extent.

    `folder`: folder of the URDF, to which mesh paths are relative. Returns (N, 3) or None: points in the
    link's frame, m; None if the shape cannot be measured.
    """
    numbers = np.array([*shape.size, *shape.scale, *shape.xyz, *shape.rpy])
    points = _local_points(shape, folder) if (np.abs(numbers) <= LARGEST_LENGTH).all() else None
    if points is None:
        return None
    return points @ pin.rpy.rpyToMatrix(*shape.rpy).T + np.array(shape.xyz)


def _local_points(shape: UrdfShape, folder: Path) -> Points | None:
    """Points on the surface in the axes of the shape, m."""
    if shape.kind == "mesh":
        path = find_file(shape.file_name or "", folder)
        vertices = None if path is None else mesh_points(path)
        if vertices is None or np.abs(vertices).max() * max(map(abs, shape.scale)) > LARGEST_LENGTH:
            return None
        return vertices * np.array(shape.scale)
    if shape.kind == "box":
        return 0.5 * np.array(shape.size) * CUBE
    if shape.kind == "sphere":
        return shape.size[0] * BALL
    if shape.kind in ("cylinder", "capsule"):
        radius, length = shape.size
        round_part = radius * (BALL if shape.kind == "capsule" else RIM)
        upward = np.array([0.0, 0.0, 0.5 * length])
        return np.vstack([round_part + upward, round_part - upward])
    return None


def mesh_points(path: Path) -> Points | None:
    """Read the vertices of a mesh file.

    Returns (N, 3) or None: vertices in the file's unit; None if the file contains no mesh that can be read.
    """
    if find_mesh_format_error(path):
        return None
    try:
        vertices = load_triangles(check_mesh(path).file).reshape(-1, 3)
    except InvalidMeshError:
        return None
    return vertices if len(vertices) else None
