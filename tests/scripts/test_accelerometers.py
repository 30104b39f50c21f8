"""Two accelerometers on a link that swings: its angle, and how a bias drifts."""

import numpy as np
from script_modules import loaded_script

with loaded_script("reproduce/ohtsuki/accelerometers.py") as script:
    integrate_twice, link_angle = script.integrate_twice, script.link_angle

RATE = 25_000.0
CLOCK = np.arange(0, 2, 1 / RATE)
ANGLE = 0.4 - 1.2 * np.cos(2.0 * CLOCK)
RADIAL = np.stack([np.cos(ANGLE), np.sin(ANGLE)], axis=1)


def acceleration(radius):
    across = np.stack([-np.sin(ANGLE), np.cos(ANGLE)], axis=1)
    speed, change = 2.4 * np.sin(2.0 * CLOCK)[:, None], 4.8 * np.cos(2.0 * CLOCK)[:, None]
    return radius * (change * across - speed**2 * RADIAL)


def test_angle_of_a_link_from_two_points():
    near, far = (integrate_twice(acceleration(r), r * RADIAL[0], RATE)[0] for r in (0.05, 0.25))
    np.testing.assert_allclose(far, 0.25 * RADIAL, atol=2e-4)
    np.testing.assert_allclose(link_angle(near, far), ANGLE, atol=1e-3)


def test_a_bias_grows_with_the_square_of_time():
    position, velocity = integrate_twice(np.full((len(CLOCK), 1), 0.01), np.zeros(1), RATE)
    np.testing.assert_allclose(velocity[-1], 0.02, rtol=1e-4)
    np.testing.assert_allclose(position[-1], 0.02, rtol=1e-3)
