"""Inspection of a robot, whether it can be simulated or not: its links, joints, errors and warnings."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.description import Description, read_description
from simbench.robot.mjcf.kept_conversion import read_extension
from simbench.robot.packages import find_file, find_package_of
from simbench.robot.robot import Robot, load_robot
from simbench.robot.robot_limbs import hands_without_shape
from simbench.robot.robot_sources import YAML_SUFFIXES, RobotSource, find_robot, find_urdf
from simbench.robot.urdf.elements import (
    UrdfJoint,
    UrdfLink,
    UrdfTree,
    find_couplings,
    inertia_matrix,
    parse_urdf,
    shorten_message,
)
from simbench.robot.urdf.mesh_files import check_mesh, compute_link_extent
from simbench.robot.urdf.normalise import find_position_limit_error, normalise_urdf
from simbench.robot.urdf.source import find_urdf_errors, read_urdf

# Largest ratio of the radius of gyration to the reach of a link's geometry, which is often simplified.
REACH = 1.2
# Smallest ratio of the radius of gyration to the reach of the geometry.
#
# Even a link with a motor at the end of a long shell exceeds it.
CONCENTRATED = 0.05
FAR_TOO_LARGE = 1e12  # Number that is reported as an error whatever it means.
# Largest distance of a centre of gravity outside the geometry, in diagonals of its bounding box.
COG_MARGIN = 0.25


def principal_moments(link: UrdfLink) -> NDArray[np.float64]:
    """Compute the principal moments of inertia of a link.

    Returns (3,): the moments, kg·m², smallest first; NaN where the URDF gives no number.
    """
    matrix = inertia_matrix(link.inertia)
    return np.asarray(np.linalg.eigvalsh(matrix)) if np.isfinite(matrix).all() else np.full(3, np.nan)


def find_link_warnings(link: UrdfLink, extent: NDArray[np.float64] | None) -> Iterator[str]:
    """Find what looks wrong with a link's mass and inertia.

    The radius of gyration, the square root of (I₁ + I₂ + I₃) / 2m, is the root mean square distance of the
    mass from the centre of gravity: it is at most the distance of the geometry's farthest point. `extent` (2,
    3) or None: lowest and highest corner of the bounding box of its geometry in the link frame, m; None if
    unknown. Yields warning of one line, with the link's name.
    """
    where, moments = f"link `{link.name}`", principal_moments(link)
    known = np.abs([link.mass, *link.cog, *moments]) < FAR_TOO_LARGE
    if not known.all() or link.mass < 0:
        return
    if link.mass == 0:
        if moments.any():
            yield f"{where}: has inertia but no mass"
        elif link.shapes:
            yield f"{where}: has a shape but no mass"
        return
    if not moments.any():
        yield f"{where}: has a mass of {link.mass:g} kg but no inertia"
        return
    listed = ", ".join(f"{moment:.3g}" for moment in moments)
    if moments[0] <= 0:
        yield f"{where}: inertia is not positive definite (principal moments {listed} kg·m²)"
        return
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        yield (
            f"{where}: no rigid body has principal moments of {listed} kg·m²: "
            "the largest exceeds the sum of the others"
        )
    if extent is None:
        return
    cog = np.array(link.cog)
    reach = float(np.linalg.norm(np.maximum(extent[1] - cog, cog - extent[0])))
    gyration = float(np.sqrt(0.5 * sum(moments.tolist()) / link.mass))
    if gyration > REACH * reach:
        yield (
            f"{where}: inertia is too large: {link.mass:g} kg at {gyration:.2g} m from their centre, "
            f"where the geometry ends at {reach:.2g} m"
        )
    elif gyration < CONCENTRATED * reach:
        yield (
            f"{where}: inertia is too small: {link.mass:g} kg at {gyration:.2g} m from their centre, "
            f"while the geometry reaches {reach:.2g} m"
        )
    outside = float(np.linalg.norm(np.maximum(np.maximum(extent[0] - cog, cog - extent[1]), 0.0)))
    if outside > COG_MARGIN * float(np.linalg.norm(extent[1] - extent[0])):
        yield f"{where}: centre of gravity lies {outside:.2g} m outside its geometry"


SIDE_NAME_PAIRS = (
    ("left", "right"),
    ("Left", "Right"),
    ("LEFT", "RIGHT"),
    ("l_", "r_"),
    ("L_", "R_"),
    ("_l", "_r"),
)
SAME = 0.01  # Relative difference up to which masses and moments of the two sides count as the same.


def find_joint_warnings(joint: UrdfJoint) -> Iterator[str]:
    """Find what looks wrong with the range of a joint, if its limits can be used as they are.

    Yields warning of one line, with the joint's name.
    """
    if not _has_range(joint):
        return
    lower, upper = joint.lower or 0.0, joint.upper or 0.0
    if lower == upper:
        yield f"joint `{joint.name}`: both limits are {lower:g}: it cannot move"
    elif not (math.isnan(lower) or math.isnan(upper)) and not lower <= 0.0 <= upper:
        yield f"joint `{joint.name}`: zero is outside its limits {lower:g}..{upper:g}"


def find_side_warnings(links: Sequence[UrdfLink], joints: Sequence[UrdfJoint]) -> Iterator[str]:
    """Find differences between left and right: masses, moments or joint ranges that differ by more than 1 %.

    `links`: all links of the robot; `joints`: all joints of the robot. Yields warning of one line, with the
    names of both sides.
    """
    named_links = {link.name: link for link in links}
    for name, link in named_links.items():
        for other in _other_side(name):
            if other in named_links:
                right = named_links[other]
                if not _is_close(link.mass, right.mass):
                    yield f"links `{name}`, `{other}`: masses differ: {link.mass:g}, {right.mass:g} kg"
                elif not all(map(_is_close, principal_moments(link), principal_moments(right))):
                    yield f"links `{name}`, `{other}`: moments of inertia differ"
    named_joints = {joint.name: joint for joint in joints if _has_range(joint)}
    for name, joint in named_joints.items():
        for other in _other_side(name):
            if other in named_joints and not _is_close(_range(joint), _range(named_joints[other])):
                yield (
                    f"joints `{name}`, `{other}`: travel differs: "
                    f"{_range(joint):g}, {_range(named_joints[other]):g}"
                )


def _other_side(name: str) -> list[str]:
    """Names that the counterpart on the right of something on the left may have."""
    counterparts = {name.replace(left, right) for left, right in SIDE_NAME_PAIRS if left in name}
    if name[:1] == "L" and name[1:2].isupper():
        counterparts.add("R" + name[1:])
    return sorted(counterparts)


def _has_range(joint: UrdfJoint) -> bool:
    """Tell whether a joint has limits that can be used as they are."""
    return joint.kind in ("revolute", "prismatic") and not find_position_limit_error(joint)


def _range(joint: UrdfJoint) -> float:
    """Range of a joint, rad or m."""
    return (joint.upper or 0.0) - (joint.lower or 0.0)


def _is_close(one: float, other: float) -> bool:
    """Tell whether two numbers count as the same; NaN is the same as any number."""
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-9) or math.isnan(one) or math.isnan(other)


DEGREES_OF_FREEDOM = {
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "spherical": 3,
    "planar": 3,
    "floating": 6,
}


class RobotInspection:
    """A robot as its files describe it, whether it can be simulated or not.

    `name_or_path`: name of a robot, path of a `robot.yaml` or of the folder that contains one, or path of any
    URDF, xacro or MJCF; `xacro`: arguments of a xacro file without a `robot.yaml`. Raises RobotError if there
    is no such robot or its file is none of these.

    `name` is that in the URDF `urdf`, and `source` says where its files are from. `floating`: whether the
    base moves freely; None where nothing says so, as for a URDF without a description. `joints` are all
    joints, including fixed ones, in the file's order, and `links` the links by name. `groups`: joint
    names by limb: those of the description, or the serial chains of a URDF without one. `mass`, kg.
    `degrees_of_freedom`: those of the joints, without those of the base. `meshes_found`,
    `meshes_missing`: number of different mesh files that the URDF names and that exist, or do not.
    `errors`: reasons why the robot cannot be simulated, one line each, with the element's name;
    `warnings`: these and everything else that looks wrong. `collision_pairs`: pairs of links that collide
    with each other in a simulation, none for a URDF without a description; `pairs_derived`: whether they
    were derived, because the description lists none.
    """

    def __init__(self, name_or_path: str | Path, xacro: Mapping[str, str] | None = None) -> None:
        file = find_robot(name_or_path)
        urdf, load_error = file.path, ""
        description: Description | None = None
        robot: Robot | None = None
        described = file.path.suffix in YAML_SUFFIXES
        if described:
            if xacro:
                raise RobotError(f"{file.path}: its key `xacro` says them; --xacro is for a xacro file alone")
            description = read_description(file.path)
            xacro = description.xacro
            try:
                robot = load_robot(name_or_path)
            except RobotError as error:
                load_error = str(error)
            urdf = find_urdf(description.urdf, file.path.parent, f"{file.path}: urdf")
        path, package = file.path if described else None, find_package_of(urdf)
        self.urdf, self.source = urdf, RobotSource(file.origin, file.package, path, urdf, package)
        root = parse_urdf(urdf, xacro)
        mjcf = read_extension(root)
        self.floating = mjcf.floating if mjcf.given else None
        if description is not None:
            self.floating = description.base == "floating"
        tree = UrdfTree(root)
        self.name, self.joints = tree.name, tree.joints
        self.links = {link.name: link for link in tree.links}
        # Those that a run of the URDF alone couples, or that the description does.
        coupled = find_couplings(tree) if robot is None else robot.couplings
        errors = find_urdf_errors(tree, floating=bool(self.floating))
        notes: Sequence[str] = ()
        kinds: dict[str, str] = {}
        if not errors:
            try:
                text, notes = read_urdf(urdf, floating=bool(self.floating), xacro=xacro, coupled=coupled)
                kinds = {joint.name: joint.kind for joint in UrdfTree(ET.fromstring(text)).joints}
            except RobotError as error:
                errors = [str(error).removeprefix(f"{urdf}: ")]
        if load_error and not errors:
            errors = [load_error]
        warnings = [*errors]
        if self.floating is None and not errors:
            # What would change in a URDF without a description if its base moved freely.
            try:
                fixed, free = (read_urdf(urdf, floating=choice, xacro=xacro)[1] for choice in (False, True))
                warnings += [f"{note} if the base is floating" for note in free if note not in fixed]
            except RobotError as error:
                warnings.append(str(error).removeprefix(f"{urdf}: "))
        warnings += normalise_urdf(root, tree, urdf.parent, coupled) if errors else notes
        for link in tree.links:
            warnings += find_link_warnings(link, compute_link_extent(link, urdf.parent))
        for joint in tree.joints:
            warnings += find_joint_warnings(joint)
        warnings += find_side_warnings(tree.links, tree.joints)
        warnings = list(map(shorten_message, warnings))
        self.collision_pairs: tuple[tuple[str, str], ...] = ()
        self.pairs_derived = False
        if robot is not None and description is not None:
            warnings += [
                f"hands.{role}: no link of it ({', '.join((hand.palm, *hand.fingers))}) has a collision "
                "shape: it touches nothing, and its grip engages by distance alone"
                for role, hand in robot.hands.items()
                if role in hands_without_shape(robot)
            ]
            self.collision_pairs = robot.self_collision_pairs
            self.pairs_derived = description.self_collision is None
        self.errors, self.warnings = tuple(errors), tuple(warnings)
        meshes = {
            shape.file_name or "" for link in tree.links for shape in link.shapes if shape.kind == "mesh"
        }
        files = [find_file(name, urdf.parent) for name in meshes]
        self.meshes_missing = sum(path is None or check_mesh(path).error is not None for path in files)
        self.meshes_found = len(meshes) - self.meshes_missing
        self.groups = find_serial_chains(tree.joints) if description is None else description.groups
        self.mass = sum(link.mass for link in tree.links)
        self.degrees_of_freedom = sum(
            DEGREES_OF_FREEDOM.get(kinds.get(joint.name, joint.kind), 0) for joint in tree.joints
        )


def find_serial_chains(joints: Sequence[UrdfJoint]) -> dict[str, tuple[str, ...]]:
    """Divide a tree of joints into serial chains, the limbs of a robot without a description.

    `joints`: A tree of joints; those of a malformed file need not be a tree. Returns names of the moving
    joints from the root outward, by `chain 1`, `chain 2`, ...; a link with several joints that move, or that
    lead to moving ones, begins a chain for each.
    """
    below: dict[str, list[UrdfJoint]] = {}
    for joint in joints:
        below.setdefault(joint.parent, []).append(joint)
    children = {joint.child for joint in joints}
    links = [parent for parent in below if parent not in children]
    # Joints that are connected to a root, each once, parents before children.
    seen, outward = set(links), []
    for link in links:
        for joint in below.get(link, ()):
            if joint.child not in seen:
                seen.add(joint.child)
                links.append(joint.child)
                outward.append(joint)
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
