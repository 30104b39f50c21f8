"""References: segments join without a gap, sweeps are minimum jerk, standing is held by statics."""

import numpy as np
import pinocchio as pin
import pytest
import sweep_by_hand as sweep
from scipy.interpolate import BPoly, PPoly

from simbench.errors import BalanceError, RetargetError, ScenarioError
from simbench.kinematics.profiles import minimum_jerk
from simbench.options import PushSection, RobotSection, SimulationSection
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.reference.reference import (
    assemble,
    build_whole_body_reference,
    plan_lead,
    run_up,
    sample_motion,
)
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.robot import load_robot
from simbench.runs.motion_source import scenario_motion
from simbench.runs.pipeline import run_scenario
from simbench.runs.plans.sweep_plan import build_sweep_reference
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.standing_reference import build_standing_reference

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
    sampled = sample_motion(parabola, SETTINGS, 1.0)
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


READY = RobotSection(name="puma560", posture="ready")
SWEEP_SETTINGS = SimulationSection()
DT = SWEEP_SETTINGS.timestep_s


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.mark.parametrize(
    ("task", "amplitude", "peak", "pause", "repetitions"),
    [
        ({}, 1.0, 1.0, 0.25, 1),
        ({"amplitude_rad": 0.6, "speed_rad_s": 1.2, "repetitions": 3, "pause_s": 0.1}, 0.6, 1.2, 0.1, 3),
        ({"amplitude_rad": 0.4, "pause_s": 0, "repetitions": 2}, 0.4, 1.0, 0.0, 2),
    ],
)
def test_the_reference_is_minimum_jerk_out_and_back(puma, task, amplitude, peak, pause, repetitions):
    timeline = build_sweep_reference(puma, READY, task, SWEEP_SETTINGS, "none")
    reference = timeline.reference
    motion = 2 * repetitions * (1.875 * amplitude / peak + pause)
    assert len(reference.position) == round((0.5 + motion + 0.5) / DT)
    np.testing.assert_allclose(timeline.time, [0.5, 0.5 + motion])
    assert timeline.start == 0.5

    # Row k is for the end of step k.
    time = DT * np.arange(1, len(reference.position) + 1)
    start = puma.postures["ready"]
    expected = sweep.closed_form(time, start, amplitude, peak, pause, repetitions)
    np.testing.assert_allclose(reference.position, expected[0], rtol=0, atol=1e-9)
    np.testing.assert_allclose(reference.velocity, expected[1], rtol=0, atol=1e-8)
    np.testing.assert_allclose(reference.acceleration, expected[2], rtol=0, atol=1e-6)

    assert np.abs(reference.velocity).max() == pytest.approx(peak, rel=1e-4)
    np.testing.assert_allclose(np.ptp(reference.position, axis=0), amplitude, rtol=1e-9)
    for row in (0, -1):
        np.testing.assert_allclose(reference.position[row], start, atol=1e-12)
        assert not np.abs(reference.velocity[row]).max() > 1e-12
    assert (reference.position >= puma.model.lowerPositionLimit).all()
    assert (reference.position <= puma.model.upperPositionLimit).all()
    assert not reference.grip.any()
    assert reference.grip.shape == (len(time), 1)


def test_speed_and_acceleration_are_the_derivatives_of_the_position(puma):
    """Central differences, over the pauses too, where the acceleration has corners."""
    task = {"amplitude_rad": 0.7, "speed_rad_s": 1.1, "repetitions": 2}
    reference = build_sweep_reference(puma, READY, task, SWEEP_SETTINGS, "none").reference
    speed = (reference.position[2:] - reference.position[:-2]) / (2 * DT)
    np.testing.assert_allclose(reference.velocity[1:-1], speed, rtol=0, atol=2e-5)
    acceleration = (reference.velocity[2:] - reference.velocity[:-2]) / (2 * DT)
    # A corner of the acceleration is its slope there, 60 A / T³, times half a step.
    corner = 60 * 0.7 / (1.875 * 0.7 / 1.1) ** 3 * DT
    np.testing.assert_allclose(reference.acceleration[1:-1], acceleration, rtol=0, atol=0.5 * corner)
    assert np.abs(acceleration).max() > 2.0


