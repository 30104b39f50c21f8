"""What is left of a person: a robot that does the same loses nothing; known changes cost what they must."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.balance.standing.standing import stand
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.retargeting.body_errors import (
    BODY_QUANTITIES,
    HEAD,
    HEADING,
    QUANTITIES,
    ROOT,
    ROOT_HEIGHT,
    SHANK,
    THIGH,
    RobotErrors,
    compare_with_person,
    summarise_errors,
)
from simbench.retargeting.plan_measures import joint_units, joint_uses, limit_stays, robot_metrics
from simbench.robot.robot import load_robot
from simbench.runs.motion_fidelity import (
    Fidelity,
    Landings,
    compare_landings,
    executed_fidelity,
    fidelity_metrics,
    find_landings,
    joint_speeds,
    measure_lag,
    measure_limit_shares,
    measure_robot_feet,
    planned_fidelity,
)

TURN, LIMITS = 0.7, (0.03, 0.95)


def body(mahru, trajectory, person):
    """Errors of the head, the legs and the root."""
    tracks = compare_with_person(mahru, trajectory, person, heading=TURN).tracks
    rest = [track for track in tracks if track.quantity not in QUANTITIES]
    return {(track.quantity, track.side): track.values for track in rest}


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


def executed(mahru, logged, person, stretch=1.0):
    time = 2.0 + stretch * person.time
    return executed_fidelity(mahru, logged, joint_speeds(logged), person, time, LIMITS, heading=TURN)


@pytest.mark.parametrize(("delay", "stretch"), [(0.0, 1.0), (0.037, 1.0), (0.1234, 2.5), (-0.02, 1.0)])
def test_a_run_that_is_late_has_that_lag_at_the_robots_tempo(mahru, dancing, person, delay, stretch):
    logged = run(dancing, delay, stretch)
    found = executed(mahru, logged, person, stretch)
    assert found.lag == pytest.approx(delay, abs=3e-4)
    metrics = fidelity_metrics(found)
    assert metrics["fidelity.duration_ratio"] == pytest.approx(stretch)
    assert found.executed == 1.0
    if delay == 0.0:
        for summary in summarise_errors(found.errors):
            assert summary.maximum < 1e-6, summary


def test_a_run_that_ends_early_is_compared_as_far_as_it_went(mahru, dancing, person):
    logged = run(dancing, 0.0, end=3.5)
    found = executed(mahru, logged, person)
    assert found.executed == pytest.approx(151 / 301)
    assert all(len(track.samples) == 151 for track in found.errors.tracks)
    metrics = fidelity_metrics(found)
    assert metrics["fidelity.executed_fraction"] == found.executed
    gone = run(dancing, 0.0, end=2.02)
    assert executed(mahru, gone, person) is None


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
    assert {summary.quantity for summary in summarise_errors(fidelity.errors)} == set(BODY_QUANTITIES)


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
    robot = 3.0 + np.array([0.0, 0.1, 0.2, 0.5, 0.6])
    metrics = fidelity_metrics(Fidelity(RobotErrors((), {}), recording, robot, (0.0, 0.0)))
    assert metrics["fidelity.duration_ratio"] == pytest.approx(1.5)
    assert metrics["fidelity.stretch_max_ratio"] == pytest.approx(3.0)
    assert metrics["fidelity.stretch_max_at_s"] == pytest.approx(0.2)


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


STEPS = Landings(
    np.array([0, 1, 0, 1]),
    np.array([1.0, 1.6, 2.2, 2.8]),
    np.array([[0.3, 0.1], [0.6, -0.1], [0.9, 0.1], [0.9, -0.1]]),
    np.array([0.0, 0.1, 0.2, 0.2]),
)


def walk(steps, rate=1000.0, end=4.0, bounce=False):
    """Log of two feet that stand but for 0.3 s before each landing; they fly to the new place meanwhile."""
    time = np.arange(0.0, end, 1.0 / rate)
    carrying = np.ones((len(time), 2))
    feet = np.zeros((len(time), 2, 7))
    feet[..., 6] = 1.0
    for foot, when, place, yaw in zip(*steps, strict=True):
        carrying[(time > when - 0.3) & (time < when - 1e-9), foot] = 0.0
        after = time >= when - 1e-9
        feet[after, foot, :2] = place
        feet[after, foot, 5], feet[after, foot, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
        if bounce:
            carrying[(time >= when + 0.005) & (time < when + 0.02), foot] = 0.0
            carrying[(time >= when - 0.15) & (time < when - 0.14), foot] = 1.0
    return time, carrying, feet


def counts(errors):
    return tuple(errors[f"fidelity.steps_{name}"] for name in ("wanted", "landed", "missed_count"))


def rms(errors):
    names = ("position_rms_m", "time_rms_s", "heading_rms_rad")
    return tuple(errors[f"fidelity.step_{name}"] for name in names)


@pytest.mark.parametrize("bounce", [False, True])
def test_landings_are_found_where_and_when_they_are(bounce):
    found = find_landings(*walk(STEPS, bounce=bounce))
    assert found.side.tolist() == STEPS.side.tolist()
    np.testing.assert_allclose(found.time, STEPS.time, atol=1e-3)
    np.testing.assert_allclose(found.position, STEPS.position)
    np.testing.assert_allclose(found.yaw, STEPS.yaw, atol=1e-12)


def test_feet_that_only_stand_do_not_land():
    time, carrying, feet = walk(Landings(np.empty(0, int), np.empty(0), np.empty((0, 2)), np.empty(0)))
    found = find_landings(time, carrying, feet)
    assert len(found.time) == 0
    errors = compare_landings(found, STEPS)
    assert counts(errors) == (4.0, 0.0, 4.0)
    assert rms(errors) == (None, None, None)


def test_shifted_landings_have_that_error():
    moved = Landings(
        STEPS.side,
        STEPS.time + np.array([0.1, -0.1, 0.1, -0.1]),
        STEPS.position + np.array([0.03, 0.04]),
        STEPS.yaw + 2 * np.pi - 0.2,
    )
    errors = compare_landings(moved, STEPS)
    assert counts(errors) == (4.0, 4.0, 0.0)
    assert rms(errors) == pytest.approx((0.05, 0.1, 0.2))


def test_a_missed_step_and_one_too_many_are_counted_and_do_not_shift_the_others():
    late = STEPS.time[:3] + 0.02
    fewer = Landings(STEPS.side[:3], late, STEPS.position[:3], STEPS.yaw[:3])
    more = Landings(
        *(
            np.append(a, b[None], axis=0)
            for a, b in zip(
                fewer, (np.array(0), np.array(3.9), np.array([5.0, 5.0]), np.array(1.0)), strict=True
            )
        )
    )
    errors = compare_landings(more, STEPS)
    assert counts(errors) == (4.0, 4.0, 1.0)
    assert rms(errors) == pytest.approx((0.0, 0.02, 0.0), abs=1e-12)


def test_range_speed_and_clearance_of_a_swing(romeo):
    time = np.linspace(0.0, 2.0, 401)
    q = np.zeros((401, len(romeo.joint_names)))
    column = romeo.joint_names.index("LElbowRoll")
    # From -0.3 to -0.9 rad, at most 0.3 × 2π × 1.5 rad/s.
    q[:, column] = -0.6 + 0.3 * np.sin(2.0 * np.pi * 1.5 * time)
    uses = {use.name: use for use in joint_uses(romeo, JointTrajectory(time, q, romeo.joint_names))}
    assert tuple(uses) == romeo.joint_names
    elbow = uses["LElbowRoll"]
    joint = romeo.model.getJointId("LElbowRoll")
    index, speed_index = romeo.model.joints[joint].idx_q, romeo.model.joints[joint].idx_v
    assert (elbow.lower, elbow.upper) == (
        romeo.model.lowerPositionLimit[index],
        romeo.model.upperPositionLimit[index],
    )
    assert elbow.speed_limit == romeo.model.velocityLimit[speed_index]
    assert (elbow.lowest, elbow.highest) == pytest.approx((-0.9, -0.3), abs=1e-4)
    assert elbow.clearance == pytest.approx(elbow.lower * -1 - 0.9, abs=1e-4)
    assert elbow.speed == pytest.approx(0.3 * 2.0 * np.pi * 1.5, rel=1e-4)
    assert elbow.unit == "rad"
    still = uses["RElbowRoll"]
    assert (still.lowest, still.highest, still.speed) == (0.0, 0.0, 0.0)


def test_beyond_a_limit_clearance_is_negative(romeo):
    upper = romeo.model.upperPositionLimit[7:]
    q = np.tile(upper + 0.1, (2, 1))
    uses = joint_uses(romeo, JointTrajectory(np.array([0.0, 1.0]), q, romeo.joint_names))
    assert [use.clearance for use in uses] == pytest.approx([-0.1] * len(uses))


def test_joints_that_slide_are_in_metres(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="lift">
        <link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
        ixz="0" iyz="0"/></inertial></link><link name="c"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
        izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="lift" type="prismatic"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
        <limit lower="0" upper="1" velocity="1" effort="1"/></joint>
        <joint name="turn" type="revolute"><parent link="b"/><child link="c"/><axis xyz="0.6 0 0.8"/>
        <limit lower="0" upper="1" velocity="1" effort="1"/></joint></robot>"""
    )
    (tmp_path / "robot.yaml").write_text(
        "name: lift\nurdf: arm.urdf\nbase: fixed\ngroups: {}\nframes: {}\ngains: auto\n"
    )
    assert joint_units(load_robot(tmp_path)) == ("m", "rad")


