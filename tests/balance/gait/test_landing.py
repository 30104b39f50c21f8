"""Feet that land early, late, and off their plan."""

import numpy as np
import pytest

from simbench.balance.gait.footsteps import Forward, plan_footsteps
from simbench.balance.gait.landing import Landing
from simbench.balance.gait.stepping import StepTiming, plan_gait, sole_centres
from simbench.balance.standing.standing import stand

DOWN, UP = np.array([300.0, 300.0]), np.array([300.0, 0.0])


@pytest.fixture(scope="module")
def gait(romeo):
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    steps = plan_footsteps(romeo, stance, [Forward(0.2, 0.1)])
    return plan_gait(stance.soles, steps, StepTiming(0.6, 0.3, 0.03, 1.1), 0.005, 3.8, sole_centres(romeo))


def swings(gait):
    """Foot, first and last tick of each swing."""
    found = []
    for foot in (0, 1):
        air = ~gait.contact[:, foot]
        starts = np.flatnonzero(air[1:] & ~air[:-1]) + 1
        ends = np.flatnonzero(~air[1:] & air[:-1])
        found += [(int(a), int(b), foot) for a, b in zip(starts, ends, strict=True)]
    return sorted(found)


def load_of(gait, tick):
    return np.where(gait.contact[tick], 300.0, 0.0)


def follow(landing, gait, first, last, load=None):
    for tick in range(first, last):
        landing.advance(tick, load_of(gait, tick) if load is None else load)


def test_feet_follow_the_gait_when_the_ground_is_where_it_is_planned(gait):
    landing = Landing(gait, 50.0)
    for tick in range(1, len(gait.zmp)):
        landing.advance(tick, load_of(gait, tick))
        # Where the ground is felt at the end of a swing, its last tick is the place.
        np.testing.assert_allclose(landing.position, gait.foot_position[tick], atol=1e-4)
    assert landing.early == landing.late == 0


def test_a_foot_that_touches_early_stays_and_its_error_fades_in_its_next_swing(gait):
    landing, all_swings = Landing(gait, 50.0), swings(gait)
    start, end, foot = all_swings[0]
    stop = start + int(0.8 * (end - start))
    follow(landing, gait, 1, stop)
    follow(landing, gait, stop, end + 20, DOWN)
    assert landing.early == 1
    np.testing.assert_allclose(landing.position[foot], gait.foot_position[stop - 1, foot], atol=1e-12)
    error = landing.position[foot] - gait.foot_position[end + 1, foot]
    assert np.abs(error).max() > 0.005
    again, finish, _ = next(swing for swing in all_swings[1:] if swing[2] == foot)
    follow(landing, gait, end + 20, again)
    for tick in range(again, finish + 1):
        landing.advance(tick, load_of(gait, tick))
        fade = 0.5 + 0.5 * np.cos(np.pi * gait.in_swing[tick, foot])
        expected = gait.foot_position[tick, foot] + fade * error
        np.testing.assert_allclose(landing.position[foot], expected, atol=1e-12)


def test_a_touch_in_the_first_half_is_the_lift_off(gait):
    landing = Landing(gait, 50.0)
    start, end, foot = swings(gait)[0]
    follow(landing, gait, 1, start)
    follow(landing, gait, start, start + int(0.4 * (end - start)), DOWN)
    assert landing.early == 0
    assert landing.position[foot, 2] > 0.02


def test_a_foot_that_finds_no_ground_goes_on_down_so_far(gait):
    landing = Landing(gait, 50.0)
    _, end, foot = swings(gait)[0]
    follow(landing, gait, 1, end + 1)
    air = UP if foot == 1 else UP[::-1]
    follow(landing, gait, end + 1, end + 11, air)
    # 5 cm/s for ten ticks of 5 ms.
    assert landing.position[foot, 2] == pytest.approx(-0.0025, abs=2e-4)
    follow(landing, gait, end + 11, end + 150, air)
    assert -0.0201 < landing.position[foot, 2] < -0.0195
