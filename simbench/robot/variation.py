"""Robots whose links weigh other than their description says, and floors of other friction, by chance."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import INERTIA

_STREAM = 1
"""Keeps these draws apart from those that the seed alone gives the virtual actor."""


def draw_variation(
    seed: int, robot: Robot, mass_fraction: float, friction_fraction: float
) -> tuple[Robot, float]:
    """Draw a floor and a robot: friction first, then the links by name.

    A seed means the same directions at every fraction: twice the fraction is twice as far off.

    Parameters
    ----------
    seed : int
    robot : Robot
    mass_fraction, friction_fraction : float
        0 ≤ fraction < 1.

    Returns
    -------
    robot : Robot
        From `vary_masses`.
    friction_factor : float
        What to multiply the floor's friction by, uniform in 1 ± friction_fraction.

    Raises
    ------
    RobotError
        If a fraction is out of range.
    """
    _require_fraction("friction", friction_fraction)
    rng = np.random.default_rng([seed, _STREAM])
    friction_factor = 1.0 + friction_fraction * rng.uniform(-1.0, 1.0)
    return vary_masses(robot, rng, mass_fraction), friction_factor


def vary_masses(robot: Robot, rng: np.random.Generator, fraction: float) -> Robot:
    """Multiply the mass and the inertia of every link that has mass by a factor of its own.

    Centres of mass stay within their links. Motors, gains, limits and geometry are the robot's.

    Parameters
    ----------
    robot : Robot
    rng : numpy.random.Generator
        Gives one number a link with mass, in the order of the links' names.
    fraction : float
        Factors are uniform in 1 ± fraction; 0 ≤ fraction < 1.

    Returns
    -------
    Robot
        With `urdf_text` and `model.inertias` changed alike; the robot itself at fraction 0.

    Raises
    ------
    RobotError
        If the fraction is out of range.
    """
    _require_fraction("mass", fraction)
    if fraction == 0.0:
        return robot
    root = ET.fromstring(robot.urdf_text)
    for link in sorted(root.findall("link"), key=lambda element: element.get("name", "")):
        mass = link.find("inertial/mass")
        if mass is None or float(mass.get("value", "0")) == 0.0:
            continue
        factor = 1.0 + fraction * rng.uniform(-1.0, 1.0)
        _scale(mass, "value", factor)
        for inertia in link.findall("inertial/inertia"):
            for entry in INERTIA:
                _scale(inertia, entry, factor)
    text = ET.tostring(root, encoding="unicode")
    free = (pin.JointModelFreeFlyer(),) if robot.floating else ()
    # Fixed links are part of their joint's body; only Pinocchio's reading says which.
    inertias = pin.buildModelFromXML(text, *free).inertias
    model = robot.model.copy()
    for joint in range(model.njoints):
        model.inertias[joint] = inertias[joint]
    return replace(robot, model=model, urdf_text=text)


def _scale(element: ET.Element, attribute: str, factor: float) -> None:
    element.set(attribute, repr(factor * float(element.get(attribute, "0"))))


def _require_fraction(what: str, fraction: float) -> None:
    if not 0.0 <= fraction < 1.0:
        raise RobotError(f"variation: {what} fraction {fraction:g} must be at least 0 and less than 1")
