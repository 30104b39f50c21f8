"""Grips that leave a turn or a way free, and equipment that is not held by anything else."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.options import GripSection
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.fixtures.mechanism import Mechanism, MechanismHandle, MechanismJoint, Part, handle_poses
from simbench.sim.fixtures.shapes import IRON, WARM, Board, Rod

DT = 1e-3
SPRING, DAMPER, BEND, TWIST_DAMPER = 2000.0, 30.0, 20.0, 0.5
GRIP = GripSection(
    stiffness_n_m=SPRING,
    damping_ns_m=DAMPER,
    rotational_stiffness_nm_rad=BEND,
    rotational_damping_nms_rad=TWIST_DAMPER,
    max_force_n=60.0,
    max_torque_nm=3.0,
    tolerance_m=0.02,
)
# Across the palm, as a hand closes around a rod; oblique, so that no axis is mistaken for another.
ACROSS = np.array([0.28, 0.96, 0.0])
RADIUS = 0.02
PALM = pin.SE3(pin.exp3(np.array([0.4, -0.2, 0.7])), np.array([0.1, 0.15, 0.4]))
START = 0.4


def rod_in_hand(grip, point, *, free=False):
    """A rod on a link that turns, or on a body that nothing holds; its middle is at the hand's `point`."""
    at, along = PALM.act(point), PALM.rotation @ ACROSS
    rod = Rod(tuple((at - 0.15 * along).tolist()), tuple((at + 0.15 * along).tolist()), RADIUS, IRON)
    board = Board((-0.2, -0.1, 0.0), (0.1, 0.1, 0.05), WARM)
    pose = pin.SE3(pin.exp3(np.array([0.3, -0.5, 0.9])), np.array([0.3, 0.2, 1.3]))
    axis = None if grip == "rigid" else tuple(ACROSS.tolist())
    handle = MechanismHandle("body" if free else "lever", PALM, grip, axis, tuple(point.tolist()))
    if free:
        return Mechanism(
            "free", pose, (Part("body", (board, rod), 2.0),), (), {"left": handle}, standing=True
        )
    joint = MechanismJoint("turn", "turn", (0.0, 0.6, 0.8), (0.05, 0.02, 0.3), start=START)
    parts = Part("stand", (board,), 2.0), Part("lever", (rod,), 0.8, "turn")
    return Mechanism("lever", pose, parts, (joint,), {"left": handle})


UNTURNED = np.eye(3)
ON_PALM = np.array([0.0, 0.0, -RADIUS])
THROUGH_PALM = np.zeros(3)


@pytest.fixture
def world():
    with open_world(DT) as opened:
        yield opened


@pytest.fixture
def hold(world, romeo, weightless, floating_hand):
    """Have a hand engage on a rod."""

    def engaged(grip, point, *, free=False):
        mechanism = rod_in_hand(grip, point, free=free)
        fixture = world.add_fixture(mechanism)
        palm = pin.SE3(handle_poses(mechanism, mechanism.start[None])["left"][0])
        hand = floating_hand(world, weightless(romeo), fixture, palm, GRIP)
        hand.look()
        assert hand.grip.engaged
        return hand

    return engaged


def shifted(hand, point, turn=UNTURNED, shift=(0.0, 0.0, 0.0)):
    """Turn the palm about the held point, and shift that, both in the axes of the palm as it engaged."""
    about = pin.SE3(turn, point + np.array(shift) - turn @ point)
    return hand.TOUCHING * about


def held_point(hand, point):
    return (hand.handle * hand.TOUCHING).act(point)


def spin(hand, set_state, angular, about, linear=(0.0, 0.0, 0.0)):
    """Have the whole robot move as one body: turn (rad/s, world) about a point that has a velocity (m/s)."""
    hand.body.read_state(hand.state)
    base = hand.state.q[:3]
    turn = pin.Quaternion(*hand.state.q[[6, 3, 4, 5]]).matrix()
    v = np.zeros(hand.model.nv)
    v[:3] = turn.T @ (np.array(linear) + np.cross(angular, base - about))
    v[3:6] = turn.T @ angular
    set_state(hand.body, hand.state.q, v)


