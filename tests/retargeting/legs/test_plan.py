"""A synthetic walk planned for a robot: tempo, steps, ZMP, speeds, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from walker import walk

from simbench.errors import RetargetError
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.legs.body import measure_body
from simbench.retargeting.legs.contacts import find_recorded_steps
from simbench.retargeting.legs.plan import plan_step_following
from simbench.retargeting.legs.task import StepFollowingOptions
from simbench.retargeting.legs.upper_body import within_speed_limits
from simbench.retargeting.legs.zmp import weight_between_feet
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES


def options(**retarget):
    """Plan at a low rate, to be quick."""
    section = RetargetSection(legs="follow", **retarget)
    return StepFollowingOptions(
        RobotSection(name="mahru"), section, SimulationSection(timestep_s=0.005), 100.0, "none"
    )


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def recording():
    return walk(length=0.3, period=0.8, double=0.2, steps=3, rest=0.6)


@pytest.fixture(scope="module")
def plan(mahru, recording):
    return plan_step_following(mahru, recording, options(), lambda *_: None)


def test_the_recorded_clock_is_kept(plan, recording):
    np.testing.assert_allclose(plan.timeline.time - plan.timeline.start, recording.time, atol=1e-12)
    np.testing.assert_allclose(plan.trajectory.time, recording.time, atol=1e-12)
    assert plan.metrics["retarget.slow_down"] == 1.0


def test_each_step_of_the_person_is_one_of_the_robot(plan):
    steps = plan.timeline.steps
    assert steps.side.tolist() == [0, 1, 0]
    assert plan.metrics["follow.step_count"] == plan.metrics["follow.person_step_count"] == 3.0
    np.testing.assert_allclose(steps.planned_position, steps.person_position, atol=0.01)
    # Contacts are found within a few samples, and nothing had to be moved in time.
    np.testing.assert_allclose(steps.person_time, 1.4 + 0.8 * np.arange(3), atol=0.08)
    np.testing.assert_allclose(steps.planned_time, steps.person_time, atol=0.03)


def test_the_zmp_is_on_the_soles_that_stand(plan, mahru):
    gait = plan.whole.gait
    for row in range(0, len(gait.zmp), 7):
        corners = []
        for foot, side in enumerate(SIDES):
            if gait.contact[row, foot]:
                angle = gait.foot_yaw[row, foot]
                turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
                sole = mahru.soles[f"{side}_foot"][:, :2] @ turn.T
                corners.append(sole + gait.foot_position[row, foot, :2])
        hull = shapely.MultiPoint(np.vstack(corners)).convex_hull
        assert hull.distance(shapely.Point(gait.zmp[row])) < 1e-6


def test_the_robot_walks_ahead_and_comes_to_rest(plan):
    cog = plan.whole.gait.cog
    ahead = plan.planned.steps[-1].position[0] - plan.planned.start[:, 0].mean()
    assert cog[-1, 0] - cog[0, 0] == pytest.approx(ahead, abs=0.05)
    assert np.linalg.norm(plan.whole.gait.cog_velocity[[0, -1]], axis=1).max() < 0.01


def test_strict_refuses_steps_that_were_changed(mahru):
    quick = walk(length=0.2, period=0.3, double=0.02, steps=2, rest=0.5)
    with pytest.raises(RetargetError, match="legs_strict") as caught:
        plan_step_following(mahru, quick, options(legs_strict=True), lambda *_: None)
    assert "\n" not in str(caught.value)


def test_weight_follows_a_person_who_sways(recording):
    motion = walk(steps=0, rest=2.0)
    sway = 0.04 * np.sin(2.0 * np.pi * 0.3 * motion.time)[:, None] * [0.0, 1.0, 0.0]
    feet = ("ankle", "heel", "toe")
    joints = {name: track if name.endswith(feet) else track + sway for name, track in motion.joints.items()}
    swaying = replace(motion, joints=joints)
    body = measure_body(swaying)
    weight = weight_between_feet(body, find_recorded_steps(swaying, body).contacts, swaying.time)
    middle = slice(50, -50)
    # Most of the body sways; the pendulum's ZMP sways a little more than the centre of gravity.
    expected = 0.5 + sway[middle, 1] / 0.16
    assert np.corrcoef(weight[middle], expected)[0, 1] > 0.99
    assert 0.7 < np.ptp(weight[middle]) / np.ptp(expected) < 1.4


def test_joints_that_are_too_fast_lose_amplitude_and_nothing_lags():
    time = np.linspace(0.0, 4.0, 401)
    slow, fast = np.sin(2.0 * np.pi * 0.5 * time), np.sin(2.0 * np.pi * 2.0 * time)
    joints, filtered = within_speed_limits(time, np.column_stack([slow, fast]), np.array([4.0, 4.0]))
    assert filtered == 1
    np.testing.assert_array_equal(joints[:, 0], slow)
    assert np.abs(np.diff(joints[:, 1]) / np.diff(time)).max() <= 4.0
    shifts = np.arange(-20, 21)
    inner = slice(100, 300)
    best = max(shifts, key=lambda shift: float(np.dot(joints[inner, 1], np.roll(fast, shift)[inner])))
    assert best == 0
