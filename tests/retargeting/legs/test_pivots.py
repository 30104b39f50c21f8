"""Feet that turn on the floor take steps."""

from itertools import pairwise

import numpy as np
import pytest
from walker import walk

from simbench.retargeting.legs.body import measure_body
from simbench.retargeting.legs.contacts import find_recorded_steps
from simbench.retargeting.legs.pivots import PIVOT_SWING, FootTracks, find_pivots

TIME = np.arange(301) / 100.0


def standing(yaw, flags=None):
    """Feet that stay in place, the left one with a direction."""
    position = np.zeros((len(TIME), 2, 2)) + np.array([[0.0, 0.08], [0.0, -0.08]])
    flags = np.ones((len(TIME), 2), bool) if flags is None else flags
    return FootTracks(TIME, position, np.column_stack([yaw, np.zeros_like(TIME)]), flags)


def turn(angle, when=1.5):
    """A turn within 0.2 s."""
    return angle * np.clip((TIME - when) / 0.2 + 0.5, 0.0, 1.0)


def test_a_foot_that_turns_while_both_stand_takes_one_step_then():
    (pivot,) = find_pivots(standing(turn(1.0)))
    assert pivot.foot == 0
    assert 0.5 * (pivot.lift + pivot.landing) == pytest.approx(1.5, abs=0.06)
    assert pivot.landing - pivot.lift == pytest.approx(PIVOT_SWING)


def test_a_small_turn_is_no_step():
    assert not find_pivots(standing(turn(0.3)))


def test_a_foot_that_slides_takes_a_step():
    feet = standing(np.zeros_like(TIME))
    feet.position[:, 1, 0] += turn(0.25)
    (pivot,) = find_pivots(feet)
    assert pivot.foot == 1


def test_a_turn_on_one_foot_is_taken_while_both_stand():
    flags = np.ones((len(TIME), 2), bool)
    flags[(TIME > 1.2) & (TIME < 1.9), 1] = False
    pivots = find_pivots(standing(turn(1.0), flags))
    assert pivots
    assert all(pivot.landing <= 1.2 or pivot.lift >= 1.9 for pivot in pivots)


def test_there_is_no_step_without_time_on_both_feet():
    flags = np.ones((len(TIME), 2), bool)
    flags[(TIME > 0.2) & (TIME < 2.8), 1] = False
    assert not find_pivots(standing(turn(1.0), flags))


def test_steps_of_both_feet_do_not_coincide():
    feet = standing(turn(1.0))
    feet.yaw[:, 1] = turn(0.9)
    pivots = find_pivots(feet)
    assert {pivot.foot for pivot in pivots} == {0, 1}
    assert all(after.lift - before.landing >= 0.1 - 1e-9 for before, after in pairwise(pivots))


def test_a_turn_on_the_floor_is_among_the_persons_steps():
    motion = walk(steps=0, rest=1.5)
    joints = dict(motion.joints)
    angle = 1.0 * np.clip((motion.time - 1.5) / 0.2, 0.0, 1.0)
    for part, along in (("heel", -0.05), ("toe", 0.13)):
        moved = joints["left_ankle"].copy()
        moved += along * np.column_stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)])
        moved[:, 2] = 0.0
        joints[f"left_{part}"] = moved
    motion.joints.update(joints)
    steps = find_recorded_steps(motion, measure_body(motion))
    assert (steps.landings, steps.turns) == (1, 1)
    landed = next(each for each in steps.contacts if each.turned)
    assert landed.yaw == pytest.approx(1.0, abs=0.02)
    assert any("steps of their own" in note for note in steps.notes)


def test_a_stay_of_one_sample_takes_no_step():
    flags = np.ones((len(TIME), 2), bool)
    flags[1:100, 0] = False
    assert not find_pivots(standing(np.zeros_like(TIME), flags))
