"""Measures of feet and jerk of motions in closed form."""

import numpy as np
import pytest

from simbench.kinematics.foot_contact import SOLE_THRESHOLDS
from simbench.kinematics.foot_measures import measure_feet, measure_jerk

RATE = 100.0
TIME = np.arange(401) / RATE
CORNERS = np.array([[0.1, 0.05, 0.0], [0.1, -0.05, 0.0], [-0.1, 0.05, 0.0], [-0.1, -0.05, 0.0]])


def foot(height, forward=0.0):
    """Corners (T, 4, 3) of a sole at a height, and moved forward."""
    corners = np.tile(CORNERS, (len(TIME), 1, 1))
    corners[..., 2] += np.broadcast_to(height, TIME.shape)[:, None]
    corners[..., 0] += np.broadcast_to(forward, TIME.shape)[:, None]
    return corners


def hop(start, end, height):
    """A half sine from one time to another, so steep that it leaves the floor within a sample or two."""
    inside = (start < TIME) & (end > TIME)
    return np.where(inside, height * np.sin(np.pi * (TIME - start) / (end - start)), 0.0)


def test_fractions_of_support_are_those_of_the_steps():
    """The left foot is up from 0.5 to 1.5 s, the right from 1 to 2 s and from 3 to 3.5 s: 0.5 s on none."""
    feet = {
        "left": foot(hop(0.5, 1.5, 0.3)),
        "right": foot(hop(1.0, 2.0, 0.3) + hop(3.0, 3.5, 0.2)),
    }
    found = measure_feet(TIME, feet, SOLE_THRESHOLDS, floor=0.0)
    # A foot counts as lifted beyond 1 cm, which takes it a few samples on both sides.
    assert found.flight == pytest.approx(0.5 / 4.0, abs=0.02)
    assert found.single == pytest.approx(1.5 / 4.0, abs=0.03)
    assert found.double == pytest.approx(2.0 / 4.0, abs=0.03)
    assert found.double + found.single + found.flight == pytest.approx(1.0)
    # In the middle between both highest points, where they are equally high.
    assert found.float_height.value == pytest.approx(0.3 * np.sin(0.75 * np.pi), abs=0.01)
    assert TIME[found.float_height.sample] == pytest.approx(1.25, abs=0.011)
    assert found.skate.value == 0.0
    assert found.penetration.value == 0.0


def test_sliding_and_depth_are_found_when_they_are_worst():
    slide = 0.05 * np.clip((TIME - 1.0) / 1.0, 0.0, 1.0)
    sink = -0.03 * np.exp(-(((TIME - 3.0) / 0.1) ** 2))
    found = measure_feet(TIME, {"left": foot(sink), "right": foot(0.0, slide)}, SOLE_THRESHOLDS, floor=0.0)
    assert found.skate.value == pytest.approx(0.05, abs=1e-12)
    assert TIME[found.skate.sample] == pytest.approx(2.0, abs=0.011)
    assert found.penetration.value == pytest.approx(0.03, abs=1e-12)
    assert TIME[found.penetration.sample] == pytest.approx(3.0)
    assert found.double == 1.0


def test_ankles_stand_at_their_own_height():
    """Without a given floor, a point 9 cm above it stands there."""
    feet = {"left": foot(0.09)[:, :1], "right": foot(0.09 + hop(1.0, 2.0, 0.2))[:, :1]}
    found = measure_feet(TIME, feet, SOLE_THRESHOLDS)
    assert found.flight == 0.0
    assert found.single == pytest.approx(0.25, abs=0.02)


def test_jerk_of_a_sine_and_of_a_minimum_jerk_movement():
    omega = np.pi
    sine = 0.2 * np.sin(omega * TIME)[:, None] * np.array([0.6, 0.0, 0.8])
    found = measure_jerk(TIME, sine)
    assert found.peak.value == pytest.approx(0.2 * omega**3, rel=0.02)
    tau = TIME / TIME[-1]
    smooth = (10 * tau**3 - 15 * tau**4 + 6 * tau**5)[:, None] * np.array([0.3, 0.4, 0.0])
    # 720 / 1.875² (Hogan and Sternad 2009), without three samples at both ends: the jerk there is 60 A / D³,
    # so that they make 2 × 3600 / 720 of their fraction of the duration.
    expected = 720.0 / 1.875**2 * (1.0 - 10.0 * 3.0 / 400.0)
    assert measure_jerk(TIME, smooth).dimensionless == pytest.approx(expected, rel=0.01)
    assert measure_jerk(3.0 * TIME, 5.0 * smooth).dimensionless == pytest.approx(expected, rel=0.01)
    # A stop in the middle, and the way back: more than one movement.
    there_and_back = np.concatenate([smooth[::2], smooth[-2::-2]])
    assert measure_jerk(TIME, there_and_back).dimensionless > 3.0 * 204.8


def test_a_jump_is_the_peak_and_noise_is_not():
    rng = np.random.default_rng(0)
    path = 0.2 * np.sin(np.pi * TIME)[:, None] * np.ones(3)
    path[250:] += 0.05
    noisy = path + 5e-4 * rng.standard_normal(path.shape)
    found = measure_jerk(TIME, noisy)
    assert abs(found.peak.sample - 250) < 10
    raw = np.abs(np.diff(5e-4 * rng.standard_normal(path.shape), 3, axis=0) * RATE**3).max()
    assert measure_jerk(TIME[:240], noisy[:240]).peak.value < 0.1 * raw


def test_a_point_at_rest_has_no_dimensionless_jerk_and_few_samples_have_none():
    rest = measure_jerk(TIME, 1e-9 * np.sin(TIME)[:, None] * np.ones(3))
    assert np.isnan(rest.dimensionless)
    assert rest.peak.value < 1e-6
    assert measure_jerk(TIME[:8], np.zeros((8, 3))) is None
