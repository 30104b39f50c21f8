"""Feet that land early, late, and off their plan."""

import math

import numpy as np
import pytest

from simbench.balance.gait import Command, plan_footsteps
from simbench.balance.leg_ik import stand
from simbench.balance.step_planning import Landing, plan_gait, sole_centres

DOWN, UP = np.array([300.0, 300.0]), np.array([300.0, 0.0])


TIMING = dict(single_support_s=0.6, double_support_s=0.3, lift_m=0.03, settle_s=1.1)


@pytest.fixture(scope="module")
def gait(romeo):
    stance = stand(romeo, (0.0, 0.0), 0.0, "standing")
    steps = plan_footsteps(romeo, stance, [Command("forward", 0.2, 0.1)])
    return plan_gait(stance.soles, steps, 0.005, 3.8, sole_centres(romeo), **TIMING)


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
    np.testing.assert_allclose(landing.position[foot, :2], gait.foot_position[stop - 1, foot, :2], atol=1e-12)
    # Lowered at 0.12 m/s it stops within a time constant of 20 ms, instead of at once.
    sunk = gait.foot_position[stop - 1, foot, 2] - landing.position[foot, 2]
    assert 0.0 < sunk < 0.02 * -gait.foot_velocity[stop, foot, 2]
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
    # 1 m/s² for ten ticks of 5 ms, each with the speed at its end.
    assert landing.position[foot, 2] == pytest.approx(-(0.005**2) * 55, abs=1e-4)
    before = landing.position[foot, 2]
    follow(landing, gait, end + 11, end + 31, air)
    # 5 cm/s at most.
    assert before - landing.position[foot, 2] == pytest.approx(20 * 0.005 * 0.05, rel=1e-6)
    follow(landing, gait, end + 31, end + 150, air)
    assert -0.0201 < landing.position[foot, 2] < -0.0195


def test_a_foot_that_bounces_off_is_lowered_until_the_ground_carries_it(gait):
    landing = Landing(gait, 50.0)
    start, end, foot = swings(gait)[0]
    air = UP if foot == 1 else UP[::-1]
    stop = start + int(0.8 * (end - start))
    follow(landing, gait, 1, stop)
    follow(landing, gait, stop, stop + 20, DOWN)
    touched = landing.position[foot].copy()
    assert touched[2] > 0.005
    follow(landing, gait, stop + 20, end + 20, air)
    assert landing.position[foot, 2] < touched[2] - 1e-4
    np.testing.assert_array_equal(landing.position[foot, :2], touched[:2])
    follow(landing, gait, end + 20, end + 30, DOWN)
    lowered = landing.position[foot].copy()
    follow(landing, gait, end + 30, end + 40, DOWN)
    np.testing.assert_array_equal(landing.position[foot], lowered)


def test_the_target_of_a_landed_foot_follows_where_it_stands_until_it_swings_again(gait):
    landing, all_swings = Landing(gait, 50.0), swings(gait)
    _, end, foot = all_swings[0]
    follow(landing, gait, 1, end + 2)
    planned, other = landing.position.copy(), 1 - foot
    stands, turned = planned[:, :2] + [0.004, -0.003], landing.yaw + 0.01
    # Not while the floor carries one foot only.
    assert landing.settling_foot(end + 2, UP) is None
    np.testing.assert_array_equal(landing.position, planned)
    for tick in range(end + 2, end + 60):
        assert landing.settling_foot(tick, DOWN) == foot
        landing.settle(foot, stands[foot], turned[foot])
    # The 50 ms of the filter have passed almost five times after half the 100 ms of its ramp.
    assert np.abs(landing.position[foot, :2] - stands[foot]).max() < math.exp(-4.8) * 0.004
    assert landing.yaw[foot] == pytest.approx(turned[foot], abs=1e-4)
    assert landing.position[foot, 2] == pytest.approx(0.0, abs=1e-6)
    np.testing.assert_array_equal(landing.position[other], planned[other])
    again, finish, _ = next(swing for swing in all_swings[1:] if swing[2] == foot)
    for tick in range(again, finish + 1):
        landing.advance(tick, load_of(gait, tick))
    np.testing.assert_allclose(landing.position[foot], gait.foot_position[finish, foot], atol=1e-4)
