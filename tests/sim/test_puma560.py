"""PUMA 560 in Bullet: what its motors' torques do, with reflected inertia and friction."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.loop import make_controller
from simbench.sim.state import empty_state

DT = 1e-3
JOINTS = range(6)
# Armstrong, Khatib & Burdick (1986), table 7, N·m.
BREAKAWAY = (6.3, 5.5, 2.6, 1.3, 1.0, 1.2)


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.fixture(scope="module")
def push(puma):
    """Hold the weight in the ready posture, add torques, and return joint angles and speeds, (steps, 6)."""

    def run(torque, steps, *, robot=puma, slow_start=0):
        nothing = np.zeros(6)
        quiet = dataclasses.replace(robot.motors, stiffness=nothing, damping=nothing)
        robot = dataclasses.replace(robot, motors=quiet)
        start = robot.postures["ready"]
        angles, speeds = np.empty((steps, 6)), np.empty((steps, 6))
        with open_world(DT) as world:
            body = world.add_robot(robot, np.array([0, 0, 0, 0, 0, 0, 1.0]), start)
            model, data = body.robot.model, body.robot.model.createData()
            controller, state = make_controller(body), empty_state(body.robot)
            for step in range(steps):
                body.read_state(state)
                weight = pin.computeGeneralizedGravity(model, data, state.q)
                share = min(1.0, (step + 1) / slow_start) if slow_start else 1.0
                controller.step(state, controller.demand(nothing, nothing, weight + share * torque))
                world.step()
                body.read_state(state)
                angles[step], speeds[step] = state.q, state.v
        return angles, speeds

    return run


def on(joint, torque):
    vector = np.zeros(6)
    vector[joint] = torque
    return vector


def inertia(robot):
    """A + I_m in the ready posture, kg·m²."""
    upper = np.triu(pin.crba(robot.model, robot.model.createData(), robot.postures["ready"]))
    return upper + np.triu(upper, 1).T


@pytest.mark.parametrize("joint", JOINTS)
def test_a_torque_step_accelerates_links_and_rotors(puma, push, joint):
    """At rest h is the weight, which is held: q̈ = (A + I_m)⁻¹ τ for all joints at once."""
    none = np.zeros(6)
    smooth = dataclasses.replace(
        puma, friction=dataclasses.replace(puma.friction, coulomb=none, breakaway=none, viscous=none)
    )
    torque = on(joint, 0.4 * puma.motors.torque_limit[joint])
    _, speeds = push(torque, 5, robot=smooth)
    expected = np.linalg.solve(inertia(puma), torque)
    np.testing.assert_allclose(speeds[0] / DT, expected, atol=1e-6 * np.abs(expected).max())
    np.testing.assert_allclose(speeds[-1] / (5 * DT), expected, atol=0.01 * np.abs(expected).max())
    # The rotors count: without them the wrist would be a hundred times faster.
    links = inertia(puma) - np.diag(puma.motors.reflected_inertia)
    assert abs(np.linalg.solve(links, torque)[joint]) > 1.1 * abs(expected[joint])


@pytest.mark.parametrize("joint", JOINTS)
def test_a_torque_step_above_break_away_accelerates_by_what_friction_leaves(puma, push, joint):
    """Others rest as long as the motion of this one does not drag them off: a constrained (A + I_m)."""
    torque = 3.0 * BREAKAWAY[joint]
    _, speeds = push(on(joint, torque), 1)
    moved = speeds[0] != 0.0
    moved &= np.abs(speeds[0]) > 1e-9
    assert moved[joint]
    left = on(joint, torque) - np.where(moved, np.sign(speeds[0]) * puma.friction.coulomb, 0.0)
    free = np.flatnonzero(moved)
    viscous = DT * np.diag(puma.friction.viscous)[np.ix_(free, free)]
    expected = np.linalg.solve(inertia(puma)[np.ix_(free, free)] + viscous, left[free])
    np.testing.assert_allclose(speeds[0][free] / DT, expected, rtol=1e-4)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("joint", JOINTS)
def test_a_joint_rests_under_half_its_break_away_torque(push, puma, joint, sign):
    angles, speeds = push(on(joint, 0.5 * sign * BREAKAWAY[joint]), 2000)
    assert np.abs(speeds).max() < 1e-7
    np.testing.assert_allclose(angles[-1], puma.postures["ready"], atol=1e-7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("joint", JOINTS)
def test_a_joint_moves_above_its_break_away_torque_and_not_below(push, puma, joint, sign):
    """A torque that grows slowly: at rest until break-away, then off at once."""
    steps = 1000
    _, speeds = push(on(joint, 1.2 * sign * BREAKAWAY[joint]), steps, slow_start=steps)
    first = int(np.flatnonzero(np.abs(speeds[:, joint]) > 1e-6)[0])
    assert 1.2 * (first + 1) / steps == pytest.approx(1.0, abs=0.003)
    assert sign * speeds[-1, joint] > 0.01


def test_a_turning_joint_comes_to_rest_where_friction_says(puma):
    """Joint 6 alone, motor off: J v̇ = −f_c − d v stops after (J / d) ln(1 + d v₀ / f_c), and stays."""
    friction = puma.friction
    coulomb, viscous = friction.coulomb[5], friction.viscous[5]
    moved = 1.0 / np.linalg.inv(inertia(puma))[5, 5]
    assert moved == pytest.approx(0.193, rel=0.01)
    start, speed = puma.postures["ready"], 2.0
    nothing = np.zeros(6)
    quiet = dataclasses.replace(puma.motors, stiffness=nothing, damping=nothing)
    with open_world(DT) as world:
        body = world.add_robot(
            dataclasses.replace(puma, motors=quiet), np.array([0, 0, 0, 0, 0, 0, 1.0]), start
        )
        bullet.resetJointState(body.handle, body.joints[5], start[5], speed, physicsClientId=world.client)
        model, data = puma.model, puma.model.createData()
        controller, state = make_controller(body), empty_state(body.robot)
        speeds = []
        for _ in range(600):
            body.read_state(state)
            speeds.append(state.v[5])
            weight = pin.computeGeneralizedGravity(model, data, state.q)
            controller.step(state, controller.demand(nothing, nothing, weight))
            world.step()
    stopped = DT * np.flatnonzero(np.abs(speeds) < 1e-7)[0]
    assert stopped == pytest.approx(moved / viscous * np.log(1.0 + viscous * speed / coulomb), abs=0.005)
    assert np.abs(speeds[int(stopped / DT) :]).max() < 1e-7
