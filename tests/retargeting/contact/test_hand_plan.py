"""What the robot's hands are to do: hands within reach, targets in between, arms without human form."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation
from wheel_robots import robot_parameters

from simbench.errors import MotionError
from simbench.motion.human_motion import HandlePath, transform
from simbench.options import RetargetSection
from simbench.retargeting.contact.hand_plan import (
    HandPlan,
    approach_handles,
    arm_reach,
    detect_contact,
    draw_in,
    near_contact,
    plan_arm_hands,
    plan_hands,
    recorded_palms,
)
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.imitation.scaled_model import robot_lengths, scale_model
from simbench.robot.robot import load_robot
from simbench.robot.robot_limbs import upper_body
from simbench.robot.sides import SIDES

UNIT = st.floats(-1.0, 1.0)
three = st.lists(UNIT, min_size=3, max_size=3).map(np.array)


@given(shift=three, shoulder=three, turn=three)
def test_a_palm_is_drawn_in_along_its_line_and_no_further(shift, shoulder, turn):
    wrist, reaches = np.array([-0.09, 0.0, 0.02]), (0.2, 0.38)
    palm = pin.SE3(pin.exp3(3 * turn), shoulder + shift)
    before = palm.act(wrist) - shoulder
    length = np.linalg.norm(before)
    assume(length > 1e-3)

    def after(part):
        (drawn,) = draw_in(palm.homogeneous[None], shoulder[None], wrist, reaches, np.array([part]))
        return drawn - palm.translation + palm.act(wrist) - shoulder

    drawn = after(1.0)
    np.testing.assert_allclose(drawn / np.linalg.norm(drawn), before / length, atol=1e-6)
    assert 0.2 - 1e-9 <= np.linalg.norm(drawn) <= 0.38 + 1e-9
    # A soft limit: nothing happens 6 cm inside, and a centimetre's ln 2 on it.
    if 0.26 <= length <= 0.32:
        assert np.linalg.norm(drawn) == pytest.approx(length, abs=1e-4)
    straight = pin.SE3(np.eye(3), np.array([0.38, 0, 0]) - wrist).homogeneous
    (limit,) = draw_in(straight[None], np.zeros((1, 3)), wrist, reaches, np.ones(1))
    assert (limit + wrist)[0] == pytest.approx(0.38 - 0.01 * np.log(2), abs=1e-9)
    # In free motion it may go wherever it goes.
    np.testing.assert_allclose(after(1e-3), before, atol=1e-9)


@pytest.mark.parametrize("side", SIDES)
def test_reach_is_what_forward_kinematics_gives_at_the_elbows_limits(romeo, side):
    # The right forearm is a sixth longer here.
    *others, forearm = robot_lengths(romeo, romeo.model)
    uneven = (*others, {"left": forearm["left"], "right": forearm["right"] * 7 / 6})
    model = scale_model(romeo, upper_body(romeo), uneven)
    data = model.createData()
    least, most = arm_reach(model, romeo, uneven, side)
    index = model.joints[model.getJointId(f"{side[0].upper()}ElbowYaw")].idx_q
    distances = []
    for angle in np.linspace(model.lowerPositionLimit[index], model.upperPositionLimit[index], 50):
        q = pin.neutral(model)
        q[index] = angle
        pin.framesForwardKinematics(model, data, q)
        place = {
            role: data.oMf[model.getFrameId(romeo.frames[f"{side}_{role}"])].translation
            for role in ("shoulder", "wrist")
        }
        distances.append(np.linalg.norm(place["wrist"] - place["shoulder"]))
    # The left elbow bends by negative angles, the right one by positive ones.
    assert {distances[0], distances[-1]} == {min(distances), max(distances)}
    # A little inside on both ends, where joints race.
    assert least - min(distances) == pytest.approx(max(distances) - most)
    assert 0.002 < least - min(distances) < 0.03


@pytest.mark.parametrize("name", robot_parameters("g1", "talos"))
def test_reach_is_that_of_an_arm_that_is_not_straight_with_its_elbow_at_zero(name):
    robot = load_robot(name)
    model = upper_body(robot)
    data, q = model.createData(), pin.neutral(model)
    elbow = {"g1": "left_elbow_joint", "talos": "arm_left_4_joint"}[name]
    index = model.joints[model.getJointId(elbow)].idx_q
    shoulder, wrist = (model.getFrameId(robot.frames[f"left_{role}"]) for role in ("shoulder", "wrist"))
    distances = []
    for angle in np.linspace(model.lowerPositionLimit[index], model.upperPositionLimit[index], 200):
        q[index] = angle
        pin.framesForwardKinematics(model, data, q)
        distances.append(np.linalg.norm(data.oMf[wrist].translation - data.oMf[shoulder].translation))
    least, most = arm_reach(model, robot, robot_lengths(robot, robot.model), "left")
    assert 0.002 < least - min(distances) < 0.03
    assert 0.002 < max(distances) - most < 0.03


def scene(romeo, imitation, samples):
    """The robot at the actor's place, joints clipped to its limits, at some samples of an imitation."""
    model = imitation.actor.model
    posture = np.clip(
        imitation.q[samples, 7:], model.lowerPositionLimit[7:] + 0.02, model.upperPositionLimit[7:] - 0.02
    )
    base = np.tile([-0.05, 0.0, 0.85, 0.0, 0.0, 0.0, 1.0], (len(samples), 1))
    part = Imitation(imitation.actor, imitation.time[samples], imitation.q[samples])
    return part, posture, base


