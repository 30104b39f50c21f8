"""Bowing: when, which way and how far."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.gait import standing_gait
from simbench.balance.leg_ik import stand
from simbench.balance.push_strategies import HipStrategy
from simbench.kinematics.rotation import quaternion_to_matrix

TICK, OMEGA = 0.01, 4.0


@pytest.fixture
def start(romeo):
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    return np.concatenate([stance.base, stance.joints])


@pytest.fixture
def height():
    return np.full(400, 0.67)


@pytest.fixture
def hips(romeo, start, height):
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    still = np.zeros((400, 2))
    return HipStrategy(romeo, standing_gait(stance.soles, still, still, TICK, 400), height, OMEGA, start)


def pitch(body):
    turn = np.zeros((3, 3))
    quaternion_to_matrix(*body, turn)
    return -np.arcsin(turn[2, 0])


# Backward half of the way from the hips' -0.1776 rad to their stops at 0.4014 rad.
DEPTH = {1.0: 0.4, -1.0: 0.5 * (0.4014 + 0.1776)}
UPRIGHT = np.array([0.0, 0.0, 0.0, 1.0])


def test_a_capture_point_ahead_bows_and_comes_up_again(hips):
    path = [
        pitch(hips.lean_trunk(k, np.zeros(2), np.array([0.3 if k == 0 else 0.0, 0.0]), UPRIGHT))
        for k in range(300)
    ]
    assert path[0] == pytest.approx(0.0)
    assert path[50] == pytest.approx(0.4)
    assert path[-1] == pytest.approx(0.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_bow_neither_stretches_the_legs_nor_bends_them_much(romeo, hips, start, height, sign):
    away = np.array([0.06 * sign, 0.0])
    still = np.zeros(2)
    bows = [pitch(hips.lean_trunk(k, away if k == 0 else still, still, UPRIGHT)) for k in range(230)]
    data = romeo.model.createData()
    cog = pin.centerOfMass(romeo.model, data, start)
    hip, ankle = (data.oMi[romeo.model.getJointId(name)].translation for name in ("LHipYaw", "LAnkleRoll"))
    lengths = []
    for bow, high in zip(bows, height[:230], strict=True):
        lowered = np.array([0.0, 0.0, high - 0.67])
        turned = cog + lowered + pin.utils.rotate("y", bow) @ (hip - cog)
        lengths.append(np.linalg.norm(turned - ankle))
    stood = np.linalg.norm(hip - ankle)
    assert bows[60] == pytest.approx(DEPTH[sign] * sign, abs=1e-3)
    assert max(lengths) == pytest.approx(stood, abs=1e-9)
    assert min(lengths) > stood - 0.005
    assert height[60] < 0.67 - 0.001 or sign < 0.0
    assert height[[0, 230, -1]] == pytest.approx(0.67)


def test_a_step_ends_a_bow_smoothly(hips):
    away = np.array([0.06, 0.0])
    still = np.zeros(2)
    path = [pitch(hips.lean_trunk(k, away if k == 0 else still, still, UPRIGHT)) for k in range(21)]
    hips.stop(20)
    path += [pitch(hips.lean_trunk(k, np.zeros(2), np.zeros(2), UPRIGHT)) for k in range(21, 90)]
    # Half way down it goes on at the bow's greatest speed, 1.875 rad/s, and is up 0.4 s later.
    assert path[20] == pytest.approx(0.2)
    assert np.abs(np.diff(path)).max() < 1.1 * 1.875 * TICK
    assert path[62:] == pytest.approx(np.zeros(28), abs=1e-9)
    assert np.abs(np.diff(path, 2)).max() < 0.5 * 1.875 * TICK


def test_behind_a_robot_that_faces_aside_is_its_own_behind(hips):
    turned = np.array([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])
    hips.lean_trunk(0, np.array([0.0, -0.06]), np.zeros(2), turned)
    turn = np.zeros((3, 3))
    quaternion_to_matrix(*hips.lean_trunk(50, np.zeros(2), np.zeros(2), turned), turn)
    # The upright axis leans to −y.
    np.testing.assert_allclose(turn[:, 2], [0.0, -np.sin(DEPTH[-1.0]), np.cos(DEPTH[-1.0])], atol=1e-3)


def test_sideways_and_small_excursions_do_not_bow(hips):
    for away, speed in (([0.0, 0.2], [0.0, 0.5]), ([0.04, 0.0], [0.03, 0.0])):
        np.testing.assert_array_equal(hips.lean_trunk(5, np.array(away), np.array(speed), UPRIGHT), UPRIGHT)
