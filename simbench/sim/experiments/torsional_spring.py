"""Inertia of motor and drive from a joint whose motor acts as a spring (Armstrong 1986, sections 5 and 6)."""

from dataclasses import replace

import numpy as np
import pinocchio as pin

from simbench.calibration.oscillation import oscillation_frequency, torsional_spring_inertia
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Friction, Robot
from simbench.sim.control.controller import make_controller
from simbench.sim.control.laws import PdLaw
from simbench.sim.engines import open_engine
from simbench.sim.state import empty_state

TIMESTEP = 5e-4
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
    whole = _inertia(model, robot.postures[posture])
    stiffness = whole * (2 * np.pi * HELD_HZ) ** 2
    damping = 2 * whole * 2 * np.pi * HELD_HZ
    stiffness[joint], damping[joint] = whole[joint] * (2 * np.pi * SPRING_HZ) ** 2, 0.0
    prepared = replace(
        robot,
        motors=replace(robot.motors, stiffness=stiffness, damping=damping),
        friction=Friction(nothing, nothing, nothing),
    )
    time, angle = _swing(prepared, robot.postures[posture], joint)
    total = torsional_spring_inertia(stiffness[joint], oscillation_frequency(time, angle))
    links = whole[joint] - robot.motors.reflected_inertia[joint]
    return total - links


def _inertia(model: pin.Model, q: Array) -> Array:
    """Diagonal of the inertia matrix A, motors included."""
    return np.array(np.diag(pin.crba(model, model.createData(), q)))


def _swing(robot: Robot, posture: Array, joint: int) -> tuple[Array, Array]:
    """Displace a joint, let go, and return time and angle, (T,) each."""
    start = posture.copy()
    start[joint] += DISPLACED
    steps, still = round(DURATION / TIMESTEP), np.zeros(len(posture))
    angle = np.empty(steps)
    with open_engine().open_world(TIMESTEP) as world:
        body = world.add_robot(robot, np.array([0, 0, 0, 0, 0, 0, 1.0]), start)
        model, data = body.robot.model, body.robot.model.createData()
        controller, state = make_controller(body, PdLaw(body.robot, TIMESTEP)), empty_state(body.robot)
        for step in range(steps):
            body.read_state(state)
            angle[step] = state.q[joint]
            weight = pin.computeGeneralizedGravity(model, data, state.q)
            controller.step(state, controller.demand(posture, still, weight))
            world.step()
    return np.arange(steps, dtype=float) * TIMESTEP, angle
