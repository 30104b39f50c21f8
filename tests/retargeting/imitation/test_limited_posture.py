"""The robot's posture inside its limits: solved, rounded, and rescaled in closed form."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wheel_robots import robot_parameters

from simbench.motion.human_motion import ARM_JOINTS, resample
from simbench.motion.readers import read_motion
from simbench.motion.trajectory import round_motion
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.imitation.imitation import (
    WRISTS,
    ImitationWeights,
    first_posture,
    imitate,
    imitation_errors,
)
from simbench.retargeting.imitation.limited_posture import (
    limited_posture,
    rescale_into_limits,
    rounded_posture,
)
from simbench.retargeting.imitation.scaled_model import calibrate
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES
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


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def piece():
    """The first second of the dance."""
    return scenario_motion(load_scenario("dance", ["motion.end_s=1.0"]), [])


@pytest.fixture(scope="module")
def actor(mahru, piece):
    return calibrate(mahru, piece)


def placed(model, q):
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return {frame.name: data.oMi[frame.parentJoint] * frame.placement for frame in model.frames}


def limb(joints, side, upper, lower):
    """Unit vectors from one joint to the next, (T, 3)."""
    way = joints[f"{side}_{lower}"] - joints[f"{side}_{upper}"]
    return way / np.linalg.norm(way, axis=-1, keepdims=True)


def test_calibration_finds_the_arms_forward_and_the_palms_down(mahru, actor, piece):
    at = placed(actor.model, actor.q)
    for name in ARM_JOINTS:
        apart = at[mahru.frames[name]].translation - piece.initial.joints[name]
        assert np.linalg.norm(apart) < 0.002
    for side in SIDES:
        palm = at[mahru.frames[f"{side}_hand"]].rotation
        # x along the fingers, z out of the back of the hand.
        assert palm[0, 0] > np.cos(np.radians(5))
        assert palm[2, 2] > np.cos(np.radians(5))


def test_imitated_elbows_bend_as_the_persons_do(mahru, actor, piece):
    imitation = imitate(actor, piece)
    off = imitation_errors(imitation, piece)[1]
    errors = np.array([off[name] for name in WRISTS])
    assert errors.mean() < 0.003
    assert errors.max() < 0.010
    for side in SIDES:
        upper, fore = (
            limb(piece.joints, side, *pair) for pair in (("shoulder", "elbow"), ("elbow", "wrist"))
        )
        flexion = np.arccos((upper * fore).sum(axis=1).clip(-1.0, 1.0))
        joint = actor.model.getJointId(f"{side[0].upper()}ElbowPitch")
        elbow = imitation.q[:, actor.model.joints[joint].idx_q]
        # The robot's elbows bend to the negative side.
        np.testing.assert_allclose(elbow, -flexion, atol=0.15)
        assert flexion.max() > 1.0


def test_limited_arms_point_where_the_persons_do(mahru, actor, piece):
    lower, upper = actor.model.lowerPositionLimit[7:], actor.model.upperPositionLimit[7:]
    shapes = body_shapes(mahru, mahru.postures["standing"])
    joints = limited_posture(imitate(actor, piece), piece, shapes, lower, upper)
    assert (joints >= lower).all()
    assert (joints <= upper).all()
    angles = []
    for sample in range(0, len(joints), 10):
        at = placed(actor.model, np.r_[pin.neutral(actor.model)[:7], joints[sample]])
        robot = {name: at[mahru.frames[name]].translation for name in ARM_JOINTS}
        person = {name: track[sample] for name, track in piece.joints.items()}
        for side in SIDES:
            for pair in (("shoulder", "elbow"), ("elbow", "wrist")):
                cosine = limb(robot, side, *pair) @ limb(person, side, *pair)
                angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    # Of the whole dance ROMEO's are 15 degrees off on average, 59 at most.
    assert np.mean(angles) < 20
    assert np.max(angles) < 60


def zero_moved(robot, offsets):
    """Count a robot's joints from other positions: the same machine, its zero at `offsets`."""
    model, shift = robot.model.copy(), np.zeros(robot.model.nq)
    for name, offset in offsets.items():
        joint = model.getJointId(name)
        still = pin.neutral(robot.model)
        still[model.joints[joint].idx_q] = offset
        data = robot.model.createData()
        pin.forwardKinematics(robot.model, data, still)
        model.jointPlacements[joint] = data.liMi[joint]
        shift[model.joints[joint].idx_q] = offset
    model.lowerPositionLimit = model.lowerPositionLimit - shift
    model.upperPositionLimit = model.upperPositionLimit - shift
    postures = {name: joints - shift[7:] for name, joints in robot.postures.items()}
    return dataclasses.replace(robot, model=model, postures=postures)


