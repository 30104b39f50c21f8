"""The scaled model: what the robot must have, lengths as asked for, and its calibration on a recording."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from urdf_texts import LIMIT, write
from urdf_texts import joint as urdf_joint
from urdf_texts import link as urdf_link
from wheel_robots import robot_parameters

from simbench.errors import MotionError, RetargetError
from simbench.motion.actors import perform_drawer
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, InitialPose
from simbench.motion.trajectory import round_motion
from simbench.retargeting.contact.hand_plan import Equipment
from simbench.retargeting.imitation.scaled_model import (
    calibrate,
    elbow_joint,
    require_human_form,
    robot_lengths,
    scale_model,
    segment_lengths,
)
from simbench.retargeting.stand.standing_plan import plan_motion
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES
from simbench.runs.scenario.loading import load_scenario

NAMES = ("drawer", "dance")


@pytest.fixture(params=NAMES)
def calibrated(request):
    return request.getfixturevalue(f"{request.param}_actor"), request.getfixturevalue(
        f"{request.param}_motion"
    )


def frames(model, q):
    data = model.createData()
    pin.forwardKinematics(model, data, q)
    return {frame.name: data.oMi[frame.parentJoint] * frame.placement for frame in model.frames}


def turned(actor, joint, angle):
    q = actor.q.copy()
    q[actor.model.joints[actor.model.getJointId(joint)].idx_q] += angle
    return frames(actor.model, q)


def test_joints_match_the_initial_configuration(romeo, calibrated):
    actor, motion = calibrated
    placed = frames(actor.model, actor.q)
    apart = [
        np.linalg.norm(placed[romeo.frames[name]].translation - motion.initial.joints[name])
        for name in ARM_JOINTS
    ]
    # The thesis reports less than 2 mm on average, up to 12 mm at the shoulders.
    assert np.mean(apart) < 0.001
    assert max(apart) < 0.002


def test_hands_are_nearly_as_in_the_basic_configuration(romeo, calibrated):
    actor, _ = calibrated
    placed = frames(actor.model, actor.q)
    for side in ("left", "right"):
        turn = placed[romeo.frames[f"{side}_wrist"]].rotation
        # Palms down, fingers forward: the wrist frame is the world's.
        assert np.arccos(0.5 * (np.trace(turn) - 1)) < np.radians(5)


def test_virtual_markers_lie_where_the_real_ones_are(calibrated):
    actor, motion = calibrated
    placed = frames(actor.model, actor.q)
    assert set(actor.markers) == {*ARM_SEGMENTS, "trunk"}
    for name in actor.markers:
        np.testing.assert_allclose(
            placed[f"virtual_{name}"].homogeneous, motion.initial.segments[name], atol=1e-9
        )
        assert actor.model.frames[actor.markers[name]].name == f"virtual_{name}"


@pytest.mark.parametrize(("side", "letter"), [("left", "L"), ("right", "R")])
def test_markers_ride_on_the_segments_they_are_named_after(drawer_actor, side, letter):
    still = frames(drawer_actor.model, drawer_actor.q)
    # Joints from the shoulder outwards, and the first marker that each one moves.
    first = {
        "TrunkYaw": "trunk",
        f"{letter}ShoulderPitch": f"{side}_upper_arm",
        f"{letter}ElbowRoll": f"{side}_upper_arm",
        f"{letter}ElbowYaw": f"{side}_forearm",
        f"{letter}WristRoll": f"{side}_hand",
        f"{letter}WristPitch": f"{side}_hand",
    }
    chain = ["trunk", f"{side}_upper_arm", f"{side}_forearm", f"{side}_hand"]
    for joint, marker in first.items():
        moved = turned(drawer_actor, joint, 0.3)
        for name in chain:
            change = np.abs(moved[f"virtual_{name}"].homogeneous - still[f"virtual_{name}"].homogeneous).max()
            assert (change > 0.01) == (chain.index(name) >= chain.index(marker)), (joint, name)


def test_lengths_are_the_means_over_the_initial_phase(romeo):
    performance = perform_drawer()
    motion = performance.motion
    first, last = performance.phases["icp"]
    phase = slice(first, last + 1)

    def mean(a, b):
        return np.linalg.norm(motion.joints[a][phase] - motion.joints[b][phase], axis=1).mean()

    lengths = calibrate(romeo, motion).lengths
    for side in ("left", "right"):
        upper_arm, forearm = lengths[1][side], lengths[2][side]
        assert upper_arm == pytest.approx(mean(f"{side}_shoulder", f"{side}_elbow"), abs=2e-4)
        assert forearm == pytest.approx(mean(f"{side}_elbow", f"{side}_wrist"), abs=2e-4)
        # A person of 1.70 m (Winter 2009: 0.186 and 0.146 of the stature), but for noise.
        assert upper_arm == pytest.approx(0.186 * 1.70, abs=0.005)
        assert forearm == pytest.approx(0.146 * 1.70, abs=0.005)
    assert lengths[0] == pytest.approx(mean("left_shoulder", "right_shoulder"), abs=2e-4)


def test_the_model_has_the_actors_lengths(romeo, calibrated):
    actor, motion = calibrated
    placed = frames(actor.model, actor.q)

    def model(a, b):
        return np.linalg.norm(placed[romeo.frames[a]].translation - placed[romeo.frames[b]].translation)

    def recorded(a, b):
        return np.linalg.norm(motion.initial.joints[a] - motion.initial.joints[b])

    assert model("left_shoulder", "right_shoulder") == pytest.approx(
        recorded("left_shoulder", "right_shoulder")
    )
    for side in ("left", "right"):
        for a, b in (("shoulder", "elbow"), ("elbow", "wrist")):
            pair = (f"{side}_{a}", f"{side}_{b}")
            assert model(*pair) == pytest.approx(recorded(*pair))


def test_elbows_bend_the_way_the_robots_do(romeo, calibrated):
    """ROMEO's left elbow yaw is negative, its right one positive; arms straight ahead are nearly 0."""
    actor, _ = calibrated
    names = list(actor.model.names)
    for side, sign in (("left", -1), ("right", 1)):
        joint, _ = elbow_joint(actor.model, romeo, side)
        assert names[joint] == f"{side[0].upper()}ElbowYaw"
        bend = sign * actor.q[actor.model.joints[joint].idx_q]
        assert -0.01 < bend < 0.5


