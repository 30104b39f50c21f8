"""What contacts do to either side, whichever was there first."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.engine import GRAVITY
from simbench.sim.fixtures.mechanism import Mechanism, Part
from simbench.sim.fixtures.shapes import WARM, Board
from simbench.sim.sensing import contact_wrench

DT = 1e-3
PUSH = np.array([25.0, -8.0, 0.0])


def slab(name, low, high, mass, *, standing=False):
    return Mechanism(
        name, pin.SE3.Identity(), (Part(name, (Board(low, high, WARM),), mass),), standing=standing
    )


@pytest.mark.parametrize("order", [("under", "over"), ("over", "under")])
def test_a_block_that_slides_is_slowed_down_by_what_it_pushes_along(order):
    """Newton's law for the block gives the force that it feels; what it slides on feels the opposite."""
    slabs = {
        "under": slab("under", (-0.5, -0.5, 0.0), (0.5, 0.5, 0.1), 8.0),
        "over": slab("over", (-0.1, -0.1, 0.1), (0.1, 0.1, 0.15), 3.0, standing=True),
    }
    with open_world(DT) as world:
        made = {name: world.add_fixture(slabs[name]) for name in order}
        over, under = made["over"].handle, made["under"].handle
        bullet.resetBaseVelocity(over, (1.0, 0.5, 0.0), (0.0, 0.0, 0.0), physicsClientId=world.client)
        for _ in range(30):
            world.step()
        before = np.array(bullet.getBaseVelocity(over, physicsClientId=world.client)[0])
        world.step()
        after = np.array(bullet.getBaseVelocity(over, physicsClientId=world.client)[0])
        contacts = world.read_contacts()
        felt, given = contact_wrench(contacts, over, under), contact_wrench(contacts, under, over)
    needed = 3.0 * ((after - before) / DT + [0.0, 0.0, GRAVITY])
    assert needed[0] < -5.0
    assert needed[1] < -2.0
    np.testing.assert_allclose(felt[:3], needed, atol=1e-3)
    # The points of either side are a little inside of the other.
    np.testing.assert_allclose(given, np.negative(felt), atol=0.05)
    np.testing.assert_allclose(given[:3], np.negative(felt[:3]), atol=1e-9)


@pytest.mark.parametrize("mat_first", [True, False])
def test_robot_and_equipment_feel_opposite_wrenches(romeo, standing, momentum, mat_first):
    """ROMEO stands on a mat and is pushed; momentum needs what it feels from the mat."""
    mass = pin.computeTotalMass(romeo.model)
    weight = mass * np.array([0.0, 0.0, -GRAVITY])
    mat = slab("mat", (-0.5, -0.5, 0.0), (0.5, 0.5, 1e-3), 30.0)
    with open_world(DT) as world:
        ground = world.add_fixture(mat) if mat_first else None
        robot = standing(world, romeo, {1: ("mat", {}), 2: ("mat", {})})
        ground = ground or world.add_fixture(mat)
        for _ in range(150):
            robot.step(push=PUSH)
        given = []
        for _ in range(50):
            before, cog = momentum(romeo, robot.state)
            point, _ = robot.step(push=PUSH)
            after, _ = momentum(romeo, robot.state)
            wrench = np.array(contact_wrench(world.read_contacts(), ground.handle, robot.body.handle))
            np.testing.assert_allclose(wrench[:3], -robot.others[:3], atol=1e-9)
            np.testing.assert_allclose(wrench[3:], -robot.others[3:], atol=0.1)
            outside = np.concatenate([PUSH, np.cross(point, PUSH)]) + np.concatenate(
                [weight, np.cross(cog, weight)]
            )
            felt = (after - before) / DT - outside - robot.wrenches.sum(axis=0)
            np.testing.assert_allclose(robot.others[:3], felt[:3], atol=0.1)
            np.testing.assert_allclose(robot.others[3:], felt[3:], atol=0.3)
            given.append(wrench)
    pressure, friction = -np.mean(given, axis=0)[2], np.mean(given, axis=0)[:2]
    assert pressure == pytest.approx(mass * GRAVITY, rel=0.1)
    assert friction @ PUSH[:2] > 5.0 * np.linalg.norm(PUSH)
