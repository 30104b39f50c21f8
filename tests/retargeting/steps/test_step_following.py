"""A synthetic walk planned for a robot: tempo, steps, ZMP, speeds, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation
from walker import walk

from simbench.balance.leg_ik import stand
from simbench.errors import RetargetError
from simbench.motion.human_motion import resample
from simbench.motion.readers import read_motion
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.steps.recorded_person import observe_person
from simbench.retargeting.steps.step_candidates import StepFollowingOptions, weight_between_feet
from simbench.retargeting.steps.step_following import follow_upper_body, plan_step_following
from simbench.retargeting.timing.preserve import limit_ratios
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import estimated_accelerations
from simbench.robot.sides import SIDES

ARM_JOINTS = [
    "WaistYaw",
    *(f"{side}{name}" for side in "LR" for name in ("ShoulderPitch", "ShoulderRoll", "ElbowPitch")),
]


def options(**retarget):
    """Plan at a low rate, to be quick."""
    section = RetargetSection(physics="steps", **retarget)
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
    with pytest.raises(RetargetError, match="steps_strict") as caught:
        plan_step_following(mahru, quick, options(steps_strict=True), lambda *_: None)
    assert "\n" not in str(caught.value)


def test_weight_follows_a_person_who_sways(recording):
    motion = walk(steps=0, rest=2.0)
    sway = 0.04 * np.sin(2.0 * np.pi * 0.3 * motion.time)[:, None] * [0.0, 1.0, 0.0]
    feet = ("ankle", "heel", "toe")
    joints = {name: track if name.endswith(feet) else track + sway for name, track in motion.joints.items()}
    swaying = replace(motion, joints=joints)
    weight = weight_between_feet(observe_person(swaying), swaying.time)
    middle = slice(50, -50)
    # Most of the body sways; the pendulum's ZMP sways a little more than the centre of gravity.
    expected = 0.5 + sway[middle, 1] / 0.16
    assert np.corrcoef(weight[middle], expected)[0, 1] > 0.99
    assert 0.7 < np.ptp(weight[middle]) / np.ptp(expected) < 1.4


def test_trunk_and_arms_keep_their_limits_beside_the_steps(plan, mahru):
    columns = [mahru.joint_names.index(name) for name in ARM_JOINTS]
    time, joints = plan.trajectory.time, plan.trajectory.q[:, columns]
    curve = make_interp_spline(time, joints)
    fastest = np.abs(curve.derivative(1)(time)).max(axis=0)
    hardest = np.abs(curve.derivative(2)(time)).max(axis=0)
    assert (fastest <= 0.95 * mahru.model.velocityLimit[6:][columns]).all()
    assert (hardest <= estimated_accelerations(mahru, ARM_JOINTS)).all()
    assert plan.metrics["retarget.tempo_violation_fraction"] == 0.0
    assert plan.metrics["retarget.tempo_torque_ratio"] <= 1.0
    assert plan.metrics["retarget.tempo_zmp_margin_m"] > 0.0
    assert plan.metrics["retarget.amplitude_lost_mean_rad"] < 0.01
    assert plan.metrics["retarget.interference_count"] == 0.0


def test_arms_that_are_too_fast_lose_amplitude_and_nothing_lags(mahru):
    slow = resample(read_motion("actor:fast_waving"), 50.0)
    joints, segments = (
        {name: values[:130] for name, values in tracks.items()} for tracks in (slow.joints, slow.segments)
    )
    time = 0.25 * slow.time[:130]
    waving = replace(slow, time=time, joints=joints, segments=segments, markers={}, strokes=None)
    upper, preferred, joints, _ = follow_upper_body(
        mahru, waving, RetargetSection(physics="steps"), stand(mahru, (0.0, 0.0), 0.0, "standing")
    )
    arms = joints[:, upper.columns]
    speed, acceleration = limit_ratios(waving.time, arms, upper.bounds)
    assert max(speed.max(), acceleration.max()) <= 1.001
    wanted_speed, wanted_acceleration = limit_ratios(waving.time, preferred, upper.bounds)
    assert max(wanted_speed.max(), wanted_acceleration.max()) > 1.5
    shifts = np.arange(-10, 11)
    apart = [np.abs(arms[10:-10] - preferred[10 + k : len(arms) - 10 + k]).sum() for k in shifts]
    assert abs(shifts[int(np.argmin(apart))]) <= 1


def test_the_trunk_leans_as_far_as_the_persons(mahru):
    """A lean that the legs can follow is not cut to the one with which the steps were chosen."""
    motion = walk(steps=0, rest=0.5)
    lean = 0.25 * np.sin(np.pi * motion.time / motion.time[-1]) ** 2
    hips = 0.5 * (motion.joints["left_hip"] + motion.joints["right_hip"])
    turned = Rotation.from_euler("x", lean[:, None])
    low = ("hip", "knee", "ankle", "heel", "toe", "pelvis")
    leaning = {
        name: track if name.endswith(low) else hips + turned.apply(track - hips)
        for name, track in motion.joints.items()
    }
    segments = {name: frames.copy() for name, frames in motion.segments.items()}
    for frames in segments.values():
        frames[:, :3, 3] = hips + turned.apply(frames[:, :3, 3] - hips)
        frames[:, :3, :3] = turned.as_matrix() @ frames[:, :3, :3]
    found = plan_step_following(
        mahru, replace(motion, joints=leaning, segments=segments), options(), lambda *_: None
    )
    roll = Rotation.from_quat(found.trajectory.base[:, 3:]).as_euler("ZYX")[:, 2]
    np.testing.assert_allclose(roll, lean, atol=0.03)
