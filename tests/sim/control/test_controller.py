"""The compiled controller of an arm against the one for any robot, whose dynamics are Pinocchio's."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control.controller import ArmController
from simbench.sim.control.joint_controller import JointController
from simbench.sim.control.laws import ComputedTorqueLaw, PdLaw
from simbench.sim.loop import make_controller
from simbench.sim.state import empty_state

DT = 1e-3
BASE = np.array([0.2, -0.3, 0.1, 0.0, 0.0, 0.6, 0.8])
WAY = 0.3 * np.linspace(1.0, -1.0, 6)
LAWS = {"pd": PdLaw, "computed_torque": lambda robot, timestep: ComputedTorqueLaw(robot, timestep, 8.0)}


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("limit", [1e6, 1.0])
@pytest.mark.parametrize("rubs", [(True,) * 6, (False, True, True, False, False, True), (False,) * 6])
def test_does_what_pinocchio_says(puma, law, limit, rubs):
    """A loaded, rubbing arm that starts, moves, saturates and rests, its base turned, a block in its way."""
    rng = np.random.default_rng(5)
    friction = {
        name: np.where(rubs, getattr(puma.friction, name), 0.0)
        for name in ("coulomb", "breakaway", "viscous")
        for name in ("coulomb", "breakaway", "viscous")
    }
    robot = dataclasses.replace(
        puma,
        friction=dataclasses.replace(puma.friction, **friction),
        motors=dataclasses.replace(puma.motors, torque_limit=limit * puma.motors.torque_limit),
    )
    start = puma.postures["ready"]
    saturated, touched, moved = 0, 0, []
    with open_world(DT) as world:
        body = world.add_robot(robot, BASE, start)
        model, data = body.robot.model, body.robot.model.createData()
        pin.framesForwardKinematics(model, data, start + WAY)
        flange = data.oMf[model.getFrameId(robot.frames["right_hand"])].translation
        shape = bullet.createCollisionShape(
            bullet.GEOM_BOX, halfExtents=[0.04] * 3, physicsClientId=world.client
        )
        block = bullet.createMultiBody(0, shape, basePosition=flange, physicsClientId=world.client)
        ours = ArmController(body, LAWS[law](body.robot, DT))
        theirs = JointController(body, LAWS[law](body.robot, DT))
        state = empty_state(body.robot)
        for step in range(240):
            body.read_state(state)
            reference = start + WAY * np.sin(0.015 * min(step, 104))
            demand = ours.demand(reference, np.zeros(6), np.zeros(6), np.zeros(6))
            loads = [(6, tuple(rng.normal(scale=10.0, size=6)))] if 20 <= step < 200 else []
            expected = theirs.step(state, demand, loads)
            command = ours.step(state, demand, loads)
            assert command.saturated == expected.saturated
            for name in ("requested", "motor", "joint", "friction"):
                other = getattr(expected, name)
                np.testing.assert_allclose(getattr(command, name), other, rtol=1e-11, atol=1e-8)
            saturated += command.saturated
            moved.append(state.q.copy())
            world.step()
            touched += bool(bullet.getContactPoints(body.handle, block, physicsClientId=world.client))
    assert 0 < touched < 240
    assert np.ptp(moved, axis=0).max() > 0.01
    assert (saturated > 0) == (limit == 1.0)


def test_arms_alone_are_driven_so(puma, romeo):
    with open_world(DT) as world:
        arm = world.add_robot(puma, BASE, puma.postures["ready"])
        humanoid = world.add_robot(romeo, np.array([0, 0, 3.0, 0, 0, 0, 1]), romeo.postures["standing"])
        assert isinstance(make_controller(arm), ArmController)
        assert isinstance(make_controller(humanoid), JointController)
