"""Errors of a robot against a person whose arms were made to point where the robot's do, or by angles off."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
from scipy.spatial.transform import Rotation

from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.retargeting.body_errors import (
    FOREARM,
    HAND,
    HAND_ORIENTATION,
    TRUNK,
    UPPER_ARM,
    ErrorTrack,
    RobotErrors,
    compare_hands,
    compare_with_person,
    robot_metrics,
    summarise_errors,
)

COUNT, HEADING = 30, 0.7
# Neither arm of the person has the robot's proportions.
UPPER, FORE = {"left": 0.31, "right": 0.29}, {"left": 0.24, "right": 0.27}


@pytest.fixture(scope="module")
def trajectory(romeo):
    """A robot that leans, sways and moves all of its joints, and heads 40° to the left."""
    rng = np.random.default_rng(3)
    lower, upper = romeo.model.lowerPositionLimit[7:], romeo.model.upperPositionLimit[7:]
    q = lower + rng.uniform(0.0, 1.0, (COUNT, len(lower))) * (upper - lower)
    base = np.zeros((COUNT, 7))
    base[:, :3] = rng.uniform(-1.0, 1.0, (COUNT, 3))
    lean = Rotation.from_rotvec(rng.uniform(-0.2, 0.2, (COUNT, 3)))
    base[:, 3:] = (Rotation.from_rotvec([0.0, 0.0, HEADING]) * lean).as_quat()
    return JointTrajectory(np.arange(COUNT) * 0.031, q, romeo.joint_names, base)


@pytest.fixture(scope="module")
def perfect(romeo, drawer_motion, trajectory):
    """A person with other lengths, whose arms, hands and trunk do what the robot's do, seen in its heading.

    Pinocchio places the robot. Both begin with arms straight forward, palms down and the trunk upright.
    """
    model, data = romeo.model, romeo.model.createData()
    back = Rotation.from_rotvec([0.0, 0.0, -HEADING]).as_matrix()
    joints = {
        f"{side}_{joint}": np.empty((COUNT, 3)) for side in UPPER for joint in ("shoulder", "elbow", "wrist")
    }
    names = ("left_hand", "right_hand", "trunk")
    segments = {name: np.tile(np.eye(4), (COUNT, 1, 1)) for name in names}
    frames = {name: model.getFrameId(romeo.frames[name]) for name in names}
    pin.framesForwardKinematics(model, data, np.concatenate([[0, 0, 0, 0, 0, 0, 1], romeo.postures["basic"]]))
    basic = {name: data.oMf[frame].rotation.copy() for name, frame in frames.items()}
    for sample in range(COUNT):
        configuration = np.concatenate([trajectory.base[sample], trajectory.q[sample]])
        pin.framesForwardKinematics(model, data, configuration)
        for side in UPPER:
            at = [
                data.oMf[model.getFrameId(romeo.frames[f"{side}_{joint}"])].translation
                for joint in ("shoulder", "elbow", "wrist")
            ]
            upper, fore = (back @ (end - start) / np.linalg.norm(end - start) for start, end in pairwise(at))
            joints[f"{side}_shoulder"][sample] = [0.1, -0.2, 1.4]
            joints[f"{side}_elbow"][sample] = joints[f"{side}_shoulder"][sample] + UPPER[side] * upper
            joints[f"{side}_wrist"][sample] = joints[f"{side}_elbow"][sample] + FORE[side] * fore
        for name, frame in frames.items():
            turned = back @ data.oMf[frame].rotation @ basic[name].T
            segments[name][sample, :3, :3] = turned @ drawer_motion.initial.segments[name][:3, :3]
    return HumanMotion(np.arange(COUNT) / 100.0, joints, segments, drawer_motion.initial, "perfect")


def compare(romeo, trajectory, motion):
    return compare_with_person(romeo, trajectory, motion, heading=HEADING)


def values(errors, quantity, side):
    (track,) = (track for track in errors.tracks if (track.quantity, track.side) == (quantity, side))
    return track.values


def test_a_robot_that_imitates_perfectly_has_no_error(romeo, trajectory, perfect):
    errors = compare(romeo, trajectory, perfect)
    found = {(track.quantity, track.side) for track in errors.tracks}
    pairs = {(name, side) for name in (HAND, UPPER_ARM, FOREARM, HAND_ORIENTATION) for side in UPPER}
    assert found == pairs | {(TRUNK, "")}
    for track in errors.tracks:
        np.testing.assert_allclose(track.values, 0.0, atol=1e-12 if track.quantity == HAND else 1e-7)
    slower = replace(trajectory, time=3.0 * trajectory.time + 2.0)
    for one, other in zip(errors.tracks, compare(romeo, slower, perfect).tracks, strict=True):
        np.testing.assert_array_equal(one.values, other.values)


def test_the_heading_is_the_robots_and_not_an_error(romeo, trajectory, perfect):
    """Seen without its heading, the robot's trunk is turned by it."""
    errors = compare_with_person(romeo, trajectory, perfect)
    np.testing.assert_allclose(values(errors, TRUNK, ""), HEADING, atol=1e-9)


