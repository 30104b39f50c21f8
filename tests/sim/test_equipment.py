"""What hands feel of a scenario's equipment, and which of it they hold."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from simbench.retargeting.contact.hand_plan import HandPlan
from simbench.robot.sides import SIDES
from simbench.runs.scenario.loading import load_scenario, scenario_mechanisms
from simbench.sim.equipment import (
    compute_joint_positions,
    compute_resistance,
    describe_handles,
    find_held_mechanisms,
    find_obstacles,
    positions_of_use,
)
from simbench.sim.fixtures.mechanism import Mechanism, MechanismHandle, MechanismJoint, Part, handle_poses
from simbench.sim.fixtures.shapes import STEEL, Board

# A bar 0.6 m long, 5 cm square; it turns about a vertical axis through (0.3, 0.1), 0.1 m from its middle.
LENGTH, WIDTH, MASS, OFF = 0.6, 0.05, 3.0, 0.1
BAR = Part("bar", (Board((0.1, 0.075, 0.8), (0.7, 0.125, 0.85), STEEL),), MASS, "turn")
MOMENT = MASS * ((LENGTH**2 + WIDTH**2) / 12.0 + OFF**2)
JOINT = MechanismJoint(
    "turn", "turn", (0.0, 0.0, 1.0), (0.3, 0.1, 0.0), start=0.2, friction=0.9, damping=0.4, back_damping=0.2
)
STAND = Part("stand", (Board((-0.1, -0.1, 0.0), (0.1, 0.1, 0.1), STEEL),), 1.0)
# Where both hold it: 0.15 and 0.4 m from the axis. The left's palm lies 5 cm above what it holds.
LEFT = MechanismHandle("bar", pin.SE3(np.eye(3), np.array([0.15, 0.1, 0.9])), point=(0.0, 0.0, -0.05))
RIGHT = MechanismHandle("bar", pin.SE3(pin.utils.rotate("z", 0.5), np.array([0.7, 0.1, 0.9])))


def bar(handles, name="bar"):
    pose = pin.SE3(pin.exp3(np.array([0.2, -0.4, 1.0])), np.array([0.4, -0.3, 0.2]))
    return Mechanism(name, pose, (STAND, BAR), (JOINT,), handles)


def felt_at(lever, share=1.0):
    """Friction (N), damping (N·s/m), mass (kg)."""
    return tuple(share * np.array([0.9 / lever, 0.3 / lever**2, MOMENT / lever**2]))


def test_one_hand_feels_what_turns_at_its_lever():
    felt = compute_resistance([bar({"right": RIGHT})])
    assert felt.keys() == {"right"}
    assert felt["right"] == pytest.approx(felt_at(0.4), rel=1e-9)


def test_two_hands_share_what_they_turn_each_at_its_own_lever():
    felt = compute_resistance([bar({"left": LEFT, "right": RIGHT})])
    assert felt["left"] == pytest.approx(felt_at(0.15, 0.5), rel=1e-9)
    assert felt["right"] == pytest.approx(felt_at(0.4, 0.5), rel=1e-9)


def test_the_lever_is_that_of_the_held_point():
    """A point 0.3 m beside the palm's centre, in its turned axes: at 0.4 + 0.3 cos 0.5, 0.3 sin 0.5."""
    handle = replace(RIGHT, point=(0.3, 0.0, 0.0))
    lever = np.hypot(0.4 + 0.3 * np.cos(0.5), 0.3 * np.sin(0.5))
    assert compute_resistance([bar({"right": handle})])["right"] == pytest.approx(felt_at(lever), rel=1e-9)


def test_a_drawer_is_shared_and_what_stands_still_is_not_felt():
    [drawer] = scenario_mechanisms(load_scenario("drawer"))
    felt = compute_resistance([drawer])
    assert felt == dict.fromkeys(SIDES, (1.5, 2.5, 1.25))
    still = replace(drawer, handles={side: replace(h, part="cabinet") for side, h in drawer.handles.items()})
    assert compute_resistance([still]) == {}


def test_a_hand_holds_the_first_that_has_a_handle_for_it():
    first, second = bar({"left": LEFT}, "first"), bar({"left": LEFT, "right": RIGHT}, "second")
    assert {side: each.name for side, each in find_held_mechanisms([first, second]).items()} == {
        "left": "first",
        "right": "second",
    }
    assert find_held_mechanisms([]) == {}


def test_handles_go_over_all_of_the_way():
    """Around once, from where it is found; or between the stops, from the lowest."""
    around = bar({"right": RIGHT})
    poses = describe_handles([around])["right"].poses
    np.testing.assert_allclose(poses[0], handle_poses(around, np.array([[0.2]]))["right"][0], atol=1e-9)
    np.testing.assert_allclose(poses[0], poses[-1], atol=1e-9)
    way = np.linalg.norm(np.diff(poses[:, :3, 3], axis=0), axis=1).sum()
    assert way == pytest.approx(2.0 * np.pi * 0.4, rel=1e-3)
    stopped = replace(around, joints=(replace(JOINT, lowest=-0.3, highest=0.9),))
    poses = describe_handles([stopped])["right"].poses
    ends = handle_poses(stopped, np.array([[-0.3], [0.9]]))["right"]
    np.testing.assert_allclose(poses[[0, -1]], ends, atol=1e-9)
    still = replace(around, handles={"right": replace(RIGHT, part="stand")})
    assert describe_handles([still])["right"].poses.shape == (1, 4, 4)


def test_what_a_robot_keeps_clear_of_goes_as_the_actor_moves_it(romeo):
    mechanism = bar({"right": RIGHT})
    travel = np.linspace(0.0, 1.5, 9)
    palms = handle_poses(mechanism, positions_of_use(mechanism, travel))
    actor = {"right": palms["right"], "left": np.tile(np.eye(4), (9, 1, 1))}
    contact = {"left": np.zeros(9, dtype=bool), "right": np.arange(9) >= 3}
    none = {side: np.zeros(9) for side in SIDES}
    hands = HandPlan(none, contact, none, actor, actor, dict.fromkeys(SIDES))
    expected = np.where(np.arange(9) >= 3, 0.2 + travel, 0.2)
    np.testing.assert_allclose(
        compute_joint_positions(mechanism, hands.actor, hands.contact)[:, 0], expected, atol=1e-9
    )
    stand, moving = find_obstacles([mechanism], romeo, hands)
    assert stand.pose.shape == (4, 4)
    assert not stand.touching
    for side in SIDES:
        hand = romeo.hands[f"{side}_hand"]
        assert moving.touching >= {hand.palm, *hand.fingers}
    # The bar's middle is 0.1 m from the axis, at the angle that the palm asks for.
    middle = np.column_stack([0.3 + OFF * np.cos(expected), 0.1 + OFF * np.sin(expected), np.full(9, 0.825)])
    placed = middle @ mechanism.pose.rotation.T + mechanism.pose.translation
    np.testing.assert_allclose(moving.pose[:, :3, 3], placed, atol=1e-9)