def test_the_feedforward_is_what_the_motors_must_give(puma):
    """Gravity as the gradient of the potential energy; all of it as A q̈ + I_m q̈ + h, A by kinetic energy."""
    none, weight, whole = (
        build_sweep_reference(puma, READY, {}, SWEEP_SETTINGS, kind).reference
        for kind in ("none", "gravity", "inverse_dynamics")
    )
    assert not none.feedforward.any()
    model, data = puma.model, puma.model.createData()
    for row in (0, 900, 1400, 2000, 3300):
        q, v, a = weight.position[row], weight.velocity[row], weight.acceleration[row]
        slope = np.empty(6)
        for joint, step in enumerate(1e-5 * np.eye(6)):
            up, down = (pin.computePotentialEnergy(model, data, q + sign * step) for sign in (1, -1))
            slope[joint] = (up - down) / 2e-5
        np.testing.assert_allclose(weight.feedforward[row], slope, rtol=0, atol=1e-6)
        # The torque that makes Pinocchio's forward dynamics, with rotors, give the acceleration back.
        reached = pin.aba(model, data, q, v, whole.feedforward[row])
        np.testing.assert_allclose(reached, a, rtol=0, atol=1e-8)
    assert np.abs(whole.feedforward - weight.feedforward).max() > 5.0


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["motion.task.stroke_m=0.1"],
            "motion.task.stroke_m: unknown key; allowed: amplitude_rad, speed_rad_s, repetitions, pause_s",
        ),
        (["motion.task.speed_rad_s=0"], "motion.task.speed_rad_s: must be greater than 0, got 0"),
        (["motion.task.speed_rad_s=-1"], "motion.task.speed_rad_s: must be greater than 0, got -1"),
        (["motion.task.amplitude_rad=-0.5"], "motion.task.amplitude_rad: must be greater than 0, got -0.5"),
        (["motion.task.pause_s=-0.1"], "motion.task.pause_s: must be greater than 0, got -0.1"),
        (["motion.task.repetitions=0"], "motion.task.repetitions: must be greater than 0, got 0"),
        (["motion.task.repetitions=1.5"], "motion.task.repetitions: must be a whole number, got 1.5"),
        (["motion.task.repetitions=1e300"], "motion.task: would take 4.25e+300 s; at most 600 s"),
        # 1.875 / 1e-9 s each stroke, and two pauses.
        (["motion.task.speed_rad_s=1e-9"], "motion.task: would take 3.75e+09 s; at most 600 s"),
        (
            ["motion.task.amplitude_rad=1e-9"],
            "motion.task: a stroke takes 1.88e-09 s; at least a step, 0.001 s",
        ),
        (["motion.task.repetitions=142"], "motion.task: would take 603.5 s; at most 600 s"),
        (
            # Joint 5 stands at 0.8 of ±1.745329, all others have more room.
            ["motion.task.amplitude_rad=2.6"],
            "motion.task.amplitude_rad: 2.6 is beyond the limits of joint5; at most 2.545 from this posture",
        ),
        (
            ["motion.task.speed_rad_s=1.3"],
            "motion.task.speed_rad_s: 1.3 is beyond the speed limit of joint2, 1.292 rad/s",
        ),
        (
            ["robot.height_m=-0.1"],
            "robot.height_m: puma560 has a fixed base, which is not below the floor; allowed: from 0",
        ),
        (
            ["robot.name=romeo", "control.law=pd"],
            "motion.source joints:sweep: needs a robot with a fixed base",
        ),
        (["robot.name=romeo"], "control.law: computed_torque needs a fixed base; romeo floats"),
        (
            ["fixtures=[{type: drawer, position_m: [0.5, 0, 0]}]"],
            "fixtures: motion.source joints:sweep uses none",
        ),
    ],
)
def test_bad_input_is_refused_in_one_line(overrides, message, tmp_path):
    scenario = load_scenario("puma560_sweep", overrides)
    with pytest.raises(ScenarioError) as caught:
        run_scenario(scenario, tmp_path / "run")
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(message)
    assert not any(tmp_path.iterdir())


PLACE = RobotSection(name="mahru", position_m=(0.4, -0.3), heading_rad=0.6, height_m=-0.05)
STANDING_SETTINGS = SimulationSection(timestep_s=0.002, settle_s=0.5, hold_s=0.75)


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def timeline(mahru):
    return build_standing_reference(mahru, PLACE, STANDING_SETTINGS, None, "inverse_dynamics")


