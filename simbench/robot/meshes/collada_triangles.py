"""Triangles of a Collada file, with its polygons cut into triangles and its scene's transforms applied."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.robot.meshes.collada import (
    InvalidMeshError,
    parse_collada,
    read_corners,
    read_numbers,
    read_positions,
    read_whole_numbers,
)

Triangles = NDArray[np.float64]

_MOST_NODES = 10_000


def load_collada_triangles(path: Path) -> Triangles:
    """Load the triangles of a Collada file.

    Polygons are cut into fans of triangles, and their holes filled. Like Bullet and ROS, it leaves the
    vertical axis that the file declares aside; like Bullet, the unit. Returns (N, 3, 3): corners of each
    triangle, in the axes of the scene. Raises InvalidMeshError, RobotError if the file is not a Collada file,
    or its geometry refers to what does not exist.
    """
    root = parse_collada(path)
    meshes = {
        geometry.get("id", ""): np.concatenate([*map(_mesh_triangles, geometry.iterfind("mesh")), _none()])
        for geometry in root.iterfind("library_geometries/geometry")
    }
    found = [_none()]
    for scene in root.iterfind("library_visual_scenes/visual_scene"):
        for node in scene.iterfind("node"):
            for placement, url in _instances(node, np.eye(4)):
                triangles = meshes.get(url.removeprefix("#"))
                if triangles is None:
                    raise InvalidMeshError(f"<instance_geometry>: there is no geometry `{url[:40]}`")
                found.append(triangles @ placement[:3, :3].T + placement[:3, 3])
                if len(found) > _MOST_NODES:
                    raise InvalidMeshError(f"has more than {_MOST_NODES} <instance_geometry>")
    return np.concatenate(found)


def _none() -> Triangles:
    return np.zeros((0, 3, 3))


def _instances(node: ET.Element, above: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], str]]:
    """Pose (4, 4) and name of each geometry that a node and those under it show."""
    here = above
    for element in node:
        if element.tag in ("matrix", "translate", "rotate", "scale"):
            here = here @ _transform(element)
    for element in node:
        if element.tag == "instance_geometry":
            yield here, element.get("url", "")
        elif element.tag == "node":
            yield from _instances(element, here)


def _transform(element: ET.Element) -> NDArray[np.float64]:
    """Matrix (4, 4) of a transform of a node."""
    numbers = read_numbers(element)
    result = np.eye(4)
    if element.tag == "matrix":
        return numbers.reshape(4, 4)
    if element.tag == "translate":
        result[:3, 3] = numbers
    elif element.tag == "scale":
        result[:3, :3] = np.diag(numbers)
    elif np.any(numbers[:3]):
        axis = numbers[:3] / np.linalg.norm(numbers[:3])
        result[:3, :3] = Rotation.from_rotvec(np.radians(numbers[3]) * axis).as_matrix()
    return result


def _mesh_triangles(mesh: ET.Element) -> Triangles:
    """Corners (N, 3, 3) of the triangles of a mesh."""
    positions, vertices = read_positions(mesh)
    parts = [_none()]
    for primitive in mesh:
        for corners, sizes in _polygons(primitive, vertices):
            if len(corners) and corners.max() >= len(positions):
                raise InvalidMeshError(f"<{primitive.tag}> has no vertex {corners.max()}")
            parts.append(positions[corners[_cut(sizes, primitive.tag)]])
    return np.concatenate(parts)


def _polygons(primitive: ET.Element, vertices: str) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Vertices of all polygons of a primitive in a row, and the number of corners of each."""
    if primitive.tag in ("triangles", "polylist"):
        corners = read_corners(primitive, primitive.find("p"), vertices)
        if primitive.tag == "triangles":
            sizes = np.full(len(corners) // 3, 3)
        else:
            sizes = read_whole_numbers(primitive.find("vcount"))
            if sizes.sum() != len(corners):
                raise InvalidMeshError(
                    f"<polylist> has {len(corners)} corners, and {sizes.sum()} in <vcount>"
                )
        yield corners, sizes
    elif primitive.tag in ("polygons", "tristrips", "trifans"):
        for part in (*primitive.iterfind("p"), *primitive.iterfind("ph/p")):
            corners = read_corners(primitive, part, vertices)
            yield corners, np.array([len(corners)])


def _cut(sizes: NDArray[np.int64], kind: str) -> NDArray[np.int64]:
    """Cut polygons of given numbers of corners into triangles (N, 3) of places in their row of corners."""
    triangles = [np.zeros((0, 3), dtype=np.int64)]
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes[sizes >= 3]):
        middle = np.arange(1, size - 1)
        first = middle - 1 if kind == "tristrips" else np.zeros_like(middle)
        fan = np.stack([first, middle, middle + 1], axis=1)
        if kind == "tristrips":
            # Every other triangle of a strip is wound the other way.
            fan[1::2] = fan[1::2, [1, 0, 2]]
        triangles.append((starts[sizes == size][:, None, None] + fan).reshape(-1, 3))
    return np.concatenate(triangles)