def test_a_joint_that_stays_at_a_limit_is_found_with_the_longest_stay(romeo):
    """LElbowRoll at the upper limit for 3 + 5 of 20 samples, RElbowRoll at the lower for 1; no legs."""
    names, margin = romeo.joint_names, 0.03
    lower, upper = romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
    q = np.tile(0.5 * (lower + upper), (20, 1))
    left, right, knee = (names.index(name) for name in ("LElbowRoll", "RElbowRoll", "LKneePitch"))
    q[2:5, left] = upper[left] - 0.039
    q[5, left] = upper[left] - 0.041
    q[10:15, left] = upper[left] + 0.2
    q[7, right] = lower[right] + margin
    q[:, knee] = upper[knee]
    stays = limit_stays(romeo, JointTrajectory(np.arange(20.0), q, names), margin)
    assert stays == [
        (0.4, "LElbowRoll", "upper", upper[left], "rad", 10, 14),
        (0.05, "RElbowRoll", "lower", lower[right], "rad", 7, 7),
    ]
    trajectory, nothing = JointTrajectory(np.arange(20.0), q, names), RobotErrors((), {})
    found = robot_metrics(romeo, trajectory, nothing, margin)
    assert found == {"retarget.robot_at_limit_fraction": 0.4}


TIME = np.arange(201) / 100.0


