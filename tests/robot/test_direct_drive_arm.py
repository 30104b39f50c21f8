"""The direct-drive arm against the closed form of its dynamics and a table of Hayati rows."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.robot.dh import DhJoint, DhTable, HayatiRow, table_frames
from simbench.robot.robot import Robot, load_robot

# Ohtsuki, Shikata & Noborio, the identified values: I1 + m2 L1², m2 s2x, m2 s2y, I2.
FIRST, X, Y, SECOND = 1.986076, 1.718632, 0.181763, 0.471209
LENGTHS = (0.25, 0.30)
AXIS = np.array([0.0, 0.0, 0.80])

angles = st.floats(-2.6, 2.6)
speeds = st.floats(-5, 5)

ARM = load_robot("direct_drive_arm")


@pytest.fixture(scope="module")
def arm() -> Robot:
    return ARM


@given(angles, angles)
def test_inertia_is_the_closed_form(first: float, second: float) -> None:
    coupling = LENGTHS[0] * (X * np.cos(second) - Y * np.sin(second))
    mixed = SECOND + coupling
    expected = [[FIRST + SECOND + 2 * coupling, mixed], [mixed, SECOND]]
    inertia = np.triu(pin.crba(ARM.model, ARM.model.createData(), np.array([first, second])))
    np.testing.assert_allclose(inertia + np.triu(inertia, 1).T, expected, rtol=0, atol=2e-9)


@given(angles, angles, speeds, speeds)
def test_velocity_terms_are_the_closed_form(first: float, second: float, one: float, two: float) -> None:
    # From M by Christoffel symbols: only its dependence on the second angle matters.
    slope = -LENGTHS[0] * (X * np.sin(second) + Y * np.cos(second))
    expected = [slope * (2 * one * two + two**2), -slope * one**2]
    data, velocity = ARM.model.createData(), np.array([one, two])
    torque = pin.nonLinearEffects(ARM.model, data, np.array([first, second]), velocity)
    np.testing.assert_allclose(torque, expected, rtol=0, atol=1e-7)


@given(angles, angles)
def test_nothing_pulls_a_horizontal_arm(first: float, second: float) -> None:
    gravity = pin.computeGeneralizedGravity(ARM.model, ARM.model.createData(), np.array([first, second]))
    np.testing.assert_allclose(gravity, 0, atol=1e-12)


@given(angles, angles)
def test_the_tip_is_the_last_frame_of_a_hayati_table(first: float, second: float) -> None:
    table = DhTable(
        (
            DhJoint("joint1", "base", HayatiRow(a=LENGTHS[0])),
            DhJoint("joint2", "joint1", HayatiRow(a=LENGTHS[1])),
        )
    )
    expected = table_frames(table, [first, second])["joint2"].copy()
    by_hand = [
        LENGTHS[0] * np.cos(first) + LENGTHS[1] * np.cos(first + second),
        LENGTHS[0] * np.sin(first) + LENGTHS[1] * np.sin(first + second),
        0.0,
    ]
    np.testing.assert_allclose(expected[:3, 3], by_hand, atol=1e-12)
    expected[:3, 3] += AXIS
    data = ARM.model.createData()
    pin.framesForwardKinematics(ARM.model, data, np.array([first, second]))
    tip = data.oMf[ARM.model.getFrameId(ARM.frames["right_hand"])]
    np.testing.assert_allclose(tip.homogeneous, expected, atol=1e-12)


def test_every_link_is_physically_possible(arm: Robot) -> None:
    for name, inertia in list(zip(arm.model.names, arm.model.inertias, strict=True))[1:]:
        principal = np.linalg.eigvalsh(inertia.inertia)
        assert inertia.mass > 0, name
        assert principal[0] > 0, name
        assert principal[0] + principal[1] >= principal[2], name


def test_friction_is_what_can_be_of_the_identified_values(arm: Robot) -> None:
    np.testing.assert_array_equal(arm.friction.viscous, np.maximum([-0.002409, 0.000311], 0))
    np.testing.assert_array_equal(arm.friction.coulomb, np.maximum([0.010918, -0.002271], 0))
    np.testing.assert_array_equal(arm.friction.breakaway, arm.friction.coulomb)


def test_motors_drive_directly_under_the_published_law(arm: Robot) -> None:
    np.testing.assert_array_equal(arm.motors.reduction, 1)
    np.testing.assert_array_equal(arm.model.armature, 0)
    np.testing.assert_array_equal(arm.motors.stiffness, 9.5)
    np.testing.assert_array_equal(arm.motors.damping, 9.5)
    # Even from one end of the travel to the other nothing is clipped.
    travel = arm.model.upperPositionLimit - arm.model.lowerPositionLimit
    assert np.all(9.5 * travel < arm.motors.torque_limit)


def test_postures_leave_room_to_sweep_by_one_radian(arm: Robot) -> None:
    for posture in arm.postures.values():
        room = np.maximum(posture - arm.model.lowerPositionLimit, arm.model.upperPositionLimit - posture)
        assert room.min() >= 1.05
    hand = arm.hands["right_hand"]
    assert (hand.palm, hand.fingers, hand.joints) == ("link2", (), ())
    assert arm.groups == {"right_arm": ("joint1", "joint2")}
    assert not arm.floating
