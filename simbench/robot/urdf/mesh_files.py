"""Check of mesh files before Bullet reads them, conversion of those it does not read, and their points."""

import functools
import hashlib
import os
import struct
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.files.storage import write_whole
from simbench.resources import user_cache_dir
from simbench.robot.packages import find_file
from simbench.robot.urdf.collada import (
    LARGEST_FILE,
    InvalidMeshError,
    UnreadFormError,
    load_collada_triangles,
    measure_collada,
)
from simbench.robot.urdf.elements import LARGEST_LENGTH, UrdfLink, UrdfShape
from simbench.system.limits import MOST_NUMBERS, require_at_most

# Most triangles of a mesh: Bullet visits all vertices of a collision mesh several times in a step.
MOST_TRIANGLES = 500_000
# Longest line of an OBJ file, bytes. Bullet copies parts of a line to buffers of 4096 bytes.
LONGEST_LINE = 4000
STL_HEADER, STL_TRIANGLE = 84, 50  # bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])

FORMATS = (".obj", ".stl", ".dae", ".ply", ".glb")
# Longest path of a mesh, bytes. Bullet reads lines, and keeps paths, of at most 1023 bytes.
LONGEST_PATH = 800


class MeshCheck(NamedTuple):
    """What is known of a mesh file."""

    error: str | None  # Reason why it cannot be used; None if it can.
    largest: float  # Largest coordinate of a vertex, in the file's unit; 0 if it cannot be used.
    # File that Bullet reads: the mesh file itself, or an STL file in the cache that was made from it.
    file: Path


def check_mesh(path: Path) -> MeshCheck:
    """Check that a mesh file holds triangles, finite numbers and indices of existing vertices.

    `path`: an OBJ, STL, Collada, PLY or binary glTF file. One that Bullet does not read, as a text STL or a
    Collada file with polygons, is converted once, and the result kept in the cache. Returns the reason why it
    cannot be used, or its largest coordinate and the file that Bullet reads.
    """
    if path.suffix.lower() not in FORMATS:
        return MeshCheck(f"format `{path.suffix}` is none of {', '.join(FORMATS)}", 0.0, path)
    if len(os.fsencode(path)) > LONGEST_PATH:
        return MeshCheck(f"its path is longer than {LONGEST_PATH} bytes", 0.0, path)
    try:
        status = path.stat()
    except OSError as error:
        return MeshCheck(f"cannot be read: {error.strerror}", 0.0, path)
    return _check(path, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=4096)
def _check(path: Path, _changed: int, size: int) -> MeshCheck:
    """Check a file; what is known of it holds until it changes."""
    if size > LARGEST_FILE:
        return MeshCheck(f"larger than {LARGEST_FILE // 1_000_000} MB", 0.0, path)
    file = path
    try:
        try:
            measure = _MEASURES.get(path.suffix.lower())
            if measure is None:
                raise UnreadFormError(f"format `{path.suffix}`")
            triangles, largest = measure(path)
        except UnreadFormError:
            file = convert_mesh(path)
            triangles, largest = _measure_stl(file)
    except (InvalidMeshError, RobotError) as error:
        return MeshCheck(str(error).removeprefix(f"{path}: "), 0.0, path)
    except OSError as error:
        return MeshCheck(f"cannot be read: {error.strerror}", 0.0, path)
    if triangles == 0:
        return MeshCheck("contains no triangles", 0.0, path)
    if triangles > MOST_TRIANGLES:
        return MeshCheck(f"has {triangles} triangles; allowed are {MOST_TRIANGLES}", 0.0, path)
    return MeshCheck(None, largest, file)


