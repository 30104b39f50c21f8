"""What is left of a person: a robot that does the same loses nothing; known changes cost what they must."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.fidelity.body_errors import (
    BODY_QUANTITIES,
    HEAD,
    HEADING,
    ROOT,
    ROOT_HEIGHT,
    SHANK,
    THIGH,
    compare_body,
)
from simbench.retargeting.fidelity.fidelity import (
    Execution,
    executed_fidelity,
    planned_fidelity,
    sample_trajectory,
    summarise_fidelity,
)
from simbench.retargeting.fidelity.lag import measure_lag
from simbench.retargeting.fidelity.limits import joint_speeds, measure_limit_shares
from simbench.retargeting.fidelity.metrics import fidelity_metrics
from simbench.retargeting.fidelity.tempo import measure_tempo
from simbench.retargeting.imitation.robot_errors import compare_with_person

TURN, LIMITS = 0.7, (0.03, 0.95)


def body(mahru, trajectory, person):
    tracks = compare_body(mahru, trajectory, person, heading=TURN)
    return {(track.quantity, track.side): track.values for track in tracks}


def moved(trajectory, joint, angle):
    q = trajectory.q.copy()
    q[:, trajectory.joint_names.index(joint)] += angle
    return replace(trajectory, q=q)


def test_a_robot_that_does_the_same_has_no_error(mahru, dancing, person):
    errors = body(mahru, dancing, person)
    pairs = {(part, side) for part in (THIGH, SHANK) for side in ("left", "right")}
    assert set(errors) == pairs | {(HEAD, ""), (ROOT, ""), (ROOT_HEIGHT, ""), (HEADING, "")}
    for values in errors.values():
        np.testing.assert_allclose(values, 0.0, atol=1e-9)


def test_a_knee_that_is_bent_more_costs_the_shank_that_angle_and_the_thigh_nothing(mahru, dancing, person):
    errors = body(mahru, moved(dancing, "LKneePitch", 0.3), person)
    np.testing.assert_allclose(errors[SHANK, "left"], 0.3, atol=1e-9)
    for other in ((THIGH, "left"), (SHANK, "right"), (HEAD, "")):
        np.testing.assert_allclose(errors[other], 0.0, atol=1e-9)


def test_a_neck_that_yaws_costs_less_than_the_angle_and_one_that_pitches_all_of_it(mahru, dancing, person):
    # The last joint pitches the head about an axis that is across the tilted line: all of it is seen.
    np.testing.assert_allclose(
        body(mahru, moved(dancing, "NeckPitch", -0.2), person)[HEAD, ""], 0.2, atol=1e-9
    )
    # The line, tilted by 0.3 rad and then by the pitch, goes round the yaw's axis.
    pitch = dancing.q[:, dancing.joint_names.index("NeckPitch")]
    chord = 2.0 * np.arcsin(np.abs(np.sin(0.3 + pitch)) * np.sin(0.25))
    np.testing.assert_allclose(
        body(mahru, moved(dancing, "NeckYaw", 0.5), person)[HEAD, ""], chord, atol=1e-9
    )


def test_a_root_that_stays_is_as_far_off_as_the_person_went_scaled_by_the_legs(mahru, dancing, person):
    still = replace(dancing, base=np.tile(dancing.base[0], (len(dancing.time), 1)), q=dancing.q)
    errors = body(mahru, still, person)
    hips = 0.5 * (person.joints["left_hip"] + person.joints["right_hip"])
    went = (hips - hips[0]) * 0.66 / 0.92
    # The hips of a root that stays do not move.
    np.testing.assert_allclose(errors[ROOT, ""], np.hypot(went[:, 0], went[:, 1]), atol=1e-9)
    np.testing.assert_allclose(errors[ROOT_HEIGHT, ""], np.abs(went[:, 2]), atol=1e-9)
    assert errors[ROOT, ""].max() > 1.0


def test_a_robot_that_is_turned_by_an_angle_has_that_heading_error(mahru, dancing, person):
    base = dancing.base.copy()
    base[:, 3:] = (Rotation.from_rotvec([0.0, 0.0, -3.5]) * Rotation.from_quat(base[:, 3:])).as_quat()
    errors = body(mahru, replace(dancing, base=base), person)
    np.testing.assert_allclose(errors[HEADING, ""], 2.0 * np.pi - 3.5, atol=1e-9)


@pytest.mark.parametrize(
    ("absent", "gone"),
    [
        (["head"], {HEAD}),
        (["neck"], {HEAD}),
        (["left_knee", "right_knee"], {THIGH, SHANK, ROOT, ROOT_HEIGHT}),
        (["left_ankle", "right_ankle"], {SHANK, ROOT, ROOT_HEIGHT}),
        (["left_hip"], {ROOT, ROOT_HEIGHT, HEADING}),
    ],
)
def test_what_was_not_recorded_is_absent(mahru, dancing, person, absent, gone):
    joints = {name: values for name, values in person.joints.items() if name not in absent}
    found = {quantity for quantity, _ in body(mahru, dancing, replace(person, joints=joints))}
    assert found == {HEAD, THIGH, SHANK, ROOT, ROOT_HEIGHT, HEADING} - gone
    groups = {name: names for name, names in mahru.groups.items() if not name.endswith("_leg")}
    legless = replace(mahru, groups=groups)
    assert {quantity for quantity, _ in body(legless, dancing, person)} == {HEAD}


def run(dancing, delay, stretch=1.0, end=None):
    """A log at 500 Hz of a robot that is late by a delay, 2 s of rest before and 1 s after."""
    time = np.arange(0.0, 3.0 + 3.0 * stretch, 0.002)
    time = time if end is None else time[time <= end]
    logged = sample_trajectory(dancing, (time - 2.0 - delay) / stretch)
    return replace(logged, time=time)


@pytest.mark.parametrize(("delay", "stretch"), [(0.0, 1.0), (0.037, 1.0), (0.1234, 2.5), (-0.02, 1.0)])
def test_a_run_that_is_late_has_that_lag_at_the_robots_tempo(mahru, dancing, person, delay, stretch):
    logged = run(dancing, delay, stretch)
    execution = Execution(logged, joint_speeds(logged), 2.0 + stretch * person.time, TURN)
    found = executed_fidelity(mahru, execution, person, LIMITS)
    assert found.lag == pytest.approx(delay, abs=3e-4)
    assert found.tempo.duration_ratio == pytest.approx(stretch)
    assert found.executed == 1.0
    if delay == 0.0:
        for summary in summarise_fidelity(found):
            assert summary.maximum < 1e-6, summary


def test_a_run_that_ends_early_is_compared_as_far_as_it_went(mahru, dancing, person):
    logged = run(dancing, 0.0, end=3.5)
    execution = Execution(logged, joint_speeds(logged), 2.0 + person.time, TURN)
    found = executed_fidelity(mahru, execution, person, LIMITS)
    assert found.executed == pytest.approx(151 / 301)
    assert all(len(track.samples) == 151 for track in found.tracks)
    metrics = fidelity_metrics(found)
    assert metrics["fidelity.executed_fraction"] == found.executed
    gone = run(dancing, 0.0, end=2.02)
    short = Execution(gone, joint_speeds(gone), 2.0 + person.time, TURN)
    assert executed_fidelity(mahru, short, person, LIMITS) is None


def test_metrics_have_both_clocks_and_si_units(mahru, dancing, person):
    bent = moved(dancing, "LKneePitch", 0.0)
    bent.q[100, bent.joint_names.index("LKneePitch")] += 0.4
    slow = replace(bent, time=2.0 * bent.time)
    errors = compare_with_person(mahru, slow, person, heading=TURN)
    fidelity = planned_fidelity(mahru, slow, person, errors, LIMITS, heading=TURN)
    metrics = fidelity_metrics(fidelity)
    assert metrics["fidelity.shank_max_rad"] == pytest.approx(0.4)
    assert metrics["fidelity.shank_mean_rad"] == pytest.approx(0.4 / 602.0)
    assert metrics["fidelity.shank_p95_rad"] == pytest.approx(0.0, abs=1e-9)
    assert metrics["fidelity.shank_max_at_s"] == pytest.approx(1.0)
    assert metrics["fidelity.shank_max_at_robot_s"] == pytest.approx(2.0)
    assert metrics["fidelity.duration_ratio"] == pytest.approx(2.0)
    assert metrics["fidelity.stretch_max_ratio"] == pytest.approx(2.0)
    assert metrics["fidelity.lag_s"] == pytest.approx(0.0, abs=1e-6)
    assert metrics["fidelity.hand_max_fraction"] == pytest.approx(0.0, abs=1e-9)
    assert "fidelity.root_max_m" in metrics
    assert [summary.quantity for summary in summarise_fidelity(fidelity)] == list(BODY_QUANTITIES)


def test_limits_are_counted_where_a_joint_is_at_one(mahru, dancing):
    q = np.zeros((100, len(mahru.joint_names)))
    joint = mahru.joint_names.index("LElbowPitch")
    lower, fastest = mahru.model.lowerPositionLimit[7 + joint], mahru.model.velocityLimit[6 + joint]
    q[:, joint] = np.linspace(0.5 * lower, lower, 100)
    expected = np.mean(q[:, joint] <= lower + 0.04)
    speeds = np.zeros_like(q)
    speeds[:25, joint] = -0.95 * fastest
    shares = measure_limit_shares(mahru, q, speeds, *LIMITS)
    assert shares == pytest.approx((expected, 0.25))
    # Another joint is at its limit all the time, but does not move.
    q[:, mahru.joint_names.index("RElbowPitch")] = mahru.model.upperPositionLimit[7 + joint]
    assert measure_limit_shares(mahru, q, speeds, *LIMITS) == shares


def test_tempo_is_the_ratio_of_durations_and_the_largest_local_stretch():
    recording = np.arange(5) * 0.1
    tempo = measure_tempo(recording, 3.0 + np.array([0.0, 0.1, 0.2, 0.5, 0.6]))
    assert tempo == pytest.approx((1.5, 3.0, 2))


def test_what_does_not_move_or_moves_otherwise_has_no_lag():
    time = np.arange(0.0, 4.0, 0.01)
    wave = np.sin(3.0 * time + 0.5 * time**2)[:, None]
    assert measure_lag(time, wave, time, np.zeros_like(wave)) is None
    assert measure_lag(time, np.zeros_like(wave), time, wave) is None
    assert measure_lag(time, wave, time, -wave) is None
    assert measure_lag(time, wave, time, 0.2 * wave) == pytest.approx(0.0, abs=1e-5)
    assert measure_lag(time[:3], wave[:3], time[:3], wave[:3]) is None


def test_a_log_is_sampled_between_its_samples_by_the_shorter_rotation():
    base = np.array([[0.0, 0, 0, 0, 0, 0, 1.0], [1.0, 0, 0, 0, 0, -np.sin(0.1), -np.cos(0.1)]])
    log = JointTrajectory(np.array([0.0, 1.0]), np.array([[0.0], [2.0]]), ("joint",), base)
    found = sample_trajectory(log, np.array([-1.0, 0.25, 2.0]))
    np.testing.assert_allclose(found.q[:, 0], [0.0, 0.5, 2.0])
    angle = Rotation.from_quat(found.base[:, 3:]).as_rotvec()[:, 2]
    np.testing.assert_allclose(angle, [0.0, 0.05, 0.2], atol=1e-4)
