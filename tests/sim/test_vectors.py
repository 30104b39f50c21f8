"""Vectors and quaternions in plain floats, against SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.sim.vectors import (
    conjugate,
    cross,
    multiply,
    reject,
    remove_twist,
    rotate,
    squared_norm,
    subtract,
)


@pytest.mark.parametrize("seed", range(5))
def test_quaternions_turn_as_scipys(seed):
    rng = np.random.default_rng(seed)
    a, b = Rotation.random(2, random_state=seed)
    vector = rng.normal(size=3)
    first, second = tuple(a.as_quat().tolist()), tuple(b.as_quat().tolist())
    np.testing.assert_allclose(rotate(first, tuple(vector)), a.apply(vector), atol=1e-14)
    np.testing.assert_allclose(rotate(conjugate(first), tuple(vector)), a.inv().apply(vector), atol=1e-14)
    turned = Rotation.from_quat(multiply(first, second))
    np.testing.assert_allclose(turned.as_matrix(), (a * b).as_matrix(), atol=1e-14)


def test_vectors():
    a, b = (1.0, 2.0, -3.0), (0.5, -1.0, 4.0)
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    np.testing.assert_array_equal(subtract(a, b), np.subtract(a, b))
    assert squared_norm(a) == 14.0


def test_across_leaves_what_is_at_right_angles():
    rng = np.random.default_rng(3)
    vector, axis = rng.normal(size=3), rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    left = reject(tuple(vector), tuple(axis))
    np.testing.assert_allclose(left, np.cross(axis, np.cross(vector, axis)), atol=1e-14)
    np.testing.assert_allclose(reject(tuple(3.0 * axis), tuple(axis)), 0.0, atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 0.3, -2.0, 3.1, np.pi, 4.0, 40.0])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_without_twist_leaves_the_swing(angle, sign):
    """The turn is a swing about a line across the axis, after any twist about it, in either quaternion."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    swing = Rotation.from_rotvec(0.4 * np.array([0.0, 2.0, 1.0]) / np.sqrt(5.0))
    whole = swing * Rotation.from_rotvec(angle * axis)
    left = Rotation.from_quat(remove_twist(tuple((sign * whole.as_quat()).tolist()), tuple(axis.tolist())))
    np.testing.assert_allclose(left.as_matrix(), swing.as_matrix(), atol=1e-14)


def test_half_a_turn_across_the_axis_has_no_twist_to_take_away():
    turn = (0.0, 1.0, 0.0, 0.0)
    assert remove_twist(turn, (0.0, 0.0, 1.0)) == turn
