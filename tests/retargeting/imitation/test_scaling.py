"""The scaled model: lengths as asked for, symmetry, and hands of the robot's own size."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.errors import MotionError
from simbench.motion.human_motion import InitialPose
from simbench.retargeting.imitation.scaling import SegmentLengths, actor_lengths, robot_lengths, scale_model
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

MIRROR = np.diag([1.0, -1.0, 1.0])
lengths = st.builds(
    lambda width, arm, other: SegmentLengths(
        width, {"left": arm[0], "right": other[0]}, {"left": arm[1], "right": other[1]}
    ),
    st.floats(0.2, 0.6),
    *[st.tuples(st.floats(0.1, 0.5), st.floats(0.1, 0.4))] * 2,
)
shares = st.lists(st.floats(0, 1), min_size=15, max_size=15)


def frames(model, q):
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return {frame.name: data.oMi[frame.parentJoint] * frame.placement for frame in model.frames}


def alike(width, upper_arm, forearm):
    return SegmentLengths(width, dict.fromkeys(SIDES, upper_arm), dict.fromkeys(SIDES, forearm))


def configuration(model, shares):
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    return np.r_[
        0.3, -0.2, 0.9, 0.0, 0.0, np.sin(0.4), np.cos(0.4), lower + np.array(shares) * (upper - lower)
    ]


@settings(max_examples=40, deadline=None)
@given(wanted=lengths, shares=shares)
def test_distances_in_any_posture_are_those_asked_for(romeo, wanted, shares):
    model = scale_model(upper_body(romeo), romeo.frames, wanted)
    placed = frames(model, configuration(model, shares))

    def distance(a, b):
        return np.linalg.norm(placed[romeo.frames[a]].translation - placed[romeo.frames[b]].translation)

    assert distance("left_shoulder", "right_shoulder") == pytest.approx(wanted.shoulder_width)
    for side in SIDES:
        assert distance(f"{side}_shoulder", f"{side}_elbow") == pytest.approx(wanted.upper_arm[side])
        assert distance(f"{side}_elbow", f"{side}_wrist") == pytest.approx(wanted.forearm[side])
        wrist, palm = placed[romeo.frames[f"{side}_wrist"]], placed[romeo.frames[f"{side}_hand"]]
        # L8 and L9 of the thesis: the hand keeps the robot's size.
        np.testing.assert_allclose(wrist.actInv(palm).translation, [0.09, 0.0, -0.02], atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(wanted=lengths, shares=shares)
def test_mirrored_postures_give_mirrored_arms(romeo, wanted, shares):
    left_arm = (wanted.upper_arm["left"], wanted.forearm["left"])
    model = scale_model(upper_body(romeo), romeo.frames, alike(wanted.shoulder_width, *left_arm))
    q = np.r_[pin.neutral(model)[:7], 0.0, configuration(model, shares)[8:]]
    for name in romeo.groups["left_arm"]:
        sign = 1 if name.endswith("Pitch") else -1
        left, right = (model.joints[model.getJointId(j)].idx_q for j in (name, "R" + name[1:]))
        q[right] = sign * q[left]
    placed = frames(model, q)
    for role in ("shoulder", "elbow", "wrist", "hand"):
        left, right = (placed[romeo.frames[f"{side}_{role}"]] for side in SIDES)
        np.testing.assert_allclose(right.translation, MIRROR @ left.translation, atol=1e-9)
        np.testing.assert_allclose(right.rotation, MIRROR @ left.rotation @ MIRROR, atol=1e-9)


def test_shoulders_move_sideways_only(romeo):
    model = upper_body(romeo)
    before = frames(model, pin.neutral(model))
    after = frames(scale_model(model, romeo.frames, alike(0.5, 0.3, 0.25)), pin.neutral(model))
    for side, sign in (("left", 1), ("right", -1)):
        name = romeo.frames[f"{side}_shoulder"]
        np.testing.assert_allclose(
            after[name].translation - before[name].translation, [0, sign * 0.06, 0], atol=1e-12
        )
    # Straight arms: L5 + upper arm + forearm + L8 forward, L1 − L9 up (appendix D of the thesis).
    np.testing.assert_allclose(
        after["l_palm"].translation, [0.005 + 0.3 + 0.25 + 0.09, 0.25, 0.2 - 0.02], atol=1e-4
    )


def test_the_given_model_stays_as_it_was(romeo):
    model = upper_body(romeo)
    before = [placement.homogeneous.copy() for placement in model.jointPlacements]
    scale_model(model, romeo.frames, alike(0.6, 0.5, 0.4))
    np.testing.assert_array_equal([placement.homogeneous for placement in model.jointPlacements], before)


def test_upper_body_moves_as_the_whole_robot_does(romeo):
    model = upper_body(romeo)
    assert model.nv == 6 + 1 + 2 * 7
    rng = np.random.default_rng(2)
    whole = pin.neutral(romeo.model)
    whole[:7] = pin.SE3ToXYZQUAT(pin.SE3.Random())
    part = np.r_[whole[:7], rng.uniform(model.lowerPositionLimit[7:], model.upperPositionLimit[7:])]
    for name, value in zip(model.names[2:], part[7:], strict=True):
        whole[romeo.model.joints[romeo.model.getJointId(name)].idx_q] = value
    small, large = frames(model, part), frames(romeo.model, whole)
    for role, name in romeo.frames.items():
        np.testing.assert_allclose(small[name].homogeneous, large[name].homogeneous, atol=1e-9, err_msg=role)
    # Mass is conserved: what is locked rides along.
    assert pin.computeTotalMass(model) == pytest.approx(pin.computeTotalMass(romeo.model))


def test_romeos_lengths_are_the_published_ones(romeo):
    # L4, L6 and L7 of the thesis' appendix D.
    own = robot_lengths(romeo)
    assert own.shoulder_width == pytest.approx(0.38)
    assert own.upper_arm == pytest.approx({"left": 0.205, "right": 0.205})
    assert own.forearm == pytest.approx({"left": 0.1823, "right": 0.1823})


def test_an_actors_arms_keep_their_own_lengths():
    joints = {
        "left_shoulder": np.array([0.0, 0.2, 1.4]),
        "left_elbow": np.array([0.3, 0.2, 1.4]),
        "left_wrist": np.array([0.3, 0.2, 1.2]),
        "right_shoulder": np.array([0.0, -0.2, 1.1]),
        "right_elbow": np.array([0.0, -0.2, 0.8]),
        "right_wrist": np.array([0.0, -0.44, 0.48]),
    }
    got = actor_lengths(InitialPose(joints, {}))
    assert got.shoulder_width == pytest.approx(0.5)
    assert got.upper_arm == pytest.approx({"left": 0.3, "right": 0.3})
    assert got.forearm == pytest.approx({"left": 0.2, "right": 0.4})
    with pytest.raises(MotionError, match="coincide"):
        actor_lengths(InitialPose({**joints, "left_shoulder": joints["right_shoulder"]}, {}))
    with pytest.raises(MotionError, match="coincide"):
        actor_lengths(InitialPose({**joints, "right_wrist": joints["right_elbow"]}, {}))


@given(share=st.floats(0, 1))
def test_joint_placements_are_linear_in_the_lengths(romeo, share):
    model = upper_body(romeo)
    first, second = (0.3, 0.2, 0.22), (0.5, 0.33, 0.28)
    between = [a + share * (b - a) for a, b in zip(first, second, strict=True)]
    ends, mixed = (
        [scale_model(model, romeo.frames, alike(*lengths)).jointPlacements for lengths in some]
        for some in ((first, second), (between,))
    )
    for a, b, c in zip(*ends, *mixed, strict=True):
        expected = a.translation + share * (b.translation - a.translation)
        np.testing.assert_allclose(c.translation, expected, atol=1e-12)