def own_palms(romeo, base, posture):
    """Forward kinematics of the whole robot."""
    data = romeo.model.createData()
    q = pin.neutral(romeo.model)
    palms = {side: [] for side in SIDES}
    names = upper_body(romeo).names[2:]
    columns = [romeo.model.joints[romeo.model.getJointId(name)].idx_q for name in names]
    for pose, joints in zip(base, posture, strict=True):
        q[:7], q[columns] = pose, joints
        pin.forwardKinematics(romeo.model, data, q)
        for side in SIDES:
            frame = romeo.model.frames[romeo.model.getFrameId(romeo.frames[f"{side}_hand"])]
            palms[side].append(data.oMi[frame.parentJoint] * frame.placement)
    return palms


def planned(romeo, scene, share, touching=False):
    part, posture, base = scene
    palms = detect_contact(romeo, part, {}, RetargetSection()).targets
    shares = {side: np.full(len(posture), share) for side in SIDES}
    contact = {side: np.full(len(posture), touching) for side in SIDES}
    grip = {side: near_contact(part.time, contact[side], 1.0) for side in SIDES}
    hands = HandPlan(shares, contact, grip, palms, palms, dict.fromkeys(SIDES))
    return plan_hands(romeo, part, posture, base, hands), palms


def test_share_zero_is_the_robots_own_motion(romeo, drawer_imitation):
    samples = np.arange(0, 1300, 100)
    part, posture, base = scene(romeo, drawer_imitation, samples)
    plan, _ = planned(romeo, (part, posture, base), 0.0)
    for side, palms in own_palms(romeo, base, posture).items():
        for target, palm in zip(plan.targets[side], palms, strict=True):
            np.testing.assert_allclose(target, palm.homogeneous, atol=1e-9)


def test_contact_is_the_actors_palm(romeo, drawer_imitation, drawer_motion):
    samples = np.arange(400, 1300, 50)
    plan, palms = planned(romeo, scene(romeo, drawer_imitation, samples), 1.0, touching=True)
    for side in SIDES:
        np.testing.assert_allclose(plan.targets[side], palms[side], atol=1e-12)
        # The recorded wrist lies L8 behind and L9 above the palm.
        wrist = plan.targets[side] @ np.array([-0.09, 0.0, 0.02, 1.0])
        np.testing.assert_allclose(wrist[:, :3], drawer_motion.joints[f"{side}_wrist"][samples], atol=0.003)


def test_targets_move_smoothly_from_own_size_to_the_actors(romeo, drawer_imitation):
    samples = np.array([0, 150, 300, 700, 1000])
    made = scene(romeo, drawer_imitation, samples)
    shares = np.r_[0.0, 1e-9, np.linspace(0.01, 0.99, 99), 1 - 1e-9, 1.0]
    paths = {side: np.array([planned(romeo, made, s)[0].targets[side] for s in shares]) for side in SIDES}
    for side in SIDES:
        step = np.linalg.norm(np.diff(paths[side][:, :, :3, 3], axis=0), axis=2)
        whole = np.linalg.norm(paths[side][-1, :, :3, 3] - paths[side][0, :, :3, 3], axis=1)
        assert whole.min() > 0.05
        # No jump at either end, and no step in between that is much longer than its part.
        assert step[[0, -1]].max() < 1e-6
        turn = np.abs(np.diff(paths[side][:, :, :3, :3], axis=0)).max(axis=(2, 3))
        assert turn[[0, -1]].max() < 1e-6
        assert step.max() < 0.005
        assert turn.max() < 0.01


def test_a_straight_arm_is_not_drawn_in_all_at_once(romeo, drawer_imitation):
    """From share 0 on: the elbow is straight, farther than what a hand in contact may ask for."""
    part, posture, base = scene(romeo, drawer_imitation, np.array([0]))
    posture = np.zeros_like(posture)
    targets = [planned(romeo, (part, posture, base), share)[0].targets["left"][0] for share in (0.0, 1e-9)]
    assert np.linalg.norm(targets[0][:3, 3] - targets[1][:3, 3]) < 1e-6


def test_actor_palms_are_the_recorded_hands(romeo, drawer_imitation, drawer_motion):
    palms = detect_contact(romeo, drawer_imitation, {}, RetargetSection()).targets
    for side in SIDES:
        wrist = palms[side][:, :3, 3] + palms[side][:, :3, :3] @ np.array([-0.09, 0.0, 0.02])
        assert np.linalg.norm(wrist - drawer_motion.joints[f"{side}_wrist"], axis=1).max() < 0.005
        np.testing.assert_allclose(np.linalg.det(palms[side][:, :3, :3]), 1.0)


