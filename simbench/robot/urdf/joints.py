"""Conversion of the joints of a URDF to a form that both Pinocchio and Bullet read in the same way."""

import math
import xml.etree.ElementTree as ET

from simbench.robot.urdf.elements import UrdfJoint
from simbench.robot.urdf.errors import MOVING

UNLIMITED_TRAVEL = 1e4
"""Position limit of an unlimited joint, rad or m: far beyond any motion, small enough to be exact."""
UNLIMITED_EFFORT = 1e6
"""Limit of an unlimited effort, N·m or N: no motor of a robot reaches it."""
UNLIMITED_VELOCITY = 1e4
"""Limit of an unlimited speed, rad/s or m/s."""
NO_TRAVEL = "has no travel limits"
ROUNDING = 1e-3
"""A deviation of an axis' length from 1 that is not reported, because it is due to rounding."""


def normalise_joint(element: ET.Element, joint: UrdfJoint) -> list[str]:
    """Give a moving joint a unit axis and complete limits, in place.

    `joint`: the same joint, as it was read. Returns what changed, one line each.
    """
    if joint.kind not in MOVING:
        return []
    notes = _unit_axis(element, joint)
    limit = element.find("limit")
    if limit is None:
        limit = ET.SubElement(element, "limit")
    notes += _complete_limits(element, limit, joint)
    mimic = element.find("mimic")
    if mimic is not None:
        element.remove(mimic)
        notes.append(f"joint `{joint.name}`: mimics `{joint.mimic}`; taken as a joint that moves by itself")
    return notes


def find_position_limit_error(joint: UrdfJoint) -> str | None:
    """Find out why the position limits of a moving joint cannot be used as they are.

    Returns the reason; None if they can be used.
    """
    if joint.lower is None and joint.upper is None:
        return NO_TRAVEL
    lower, upper = joint.lower or 0.0, joint.upper or 0.0
    return f"lower limit {lower:g} is above the upper {upper:g}" if lower > upper else None


def _unit_axis(element: ET.Element, joint: UrdfJoint) -> list[str]:
    """Scale the axis of a joint to unit length, in place; say so unless it was only rounded."""
    length = math.hypot(*joint.axis)
    axis = element.find("axis")
    if axis is None or not length > 0 or abs(length - 1) < 1e-9:
        return []
    # Pinocchio normalises the axis, Bullet does not.
    axis.set("xyz", " ".join(f"{value / length:.12g}" for value in joint.axis))
    if abs(length - 1) < ROUNDING:
        return []
    return [f"joint `{joint.name}`: axis has length {length:g}; made 1"]


def _complete_limits(element: ET.Element, limit: ET.Element, joint: UrdfJoint) -> list[str]:
    """Write limits of position, effort and velocity where the URDF gives none that can be used."""
    missing, notes = [], []
    problem = None if joint.kind == "continuous" else find_position_limit_error(joint)
    if joint.kind == "continuous" or problem:
        limit.set("lower", f"{-UNLIMITED_TRAVEL:g}")
        limit.set("upper", f"{UNLIMITED_TRAVEL:g}")
        element.set("type", "revolute" if joint.kind == "continuous" else joint.kind)
    else:
        notes += _bound_travel(limit, joint)
    if problem == NO_TRAVEL:
        missing.append("travel")
    elif problem:
        notes.append(f"joint `{joint.name}`: {problem}; taken as unlimited")
    for attribute, value, unlimited in (
        ("effort", joint.effort, UNLIMITED_EFFORT),
        ("velocity", joint.velocity, UNLIMITED_VELOCITY),
    ):
        if value is None or not 0 < value <= unlimited:
            limit.set(attribute, f"{unlimited:g}")
        if value is None:
            missing.append(attribute)
        elif not (math.isnan(value) or 0 < value <= unlimited):
            # What is no number is an error of its own.
            notes.append(f"joint `{joint.name}`: {attribute} limit is {value:g}; taken as unlimited")
    if missing:
        listed = ", ".join(missing)
        notes.insert(0, f"joint `{joint.name}`: no limits of {listed} given; taken as unlimited")
    return notes


def _bound_travel(limit: ET.Element, joint: UrdfJoint) -> list[str]:
    """Reduce position limits that stand for none to those of an unlimited joint, in place."""
    notes = []
    for attribute, value in (("lower", joint.lower), ("upper", joint.upper)):
        if value is not None and abs(value) > UNLIMITED_TRAVEL:
            bound = math.copysign(UNLIMITED_TRAVEL, value)
            limit.set(attribute, f"{bound:g}")
            notes.append(f"joint `{joint.name}`: {attribute} limit is {value:g}; taken as {bound:g}")
    return notes
