"""The Savitzky-Golay filter against SciPy's.

Derivatives of known curves, and of noisy ones.
"""

import numpy as np
import pytest
from scipy.signal import savgol_filter as reference

from simbench.kinematics.derivatives import differentiate, savgol_filter


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


@pytest.mark.parametrize("rate", [30.0, 60.0, 200.0])
@pytest.mark.parametrize("frequency", [0.5, 2.0])
def test_people_are_differentiated_within_two_percent(rate, frequency):
    time = np.arange(0.0, 4.0, 1.0 / rate)
    omega = 2.0 * np.pi * frequency
    found = differentiate(time, 0.3 * np.sin(omega * time)[:, None])
    inner = slice(3, -3)
    speed, second = 0.3 * omega * np.cos(omega * time), -0.3 * omega**2 * np.sin(omega * time)
    assert np.abs(found.velocity[inner, 0] - speed[inner]).max() < 0.02 * 0.3 * omega
    assert np.abs(found.acceleration[inner, 0] - second[inner]).max() < 0.02 * 0.3 * omega**2


def test_the_window_grows_with_noise_and_its_noise_is_told():
    rng = np.random.default_rng(2)
    time = np.arange(0.0, 20.0, 0.005)
    curve = np.sin(2.0 * time)[:, None]
    clean = differentiate(time, curve)
    noisy = differentiate(time, curve + 3e-4 * rng.standard_normal(curve.shape))
    assert clean.window < noisy.window <= 61
    spread = np.std(noisy.acceleration[30:-30] - clean.acceleration[30:-30])
    assert noisy.noise[0] == pytest.approx(spread, rel=0.15)
    assert clean.noise[0] < 0.01


@pytest.mark.parametrize("interval", [0.02, 0.007, 0.001])
def test_the_gain_of_noise_is_that_of_the_filter(interval):
    """The same samples at another rate have another window, and the same noise of the samples."""
    from scipy.signal import savgol_coeffs

    samples = 1e-3 * np.random.default_rng(4).standard_normal((400, 1))
    found = {each: differentiate(each * np.arange(400.0), samples) for each in (interval, 0.05)}
    gains = {
        each: np.linalg.norm(savgol_coeffs(result.window, 4, deriv=2, delta=each))
        for each, result in found.items()
    }
    assert found[interval].window > found[0.05].window
    ratio = found[interval].noise[0] / found[0.05].noise[0]
    assert ratio == pytest.approx(gains[interval] / gains[0.05], rel=1e-9)


def test_unequal_intervals_are_differentiated_too():
    rng = np.random.default_rng(3)
    time = np.cumsum(0.02 * rng.uniform(0.8, 1.2, 200))
    found = differentiate(time, np.sin(2.0 * time)[:, None])
    inner = slice(5, -5)
    assert found.velocity[inner, 0] == pytest.approx(2.0 * np.cos(2.0 * time)[inner], abs=0.01)
    assert found.acceleration[inner, 0] == pytest.approx(-4.0 * np.sin(2.0 * time)[inner], abs=0.1)
