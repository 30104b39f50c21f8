"""Random variation of the masses of a robot's links and of the friction of the floor."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import INERTIA

_STREAM = 1
"""Second part of the seed, which makes these draws independent of those of the virtual actor."""


def draw_variation(
    seed: int, robot: Robot, mass_fraction: float, friction_fraction: float
) -> tuple[Robot, float]:
    """Draw the friction of the floor, then the masses of the links by name.

    A seed gives the same directions of change at every fraction: twice the fraction changes everything twice
    as much. `seed`: seed of the random numbers; `robot`: the robot to vary; `mass_fraction`,
    `friction_fraction`: largest relative change of the masses and of the friction; 0 ≤ fraction < 1. Returns
    `robot`: the robot with the masses that `vary_masses` draws; `friction_factor`: factor for the floor's
    friction, uniform in 1 ± friction_fraction. Raises RobotError if a fraction is out of range.
    """
    _require_fraction("friction", friction_fraction)
    rng = np.random.default_rng([seed, _STREAM])
    friction_factor = 1.0 + friction_fraction * rng.uniform(-1.0, 1.0)
    return vary_masses(robot, rng, mass_fraction), friction_factor


def vary_masses(robot: Robot, rng: np.random.Generator, fraction: float) -> Robot:
    """Multiply the mass and the inertia of each link with mass by a random factor.

    Centres of mass stay where they are in their links. Motors, gains, limits and geometry do not change.
    `rng`: generator, from which one number is drawn for each link with mass, in the order of the links'
    names; `fraction`: largest relative change: the factors are uniform in 1 ± fraction; 0 ≤ fraction < 1.
    Returns the robot with `urdf_text` and `model.inertias` changed consistently; the same object if the
    fraction is 0. Raises RobotError if the fraction is out of range.
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
    # Links on fixed joints are merged with the body of the joint before them; only Pinocchio knows with
    # which.
    inertias = pin.buildModelFromXML(text, *free).inertias
    model = robot.model.copy()
    for joint in range(model.njoints):
        model.inertias[joint] = inertias[joint]
    return replace(robot, model=model, urdf_text=text)


def _scale(element: ET.Element, attribute: str, factor: float) -> None:
    """Multiply a number in an attribute, in place."""
    element.set(attribute, repr(factor * float(element.get(attribute, "0"))))


def _require_fraction(what: str, fraction: float) -> None:
    """Refuse a fraction that is out of range."""
    if not 0.0 <= fraction < 1.0:
        raise RobotError(f"variation: {what} fraction {fraction:g} must be at least 0 and less than 1")
