"""The reference at every physics step: at rest at both ends, within limits, consistent with itself."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
import sweep_by_hand as sweep
from scipy.interpolate import CubicSpline
from scipy.spatial import ConvexHull

from simbench.errors import ScenarioError
from simbench.options import RobotSection, SimulationSection
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.robot.sides import SIDES
from simbench.runs.pipeline import run_scenario
from simbench.runs.retargeted_reference import build_sweep_reference, build_whole_body_reference
from simbench.runs.scenario.loading import load_scenario

STEP = 1e-3


def build(romeo, planned, **changes):
    settings = planned.scenario.simulation.model_copy(update=changes)
    return build_whole_body_reference(
        romeo,
        planned.plan,
        settings,
        feedforward="inverse_dynamics",
        speed_fraction=planned.scenario.retarget.speed_limit_fraction,
    )


@pytest.fixture(scope="module")
def drawer_timeline(romeo, drawer_planned):
    return build(romeo, drawer_planned)


@pytest.fixture(scope="module")
def dance_timeline(romeo, dance_planned):
    return build(romeo, dance_planned)


@pytest.fixture(scope="module")
def slowed_dance_timeline(romeo, slowed_dance_planned):
    return build(romeo, slowed_dance_planned)


@pytest.fixture(scope="module")
def led_drawer_timeline(romeo, drawer_planned):
    """The drawer with a lead-in, which its scenario does without."""
    return build(romeo, drawer_planned, lead_in_s=1.5)


@pytest.fixture
def timeline(request, name):
    return request.getfixturevalue(f"{name}_timeline")


cases = pytest.mark.parametrize("name", ["drawer", "dance", "led_drawer"])


def limits(robot):
    model = robot.model
    return model.lowerPositionLimit[7:], model.upperPositionLimit[7:], model.velocityLimit[6:]


def grips(robot):
    return [robot.joint_names.index(robot.hands[f"{side}_hand"].joints[0]) for side in SIDES]


@cases
def test_speeds_stay_within_the_limits_at_every_step(romeo, timeline):
    _, _, speed = limits(romeo)
    reference = timeline.reference
    ratio = np.abs(reference.velocity).max(axis=0) / speed
    moved = np.abs(np.diff(reference.position, axis=0)).max(axis=0) / STEP / speed
    # 95 % of the limit may be used.
    assert ratio.max() < 0.951
    assert moved.max() < 0.951


@cases
def test_positions_stay_within_the_limits_at_every_step(romeo, timeline):
    lower, upper, _ = limits(romeo)
    position = timeline.reference.position
    assert (position >= lower).all()
    assert (position <= upper).all()


@cases
def test_velocity_is_the_derivative_of_position(romeo, timeline):
    position, velocity = timeline.reference.position, timeline.reference.velocity
    slope = (position[2:] - position[:-2]) / (2 * STEP)
    error = np.abs(slope - velocity[1:-1])
    assert error.max() < 0.03


@cases
def test_starts_and_ends_at_rest(timeline):
    reference = timeline.reference
    settle, hold = 500, 500
    for part in (slice(0, settle), slice(-hold, None)):
        np.testing.assert_array_equal(reference.velocity[part], 0)
        assert np.ptp(reference.position[part], axis=0).max() < 1e-12


@pytest.mark.parametrize("name", ["drawer", "slowed_dance", "led_drawer"])
def test_speed_has_no_steps(timeline):
    """Nowhere does a joint gain more in a millisecond than 150 rad/s² give."""
    assert np.abs(np.diff(timeline.reference.velocity, axis=0)).max() < 0.15


def test_no_joint_gains_more_speed_than_its_acceleration_limit_gives(romeo, dance_planned, dance_timeline):
    """At the recorded tempo limits of acceleration bind, in the motion and on the way to it and back."""
    upper = dance_planned.plan.upper
    limit = estimated_accelerations(romeo, [romeo.joint_names[column] for column in upper])
    gained = np.abs(np.diff(dance_timeline.reference.velocity[:, upper], axis=0)).max(axis=0) / STEP
    assert (gained <= limit).all()
    assert (gained / limit).max() > 0.95


def test_without_lead_in_it_comes_from_rest_beside_the_motions_first_posture(
    romeo, drawer_planned, drawer_timeline
):
    trajectory = drawer_planned.plan.trajectory
    arms = np.setdiff1d(np.arange(len(romeo.joint_names)), grips(romeo))
    position = drawer_timeline.reference.position[:, arms]
    # 0.1 s before and after the recording, at half the speed that it has there.
    np.testing.assert_allclose(position[0], trajectory.q[0, arms], atol=0.05)
    np.testing.assert_allclose(position[-1], trajectory.q[-1, arms], atol=0.05)
    np.testing.assert_allclose(position[600 - 1], trajectory.q[0, arms], atol=1e-3)
    assert drawer_timeline.start == pytest.approx(0.6)


@pytest.mark.parametrize("name", ["dance", "led_drawer"])
def test_with_lead_in_it_starts_and_ends_standing(romeo, timeline):
    arms = np.setdiff1d(np.arange(len(romeo.joint_names)), grips(romeo))
    legs = [romeo.joint_names.index(n) for side in SIDES for n in romeo.groups[f"{side}_leg"]]
    standing = romeo.postures["standing"]
    upper = np.setdiff1d(arms, legs)
    for row in (timeline.reference.position[0], timeline.reference.position[-1]):
        np.testing.assert_allclose(row[upper], standing[upper], atol=1e-6)
        # Legs differ by what brings the COG over its target.
        np.testing.assert_allclose(row[legs], standing[legs], atol=0.02)


def test_a_lead_in_too_short_for_the_speed_limits_is_lengthened(romeo, dance_planned):
    timeline = build(romeo, dance_planned, lead_in_s=0.3)
    assert timeline.start > 0.5 + 2 * 0.3
    assert (np.abs(timeline.reference.velocity).max(axis=0) < 0.951 * limits(romeo)[2]).all()


@pytest.mark.parametrize(
    ("name", "ends"), [("drawer", 0.3), ("dance", 0.6), ("slowed_dance", 0.3), ("led_drawer", 0.3)]
)
def test_the_recording_lies_where_the_timeline_says(request, romeo, name, timeline, ends):
    trajectory = request.getfixturevalue(f"{name.removeprefix('led_')}_planned").plan.trajectory
    arms = np.setdiff1d(np.arange(len(romeo.joint_names)), grips(romeo))
    np.testing.assert_allclose(timeline.time - timeline.start, trajectory.time, atol=1e-12)
    clock = STEP * np.arange(1, len(timeline.reference.position) + 1)
    inside = (clock > timeline.time[0] + ends) & (clock < timeline.time[-1] - ends)
    expected = CubicSpline(timeline.time, trajectory.q)(clock[inside])
    legs = [romeo.joint_names.index(n) for side in SIDES for n in romeo.groups[f"{side}_leg"]]
    upper = np.setdiff1d(arms, legs)
    np.testing.assert_allclose(timeline.reference.position[inside][:, upper], expected[:, upper], atol=1e-6)
    # Legs know here what comes before and after.
    np.testing.assert_allclose(timeline.reference.position[inside][:, legs], expected[:, legs], atol=5e-4)


def test_grips_close_in_contact_and_open_after_it(romeo, drawer_planned, drawer_timeline):
    lower, upper, speed = limits(romeo)
    plan, reference = drawer_planned.plan, drawer_timeline.reference
    clock = STEP * np.arange(1, len(reference.position) + 1)
    for side, column, k in zip(SIDES, grips(romeo), range(2), strict=True):
        touching = drawer_timeline.time[plan.hands.contact[side]]
        on = clock[reference.grip[:, k]]
        # Hands hold from the moment the palm rests.
        assert on[0] == pytest.approx(touching[0], abs=2 * STEP)
        assert on[-1] == pytest.approx(touching[-1], abs=2 * STEP) or on[-1] == clock[-1]
        position, velocity = reference.position[:, column], reference.velocity[:, column]
        assert position.min() > lower[column]
        assert position.max() < upper[column]
        assert np.abs(velocity).max() <= 0.81 * speed[column]
        # Fingers begin a seventh of a second before that, at the recording's pace.
        begin = clock[np.flatnonzero(np.diff(position))[0]]
        assert (touching[0] - begin) / plan.metrics["retarget.slow_down"] == pytest.approx(0.15, abs=0.011)
        # Open before, shut in the middle of the strokes.
        travel = upper[column] - lower[column]
        before = clock < begin
        assert (position[before] - lower[column]).max() < 0.05 * travel
        middle = drawer_timeline.time[drawer_planned.motion.strokes[2, 0]]
        assert position[np.searchsorted(clock, middle)] > lower[column] + 0.9 * travel


def test_free_motion_never_grips(dance_timeline):
    assert not dance_timeline.reference.grip.any()


@cases
def test_links_stay_apart_on_the_way_to_the_motion_and_back(request, name, timeline):
    plan = request.getfixturevalue(f"{name.removeprefix('led_')}_planned").plan
    shapes = plan.shapes
    model, data, pairs = shapes.model, shapes.model.createData(), shapes.geometry.createData()
    least = {"before": np.inf, "motion": np.inf, "after": np.inf}
    for k in range(0, len(timeline.reference.position), 25):
        q = np.r_[pin.neutral(model)[:7], timeline.reference.position[k, plan.upper]]
        pin.computeDistances(model, data, shapes.geometry, pairs, q)
        now = k * STEP
        part = "before" if now < timeline.time[0] else "after" if now > timeline.time[-1] else "motion"
        least[part] = min(least[part], *(result.min_distance for result in pairs.distanceResults))
    # The dance lays a hand on the body; leads go round it at 3 cm.
    assert least["motion"] > 0.0
    assert min(least["before"], least["after"]) > 0.025


def test_feet_stay_on_the_way_to_the_motion(romeo, dance_planned, dance_timeline):
    """With the pelvis level and both feet on the floor the legs keep each other's pose."""
    model, data = romeo.model, romeo.model.createData()
    frames = [model.getFrameId(romeo.frames[f"{side}_foot"]) for side in SIDES]
    stance = dance_planned.plan.stance
    between = stance.soles["left"].actInv(stance.soles["right"])
    worst = 0.0
    for row in dance_timeline.reference.position[::40]:
        pin.framesForwardKinematics(model, data, np.r_[pin.neutral(model)[:7], row])
        left, right = (data.oMf[frame] for frame in frames)
        worst = max(worst, np.abs(left.actInv(right).homogeneous - between.homogeneous).max())
        np.testing.assert_allclose(left.rotation, np.eye(3), atol=1e-4)
    assert worst < 1e-4


