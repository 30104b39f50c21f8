"""How far a link's shapes reach, from what its URDF says about them."""

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from simbench.robot.meshes.mesh_files import find_file
from simbench.robot.urdf.elements import UrdfLink, UrdfShape

Points = NDArray[np.float64]

SEGMENTS = 32
TURN = np.arange(SEGMENTS) * 2.0 * np.pi / SEGMENTS
RIM = np.stack([np.cos(TURN), np.sin(TURN), np.zeros(SEGMENTS)], axis=1)
CUBE = np.stack(np.meshgrid(*[[-1.0, 1.0]] * 3), axis=-1).reshape(-1, 3)
BALL = np.vstack(
    [
        RIM * [np.cos(height), np.cos(height), 0.0] + [0.0, 0.0, np.sin(height)]
        for height in np.linspace(-0.5 * np.pi, 0.5 * np.pi, SEGMENTS // 2 + 1)
    ]
)

# What trimesh's readers raise on files that are not what their names say.
UNREADABLE = (
    ValueError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    ImportError,
    OSError,
    NotImplementedError,
    struct.error,
)


def compute_link_extent(link: UrdfLink, folder: Path) -> Points | None:
    """Box around all shapes of a link, visible or not.

    Parameters
    ----------
    link : UrdfLink
    folder : Path
        From which mesh paths start.

    Returns
    -------
    (2, 3) array or None
        Lowest and highest corner in the link's frame, m; None if no shape can be measured.
    """
    known = [
        points for points in (shape_points(shape, folder) for shape in link.shapes) if points is not None
    ]
    if not known:
        return None
    points = np.vstack(known)
    return np.array([points.min(axis=0), points.max(axis=0)])


def find_empty_meshes(link: UrdfLink, folder: Path) -> Iterator[str]:
    """Say which mesh files are there but hold no shape: Bullet goes on without one and says nothing.

    Parameters
    ----------
    link : UrdfLink
    folder : Path
        From which mesh paths start.

    Yields
    ------
    str
        One line, with the link's name.
    """
    for shape in link.shapes:
        path = find_file(shape.file_name, folder) if shape.file_name else None
        # Collada needs a reader that may not be there.
        if path is not None and path.suffix.lower() in (".obj", ".stl") and mesh_points(path) is None:
            yield f"link `{link.name}`: {shape.role}: mesh `{shape.file_name}` holds nothing that can be read"


def shape_points(shape: UrdfShape, folder: Path) -> Points | None:
    """Points on the surface of a shape, enough of them to tell where it ends.

    Parameters
    ----------
    shape : UrdfShape
    folder : Path
        From which mesh paths start.

    Returns
    -------
    (N, 3) array or None
        In the link's frame, m; None if the shape cannot be measured.
    """
    points = _own_points(shape, folder)
    if points is None:
        return None
    placed = points @ pin.rpy.rpyToMatrix(*shape.rpy).T + np.array(shape.xyz)
    return placed if np.isfinite(placed).all() else None


def _own_points(shape: UrdfShape, folder: Path) -> Points | None:
    if shape.kind == "mesh":
        path = find_file(shape.file_name or "", folder)
        vertices = None if path is None else mesh_points(path)
        return None if vertices is None else vertices * np.array(shape.scale)
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
    """Vertices of a mesh file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    (N, 3) array or None
        None if the file holds no mesh that can be read.
    """
    try:
        mesh: Any = trimesh.load(path, process=False, force="mesh")
    except UNREADABLE:
        return None
    return np.asarray(mesh.vertices) if len(mesh.vertices) else None
