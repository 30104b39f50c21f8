"""Inspection of a robot, whether it can be simulated or not: its links, joints, errors and warnings."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simbench.errors import RobotError
from simbench.robot.description import read_description
from simbench.robot.hand_shapes import hands_without_shape
from simbench.robot.inspection.joint_warnings import find_joint_warnings, find_side_warnings
from simbench.robot.inspection.link_warnings import MassProperties, find_link_warnings, mass_properties
from simbench.robot.link_extent import compute_link_extent
from simbench.robot.robot import Robot, load_robot
from simbench.robot.sources import RobotSource, describe_source, find_robot, find_urdf
from simbench.robot.urdf.elements import UrdfJoint, UrdfTree, parse_urdf, read_elements, shorten_message
from simbench.robot.urdf.errors import find_urdf_errors
from simbench.robot.urdf.links import find_mesh_error
from simbench.robot.urdf.source import normalise_urdf, read_urdf

DEGREES_OF_FREEDOM = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "spherical": 3,
    "planar": 3,
    "floating": 6,
}


@dataclass(frozen=True)
class RobotInspection:
    """A robot as its files describe it."""

    name: str  # Name of the robot in the URDF.
    source: RobotSource  # Where its files are from.
    urdf: Path
    # Whether the base moves freely; None where nothing says so, as for a URDF without a description.
    floating: bool | None
    joints: tuple[UrdfJoint, ...]  # All joints, including fixed ones, in the file's order.
    links: Mapping[str, MassProperties]  # Mass properties of the links by name.
    # Joint names by limb: those of the description, or the serial chains of a URDF without one.
    groups: Mapping[str, tuple[str, ...]]
    mass: float  # Mass of the robot, kg.
    degrees_of_freedom: int  # Number of degrees of freedom of the joints, without those of the base.
    # `meshes_found`, `meshes_missing`: number of different mesh files that the URDF names and that exist, or
    # do not.
    meshes_found: int
    meshes_missing: int
    # Reasons why the robot cannot be simulated, one line each, with the element's name.
    errors: tuple[str, ...]
    warnings: tuple[str, ...]  # The errors, and everything else that looks wrong, one line each.
    # Pairs of links that collide with each other in a simulation; empty for a URDF without a description.
    collision_pairs: tuple[tuple[str, str], ...] = ()
    pairs_derived: bool = False  # Whether these pairs were derived, because the description lists none.


def inspect_robot(name_or_path: str | Path) -> RobotInspection:
    """Inspect a robot, whether it can be simulated or not.

    `name_or_path`: name of a robot, path of a `robot.yaml` or of the folder that contains one, or path of any
    URDF. Returns properties, errors and warnings. Raises RobotError if there is no such robot or its file is
    not a URDF at all.
    """
    file = find_robot(name_or_path)
    if file.is_urdf:
        return _inspect_urdf(describe_source(file, file.path), None, None, None)
    description = read_description(file.path)
    floating = description.base == "floating"
    robot: Robot | None = None
    load_error: str | None = None
    try:
        robot = load_robot(name_or_path)
    except RobotError as error:
        load_error = str(error)
    urdf = find_urdf(description.urdf, file.path.parent, f"{file.path}: urdf")
    inspection = _inspect_urdf(describe_source(file, urdf), floating, description.groups, load_error)
    if robot is None:
        return inspection
    return replace(
        inspection,
        warnings=(*inspection.warnings, *_hand_warnings(robot)),
        collision_pairs=robot.self_collision_pairs,
        pairs_derived=description.self_collision is None,
    )


def _hand_warnings(robot: Robot) -> list[str]:
    """Warn of hands that cannot touch anything."""
    return [
        f"hands.{role}: no link of it ({', '.join((hand.palm, *hand.fingers))}) has a collision shape: "
        "it touches nothing, and its grip engages by distance alone"
        for role, hand in robot.hands.items()
        if role in hands_without_shape(robot)
    ]


def _inspect_urdf(
    source: RobotSource,
    floating: bool | None,
    groups: Mapping[str, tuple[str, ...]] | None,
    load_error: str | None,
) -> RobotInspection:
    """Inspect a URDF, with what the description of the robot says, if there is one."""
    urdf = source.urdf
    robot = parse_urdf(urdf)
    tree = read_elements(robot)
    errors = find_urdf_errors(tree, floating=bool(floating))
    if not errors:
        errors = _find_read_errors(urdf, bool(floating))
    if load_error is not None and not errors:
        errors = [load_error]
    warnings = [*errors, *_base_warnings(urdf, floating, errors), *_find_warnings(robot, tree, urdf.parent)]
    meshes = {shape.file_name or "" for link in tree.links for shape in link.shapes if shape.kind == "mesh"}
    missing = {name for name in meshes if find_mesh_error(name, urdf.parent)}
    return RobotInspection(
        name=tree.name,
        source=source,
        urdf=urdf,
        floating=floating,
        joints=tree.joints,
        links={link.name: mass_properties(link) for link in tree.links},
        groups=find_serial_chains(tree.joints) if groups is None else groups,
        mass=sum(link.mass for link in tree.links),
        degrees_of_freedom=sum(DEGREES_OF_FREEDOM.get(joint.kind, 0) for joint in tree.joints),
        meshes_found=len(meshes - missing),
        meshes_missing=len(missing),
        errors=tuple(errors),
        warnings=tuple(map(shorten_message, warnings)),
    )


def _find_read_errors(urdf: Path, floating: bool) -> list[str]:
    """Error with which reading a URDF fails, if it does."""
    try:
        read_urdf(urdf, floating=floating)
    except RobotError as error:
        return [str(error).removeprefix(f"{urdf}: ")]
    return []


def _base_warnings(urdf: Path, floating: bool | None, errors: list[str]) -> list[str]:
    """Warn of what would change in a URDF without a description if its base moved freely."""
    if floating is not None or errors:
        return []
    try:
        fixed, free = (read_urdf(urdf, floating=choice).notes for choice in (False, True))
    except RobotError as error:
        return [str(error).removeprefix(f"{urdf}: ")]
    return [f"{note} if the base is floating" for note in free if note not in fixed]


def _find_warnings(robot: ET.Element, tree: UrdfTree, folder: Path) -> list[str]:
    """Find everything that looks wrong with the elements of a URDF."""
    warnings = normalise_urdf(robot, tree, folder)
    for link in tree.links:
        warnings += find_link_warnings(link, compute_link_extent(link, folder))
    for joint in tree.joints:
        warnings += find_joint_warnings(joint)
    return [*warnings, *find_side_warnings(tree.links, tree.joints)]


def find_serial_chains(joints: Sequence[UrdfJoint]) -> dict[str, tuple[str, ...]]:
    """Divide a tree of joints into serial chains, the limbs of a robot without a description.

    `joints`: A tree of joints; those of a malformed file need not be a tree. Returns names of the moving
    joints from the root outward, by `chain 1`, `chain 2`, ...; a link with several joints that move, or that
    lead to moving ones, begins a chain for each.
    """
    outward = _order_from_root(joints)
    leading: set[str] = set()
    for joint in reversed(outward):
        if joint.kind != "fixed" or joint.child in leading:
            leading.add(joint.parent)
    onward = [joint for joint in outward if joint.kind != "fixed" or joint.child in leading]
    chains: list[list[str]] = []
    chain_to: dict[str, list[str]] = {}
    for joint in onward:
        siblings = sum(other.parent == joint.parent for other in onward)
        if siblings > 1 or joint.parent not in chain_to:
            chains.append([])
            chain_to[joint.child] = chains[-1]
        else:
            chain_to[joint.child] = chain_to[joint.parent]
        if joint.kind != "fixed":
            chain_to[joint.child].append(joint.name)
    filled = [tuple(chain) for chain in chains if chain]
    return {f"chain {number}": chain for number, chain in enumerate(filled, start=1)}


def _order_from_root(joints: Sequence[UrdfJoint]) -> list[UrdfJoint]:
    """Joints that are connected to a root, each once, parents before children."""
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in joints}
    links = [parent for parent in below if parent not in children]
    seen, outward = set(links), []
    for link in links:
        for joint in below.get(link, ()):
            if joint.child not in seen:
                seen.add(joint.child)
                links.append(joint.child)
                outward.append(joint)
    return outward
