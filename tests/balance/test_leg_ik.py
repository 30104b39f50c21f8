"""Standing: soles where they are, COG over its target, pelvis upright."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simbench.balance.leg_ik import least_knee_bend, leg_columns, solve_com_ik, stand
from simbench.errors import RetargetError, RobotError
from simbench.robot.sides import SIDES

PLACE, HEADING = (0.3, -0.2), 0.7
fifteen = st.lists(st.floats(-1.0, 1.0), min_size=15, max_size=15).map(np.array)


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, PLACE, HEADING, "standing")


def placed(robot, base, joints):
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, np.r_[base, joints])
    return data


def foot(robot, data, side):
    frame = robot.model.frames[robot.model.getFrameId(robot.frames[f"{side}_foot"])]
    return data.oMi[frame.parentJoint] * frame.placement


def cog(robot, data):
    """Mass-weighted mean of the links' centres of mass."""
    masses = np.array([inertia.mass for inertia in robot.model.inertias])
    places = np.array([pose.act(i.lever) for pose, i in zip(data.oMi, robot.model.inertias, strict=True)])
    return masses @ places / masses.sum()


def upper_motion(robot, shares):
    """Standing, with trunk and arms at shares −1 to 1 of their ranges."""
    joints = robot.postures["standing"].copy()
    names = [*robot.groups["trunk"], *robot.groups["left_arm"], *robot.groups["right_arm"]]
    columns = [robot.joint_names.index(name) for name in names]
    low, high = (
        limit[7:][columns] for limit in (robot.model.lowerPositionLimit, robot.model.upperPositionLimit)
    )
    joints[columns] = 0.5 * (low + high) + 0.5 * shares * (high - low)
    return joints


