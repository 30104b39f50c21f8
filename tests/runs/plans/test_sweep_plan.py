"""Sweeps are minimum jerk, with what the motors must give; bad ones are refused."""

import numpy as np
import pinocchio as pin
import pytest
import sweep_by_hand as sweep

from simbench.errors import ScenarioError
from simbench.options import RobotSection, SimulationSection
from simbench.robot.robot import load_robot
from simbench.runs.pipeline import run_scenario
from simbench.runs.retargeted_reference import build_sweep_reference
from simbench.runs.scenario.loading import load_scenario

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