@cases
def test_root_and_cog_are_those_of_the_joints_at_every_step(request, romeo, name, timeline):
    model, data = romeo.model, romeo.model.createData()
    frames = [model.getFrameId(romeo.frames[f"{side}_foot"]) for side in SIDES]
    soles = request.getfixturevalue(f"{name.removeprefix('led_')}_planned").plan.stance.soles
    steps = len(timeline.reference.position)
    assert timeline.base_path.shape == (steps, 7)
    assert timeline.zmp.shape == (steps, 2)
    # Fingers, which close later, move the COG by less than 0.1 mm.
    for k in range(0, steps, 50):
        q = np.r_[timeline.base_path[k], timeline.reference.position[k]]
        cog = pin.centerOfMass(model, data, q)
        np.testing.assert_allclose(timeline.cog[k], cog, atol=1e-4)
        pin.framesForwardKinematics(model, data, q)
        for side, frame in zip(SIDES, frames, strict=True):
            np.testing.assert_allclose(data.oMf[frame].homogeneous, soles[side].homogeneous, atol=1e-6)
    slope = (timeline.cog[2:] - timeline.cog[:-2]) / (2 * STEP)
    moving = np.abs(timeline.reference.velocity).max(axis=1) > 0
    inside = moving[2:] & moving[:-2]
    np.testing.assert_allclose(slope[inside], timeline.cog_velocity[1:-1][inside], atol=1e-4)
    np.testing.assert_array_equal(timeline.cog_velocity[~moving], 0.0)
    np.testing.assert_array_equal(timeline.base_path[0], timeline.base)


