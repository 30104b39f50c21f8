import numpy as np
import pytest

from simbench.kinematics.derivatives import minimum_jerk
from simbench.motion.actors.human_model import draw_sway


def test_minimum_jerk_is_a_bell_with_the_known_peaks():
    time = np.linspace(0.0, 3.0, 3001)
    progress = minimum_jerk(time, 0.5, 2.0)
    speed = np.gradient(progress, time)
    acceleration = np.gradient(speed, time)
    assert progress[0] == 0.0
    assert progress[-1] == 1.0
    # Flash & Hogan: peak speed 1.875 and peak acceleration 5.7735 in units of distance and duration.
    assert speed.max() == pytest.approx(1.875 / 2.0, rel=1e-3)
    assert time[speed.argmax()] == pytest.approx(1.5, abs=2e-3)
    assert acceleration.max() == pytest.approx(5.7735 / 2.0**2, rel=1e-2)
    np.testing.assert_allclose(speed[time < 0.49], 0.0, atol=1e-12)


def test_sway_is_slow_of_the_given_size_and_repeatable():
    time = np.arange(0.0, 600.0, 0.05)
    signal = draw_sway(time, 0.003, np.random.default_rng(1))
    assert np.sqrt(np.mean(signal**2)) == pytest.approx(0.003, rel=0.05)
    power = np.abs(np.fft.rfft(signal * np.hanning(len(signal)))) ** 2
    assert power[np.fft.rfftfreq(len(time), 0.05) > 0.6].sum() < 1e-3 * power.sum()
    np.testing.assert_array_equal(signal, draw_sway(time, 0.003, np.random.default_rng(1)))