def _measure_stl(path: Path) -> tuple[int, float]:
    """Count the triangles of a binary STL file, and find its largest coordinate."""
    content = path.read_bytes()
    binary = len(content) >= STL_HEADER
    count = struct.unpack_from("<I", content, STL_HEADER - 4)[0] if binary else 0
    if not binary or len(content) != STL_HEADER + STL_TRIANGLE * count:
        if content.lstrip()[:5] == b"solid" and b"facet" in content:
            # Bullet reads a text STL as an empty mesh, without a message.
            raise UnreadFormError("an STL in text form")
        if not binary:
            raise InvalidMeshError(f"{len(content)} bytes are no STL file, which begins with {STL_HEADER}")
        expected = STL_HEADER + STL_TRIANGLE * count
        raise InvalidMeshError(
            f"an STL file of {count} triangles has {expected} bytes; this one has {len(content)}"
        )
    # Some bit patterns of NaN are reported when they are converted; all of them are found below.
    with np.errstate(invalid="ignore"):
        corners = np.frombuffer(content, _TRIANGLE, count, STL_HEADER)["corners"].astype(float)
    if not np.isfinite(corners).all():
        raise InvalidMeshError("a coordinate is not a finite number")
    return count, float(np.abs(corners).max(initial=0.0))


def _measure_obj(path: Path) -> tuple[int, float]:
    """Count the triangles of an OBJ file, and find its largest coordinate."""
    content = path.read_bytes()
    lines = _short_lines(content)
    counts = {b"v": 0, b"vt": 0, b"vn": 0}
    vertices: list[bytes] = []
    others: list[bytes] = []
    libraries: list[bytes] = []
    # Corners of the faces between two vertices, and the numbers of vertices, texture points and normals.
    groups: list[tuple[set[bytes], tuple[int, ...]]] = []
    triangles = 0
    for number, line in enumerate(lines, start=1):
        key, *values = line.split() or [b""]
        if key == b"f":
            if len(values) < 2:
                raise InvalidMeshError(f"line {number}: a face of {len(values)} corners")
            if not groups or groups[-1][1] != tuple(counts.values()):
                groups.append((set(), tuple(counts.values())))
            groups[-1][0].update(values)
            triangles += len(values) - 2
        elif key in counts:
            counts[key] += 1
            needed = 2 if key == b"vt" else 3
            if len(values) < needed:
                raise InvalidMeshError(f"line {number}: {key.decode()} needs {needed} numbers")
            (vertices if key == b"v" else others).extend(values[:needed])
        elif key == b"mtllib":
            libraries += values
    for corners, limits in groups:
        # The vertex, texture point or normal of a corner must be among those of the lines above.
        parts = (zip(corner.split(b"/"), limits, strict=False) for corner in corners)
        for index, limit in chain.from_iterable(parts):
            try:
                value = int(index) if index else 1
            except ValueError:
                value = 0
            if index and not 1 <= abs(value) <= limit:
                text = index[:20].decode(errors="replace")
                raise InvalidMeshError(f"a face has the index {text}; the lines above it have {limit}")
    for library in libraries:
        _check_material_library(path.parent, library)
    _largest(others)
    return triangles, _largest(vertices)


_MEASURES = {".obj": _measure_obj, ".stl": _measure_stl, ".dae": measure_collada}


def _short_lines(content: bytes) -> list[bytes]:
    """Divide a text file into lines that Bullet's buffers can hold."""
    if b"\0" in content:
        raise InvalidMeshError("contains zero bytes: not a text file")
    if content.count(b"\n") + content.count(b"\r") > 10 * MOST_TRIANGLES:
        raise InvalidMeshError(f"has too many lines; allowed are {10 * MOST_TRIANGLES}")
    lines = content.replace(b"\r", b"\n").split(b"\n") if b"\r\n" not in content else content.splitlines()
    longest = max(map(len, lines), default=0)
    if longest > LONGEST_LINE:
        raise InvalidMeshError(f"has a line of {longest} bytes; allowed are {LONGEST_LINE}")
    return lines


