import numpy as np
import pinocchio as pin
import pytest
import scenes

from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import BulletFixture, bullet
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.fixtures.mechanism import Mechanism, MechanismHandle, MechanismJoint, Part, handle_poses
from simbench.sim.grasp import Grip, apply_grips

DT = 1e-3
OPENING = 0.12
# Without friction: what the drawer's mass then feels along its slide is the hand alone.
DESIGN = scenes.drawer_section(start_opening_m=OPENING)
DRAWER = drawer_mechanism(DESIGN)
OUTWARD = -pin.utils.rotate("z", DESIGN.heading_rad)[:, 0]
LEFT_HANDLE = pin.SE3(handle_poses(DRAWER, np.array([[OPENING]]))["left"][0])
GRIP = scenes.SOFT_GRIP


@pytest.fixture
def world():
    with open_world(DT) as opened:
        yield opened


@pytest.fixture
def hand(world, romeo, weightless, floating_hand):
    fixture = world.add_fixture(DRAWER)
    return floating_hand(world, weightless(romeo), fixture, LEFT_HANDLE, GRIP)


def place(x, y, z, turn=(0.0, 0.0, 0.0)):
    return pin.SE3(pin.exp3(np.array(turn)), np.array([x, y, z]))


@pytest.mark.parametrize(
    ("offset", "engages"),
    [
        (place(0.0, 0.0, -0.001), True),
        (place(0.0, 0.0185, -0.001), True),
        (place(0.0, 0.0215, -0.001), False),  # touches, but beyond 20 mm
        (place(0.0, 0.0, 0.005), False),  # near, but touches nothing
    ],
)
def test_engages_only_near_the_handle_and_in_contact(hand, offset, engages):
    hand.move(offset)
    touches = bullet.getContactPoints(
        hand.body.handle, hand.fixture.handle, physicsClientId=hand.world.client
    )
    assert bool(touches) == (offset.translation[2] < 0.0)
    hand.look()
    assert hand.grip.engaged == engages
    assert not hand.look(wanted=False)
    assert not hand.grip.engaged


def test_engages_only_when_it_looks_and_is_wanted(hand):
    hand.look(look=False)
    assert not hand.grip.engaged
    hand.look(wanted=False)
    assert not hand.grip.engaged
    hand.look()
    assert hand.grip.engaged
    # It holds between looks, and until it is not wanted.
    hand.look(look=False)
    assert hand.grip.engaged
    hand.look(wanted=False)
    assert not hand.grip.engaged


def test_pulls_back_to_where_it_engaged_as_spring_and_damper(hand, set_state):
    """force = −k x − c v, torque = −κ θ − γ ω about the place of engagement, which moves with the drawer."""
    hand.look()
    rest, _ = hand.palm()
    np.testing.assert_allclose(hand.grip.wrench, 0.0, atol=1e-3)
    shift, turn = np.array([0.004, -0.003, 0.005]), np.array([0.03, -0.05, 0.04])
    hand.move(hand.TOUCHING * pin.SE3(pin.exp3(turn), shift))
    v = np.zeros(hand.model.nv)
    v[:6] = [0.1, -0.2, 0.15, 0.3, -0.2, 0.4]
    hand.body.read_state(hand.state)
    set_state(hand.body, hand.state.q, v)
    drawer_speed, drawer_shift = 0.05, 0.002
    bullet.resetJointState(
        hand.fixture.handle, hand.fixture.joints[0], OPENING + drawer_shift, drawer_speed,
        physicsClientId=hand.world.client,
    )  # fmt: skip
    load = hand.look()
    pose, velocity = hand.palm()

    point = rest.translation + drawer_shift * OUTWARD
    linear = velocity[:3] + np.cross(velocity[3:], point - pose.translation) - drawer_speed * OUTWARD
    force = -2000.0 * (pose.translation - point) - 30.0 * linear
    torque = -20.0 * pin.log3(pose.rotation @ rest.rotation.T) - 0.5 * velocity[3:]
    assert np.linalg.norm(force) > 10.0
    np.testing.assert_allclose(hand.grip.point, point, atol=1e-6)
    np.testing.assert_allclose(hand.grip.wrench[:3], force, atol=5e-3)
    np.testing.assert_allclose(hand.grip.wrench[3:], torque, atol=1e-4)

    # What the controller is told: the same wrench, on the joint that carries the palm, in its frame.
    joint, told = load
    wrist = hand.data.oMi[joint]
    assert hand.model.frames[hand.frame].parentJoint == joint
    np.testing.assert_allclose(wrist.rotation @ told[:3], force, atol=5e-3)
    moment = torque + np.cross(point - wrist.translation, force)
    np.testing.assert_allclose(wrist.rotation @ told[3:], moment, atol=1e-3)


