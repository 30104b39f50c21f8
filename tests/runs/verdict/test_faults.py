"""Known faults in good motions are named, with the first moment within one frame, and nothing else is."""

from dataclasses import replace

import numpy as np
import pytest
from script_modules import loaded_script
from standing_motions import standing_motion

from simbench.motion.trajectory import JointTrajectory
from simbench.runs.verdict import physical_checks as check_module
from simbench.runs.verdict.physical_checks import check_trajectory
from simbench.runs.verdict.verdict_outcome import not_applicable

ROBOTS = ("romeo", "g1")
CONSEQUENCES = {"cog": {"ZMP"}}


@pytest.fixture(scope="module")
def spoilers():
    with loaded_script("studies/verdict_faults.py") as script:
        yield script


@pytest.fixture
def without_collisions(monkeypatch):
    """The convex hulls of the G1 take two seconds to build, each time."""
    skipped = not_applicable("self-collision", "left out")
    monkeypatch.setattr(check_module, "check_collision", lambda robot, trajectory: skipped)


@pytest.mark.usefixtures("without_collisions")
@pytest.mark.parametrize("robot_name", ROBOTS)
@pytest.mark.parametrize("fault", ["skate", "penetration", "limit", "torque", "cog", "jump"])
def test_a_known_fault_is_named_with_its_first_moment(robot_name, fault, spoilers):
    robot, trajectory = standing_motion(robot_name, 50.0)
    spoiled = spoilers.FAULTS[fault](robot, trajectory)
    verdict = check_trajectory(spoiled.robot, spoiled.trajectory)
    first = verdict.check(spoiled.check).first
    assert first is not None
    assert abs(first.frame - spoiled.first) <= 1
    assert first.time == spoiled.trajectory.time[first.frame]
    others = {check.name for check in verdict.failed} - {spoiled.check}
    assert others <= CONSEQUENCES.get(fault, set())


@pytest.mark.parametrize(
    ("robot_name", "rate"), [("romeo", 30.0), ("romeo", 50.0), ("romeo", 200.0), ("g1", 30.0)]
)
def test_a_good_motion_passes_at_any_rate(robot_name, rate):
    robot, trajectory = standing_motion(robot_name, rate)
    verdict = check_trajectory(robot, trajectory)
    assert verdict.passed, verdict.summary
    assert verdict.check("self-collision").outcome == "pass"


@pytest.mark.usefixtures("without_collisions")
@pytest.mark.parametrize(("rate", "digits"), [(30.0, 3), (50.0, 3), (200.0, 4)])
def test_noise_and_rounding_trip_no_limit(rate, digits):
    robot, trajectory = standing_motion("romeo", rate)
    rng = np.random.default_rng(5)
    noisy = replace(
        trajectory,
        q=trajectory.q + 3e-4 * rng.standard_normal(trajectory.q.shape),
        base=np.hstack([np.round(trajectory.base[:, :3], digits), trajectory.base[:, 3:]]),
    )
    verdict = check_trajectory(robot, noisy)
    assert verdict.passed, verdict.summary


def test_hands_in_the_thighs_collide(spoilers):
    robot, trajectory = standing_motion("romeo", 50.0)
    q = trajectory.q.copy()
    inward = robot.joint_names.index("RShoulderYaw")
    reached = spoilers.smooth_step(trajectory.time, 2.0, 1.0)
    q[:, inward] += 0.6 * reached
    check = check_trajectory(robot, replace(trajectory, q=q)).check("self-collision")
    assert check.outcome == "fail"
    assert 2.0 < check.first.time < 3.0
    assert "r_" in check.where or "R" in check.where


def flight(robot, trajectory, height, gravity):
    """Legs as they are, the base on a parabola of a given peak height and acceleration, from 1 s."""
    time = trajectory.time
    duration = 2.0 * np.sqrt(2.0 * height / gravity)
    elapsed = (time - 1.0).clip(0.0, duration)
    base = trajectory.base.copy()
    base[:, 2] += 0.5 * gravity * elapsed * (duration - elapsed)
    base[:, :2], base[:, 3:] = base[0, :2], base[0, 3:]
    return JointTrajectory(time, np.tile(trajectory.q[0], (len(time), 1)), trajectory.joint_names, base)


@pytest.mark.usefixtures("without_collisions")
def test_only_free_fall_is_possible_in_the_air():
    robot, trajectory = standing_motion("romeo", 200.0)
    ballistic = check_trajectory(robot, flight(robot, trajectory, 0.2, 9.81)).check("flight")
    assert ballistic.outcome == "pass"
    assert ballistic.value < 0.25
    slow = check_trajectory(robot, flight(robot, trajectory, 0.2, 4.0)).check("flight")
    assert slow.outcome == "fail"
    # The force that is needed is 1 − 4 / 9.81 of the weight.
    assert np.nanmedian(slow.series) == pytest.approx(1.0 - 4.0 / 9.81, abs=0.02)


@pytest.mark.usefixtures("without_collisions")
def test_feet_just_above_the_floor_float():
    robot, trajectory = standing_motion("romeo", 50.0)
    base = trajectory.base.copy()
    base[:, 2] += 0.02
    verdict = check_trajectory(robot, replace(trajectory, base=base))
    check = verdict.check("float")
    assert check.outcome == "fail"
    assert check.value == pytest.approx(0.02, abs=1e-4)
    assert any("declare --floor 0.020" in note for note in verdict.notes)
    assert check_trajectory(robot, replace(trajectory, base=base), floor=0.02).passed


@pytest.mark.usefixtures("without_collisions")
def test_a_base_that_is_taken_elsewhere_jumps():
    robot, trajectory = standing_motion("romeo", 50.0)
    base = trajectory.base.copy()
    base[120:, 0] += 0.3
    check = check_trajectory(robot, replace(trajectory, base=base)).check("jump")
    assert (check.first.frame, check.where) == (120, "base position")
    # Both signs of a quaternion are the same orientation.
    base = trajectory.base.copy()
    base[120:, 3:] *= -1.0
    assert check_trajectory(robot, replace(trajectory, base=base)).passed