def _check_material_library(folder: Path, name: bytes) -> None:
    """Check the lines of a file with an OBJ file's materials; one that does not exist is no error."""
    try:
        path = folder / name.decode()
        if path.exists() and not path.is_file():
            # Bullet would try to read a folder, and wait for a pipe.
            raise InvalidMeshError("is not a file")
        if path.is_file():
            if path.stat().st_size > LARGEST_FILE:
                raise InvalidMeshError(f"larger than {LARGEST_FILE // 1_000_000} MB")
            _short_lines(path.read_bytes())
    except (OSError, UnicodeDecodeError, InvalidMeshError) as error:
        raise InvalidMeshError(f"materials `{name[:40].decode(errors='replace')}`: {error}") from error


def _largest(parts: list[bytes]) -> float:
    """Find the largest of coordinates that are written as text; all must be finite numbers."""
    try:
        numbers = np.array([b"nan"] if any(b"_" in part for part in parts) else parts, dtype=float)
    except ValueError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InvalidMeshError("a coordinate is not a finite number")
    return float(np.abs(numbers).max(initial=0.0))


# Exceptions of trimesh's readers for files whose content does not match the suffix of their name.
MESH_READ_ERRORS = (
    *(ValueError, TypeError, IndexError, KeyError, AttributeError),
    *(ImportError, OSError, NotImplementedError, NameError, struct.error),
)
_RULES = 1  # Raised when another version would write another file.


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
        # Its import takes a third of a second, which most robots need not.
        import trimesh

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
    # Its import takes a third of a second, which most robots need not.
    import trimesh

    try:
        mesh: Any = trimesh.load(path, process=False)
        if isinstance(mesh, trimesh.Scene):
            # One mesh may be shown many times.
            shown = [mesh.geometry[mesh.graph[node][1]] for node in mesh.graph.nodes_geometry]
            count = 9 * sum(len(getattr(each, "faces", ())) for each in shown)
            require_at_most(count, MOST_NUMBERS, f"{path.name}: numbers", InvalidMeshError)
            mesh = mesh.to_mesh()
        return np.array(mesh.triangles, dtype=float).reshape(-1, 3, 3)
    except MESH_READ_ERRORS as error:
        raise InvalidMeshError(f"cannot be read: {str(error).strip() or type(error).__name__}") from error


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
    points = [each for shape in link.shapes if (each := shape_points(shape, folder)) is not None]
    return np.array([np.vstack(points).min(axis=0), np.vstack(points).max(axis=0)]) if points else None


def shape_points(shape: UrdfShape, folder: Path) -> Points | None:
    """Compute points on the surface of a shape, enough to determine its extent.

    `folder`: folder of the URDF, to which mesh paths are relative. Returns (N, 3) or None: points in the
    link's frame, m; None if the shape cannot be measured.
    """
    numbers = np.array([*shape.size, *shape.scale, *shape.xyz, *shape.rpy])
    points: Points | None = None
    if not (np.abs(numbers) <= LARGEST_LENGTH).all():
        return None
    if shape.kind == "mesh":
        path = find_file(shape.file_name or "", folder)
        vertices = None if path is None else mesh_points(path)
        if vertices is not None and np.abs(vertices).max() * max(map(abs, shape.scale)) <= LARGEST_LENGTH:
            points = vertices * np.array(shape.scale)
    elif shape.kind == "box":
        points = 0.5 * np.array(shape.size) * CUBE
    elif shape.kind == "sphere":
        points = shape.size[0] * BALL
    elif shape.kind in ("cylinder", "capsule"):
        radius, length = shape.size
        round_part = radius * (BALL if shape.kind == "capsule" else RIM)
        upward = np.array([0.0, 0.0, 0.5 * length])
        points = np.vstack([round_part + upward, round_part - upward])
    return None if points is None else points @ pin.rpy.rpyToMatrix(*shape.rpy).T + np.array(shape.xyz)


def mesh_points(path: Path) -> Points | None:
    """Read the vertices of a mesh file.

    Returns (N, 3) or None: vertices in the file's unit; None if the file contains no mesh that can be read.
    """
    check = check_mesh(path)
    if check.error:
        return None
    try:
        vertices = load_triangles(check.file).reshape(-1, 3)
    except InvalidMeshError:
        return None
    return vertices if len(vertices) else None
