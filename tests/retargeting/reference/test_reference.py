"""References: segments join without a gap, at rest at both ends."""

import numpy as np
import pytest
from scipy.interpolate import BPoly, PPoly

from simbench.errors import RetargetError
from simbench.kinematics.derivatives import minimum_jerk
from simbench.options import SimulationSection
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.reference.reference import SampledMotion, assemble, plan_lead, run_up
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.robot import load_robot
from simbench.runs.motion_source import scenario_motion
from simbench.runs.retargeted_reference import build_whole_body_reference
from simbench.runs.scenario.loading import load_scenario

SETTINGS = SimulationSection(timestep_s=0.01, settle_s=0.3, hold_s=0.2)


def line(start, end, duration):
    """Five samples of a joint that goes from one angle to another."""
    return np.linspace(0.0, duration, 5), np.linspace(start, end, 5)[:, None]


def test_lead_in_motion_and_lead_out_meet_at_the_ends_of_the_motion():
    time, joints = assemble(line(-1.0, 0.0, 1.0), line(0.0, 2.0, 2.0), line(3.0, 2.0, 1.0))
    # One unit of angle each second, all the way: no sample is there twice, none is missing.
    np.testing.assert_allclose(time, [0, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.25, 3.5, 3.75, 4])
    np.testing.assert_allclose(joints[:, 0], time - 1.0)


def test_the_motion_is_sampled_between_rest_and_rest():
    parabola = PPoly([[[1.0]], [[0.0]], [[0.0]]], [0.0, 1.0])
    sampled = SampledMotion(parabola, SETTINGS, 1.0)
    time = np.arange(1, 151) * 0.01
    np.testing.assert_allclose(sampled.clock, np.clip(time - 0.3, 0.0, 1.0), atol=1e-12)
    np.testing.assert_allclose(sampled.position[:, 0], sampled.clock**2, atol=1e-12)
    moving = (time > 0.3 + 1e-9) & (time < 1.3 - 1e-9)
    np.testing.assert_array_equal(sampled.at_rest, ~moving)
    np.testing.assert_allclose(sampled.velocity[:, 0], np.where(moving, 2.0 * sampled.clock, 0.0), atol=1e-12)
    np.testing.assert_allclose(sampled.acceleration[:, 0], np.where(moving, 2.0, 0.0), atol=1e-12)


def test_a_lead_takes_as_long_as_the_speed_limit_asks():
    asked, rest, limits = [], np.zeros(1), (-np.full(1, np.inf), np.full(1, np.inf))

    def finish(clock, joints):
        asked.append(clock[-1])
        return line(0.0, 1.0, clock[-1])

    ways = rest, rest, rest, 1.0, limits, np.array([0.5])
    time, _ = plan_lead("robot: between here and there", *ways, finish=finish)
    assert time[-1] == pytest.approx(2.0, rel=1e-5)
    assert asked == sorted(asked)
    with pytest.raises(RetargetError, match=r"robot: here a joint is 1\.\d\d times as fast as allowed, even"):
        plan_lead("robot: here", *ways, stretch=1.5, finish=finish)


def test_a_run_up_is_the_quintic_from_rest_to_the_velocity():
    clock = np.linspace(0.0, 2.0, 401)
    velocity, unlimited = np.array([0.7, -1.5]), (np.full(2, -np.inf), np.full(2, np.inf))
    added = run_up(clock, np.zeros((401, 2)), velocity, 1.2, unlimited)
    rest = np.zeros(2)
    quintic = BPoly.from_derivatives([0.8, 2.0], [[rest, rest, rest], [rest, velocity, rest]])
    np.testing.assert_allclose(added, np.where(clock[:, None] < 0.8, 0.0, quintic(clock)), atol=1e-12)


def test_a_joint_that_a_run_up_would_take_out_of_its_limits_takes_a_shorter_one_without_a_corner():
    """It ends 0.05 rad from a limit, and would have gone back by 0.3 rad; the other joint keeps its own."""
    clock = np.linspace(0.0, 2.0, 2001)
    way = np.column_stack([minimum_jerk(clock, 0.0, 2.0), np.zeros(2001)])
    limits = np.array([-1.0, -1.0]), np.array([1.05, 1.0])
    velocity = np.array([-1.0, -1.0])
    joints = way + run_up(clock, way, velocity, 2.0, limits)
    assert joints[:, 0].max() <= 1.05 + 1e-9
    np.testing.assert_allclose((joints[-1] - joints[-2]) / 0.001, velocity, atol=0.001)
    np.testing.assert_allclose(
        joints[:, 1], run_up(clock, way, velocity, 2.0, (-np.full(2, 9.0), limits[1]))[:, 1]
    )
    assert joints[:, 1].max() > 0.3
    # The change of speed from sample to sample: a corner of 1 rad/s would be 1.
    assert np.abs(np.diff(joints, n=2, axis=0)).max() / 0.001 < 0.05


def test_a_run_up_is_not_shortened_for_a_way_that_leaves_the_limits_by_itself():
    clock = np.linspace(0.0, 1.0, 101)
    way = np.linspace(2.0, 0.0, 101)[:, None]
    limits = np.array([-1.0]), np.array([1.0])
    free = (np.array([-9.0]), np.array([9.0]))
    np.testing.assert_array_equal(
        run_up(clock, way, np.array([0.5]), 1.0, limits), run_up(clock, way, np.array([0.5]), 1.0, free)
    )


def test_a_motion_that_begins_faster_than_allowed_is_refused():
    robot = load_robot("mahru")
    scenario = load_scenario("dance", ["motion.end_s=0.1", "simulation.lead_in_s=0.02"])
    motion = scenario_motion(scenario, [])
    plan = plan_motion(robot, motion, scenario.robot, scenario.retarget, Equipment(), lambda *_: None)
    with pytest.raises(RetargetError, match=r"way to the motion a joint is \d+\.\d\d times .* begin and end"):
        build_whole_body_reference(robot, plan, scenario.simulation, feedforward="none", speed_fraction=1e-3)
