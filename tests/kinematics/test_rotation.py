"""Angles that have gone round."""

import numpy as np

from simbench.kinematics.rotation import wrap_angle


def test_angles_are_brought_within_half_a_turn():
    turns = np.array([-2.0, 0.0, 3.0])[:, None]
    angles = np.array([-3.1, -0.5, 0.0, 1.0, 3.1])
    np.testing.assert_allclose(wrap_angle(angles + 2.0 * np.pi * turns), np.tile(angles, (3, 1)), atol=1e-14)


def test_half_a_turn_is_negative():
    np.testing.assert_array_equal(wrap_angle(np.array([np.pi, -np.pi])), -np.pi)
