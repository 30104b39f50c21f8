"""How far a link's shapes reach, from what its URDF says about them."""

import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from simbench.robot.mesh_files import find_file
from simbench.robot.urdf_elements import UrdfLink, UrdfShape

Box = NDArray[np.float64]

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


def link_extent(link: UrdfLink, folder: Path) -> Box | None:
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
    corners = [_corners(shape, folder) for shape in link.shapes]
    known = [points for points in corners if points is not None]
    if not known:
        return None
    points = np.vstack(known)
    return np.array([points.min(axis=0), points.max(axis=0)])


def empty_meshes(link: UrdfLink, folder: Path) -> Iterator[str]:
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
        if path is not None and path.suffix.lower() in (".obj", ".stl") and mesh_bounds(path) is None:
            yield f"link `{link.name}`: {shape.role}: mesh `{shape.file_name}` holds no shape that can be read"


def _corners(shape: UrdfShape, folder: Path) -> NDArray[np.float64] | None:
    bounds = _bounds(shape, folder)
    if bounds is None:
        return None
    corners = np.stack(np.meshgrid(*bounds.T), axis=-1).reshape(-1, 3)
    placed = corners @ pin.rpy.rpyToMatrix(*shape.rpy).T + np.array(shape.xyz)
    return placed if np.isfinite(placed).all() else None


def _bounds(shape: UrdfShape, folder: Path) -> Box | None:
    """Lowest and highest corner in the shape's own frame."""
    if shape.kind == "mesh":
        path = find_file(shape.file_name or "", folder)
        bounds = None if path is None else mesh_bounds(path)
        return None if bounds is None else np.sort(bounds * np.array(shape.scale), axis=0)
    if shape.kind == "box":
        half = 0.5 * np.array(shape.size)
    elif shape.kind == "sphere":
        half = np.full(3, shape.size[0])
    elif shape.kind in ("cylinder", "capsule"):
        radius, length = shape.size
        half = np.array([radius, radius, 0.5 * length + (radius if shape.kind == "capsule" else 0.0)])
    else:
        return None
    return np.array([-half, half])


def mesh_bounds(path: Path) -> Box | None:
    """Box around a mesh file.

    Parameters
    ----------
    path : Path

    Returns
    -------
    (2, 3) array or None
        Lowest and highest corner; None if the file holds no mesh that can be read.
    """
    try:
        bounds = trimesh.load(path, process=False).bounds
    except UNREADABLE:
        return None
    return None if bounds is None else np.asarray(bounds)
