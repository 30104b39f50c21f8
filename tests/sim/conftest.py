"""Robots in worlds, for tests of the simulation."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.ground_reaction import standing_torques
from simbench.balance.standing import stand
from simbench.sim.control import JointController
from simbench.sim.fixtures.shapes import inertia
from simbench.sim.link_motion import link_motions
from simbench.sim.sensing import ContactSensor
from simbench.sim.state import empty_state, read_state
from simbench.sim.world import add_robot, bullet, place_robot


@pytest.fixture(scope="session")
def with_motors():
    """A robot with other motors: `with_motors(robot, damping=...)`."""
    return lambda robot, **changes: replace(robot, motors=replace(robot.motors, **changes))


@pytest.fixture(scope="session")
def weightless():
    """A robot whose model knows no gravity, for worlds without."""

    def without_gravity(robot):
        model = robot.model.copy()
        model.gravity = pin.Motion.Zero()
        return replace(robot, model=model)

    return without_gravity


@pytest.fixture(scope="session")
def random_state(romeo):
    """Make q and v of ROMEO in the air: any attitude, joints in the middle of their range."""

    def make(seed, speed=1.0):
        rng = np.random.default_rng(seed)
        low, high = romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
        turn = rng.normal(size=4)
        place = rng.uniform([-1.0, -1.0, 3.0], [1.0, 1.0, 5.0])
        joints = low + (high - low) * rng.uniform(0.35, 0.65, len(low))
        return np.concatenate([place, turn / np.linalg.norm(turn), joints]), speed * rng.normal(
            size=romeo.model.nv
        )

    return make


@pytest.fixture(scope="session")
def set_state():
    """Give a robot in Bullet a configuration and a velocity, in Pinocchio's coordinates."""

    def put(body, q, v):
        client = body.world.client
        place_robot(body, q[:7], q[7:])
        turn = pin.Quaternion(q[3:7]).matrix()
        com = np.array(bullet.getBasePositionAndOrientation(body.body, physicsClientId=client)[0])
        spin = turn @ v[3:6]
        linear = turn @ v[:3] + np.cross(spin, com - q[:3])
        bullet.resetBaseVelocity(body.body, linear, spin, physicsClientId=client)
        for joint, position, speed in zip(body.joints, q[7:], v[6:], strict=True):
            bullet.resetJointState(body.body, joint, position, speed, physicsClientId=client)

    return put


@pytest.fixture(scope="session")
def momentum():
    """Linear momentum and angular momentum about the world origin, (6,), and COG, by Pinocchio."""

    def compute(robot, state):
        data = robot.model.createData()
        about_cog = pin.computeCentroidalMomentum(robot.model, data, state.q, state.v)
        cog = data.com[0].copy()
        return np.concatenate([about_cog.linear, about_cog.angular + np.cross(cog, about_cog.linear)]), cog

    return compute


@pytest.fixture(scope="session")
def fixture_momentum():
    """Linear momentum and angular momentum about the world's origin, (6,), of a fixture's parts."""

    def compute(fixture):
        total = np.zeros(6)
        for part in fixture.mechanism.parts:
            [link] = link_motions(fixture, [fixture.links[part.name]])
            turn = pin.Quaternion(link.quaternion[3], *link.quaternion[:3]).matrix()
            linear = part.mass * np.array(link.linear)
            spin = turn @ inertia(part.shapes, part.mass).inertia @ turn.T @ np.array(link.angular)
            total += np.concatenate([linear, spin + np.cross(link.com, linear)])
        return total

    return compute


class Standing:
    """A robot that holds a posture on the floor, step by step; senses contacts at every step."""

    def __init__(self, world, robot, names=None):
        stance = stand(robot, (0.0, 0.0), 0.0, "standing")
        self.world, self.robot, self.stance = world, robot, stance
        self.body = add_robot(world, robot, stance.base, stance.joints)
        twice = np.tile(stance.base, (2, 1)), np.tile(stance.joints, (2, 1))
        self.hold = standing_torques(robot, np.array([0.0, 0.01]), *twice, inertia=False)[0]
        self.state = empty_state(self.body)
        self.sensor = ContactSensor(self.body, {world.floor: ("floor", {}), **(names or {})})
        self.wrenches, self.points, self.others = np.zeros((2, 6)), np.zeros((2, 4, 2)), np.zeros(6)
        self._controller = JointController(self.body)
        self._controller.hold_feet([True, True])
        self.steps = 0
        read_state(self.body, self.state)

    def step(self, push=(0.0, 0.0, 0.0), point=None, reference=None, speed=None):
        """One time step under a force (N, world) on the pelvis, at its centre of mass by default.

        Returns the point where the force acts and the controller's command.
        """
        client = self.world.client
        if point is None:
            point = bullet.getBasePositionAndOrientation(self.body.body, physicsClientId=client)[0]
        bullet.applyExternalForce(self.body.body, -1, push, point, bullet.WORLD_FRAME, physicsClientId=client)
        reference = self.stance.joints if reference is None else reference
        speed = np.zeros(len(reference)) if speed is None else speed
        command = self._controller.step(self.state, self._controller.demand(reference, speed, self.hold))
        self.world.step()
        self.steps += 1
        read_state(self.body, self.state)
        self.sensor.sample(self.steps * self.world.timestep, self.wrenches, self.points, self.others)
        self._controller.hold_feet((self.wrenches[:, 2] > 5.0).tolist())
        return np.array(point), command


@pytest.fixture(scope="session")
def standing():
    return Standing
