"""What a URDF says beyond masses, joints and shapes, and simbench says itself or not at all."""

import xml.etree.ElementTree as ET

LEFT_OUT = {
    ("joint", "dynamics"): "<dynamics> damping and friction are left out",
    ("link", "contact"): "<contact> parameters, which only Bullet knows, are left out",
}
LISTED = 3
"""So many names, and the number of the others."""


def leave_out(robot: ET.Element) -> list[str]:
    """Take out joint friction and contact parameters, in place.

    Parameters
    ----------
    robot : xml.etree.ElementTree.Element

    Returns
    -------
    list of str
        One line for each kind, with the names of the elements that had it.
    """
    notes = []
    for (kind, tag), said in LEFT_OUT.items():
        names = []
        for element in robot.findall(kind):
            for part in element.findall(tag):
                element.remove(part)
                if len(part) or any(value.strip("0. ") for value in part.attrib.values()):
                    names.append(f"`{element.get('name')}`")
        if names:
            rest = f"{names[0]} and {len(names) - 1} more"
            notes.append(f"{kind}s {', '.join(names) if len(names) <= LISTED else rest}: {said}")
    return notes