def test_where_the_joints_have_their_zero_does_not_matter(mahru):
    motion = resample(read_motion("actor:drawer"), 50.0)
    offsets = {
        "LShoulderPitch": -1.3,
        "RShoulderRoll": -0.4,
        "LShoulderYaw": 0.6,
        "RElbowPitch": -0.5,
        "LWristYaw": 1.0,
    }
    moved = zero_moved(mahru, offsets)
    first, second = calibrate(mahru, motion), calibrate(moved, motion)
    shift = np.zeros(first.model.nq)
    for name, offset in offsets.items():
        shift[first.model.joints[first.model.getJointId(name)].idx_q] = offset
    np.testing.assert_allclose(second.q, first.q - shift, atol=1e-4)
    assert second.lengths == first.lengths
    # The search is relative to the variables' size; base and waist may share a turn a little differently.
    weights = ImitationWeights()
    np.testing.assert_allclose(
        first_posture(second, motion, weights), first_posture(first, motion, weights) - shift, atol=0.01
    )


def rescaled(curve, lower, upper):
    curve = np.asarray(curve, dtype=np.float64)
    time = np.arange(len(curve)) / 100.0
    return rescale_into_limits(time, curve[:, None], np.array([lower]), np.array([upper]))[:, 0]


def sine(amplitudes, samples=400):
    """Whole periods, one after the other, from crest to crest, every crest a sample."""
    phase = np.linspace(0.0, 2.0 * np.pi, samples + 1)[:-1]
    return np.concatenate([amplitude * np.sin(phase) for amplitude in amplitudes])


def test_a_sine_beyond_both_limits_becomes_a_smaller_sine():
    np.testing.assert_allclose(
        rescaled(1.5 * np.cos(np.linspace(0.0, 20.0 * np.pi, 2001)), -1.0, 1.0),
        np.cos(np.linspace(0.0, 20.0 * np.pi, 2001)),
        atol=1e-14,
    )


def test_a_sine_beyond_one_limit_keeps_its_troughs():
    wave = 1.5 * np.cos(np.linspace(0.0, 20.0 * np.pi, 2001))
    # From -1.5 to 1.5 becomes from -1.5 to 1.
    np.testing.assert_allclose(rescaled(wave, -2.0, 1.0), -0.25 + wave * 2.5 / 3.0, atol=1e-14)
    np.testing.assert_allclose(rescaled(wave, -1.0, 2.0), 0.25 + wave * 2.5 / 3.0, atol=1e-14)


def test_only_the_wave_that_is_too_high_changes():
    wave = sine([0.8, 0.8, 1.2, 0.8, 0.8])
    result = rescaled(wave, -1.3, 1.0)
    first_trough, crest, next_trough = 400 + 300, 800 + 100, 800 + 300
    np.testing.assert_array_equal(result[: first_trough + 1], wave[: first_trough + 1])
    np.testing.assert_array_equal(result[next_trough:], wave[next_trough:])
    rise, fall = slice(first_trough, crest + 1), slice(crest, next_trough)
    np.testing.assert_allclose(result[rise], -0.8 + (wave[rise] + 0.8) * 1.8 / 2.0, atol=1e-14)
    np.testing.assert_allclose(result[fall], -1.2 + (wave[fall] + 1.2) * 2.2 / 2.4, atol=1e-14)


def test_the_speed_has_no_jump_where_a_scaled_piece_begins():
    """Finer sampling makes the change of speed between samples smaller in proportion, at the joins too."""

    def greatest_change(samples):
        time = np.linspace(0.0, 5.0, samples + 1)
        wave = (0.8 + 0.8 * np.exp(-((time - 2.25) ** 2))) * np.sin(2.0 * np.pi * time)
        velocity = np.diff(rescaled(wave, -2.0, 1.0)) * samples / 5.0
        return np.abs(np.diff(velocity)).max()

    assert greatest_change(20000) == pytest.approx(greatest_change(2000) / 10.0, rel=0.02)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        # A small dip just below the limit does not hold the crest down: all is 4/5 of itself.
        ([-1.0, 0.95, 0.94, 1.5, -1.0], [-1.0, 0.56, 0.552, 1.0, -1.0]),
        # Two crests with a dip between them, all outside: the higher comes to the limit.
        ([0.0, 1.6, 1.2, 2.0, 0.0], [0.0, 0.8, 0.6, 1.0, 0.0]),
        # The dip is deep enough for both sides to hang from it.
        ([0.0, 1.5, 0.5, 1.25, 0.0], [0.0, 1.0, 0.5, 1.0, 0.0]),
        # Outside from the start, and at the end.
        ([1.5, 1.25, 0.0, 0.5, 0.0, 2.0], [1.0, 1.25 / 1.5, 0.0, 0.5, 0.0, 1.0]),
        # Trembling outside at the start: what comes before the crest is scaled with what comes after it.
        ([1.5, 1.2, 1.6, 0.0], [0.9375, 0.75, 1.0, 0.0]),
        # The end of a trembling rest just inside, after a crest that has nothing deeper to hang from.
        ([0.9, 1.5, 0.91, 0.95, 0.92], [0.7, 1.0, 0.705, 0.725, 0.71]),
        # Wholly outside: its range is halved; too wide even so: it fills the joint's.
        ([1.2, 1.6, 1.4], [0.8, 1.0, 0.9]),
        ([9.0, 2.0, 5.5], [1.0, -1.0, 0.0]),
        ([-1.2, -1.6, -1.4], [-0.8, -1.0, -0.9]),
        # From beyond one limit to beyond the other, and no further than inside on the way back.
        ([3.0, -3.0, 0.0], [1.0, -1.0, 0.0]),
        # Plateaus stay plateaus.
        ([0.0, 2.0, 2.0, 2.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]),
        # Nothing moves.
        ([1.7, 1.7, 1.7], [1.0, 1.0, 1.0]),
        ([-4.0], [-1.0]),
    ],
)
def test_small_curves_by_hand(curve, expected):
    """Limits -1 and 1."""
    np.testing.assert_allclose(rescaled(curve, -1.0, 1.0), expected, atol=1e-14)


