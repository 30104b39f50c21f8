"""Frequency of a measured oscillation."""

import numpy as np
import pytest

from simbench.calibration.oscillation import oscillation_frequency
from simbench.errors import DynamicsError


def test_frequency_of_a_swing_that_dies_down():
    time = np.arange(0.0, 10.0, 1e-3)
    value = 3.0 + np.exp(-0.01 * time) * np.cos(7.3 * time + 0.4)
    assert oscillation_frequency(time, value) == pytest.approx(7.3, rel=1e-3)
    with pytest.raises(DynamicsError):
        oscillation_frequency(time, np.arctan(time - 5.0))
