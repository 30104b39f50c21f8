"""Every robot is the same one for Bullet and for Pinocchio: kinematics, mass matrix and weight."""

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import robot_parameters

from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.engine import GRAVITY

ROBOTS = robot_parameters()
CONFIGURATIONS = 40


class Pair:
    """A robot in Bullet and its model without rotors, which Bullet does not know."""

    def __init__(self, world, name):
        robot = load_robot(name)
        base = np.array([0.3, -0.2, 0.1, 0.0, 0.0, np.sin(0.4), np.cos(0.4)])
        self.body = world.add_robot(robot, base, np.zeros(len(robot.joint_names)))
        self.robot, self.world, self.base = self.body.robot, world, base
        self.model = self.robot.model.copy()
        self.model.armature = np.zeros(self.model.nv)
        self.data = self.model.createData()
        count = bullet.getNumJoints(self.body.handle, physicsClientId=world.client)
        kinds = [
            bullet.getJointInfo(self.body.handle, i, physicsClientId=world.client)[2] for i in range(count)
        ]
        movable = [joint for joint in range(count) if kinds[joint] != bullet.JOINT_FIXED]
        assert len(movable) == len(self.body.joints)
        self.order = np.array([movable.index(joint) for joint in self.body.joints])
        self.joints = slice(self.robot.root_v, None)

    def pose(self, rng):
        """A random configuration in both."""
        root = self.robot.root_q
        low, high = self.model.lowerPositionLimit[root:], self.model.upperPositionLimit[root:]
        joints = rng.uniform(low, high)
        base = self.base
        if self.robot.floating:
            turn = rng.normal(size=4)
            base = np.concatenate([rng.uniform(-2.0, 2.0, 3), turn / np.linalg.norm(turn)])
        self.body.place(base, joints)
        self.q = np.concatenate([base, joints]) if root else joints
        self.bullet_joints = np.empty(len(joints))
        self.bullet_joints[self.order] = joints
        root_at_the_axes = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0] if root else []
        self.upright = root_at_the_axes + self.bullet_joints.tolist()
        return self.q

    def to_bullet(self):
        """From Pinocchio's velocity to Bullet's: the root's angular then linear, of its inertial frame."""
        place, turn = self.body.root_com, self.body.root_principal
        back = pin.Quaternion(np.array(turn)).matrix().T
        change = np.zeros((self.model.nv, self.model.nv))
        if self.robot.floating:
            change[:3, 3:6] = back
            change[3:6, :3] = back
            change[3:6, 3:6] = -back @ pin.skew(np.array(place))
        change[np.arange(self.robot.root_v, self.model.nv)[self.order], self.joints] = np.eye(len(self.order))
        return change


@pytest.fixture(scope="module", params=ROBOTS)
def pair(request):
    with pytest.MonkeyPatch.context() as patch, open_world() as world:
        # Bullet's inverse dynamics refuses the inertia of a link with a rotor, which no rigid body has.
        # `test_free_motion` has the rotors.
        patch.setattr("simbench.sim.bullet.bullet_bodies.add_rotors", lambda robot: (robot.urdf_text, {}))
        yield Pair(world, request.param)


def test_frames_are_in_the_same_place(pair):
    rng = np.random.default_rng(0)
    links = [name for name in pair.body.links if pair.model.existFrame(name) and pair.body.links[name] >= 0]
    assert len(links) >= len(pair.robot.joint_names)
    numbers = [pair.body.links[name] for name in links]
    for _ in range(CONFIGURATIONS):
        pin.framesForwardKinematics(pair.model, pair.data, pair.pose(rng))
        states = bullet.getLinkStates(
            pair.body.handle, numbers, computeForwardKinematics=1, physicsClientId=pair.world.client
        )
        for name, state in zip(links, states, strict=True):
            place = pair.data.oMf[pair.model.getFrameId(name)]
            np.testing.assert_allclose(state[4], place.translation, atol=1e-6, err_msg=name)
            turn = pin.Quaternion(np.array(state[5])).matrix()
            # Bullet reports it in single precision.
            np.testing.assert_allclose(turn, place.rotation, atol=5e-6, err_msg=name)


def test_mass_matrices_agree(pair):
    rng = np.random.default_rng(1)
    change = pair.to_bullet()
    for _ in range(CONFIGURATIONS):
        upper = np.triu(pin.crba(pair.model, pair.data, pair.pose(rng)))
        expected = upper + np.triu(upper, 1).T
        theirs = np.array(
            bullet.calculateMassMatrix(
                pair.body.handle, pair.bullet_joints.tolist(), physicsClientId=pair.world.client
            )
        )
        own = change.T @ theirs @ change
        np.testing.assert_allclose(own, expected, atol=1e-6 * np.abs(expected).max())
        small = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
        assert (np.abs(own - expected) <= 1e-6 * small).all()


def test_weight_loads_the_joints_alike(pair):
    """Bullet computes inverse dynamics with its root at the world's axes: gravity is turned instead."""
    rng = np.random.default_rng(2)
    change = pair.to_bullet()
    try:
        for _ in range(CONFIGURATIONS):
            q = pair.pose(rng)
            expected = pin.computeGeneralizedGravity(pair.model, pair.data, q)
            down = np.array([0.0, 0.0, -GRAVITY])
            if pair.robot.floating:
                turn = pin.Quaternion(q[3:7]) * pin.Quaternion(np.array(pair.body.root_principal))
                down = turn.matrix().T @ down
            bullet.setGravity(*down, physicsClientId=pair.world.client)
            still = [0.0] * pair.model.nv
            theirs = np.array(
                bullet.calculateInverseDynamics(
                    pair.body.handle, pair.upright, still, still, physicsClientId=pair.world.client
                )
            )
            np.testing.assert_allclose((change.T @ theirs)[pair.joints], expected[pair.joints], atol=1e-6)
            assert np.abs(expected[pair.joints]).max() > 1.0 or pair.robot.name == "direct_drive_arm"
    finally:
        bullet.setGravity(0.0, 0.0, -GRAVITY, physicsClientId=pair.world.client)
