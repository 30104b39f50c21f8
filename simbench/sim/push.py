"""Pushes: horizontal forces on the pelvis for a short time, as half a sine."""

import math
from collections.abc import Sequence

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.options import PushSection, SimulationSection
from simbench.sim.control.command import Load
from simbench.sim.engine import RobotBody
from simbench.sim.state import Signal
from simbench.sim.vectors import conjugate, cross, rotate

# A force F(t) = (π / 2) (J / T) sin(π t / T) for 0 ≤ t ≤ T: its impulse J, N·s; angle in the floor's plane
# from world x, rad; first step, and number of steps.
Push = tuple[float, float, int, int]


def apply_pushes(body: RobotBody, pushes: Sequence[Push], step: int, loads: list[Load]) -> Array:
    """Push a free robot in this step, at the centre of mass of its root link.

    `pushes`: pushes of the whole run; `step`: index of this step; `loads`: known loads of this step, for the
    controller's prediction; the pushes are appended. Returns (6,): sum of the pushes: force (N) and its
    moment about the world's origin (N·m).
    """
    wrench = np.zeros(6)
    for impulse, direction, start, duration in pushes:
        elapsed = step - start
        if not 0 <= elapsed < duration:
            continue
        # The sines of all the steps' middles add up to 1 / sin(π / 2T).
        peak = impulse / body.world.timestep * math.sin(0.5 * math.pi / duration)
        magnitude = peak * math.sin(math.pi * (elapsed + 0.5) / duration)
        force = (magnitude * math.cos(direction), magnitude * math.sin(direction), 0.0)
        com, rotation = body.root_com_frame()
        body.apply_force(body.root, force, com)
        # In the root link's frame, whose origin is not the centre of mass.
        in_root = rotate(conjugate(rotation), force)
        loads.append((1, (*in_root, *cross(body.root_com, in_root))))
        wrench += (*force, *cross(com, force))
    return wrench


# What is logged of pushes, measured on what `apply_pushes` returns.
PUSH_SIGNALS: tuple[Signal[Array], ...] = (
    Signal(
        "push_wrench",
        ("axis6",),
        "N, N m about the world origin",
        "Wrench of the pushes on the robot.",
        lambda wrench: wrench,
    ),
)


def plan_pushes(section: PushSection, settings: SimulationSection) -> tuple[Push, ...]:
    """Convert the pushes of a scenario to physics steps.

    `section`: section `push` of the scenario; `settings`: section `simulation`: time
    step, and the time before anything moves. Returns pushes in the order of their times.
    """

    def steps(time: float) -> int:
        return round(time / settings.timestep_s)

    return tuple(
        (
            section.first_ns + number * section.increment_ns,
            section.direction_rad,
            steps(settings.settle_s + section.start_s + number * section.interval_s),
            max(1, steps(section.duration_s)),
        )
        for number in range(section.count)
    )
