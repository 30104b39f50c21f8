"""Pushes: horizontal forces on the pelvis for a short time, as half a sine."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.options import PushSection, SimulationSection
from simbench.sim.control.command import Load
from simbench.sim.vectors import cross, inverse, product, rotated
from simbench.sim.world import RobotBody, bullet


@dataclass(frozen=True)
class Push:
    """A force F(t) = (π / 2) (J / T) sin(π t / T) for 0 ≤ t ≤ T, whose impulse is J.

    Parameters
    ----------
    impulse : float
        J, N·s.
    direction : float
        Angle in the floor's plane from world x, rad.
    start, duration : int
        Physics steps.
    """

    impulse: float
    direction: float
    start: int
    duration: int


def apply_pushes(
    body: RobotBody, pushes: Sequence[Push], step: int, loads: list[Load]
) -> NDArray[np.float64]:
    """Push a free robot in this step, at the centre of mass of its root link.

    Parameters
    ----------
    body : RobotBody
    pushes : sequence of Push
    step : int
    loads : list of Load
        Extended by what was applied, for the controller's prediction.

    Returns
    -------
    (6,) array
        Force (N) and its moment about the world's origin (N·m).
    """
    wrench = np.zeros(6)
    for push in pushes:
        passed = step - push.start
        if not 0 <= passed < push.duration:
            continue
        # The sines of all the steps' middles add up to 1 / sin(π / 2T).
        peak = push.impulse / body.world.timestep * math.sin(0.5 * math.pi / push.duration)
        size = peak * math.sin(math.pi * (passed + 0.5) / push.duration)
        force = (size * math.cos(push.direction), size * math.sin(push.direction), 0.0)
        client = body.world.client
        place, turned = bullet.getBasePositionAndOrientation(body.body, physicsClientId=client)
        bullet.applyExternalForce(body.body, -1, force, place, bullet.WORLD_FRAME, physicsClientId=client)
        # In the root link's frame, whose origin is not the centre of mass.
        own = rotated(inverse(product(turned, body.inertial_turn)), force)
        loads.append((1, (*own, *cross(body.root_inertial[0], own))))
        wrench += (*force, *cross(place, force))
    return wrench


def planned_pushes(section: PushSection | None, settings: SimulationSection) -> tuple[Push, ...]:
    """Lay pushes out in physics steps.

    Parameters
    ----------
    section : PushSection or None
    settings : SimulationSection

    Returns
    -------
    tuple of Push
    """
    if section is None:
        return ()

    def steps(time: float) -> int:
        return round(time / settings.timestep_s)

    return tuple(
        Push(
            impulse=section.first_ns + number * section.increment_ns,
            direction=section.direction_rad,
            start=steps(settings.settle_s + section.start_s + number * section.interval_s),
            duration=max(1, steps(section.duration_s)),
        )
        for number in range(section.count)
    )