def test_a_stance_is_flat_on_the_floor_where_it_was_asked_for(romeo, stance):
    data = placed(romeo, stance.base, stance.joints)
    feet = {side: foot(romeo, data, side) for side in SIDES}
    turn = np.array(
        [[np.cos(HEADING), -np.sin(HEADING), 0], [np.sin(HEADING), np.cos(HEADING), 0], [0, 0, 1]]
    )
    for side in SIDES:
        np.testing.assert_allclose(feet[side].rotation, turn, atol=1e-6)
        assert feet[side].translation[2] == pytest.approx(0, abs=1e-9)
        np.testing.assert_allclose(stance.soles[side].homogeneous, feet[side].homogeneous, atol=1e-6)
    middle = 0.5 * (feet["left"].translation + feet["right"].translation)
    np.testing.assert_allclose(middle[:2], PLACE, atol=1e-12)
    # Left is to the left of the heading.
    assert (feet["left"].translation - feet["right"].translation) @ turn[:, 1] > 0.1
    np.testing.assert_array_equal(stance.joints, romeo.postures["standing"])
    # The middle of the polygon: 4.5 cm in front of the ankles (sole from −0.04 to 0.13 m).
    expected = np.array(PLACE) + 0.045 * turn[:2, 0]
    np.testing.assert_allclose(stance.target, expected, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(shares=st.lists(fifteen, min_size=1, max_size=3), x=st.floats(-0.03, 0.03), y=st.floats(-0.03, 0.03))
def test_feet_stay_and_the_cog_is_over_its_target(romeo, stance, shares, x, y):
    joints = np.array([upper_motion(romeo, share) for share in shares])
    given_joints = joints.copy()
    target = stance.target + np.linspace(0, 1, len(joints))[:, None] * [x, y]
    base, result = solve_com_ik(romeo, stance, joints, target)
    np.testing.assert_array_equal(joints, given_joints)
    legs = np.concatenate([leg_columns(romeo, side) for side in SIDES])
    others = np.setdiff1d(np.arange(len(romeo.joint_names)), legs)
    np.testing.assert_array_equal(result[:, others], joints[:, others])
    # Height and orientation of the pelvis.
    np.testing.assert_array_equal(base[:, 2:], np.tile(stance.base[2:], (len(joints), 1)))
    for pose, row, wanted in zip(base, result, target, strict=True):
        data = placed(romeo, pose, row)
        assert np.linalg.norm(cog(romeo, data)[:2] - wanted) < 1e-6
        for side in SIDES:
            np.testing.assert_allclose(
                foot(romeo, data, side).homogeneous, stance.soles[side].homogeneous, atol=1e-7
            )


def test_the_pelvis_turns_as_asked_while_feet_stay(romeo, stance):
    joints = np.array([upper_motion(romeo, np.full(15, share)) for share in (-0.2, 0.1, 0.3)])
    turns = np.array([[0.0, 0.0, 0.0], [0.05, 0.2, 0.0], [-0.1, -0.1, 0.05]])
    base, result = solve_com_ik(romeo, stance, joints, height=np.full(3, -0.03), turn=turns)
    upright = pin.XYZQUATToSE3(stance.base).rotation
    for pose, row, turn in zip(base, result, turns, strict=True):
        np.testing.assert_allclose(pin.XYZQUATToSE3(pose).rotation, pin.exp3(turn) @ upright, atol=1e-12)
        data = placed(romeo, pose, row)
        np.testing.assert_allclose(cog(romeo, data)[:2], stance.target, atol=1e-6)
        for side in SIDES:
            np.testing.assert_allclose(
                foot(romeo, data, side).homogeneous, stance.soles[side].homogeneous, atol=1e-7
            )


def test_without_a_target_the_cog_is_over_the_middle(romeo, stance):
    joints = np.array([upper_motion(romeo, np.full(15, share)) for share in (-0.4, 0.6)])
    base, result = solve_com_ik(romeo, stance, joints)
    for pose, row in zip(base, result, strict=True):
        np.testing.assert_allclose(cog(romeo, placed(romeo, pose, row))[:2], stance.target, atol=1e-9)


def test_a_similar_motion_as_the_start_changes_nothing(romeo, stance):
    joints = np.array([upper_motion(romeo, np.full(15, share)) for share in (-0.4, 0.6, 0.1)])
    heights = np.array([0.005, -0.01, 0.0])
    base, result = solve_com_ik(romeo, stance, joints, height=heights)
    near, columns = result.copy(), np.concatenate([leg_columns(romeo, side) for side in SIDES])
    near[:, columns] += 0.03
    start = base + np.array([0.01, -0.02, 0.1, 0.0, 0.0, 0.0, 0.0])
    again, legs = solve_com_ik(romeo, stance, near, height=heights, start=start)
    np.testing.assert_allclose(again, base, atol=1e-9)
    np.testing.assert_allclose(legs, result, atol=1e-8)


def test_one_frame_is_solved_as_among_many(romeo, stance):
    joints = np.array([upper_motion(romeo, np.full(15, share)) for share in np.linspace(-0.8, 0.8, 9)])
    base, result = solve_com_ik(romeo, stance, joints)
    for number in (0, 4, 8):
        alone, legs = solve_com_ik(romeo, stance, joints[[number]])
        np.testing.assert_array_equal(alone[0], base[number])
        np.testing.assert_array_equal(legs[0], result[number])


def test_the_pelvis_goes_to_the_heights_asked_for(romeo, stance):
    heights = np.array([0.0, -0.004, -0.010, -0.020, -0.025, 0.008])
    joints = np.tile(upper_motion(romeo, np.full(15, 0.3)), (len(heights), 1))
    base, joints = solve_com_ik(romeo, stance, joints, height=heights)
    np.testing.assert_allclose(base[:, 2] - stance.base[2], heights, atol=1e-15)
    for pose, q in zip(base, joints, strict=True):
        data = placed(romeo, pose, q)
        np.testing.assert_allclose(cog(romeo, data)[:2], stance.target, atol=1e-9)
        for side in SIDES:
            assert np.linalg.norm(pin.log6(foot(romeo, data, side).actInv(stance.soles[side])).vector) < 1e-9
    # Lower means more bent, on both sides alike.
    knees = joints[:, [romeo.joint_names.index(name) for name in ("LKneePitch", "RKneePitch")]]
    assert (np.diff(knees[:5], axis=0) > 0).all()


def test_an_arm_forward_moves_the_pelvis_back(romeo, stance):
    """m c = Σ m_i c_i: the pelvis goes back by about the mass share of what the arm goes forward."""
    still = upper_motion(romeo, np.zeros(15))
    column = romeo.joint_names.index("LShoulderPitch")
    back, forward = still.copy(), still.copy()
    back[column], forward[column] = 1.5, 0.0
    base, _ = solve_com_ik(romeo, stance, np.array([back, forward]))
    ahead = np.array([np.cos(HEADING), np.sin(HEADING)])
    moved = (base[1] - base[0])[:2] @ ahead
    # What the same two postures do to the COG if the pelvis stays.
    fixed = [cog(romeo, placed(romeo, stance.base, joints))[:2] @ ahead for joints in (back, forward)]
    gained = fixed[1] - fixed[0]
    assert gained > 0.005
    # The legs go with the pelvis in part, so that it has to go farther than the COG came forward.
    assert -1.6 * gained < moved < -gained


def test_the_straightest_knee_is_measured_from_thigh_to_shank(romeo):
    """Bending the knee by so much bends it by so much, and the straighter one counts."""
    posture = romeo.postures["standing"]
    knees = [romeo.joint_names.index(f"{side}KneePitch") for side in "LR"]
    joints = np.tile(posture, (3, 1))
    joints[0, knees] = 0.7
    joints[1, knees] = 0.9
    joints[2, knees] = 0.9, 0.8
    bends = [least_knee_bend(romeo, row[None]) for row in joints]
    np.testing.assert_allclose(np.subtract(bends, bends[0]), [0.0, 0.2, 0.1], atol=1e-9)
    assert least_knee_bend(romeo, joints) == min(bends)
    # Hip, knee and ankle axes lie along straight legs but for a centimetre.
    assert bends[0] == pytest.approx(0.7, abs=0.05)


def test_column_numbers_of_the_legs(romeo):
    for side, letter in (("left", "L"), ("right", "R")):
        names = [romeo.joint_names[column] for column in leg_columns(romeo, side)]
        assert names == [
            f"{letter}{j}" for j in ("HipYaw", "HipRoll", "HipPitch", "KneePitch", "AnklePitch", "AnkleRoll")
        ]


def test_an_unknown_posture_is_refused_with_the_known_ones(romeo):
    with pytest.raises(RobotError):
        stand(romeo, (0, 0), 0.0, "sitting")


@pytest.mark.parametrize(
    ("joint", "angle", "reason"),
    [("LAnklePitch", -0.30, "tilted 0.0220 rad"), ("RAnkleRoll", 0.1, "tilted 0.1000 rad")],
)
def test_tilted_soles_do_not_stand(romeo, joint, angle, reason):
    joints = romeo.postures["standing"].copy()
    joints[romeo.joint_names.index(joint)] = angle
    robot = dataclasses.replace(romeo, postures={**romeo.postures, "odd": joints})
    with pytest.raises(RobotError, match=reason):
        stand(robot, (0, 0), 0.0, "odd")


def test_soles_at_two_heights_do_not_stand(romeo):
    joints = romeo.postures["standing"].copy()
    for joint, angle in (("LHipPitch", -0.3), ("LKneePitch", 0.6), ("LAnklePitch", -0.3)):
        joints[romeo.joint_names.index(joint)] = angle
    robot = dataclasses.replace(romeo, postures={**romeo.postures, "one knee": joints})
    with pytest.raises(RobotError):
        stand(robot, (0, 0), 0.0, "one knee")


@pytest.mark.parametrize("far", [0.35, 0.6, 1.0, 3.0, 30.0])
@pytest.mark.parametrize("direction", [0.0, 0.5 * np.pi, np.pi])
def test_a_target_out_of_the_legs_reach_is_refused(romeo, stance, far, direction):
    target = stance.target + far * np.array([np.cos(direction), np.sin(direction)])
    with pytest.raises(RetargetError, match=r"frame 0"):
        solve_com_ik(romeo, stance, romeo.postures["standing"][None], target[None])


def test_straight_legs_are_refused(romeo):
    straight = dataclasses.replace(romeo, postures={"straight": np.zeros(len(romeo.joint_names))})
    upright = stand(straight, (0, 0), 0.0, "straight")
    with pytest.raises(RetargetError):
        solve_com_ik(straight, upright, upright.joints[None])
