"""A sweep of PUMA 560 from `ready` in closed form, for tests."""

import numpy as np

OUTWARD = np.array([1.0, -1.0, -1.0, 1.0, -1.0, 1.0])
"""Side with more room, from the robot's limits and posture: joint 4 at 0 has 1.92 and 2.97 rad, and so on."""


def minimum_jerk(time, duration):
    """Share of the way, speed and acceleration of it (Flash & Hogan 1985), at rest before and after."""
    s = np.clip(time / duration, 0.0, 1.0)
    share = 10 * s**3 - 15 * s**4 + 6 * s**5
    speed = (30 * s**2 - 60 * s**3 + 30 * s**4) / duration
    return share, speed, (60 * s - 180 * s**2 + 120 * s**3) / duration**2


def closed_form(time, start, amplitude=1.0, peak=1.0, pause=0.25, repetitions=1, settle=0.5):
    """Position, speed and acceleration of a sweep at times, (T, 6) each."""
    duration = 1.875 * amplitude / peak
    total = np.zeros((3, len(time)))
    begin = settle
    for _ in range(repetitions):
        for sign in (1.0, -1.0):
            total += sign * np.array(minimum_jerk(time - begin, duration))
            begin += duration + pause
    share, speed, acceleration = total[..., None] * amplitude * OUTWARD
    return start + share, speed, acceleration