def test_where_the_recording_was_made_does_not_matter(romeo, drawer_motion, drawer_actor):
    shift = np.array([1.7, -0.6, 0.3])

    def moved(frame):
        frame = frame.copy()
        frame[..., :3, 3] += shift
        return frame

    motion = dataclasses.replace(
        drawer_motion,
        joints={name: value + shift for name, value in drawer_motion.joints.items()},
        segments={name: moved(value) for name, value in drawer_motion.segments.items()},
        initial=InitialPose(
            {name: value + shift for name, value in drawer_motion.initial.joints.items()},
            {name: moved(value) for name, value in drawer_motion.initial.segments.items()},
        ),
    )
    q = calibrate(romeo, motion).q
    np.testing.assert_allclose(q[:3] - shift, drawer_actor.q[:3], atol=1e-5)
    np.testing.assert_allclose(q[3:], drawer_actor.q[3:], atol=1e-4)


def test_a_figure_of_the_robots_own_build_is_found_exactly(romeo, drawer_motion, drawer_actor):
    """Joints taken from the scaled model itself leave no error, and its posture comes back."""
    q = drawer_actor.q.copy()
    model = drawer_actor.model
    placed = frames(model, q)
    initial = InitialPose(
        {name: placed[romeo.frames[name]].translation.copy() for name in ARM_JOINTS},
        {name: placed[f"virtual_{name}"].homogeneous for name in drawer_actor.markers},
    )
    again = calibrate(romeo, dataclasses.replace(drawer_motion, initial=initial))
    found = frames(again.model, again.q)
    apart = [np.linalg.norm(found[romeo.frames[n]].translation - initial.joints[n]) for n in ARM_JOINTS]
    assert max(apart) < 1e-4
    np.testing.assert_allclose(again.q, q, atol=0.01)
    assert again.lengths[1] == pytest.approx(drawer_actor.lengths[1])


