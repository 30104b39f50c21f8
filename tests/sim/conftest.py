"""Robots in worlds, for tests of the simulation."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.ground_reaction import standing_torques
from simbench.balance.leg_ik import stand
from simbench.sim.control.joint_controller import JointController
from simbench.sim.engine import is_installed
from simbench.sim.fixtures.shapes import compute_inertia
from simbench.sim.grasp import Grip, apply_grips
from simbench.sim.sensing import ContactSensor
from simbench.sim.state import empty_state

if is_installed("bullet"):
    from simbench.sim.bullet.bullet_bodies import bullet


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
        body.place(q[:7], q[7:])
        turn = pin.Quaternion(q[3:7]).matrix()
        com = np.array(bullet.getBasePositionAndOrientation(body.handle, physicsClientId=client)[0])
        spin = turn @ v[3:6]
        linear = turn @ v[:3] + np.cross(spin, com - q[:3])
        bullet.resetBaseVelocity(body.handle, linear, spin, physicsClientId=client)
        for joint, position, speed in zip(body.joints, q[7:], v[6:], strict=True):
            bullet.resetJointState(body.handle, joint, position, speed, physicsClientId=client)

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
            [(com, _, quaternion, velocity, spinning)] = fixture.link_motions([fixture.links[part.name]])
            turn = pin.Quaternion(quaternion[3], *quaternion[:3]).matrix()
            linear = part.mass * np.array(velocity)
            spin = turn @ compute_inertia(part.shapes, part.mass).inertia @ turn.T @ np.array(spinning)
            total += np.concatenate([linear, spin + np.cross(com, linear)])
        return total

    return compute


class Standing:
    """A robot that holds a posture on the floor, step by step; senses contacts at every step."""

    def __init__(self, world, robot, names=None):
        stance = stand(robot, (0.0, 0.0), 0.0, "standing")
        self.world, self.robot, self.stance = world, robot, stance
        self.body = world.add_robot(robot, stance.base, stance.joints)
        twice = np.tile(stance.base, (2, 1)), np.tile(stance.joints, (2, 1))
        self.hold = standing_torques(robot, np.array([0.0, 0.01]), *twice, inertia=False)[0]
        self.state = empty_state(self.body.robot)
        self.sensor = ContactSensor(self.body, {world.floor: ("floor", {}), **(names or {})})
        self._controller = JointController(self.body)
        self._controller.hold_feet([True, True])
        self.steps = 0
        self.body.read_state(self.state)

    wrenches = property(lambda self: self.sensor.foot_wrench)
    points = property(lambda self: self.sensor.foot_points)
    others = property(lambda self: self.sensor.other_wrench)

    def step(self, push=(0.0, 0.0, 0.0), point=None, reference=None, speed=None):
        """One time step under a force (N, world) on the pelvis, at its centre of mass by default.

        Returns the point where the force acts and the controller's command.
        """
        if point is None:
            point = self.body.root_com_frame()[0]
        self.body.apply_force(self.body.root, tuple(push), tuple(point))
        reference = self.stance.joints if reference is None else reference
        speed = np.zeros(len(reference)) if speed is None else speed
        command = self._controller.step(self.state, self._controller.demand(reference, speed, self.hold))
        self.world.step()
        self.steps += 1
        self.body.read_state(self.state)
        self.sensor.sample(self.steps * self.world.timestep, self.world.read_contacts())
        self._controller.hold_feet((self.wrenches[:, 2] > 5.0).tolist())
        return np.array(point), command


@pytest.fixture(scope="session")
def standing():
    return Standing


class Hand:
    """ROMEO floats without gravity with its left palm at a handle, and its grip."""

    TOUCHING = pin.SE3(np.eye(3), np.array([0.001, 0.002, -0.001]))
    """Of the palm in the handle's frame, 1 mm inside what it lies on."""

    def __init__(self, world, robot, fixture, handle, design):
        bullet.setGravity(0, 0, 0, physicsClientId=world.client)
        self.world, self.robot, self.model, self.fixture, self.handle = (
            world,
            robot,
            robot.model,
            fixture,
            handle,
        )
        self.data = self.model.createData()
        low, high = self.model.lowerPositionLimit[7:], self.model.upperPositionLimit[7:]
        self.joints = low + (high - low) * np.random.default_rng(0).uniform(0.4, 0.6, len(low))
        self.frame = self.model.getFrameId(robot.frames["left_hand"])
        self.body = world.add_robot(robot, np.array([0, 0, 4.0, 0, 0, 0, 1]), self.joints)
        # Nothing but the hand may touch the equipment, whose reaction would enter the sums.
        hands = robot.hands["left_hand"]
        for name, link in self.body.links.items():
            for other in (*fixture.links.values(), -1):
                enable = int(name in (hands.palm, *hands.fingers))
                bullet.setCollisionFilterPair(
                    self.body.handle, fixture.handle, link, other, enable, physicsClientId=world.client
                )
        self.state = empty_state(self.body.robot)
        self.controller = JointController(self.body)
        self.grip = Grip(self.body, "left", fixture, design)
        self.move(self.TOUCHING)

    def move(self, offset):
        """Put the palm at `offset` from the handle, at rest."""
        q = np.concatenate([[0, 0, 0, 0, 0, 0, 1], self.joints])
        pin.framesForwardKinematics(self.model, self.data, q)
        base = self.handle * offset * self.data.oMf[self.frame].inverse()
        self.body.place(pin.SE3ToXYZQUAT(base), self.joints)
        bullet.performCollisionDetection(physicsClientId=self.world.client)

    def look(self, wanted=True, look=True):
        """What the grip does with the state that the robot has now."""
        self.body.read_state(self.state)
        pin.forwardKinematics(self.model, self.data, self.state.q, self.state.v)
        loads = apply_grips([self.grip], [wanted], look)
        return loads[0] if loads else None

    def palm(self):
        """Pose of the palm, and its velocity (6,) in world axes, by Pinocchio."""
        self.body.read_state(self.state)
        pin.forwardKinematics(self.model, self.data, self.state.q, self.state.v)
        pose = pin.updateFramePlacement(self.model, self.data, self.frame).copy()
        axes = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
        return pose, pin.getFrameVelocity(self.model, self.data, self.frame, axes).vector

    def drop_contacts(self):
        """Let hand and equipment pass through each other, so that the grip alone acts between them."""
        for link in self.body.links.values():
            for other in (*self.fixture.links.values(), -1):
                bullet.setCollisionFilterPair(
                    self.body.handle, self.fixture.handle, link, other, 0, physicsClientId=self.world.client
                )

    def step(self, load):
        """One time step in which the motors hold the posture."""
        loads = [] if load is None else [load]
        still = np.zeros(len(self.joints))
        command = self.controller.step(self.state, self.controller.demand(self.joints, still, still), loads)
        self.world.step()
        self.body.read_state(self.state)
        return command


@pytest.fixture(scope="session")
def floating_hand():
    return Hand
