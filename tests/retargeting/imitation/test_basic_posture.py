"""Robots whose zero is not the basic posture: Mahru's arms hang there, or its zero is moved."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.human_motion import ARM_JOINTS, resample
from simbench.motion.readers import read_motion
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.imitation.calibration import calibrate
from simbench.retargeting.imitation.errors import imitation_errors
from simbench.retargeting.imitation.imitation import first_posture, imitate
from simbench.retargeting.imitation.posture import limited_posture
from simbench.retargeting.imitation.tasks import WRISTS, ImitationWeights
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES
from simbench.runs.motion_source import scenario_motion
from simbench.runs.scenario.loading import load_scenario


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
    off = imitation_errors(imitation, piece).joints
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
