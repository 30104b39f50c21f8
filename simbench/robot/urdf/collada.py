"""Collada files: a check that what Bullet's reader takes for granted is there, and their triangles.

trimesh reads the same triangles, but with coordinates and transforms of single precision: of 274 files of
robots, the bounds of 236 differ by more than 1e-9 m, by up to 1.4e-6 m; of one, it finds no triangles.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import RobotError
from simbench.files.xml_document import read_xml

LARGEST_FILE = 100_000_000  # Largest file, bytes.
_POLYGONS = ("polylist", "polygons", "tristrips", "trifans")
# Transforms of a node, and how many numbers each has.
_TRANSFORMS = {"matrix": 16, "rotate": 4, "translate": 3, "scale": 3}
_MOST_NODES = 10_000
_NONE = np.zeros((0, 3, 3))


class InvalidMeshError(Exception):
    """A mesh file that cannot be used, with the reason."""


class UnreadFormError(InvalidMeshError):
    """A mesh file in a form that Bullet does not read, and that may be converted."""


def measure_collada(path: Path) -> tuple[int, float]:
    """Count the triangles of a Collada file, and find its largest coordinate.

    Returns `triangles`: number of triangles in all geometries; `largest`: largest coordinate of a vertex, in
    the file's unit. Raises InvalidMeshError, RobotError if the file is not a Collada file, or something that
    Bullet needs is missing or wrong; `UnreadFormError` if it has polygons.
    """
    root = parse_collada(path)
    unit, up = root.find("asset/unit"), root.find("asset/up_axis")
    if unit is not None and unit.get("meter") is not None:
        metre = _numbers(unit.get("meter") or "", "unit")
        if len(metre) != 1 or not metre[0] > 0.0:
            raise InvalidMeshError(f'unit: meter="{unit.get("meter")}" is not a positive number')
    if up is not None:
        _text(up)
    # How far the transforms of the nodes can move a unit of length, at most.
    scaling = 1.0
    for element in _child(_child(root, "library_visual_scenes"), "visual_scene").iter():
        if element.tag in _TRANSFORMS:
            scaling = max(scaling, float(np.abs(_transform_numbers(element)).max()))
        elif element.tag == "instance_geometry":
            _attribute(element, "url")
    triangles, largest = 0, 0.0
    polygons: set[str] = set()
    for geometry in _child(root, "library_geometries").iterfind("geometry"):
        _attribute(geometry, "id")
        for mesh in geometry.iterfind("mesh"):
            count, coordinate = _measure_mesh(mesh)
            triangles, largest = triangles + count, max(largest, coordinate)
            polygons |= {each.tag for each in mesh if each.tag in _POLYGONS}
    if polygons:
        raise UnreadFormError(f"has <{min(polygons)}>, of which Bullet reads none")
    return triangles, largest * scaling


def parse_collada(path: Path) -> ET.Element:
    """Parse a Collada file.

    Returns the element `<COLLADA>`; tags without namespaces. Raises InvalidMeshError, RobotError if the file
    is not XML, or something else than Collada.
    """
    root = read_xml(path, RobotError, LARGEST_FILE)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    if root.tag != "COLLADA":
        raise InvalidMeshError(f"expected <COLLADA> as the outermost element, found <{root.tag}>")
    return root


def load_collada_triangles(path: Path) -> NDArray[np.float64]:
    """Load the triangles of a Collada file.

    Polygons are cut into fans of triangles, and their holes filled. Like Bullet and ROS, it leaves the
    vertical axis that the file declares aside; like Bullet, the unit. Returns (N, 3, 3): corners of each
    triangle, in the axes of the scene. Raises InvalidMeshError, RobotError if the file is not a Collada file,
    or its geometry refers to what does not exist.
    """
    root = parse_collada(path)
    meshes = {
        geometry.get("id", ""): np.concatenate([*map(_mesh_triangles, geometry.iterfind("mesh")), _NONE])
        for geometry in root.iterfind("library_geometries/geometry")
    }
    found = [_NONE]
    for node in root.iterfind("library_visual_scenes/visual_scene/node"):
        for placement, url in _instances(node, np.eye(4)):
            triangles = meshes.get(url.removeprefix("#"))
            if triangles is None:
                raise InvalidMeshError(f"<instance_geometry>: there is no geometry `{url[:40]}`")
            found.append(triangles @ placement[:3, :3].T + placement[:3, 3])
            if len(found) > _MOST_NODES:
                raise InvalidMeshError(f"has more than {_MOST_NODES} <instance_geometry>")
    return np.concatenate(found)


def _instances(node: ET.Element, placement: NDArray[np.float64]) -> Iterator[tuple[NDArray[np.float64], str]]:
    """Pose (4, 4) and name of each geometry that a node and those under it show."""
    for element in node:
        if element.tag not in _TRANSFORMS:
            continue
        numbers, transform = _transform_numbers(element), np.eye(4)
        if element.tag == "matrix":
            transform = numbers.reshape(4, 4)
        elif element.tag == "translate":
            transform[:3, 3] = numbers
        elif element.tag == "scale":
            transform[:3, :3] = np.diag(numbers)
        elif np.any(numbers[:3]):
            axis = numbers[:3] / np.linalg.norm(numbers[:3])
            transform[:3, :3] = Rotation.from_rotvec(np.radians(numbers[3]) * axis).as_matrix()
        placement = placement @ transform
    for element in node:
        if element.tag == "instance_geometry":
            yield placement, element.get("url", "")
        elif element.tag == "node":
            yield from _instances(element, placement)


def _mesh_triangles(mesh: ET.Element) -> NDArray[np.float64]:
    """Corners (N, 3, 3) of the triangles of a mesh."""
    vertices = _child(mesh, "vertices")
    (place, *_rest) = [source for semantic, source, _ in _inputs(vertices) if semantic == "POSITION"] or [""]
    numbers = next((_array(each) for each in mesh.iterfind("source") if each.get("id") == place), None)
    if numbers is None:
        raise InvalidMeshError(f"source `{place}` has no vertex 0")
    positions, vertex_id = numbers[: len(numbers) // 3 * 3].reshape(-1, 3), _attribute(vertices, "id")
    parts = [_NONE]
    for primitive in mesh:
        if primitive.tag in ("triangles", "polylist"):
            lists = [primitive.find("p")]
        elif primitive.tag in _POLYGONS:
            lists = [*primitive.iterfind("p"), *primitive.iterfind("ph/p")]
        else:
            continue
        for indices in lists:
            inputs = list(_inputs(primitive, offsets=True))
            stride = 1 + max((offset for _, _, offset in inputs), default=0)
            offsets = [each[2] for each in inputs if each[:2] == ("VERTEX", vertex_id)]
            whole = _whole_numbers(indices)
            if not offsets:
                raise InvalidMeshError(f"<{primitive.tag}> has no input VERTEX from its <vertices>")
            if len(whole) % stride:
                raise InvalidMeshError(f"<{primitive.tag}> needs a multiple of {stride} indices in <p>")
            corners = whole.reshape(-1, stride)[:, offsets[0]]
            sizes = np.array([len(corners)])
            if primitive.tag == "triangles":
                sizes = np.full(len(corners) // 3, 3)
            elif primitive.tag == "polylist":
                sizes = _whole_numbers(primitive.find("vcount"))
                if sizes.sum() != len(corners):
                    raise InvalidMeshError(
                        f"<polylist> has {len(corners)} corners, and {sizes.sum()} in <vcount>"
                    )
            if len(corners) and corners.max() >= len(positions):
                raise InvalidMeshError(f"<{primitive.tag}> has no vertex {corners.max()}")
            # Polygons of as many corners are cut into triangles together.
            starts = np.cumsum(sizes) - sizes
            for size in np.unique(sizes[sizes >= 3]):
                middle = np.arange(1, size - 1)
                first = middle - 1 if primitive.tag == "tristrips" else np.zeros_like(middle)
                fan = np.stack([first, middle, middle + 1], axis=1)
                if primitive.tag == "tristrips":
                    # Every other triangle of a strip is wound the other way.
                    fan[1::2] = fan[1::2, [1, 0, 2]]
                cut = (starts[sizes == size][:, None, None] + fan).reshape(-1, 3)
                parts.append(positions[corners[cut]])
    return np.concatenate(parts)


def _whole_numbers(element: ET.Element | None) -> NDArray[np.int64]:
    """Read a list of whole numbers of at most nine digits; no element is an empty one."""
    words = ("" if element is None else element.text or "").split()
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise InvalidMeshError("a list of indices has something else than whole numbers")
    return np.array(words, dtype=np.int64)


def _transform_numbers(element: ET.Element) -> NDArray[np.float64]:
    """Read the numbers of a transform, as many finite ones as it must have."""
    numbers = _numbers(_text(element), element.tag)
    if len(numbers) != _TRANSFORMS[element.tag]:
        raise InvalidMeshError(f"<{element.tag}> has {len(numbers)} numbers")
    return numbers


def _measure_mesh(mesh: ET.Element) -> tuple[int, float]:
    """Count the triangles of a mesh, and find its largest coordinate."""
    arrays = {_attribute(source, "id"): _array(source) for source in mesh.iterfind("source")}
    vertices = _child(mesh, "vertices")
    vertex_id = _attribute(vertices, "id")
    places, normals = (
        [source for semantic, source, _ in _inputs(vertices) if semantic == wanted]
        for wanted in ("POSITION", "NORMAL")
    )
    if len(places) != 1:
        raise InvalidMeshError("<vertices> has no input POSITION")
    total = 0
    for primitive in mesh.iterfind("triangles"):
        inputs = list(_inputs(primitive, offsets=True))
        stride = 1 + max((offset for _, _, offset in inputs), default=0)
        count = _whole(primitive, "count")
        words = _text(_child(primitive, "p")).split()
        if len(words) != 3 * count * stride or not all(w.isascii() and w.isdigit() for w in words):
            raise InvalidMeshError(f"<triangles> of {count} needs {3 * count * stride} indices in <p>")
        if any(len(word) > 9 for word in words):
            raise InvalidMeshError("<p> has an index that is too large")
        indices = np.array(words, dtype=np.int64).reshape(3 * count, stride)
        used = [(source, offset) for semantic, source, offset in inputs if semantic == "VERTEX"]
        if len(used) != 1 or used[0][0] != vertex_id:
            raise InvalidMeshError("<triangles> has no input VERTEX from its <vertices>")
        pairs = [(source, used[0][1]) for source in (places[0], *normals)]
        pairs += [(source, offset) for semantic, source, offset in inputs if semantic == "NORMAL"]
        for source, offset in pairs:
            highest = int(indices[:, offset].max(initial=-1))
            if source not in arrays or len(arrays[source]) < 3 * (highest + 1):
                raise InvalidMeshError(f"source `{source}` has no vertex {highest}")
        total += count
    positions = arrays.get(places[0], np.zeros(0))
    return total, float(np.abs(positions).max(initial=0.0))


def _array(source: ET.Element) -> NDArray[np.float64]:
    """Read the numbers of a source that holds numbers."""
    array = source.find("float_array")
    if array is None:
        return np.zeros(0)
    accessor = _child(_child(source, "technique_common"), "accessor")
    stride = accessor.get("stride", "1")
    if stride not in ("1", "2", "3", "4"):
        raise InvalidMeshError(f'accessor: stride="{stride}" is not 1 to 4')
    _whole(accessor, "count")
    _whole(array, "count")
    return _numbers(array.text or "", "float_array")


def _inputs(element: ET.Element, *, offsets: bool = False) -> Iterator[tuple[str, str, int]]:
    """Read the inputs of vertices or triangles: semantic, source and offset."""
    for each in element.iterfind("input"):
        offset = _whole(each, "offset") if offsets else 0
        if offset > 63:
            raise InvalidMeshError(f"input: offset {offset} is too large")
        yield _attribute(each, "semantic"), _attribute(each, "source").removeprefix("#"), offset


def _child(element: ET.Element, tag: str) -> ET.Element:
    """Find an element that must exist."""
    found = element.find(tag)
    if found is None:
        raise InvalidMeshError(f"<{element.tag}> has no <{tag}>")
    return found


def _attribute(element: ET.Element, name: str) -> str:
    """Read an attribute that must exist."""
    value = element.get(name)
    if not value:
        raise InvalidMeshError(f"<{element.tag}> has no {name}")
    return value


def _whole(element: ET.Element, name: str) -> int:
    """Read an attribute that must be a whole number of at most nine digits."""
    value = _attribute(element, name)
    if not (value.isascii() and value.isdigit() and len(value) < 10):
        raise InvalidMeshError(f'<{element.tag}>: {name}="{value[:40]}" is not a whole number')
    return int(value)


def _text(element: ET.Element) -> str:
    """Read the text of an element that must not be empty."""
    if not (element.text and element.text.strip()):
        raise InvalidMeshError(f"<{element.tag}> is empty")
    return element.text


def _numbers(text: str, where: str) -> NDArray[np.float64]:
    """Read numbers, which must be finite."""
    try:
        values = np.array([math.nan] if "_" in text else text.split(), dtype=float)
    except ValueError:
        values = np.array([math.nan])
    if not np.isfinite(values).all():
        raise InvalidMeshError(f"<{where}>: not all are finite numbers")
    return values