def test_the_hand_feels_the_wrench_and_the_drawer_its_opposite(hand, momentum, set_state):
    """A robot that floats and a drawer without friction: the robot moves as the wrench at its point says, the
    drawer as its opposite says, and along the slide both together keep their momentum."""
    hand.look()
    hand.drop_contacts()
    hand.move(hand.TOUCHING * place(0.004, -0.003, 0.005, (0.03, -0.05, 0.04)))
    v = np.zeros(hand.model.nv)
    v[:6] = [0.1, -0.2, 0.15, 0.3, -0.2, 0.4]
    hand.body.read_state(hand.state)
    set_state(hand.body, hand.state.q, v)
    hand.body.read_state(hand.state)
    before, _ = momentum(hand.robot, hand.state)
    total = before[:3] @ OUTWARD
    model, joint = hand.model, hand.model.frames[hand.frame].parentJoint
    speed, exchanged = 0.0, []
    for _ in range(400):
        load = hand.look()
        force, torque, point = np.split(np.concatenate([hand.grip.wrench, hand.grip.point]), 3)
        q, v, wrist = hand.state.q.copy(), hand.state.v.copy(), hand.data.oMi[joint].copy()
        command = hand.step(load)
        # MechanismJoint by joint, with the wrench moved to the wrist by hand.
        forces = pin.StdVec_Force([pin.Force.Zero() for _ in range(model.njoints)])
        moment = torque + np.cross(point - wrist.translation, force)
        forces[joint] = pin.Force(wrist.rotation.T @ force, wrist.rotation.T @ moment)
        motors = np.concatenate([np.zeros(6), command.motor])
        expected = pin.aba(model, model.createData(), q, v, motors, forces)
        np.testing.assert_allclose((hand.state.v - v)[6:] / DT, expected[6:], atol=0.02)
        # The whole robot; its momentum after a step is the discrete one's to first order only.
        after, _ = momentum(hand.robot, hand.state)
        outside = np.concatenate([force, torque + np.cross(point, force)])
        np.testing.assert_allclose((after - before) / DT, outside, atol=0.05)
        # The drawer.
        faster = float(hand.fixture.read_state().velocity[0])
        assert 1.7 * (faster - speed) / DT == pytest.approx(-force @ OUTWARD, abs=1e-6)
        before, speed = after, faster
        exchanged.append(1.7 * faster)
    assert hand.grip.engaged
    assert after[:3] @ OUTWARD + 1.7 * speed == pytest.approx(total, abs=5e-3)
    assert max(exchanged) - min(exchanged) > 0.1


HINGE = np.array([0.3, 0.2, 1.1])
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
LEVER = """
<robot name="lever">
  <link name="stand"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.05 0.02 0.1"/><mass value="0.8"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.002" ixz="-0.003" iyz="0.001"/>
    </inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><box size="0.05 0.05 0.05"/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="stand"/><child link="arm"/><axis xyz="0.66666667 -0.33333333 0.66666667"/>
    <limit lower="-3" upper="3" effort="100" velocity="100"/>
  </joint>
</robot>
"""


