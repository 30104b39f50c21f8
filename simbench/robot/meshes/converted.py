"""Conversion of meshes that Bullet does not read to binary STL files, which are kept in the user's cache."""

import hashlib
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from simbench.files.storage.whole_file import write_whole
from simbench.resources import user_cache_dir
from simbench.robot.meshes.collada import InvalidMeshError

_RULES = 1
"""Raised when another version would write another file."""


def convert_mesh(path: Path) -> Path:
    """Convert a mesh file to a binary STL file, unless the cache holds the result.

    Colours, textures and normals are lost. Polygons are cut into triangles.

    Parameters
    ----------
    path : Path
        A Collada, STL, PLY or binary glTF file.

    Returns
    -------
    Path
        An STL file in the user's cache, in the unit and axes of the file.

    Raises
    ------
    InvalidMeshError
        If the file cannot be read, or there is no cache.
    OSError
        If the result cannot be written.
    """
    cache = user_cache_dir()
    if cache is None:
        raise InvalidMeshError("is to be converted, which needs a cache folder: set XDG_CACHE_HOME")
    digest = hashlib.sha256(f"{_RULES} {path.suffix.lower()} ".encode() + path.read_bytes()).hexdigest()
    converted = cache / "simbench" / "meshes" / f"{digest[:32]}.stl"
    if not converted.is_file():
        loaded = _load(path)
        triangles = [loaded.tri_indices(each) for each in range(loaded.num_tris)]
        corners = np.array([[each[0], each[1], each[2]] for each in triangles]).reshape(-1, 3)
        content: bytes = trimesh.exchange.stl.export_stl(
            trimesh.Trimesh(loaded.vertices(), corners, process=False)
        )
        converted.parent.mkdir(parents=True, exist_ok=True)
        write_whole(converted, content)
    return converted


def load_vertices(path: Path) -> NDArray[np.float64]:
    """Load the vertices of a mesh file with the reader of Pinocchio's collision library, Assimp.

    Like Bullet and ROS, it leaves the vertical axis that a Collada file declares aside.

    Parameters
    ----------
    path : Path
        An OBJ, STL, Collada, PLY or binary glTF file.

    Returns
    -------
    (N, 3) array
        In the file's unit.

    Raises
    ------
    InvalidMeshError
        If it cannot be read.
    """
    return np.array(_load(path).vertices(), dtype=float)


def _load(path: Path) -> pin.coal.BVHModelBase:
    """Load a mesh file."""
    try:
        return pin.coal.MeshLoader().load(str(path), np.ones(3))
    except (ValueError, RuntimeError) as error:
        message = str(error).partition("message: ")[2].partition("\nHint")[0]
        reason = message.rpartition("\n")[2].replace(str(path), path.name)
        raise InvalidMeshError(f"cannot be read: {reason}") from error
