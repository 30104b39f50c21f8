"""A scenario's equipment: its design, where hands can hold it, and how far an actor moved it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from simbench.motion.handles import Handle
from simbench.plan_balance import Resistance
from simbench.retarget.hand_plan import HandPlan
from simbench.retarget.obstacles import Obstacle
from simbench.retarget.scaling import SIDES
from simbench.robot.robot import Robot
from simbench.scenario_schema import DrawerSection
from simbench.sim.fixtures import DrawerDesign, fixture_obstacles, handle_poses

_PLACES = 101
"""Along a fixture's travel, at which its handles are described."""


def fixture_design(section: DrawerSection) -> DrawerDesign:
    """Take the dimensions that a scenario gives a fixture.

    Parameters
    ----------
    section : DrawerSection

    Returns
    -------
    DrawerDesign
    """
    return DrawerDesign(**{field.name: getattr(section, field.name) for field in fields(DrawerDesign)})


def fixture_handles(designs: list[DrawerDesign]) -> Mapping[str, Handle]:
    """Describe what the fixture a robot works with lets its hands hold.

    Parameters
    ----------
    designs : list of Design

    Returns
    -------
    {side: Handle}
        World; empty without equipment.
    """
    if not designs:
        return {}
    openings = np.linspace(0.0, designs[0].travel_m, _PLACES)
    poses = [handle_poses(designs[0], float(opening)) for opening in openings]
    return {side: Handle(np.array([pose[side].homogeneous for pose in poses])) for side in SIDES}


def fixture_surroundings(designs: list[DrawerDesign], robot: Robot) -> Callable[[HandPlan], list[Obstacle]]:
    """Say what a robot has to keep clear of while its hands move the equipment.

    Parameters
    ----------
    designs : list of Design
    robot : Robot
        Its palms and fingers may touch what they move.

    Returns
    -------
    callable (HandPlan) -> list of Obstacle
    """
    touching = [link for hand in robot.hands.values() for link in (hand.palm, *hand.fingers)]

    def surroundings(hands: HandPlan) -> list[Obstacle]:
        return [
            part
            for design in designs
            for part in fixture_obstacles(design, actor_travel(design, hands), touching)
        ]

    return surroundings


def actor_travel(design: DrawerDesign, hands: HandPlan) -> NDArray[np.float64]:
    """Compute the opening of a drawer that the actor's palms ask for.

    Parameters
    ----------
    design : DrawerDesign
    hands : HandPlan

    Returns
    -------
    (T,) array
        m; the start opening while the hands are off.
    """
    closed, opened = (handle_poses(design, opening)["left"].translation for opening in (0.0, 1.0))
    axis = opened - closed
    middle = np.mean([hands.actor[side][:, :3, 3] for side in SIDES], axis=0)
    handle = np.mean([handle_poses(design, 0.0)[side].translation for side in SIDES], axis=0)
    touching = hands.contact["left"] & hands.contact["right"]
    return np.where(touching, (middle - handle) @ axis, design.start_opening_m)


def fixture_resistance(designs: Sequence[DrawerDesign]) -> Resistance | None:
    """Take from a design what the equipment in the hands opposes to being moved; nothing without equipment.

    Parameters
    ----------
    designs : sequence of Design
        The hands hold the first.

    Returns
    -------
    Resistance or None
    """
    if not designs:
        return None
    design = designs[0]
    return Resistance(design.friction_n, design.damping_ns_m, design.mass_kg)
