"""The robot's posture: inside its limits, apart from itself, and the person's where the robot can take it."""

import numpy as np
import pinocchio as pin
import pytest
from wheel_robots import robot_parameters

from simbench.motion.rounding import round_motion
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.imitation.calibration import calibrate
from simbench.retargeting.imitation.imitation import imitate
from simbench.retargeting.imitation.posture import limited_posture, rounded_posture
from simbench.robot.robot import load_robot
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario


@pytest.fixture(scope="module")
def shapes(romeo):
    return body_shapes(romeo, romeo.postures["standing"])


def distance(shapes, joints):
    """Least distance between any two of the robot's links, m."""
    data, pairs = shapes.model.createData(), shapes.geometry.createData()
    q = np.r_[pin.neutral(shapes.model)[:7], joints]
    pin.computeDistances(shapes.model, data, shapes.geometry, pairs, q)
    return min(result.min_distance for result in pairs.distanceResults)


def test_a_motion_the_robot_can_do_is_reproduced(drawer_actor, drawer_motion, performed, shapes):
    """The scaled model upright, elbows out, arms swinging slowly inside the limits."""
    model = drawer_actor.model
    time = np.arange(201) / 100.0
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    index = {name: k for k, name in enumerate(model.names[2:])}
    middle = np.zeros(15)
    for letter, sign in (("L", 1), ("R", -1)):
        angles = {
            "ShoulderPitch": 0.6,
            "ShoulderYaw": 0.5 * sign,
            "ElbowRoll": -0.4 * sign,
            "ElbowYaw": -0.8 * sign,
            "WristRoll": -0.6 * sign,
            "WristYaw": 0.1 * sign,
            "WristPitch": 0.1,
        }
        for joint, angle in angles.items():
            middle[index[letter + joint]] = angle
    rng = np.random.default_rng(4)
    phase, rate = rng.uniform(0, 2 * np.pi, 15), rng.uniform(0.1, 0.3, 15)
    joints = middle + 0.2 * np.sin(2 * np.pi * rate * time[:, None] + phase)
    assert (joints > lower).all()
    assert (joints < upper).all()
    assert min(distance(shapes, row) for row in joints[::10]) > 0.03
    base = np.stack([0.05 * np.sin(time), 0.03 * np.sin(2 * time), 1.0 + 0.0 * time], axis=1)
    q = np.hstack([base, np.tile([0.0, 0.0, 0.0, 1.0], (len(time), 1)), joints])
    motion = performed(drawer_actor, q, time, drawer_motion)
    got = limited_posture(imitate(drawer_actor, motion), motion, shapes, lower, upper)
    # Motion has a price, so that the slow wrist roll lags a little.
    assert np.abs(got - joints).max() < 0.12
    assert np.abs(got - joints).mean() < 0.01


# The dance lays a hand on the body: links nearer than 3 cm are only pushed apart.
@pytest.mark.parametrize(
    ("name", "clearance", "arm_mean", "arm_max"), [("drawer", 0.03, 4.0, 8.0), ("dance", 0.0, 30.0, 75.0)]
)
def test_real_recordings_stay_inside_the_limits_and_apart_from_the_body(
    request, shapes, name, clearance, arm_mean, arm_max
):
    imitation = request.getfixturevalue(f"{name}_imitation")
    motion = request.getfixturevalue(f"{name}_motion")
    margin = 0.02
    lower = imitation.actor.model.lowerPositionLimit[7:] + margin
    upper = imitation.actor.model.upperPositionLimit[7:] - margin
    outside = imitation.q[:, 7:]
    # The person's range is larger than the robot's: there is something to do.
    assert ((outside < lower) | (outside > upper)).any()
    joints = limited_posture(imitation, motion, shapes, lower, upper)
    assert joints.shape == (len(motion.time), 15)
    assert (joints >= lower).all()
    assert (joints <= upper).all()
    assert min(distance(shapes, row) for row in joints[::10]) > clearance
    # Directions of upper arms and forearms are the person's.
    model, data = imitation.actor.model, imitation.actor.model.createData()
    angles = []
    for sample in range(0, len(joints), 10):
        pin.framesForwardKinematics(model, data, np.r_[pin.neutral(model)[:7], joints[sample]])
        for side in ("left", "right"):
            for a, b in (("shoulder", "elbow"), ("elbow", "wrist")):
                robot = (
                    data.oMf[imitation.actor.joints[f"{side}_{b}"]].translation
                    - data.oMf[imitation.actor.joints[f"{side}_{a}"]].translation
                )
                person = motion.joints[f"{side}_{b}"][sample] - motion.joints[f"{side}_{a}"][sample]
                cosine = robot @ person / np.linalg.norm(robot) / np.linalg.norm(person)
                angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    angles = np.array(angles)
    assert angles.mean() < arm_mean
    assert angles.max() < arm_max


