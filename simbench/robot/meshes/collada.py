"""Check of Collada files: what Bullet's reader takes for granted is there."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.robot.xml_reader import read_xml

LARGEST_FILE = 100_000_000
"""Largest file, bytes."""
_POLYGONS = ("polylist", "polygons", "tristrips", "trifans")
_TRANSFORMS = {"matrix": 16, "rotate": 4, "translate": 3, "scale": 3}


class InvalidMeshError(Exception):
    """A mesh file that cannot be used, with the reason."""


class UnreadFormError(InvalidMeshError):
    """A mesh file in a form that Bullet does not read, and that may be converted."""


class _Input(NamedTuple):
    """An input of a list of triangles or of vertices."""

    semantic: str
    source: str
    offset: int


def measure_collada(path: Path) -> tuple[int, float]:
    """Count the triangles of a Collada file, and find its largest coordinate.

    Returns `triangles`: number of triangles in all geometries; `largest`: largest coordinate of a vertex, in
    the file's unit. Raises InvalidMeshError, RobotError if the file is not a Collada file, or something that
    Bullet needs is missing or wrong; `UnreadFormError` if it has polygons.
    """
    root = parse_collada(path)
    _check_units(root)
    scene = _child(_child(root, "library_visual_scenes"), "visual_scene")
    scaling = _largest_scaling(scene)
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
    root = read_xml(path, LARGEST_FILE)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    if root.tag != "COLLADA":
        raise InvalidMeshError(f"expected <COLLADA> as the outermost element, found <{root.tag}>")
    return root


def read_positions(mesh: ET.Element) -> tuple[NDArray[np.float64], str]:
    """Read the vertices of a mesh.

    Returns `positions` (N, 3): in the file's unit; `name`: name by which primitives refer to them.
    """
    vertices = _child(mesh, "vertices")
    (place, *_rest) = [each.source for each in _inputs(vertices) if each.semantic == "POSITION"] or [""]
    for source in mesh.iterfind("source"):
        if source.get("id") == place:
            numbers = _array(source)
            return numbers[: len(numbers) // 3 * 3].reshape(-1, 3), _attribute(vertices, "id")
    raise InvalidMeshError(f"source `{place}` has no vertex 0")


def read_corners(primitive: ET.Element, indices: ET.Element | None, vertices: str) -> NDArray[np.int64]:
    """Read the vertices of the corners of polygons.

    `primitive`: the element `<triangles>`, `<polylist>` or another with inputs; `indices`: the element `<p>`
    in it; `vertices`: name of the vertices. Returns (N,) of int: number of each corner's vertex.
    """
    inputs = list(_inputs(primitive, offsets=True))
    stride = 1 + max((each.offset for each in inputs), default=0)
    offsets = [each.offset for each in inputs if each.semantic == "VERTEX" and each.source == vertices]
    numbers = read_whole_numbers(indices)
    if not offsets:
        raise InvalidMeshError(f"<{primitive.tag}> has no input VERTEX from its <vertices>")
    if len(numbers) % stride:
        raise InvalidMeshError(f"<{primitive.tag}> needs a multiple of {stride} indices in <p>")
    return numbers.reshape(-1, stride)[:, offsets[0]]


def read_whole_numbers(element: ET.Element | None) -> NDArray[np.int64]:
    """Read a list of whole numbers of at most nine digits.

    `element`: element whose text is the list; none for an empty one. Returns (N,) of int.
    """
    words = ("" if element is None else element.text or "").split()
    if not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise InvalidMeshError("a list of indices has something else than whole numbers")
    return np.array(words, dtype=np.int64)


def read_numbers(element: ET.Element) -> NDArray[np.float64]:
    """Read the numbers of a transform.

    `element`: the element `<matrix>`, `<rotate>`, `<translate>` or `<scale>`. Returns (N,): as many finite
    numbers as it must have.
    """
    numbers = _numbers(_text(element), element.tag)
    if len(numbers) != _TRANSFORMS[element.tag]:
        raise InvalidMeshError(f"<{element.tag}> has {len(numbers)} numbers")
    return numbers


def _check_units(root: ET.Element) -> None:
    """Check the unit and the vertical axis of a file, where it gives them."""
    unit, up = root.find("asset/unit"), root.find("asset/up_axis")
    if unit is not None and unit.get("meter") is not None:
        metre = _numbers(unit.get("meter") or "", "unit")
        if len(metre) != 1 or not metre[0] > 0.0:
            raise InvalidMeshError(f'unit: meter="{unit.get("meter")}" is not a positive number')
    if up is not None:
        _text(up)


def _largest_scaling(scene: ET.Element) -> float:
    """Check the transforms of a scene's nodes; bound how far they can move a unit of length."""
    largest = 0.0
    for element in scene.iter():
        if element.tag in _TRANSFORMS:
            largest = max(largest, float(np.abs(read_numbers(element)).max()))
        elif element.tag == "instance_geometry":
            _attribute(element, "url")
    return max(1.0, largest)


