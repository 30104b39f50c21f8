"""The Savitzky-Golay filter against SciPy's."""

import numpy as np
import pytest
from scipy.signal import savgol_filter as reference

from simbench.kinematics.savgol import savgol_filter


@pytest.mark.parametrize(
    ("shape", "window", "order", "deriv", "delta"),
    [((200,), 31, 5, 0, 1.0), ((31, 4), 31, 5, 0, 1.0), ((90, 3, 3), 9, 3, 0, 1.0), ((60, 2), 7, 4, 1, 0.01),
     ((60, 2), 9, 5, 2, 0.01), ((40, 30), 3, 1, 0, 1.0)],
)  # fmt: skip
def test_the_result_is_scipys_bit_for_bit(shape, window, order, deriv, delta):
    values = np.random.default_rng(5).normal(size=shape).cumsum(axis=0)
    expected = reference(values, window, order, deriv=deriv, delta=delta, axis=0)
    assert np.array_equal(savgol_filter(values, window, order, deriv, delta), expected)


@pytest.mark.parametrize(("window", "order"), [(11, 3), (5, 5)])
def test_a_window_that_does_not_fit_is_refused(window, order):
    with pytest.raises(ValueError, match="must exceed"):
        savgol_filter(np.zeros(10), window, order)
