"""ROMEO's description: mass, motors, kinematics and symmetry against independent computations."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from simbench.robot.robot import Robot, load_robot

MIRROR = np.diag([1.0, -1.0, 1.0])


def configuration(robot: Robot, positions: NDArray[np.float64]) -> NDArray[np.float64]:
    q = pin.neutral(robot.model)
    for name, position in zip(robot.joint_names, positions, strict=True):
        q[robot.model.joints[robot.model.getJointId(name)].idx_q] = position
    return q


def frames(robot: Robot, positions: NDArray[np.float64]) -> dict[str, pin.SE3]:
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, configuration(robot, positions))
    return {frame.name: data.oMf[i] for i, frame in enumerate(robot.model.frames)}


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


def test_every_link_is_physically_possible(romeo: Robot) -> None:
    for name, inertia in list(zip(romeo.model.names, romeo.model.inertias, strict=True))[1:]:
        principal = np.linalg.eigvalsh(inertia.inertia)
        assert inertia.mass > 0, name
        assert principal[0] > 0, name
        assert principal[0] + principal[1] >= principal[2], name


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


def test_palms_agree_with_the_published_chain_composed_by_hand(romeo: Robot) -> None:
    chain = (
        transform((0, 0, 0.2))
        @ transform((0.005, 0.19, 0), (-0.158879, -0.0725189, -0.424682))
        @ transform((0, 0, 0), (0, 0, 0.430457))
        @ transform((0.205, 0, 0), (0.17452, 0, 0))
        @ transform((0.1823, 0, 0))
        @ transform((0.09, 0, -0.02))
    )
    left = frames(romeo, romeo.postures["basic"])[romeo.frames["left_hand"]]
    np.testing.assert_allclose(left.homogeneous, chain, atol=1e-9)
    np.testing.assert_allclose(left.translation, [0.4823, 0.19, 0.18], atol=1e-6)


@pytest.mark.parametrize(("side", "sign"), [("left", 1), ("right", -1)])
def test_basic_posture_agrees_with_the_denavit_hartenberg_table(romeo: Robot, side: str, sign: int) -> None:
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
    palm = frames(romeo, romeo.postures["basic"])[romeo.frames[f"{side}_hand"]]
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


def test_right_inertia_mirrors_the_left(romeo: Robot) -> None:
    model = romeo.model
    pairs = [(name, "R" + name[1:]) for name in romeo.joint_names if name.startswith("L")]
    assert len(pairs) == 14
    for left_name, right_name in pairs:
        left, right = (model.inertias[model.getJointId(name)] for name in (left_name, right_name))
        assert right.mass == left.mass
        np.testing.assert_allclose(right.lever, MIRROR @ left.lever, atol=1e-12, err_msg=right_name)
        np.testing.assert_allclose(right.inertia, MIRROR @ left.inertia @ MIRROR, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=14, max_size=14))
def test_mirrored_postures_give_mirrored_frames(shares: list[float]) -> None:
    romeo = load_robot("romeo")
    limits = dict(zip(romeo.joint_names, zip(*joint_limits(romeo), strict=True), strict=True))
    positions = dict.fromkeys(romeo.joint_names, 0.0)
    left_names = [name for name in romeo.joint_names if name.startswith("L")]
    for name, share in zip(left_names, shares, strict=True):
        other = "R" + name[1:]
        lower, upper = limits[name]
        sign = 1 if name.endswith("Pitch") or name == "LHand" else -1
        positions[name] = lower + share * (upper - lower)
        positions[other] = sign * positions[name]
        assert limits[other] == ((lower, upper) if sign > 0 else (-upper, -lower))
    placed = frames(romeo, np.array(list(positions.values())))
    for left, right in (("l_palm", "r_palm"), ("l_fingers", "r_fingers"), ("l_sole", "r_sole")):
        np.testing.assert_allclose(placed[right].translation, MIRROR @ placed[left].translation, atol=1e-9)
        np.testing.assert_allclose(placed[right].rotation, MIRROR @ placed[left].rotation @ MIRROR, atol=1e-9)


def joint_limits(robot: Robot) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    index = [robot.model.joints[robot.model.getJointId(name)].idx_q for name in robot.joint_names]
    return robot.model.lowerPositionLimit[index], robot.model.upperPositionLimit[index]


def test_standing_is_balanced_on_flat_soles(romeo: Robot) -> None:
    q = configuration(romeo, romeo.postures["standing"])
    data = romeo.model.createData()
    cog = pin.centerOfMass(romeo.model, data, q)
    placed = frames(romeo, romeo.postures["standing"])
    for foot in ("left_foot", "right_foot"):
        sole = placed[romeo.frames[foot]]
        np.testing.assert_allclose(sole.rotation, np.eye(3), atol=1e-9)
        middle = sole.act(romeo.soles[foot].mean(axis=0))
        assert cog[0] == pytest.approx(middle[0], abs=0.001)
    assert cog[1] == pytest.approx(0, abs=1e-3)


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