def test_it_rests_over_the_middle_between_its_feet_and_lasts_as_long_as_asked(mahru, timeline):
    reference = timeline.reference
    assert len(reference.position) == len(timeline.cog) == len(timeline.zmp) == 625
    assert not reference.velocity.any()
    assert not reference.acceleration.any()
    assert not reference.grip.any()
    assert (np.ptp(reference.position, axis=0) == 0.0).all()
    model, data = mahru.model, mahru.model.createData()
    cog = pin.centerOfMass(model, data, np.concatenate([timeline.base, reference.position[0]]))
    pin.updateFramePlacements(model, data)
    soles = [data.oMf[model.getFrameId(mahru.frames[f"{side}_foot"])] for side in ("left", "right")]
    corners = np.vstack(
        [
            [sole.act(corner) for corner in mahru.soles[f"{side}_foot"]]
            for sole, side in zip(soles, ("left", "right"), strict=True)
        ]
    )
    np.testing.assert_allclose(corners[:, 2], 0.0, atol=1e-5)
    np.testing.assert_allclose(
        0.5 * (soles[0].translation + soles[1].translation)[:2], (0.4, -0.3), atol=1e-5
    )
    # Corners of both soles alike: their mean is the middle of the support polygon.
    np.testing.assert_allclose(timeline.cog[[0, -1]], [cog, cog], atol=1e-12)
    np.testing.assert_allclose(cog[:2], timeline.zmp[0], atol=1e-4)
    np.testing.assert_allclose(timeline.zmp[0], corners[:, :2].mean(axis=0), atol=1e-4)


def test_it_lasts_until_the_last_push_has_had_its_interval(mahru):
    push = PushSection(first_ns=5.0, count=3, start_s=0.25, interval_s=0.5)
    timeline = build_standing_reference(mahru, PLACE, STANDING_SETTINGS, push, "inverse_dynamics")
    assert len(timeline.reference.position) == round((0.5 + 0.75 + 0.25 + 3 * 0.5) / 0.002)
    np.testing.assert_allclose(timeline.time, [0.5, 3.0])


def test_the_torques_hold_arms_and_legs_with_the_floor_s_push_through_the_soles(mahru, timeline):
    """Whatever the feet's shares: torques of the joints are gravity's less what two foot wrenches give."""
    model, data = mahru.model, mahru.model.createData()
    q = np.concatenate([timeline.base, timeline.reference.position[0]])
    gravity = pin.computeGeneralizedGravity(model, data, q)
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    feet = [
        pin.getFrameJacobian(
            model, data, model.getFrameId(mahru.frames[f"{side}_foot"]), pin.ReferenceFrame.WORLD
        )
        for side in ("left", "right")
    ]
    torque = timeline.reference.feedforward[0]
    rest = gravity - np.concatenate([np.zeros(6), torque])
    wrench, *_ = np.linalg.lstsq(np.vstack(feet).T, rest, rcond=None)
    np.testing.assert_allclose(np.vstack(feet).T @ wrench, rest, atol=1e-6)
    weight = pin.computeTotalMass(model) * 9.81
    assert wrench[2] + wrench[8] == pytest.approx(weight, rel=1e-6)
    for side in ("left", "right"):
        arm = [6 + mahru.joint_names.index(name) for name in mahru.groups[f"{side}_arm"]]
        np.testing.assert_allclose(torque[np.array(arm) - 6], gravity[arm], atol=1e-9)
        assert np.abs(gravity[arm]).max() > 1.0


@pytest.mark.parametrize(("kind", "same"), [("gravity", True), ("none", False)])
def test_feedforward_is_what_the_scenario_says(mahru, timeline, kind, same):
    torque = build_standing_reference(mahru, PLACE, STANDING_SETTINGS, None, kind).reference.feedforward
    np.testing.assert_array_equal(torque, timeline.reference.feedforward if same else 0.0 * torque)


def test_a_robot_without_legs_is_refused():
    with pytest.raises(BalanceError, match=r"puma560: balance needs two legs"):
        build_standing_reference(load_robot("puma560"), PLACE, STANDING_SETTINGS, None, "none")
