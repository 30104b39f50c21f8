"""Footsteps: where commands lead, side by side at the end, and what legs and soles forbid."""

from functools import partial

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Polygon

from simbench.balance.gait import Command, Footstep, check_footsteps, plan_footsteps, step_limits
from simbench.balance.leg_ik import stand
from simbench.errors import BalanceError
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES

march, forward, sideways, turn = (partial(Command, kind) for kind in ("march", "forward", "sideways", "turn"))

PLACE, HEADING = np.array([0.3, -0.2]), 0.7
WIDTH = {"mahru": 0.18, "romeo": 0.192}


@pytest.fixture(scope="module")
def robots(romeo):
    return {"mahru": load_robot("mahru"), "romeo": romeo}


@pytest.fixture(scope="module")
def stances(robots):
    return {name: stand(robot, tuple(PLACE), HEADING, "standing") for name, robot in robots.items()}


def turned(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def last_of(steps, side):
    return next(step for step in reversed(steps) if step.side == side)


def planar(step):
    return pin.SE3(pin.utils.rotate("z", step.yaw), np.array([*step.position, 0.0]))


@pytest.mark.parametrize("name", ["mahru", "romeo"])
@pytest.mark.parametrize(
    ("commands", "sides", "moved", "angle"),
    [
        ([march(3)], "lrl", (0, 0), 0),
        # 0.5 m at most 0.15 m at a time: four steps of 0.125 m, and one that closes up.
        ([forward(0.5, 0.15)], "lrlrl", (0.5, 0), 0),
        ([forward(-0.3, 0.1)], "lrlr", (-0.3, 0), 0),
        ([sideways(0.3, 0.1)], "lrlrlr", (0, 0.3), 0),
        ([sideways(-0.15, 0.1)], "rlrl", (0, -0.15), 0),
        ([turn(0.5, 0.2)], "lrlrlr", (0, 0), 0.5),
        ([turn(-0.4, 0.2)], "rlrl", (0, 0), -0.4),
        # Forward in the new heading, with the foot that has not turned last.
        ([turn(0.4, 0.2), forward(0.2, 0.1)], "lrlrlrl", 0.2 * turned(0.4)[:, 0], 0.4),
        ([march(2), sideways(0.1, 0.1), forward(0.1, 0.1)], "lrlrlr", (0.1, 0.1), 0),
    ],
)
def test_commands_lead_where_they_say(robots, stances, name, commands, sides, moved, angle):
    steps = plan_footsteps(robots[name], stances[name], commands)
    assert "".join(step.side[0] for step in steps) == sides
    middle = PLACE + turned(HEADING) @ moved
    for side, away in zip(SIDES, (0.5, -0.5), strict=True):
        foot = last_of(steps, side)
        expected = middle + turned(HEADING + angle) @ [0, away * WIDTH[name]]
        np.testing.assert_allclose(foot.position, expected, rtol=0, atol=1e-6)
        assert foot.yaw == pytest.approx(HEADING + angle, abs=1e-6)


def test_steps_forward_are_equally_long_and_on_two_lines(robots, stances):
    steps = plan_footsteps(robots["mahru"], stances["mahru"], [forward(0.5, 0.15)], first="right")
    places = np.array([turned(HEADING).T @ (step.position - PLACE) for step in steps])
    np.testing.assert_allclose(places[:, 0], [0.125, 0.25, 0.375, 0.5, 0.5], rtol=0, atol=1e-6)
    np.testing.assert_allclose(places[:, 1], [-0.09, 0.09, -0.09, 0.09, -0.09], rtol=0, atol=1e-6)


def test_the_foot_on_that_side_goes_sideways_first(robots, stances):
    steps = plan_footsteps(robots["romeo"], stances["romeo"], [sideways(-0.2, 0.1)])
    places = np.array([turned(HEADING).T @ (step.position - PLACE) for step in steps])
    np.testing.assert_allclose(places[:, 1], [-0.196, -0.004, -0.296, -0.104], rtol=0, atol=1e-6)


def test_going_round_in_a_circle_counts_the_turn(robots, stances):
    steps = plan_footsteps(robots["romeo"], stances["romeo"], [turn(2 * np.pi, 0.25)])
    for side in SIDES:
        foot = last_of(steps, side)
        assert foot.yaw == pytest.approx(HEADING + 2 * np.pi, abs=1e-6)
        np.testing.assert_allclose(foot.position, stances["romeo"].soles[side].translation[:2], atol=1e-6)


@settings(max_examples=20, deadline=None)
@given(
    name=st.sampled_from(["mahru", "romeo"]),
    commands=st.lists(
        st.builds(march, st.integers(1, 3))
        | st.builds(forward, st.floats(0.05, 0.4) | st.floats(-0.4, -0.05), st.floats(0.05, 0.25))
        | st.builds(sideways, st.floats(0.05, 0.3) | st.floats(-0.3, -0.05), st.floats(0.05, 0.2))
        | st.builds(turn, st.floats(0.1, 0.6) | st.floats(-0.6, -0.1), st.floats(0.05, 0.3)),
        min_size=1,
        max_size=3,
    ),
)
def test_soles_never_overlap_and_end_side_by_side(robots, stances, name, commands):
    robot, stance = robots[name], stances[name]
    steps = plan_footsteps(robot, stance, commands)
    feet = dict(stance.soles)
    for step in steps:
        feet[step.side] = planar(step)
        soles = [
            Polygon([feet[side].act(corner)[:2] for corner in robot.soles[f"{side}_foot"]]) for side in SIDES
        ]
        # Amid a turn by 0.3 rad, Mahru's are 9.66 mm apart.
        assert soles[0].distance(soles[1]) > 0.0096
    start = stance.soles["left"].actInv(stance.soles["right"])
    np.testing.assert_allclose(
        feet["left"].actInv(feet["right"]).homogeneous, start.homogeneous, rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("name", ["mahru", "romeo"])
def test_limits_are_the_leg_s(robots, stances, name):
    robot, stance = robots[name], stances[name]
    reach, most_inward, most_outward = step_limits(robot, stance)
    # A straight leg swung forward until the ankle is as far below the hip as in the stance.
    data, q = robot.model.createData(), np.concatenate([stance.base, stance.joints])
    hip, ankle = (robot.model.getJointId(f"L{joint}") for joint in ("HipPitch", "AnklePitch"))
    pin.forwardKinematics(robot.model, data, q)
    hip_above_ankle = (data.oMi[hip].translation - data.oMi[ankle].translation)[2]
    q = pin.neutral(robot.model)
    low, high = 0.0, 1.0
    for _ in range(30):
        q[robot.model.joints[hip].idx_q] = -0.5 * (low + high)
        pin.forwardKinematics(robot.model, data, q)
        leg = data.oMi[ankle].translation - data.oMi[hip].translation
        low, high = (0.5 * (low + high), high) if -leg[2] > hip_above_ankle else (low, 0.5 * (low + high))
    assert reach == pytest.approx(2 * np.linalg.norm(leg[:2]), abs=1e-4)
    # Twice the hips' yaw, in their URDFs −30° to 45° and ±15°.
    inward, outward = {"mahru": (60, 90), "romeo": (30, 30)}[name]
    assert np.rad2deg([most_inward, most_outward]) == pytest.approx([inward, outward], abs=0.1)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (forward(1.0, 0.4), r"^step 1 \(left\): 0\.333 m from its place beside .*; allowed: 0\.331 m$"),
        (turn(2.0, 1.0), r"^step 1 \(left\): its sole comes over the other one; allowed: soles beside"),
        (turn(2.0, 2.0), r"^step 1 \(left\): turned \+2\.000 rad away .*: -1\.047 to \+1\.571 rad$"),
        (march(1001), r"^command 1 \(march\): 1001 steps; allowed: 1 to 1000$"),
        (
            forward(1e9, 0.2),
            r"^command 1 \(forward\): 1e\+09 m in steps of 0.2 m are too many; allowed: 1000 steps$",
        ),
        (forward(np.nan, 0.1), r"^command 1 \(forward\): nan m; allowed: a finite number other than 0$"),
        (turn(1.0, -0.1), r"^command 1 \(turn\): steps of -0\.1 rad; allowed: above 0 rad$"),
    ],
)
def test_what_the_robot_cannot_step_is_refused(robots, stances, command, message):
    with pytest.raises(BalanceError, match=message):
        plan_footsteps(robots["mahru"], stances["mahru"], [command])


def test_a_sole_does_not_pass_over_the_other_one(robots):
    stance = stand(robots["mahru"], (0.0, 0.0), 0.0, "standing")
    way = [
        Footstep("left", np.array(spot), 0.0)
        for spot in ((-0.26, 0.09), (-0.26, 0.03), (0.26, 0.03), (0.26, 0.09))
    ]
    check_footsteps(robots["mahru"], stance, way[:2])
    check_footsteps(robots["mahru"], stance, [way[3], way[2]])
    with pytest.raises(BalanceError, match=r"^step 3 \(left\): its sole comes over the other one"):
        check_footsteps(robots["mahru"], stance, way)
