"""A body on two wires that twists to and fro (Armstrong 1986, figure 1)."""

import numpy as np
import pinocchio as pin

from simbench.calibration.oscillation import oscillation_frequency, two_wire_inertia
from simbench.kinematics.arrays import Array
from simbench.sim.engine import GRAVITY
from simbench.sim.engines import open_engine

TIMESTEP = 2.5e-4
LENGTH, DISTANCE, ABOVE = 0.5, 0.2, 0.15
"""Length of the wires, their distance from the axis, and height of their ends above the COG, m."""
STRETCH = 1e-4
"""Elongation of the wires under the weight, m."""
TWIST = 0.05
"""Initial rotation about the vertical, rad."""
SWINGS = 4


def measure_on_two_wires(body: pin.Inertia, engine: str | None = None, timestep: float = TIMESTEP) -> Array:
    """Measure a body's moments of inertia about its three axes, one suspension after the other.

    `body`: diagonal in its axes; `engine`: physics engine, one of `sim.engines.ENGINES`; by default the usual
    one; `timestep`: physics step, s. Returns (3,): principal moments of inertia about the centre of gravity,
    kg·m².
    """
    measured = []
    for axis in range(3):
        # An estimate of the period, only to choose the duration.
        period = np.pi * np.sqrt(body.inertia[axis, axis] * LENGTH / (body.mass * GRAVITY)) / DISTANCE
        time, angle = twist_on_two_wires(body, axis, 2 * SWINGS * period, engine, timestep)
        frequency = oscillation_frequency(time, angle)
        measured.append(two_wire_inertia(body.mass, GRAVITY, DISTANCE, LENGTH, frequency))
    return np.array(measured)


def twist_on_two_wires(
    body: pin.Inertia, axis: int, duration: float, engine: str | None = None, timestep: float = TIMESTEP
) -> tuple[Array, Array]:
    """Let a body hang on two wires by one of its axes, twisted a little and let go.

    `body`: mass and inertia, diagonal in the body's axes; `axis`: index of the axis that is vertical;
    `duration`: simulated time, s; `engine`: physics engine, one of `sim.engines.ENGINES`; by default the
    usual one; `timestep`: physics step, s. Returns `time`, `angle` (T,): time (s) and angle of the twist
    (rad).
    """
    # Axis up, the wires' ends along the next one.
    upright = np.roll(np.eye(3), -axis - 1, axis=0)
    ends = np.array([[DISTANCE, 0.0, ABOVE], [-DISTANCE, 0.0, ABOVE]])
    anchors = ends + np.array([0.0, 0.0, LENGTH])
    stiffness = body.mass * GRAVITY / (2 * STRETCH)
    steps = round(duration / timestep)
    angle = np.empty(steps)
    with open_engine(engine).open_world(timestep) as world:
        start = pin.rpy.rpyToMatrix(0.0, 0.0, TWIST) @ upright
        quaternion = tuple(pin.Quaternion(start).coeffs().tolist())
        hung = world.add_rigid_body(body.mass, np.diag(body.inertia), quaternion)
        for step in range(steps):
            position, rotation = hung.pose()
            turned = rotation @ upright.T
            angle[step] = np.arctan2(turned[1, 0], turned[0, 0])
            for end, anchor in zip(ends, anchors, strict=True):
                at = np.array(position) + turned @ end
                wire = anchor - at
                length = np.linalg.norm(wire)
                # Under the weight the wire has the length that the formula assumes.
                pull = max(0.0, stiffness * (length - (LENGTH - STRETCH)))
                hung.apply_force((pull / length * wire).tolist(), at.tolist())
            world.step()
    return np.arange(steps, dtype=float) * timestep, angle