def zmp_by_rnea(romeo, timeline):
    """Time and ZMP of every tenth step, by RNEA of the reference's own velocity and acceleration."""
    model, data = romeo.model, romeo.model.createData()
    path, reference = timeline.base_path, timeline.reference
    zmp = []
    for k in range(510, len(path) - 510, 10):
        # The root does not turn: its axes are the world's.
        speed, rate = (
            (path[k + 1] - path[k - 1]) / (2 * STEP),
            (path[k + 1] - 2 * path[k] + path[k - 1]) / STEP**2,
        )
        v = np.r_[speed[:3], np.zeros(3), reference.velocity[k]]
        a = np.r_[rate[:3], np.zeros(3), reference.acceleration[k]]
        root = pin.rnea(model, data, np.r_[path[k], reference.position[k]], v, a)[:6]
        moment = root[3:] + np.cross(path[k, :3], root[:3])
        zmp.append(np.array([-moment[1], moment[0]]) / root[2])
    return STEP * np.arange(511, len(path) - 509, 10), np.array(zmp)


def test_the_slowed_dances_zmp_stays_in_the_middle_on_the_way_to_it_and_back_too(
    romeo, slowed_dance_planned, slowed_dance_timeline
):
    timeline = slowed_dance_timeline
    time, zmp = zmp_by_rnea(romeo, timeline)
    off = np.abs(zmp - slowed_dance_planned.plan.stance.target)
    inside = (time > timeline.time[0]) & (time < timeline.time[-1])
    # With the COG in the middle it is 12 mm off in the dance, and 2 mm before and after it.
    assert off[inside].max() < 0.0075
    assert off[~inside].max() < 0.001


