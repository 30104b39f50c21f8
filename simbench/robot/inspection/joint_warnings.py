"""Warnings about joint limits that look wrong, and about sides of a robot that differ."""

import math
from collections.abc import Iterator, Sequence

from simbench.robot.inspection.link_warnings import mass_properties
from simbench.robot.urdf.elements import UrdfJoint, UrdfLink
from simbench.robot.urdf.joints import find_position_limit_error

SIDE_NAME_PAIRS = (
    ("left", "right"),
    ("Left", "Right"),
    ("LEFT", "RIGHT"),
    ("l_", "r_"),
    ("L_", "R_"),
    ("_l", "_r"),
)
SAME = 0.01
"""Relative difference up to which masses and moments of the two sides count as the same."""


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
                left, right = mass_properties(link), mass_properties(named_links[other])
                if not _is_close(left.mass, right.mass):
                    yield f"links `{name}`, `{other}`: masses differ: {left.mass:g}, {right.mass:g} kg"
                elif not all(map(_is_close, left.principal, right.principal)):
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
