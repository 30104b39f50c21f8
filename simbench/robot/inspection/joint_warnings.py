"""Joint limits that look wrong, and sides of a robot that differ."""

import math
from collections.abc import Iterator, Sequence

from simbench.robot.inspection.link_warnings import mass_properties
from simbench.robot.urdf.elements import UrdfJoint, UrdfLink
from simbench.robot.urdf.joints import find_travel_limit_error

SIDE_NAME_PAIRS = (
    ("left", "right"),
    ("Left", "Right"),
    ("LEFT", "RIGHT"),
    ("l_", "r_"),
    ("L_", "R_"),
    ("_l", "_r"),
)
SAME = 0.01
"""Masses and moments of the two sides that differ less are taken for the same, as a fraction."""


def find_joint_warnings(joint: UrdfJoint) -> Iterator[str]:
    """Say what is doubtful about a joint's travel, where it has limits that can be taken as they are.

    Parameters
    ----------
    joint : UrdfJoint

    Yields
    ------
    str
        One line, with the joint's name.
    """
    if not _has_travel(joint):
        return
    lower, upper = joint.lower or 0.0, joint.upper or 0.0
    if lower == upper:
        yield f"joint `{joint.name}`: both limits are {lower:g}: it cannot move"
    elif not (math.isnan(lower) or math.isnan(upper)) and not lower <= 0.0 <= upper:
        yield f"joint `{joint.name}`: zero is outside its limits {lower:g}..{upper:g}"


def find_side_warnings(links: Sequence[UrdfLink], joints: Sequence[UrdfJoint]) -> Iterator[str]:
    """Say where left and right differ: masses and moments by more than 1 %, or how far joints travel.

    Parameters
    ----------
    links : sequence of UrdfLink
    joints : sequence of UrdfJoint

    Yields
    ------
    str
        One line, with both names.
    """
    named_links = {link.name: link for link in links}
    for name, link in named_links.items():
        for other in _other_side(name):
            if other in named_links:
                ours, theirs = mass_properties(link), mass_properties(named_links[other])
                if not _alike(ours.mass, theirs.mass):
                    yield f"links `{name}`, `{other}`: masses differ: {ours.mass:g}, {theirs.mass:g} kg"
                elif not all(map(_alike, ours.principal, theirs.principal)):
                    yield f"links `{name}`, `{other}`: moments of inertia differ"
    named_joints = {joint.name: joint for joint in joints if _has_travel(joint)}
    for name, joint in named_joints.items():
        for other in _other_side(name):
            if other in named_joints and not _alike(_travel(joint), _travel(named_joints[other])):
                yield (
                    f"joints `{name}`, `{other}`: travel differs: "
                    f"{_travel(joint):g}, {_travel(named_joints[other]):g}"
                )


def _other_side(name: str) -> list[str]:
    """Names that the right-hand twin of something on the left may have."""
    twins = {name.replace(left, right) for left, right in SIDE_NAME_PAIRS if left in name}
    if name[:1] == "L" and name[1:2].isupper():
        twins.add("R" + name[1:])
    return sorted(twins)


def _has_travel(joint: UrdfJoint) -> bool:
    return joint.kind in ("revolute", "prismatic") and not find_travel_limit_error(joint)


def _travel(joint: UrdfJoint) -> float:
    return (joint.upper or 0.0) - (joint.lower or 0.0)


def _alike(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=SAME, abs_tol=1e-9) or math.isnan(one) or math.isnan(other)