def test_the_way_to_a_handle_ends_on_it():
    """The actor's palm is seen 8 mm and 4 degrees beside the handle: corrected by the share of the way."""
    count = 101
    time = np.linspace(0.0, 2.0, count)
    seen = np.tile(np.eye(4), (count, 1, 1))
    seen[:, :3, 3] = np.array([0.4, 0.2, 1.0]) - 0.1 * (1.0 - np.minimum(time, 1.0))[:, None]
    handle = seen[60:61].copy()
    handle[0, :3, 3] += (0.008, 0.0, 0.0)
    handle[0, :3, :3] = pin.exp3(np.array([0.0, 0.0, np.radians(4.0)]))
    share, contact = {"left": np.minimum(time, 1.0)}, {"left": time >= 1.2}
    held = approach_handles({"left": seen}, share, contact, {"left": HandlePath(handle)})["left"]
    np.testing.assert_allclose(held[contact["left"]], np.tile(handle, (contact["left"].sum(), 1, 1)))
    off = held[:, :3, 3] - seen[:, :3, 3]
    np.testing.assert_allclose(off[~contact["left"], 0], 0.008 * share["left"][~contact["left"]], atol=1e-12)
    turn = np.degrees([np.linalg.norm(pin.log3(pose[:3, :3])) for pose in held])
    np.testing.assert_allclose(turn[~contact["left"]], 4.0 * share["left"][~contact["left"]], atol=1e-9)


RATE = 100.0
HOLD = np.array([0.6, -0.2, 1.0])
PALM = Rotation.from_euler("z", 0.3).as_matrix()
HOME = transform(Rotation.from_euler("y", 1.2).as_matrix(), np.array([0.1, 0.1, 1.3]))
SETTINGS = RetargetSection(transition_time_s=1.0)


def motion_of(palms):
    """A recording of the right hand alone, whose frame lies beside the wrist as marker frames do."""
    hand = transform(palms[:, :3, :3], palms[:, :3, 3] + [0.01, 0.02, 0.03])
    wrist = palms[:, :3, 3] - palms[:, :3, :3] @ [0.09, 0.0, -0.02]
    return SimpleNamespace(
        time=np.arange(len(palms)) / RATE,
        joints={"right_wrist": wrist},
        segments={"right_hand": hand},
        source="by hand",
    )


def passing_by():
    """Within 5 cm of the hold on its far side, back to 20 cm before it, straight to it; a second there."""
    stops = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 4.9])
    ahead = np.array([0.05, 0.05, -0.20, -0.20, 0.0, 0.0])
    time = np.arange(490) / RATE
    place = HOLD + np.interp(time, stops, ahead)[:, None] * [1.0, 0.0, 0.0]
    return transform(np.broadcast_to(PALM, (490, 3, 3)), place)


@pytest.fixture(scope="module")
def arm_plan():
    handle = HandlePath(transform(PALM, HOLD)[None])
    return plan_arm_hands(motion_of(passing_by()), {"right": handle}, {"right": HOME}, SETTINGS)


def test_palms_are_those_of_wrist_and_hand():
    palms = passing_by()
    np.testing.assert_allclose(recorded_palms(motion_of(palms), ["right"])["right"], palms, atol=1e-12)
    with pytest.raises(MotionError):
        recorded_palms(motion_of(palms), ["left", "right"])


def test_the_actor_is_followed_from_the_last_straight_way_to_the_hold(arm_plan):
    """It is 10 cm before the hold at 3.5 s; that the hand was within 5 cm at the start is something else."""
    full = np.flatnonzero(arm_plan.share["right"] == 1.0)
    assert full[0] == pytest.approx(350, abs=1)
    assert full[-1] == 489
    assert (arm_plan.share["right"][:240] == 0.0).all()
    assert np.flatnonzero(arm_plan.contact["right"])[0] >= 390


def test_the_way_there_is_a_line_from_rest_to_where_the_actor_is_followed(arm_plan):
    targets, share = arm_plan.targets["right"], arm_plan.share["right"]
    np.testing.assert_allclose(targets[:200], np.broadcast_to(HOME, (200, 4, 4)), atol=1e-12)
    begin = HOLD - [0.1, 0.0, 0.0]
    way = begin - HOME[:3, 3]
    between = slice(260, 330)
    along = (targets[between, :3, 3] - HOME[:3, 3]) @ way / (way @ way)
    # A sample is 2 mm of the straight way on; smoothing takes off what is curved.
    np.testing.assert_allclose(along, share[between], atol=0.01)
    across = targets[between, :3, 3] - HOME[:3, 3] - along[:, None] * way
    assert np.abs(across).max() < 0.003
    # Beyond the corner of a hand that stops at once.
    np.testing.assert_allclose(targets[416:, :3, 3], np.broadcast_to(HOLD, (74, 3)), atol=1e-6)
    turned = Rotation.from_matrix(targets[between, :3, :3].transpose(0, 2, 1) @ PALM).magnitude()
    whole = Rotation.from_matrix(HOME[:3, :3].T @ PALM).magnitude()
    np.testing.assert_allclose(turned, (1.0 - share[between]) * whole, atol=0.02)