def _measure_mesh(mesh: ET.Element) -> tuple[int, float]:
    """Count the triangles of a mesh, and find its largest coordinate."""
    arrays = {_attribute(source, "id"): _array(source) for source in mesh.iterfind("source")}
    vertices = _child(mesh, "vertices")
    vertex_id = _attribute(vertices, "id")
    corners = [each for each in _inputs(vertices) if each.semantic == "POSITION"]
    normals = [each for each in _inputs(vertices) if each.semantic == "NORMAL"]
    if len(corners) != 1:
        raise InvalidMeshError("<vertices> has no input POSITION")
    total = 0
    for primitive in mesh.iterfind("triangles"):
        inputs = list(_inputs(primitive, offsets=True))
        indices, count = _indices(primitive, 1 + max((each.offset for each in inputs), default=0))
        used = [each for each in inputs if each.semantic == "VERTEX"]
        if len(used) != 1 or used[0].source != vertex_id:
            raise InvalidMeshError("<triangles> has no input VERTEX from its <vertices>")
        pairs = [(corners[0].source, used[0].offset), *((each.source, used[0].offset) for each in normals)]
        pairs += [(each.source, each.offset) for each in inputs if each.semantic == "NORMAL"]
        for source, offset in pairs:
            highest = int(indices[:, offset].max(initial=-1))
            if source not in arrays or len(arrays[source]) < 3 * (highest + 1):
                raise InvalidMeshError(f"source `{source}` has no vertex {highest}")
        total += count
    positions = arrays.get(corners[0].source, np.zeros(0))
    return total, float(np.abs(positions).max(initial=0.0))


def _array(source: ET.Element) -> NDArray[np.float64]:
    """Read the numbers of a source that holds numbers."""
    array = source.find("float_array")
    if array is None:
        return np.zeros(0)
    stride = _child(_child(source, "technique_common"), "accessor").get("stride", "1")
    if stride not in ("1", "2", "3", "4"):
        raise InvalidMeshError(f'accessor: stride="{stride}" is not 1 to 4')
    _whole(_child(_child(source, "technique_common"), "accessor"), "count")
    _whole(array, "count")
    return _numbers(array.text or "", "float_array")


def _inputs(element: ET.Element, *, offsets: bool = False) -> Iterator[_Input]:
    """Read the inputs of vertices or triangles."""
    for each in element.iterfind("input"):
        offset = _whole(each, "offset") if offsets else 0
        if offset > 63:
            raise InvalidMeshError(f"input: offset {offset} is too large")
        yield _Input(_attribute(each, "semantic"), _attribute(each, "source").removeprefix("#"), offset)


def _indices(primitive: ET.Element, stride: int) -> tuple[NDArray[np.int64], int]:
    """Read the indices of triangles, (3 × triangles, stride), and the number of triangles."""
    count = _whole(primitive, "count")
    words = _text(_child(primitive, "p")).split()
    if len(words) != 3 * count * stride or not all(word.isascii() and word.isdigit() for word in words):
        raise InvalidMeshError(f"<triangles> of {count} needs {3 * count * stride} indices in <p>")
    if any(len(word) > 9 for word in words):
        raise InvalidMeshError("<p> has an index that is too large")
    return np.array(words, dtype=np.int64).reshape(3 * count, stride), count


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