@pytest.mark.parametrize("point", [ON_PALM, THROUGH_PALM], ids=["on the palm", "through the palm"])
def test_a_pivot_opposes_no_turn_about_its_axis(hold, set_state, point):
    hand = hold("pivot", point)
    for angle in (0.5, -0.5, 2.0, np.pi, -np.pi, -2.5, 5.0, 2.0 * np.pi + 1.0, 6.0 * np.pi - 1.3):
        hand.move(shifted(hand, point, pin.exp3(angle * ACROSS)))
        assert hand.look() is not None
        np.testing.assert_allclose(hand.grip.wrench, 0.0, atol=5e-3)
    axis = hand.handle.rotation @ ACROSS
    spin(hand, set_state, 3.0 * axis, held_point(hand, point))
    assert hand.look() is not None
    np.testing.assert_allclose(hand.grip.wrench, 0.0, atol=5e-3)
    np.testing.assert_allclose(hand.grip.point, held_point(hand, point), atol=1e-6)
    assert hand.grip.lost == 0


@pytest.mark.parametrize("angle", [0.0, 1.0, -3.0, np.pi, 4.0 * np.pi + 2.0])
def test_a_pivot_opposes_everything_else(hold, set_state, angle):
    """−k x − c v at the held point; −κ times the swing − γ ω, both across the axis."""
    hand = hold("pivot", ON_PALM)
    swing = 0.06 * np.cross(ACROSS, [0.6, 0.0, 0.8])
    shift = np.array([0.004, -0.003, 0.006])
    turn = pin.exp3(swing) @ pin.exp3(angle * ACROSS)
    hand.move(shifted(hand, ON_PALM, turn, shift))
    rest, axes = held_point(hand, ON_PALM), hand.handle.rotation
    angular, linear = np.array([0.4, -0.7, 0.5]), np.array([0.1, -0.2, 0.15])
    spin(hand, set_state, angular, rest, linear)
    joint, told = hand.look()
    axis = axes @ ACROSS
    force = -SPRING * axes @ shift - DAMPER * linear
    torque = -BEND * axes @ swing - TWIST_DAMPER * (angular - (angular @ axis) * axis)
    np.testing.assert_allclose(hand.grip.point, rest, atol=1e-6)
    np.testing.assert_allclose(hand.grip.wrench[:3], force, atol=5e-3)
    np.testing.assert_allclose(hand.grip.wrench[3:], torque, atol=2e-4)
    # Bullet knows the axis in single precision.
    assert abs(np.dot(hand.grip.wrench[3:], axis)) < 1e-6
    # What the controller is told of it.
    hand.palm()
    wrist = hand.data.oMi[joint]
    moment = torque + np.cross(rest - wrist.translation, force)
    np.testing.assert_allclose(wrist.rotation @ told[:3], force, atol=5e-3)
    np.testing.assert_allclose(wrist.rotation @ told[3:], moment, atol=2e-3)


@pytest.mark.parametrize("grip", ["pivot", "slide"])
def test_the_free_axis_goes_with_the_handle(hold, grip):
    """The lever turns by 1.1 rad under the hand, which comes along, and is then bent or shifted."""
    hand = hold(grip, ON_PALM)
    mechanism, now = hand.fixture.mechanism, np.array([START + 1.1])
    hand.fixture.place(now)
    hand.handle = pin.SE3(handle_poses(mechanism, now[None])["left"][0])
    swing, shift = 0.06 * np.cross(ACROSS, [0.6, 0.0, 0.8]), np.array([0.004, -0.003, 0.006])
    free = pin.exp3(1.3 * ACROSS) if grip == "pivot" else UNTURNED
    far = 0.07 * ACROSS if grip == "slide" else np.zeros(3)
    hand.move(shifted(hand, ON_PALM, pin.exp3(swing) @ free, shift + far))
    assert hand.look() is not None
    opposed = shift - (shift @ ACROSS) * ACROSS if grip == "slide" else shift
    axes = hand.handle.rotation
    np.testing.assert_allclose(hand.grip.wrench[:3], -SPRING * axes @ opposed, atol=5e-3)
    np.testing.assert_allclose(hand.grip.wrench[3:], -BEND * axes @ swing, atol=2e-4)


def test_a_slide_opposes_no_way_along_its_axis_but_every_turn(hold, set_state):
    hand = hold("slide", ON_PALM)
    axes, axis = hand.handle.rotation, hand.handle.rotation @ ACROSS
    for way in (0.02, -0.05, 0.12):
        hand.move(shifted(hand, ON_PALM, shift=way * ACROSS))
        spin(hand, set_state, np.zeros(3), np.zeros(3), 0.8 * axis)
        assert hand.look() is not None
        np.testing.assert_allclose(hand.grip.wrench, 0.0, atol=5e-3)
    bend, shift = np.array([0.05, 0.08, -0.04]), np.array([0.004, -0.003, 0.006])
    hand.move(shifted(hand, ON_PALM, pin.exp3(bend), shift + 0.05 * ACROSS))
    assert hand.look() is not None
    opposed = shift - (shift @ ACROSS) * ACROSS
    np.testing.assert_allclose(hand.grip.wrench[:3], -SPRING * axes @ opposed, atol=5e-3)
    np.testing.assert_allclose(hand.grip.wrench[3:], -BEND * axes @ bend, atol=2e-4)