def test_trembling_at_rest_and_on_the_way_bends_nothing():
    """From a noisy rest outside a noisy way leads inside: all is scaled by one factor."""
    rng = np.random.default_rng(3)
    rest = np.concatenate([np.full(200, 1.2), np.linspace(1.2, 0.0, 100)]) + 0.01 * rng.normal(size=300)
    result, scale = rescaled(rest, -1.0, 1.0), (1.0 - rest.min()) / np.ptp(rest)
    assert 0.78 < scale < 0.86
    np.testing.assert_allclose(result, 1.0 + scale * (rest - rest.max()), atol=1e-12)


def test_a_joint_without_a_limit_or_that_cannot_move():
    wave = np.stack([sine([5.0])] * 3, axis=1)
    limits = np.array([-np.inf, -np.inf, 0.3]), np.array([np.inf, 2.0, 0.3])
    result = rescale_into_limits(np.arange(400.0), wave, *limits)
    np.testing.assert_array_equal(result[:, 0], wave[:, 0])
    assert result[:, 1].max() == 2.0
    assert result[:, 1].min() == -5.0
    np.testing.assert_array_equal(result[:, 2], 0.3)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    samples=st.integers(1, 300),
    roughness=st.sampled_from([0.0, 0.02, 0.3, 2.0]),
    offset=st.floats(-3.0, 3.0),
    width=st.floats(0.01, 5.0),
)
def test_laws_of_every_curve(seed, samples, roughness, offset, width):
    rng = np.random.default_rng(seed)
    time = np.cumsum(rng.uniform(0.005, 0.02, samples))
    frequency, phase = rng.uniform(0.2, 3.0, (2, 5, 4))
    curves = np.sin(2.0 * np.pi * frequency * time[:, None, None] + phase).sum(axis=1)
    curves += offset + roughness * rng.normal(size=curves.shape)
    lower, upper = np.full(4, -0.5 * width), np.full(4, 0.5 * width)
    result = rescale_into_limits(time, curves, lower, upper)
    assert (result >= lower).all()
    assert (result <= upper).all()
    # Joints inside are left alone; nobody's result depends on the others'.
    sound = ((curves >= lower) & (curves <= upper)).all(axis=0)
    np.testing.assert_array_equal(result[:, sound], curves[:, sound])
    for joint in range(4):
        alone = rescale_into_limits(time, curves[:, [joint]], lower[:1], upper[:1])
        np.testing.assert_array_equal(alone[:, 0], result[:, joint])
    # Rises stay rises, falls stay falls: extrema are where they were.
    steps, scaled = np.diff(curves, axis=0), np.diff(result, axis=0)
    clear = np.abs(steps) > 1e-9
    assert (np.sign(scaled) == np.sign(steps))[clear].all()
    # No speed and no change of speed between samples grows.
    assert (np.abs(scaled) <= np.abs(steps) + 1e-13).all()
    velocity, new = (each / np.diff(time)[:, None] for each in (steps, scaled))
    assert (np.abs(np.diff(new, axis=0)) <= np.abs(np.diff(velocity, axis=0)) + 1e-10).all()
    # Every stretch that changes holds a sample that was outside; the points it hangs from stay.
    for joint in range(4):
        changed = np.flatnonzero(result[:, joint] != curves[:, joint])
        outside = (curves[:, joint] < lower[joint]) | (curves[:, joint] > upper[joint])
        for stretch in np.split(changed, np.flatnonzero(np.diff(changed) > 2) + 1):
            assert outside[stretch].any() or not stretch.size
    # The mirror image of a curve gives the mirror image; what is inside stays.
    np.testing.assert_array_equal(rescale_into_limits(time, -curves, -upper, -lower), -result)
    np.testing.assert_array_equal(rescale_into_limits(time, result, lower, upper), result)
