"""Collision shapes of a robot as convex hulls, and which of them come near each other."""

import hashlib
import re
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from simbench.resources import user_cache_dir
from simbench.robot.native_output import quiet_native_output

_FLAT = 1e-6
"""Distance of a mesh's point from the surface of its convex hull that rounding makes, m."""
_BUILT: dict[str, pin.GeometryModel] = {}
_MOST_BUILT = 4
"""Robots whose shapes are kept in memory, for the next that asks for them, and most of them."""
_PART = 50
"""Points of a mesh that are looked at together."""


def build_convex_geometry(model: pin.Model, urdf_text: str) -> pin.GeometryModel:
    """Build the collision shapes of a robot; meshes are replaced by their convex hulls, as in the simulation.

    `urdf_text`: its URDF, with meshes by absolute path. Returns shapes without pairs. Raises ValueError,
    RuntimeError if a mesh has no convex hull.
    """
    key = _content_key(model, urdf_text)
    if key not in _BUILT:
        if len(_BUILT) >= _MOST_BUILT:
            _BUILT.pop(next(iter(_BUILT)))
        _BUILT[key] = _read_kept(key) or _build_and_keep(model, urdf_text, key)
    return _BUILT[key].copy()


def _content_key(model: pin.Model, urdf_text: str) -> str:
    """Compute a key of everything that the shapes follow from, mesh files by size and time of change."""
    meshes = []
    for name in sorted(set(re.findall(r'filename="([^"]+)"', urdf_text))):
        with suppress(OSError):
            status = Path(name).stat()
            meshes.append((name, status.st_size, status.st_mtime_ns))
    frames = [(frame.name, frame.parentJoint) for frame in model.frames]
    return hashlib.sha256(repr((pin.__version__, urdf_text, meshes, frames)).encode()).hexdigest()


def _read_kept(key: str) -> pin.GeometryModel | None:
    """Read shapes that an earlier process kept in the user's cache; None if there are none, or they changed.

    A file is named by its content: what is damaged is not given to the library, which would not notice.
    """
    folder = user_cache_dir()
    for path in sorted((folder / "simbench" / "shapes").glob(f"{key}-*.bin")) if folder else ():
        with suppress(OSError, ValueError, RuntimeError):
            if hashlib.sha256(path.read_bytes()).hexdigest() == path.stem.rpartition("-")[2]:
                geometry = pin.GeometryModel()
                geometry.loadFromBinary(str(path))
                return geometry
    return None


def _build_and_keep(model: pin.Model, urdf_text: str, key: str) -> pin.GeometryModel:
    """Read the collision shapes, replace meshes by their hulls, which takes seconds, and keep the result."""
    geometry = read_collision_geometry(model, urdf_text)
    with quiet_native_output():
        for shape in geometry.geometryObjects:
            if hasattr(shape.geometry, "buildConvexRepresentation"):
                mesh = shape.geometry
                # Coal takes a mesh as it is for convex: in a hollow the search for the farthest point, from
                # neighbour to neighbour, ends too early, and distances come out too large.
                if _is_convex(np.array(mesh.vertices())):
                    mesh.buildConvexRepresentation(False)
                else:
                    mesh.buildConvexHull(True, "Qt")
                shape.geometry = mesh.convex
    folder = user_cache_dir()
    # A folder that cannot be written costs time, not the run.
    with suppress(OSError, RuntimeError):
        if folder is not None and any(hasattr(each.geometry, "points") for each in geometry.geometryObjects):
            (folder / "simbench" / "shapes").mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder / "simbench") as scratch:
                written = Path(scratch) / "shapes.bin"
                geometry.saveToBinary(str(written))
                digest = hashlib.sha256(written.read_bytes()).hexdigest()
                written.replace(folder / "simbench" / "shapes" / f"{key}-{digest}.bin")
    return geometry


def read_collision_geometry(model: pin.Model, urdf_text: str) -> pin.GeometryModel:
    """Read the collision shapes of a robot as they are.

    `urdf_text`: its URDF, with meshes by absolute path. Returns shapes without pairs; meshes with all their
    triangles. Raises ValueError, RuntimeError if a mesh cannot be read.
    """
    with quiet_native_output():
        return pin.buildGeomFromUrdfString(model, urdf_text, pin.GeometryType.COLLISION)


def _is_convex(points: NDArray[np.float64]) -> bool:
    """Whether all points lie on the surface of their convex hull."""
    hull = ConvexHull(points)
    others = np.delete(points, hull.vertices, axis=0)
    normals, offsets = hull.equations[:, :3].T, hull.equations[:, 3]
    # In parts: most meshes that are not convex show it in the first one.
    return all(
        (others[start : start + _PART] @ normals + offsets).max(axis=1).min() > -_FLAT
        for start in range(0, len(others), _PART)
    )


def set_collision_pairs(geometry: pin.GeometryModel, pairs: Iterable[tuple[int, int]]) -> None:
    """Replace the pairs of a geometry model.

    `geometry`: shapes; changed; `pairs`: indices of the shapes of each pair.
    """
    geometry.removeAllCollisionPairs()
    for first, second in pairs:
        geometry.addCollisionPair(pin.CollisionPair(first, second))


def count_near(
    model: pin.Model, geometry: pin.GeometryModel, configurations: NDArray[np.float64], margin: float
) -> NDArray[np.int64]:
    """Count the configurations in which the shapes of each pair are near each other.

    `model`: model of the robot; `geometry`: shapes and P pairs; `configurations` (N, nq): configurations, rad
    or m; `margin`: distance that counts as near, m. Returns (P,) of int.
    """
    counts = np.zeros(len(geometry.collisionPairs), dtype=np.int64)
    if not len(counts):
        return counts
    data, placed = model.createData(), geometry.createData()
    for request in placed.collisionRequests:
        request.security_margin = margin
    for q in configurations:
        if pin.computeCollisions(model, data, geometry, placed, q, False):
            counts += [result.isCollision() for result in placed.collisionResults]
    return counts