BEYOND = np.cross(ACROSS, [0.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("grip", "turn", "shift", "holds"),
    [
        ("pivot", 2.0 * ACROSS, 0.0 * BEYOND, True),
        ("pivot", 0.14 * BEYOND, 0.0 * BEYOND, True),  # 2.8 N·m
        ("pivot", 0.16 * BEYOND, 0.0 * BEYOND, False),  # 3.2 N·m
        ("pivot", 2.0 * ACROSS, 0.028 * ACROSS, True),  # 56 N
        ("pivot", 2.0 * ACROSS, 0.032 * ACROSS, False),  # 64 N
        ("slide", 0.0 * ACROSS, 0.1 * ACROSS, True),
        ("slide", 0.0 * ACROSS, 0.1 * ACROSS + 0.028 * BEYOND, True),
        ("slide", 0.0 * ACROSS, 0.1 * ACROSS + 0.032 * BEYOND, False),
        ("slide", 0.14 * ACROSS, 0.0 * ACROSS, True),
        ("slide", 0.16 * ACROSS, 0.0 * ACROSS, False),
    ],
)
def test_what_is_free_does_not_open_the_hand_and_overload_does(hold, grip, turn, shift, holds):
    hand = hold(grip, ON_PALM)
    hand.move(shifted(hand, ON_PALM, pin.exp3(turn), shift))
    assert (hand.look() is not None) == hand.grip.engaged == holds
    assert hand.grip.lost == (0 if holds else 1)
    if holds:
        return
    assert not any(hand.grip.wrench)
    hand.move(hand.TOUCHING)
    assert hand.look() is None
    assert hand.look(wanted=False) is None
    assert hand.look() is not None
    assert hand.grip.lost == 1


@pytest.mark.parametrize("grip", ["rigid", "pivot", "slide"])
def test_hand_and_free_body_keep_their_momentum(hold, momentum, fixture_momentum, set_state, grip):
    """A robot that floats and a thing in its hand that nothing else holds, askew to the world's axes.

    What one gains, linear and angular, the other loses, step by step as the wrench at its point says.
    """
    hand = hold(grip, ON_PALM, free=True)
    assert hand.grip.handle_link == -1
    hand.drop_contacts()
    hand.move(shifted(hand, ON_PALM, pin.exp3(np.array([0.03, -0.05, 0.04])), (0.004, -0.003, 0.005)))
    spin(hand, set_state, np.array([0.3, -0.2, 0.4]), held_point(hand, ON_PALM), (0.1, -0.2, 0.15))
    hand.body.read_state(hand.state)
    own, thing = momentum(hand.robot, hand.state)[0], fixture_momentum(hand.fixture)
    total, torques = own + thing, []
    for _ in range(250):
        load = hand.look()
        force, torque, point = np.split(np.concatenate([hand.grip.wrench, hand.grip.point]), 3)
        wrench = np.concatenate([force, torque + np.cross(point, force)])
        hand.step(load)
        after, other = momentum(hand.robot, hand.state)[0], fixture_momentum(hand.fixture)
        np.testing.assert_allclose((other - thing) / DT, -wrench, atol=5e-3)
        np.testing.assert_allclose((after - own) / DT, wrench, atol=0.05)
        own, thing = after, other
        torques.append(np.linalg.norm(torque))
    assert hand.grip.engaged
    np.testing.assert_allclose(own + thing, total, atol=5e-3)
    assert np.linalg.norm(thing[:3]) > 0.2
    assert max(torques) > 0.3


def test_fingers_touch_a_rod_that_goes_through_the_palm(hold):
    """The palm's link passes through it; so the hand can be where the axis is."""
    hand = hold("pivot", THROUGH_PALM)
    touching = bullet.getContactPoints(
        hand.body.handle, hand.fixture.handle, physicsClientId=hand.world.client
    )
    assert hand.grip.palm_link not in {contact[3] for contact in touching}
