"""Angles that have gone round, and turns of quaternions."""

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.kinematics.rotation import continuous_quaternions, turn_quaternions, turns_between, wrap_angle


def test_angles_are_brought_within_half_a_turn():
    turns = np.array([-2.0, 0.0, 3.0])[:, None]
    angles = np.array([-3.1, -0.5, 0.0, 1.0, 3.1])
    np.testing.assert_allclose(wrap_angle(angles + 2.0 * np.pi * turns), np.tile(angles, (3, 1)), atol=1e-14)


def test_half_a_turn_is_negative():
    np.testing.assert_array_equal(wrap_angle(np.array([np.pi, -np.pi])), -np.pi)


def test_turns_of_quaternions_are_scipys():
    rng = np.random.default_rng(3)
    before, turns = Rotation.random(40, random_state=1), rng.normal(size=(40, 3))
    turns[:4] = [[0.0, 0.0, 0.0], [1e-12, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, -3.1]]
    quaternions, turned = before.as_quat(), np.empty((40, 4))
    turn_quaternions(quaternions, turns, turned)
    after = Rotation.from_rotvec(turns) * before
    np.testing.assert_allclose((Rotation.from_quat(turned) * after.inv()).magnitude(), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(turned, axis=1), 1.0, atol=1e-14)
    assert ((turned * quaternions).sum(axis=1) >= 0.0).all()
    path = np.stack([quaternions, turned], axis=1)
    for pair, turn in zip(path, turns, strict=True):
        found = np.empty((1, 3))
        turns_between(pair, found)
        if np.linalg.norm(turn) < np.pi:
            np.testing.assert_allclose(found[0], turn, atol=1e-7)
        expected = (Rotation.from_quat(pair[1]) * Rotation.from_quat(pair[0]).inv()).as_rotvec()
        np.testing.assert_allclose(found[0], expected, atol=1e-12)


def test_signs_of_quaternions_do_not_jump():
    path = Rotation.from_rotvec(np.linspace(0.0, 9.0, 50)[:, None] * [0.0, 0.6, 0.8]).as_quat()
    flipped = path * np.where(np.random.default_rng(0).random(50) < 0.5, -1.0, 1.0)[:, None]
    found = continuous_quaternions(np.stack([path, flipped], axis=1))
    assert ((found[1:] * found[:-1]).sum(axis=2) > 0.99).all()
    np.testing.assert_array_equal(np.abs(found[:, 1]), np.abs(path))
    assert continuous_quaternions(np.empty((0, 4))).shape == (0, 4)