@pytest.fixture
def with_base(romeo):
    """Make a robot in its standing posture move with its base, by (T, 3) m."""
    stance = stand(romeo, (0.0, 0.0), 0.0, "basic")

    def move(displacement):
        base = np.tile(stance.base, (len(TIME), 1))
        base[:, :3] += displacement
        joints = np.tile(stance.joints, (len(TIME), 1))
        return JointTrajectory(TIME, joints, romeo.joint_names, base)

    return move


def test_standing_soles_are_on_the_floor_and_rest(romeo, with_base):
    found, jerks = measure_robot_feet(romeo, with_base(np.zeros(3)))
    assert (found.double, found.single, found.flight) == (1.0, 0.0, 0.0)
    for worst in (found.skate, found.penetration, found.float_height):
        assert worst.value == pytest.approx(0.0, abs=1e-6)
    assert set(jerks) == {"left hand", "right hand", "left foot", "right foot"}


def test_soles_slide_sink_and_float_with_the_base(romeo, with_base):
    ramp = np.linspace(0.0, 1.0, len(TIME))[:, None]
    sliding, _ = measure_robot_feet(romeo, with_base(0.05 * ramp * [0.6, 0.8, 0.0]))
    assert sliding.skate.value == pytest.approx(0.05)
    down, _ = measure_robot_feet(romeo, with_base([0.0, 0.0, -0.03]))
    assert down.penetration.value == pytest.approx(0.03, abs=1e-6)
    up, _ = measure_robot_feet(romeo, with_base([0.0, 0.0, 0.1]))
    assert up.flight == 1.0
    assert up.float_height.value == pytest.approx(0.1, abs=1e-6)


def test_hands_and_feet_have_the_jerk_of_the_base(romeo, with_base):
    _, jerks = measure_robot_feet(romeo, with_base(0.1 * np.sin(np.pi * TIME)[:, None] * [0.0, 0.0, 1.0]))
    for jerk in jerks.values():
        assert jerk.peak.value == pytest.approx(0.1 * np.pi**3, rel=0.02)


def test_a_robot_without_feet_has_no_measures_of_them(romeo, with_base):
    still = with_base(np.zeros(3))
    assert measure_robot_feet(romeo, JointTrajectory(still.time, still.q, still.joint_names))[0] is None
