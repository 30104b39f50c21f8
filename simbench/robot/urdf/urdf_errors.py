"""Errors of a URDF that make it impossible to simulate: in its tree, its joint types, its masses."""

from collections import Counter
from collections.abc import Iterable, Iterator

import numpy as np
import pinocchio as pin

from simbench.robot.native_output import quiet_native_output
from simbench.robot.urdf.elements import LARGEST_LENGTH, LONGEST_NAME, UrdfJoint, UrdfTree, shorten_message

MOVING = ("revolute", "continuous", "prismatic")
UNSUPPORTED = {
    "spherical": "three revolute joints do the same",
    "planar": "two prismatic joints and a revolute one do the same",
    "floating": "leave joint and parent out: a robot with a floating base moves freely without them",
}
RESERVED_NAMES = ("universe", "root_joint")
MOST_JOINTS = 127  # Bullet's messages have room for the state of so many joints, whether they move or not.
LARGEST_MASS = 1e6  # Largest mass, kg.
LARGEST_INERTIA = 1e9  # Largest moment of inertia, kg·m².
LEAST_INERTIA = 1e-12  # Smallest inertia that a joint must move, kg·m² or kg.


def find_urdf_errors(tree: UrdfTree, *, floating: bool) -> list[str]:
    """Find the errors for which a URDF cannot be simulated.

    `tree`: links and joints of the URDF; `floating`: whether the base moves freely. Returns errors of one
    line each, with the element's name; the most serious first.
    """
    if not tree.links:
        return ["has no <link>"]
    errors = [*_naming_errors(tree)]
    allowed = ", ".join((*MOVING, "fixed"))
    for joint in tree.joints:
        where = f"joint `{joint.name}`"
        if joint.kind in UNSUPPORTED:
            hint = UNSUPPORTED[joint.kind]
            errors.append(f"{where}: type `{joint.kind}` is not supported; allowed: {allowed} ({hint})")
        elif joint.kind not in (*MOVING, "fixed"):
            errors.append(f"{where}: unknown type `{joint.kind}`; allowed: {allowed}")
        elif joint.kind in MOVING and joint.name in RESERVED_NAMES:
            errors.append(f"{where}: Pinocchio keeps this name for itself; rename the joint")
        elif joint.kind in MOVING and not any(joint.axis):
            errors.append(f"{where}: axis has no length")
    errors += tree.bad_numbers
    # Masses, inertias and places that nothing has, and that overflow where they are used.
    bounded: list[tuple[str, Iterable[float], float, str]] = []
    for link in tree.links:
        where, far = f"link `{link.name}`", (LARGEST_LENGTH, "m or rad")
        bounded += [
            (f"{where}: mass", [link.mass], LARGEST_MASS, "kg"),
            (f"{where}: inertia", link.inertia, LARGEST_INERTIA, "kg·m²"),
            (f"{where}: inertial: origin", [*link.cog, *link.rpy], *far),
            *((f"{where}: {s.role}", [*s.size, *s.scale, *s.xyz, *s.rpy], *far) for s in link.shapes),
        ]
    for joint in tree.joints:
        place = [*joint.xyz, *joint.rpy, *joint.axis]
        bounded.append((f"joint `{joint.name}`: origin or axis", place, LARGEST_LENGTH, "m or rad"))
    for where, numbers, largest, unit in bounded:
        # NaN is reported elsewhere.
        excess = max((abs(number) for number in numbers if abs(number) > largest), default=None)
        if excess is not None:
            errors.append(f"{where}: {excess:g} {unit} is too large; allowed is {largest:g}")
    errors += [
        f"link `{link.name}`: mass {link.mass:g} kg is negative" for link in tree.links if link.mass < 0
    ]
    errors += _tree_errors(tree)
    if floating and not errors and find_path_to_heaviest_fixed_link(tree) is None:
        errors.append(
            f"root link `{find_root_link(tree)}`: has no mass, nor has a link fixed to it: it could not float"
        )
    return list(map(shorten_message, errors))