def test_a_forearm_that_is_turned_is_off_by_that_angle_and_the_hand_by_its_chord(romeo, trajectory, perfect):
    angle = np.linspace(0.0, 3.0, COUNT)
    elbow, wrist = perfect.joints["left_elbow"], perfect.joints["left_wrist"]
    fore = wrist - elbow
    # Any axis across the forearm.
    axis = np.cross(fore, [0.3, 0.5, 0.8])
    axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    turned = Rotation.from_rotvec(angle[:, None] * axis).apply(fore)
    motion = replace(perfect, joints={**perfect.joints, "left_wrist": elbow + turned})
    errors = compare(romeo, trajectory, motion)

    model, data = romeo.model, romeo.model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    elbow_at, wrist_at = (
        data.oMf[model.getFrameId(romeo.frames[f"left_{joint}"])].translation for joint in ("elbow", "wrist")
    )
    chord = 2.0 * np.linalg.norm(wrist_at - elbow_at) * np.sin(0.5 * angle)
    np.testing.assert_allclose(values(errors, FOREARM, "left"), angle, atol=1e-9)
    np.testing.assert_allclose(values(errors, HAND, "left"), chord, atol=1e-12)
    for quantity, side in ((UPPER_ARM, "left"), (FOREARM, "right"), (HAND, "right")):
        np.testing.assert_allclose(values(errors, quantity, side), 0.0, atol=1e-9)


def test_an_upper_arm_that_is_turned_with_the_forearm_costs_the_hand_both_lengths(romeo, trajectory, perfect):
    """About the vertical, by a right angle: each point moves by √2 of its distance from the axis."""
    quarter = Rotation.from_rotvec([0.0, 0.0, np.pi / 2.0])
    shoulder = perfect.joints["right_shoulder"]
    moved = {
        name: shoulder + quarter.apply(perfect.joints[name] - shoulder)
        for name in ("right_elbow", "right_wrist")
    }
    errors = compare(romeo, trajectory, replace(perfect, joints={**perfect.joints, **moved}))
    model, data = romeo.model, romeo.model.createData()
    for sample in range(COUNT):
        pin.framesForwardKinematics(
            model, data, np.concatenate([trajectory.base[sample], trajectory.q[sample]])
        )
        start, end = (
            data.oMf[model.getFrameId(romeo.frames[f"right_{joint}"])].translation
            for joint in ("shoulder", "wrist")
        )
        distance = np.sqrt(2.0) * np.linalg.norm((end - start)[:2])
        assert values(errors, HAND, "right")[sample] == pytest.approx(distance, abs=1e-12)
        upper = perfect.joints["right_elbow"][sample] - shoulder[sample]
        cosine = upper @ quarter.apply(upper) / (upper @ upper)
        assert np.cos(values(errors, UPPER_ARM, "right")[sample]) == pytest.approx(cosine, abs=1e-9)


