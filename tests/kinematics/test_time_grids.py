"""Coarse grids in time, and what is interpolated from them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simbench.kinematics.time_grids import hold_between, interpolate_change, time_grids


@given(count=st.integers(1, 3000), rate=st.floats(1.0, 500.0))
def test_grids_end_with_all_samples_and_are_dense_enough(count, rate):
    time = 3.0 + np.arange(count) / rate
    *coarse, every = time_grids(time)
    np.testing.assert_array_equal(every, np.arange(count))
    assert len(coarse) <= 1
    for samples in coarse:
        assert samples[0] == 0
        assert samples[-1] == count - 1
        steps = np.diff(samples)
        assert (steps > 0).all()
        assert steps.max() > 1
        assert steps.max() / rate <= 1.0 / 12.5 + 1e-9
        assert len(samples) >= 16


@pytest.mark.parametrize("count", [16 * 8, 801, 2001])
def test_a_cubic_is_interpolated_exactly(count):
    time = np.arange(count) / 100.0
    samples, _ = time_grids(time)
    cubic = np.stack([time**3 - 2.0 * time, 1.0 - time**2], axis=1)
    np.testing.assert_allclose(interpolate_change(time, samples, cubic[samples]), cubic, rtol=1e-9, atol=1e-7)


def test_between_two_samples_is_held_what_both_hold_alike():
    samples = np.array([0, 3, 5, 6])
    held = np.array([[0, 1], [1, 1], [1, -1], [0, -1]], dtype=np.int8)
    expected = [[0, 1], [0, 1], [0, 1], [1, 1], [1, 0], [1, -1], [0, -1]]
    np.testing.assert_array_equal(hold_between(7, samples, held), expected)
