"""A robot that is changed for a scene: on a pedestal, or with other masses."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.collision_geometry import ROUNDING, root_corners
from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import INERTIA, add_inertial, add_joint
from simbench.robot.urdf.source import build_model

PEDESTAL = "base_pedestal"  # Link of the pedestal.

_RADII = (0.05, 0.25)  # Least and largest radius of a pedestal, m.
_FLOOR_GAP = 0.001  # Distance of the pedestal from the floor, m, so that they are not in contact.
_COLOR = "0.33 0.34 0.36 1"


def on_pedestal(robot: Robot, height: float) -> Robot:
    """Put a pedestal under a robot with a fixed base, if there is a gap between it and the floor.

    The pedestal is a column, fixed to the root link. Every link that can hit the root link can hit it.
    `height`: height of its root link above the floor, m. Returns the robot with the link `base_pedestal`; as
    it was if it floats or stands on the floor.
    """
    if robot.floating or height <= 0.0 or robot.model.existBodyName(PEDESTAL):
        return robot
    low, high = _root_box(robot.urdf_text)
    length = height + float(low[2])
    if length < ROUNDING:
        return robot
    radius = float(np.clip(0.5 * (high - low)[:2].min(), *_RADII))
    root = robot.model.frames[1].name if robot.model.nframes > 1 else ""
    middle = (0.0, 0.0, float(low[2]) - 0.5 * length)
    urdf = ET.fromstring(robot.urdf_text)
    link = ET.SubElement(urdf, "link", name=PEDESTAL)
    for tag in ("visual", "collision"):
        shape = ET.SubElement(link, tag)
        ET.SubElement(shape, "origin", xyz=_numbers(middle), rpy="0 0 0")
        geometry = ET.SubElement(shape, "geometry")
        column = length - 2.0 * _FLOOR_GAP
        ET.SubElement(geometry, "cylinder", radius=f"{radius:.9g}", length=f"{column:.9g}")
        if tag == "visual":
            material = ET.SubElement(shape, "material", name=PEDESTAL)
            ET.SubElement(material, "color", rgba=_COLOR)
    add_inertial(link, 1.0, middle, (1.0, 1.0, 1.0, 0.0, 0.0, 0.0), _numbers)
    add_joint(urdf, f"{PEDESTAL}_joint", "fixed", root, PEDESTAL, "0 0 0", "0 0 0")
    ET.indent(urdf)
    text = ET.tostring(urdf, encoding="unicode")
    model = build_model(text, robot.urdf)
    model.armature = robot.model.armature.copy()
    fixed = {frame.name for frame in robot.model.frames if frame.parentJoint == 0}
    hitting = dict.fromkeys(
        link
        for pair in robot.self_collision_pairs
        for link, other in (pair, pair[::-1])
        if other in fixed and link not in fixed
    )
    pairs = (*robot.self_collision_pairs, *((link, PEDESTAL) for link in hitting))
    return replace(robot, model=model, urdf_text=text, self_collision_pairs=pairs)


def _numbers(values: Iterable[float]) -> str:
    """Write numbers with nine digits."""
    return " ".join(f"{value:.9g}" for value in values)


@lru_cache(maxsize=8)
def _root_box(urdf_text: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lowest and highest corner (3,) of the shapes that no joint moves, m."""
    model = build_model(urdf_text, "robot on a fixed base")
    corners = root_corners(model, urdf_text)
    return corners.min(axis=0, initial=0.0), corners.max(axis=0, initial=0.0)


_STREAM = 1  # Second part of the seed, which makes these draws independent of those of the virtual actor.


def draw_variation(
    seed: int, robot: Robot, mass_fraction: float, friction_fraction: float
) -> tuple[Robot, float]:
    """Draw the friction of the floor, then the masses of the links by name.

    The mass and the inertia of each link with mass are multiplied by a random factor. Centres of mass stay
    where they are in their links; motors, gains, limits and geometry do not change. A seed gives the same
    directions of change at every fraction: twice the fraction changes everything twice as much. `seed`: seed
    of the random numbers, of which one is drawn for the friction, then one for each link with mass, in the
    order of the links' names; `robot`: the robot to vary; `mass_fraction`, `friction_fraction`: largest
    relative change of the masses and of the friction; 0 ≤ fraction < 1. Returns `robot`: the robot with
    `urdf_text` and `model.inertias` changed consistently, and factors uniform in 1 ± mass_fraction; the same
    object if that is 0; `friction_factor`: factor for the floor's friction, uniform in 1 ± friction_fraction.
    Raises RobotError if a fraction is out of range.
    """
    for what, fraction in (("friction", friction_fraction), ("mass", mass_fraction)):
        if not 0.0 <= fraction < 1.0:
            raise RobotError(f"variation: {what} fraction {fraction:g} must be at least 0 and less than 1")
    rng = np.random.default_rng([seed, _STREAM])
    friction_factor = 1.0 + friction_fraction * rng.uniform(-1.0, 1.0)
    if mass_fraction == 0.0:
        return robot, friction_factor
    root = ET.fromstring(robot.urdf_text)
    for link in sorted(root.findall("link"), key=lambda element: element.get("name", "")):
        mass = link.find("inertial/mass")
        if mass is None or float(mass.get("value", "0")) == 0.0:
            continue
        factor = 1.0 + mass_fraction * rng.uniform(-1.0, 1.0)
        changed = [(mass, "value")]
        changed += [(inertia, entry) for inertia in link.findall("inertial/inertia") for entry in INERTIA]
        for element, attribute in changed:
            element.set(attribute, repr(factor * float(element.get(attribute, "0"))))
    text = ET.tostring(root, encoding="unicode")
    free = (pin.JointModelFreeFlyer(),) if robot.floating else ()
    # Links on fixed joints are merged with the body of the joint before them; only Pinocchio knows with
    # which.
    inertias = pin.buildModelFromXML(text, *free).inertias
    model = robot.model.copy()
    for joint in range(model.njoints):
        model.inertias[joint] = inertias[joint]
    return replace(robot, model=model, urdf_text=text), friction_factor