def test_turned_hands_and_trunk_are_off_by_that_angle(romeo, trajectory, perfect):
    turns = {"left_hand": 0.4, "trunk": 1.1}
    segments = dict(perfect.segments)
    for name, angle in turns.items():
        turned = segments[name].copy()
        rotation = Rotation.from_rotvec(angle * np.array([0.6, 0.0, 0.8])).as_matrix()
        turned[:, :3, :3] = rotation @ turned[:, :3, :3]
        segments[name] = turned
    errors = compare(romeo, trajectory, replace(perfect, segments=segments))
    np.testing.assert_allclose(values(errors, HAND_ORIENTATION, "left"), 0.4, atol=1e-9)
    np.testing.assert_allclose(values(errors, HAND_ORIENTATION, "right"), 0.0, atol=1e-7)
    np.testing.assert_allclose(values(errors, TRUNK, ""), 1.1, atol=1e-9)


def test_a_hand_that_is_only_assumed_is_not_compared(romeo, trajectory, perfect):
    errors = compare(romeo, trajectory, replace(perfect, missing=("left_hand",)))
    sides = [track.side for track in errors.tracks if track.quantity == HAND_ORIENTATION]
    assert sides == ["right"]


def test_a_palm_is_as_far_from_its_path_as_it_was_moved_and_may_turn_where_it_is_free_to():
    wanted = np.tile(np.eye(4), (5, 1, 1))
    reached = wanted.copy()
    reached[:, :3, 3] = [[0.0, 0.0, 0.0], [0.003, 0.004, 0.0], [9.0, 9.0, 9.0], [0.0, 0.0, 0.02], [0, 0, 0]]
    reached[:, :3, :3] = Rotation.from_rotvec([0.0, 0.0, 0.3]).as_matrix()
    samples = {"left": np.array([0, 1, 3]), "right": np.array([], dtype=int)}
    poses = {"left": reached, "right": reached}, {"left": wanted, "right": wanted}
    for axis, angle in ((None, 0.3), (np.array([0.0, 0.0, 1.0]), 0.0), (np.array([0.0, 1.0, 0.0]), 0.3)):
        errors = compare_hands(*poses, samples, {}, turn_axes={"left": axis})
        assert [track.side for track in errors.tracks] == ["left", "left"]
        np.testing.assert_allclose(values(errors, HAND, "left"), [0.0, 0.005, 0.02], atol=1e-15)
        np.testing.assert_allclose(values(errors, HAND_ORIENTATION, "left"), angle, atol=1e-12)
        hand, _ = summarise_errors(errors)
        assert hand.sample == 3


def test_summaries_and_metrics_are_of_both_sides_and_say_where_the_worst_is(romeo):
    samples = np.arange(2, 6)
    tracks = (
        ErrorTrack(HAND, "left", samples, np.array([0.01, 0.02, 0.03, 0.04])),
        ErrorTrack(HAND, "right", samples, np.array([0.0, 0.06, 0.0, 0.0])),
        ErrorTrack(TRUNK, "", samples, np.array([0.1, 0.2, 0.1, 0.0])),
    )
    held = {"left": np.array([True, False, False, False]), "right": np.array([True, True, False, False])}
    errors = RobotErrors(tracks, {"left": 0.4, "right": 0.8}, held)
    assert errors.held_fraction == 0.5
    hand, fraction, trunk = summarise_errors(errors)
    assert (hand.unit, hand.side, hand.sample) == ("m", "right", 3)
    assert (hand.mean, hand.maximum) == (pytest.approx(0.02), 0.06)
    # The left arm is half as long: there 40 mm are more of it than 60 mm on the right.
    assert (fraction.unit, fraction.side, fraction.sample) == ("", "left", 5)
    assert fraction.maximum == pytest.approx(0.1)
    assert fraction.mean == pytest.approx((0.1 / 0.4 + 0.06 / 0.8) / 8.0)
    assert (trunk.quantity, trunk.side, trunk.sample) == (TRUNK, "", 3)
    middle = 0.5 * (romeo.model.lowerPositionLimit[7:] + romeo.model.upperPositionLimit[7:])
    trajectory = JointTrajectory(np.arange(6.0), np.tile(middle, (6, 1)), romeo.joint_names)
    assert robot_metrics(romeo, trajectory, errors, 0.0) == {
        "retarget.robot_at_limit_fraction": 0.0,
        "retarget.robot_hand_mean_m": pytest.approx(0.02),
        "retarget.robot_hand_max_m": 0.06,
        "retarget.robot_trunk_mean_rad": pytest.approx(0.1),
        "retarget.robot_trunk_max_rad": 0.2,
    }
