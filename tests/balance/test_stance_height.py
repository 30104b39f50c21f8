"""A stance with a lower or higher pelvis: the legs are two links and a known distance."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.leg_ik import height_range, leg_columns, stand
from simbench.errors import RetargetError
from simbench.robot.robot import load_robot

KNEES = {
    "romeo": ("LHipPitch", "LKneePitch", "LAnklePitch"),
    "mahru": ("LHipPitch", "LKneePitch", "LAnklePitch"),
}


@pytest.fixture(scope="module", params=sorted(KNEES))
def robot(request):
    return load_robot(request.param)


def placed(robot, stance):
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, np.r_[stance.base, stance.joints])
    pin.centerOfMass(robot.model, data, np.r_[stance.base, stance.joints])
    return data


@pytest.mark.parametrize("height", [-0.035, 0.01])
def test_the_knee_is_that_of_a_two_link_leg(robot, height):
    stance = stand(robot, (0.3, -0.2), 0.4, "standing", height)
    data = placed(robot, stance)
    hip, _, ankle = (data.oMi[robot.model.getJointId(name)].translation for name in KNEES[robot.name])
    straight = pin.neutral(robot.model)
    zero = robot.model.createData()
    pin.forwardKinematics(robot.model, zero, straight)
    links = [zero.oMi[robot.model.getJointId(name)].translation for name in KNEES[robot.name]]
    thigh, shank = np.linalg.norm(links[1] - links[0]), np.linalg.norm(links[2] - links[1])
    # Cosine law: the angle between the links from the distance of hip and ankle.
    cosine = (np.sum((hip - ankle) ** 2) - thigh**2 - shank**2) / (2 * thigh * shank)
    bend = stance.joints[robot.joint_names.index(KNEES[robot.name][1])]
    assert bend == pytest.approx(np.arccos(cosine), abs=1e-4)
    # The hips are right above their height: pelvis level, that much from where the posture has it.
    nominal = stand(robot, (0.3, -0.2), 0.4, "standing")
    assert stance.base[2] - nominal.base[2] == pytest.approx(height, abs=1e-9)
    np.testing.assert_allclose(stance.base[3:], nominal.base[3:], atol=1e-12)


@pytest.mark.parametrize("height", [-0.035, 0.01])
def test_soles_stay_and_the_cog_is_over_the_middle(robot, height):
    stance = stand(robot, (0.3, -0.2), 0.4, "standing", height)
    nominal = stand(robot, (0.3, -0.2), 0.4, "standing")
    data = placed(robot, stance)
    for side in ("left", "right"):
        foot = data.oMf[robot.model.getFrameId(robot.frames[f"{side}_foot"])]
        np.testing.assert_allclose(foot.homogeneous, nominal.soles[side].homogeneous, atol=1e-6)
        columns = leg_columns(robot, side)
        assert (stance.joints[columns] >= robot.model.lowerPositionLimit[7 + columns]).all()
        assert (stance.joints[columns] <= robot.model.upperPositionLimit[7 + columns]).all()
    np.testing.assert_allclose(data.com[0][:2], nominal.target, atol=1e-5)


def test_the_range_ends_where_a_joint_does(robot):
    low, high = height_range(robot, "standing")
    assert low < -0.03
    assert 0.005 < high < 0.03
    legs = np.concatenate([leg_columns(robot, side) for side in ("left", "right")])
    limits = robot.model.lowerPositionLimit[7:][legs], robot.model.upperPositionLimit[7:][legs]
    lowest, highest = (stand(robot, (0, 0), 0.0, "standing", height).joints[legs] for height in (low, high))
    room = np.minimum(lowest - limits[0], limits[1] - lowest).min()
    knee = highest[list(legs).index(robot.joint_names.index("LKneePitch"))]
    # Down a joint is at its limit, up the knees are as straight as allowed: nothing in between stops.
    assert 0.0 <= room < 0.005
    assert 0.1 <= knee < 0.12
    for beyond in (low - 0.002, high + 0.002):
        with pytest.raises(RetargetError, match=r"legs do not allow.*allowed: -0\.\d+ to \+0\.\d+ m"):
            stand(robot, (0, 0), 0.0, "standing", beyond)
