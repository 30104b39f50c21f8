"""Calibration: the scaled model's posture in the initial configuration and its virtual markers."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from urdf_texts import LIMIT, write
from urdf_texts import joint as urdf_joint
from urdf_texts import link as urdf_link
from wheel_robots import robot_parameters

from simbench.errors import MotionError
from simbench.motion.actors import perform_drawer
from simbench.motion.human_motion import ARM_JOINTS, ARM_SEGMENTS, InitialPose
from simbench.motion.rounding import round_motion
from simbench.retargeting.imitation.calibration import calibrate, elbow_joint, straight_elbow
from simbench.robot.robot import load_robot
from simbench.robot.sides import SIDES
from simbench.robot.upper_body import upper_body

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
        upper_arm, forearm = lengths.upper_arm[side], lengths.forearm[side]
        assert upper_arm == pytest.approx(mean(f"{side}_shoulder", f"{side}_elbow"), abs=2e-4)
        assert forearm == pytest.approx(mean(f"{side}_elbow", f"{side}_wrist"), abs=2e-4)
        # A person of 1.70 m (Winter 2009: 0.186 and 0.146 of the stature), but for noise.
        assert upper_arm == pytest.approx(0.186 * 1.70, abs=0.005)
        assert forearm == pytest.approx(0.146 * 1.70, abs=0.005)
    assert lengths.shoulder_width == pytest.approx(mean("left_shoulder", "right_shoulder"), abs=2e-4)


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
        joint = elbow_joint(actor.model, romeo, side)
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
    assert again.lengths.upper_arm == pytest.approx(drawer_actor.lengths.upper_arm)


def test_coinciding_joints_are_refused(romeo, drawer_motion):
    joints = dict(drawer_motion.initial.joints)
    for side in ("left", "right"):
        joints[f"{side}_elbow"] = joints[f"{side}_shoulder"]
    initial = InitialPose(joints, drawer_motion.initial.segments)
    with pytest.raises(MotionError, match="coincide"):
        calibrate(romeo, dataclasses.replace(drawer_motion, initial=initial))


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
    assert tuple(model.names[elbow_joint(model, robot, side)] for side in SIDES) == ELBOWS[name]


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
    assert model.names[elbow_joint(model, robot, "left")] == "elbow"
    angles = np.linspace(-np.pi, np.pi, 3601)
    longest = angles[np.argmax([arm_length(model, angle) for angle in angles])]
    assert straight_elbow(model, robot, "left") == pytest.approx(longest, abs=0.002)


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
