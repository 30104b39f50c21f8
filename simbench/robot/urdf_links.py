"""Links of a URDF as both Pinocchio and Bullet take them."""

import xml.etree.ElementTree as ET
from pathlib import Path

from simbench.robot.mesh_files import find_file, unreadable
from simbench.robot.urdf_elements import INERTIA, SIZES, numbers

GREY = "0.7 0.7 0.7 1"


def fill_inertial(link: ET.Element) -> None:
    """Write out what `<inertial>` leaves to the reader, in place: no mass, no products of inertia.

    Parameters
    ----------
    link : xml.etree.ElementTree.Element
    """
    inertial = link.find("inertial")
    if inertial is None:
        # Bullet takes 1 kg where nothing is said.
        inertial = ET.Element("inertial")
        link.insert(0, inertial)
        ET.SubElement(inertial, "mass", value="0")
        ET.SubElement(inertial, "inertia", dict.fromkeys(INERTIA, "0"))
    matrix = inertial.find("inertia")
    if matrix is not None:
        for entry in INERTIA[3:]:
            matrix.set(entry, matrix.get(entry, "0"))


def settle_shapes(link: ET.Element, folder: Path) -> list[str]:
    """Name meshes by absolute path and leave out the shapes that cannot be read, in place.

    Parameters
    ----------
    link : xml.etree.ElementTree.Element
    folder : Path
        From which mesh paths start.

    Returns
    -------
    list of str
        What was left out, one line each.
    """
    notes = []
    for shape in [element for element in link if element.tag in ("visual", "collision")]:
        problem = _settle_geometry(shape, folder)
        if problem:
            link.remove(shape)
            notes.append(f"link `{link.get('name')}`: {shape.tag} left out: {problem}")
    return notes


def mesh_problem(file_name: str, folder: Path) -> str | None:
    """Say why a mesh cannot be used, None if it can.

    Parameters
    ----------
    file_name : str
        As the URDF has it.
    folder : Path
        From which mesh paths start.

    Returns
    -------
    str or None
    """
    path = find_file(file_name, folder)
    if path is None:
        return f"mesh `{file_name}` not found"
    reason = unreadable(path)
    return reason and f"mesh `{file_name}`: {reason}"


def _settle_geometry(shape: ET.Element, folder: Path) -> str | None:
    form = next(iter(shape.find("geometry") or ()), None)
    if form is None:
        return "has no geometry"
    if form.tag not in SIZES:
        return f"geometry `{form.tag}` is none of {', '.join(SIZES)}"
    if form.tag == "mesh":
        name = form.get("filename", "")
        problem = mesh_problem(name, folder)
        if problem:
            return problem
        form.set("filename", str(find_file(name, folder)))
    return None


def settle_materials(robot: ET.Element, folder: Path) -> list[str]:
    """Name the pictures of materials by absolute path and make colours that are none grey, in place.

    Parameters
    ----------
    robot : xml.etree.ElementTree.Element
    folder : Path
        From which their paths start.

    Returns
    -------
    list of str
        What was changed or left out, one line each.
    """
    notes = []
    for number, material in enumerate(robot.iter("material")):
        # Bullet refuses a link with a colour that has no name.
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
            if len(numbers(rgba)) != 4:
                color.set("rgba", GREY)
                notes.append(f'{where}: rgba="{rgba}" is not 4 finite numbers; made grey')
    return notes
