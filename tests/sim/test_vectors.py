"""Vectors and quaternions in plain floats, against SciPy's rotations."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from simbench.sim.vectors import cross, difference, inverse, product, rotated, square


@pytest.mark.parametrize("seed", range(5))
def test_quaternions_turn_as_scipys(seed):
    rng = np.random.default_rng(seed)
    a, b = Rotation.random(2, random_state=seed)
    vector = rng.normal(size=3)
    first, second = tuple(a.as_quat().tolist()), tuple(b.as_quat().tolist())
    np.testing.assert_allclose(rotated(first, tuple(vector)), a.apply(vector), atol=1e-14)
    np.testing.assert_allclose(rotated(inverse(first), tuple(vector)), a.inv().apply(vector), atol=1e-14)
    turned = Rotation.from_quat(product(first, second))
    np.testing.assert_allclose(turned.as_matrix(), (a * b).as_matrix(), atol=1e-14)


def test_vectors():
    a, b = (1.0, 2.0, -3.0), (0.5, -1.0, 4.0)
    np.testing.assert_array_equal(cross(a, b), np.cross(a, b))
    np.testing.assert_array_equal(difference(a, b), np.subtract(a, b))
    assert square(a) == 14.0