@pytest.mark.parametrize("name", ["romeo", *robot_parameters("g1")])
def test_rounding_of_the_recording_does_not_turn_straight_arms(name, dance_motion):
    robot = load_robot(name)
    q = calibrate(robot, dance_motion).q
    np.testing.assert_allclose(calibrate(robot, round_motion(dance_motion, 1)).q, q, atol=2e-7)


ELBOWS = {
    "romeo": ("LElbowYaw", "RElbowYaw"),
    "mahru": ("LElbowPitch", "RElbowPitch"),
    "g1": ("left_elbow_joint", "right_elbow_joint"),
    "talos": ("arm_left_4_joint", "arm_right_4_joint"),
}


@pytest.mark.parametrize("name", robot_parameters(*ELBOWS))
def test_the_elbow_is_found_whatever_joints_the_wrist_has(name):
    robot = load_robot(name)
    model = upper_body(robot)
    assert tuple(model.names[elbow_joint(model, robot, side)[0]] for side in SIDES) == ELBOWS[name]


ARM = ("shoulder_pitch", "shoulder_roll", "humerus", "elbow", "forearm", "wrist_pitch", "wrist_yaw")


def built_arm(tmp_path, places, axes, elbow_limits):
    """An arm of seven joints, each at a place in the link before it, with the roles of a robot's frames."""
    limits = {name: LIMIT for name in ARM} | {
        "elbow": '<limit lower="{}" upper="{}" effort="10" velocity="5"/>'.format(*elbow_limits)
    }
    parts = [urdf_link("torso")]
    for at, name in enumerate(ARM):
        before = ARM[at - 1] + "_link" if at else "torso"
        place = " ".join(map(str, places[at]))
        parts.append(urdf_link(f"{name}_link"))
        parts.append(urdf_joint(name, before, f"{name}_link", inside=limits[name], axis=axes[at], xyz=place))
    model = pin.buildModelFromUrdf(str(write(tmp_path, *parts)))
    frames = {"left_shoulder": "shoulder_pitch", "left_elbow": "elbow", "left_wrist": "wrist_yaw"}
    return model, SimpleNamespace(frames=frames)


def arm_length(model, angle):
    """Distance from shoulder to wrist with the elbow at an angle, all else at zero."""
    data, q = model.createData(), pin.neutral(model)
    q[model.joints[model.getJointId("elbow")].idx_q] = angle
    pin.forwardKinematics(model, data, q)
    shoulder, wrist = (data.oMi[model.getJointId(name)] for name in ("shoulder_pitch", "wrist_yaw"))
    return np.linalg.norm(wrist.translation - shoulder.translation)


AXES = ("0 1 0", "1 0 0", "0 0 1", "0 1 0", "0 0 1", "0 1 0", "1 0 0")
HANGING = ((0, 0.2, 0.3), (0, 0.02, 0), (0, 0.02, -0.1), (0.02, 0, -0.15), (-0.01, 0, -0.1))
BUILT = {
    # Wrist joints apart from each other, the forearm's own half way down it.
    "straight at zero": ((*HANGING, (0, 0, -0.08), (0, 0, -0.06)), AXES, (-2.3, 0.3)),
    "bends the other way": ((*HANGING, (0, 0, -0.08), (0, 0, -0.06)), AXES, (-0.3, 2.3)),
    # The forearm points forward at zero, so that the arm is straight at a quarter turn.
    "bent at zero": (
        (*HANGING[:4], (0.1, 0, 0.01), (0.08, 0, 0), (0.06, 0, 0)),
        (*AXES[:4], "1 0 0", "0 1 0", "0 0 1"),
        (-1.0, 2.0),
    ),
}


