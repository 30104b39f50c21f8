"""Conversion of meshes that Bullet does not read to binary STL files, which are kept in the user's cache."""

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray

from simbench.files.storage import write_whole
from simbench.resources import user_cache_dir
from simbench.robot.meshes.collada import InvalidMeshError
from simbench.robot.meshes.collada_triangles import load_collada_triangles

MESH_READ_ERRORS = (
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
"""Exceptions of trimesh's readers for files whose content does not match the suffix of their name."""
_RULES = 1
"""Raised when another version would write another file."""


def convert_mesh(path: Path) -> Path:
    """Convert a mesh file to a binary STL file, unless the cache holds the result.

    Colours, textures and normals are lost. Polygons are cut into triangles. `path`: A Collada, STL, PLY or
    binary glTF file. Returns an STL file in the user's cache, in the unit and axes of the file. Raises
    OSError if the result cannot be written.
    """
    cache = user_cache_dir()
    if cache is None:
        raise InvalidMeshError("is to be converted, which needs a cache folder: set XDG_CACHE_HOME")
    digest = hashlib.sha256(f"{_RULES} {path.suffix.lower()} ".encode() + path.read_bytes()).hexdigest()
    converted = cache / "simbench" / "meshes" / f"{digest[:32]}.stl"
    if not converted.is_file():
        corners = load_triangles(path)
        if not len(corners):
            raise InvalidMeshError("contains no triangles")
        faces = np.arange(3 * len(corners)).reshape(-1, 3)
        mesh = trimesh.Trimesh(corners.reshape(-1, 3), faces, process=False)
        content: bytes = trimesh.exchange.stl.export_stl(mesh)
        converted.parent.mkdir(parents=True, exist_ok=True)
        write_whole(converted, content)
    return converted


def load_triangles(path: Path) -> NDArray[np.float64]:
    """Load the triangles of a mesh file.

    `path`: an OBJ, STL, Collada, PLY or binary glTF file. Returns (N, 3, 3): corners of each triangle, in the
    unit and axes of the file.
    """
    if path.suffix.lower() == ".dae":
        return load_collada_triangles(path)
    try:
        mesh: Any = trimesh.load(path, process=False, force="mesh")
        return np.array(mesh.triangles, dtype=float).reshape(-1, 3, 3)
    except MESH_READ_ERRORS as error:
        raise InvalidMeshError(f"cannot be read: {str(error).strip() or type(error).__name__}") from error
