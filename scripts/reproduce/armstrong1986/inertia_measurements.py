"""Simulated measurements of inertia by the paper's two methods: two-wire suspension, and torsional spring."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
from oscillation import oscillation_frequency, torsional_spring_inertia, two_wire_inertia

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Friction, Robot
from simbench.sim.control.laws import PdLaw
from simbench.sim.engine import GRAVITY, open_engine
from simbench.sim.loop import make_controller
from simbench.sim.state import empty_state

_WIRE_TIMESTEP = 2.5e-4
LENGTH, DISTANCE, ABOVE = 0.5, 0.2, 0.15
"""Length of the wires, their distance from the axis, and height of their ends above the COG, m."""
STRETCH = 1e-4
"""Elongation of the wires under the weight, m."""
TWIST = 0.05
"""Initial rotation about the vertical, rad."""
SWINGS = 4


def measure_on_two_wires(
    body: pin.Inertia, engine: str | None = None, timestep: float = _WIRE_TIMESTEP
) -> Array:
    """Measure a body's moments of inertia about its three axes, one suspension after the other.

    `body`: diagonal in its axes; `engine`: physics engine, one of `sim.engine.ENGINES`; by default the usual
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
    body: pin.Inertia, axis: int, duration: float, engine: str | None = None, timestep: float = _WIRE_TIMESTEP
) -> tuple[Array, Array]:
    """Let a body hang on two wires by one of its axes, twisted a little and let go.

    `body`: mass and inertia, diagonal in the body's axes; `axis`: index of the axis that is vertical;
    `duration`: simulated time, s; `engine`: physics engine, one of `sim.engine.ENGINES`; by default the
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


_SPRING_TIMESTEP = 5e-4
SPRING_HZ, HELD_HZ = 1.5, 60.0
"""Approximate frequency at which the joint swings, and of the controller that holds the others, Hz."""
DISPLACED = 0.02
"""Initial displacement of the joint, rad."""
DURATION = 4.0
"""Simulated time, s."""


def measure_motor_inertia(robot: Robot, posture: str, joint: int) -> float:
    """Measure the inertia of a joint's motor and drive.

    The motor pulls the joint back like a spring, without damping; the others hold; the weight is carried by
    its model. The links' contribution is known, and is subtracted. There is no friction here, against which
    the paper had to use positive velocity feedback. `robot`: robot with a fixed root; `posture`: name of the
    posture about which the joint swings; `joint`: index of the joint; 0 is the first. Returns inertia of
    motor and drive at the joint, kg·m².
    """
    model, nothing = robot.model, np.zeros(len(robot.joint_names))
    rest = robot.postures[posture]
    whole = np.array(np.diag(pin.crba(model, model.createData(), rest)))
    stiffness = whole * (2 * np.pi * HELD_HZ) ** 2
    damping = 2 * whole * 2 * np.pi * HELD_HZ
    stiffness[joint], damping[joint] = whole[joint] * (2 * np.pi * SPRING_HZ) ** 2, 0.0
    prepared = replace(
        robot,
        motors=replace(robot.motors, stiffness=stiffness, damping=damping),
        friction=Friction(nothing, nothing, nothing),
    )
    start = rest.copy()
    start[joint] += DISPLACED
    steps = round(DURATION / _SPRING_TIMESTEP)
    angle = np.empty(steps)
    with open_engine().open_world(_SPRING_TIMESTEP) as world:
        body = world.add_robot(prepared, np.array([0, 0, 0, 0, 0, 0, 1.0]), start)
        model, data = body.robot.model, body.robot.model.createData()
        controller = make_controller(body, PdLaw(body.robot, _SPRING_TIMESTEP))
        state = empty_state(body.robot)
        for step in range(steps):
            body.read_state(state)
            angle[step] = state.q[joint]
            weight = pin.computeGeneralizedGravity(model, data, state.q)
            controller.step(state, controller.demand(rest, nothing, weight))
            world.step()
    time = np.arange(steps, dtype=float) * _SPRING_TIMESTEP
    total = torsional_spring_inertia(stiffness[joint], oscillation_frequency(time, angle))
    links = whole[joint] - robot.motors.reflected_inertia[joint]
    return total - links