def test_at_the_recorded_tempo_the_zmp_stays_as_far_inside_the_soles_as_planned(
    romeo, dance_planned, dance_timeline
):
    plan, timeline = dance_planned.plan, dance_timeline
    time, zmp = zmp_by_rnea(romeo, timeline)
    corners = [
        plan.stance.soles[side].act(corner)[:2] for side in SIDES for corner in romeo.soles[f"{side}_foot"]
    ]
    edges = ConvexHull(corners).equations
    margin = -(zmp @ edges[:, :2].T + edges[:, 2]).max(axis=1)
    # The plan's margin is at samples of 200 Hz.
    assert margin.min() == pytest.approx(plan.metrics["retarget.tempo_zmp_margin_m"], abs=0.005)
    assert margin.min() > 0.015
    # Away from the motion, on the way to it and back, it is in the middle.
    away = (time < timeline.time[0] - 0.1) | (time > timeline.time[-1] + 0.1)
    assert np.abs(zmp - plan.stance.target)[away].max() < 0.001


def test_feedforward_modes(romeo, drawer_planned):
    plan, settings = drawer_planned.plan, drawer_planned.scenario.simulation
    short = dataclasses.replace(
        plan,
        trajectory=dataclasses.replace(
            plan.trajectory,
            time=plan.trajectory.time[:100],
            q=plan.trajectory.q[:100],
            base=plan.trajectory.base[:100],
        ),
        hands=dataclasses.replace(
            plan.hands,
            grip={s: plan.hands.grip[s][:100] for s in SIDES},
            contact={s: plan.hands.contact[s][:100] for s in SIDES},
            share={s: plan.hands.share[s][:100] for s in SIDES},
        ),
        zmp=plan.zmp[:100],
    )
    timelines = {
        mode: build_whole_body_reference(romeo, short, settings, feedforward=mode, speed_fraction=0.95)
        for mode in ("none", "gravity", "inverse_dynamics")
    }
    torque = {mode: timeline.reference.feedforward for mode, timeline in timelines.items()}
    assert not torque["none"].any()
    # At rest at the start: the arm's weight on its shoulder, r × m g from link masses and places.
    model, data = romeo.model, romeo.model.createData()
    q = np.r_[timelines["gravity"].base, timelines["gravity"].reference.position[0]]
    pin.forwardKinematics(model, data, q)
    joint = model.getJointId("LShoulderPitch")
    moment = np.zeros(3)
    for link in range(joint, model.njoints):
        if joint in list(model.supports[link]):
            lever = data.oMi[link].act(model.inertias[link].lever) - data.oMi[joint].translation
            moment += np.cross(lever, [0, 0, 9.81 * model.inertias[link].mass])
    before = data.oMi[joint].rotation.copy()
    q[model.joints[joint].idx_q] += 1e-6
    pin.forwardKinematics(model, data, q)
    axis = pin.log3(data.oMi[joint].rotation @ before.T) / 1e-6
    column = romeo.joint_names.index("LShoulderPitch")
    assert torque["gravity"][0, column] == pytest.approx(moment @ axis, abs=1e-3)
    assert abs(moment @ axis) > 1
    # The actor's sway at the beginning moves the arm a little.
    difference = np.abs(torque["inverse_dynamics"] - torque["gravity"])[:, column]
    assert 1e-3 < difference.max() < 1


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
        (["motion.task.repetitions=0"], "motion.task.repetitions: must be greater than 0, got 0"),
        (["motion.task.repetitions=1.5"], "motion.task.repetitions: must be a whole number, got 1.5"),
        (["motion.task.repetitions=1e300"], "motion.task: would take 4.25e+300 s; at most 600 s"),
        (
            ["motion.task.amplitude_rad=1e-9"],
            "motion.task: a stroke takes 1.88e-09 s; at least a step, 0.001 s",
        ),
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
        (["robot.name=romeo"], "control.law: computed_torque needs a fixed base; romeo floats"),
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
