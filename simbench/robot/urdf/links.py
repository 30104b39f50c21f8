"""Conversion of the links of a URDF to a form that both Pinocchio and Bullet read in the same way."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench.robot.meshes.mesh_content import check_mesh
from simbench.robot.meshes.mesh_files import find_file, find_mesh_format_error
from simbench.robot.urdf.elements import INERTIA, LARGEST_LENGTH, SIZES, parse_numbers

GREY = "0.7 0.7 0.7 1"


def fill_inertial(link: ET.Element) -> None:
    """Write the values of `<inertial>` that are left out, in place: zero mass, zero products of inertia."""
    inertial = link.find("inertial")
    if inertial is None:
        # Bullet assumes 1 kg for a link without `<inertial>`.
        inertial = ET.Element("inertial")
        link.insert(0, inertial)
        ET.SubElement(inertial, "mass", value="0")
        ET.SubElement(inertial, "inertia", dict.fromkeys(INERTIA, "0"))
    matrix = inertial.find("inertia")
    if matrix is not None:
        for entry in INERTIA[3:]:
            matrix.set(entry, matrix.get(entry, "0"))


def align_with_principal_axes(link: ET.Element) -> None:
    """Write an inertia that no rigid body has in its principal axes, in place; the tensor stays the same.

    If the largest moment exceeds the sum of the others, even if only by rounding, Bullet ignores the inertia.
    It can be given the moments afterwards, but not products of inertia. `link`: the element `<link>`, with
    all values of its `<inertial>`.
    """
    origin, inertia = link.find("inertial/origin"), link.find("inertial/inertia")
    if inertia is None:
        return
    position, angles = _numbers_of(origin, "xyz"), _numbers_of(origin, "rpy")
    entries = [value for entry in INERTIA for value in parse_numbers(inertia.get(entry, "nan"))]
    if [len(entries), len(position), len(angles)] != [6, 3, 3] or not np.isfinite([*entries, *angles]).all():
        return
    xx, yy, zz, xy, xz, yz = entries
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    moments, axes = np.linalg.eigh(tensor)
    if moments[0] <= 0.0 or moments[2] < (1.0 - 1e-6) * (moments[0] + moments[1]):
        return
    axes[:, 2] *= np.sign(np.linalg.det(axes))
    rotation = pin.rpy.rpyToMatrix(*angles) @ axes
    inertial = link.find("inertial")
    assert inertial is not None
    if origin is not None:
        inertial.remove(origin)
    attributes = {"xyz": _text(position), "rpy": _text(pin.rpy.matrixToRpy(rotation).tolist())}
    inertial.insert(0, ET.Element("origin", attributes))
    for entry, value in zip(INERTIA, [*moments.tolist(), 0.0, 0.0, 0.0], strict=True):
        inertia.set(entry, repr(value))


def _numbers_of(origin: ET.Element | None, entry: str) -> tuple[float, ...]:
    """Numbers of an attribute of an `<origin>`, zero if it is left out."""
    return parse_numbers("0 0 0" if origin is None else origin.get(entry, "0 0 0"))


def _text(values: Iterable[float]) -> str:
    """Write numbers as text that reads back as the same doubles."""
    return " ".join(repr(float(value)) for value in values)


def normalise_shapes(link: ET.Element, folder: Path) -> list[str]:
    """Write mesh paths as absolute paths and remove the shapes that cannot be read, in place.

    `folder`: folder of the URDF, to which mesh paths are relative. Returns what was removed, one line each.
    """
    notes = []
    for shape in [element for element in link if element.tag in ("visual", "collision")]:
        problem = _normalise_geometry(shape, folder)
        if problem:
            link.remove(shape)
            notes.append(f"link `{link.get('name')}`: {shape.tag} left out: {problem}")
    return notes


def find_mesh_error(file_name: str, folder: Path) -> str | None:
    """Find out why a mesh cannot be used.

    `file_name`: file name as the URDF gives it; `folder`: folder of the URDF, to which mesh paths are
    relative. Returns the reason; None if the mesh can be used.
    """
    path = find_file(file_name, folder)
    if path is None:
        return f"mesh `{file_name}` not found"
    reason = find_mesh_format_error(path)
    return reason and f"mesh `{file_name}`: {reason}"


def _normalise_geometry(shape: ET.Element, folder: Path) -> str | None:
    """Write the path of a mesh as an absolute path; or return the reason why the shape cannot be read."""
    form = next(iter(shape.find("geometry") or ()), None)
    if form is None:
        return "has no geometry"
    if form.tag not in SIZES:
        return f"geometry `{form.tag}` is none of {', '.join(SIZES)}"
    for attribute in SIZES[form.tag]:
        if not all(size > 0.0 for size in parse_numbers(form.get(attribute, ""))):
            return f'{form.tag}: {attribute}="{form.get(attribute)}" is not positive'
    return _normalise_mesh(form, folder) if form.tag == "mesh" else None


def _normalise_mesh(form: ET.Element, folder: Path) -> str | None:
    """Write the path of a mesh as an absolute path; or return the reason why it cannot be used."""
    name = form.get("filename", "")
    problem, path = find_mesh_error(name, folder), find_file(name, folder)
    if problem or path is None:
        return problem
    scale = parse_numbers(form.get("scale", "1 1 1"))
    if 0.0 in scale:
        return f'mesh `{name}`: scale="{form.get("scale")}" makes it flat'
    check = check_mesh(path)
    reach = check.largest * max(map(abs, scale), default=0.0)
    if reach > LARGEST_LENGTH:
        return f"mesh `{name}`: reaches {reach:g} m; allowed is {LARGEST_LENGTH:g}"
    form.set("filename", str(check.file))
    return None


def normalise_materials(robot: ET.Element, folder: Path) -> list[str]:
    """Write texture paths of materials as absolute paths and replace invalid colours by grey, in place.

    `folder`: folder of the URDF, to which texture paths are relative. Returns what was changed or left out,
    one line each.
    """
    notes = []
    for number, material in enumerate(robot.iter("material")):
        # Bullet refuses a link with a material that has no name.
        material.set("name", material.get("name") or f"unnamed {number}")
        where = f"material `{material.get('name')}`"
        for texture in material.findall("texture"):
            name = texture.get("filename", "")
            path = find_file(name, folder)
            if path is None:
                material.remove(texture)
                notes.append(f"{where}: texture `{name}` not found; left out")
            else:
                texture.set("filename", str(path))
        for color in material.findall("color"):
            rgba = color.get("rgba", "")
            values = parse_numbers(rgba)
            if len(values) != 4 or not all(0.0 <= value <= 1.0 for value in values):
                color.set("rgba", GREY)
                problem = "4 finite numbers" if len(values) != 4 else "4 numbers from 0 to 1"
                notes.append(f'{where}: rgba="{rgba}" is not {problem}; made grey')
    return notes
