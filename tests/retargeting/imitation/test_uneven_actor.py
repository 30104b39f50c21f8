"""An actor whose left and right arms differ and whose shoulders are not level: each arm is followed."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.motion.human_motion import ARM_JOINTS, HumanMotion, InitialPose
from simbench.retargeting.imitation.calibration import calibrate
from simbench.retargeting.imitation.errors import imitation_errors
from simbench.retargeting.imitation.imitation import imitate

# Of the recorded upper arm and forearm; real skeletons differ by 5 %.
STRETCH = {"left": (0.94, 0.97), "right": (1.05, 1.06)}
RAISED = {"left": np.array([0.008, 0.005, 0.012]), "right": np.zeros(3)}


def uneven(joints, segments):
    """Arms stretched and a shoulder moved; (..., 3) joints and (..., 4, 4) segments, directions kept."""
    joints, segments = dict(joints), {name: pose.copy() for name, pose in segments.items()}
    for side, (upper, fore) in STRETCH.items():
        old = [joints[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist")]
        shoulder = old[0] + RAISED[side]
        elbow = shoulder + upper * (old[1] - old[0])
        new = [shoulder, elbow, elbow + fore * (old[2] - old[1])]
        for at, (name, segment) in enumerate(
            (("shoulder", "upper_arm"), ("elbow", "forearm"), ("wrist", "hand"))
        ):
            joints[f"{side}_{name}"] = new[at]
            segments[f"{side}_{segment}"][..., :3, 3] += new[at] - old[at]
    return joints, segments


@pytest.fixture(scope="module")
def motion(drawer_motion):
    initial = InitialPose(*uneven(drawer_motion.initial.joints, drawer_motion.initial.segments))
    joints, segments = uneven(drawer_motion.joints, drawer_motion.segments)
    return HumanMotion(drawer_motion.time, joints, segments, initial, "uneven")


@pytest.fixture(scope="module")
def actor(romeo, motion):
    return calibrate(romeo, motion)


def test_each_arm_is_stretched_as_the_persons_is(actor, drawer_actor):
    for side, (upper, fore) in STRETCH.items():
        assert actor.lengths.upper_arm[side] == pytest.approx(upper * drawer_actor.lengths.upper_arm[side])
        assert actor.lengths.forearm[side] == pytest.approx(fore * drawer_actor.lengths.forearm[side])


def test_the_initial_configuration_is_met(romeo, actor, motion):
    data = actor.model.createData()
    pin.framesForwardKinematics(actor.model, data, actor.q)
    apart = [
        np.linalg.norm(
            data.oMf[actor.model.getFrameId(romeo.frames[name])].translation - motion.initial.joints[name]
        )
        for name in ARM_JOINTS
    ]
    assert np.mean(apart) < 0.0005
    assert max(apart) < 0.001


def test_both_hands_follow_as_those_of_even_arms_do(actor, motion, drawer_imitation, drawer_motion):
    even = imitation_errors(drawer_imitation, drawer_motion).joints
    errors = imitation_errors(imitate(actor, motion), motion).joints
    for side in STRETCH:
        assert errors[f"{side}_wrist"].mean() < even[f"{side}_wrist"].mean() + 5e-5
        assert errors[f"{side}_wrist"].max() < 0.003