def find_root_link(tree: UrdfTree) -> str:
    """Find the root of a tree of links.

    `tree`: links and joints of a URDF without errors. Returns name of the link that is not the child of a
    joint.
    """
    children = {joint.child for joint in tree.joints}
    return next(link.name for link in tree.links if link.name not in children)


def find_path_to_heaviest_fixed_link(tree: UrdfTree) -> tuple[UrdfJoint, ...] | None:
    """Find the path from the root through fixed joints to the link with the largest mass.

    `tree`: links and joints of a URDF without errors. Returns joints along the path; empty if the root itself
    has mass, None if none of these links has mass.
    """
    mass = {link.name: link.mass for link in tree.links}
    root = find_root_link(tree)
    if mass[root] > 0:
        return ()
    paths: list[tuple[UrdfJoint, ...]] = [
        (joint,) for joint in tree.joints if joint.parent == root and joint.kind == "fixed"
    ]
    for path in paths:
        paths += [
            (*path, joint)
            for joint in tree.joints
            if joint.parent == path[-1].child and joint.kind == "fixed"
        ]
    heaviest = max(paths, key=lambda path: mass[path[-1].child], default=None)
    return heaviest if heaviest and mass[heaviest[-1].child] > 0 else None


def find_joints_without_inertia(text: str) -> list[str]:
    """Find the joints that move no inertia, so that any torque would accelerate them without bound.

    A link without mass is allowed as long as a link with mass moves with it. `text`: URDF that Pinocchio can
    read. Returns names of these joints.
    """
    with quiet_native_output():
        model = pin.buildModelFromXML(text)
    data = model.createData()
    # Not the zero posture, in which masses may by chance lie on the axis of a joint.
    posture = pin.integrate(model, pin.neutral(model), np.full(model.nv, 0.37))
    # Pinocchio returns a 1 × 1 matrix as a vector.
    moved = pin.crba(model, data, posture).reshape(model.nv, model.nv).diagonal()
    return [
        name
        for name, joint in zip(model.names[1:], model.joints[1:], strict=True)
        if moved[joint.idx_v] < LEAST_INERTIA
    ]


def _naming_errors(tree: UrdfTree) -> Iterator[str]:
    """Find names that are missing, repeated, or refer to no link."""
    elements = {"link": [each.name for each in tree.links], "joint": [each.name for each in tree.joints]}
    for kind, names in elements.items():
        for name, count in Counter(names).items():
            if not name:
                yield f"{kind}: {count} without a name"
            elif count > 1:
                yield f"{kind} `{name}`: {count} have this name"
            elif (length := len(name.encode(errors="replace"))) > LONGEST_NAME:
                yield f"{kind} `{name[:20]}…`: the name has {length} bytes; allowed are {LONGEST_NAME}"
            elif not name.isprintable():
                yield f"{kind} {name!r}: the name has characters that cannot be printed"
    for joint in tree.joints:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if not link:
                yield f"joint `{joint.name}`: names no {end} link"
            elif link not in elements["link"]:
                yield f"joint `{joint.name}`: {end} `{link}` is not a link of this file"


def _tree_errors(tree: UrdfTree) -> Iterator[str]:
    """Find several parents, several roots, and loops."""
    parents: dict[str, list[UrdfJoint]] = {link.name: [] for link in tree.links}
    for joint in tree.joints:
        parents.setdefault(joint.child, []).append(joint)
    for link, joints in parents.items():
        if len(joints) > 1:
            names = ", ".join(joint.name for joint in joints)
            yield f"link `{link}`: is the child of several joints ({names}); closed loops are not supported"
    roots = [link for link, joints in parents.items() if not joints]
    if len(roots) > 1:
        yield f"links {', '.join(f'`{root}`' for root in roots)}: have no parent; exactly one root is allowed"
    connected = set(roots)
    reached = list(roots)
    for link in reached:
        below = {joint.child for joint in tree.joints if joint.parent == link} - connected
        connected |= below
        reached += sorted(below)
    loose = [link for link in parents if link not in connected]
    if loose:
        yield f"links {', '.join(f'`{link}`' for link in loose)}: form a loop that hangs on no root"