@pytest.mark.parametrize("build", BUILT)
def test_a_straight_elbow_is_where_forward_kinematics_has_the_longest_arm(tmp_path, build):
    places, axes, limits = BUILT[build]
    model, robot = built_arm(tmp_path, places, axes, limits)
    joint, straight = elbow_joint(model, robot, "left")
    assert model.names[joint] == "elbow"
    angles = np.linspace(-np.pi, np.pi, 3601)
    longest = angles[np.argmax([arm_length(model, angle) for angle in angles])]
    assert straight == pytest.approx(longest, abs=0.002)


@pytest.mark.parametrize("name", robot_parameters("g1"))
def test_an_elbow_with_a_wrist_of_three_joints_is_calibrated_as_an_elbow(name, drawer_motion):
    robot = load_robot(name)
    actor = calibrate(robot, drawer_motion)
    still = frames(actor.model, actor.q)
    for side in SIDES:
        first = {
            f"{side}_shoulder_yaw_joint": {"upper_arm", "forearm", "hand"},
            f"{side}_elbow_joint": {"forearm", "hand"},
            f"{side}_wrist_roll_joint": {"hand"},
            f"{side}_wrist_pitch_joint": {"hand"},
        }
        for joint, carried in first.items():
            moved = turned(actor, joint, 0.3)
            for part in ("upper_arm", "forearm", "hand"):
                marker = f"virtual_{side}_{part}"
                change = np.abs(moved[marker].homogeneous - still[marker].homogeneous).max()
                assert (change > 0.01) == (part in carried), (joint, part)
        # Arms straight ahead: G1's are at 1.43 rad, and fold towards negative angles.
        elbow = actor.q[actor.model.joints[actor.model.getJointId(f"{side}_elbow_joint")].idx_q]
        assert -0.05 < 1.43 - elbow < 0.3


MIRROR = np.diag([1.0, -1.0, 1.0])
lengths = st.builds(
    lambda width, arm, other: (
        width,
        {"left": arm[0], "right": other[0]},
        {"left": arm[1], "right": other[1]},
    ),
    st.floats(0.2, 0.6),
    *[st.tuples(st.floats(0.1, 0.5), st.floats(0.1, 0.4))] * 2,
)
shares = st.lists(st.floats(0, 1), min_size=15, max_size=15)


def alike(width, upper_arm, forearm):
    return (width, dict.fromkeys(SIDES, upper_arm), dict.fromkeys(SIDES, forearm))


def configuration(model, shares):
    lower, upper = model.lowerPositionLimit[7:], model.upperPositionLimit[7:]
    return np.r_[
        0.3, -0.2, 0.9, 0.0, 0.0, np.sin(0.4), np.cos(0.4), lower + np.array(shares) * (upper - lower)
    ]


@settings(max_examples=40, deadline=None)
@given(wanted=lengths, shares=shares)
def test_distances_in_any_posture_are_those_asked_for(romeo, wanted, shares):
    model = scale_model(romeo, upper_body(romeo), wanted)
    placed = frames(model, configuration(model, shares))

    def distance(a, b):
        return np.linalg.norm(placed[romeo.frames[a]].translation - placed[romeo.frames[b]].translation)

    assert distance("left_shoulder", "right_shoulder") == pytest.approx(wanted[0])
    for side in SIDES:
        assert distance(f"{side}_shoulder", f"{side}_elbow") == pytest.approx(wanted[1][side])
        assert distance(f"{side}_elbow", f"{side}_wrist") == pytest.approx(wanted[2][side])
        wrist, palm = placed[romeo.frames[f"{side}_wrist"]], placed[romeo.frames[f"{side}_hand"]]
        # L8 and L9 of the thesis: the hand keeps the robot's size.
        np.testing.assert_allclose(wrist.actInv(palm).translation, [0.09, 0.0, -0.02], atol=1e-9)


@settings(max_examples=20, deadline=None)
@given(wanted=lengths, shares=shares)
def test_mirrored_postures_give_mirrored_arms(romeo, wanted, shares):
    left_arm = (wanted[1]["left"], wanted[2]["left"])
    model = scale_model(romeo, upper_body(romeo), alike(wanted[0], *left_arm))
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
    after = frames(scale_model(romeo, model, alike(0.5, 0.3, 0.25)), pin.neutral(model))
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
    scale_model(romeo, model, alike(0.6, 0.5, 0.4))
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
    own = robot_lengths(romeo, romeo.model)
    assert own[0] == pytest.approx(0.38)
    assert own[1] == pytest.approx({"left": 0.205, "right": 0.205})
    assert own[2] == pytest.approx({"left": 0.1823, "right": 0.1823})


