"""Contacts that nobody told the controller about: a rotor's momentum reaches what the link hits."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control.joint_controller import ContactTorque
from simbench.sim.loop import make_controller
from simbench.sim.state import empty_state

DT = 1e-3
LENGTH, MASS, ROTOR = 0.5, 1.0, 0.4
ACROSS = MASS * LENGTH**2 / 12.0
INERTIA = MASS * LENGTH**2 / 3.0 + ROTOR
"""Of a thin rod about its end, and its rotor: four fifths of it are the rotor's."""


@pytest.fixture
def rod(tmp_path):
    """A rod that turns about a vertical axis, a sphere at its tip to touch with."""
    (tmp_path / "rod.urdf").write_text(
        f"""<robot name="rod">
        <link name="base"/>
        <link name="arm">
          <inertial><origin xyz="{LENGTH / 2} 0 0"/><mass value="{MASS}"/>
            <inertia ixx="1e-5" iyy="{ACROSS}" izz="{ACROSS}" ixy="0" ixz="0" iyz="0"/></inertial>
          <collision><origin xyz="{LENGTH} 0 0"/><geometry><sphere radius="0.02"/></geometry></collision>
        </link>
        <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
        <limit lower="-3" upper="3" effort="100" velocity="50"/></joint></robot>"""
    )
    (tmp_path / "robot.yaml").write_text(
        "name: rod\nurdf: rod.urdf\nbase: fixed\ngroups: {right_arm: [hinge]}\n"
        f"motors: {{hinge: {{reflected_inertia: {ROTOR}}}}}\ngains: {{hinge: [0, 0]}}\n"
    )
    return load_robot(tmp_path)


def block(world, mass, place):
    shape = bullet.createCollisionShape(
        bullet.GEOM_BOX, halfExtents=[0.05, 0.05, 0.05], physicsClientId=world.client
    )
    body = bullet.createMultiBody(mass, shape, basePosition=place, physicsClientId=world.client)
    bullet.changeDynamics(body, -1, linearDamping=0, angularDamping=0, physicsClientId=world.client)
    bullet.changeDynamics(body, -1, lateralFriction=0, physicsClientId=world.client)
    return body


def test_a_hit_block_receives_the_rotors_momentum(rod):
    """The rod turns at 1 rad/s into a free block in weightlessness; what it loses, the block has."""
    with open_world(DT) as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        body = world.add_robot(rod, np.array([0, 0, 1.0, 0, 0, 0, 1]), np.zeros(1))
        target = block(world, 2.0, [LENGTH, 0.09, 1.0])
        bullet.resetJointState(body.handle, body.joints[0], 0.0, 1.0, physicsClientId=world.client)
        controller, state = make_controller(body), empty_state(body.robot)
        for _ in range(100):
            body.read_state(state)
            controller.step(state, controller.demand(*np.zeros((3, 1))))
            world.step()
        body.read_state(state)
        (_, push, _), _ = bullet.getBaseVelocity(target, physicsClientId=world.client)
    assert push > 0.1
    lost = INERTIA * (1.0 - state.v[0])
    assert 2.0 * push * LENGTH == pytest.approx(lost, rel=0.02)
    # Inelastic: rod and block go on together. The link alone would give the block a third of it.
    together = INERTIA / (INERTIA + 2.0 * LENGTH**2)
    assert push / LENGTH == pytest.approx(together, rel=0.03)


def test_a_rod_that_leans_on_a_wall_presses_with_its_motors_torque(rod):
    """At rest nothing accelerates, rotor or not: the wall feels τ / length, and the joint all of τ."""
    with open_world(DT) as world:
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        body = world.add_robot(rod, np.array([0, 0, 1.0, 0, 0, 0, 1]), np.zeros(1))
        wall = block(world, 0.0, [LENGTH, 0.08, 1.0])
        controller, state = make_controller(body), empty_state(body.robot)
        forces = []
        for _ in range(600):
            body.read_state(state)
            command = controller.step(state, controller.demand(np.zeros(1), np.zeros(1), np.array([3.0])))
            world.step()
            contacts = bullet.getContactPoints(body.handle, wall, physicsClientId=world.client)
            forces.append(sum(contact[9] for contact in contacts))
    assert np.abs(state.v).max() < 1e-4
    assert command.motor[0] == 3.0
    assert command.joint[0] == pytest.approx(3.0, rel=1e-3)
    np.testing.assert_allclose(forces[-100:], 3.0 / LENGTH, rtol=5e-3)


def test_in_free_motion_there_is_none(romeo, random_state, set_state):
    """What is read off steps without contacts is rounding."""
    q, v = random_state(0)
    with open_world(DT) as world:
        body = world.add_robot(romeo, q[:7], q[7:])
        set_state(body, q, v)
        controller, observer, state = make_controller(body), ContactTorque(body, ()), empty_state(body.robot)
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(romeo.model.njoints)])
        still = received = np.zeros(33)
        found = []
        for _ in range(10):
            body.read_state(state)
            found.append(observer.of_last_step(state, forces, received).copy())
            received = controller.step(state, controller.demand(still, still, still)).joint.copy()
            world.step()
    assert np.abs(found).max() < 1e-5
    assert np.abs(received).max() > 1.0
