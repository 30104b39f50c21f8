"""ROMEO's description: mass, motors and kinematics against independent computations."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.typing import NDArray

from simbench.robot.robot import Robot


def transform(xyz: tuple[float, ...], rpy: tuple[float, ...] = (0, 0, 0)) -> NDArray[np.float64]:
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    roll = np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]])
    pitch = np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
    yaw = np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]])
    matrix = np.eye(4)
    matrix[:3, :3] = yaw @ pitch @ roll
    matrix[:3, 3] = xyz
    return matrix


def test_total_mass_is_the_published_one(romeo: Robot) -> None:
    # Sum of the mass column of romeo_description 0.0.9.
    assert pin.computeTotalMass(romeo.model) == pytest.approx(40.52937, abs=1e-9)


def test_reflected_inertia_is_reduction_squared_times_rotor_inertia(romeo: Robot) -> None:
    # Worked out by hand from table A.1 of Tomić (2018), kg·m².
    expected = {
        "NeckYaw": 0.0313868,
        "HeadRoll": 0.0166552,
        "LShoulderPitch": 0.0255509,
        "RElbowYaw": 0.0100995,
        "RWristRoll": 0.0150342,
        "LWristPitch": 0.0018266,
        "LKneePitch": 0.0,
        "TrunkYaw": 0.0,
    }
    reflected = dict(zip(romeo.joint_names, romeo.motors.reflected_inertia, strict=True))
    for joint, inertia in expected.items():
        assert reflected[joint] == pytest.approx(inertia, abs=1e-7), joint
        assert (
            romeo.model.armature[romeo.model.joints[romeo.model.getJointId(joint)].idx_v] == reflected[joint]
        )
    np.testing.assert_array_equal(romeo.model.armature[:6], 0)


def test_palms_agree_with_the_published_chain_composed_by_hand(romeo: Robot, placed) -> None:
    chain = (
        transform((0, 0, 0.2))
        @ transform((0.005, 0.19, 0), (-0.158879, -0.0725189, -0.424682))
        @ transform((0, 0, 0), (0, 0, 0.430457))
        @ transform((0.205, 0, 0), (0.17452, 0, 0))
        @ transform((0.1823, 0, 0))
        @ transform((0.09, 0, -0.02))
    )
    left = placed(romeo, romeo.postures["basic"])[romeo.frames["left_hand"]]
    np.testing.assert_allclose(left.homogeneous, chain, atol=1e-9)
    np.testing.assert_allclose(left.translation, [0.4823, 0.19, 0.18], atol=1e-6)


@pytest.mark.parametrize(("side", "sign"), [("left", 1), ("right", -1)])
def test_basic_posture_agrees_with_the_denavit_hartenberg_table(
    romeo: Robot, placed, side: str, sign: int
) -> None:
    # Tomić (2018), appendix D, rows 12-18 (19-25) and 26 with L1, L4/2, L5, L6, L7, L8, L9; q = 0.
    half_pi = np.pi / 2
    rows = [  # b, alpha, a, theta, d
        (0.2, -half_pi, 0.005, 0, sign * 0.19),
        (0, half_pi, 0, half_pi, 0),
        (0, half_pi, 0, 0, 0.205),
        (0, -half_pi, 0, 0, 0),
        (0, half_pi, 0, 0, 0.1823),
        (0, -half_pi, 0, -half_pi, 0),
        (0, -half_pi, 0, 0, 0),
        (0, half_pi, 0.09, 0, -0.02),
    ]
    hand = np.eye(4)
    for b, alpha, a, theta, d in rows:
        hand = hand @ transform((0, 0, b)) @ transform((0, 0, 0), (alpha, 0, 0)) @ transform((a, 0, 0))
        hand = hand @ transform((0, 0, d), (0, 0, theta))
    palm = placed(romeo, romeo.postures["basic"])[romeo.frames[f"{side}_hand"]]
    np.testing.assert_allclose(palm.translation, hand[:3, 3], atol=1e-6)
    np.testing.assert_allclose(palm.rotation, np.eye(3), atol=1e-5)


def test_palm_and_open_fingers_keep_the_published_hand(romeo: Robot) -> None:
    model = romeo.model
    mass, moment, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
    for joint, offset in (("LWristPitch", np.zeros(3)), ("LHand", np.array([0.118, 0, -0.008]))):
        part = model.inertias[model.getJointId(joint)]
        cog = part.lever + offset
        mass += part.mass
        moment += part.mass * cog
        inertia += part.inertia + part.mass * (cog @ cog * np.eye(3) - np.outer(cog, cog))
    cog = moment / mass
    inertia -= mass * (cog @ cog * np.eye(3) - np.outer(cog, cog))
    assert mass == pytest.approx(0.16569)
    np.testing.assert_allclose(cog, [0.06987, -0.00381, -0.00165], atol=1e-8)
    published = [
        [0.000112529, 4.72583e-05, 1.70404e-05],
        [4.72583e-05, 0.00107982, -1.54761e-05],
        [1.70404e-05, -1.54761e-05, 0.00115367],
    ]
    np.testing.assert_allclose(inertia, published, atol=1e-9)


def test_soles_are_counter_clockwise_rectangles_of_the_published_size(romeo: Robot) -> None:
    for corners in romeo.soles.values():
        edges = np.roll(corners, -1, axis=0) - corners
        assert np.all(np.cross(edges, np.roll(edges, -1, axis=0))[:, 2] > 0)
        np.testing.assert_allclose(np.ptp(corners, axis=0), [0.17, 0.068, 0])


def test_every_joint_is_in_one_group_and_every_hand_has_a_grip(romeo: Robot) -> None:
    grouped = [name for names in romeo.groups.values() for name in names]
    assert sorted(grouped) == sorted(romeo.joint_names)
    assert len(romeo.joint_names) == 33
    assert [hand.joints for hand in romeo.hands.values()] == [("LHand",), ("RHand",)]