def test_torques_reach_a_hinged_handle_too(world, romeo, weightless, floating_hand):
    """A lever on a hinge: I φ'' = axis · (−torque + lever arm × −force). A slide feels no torque at all."""
    path = world.scratch / "lever.urdf"
    path.write_text(LEVER, encoding="utf-8")
    client = world.client
    body = bullet.loadURDF(
        str(path), HINGE, useFixedBase=True, flags=bullet.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client
    )
    bullet.changeDynamics(body, 0, linearDamping=0, angularDamping=0, jointDamping=0, physicsClientId=client)
    bullet.setJointMotorControl2(body, 0, bullet.VELOCITY_CONTROL, force=0, physicsClientId=client)
    angle = 0.4
    bullet.resetJointState(body, 0, angle, physicsClientId=client)
    handle = MechanismHandle("arm", place(0.0, 0.0, 0.225))
    mechanism = Mechanism(
        "lever",
        pin.SE3(np.eye(3), HINGE),
        (Part("stand", (), 0.0), Part("arm", (), 0.8, "hinge")),
        (MechanismJoint("hinge", "turn", tuple(AXIS.tolist())),),
        {"left": handle},
    )
    lever = object.__new__(BulletFixture)
    lever.client, lever.handle, lever.links = client, body, {"stand": -1, "arm": 0}
    lever.mechanism, lever.joints, lever.furniture, lever.furniture_links = mechanism, (0,), None, {}
    lever._initial_pose = pin.SE3ToXYZQUAT(mechanism.pose)
    turned = pin.SE3(pin.exp3(angle * AXIS), HINGE)
    hand = floating_hand(world, weightless(romeo), lever, turned * handle.pose, GRIP)
    hand.look()
    assert hand.grip.engaged
    hand.drop_contacts()
    hand.move(hand.TOUCHING * place(0.002, -0.003, 0.002, (0.06, -0.08, 0.05)))
    own = pin.Inertia(
        0.8,
        np.array([0.05, 0.02, 0.1]),
        np.array([[0.02, 0.002, -0.003], [0.002, 0.03, 0.001], [-0.003, 0.001, 0.04]]),
    )
    inertia = AXIS @ own.matrix()[3:, 3:] @ AXIS
    peak, speed = 0.0, 0.0
    for _ in range(200):
        # link_motions against the closed form of a hinge.
        position, rate = (float(values[0]) for values in lever.read_state()[:2])
        [(com, origin, quaternion, linear, angular)] = lever.link_motions([0])
        turn = pin.exp3(position * AXIS)
        np.testing.assert_allclose(pin.Quaternion(*quaternion[3:], *quaternion[:3]).matrix(), turn, atol=1e-6)
        np.testing.assert_allclose(origin, HINGE, atol=1e-6)
        np.testing.assert_allclose(com, HINGE + turn @ own.lever, atol=1e-6)
        np.testing.assert_allclose(angular, rate * AXIS, atol=1e-6)
        np.testing.assert_allclose(linear, np.cross(rate * AXIS, turn @ own.lever), atol=1e-6)
        load = hand.look()
        force, torque, point = hand.grip.wrench[:3], hand.grip.wrench[3:], hand.grip.point
        expected = -AXIS @ (torque + np.cross(point - HINGE, force))
        peak = max(peak, abs(AXIS @ torque))
        hand.step(load)
        faster = float(lever.read_state().velocity[0])
        assert inertia * (faster - speed) / DT == pytest.approx(expected, abs=1e-5)
        speed = faster
    assert peak > 0.5


@pytest.mark.parametrize(
    ("change", "offset", "holds"),
    [
        ({}, place(0.0, 0.0, 0.025), True),  # 50 N
        ({}, place(0.0, 0.0, 0.035), False),  # 70 N
        ({}, place(0.0, 0.0, 0.0, (0.14, 0.0, 0.0)), True),  # 2.8 N·m
        ({}, place(0.0, 0.0, 0.0, (0.16, 0.0, 0.0)), False),  # 3.2 N·m
        ({"max_force_n": 80.0}, place(0.0, 0.0, 0.035), True),
    ],
)
def test_lets_go_when_overloaded_and_stays_open_until_asked_anew(
    world, romeo, weightless, floating_hand, change, offset, holds
):
    fixture = world.add_fixture(DRAWER)
    hand = floating_hand(world, weightless(romeo), fixture, LEFT_HANDLE, GRIP.model_copy(update=change))
    hand.look()
    assert hand.grip.engaged
    hand.move(hand.TOUCHING * offset)
    load = hand.look()
    assert hand.grip.engaged == holds
    assert (load is not None) == holds
    assert hand.grip.lost == (0 if holds else 1)
    if holds:
        return
    assert not any(hand.grip.wrench)
    # Back at the handle it does not close by itself, only after it was open on purpose.
    hand.move(hand.TOUCHING)
    for _ in range(3):
        assert hand.look() is None
        assert not hand.grip.engaged
    hand.look(wanted=False)
    assert hand.look() is not None
    assert hand.grip.engaged
    assert hand.grip.lost == 1


def test_both_hands_hold_independently(world, romeo, weightless, floating_hand):
    """The right grip knows its own handle: with the left palm at the left handle it stays open."""
    fixture = world.add_fixture(DRAWER)
    hand = floating_hand(world, weightless(romeo), fixture, LEFT_HANDLE, GRIP)
    right = Grip(hand.body, "right", fixture, GRIP)
    hand.look()
    assert apply_grips([right], [True], True) == []
    assert hand.grip.engaged
    assert not right.engaged