def test_an_actors_arms_keep_their_own_lengths():
    joints = {
        "left_shoulder": np.array([0.0, 0.2, 1.4]),
        "left_elbow": np.array([0.3, 0.2, 1.4]),
        "left_wrist": np.array([0.3, 0.2, 1.2]),
        "right_shoulder": np.array([0.0, -0.2, 1.1]),
        "right_elbow": np.array([0.0, -0.2, 0.8]),
        "right_wrist": np.array([0.0, -0.44, 0.48]),
    }
    got = segment_lengths(joints)
    assert got[0] == pytest.approx(0.5)
    assert got[1] == pytest.approx({"left": 0.3, "right": 0.3})
    assert got[2] == pytest.approx({"left": 0.2, "right": 0.4})
    with pytest.raises(MotionError):
        segment_lengths({**joints, "left_shoulder": joints["right_shoulder"]})
    with pytest.raises(MotionError):
        segment_lengths({**joints, "right_wrist": joints["right_elbow"]})


@given(share=st.floats(0, 1))
def test_joint_placements_are_linear_in_the_lengths(romeo, share):
    model = upper_body(romeo)
    first, second = (0.3, 0.2, 0.22), (0.5, 0.33, 0.28)
    between = [a + share * (b - a) for a, b in zip(first, second, strict=True)]
    ends, mixed = (
        [scale_model(romeo, model, alike(*lengths)).jointPlacements for lengths in some]
        for some in ((first, second), (between,))
    )
    for a, b, c in zip(*ends, *mixed, strict=True):
        expected = a.translation + share * (b.translation - a.translation)
        np.testing.assert_allclose(c.translation, expected, atol=1e-12)


def without(mapping, *names):
    return {name: value for name, value in mapping.items() if name not in names}


@pytest.mark.parametrize("name", ["romeo", "mahru"])
def test_humanoids_may_follow(name):
    require_human_form(load_robot(name))


def test_a_single_fixed_arm_is_refused_before_anything_is_computed(dance_motion):
    scenario = load_scenario("dance")
    with pytest.raises(RetargetError) as refused:
        plan_motion(
            load_robot("puma560"),
            dance_motion,
            scenario.robot,
            scenario.retarget,
            Equipment(),
            lambda *_: pytest.fail("it began"),
        )
    assert str(refused.value) == (
        "puma560: a human motion needs a robot that stands on two feet and has two arms; it lacks: "
        "a free base; frames left_shoulder, left_elbow, left_wrist, left_hand, left_foot, right_foot; "
        "groups left_arm, left_leg, right_leg; soles left_foot, right_foot"
    )


@pytest.mark.parametrize(
    ("change", "lacking"),
    [
        (lambda robot: {"floating": False}, "a free base"),
        (lambda robot: {"postures": without(robot.postures, "basic")}, "postures basic"),
        (lambda robot: {"frames": without(robot.frames, "trunk", "right_hand")}, "frames trunk, right_hand"),
        (
            lambda robot: {"groups": {**robot.groups, "left_leg": robot.groups["left_leg"][3:]}},
            "4 to 6 joints in groups.left_leg (it has 3)",
        ),
        (
            lambda robot: {"frames": {**robot.frames, "left_wrist": robot.frames["left_shoulder"]}},
            "a joint of groups.left_arm from frame left_elbow to frame left_wrist",
        ),
    ],
)
def test_what_is_lacking_is_named(romeo, change, lacking):
    with pytest.raises(RetargetError) as refused:
        require_human_form(dataclasses.replace(romeo, **change(romeo)))
    assert str(refused.value).endswith(f"; it lacks: {lacking}")
    assert "\n" not in str(refused.value)
