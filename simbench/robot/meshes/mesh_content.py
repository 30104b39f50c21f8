"""Check of what mesh files hold, before Bullet reads them: its readers trust every index and number."""

import functools
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.meshes.collada import InvalidMeshError, UnreadFormError, measure_collada

LARGEST_FILE = 100_000_000
"""Largest mesh file, bytes."""
MOST_TRIANGLES = 500_000
"""Most triangles of a mesh: Bullet visits all vertices of a collision mesh several times in a step."""
LONGEST_LINE = 4000
"""Longest line of an OBJ file, bytes. Bullet copies parts of a line to buffers of 4096 bytes."""
STL_HEADER, STL_TRIANGLE = 84, 50  # bytes
_TRIANGLE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])


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
            triangles, largest = _measure(path)
        except UnreadFormError:
            # It imports trimesh, which to read most robots takes none of.
            from simbench.robot.meshes.converted import convert_mesh

            file = convert_mesh(path)
            triangles, largest = _measure(file)
    except (InvalidMeshError, RobotError) as error:
        return MeshCheck(str(error).removeprefix(f"{path}: "), 0.0, path)
    except OSError as error:
        return MeshCheck(f"cannot be read: {error.strerror}", 0.0, path)
    if triangles == 0:
        return MeshCheck("contains no triangles", 0.0, path)
    if triangles > MOST_TRIANGLES:
        return MeshCheck(f"has {triangles} triangles; allowed are {MOST_TRIANGLES}", 0.0, path)
    return MeshCheck(None, largest, file)


def _measure(path: Path) -> tuple[int, float]:
    """Count the triangles of a file that Bullet reads, and find its largest coordinate."""
    measure = {".obj": _measure_obj, ".stl": _measure_stl, ".dae": measure_collada}.get(path.suffix.lower())
    if measure is None:
        raise UnreadFormError(f"format `{path.suffix}`")
    return measure(path)


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
    return count, _largest(corners)


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
        _require_existing(corners, limits)
    for library in libraries:
        _check_material_library(path.parent, library)
    _largest(_floats(others))
    return triangles, _largest(_floats(vertices))


def _short_lines(content: bytes) -> list[bytes]:
    """Divide a text file into lines that Bullet's buffers can hold."""
    if b"\0" in content:
        raise InvalidMeshError("contains zero bytes: not a text file")
    lines = content.replace(b"\r", b"\n").split(b"\n") if b"\r\n" not in content else content.splitlines()
    longest = max(map(len, lines), default=0)
    if longest > LONGEST_LINE:
        raise InvalidMeshError(f"has a line of {longest} bytes; allowed are {LONGEST_LINE}")
    return lines


def _require_existing(corners: Iterable[bytes], limits: tuple[int, ...]) -> None:
    """Refuse corners of faces whose vertex, texture point or normal is not among those of the lines above."""
    for corner in corners:
        for index, limit in zip(corner.split(b"/"), limits, strict=False):
            try:
                value = int(index) if index else 1
            except ValueError:
                value = 0
            if index and not 1 <= abs(value) <= limit:
                text = index[:20].decode(errors="replace")
                raise InvalidMeshError(f"a face has the index {text}; the lines above it have {limit}")


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


def _floats(parts: list[bytes]) -> NDArray[np.float64]:
    """Read numbers; NaN stands for what is none."""
    if any(b"_" in part for part in parts):
        return np.array([np.nan])
    try:
        return np.array(parts, dtype=float)
    except ValueError:
        return np.array([np.nan])


def _largest(numbers: NDArray[np.float64]) -> float:
    """Find the largest coordinate; all must be finite."""
    if not np.isfinite(numbers).all():
        raise InvalidMeshError("a coordinate is not a finite number")
    return float(np.abs(numbers).max(initial=0.0))