def test_rounding_takes_corners_off_and_nothing_else():
    time = np.arange(300) / 100.0
    # A cubic stays what it is; a corner at 1.5 s, on the limit, loses its jump in speed.
    cubic = 0.1 * (time - 1.0) ** 3
    corner = np.minimum(time - 1.5, 0.0)
    rounded = rounded_posture(time, np.stack([cubic, corner], axis=1), np.full(2, -2.0), np.array([2.0, 0.0]))
    np.testing.assert_allclose(rounded[:, 0], cubic, atol=1e-12)
    assert rounded[:, 1].max() <= 0.0
    far = np.abs(time - 1.5) > 0.16
    np.testing.assert_allclose(rounded[far, 1], corner[far], atol=1e-12)
    assert np.abs(np.diff(corner, 2)).max() * 100.0 == pytest.approx(1.0)
    assert np.abs(np.diff(rounded[:, 1], 2)).max() * 100.0 < 0.3


def test_a_joint_leaves_its_limit_without_a_corner():
    """A sine cut off at a limit: filters overshoot there, and cutting that off again would leave a corner."""
    time = np.arange(400) / 100.0
    cut = np.minimum(np.sin(2.0 * np.pi * 0.7 * time), 0.5)[:, None]
    rounded = rounded_posture(time, cut, np.array([-2.0]), np.array([0.5]))
    assert rounded.max() <= 0.5
    change = np.abs(np.diff(rounded[20:-20, 0], 2)) * 100.0
    # The jump in speed, 3.8 rad/s, spread over 0.31 s by a raised cosine: twice the mean at its peak.
    jump = 2.0 * np.pi * 0.7 * np.cos(np.arcsin(0.5))
    assert change.max() < 1.3 * 2.0 * jump / 0.31 / 100.0
    # A corner between two samples is shared by them.
    assert np.abs(np.diff(cut[20:-20, 0], 2)).max() * 100.0 > 0.5 * jump


def test_a_leap_is_spread_over_time_and_the_rest_stays(drawer_actor, drawer_motion, performed, shapes):
    """An arm swings 1 rad within 0.1 s, at nine times the shoulder's speed limit where it is fastest."""
    model = drawer_actor.model
    time = np.arange(201) / 100.0
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    index = {name: k for k, name in enumerate(model.names[2:])}
    joints = np.zeros((len(time), 15))
    for letter, sign in (("L", 1), ("R", -1)):
        for joint, angle in (("ShoulderYaw", 0.5), ("ElbowRoll", -0.4), ("ElbowYaw", -0.8)):
            joints[:, index[letter + joint]] = angle * sign
    left = index["LShoulderPitch"]
    joints[:, left] = 0.5 + 0.5 * np.tanh((time - 1.0) / 0.025)
    q = np.hstack([np.tile([0, 0, 1, 0, 0, 0, 1.0], (len(time), 1)), joints])
    motion = performed(drawer_actor, q, time, drawer_motion)
    got = limited_posture(imitate(drawer_actor, motion), motion, shapes, lower, upper)
    limit = model.velocityLimit[6:]
    asked, found = (np.abs(np.gradient(path, time, axis=0)) / limit for path in (joints, got))
    assert asked.max() > 8.0
    # At the price of v² it would be 5.1.
    assert found.max() < 3.8
    assert np.abs(got - joints)[np.abs(time - 1.0) > 0.25].max() < 0.05


@pytest.mark.parametrize("name", robot_parameters("talos"))
def test_rounding_does_not_decide_about_a_posture_that_has_little_room(name):
    """Talos' arms are long: in the dance links come near now here, now there."""
    robot = load_robot(name)
    recording = scenario_motion(load_scenario("talos_dance", ["motion.end_s=1.2"]), [])
    shapes = body_shapes(robot, robot.postures["standing"])
    found = []
    for motion in (recording, round_motion(recording, 1)):
        imitation = imitate(calibrate(robot, motion), motion)
        limits = imitation.actor.model.lowerPositionLimit[7:], imitation.actor.model.upperPositionLimit[7:]
        found.append(limited_posture(imitation, motion, shapes, *limits))
    np.testing.assert_allclose(found[1], found[0], atol=1e-4)
    assert min(distance(shapes, row) for row in found[0][::10]) > 0.0
