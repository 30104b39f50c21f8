"""All robots that can be named, with their licences and what they are."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from simbench.errors import RobotError
from simbench.robot.description import Description, read_description
from simbench.robot.names import find_plug_ins, shipped_robots
from simbench.robot.packages import find_package_of
from simbench.robot.sources import (
    Origin,
    RobotFile,
    find_robot,
    find_wheel_urdfs,
    missing_package,
)
from simbench.robot.urdf.elements import parse_urdf

_UNKNOWN = "?"


class RobotEntry(NamedTuple):
    """A robot that can be named."""

    name: str
    origin: Origin  # `shipped`, `plug-in` or `wheel`.
    # `humanoid`, `two-armed`, `arm` or `robot`; for a URDF without a robot.yaml, how many joints move.
    kind: str
    license: str  # Licence of its URDF and meshes; `?` where none is stated.
    summary: str  # First line of its robot.yaml, or the package it is from.
    missing: str  # Package that must be installed before it can be used; empty if nothing is missing.


def list_robots() -> list[RobotEntry]:
    """List the robots that ship with simbench, those of plug-ins, and those of wheels of descriptions.

    Returns the robots, in the order in which a name is looked for; of two with one name, the first.
    """
    entries = {name: _shipped_entry(name, path) for name, path in shipped_robots().items()}
    for name in sorted(find_plug_ins()):
        entries.setdefault(name, _plug_in_entry(name))
    for name, urdf in find_wheel_urdfs().items():
        if name not in entries:
            entries[name] = _wheel_entry(name, urdf)
    return list(entries.values())


def robot_kind(description: Description) -> str:
    """Say what a robot is by the limbs that its description names.

    Returns `humanoid` (free base, two legs), `two-armed`, `arm`, or `robot`.
    """
    limbs = {group for group, joints in description.groups.items() if joints}
    if description.base == "floating" and {"left_leg", "right_leg"} <= limbs:
        return "humanoid"
    if {"left_arm", "right_arm"} <= limbs:
        return "two-armed"
    return "arm" if limbs & {"left_arm", "right_arm"} else "robot"


def _shipped_entry(name: str, path: Path) -> RobotEntry:
    """Describe a robot that ships with simbench."""
    return _described_entry(name, RobotFile("shipped", path))


def _plug_in_entry(name: str) -> RobotEntry:
    """Describe a robot of a plug-in, even one that cannot be read."""
    try:
        return _described_entry(name, find_robot(name))
    except RobotError as error:
        return RobotEntry(name, "plug-in", "robot", _UNKNOWN, str(error), "")


def _described_entry(name: str, file: RobotFile) -> RobotEntry:
    """Describe a robot that has a robot.yaml."""
    description = read_description(file.path)
    return RobotEntry(
        name,
        file.origin,
        robot_kind(description),
        description.license or _UNKNOWN,
        _first_comment(file.path),
        missing_package(description) or "",
    )


def _first_comment(path: Path) -> str:
    """First comment of a robot.yaml that is no instruction to an editor."""
    for line in path.read_text(encoding="utf-8").splitlines():
        text = line.lstrip("# ").rstrip()
        if not line.startswith("#"):
            return ""
        if text and not text.startswith("yaml-language-server"):
            return text
    return ""


def _wheel_entry(name: str, urdf: Path) -> RobotEntry:
    """Describe a URDF of a wheel."""
    package = find_package_of(urdf)
    origin = f"{package.name} {package.version}, no robot.yaml" if package else "no robot.yaml"
    try:
        robot = parse_urdf(urdf)
    except RobotError:
        return RobotEntry(name, "wheel", "unreadable", _stated_license(urdf), origin, "")
    moving = sum(joint.get("type") not in ("fixed", None) for joint in robot.findall("joint"))
    return RobotEntry(name, "wheel", f"{moving} joints", _stated_license(urdf), origin, "")


def _stated_license(urdf: Path) -> str:
    """Licence that a README above a URDF states in a line of its own."""
    for readme in _readmes(urdf):
        stated = re.search(
            r"^license:\s*(.+)$", readme.read_text(encoding="utf-8"), re.MULTILINE | re.IGNORECASE
        )
        if stated:
            return stated[1].strip()
    return _UNKNOWN


def _readmes(urdf: Path) -> Iterator[Path]:
    """README files of a URDF's folder and the one above."""
    return (readme for folder in list(urdf.parents)[:2] if (readme := folder / "README.md").is_file())
