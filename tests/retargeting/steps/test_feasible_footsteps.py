"""Scaling of a person's footsteps, and the nearest steps that legs can take."""

import numpy as np
import pytest
from walker import walk

from simbench.balance.leg_ik import stand
from simbench.retargeting.steps.feasible_footsteps import (
    LONGEST_SWING,
    FootstepPlan,
    LegRange,
    TimedStep,
    choose_directions,
    make_feasible,
    scale_footsteps,
)
from simbench.retargeting.steps.recorded_person import (
    SHORTEST_DOUBLE_SUPPORT,
    SHORTEST_SWING,
    FootContact,
    observe_person,
)
from simbench.retargeting.steps.step_candidates import plan_zmp, swing_feet
from simbench.robot.robot import load_robot

# Times and headings of a person who does not turn.
AHEAD = np.array([0.0, 5.0]), np.zeros(2)


@pytest.fixture(scope="module")
def mahru():
    return load_robot("mahru")


@pytest.fixture(scope="module")
def legs(mahru):
    return LegRange(mahru, stand(mahru, (0.0, 0.0), 0.0, "standing", -0.03))


def scaled(legs, mahru, scale=0.5, heading=0.0, **steps):
    """Scale the steps of a synthetic walk."""
    motion, body, contacts, *_ = observe_person(walk(**steps))
    place = np.array([1.0, 2.0])
    return scale_footsteps(contacts, motion.time, body.heading, scale, heading, place, legs.width)


def steps_of(*rows):
    """Make steps of (foot, lift, landing, x, y)."""
    return tuple(
        TimedStep(foot, lift, landing, np.array([x, y]), 0.0, True) for foot, lift, landing, x, y in rows
    )


def test_distances_are_scaled_and_feet_stand_beside_each_other(mahru, legs):
    plan = scaled(legs, mahru)
    assert [step.foot for step in plan.steps] == [0, 1, 0, 1]
    places = np.array([step.position for step in plan.steps])
    np.testing.assert_allclose(places[:, 0], 1.0 + 0.5 * np.array([0.6, 1.2, 1.8, 1.8]), atol=0.01)
    # The person's 0.16 m become 0.08 m, and the robot stands 0.18 m apart.
    assert plan.widened == pytest.approx(0.10, abs=0.005)
    np.testing.assert_allclose(places[:, 1], 2.0 + 0.09 * np.array([1.0, -1.0, 1.0, -1.0]), atol=0.005)
    np.testing.assert_allclose(plan.start[:, 1], [2.09, 1.91], atol=0.005)


def test_the_scenario_turns_and_moves_them(mahru, legs):
    ahead, left = scaled(legs, mahru), scaled(legs, mahru, heading=np.pi / 2.0)
    moved = np.array([step.position - [1.0, 2.0] for step in ahead.steps])
    turned = np.array([step.position - [1.0, 2.0] for step in left.steps])
    np.testing.assert_allclose(turned, np.column_stack([-moved[:, 1], moved[:, 0]]), atol=1e-9)
    np.testing.assert_allclose([step.yaw for step in left.steps], np.pi / 2.0, atol=0.02)


def test_a_foot_in_the_air_at_the_ends_begins_and_ends_beside_the_other(mahru, legs):
    contacts = (
        FootContact(0, -np.inf, np.inf, np.array([0.0, 0.09]), 0.0),
        FootContact(1, 0.3, 1.0, np.array([0.3, -0.09]), 0.0),
    )
    time, heading = np.linspace(0.0, 1.5, 151), np.zeros(151)
    plan = scale_footsteps(contacts, time, heading, 1.0, 0.0, np.zeros(2), 0.18)
    first, last = plan.steps
    assert first.recorded
    assert not last.recorded
    assert first.lift < 0.0 < first.landing
    assert last.landing >= 1.5
    assert plan.start[1, 0] == pytest.approx(plan.start[0, 0])
    assert last.position[0] == pytest.approx(plan.start[0, 0])


def test_feasible_steps_of_a_walk_are_the_same(mahru, legs):
    plan = scaled(legs, mahru)
    found, changes = make_feasible(mahru, plan, legs, [1.0] * 5, *AHEAD)
    assert not changes
    for before, after in zip(plan.steps, found.steps, strict=True):
        np.testing.assert_allclose(after.position, before.position, atol=1e-9)
        assert (after.lift, after.landing) == pytest.approx((before.lift, before.landing))


def test_flight_and_short_swings_become_the_nearest_times(mahru, legs):
    start = np.array([[0.0, 0.09, 0.0], [0.0, -0.09, 0.0]])
    # The right foot lifts 0.1 s before the left one lands.
    steps = steps_of((0, 0.2, 0.7, 0.0, 0.09), (1, 0.6, 1.1, 0.0, -0.09), (0, 1.3, 1.4, 0.0, 0.09))
    found, changes = make_feasible(mahru, FootstepPlan(start, steps, 1.0, 0.0), legs, [1.0] * 4, *AHEAD)
    times = np.array([[step.lift, step.landing] for step in found.steps])
    # Both move by half of the flight and half of the time on both feet.
    assert times[0, 1] == pytest.approx(0.65 - 0.5 * SHORTEST_DOUBLE_SUPPORT)
    assert times[1, 0] == pytest.approx(0.65 + 0.5 * SHORTEST_DOUBLE_SUPPORT)
    assert times[2] == pytest.approx([1.35 - 0.5 * SHORTEST_SWING, 1.35 + 0.5 * SHORTEST_SWING])
    assert any("off the floor for 0.10 s" in reason for _, reason in changes)


def test_a_long_stand_on_one_foot_is_shortened_and_said(mahru, legs):
    start = np.array([[0.0, 0.09, 0.0], [0.0, -0.09, 0.0]])
    found, changes = make_feasible(
        mahru, FootstepPlan(start, steps_of((0, 1.0, 5.0, 0.0, 0.09)), 1.0, 0.0), legs, [1.0, 1.0], *AHEAD
    )
    (step,) = found.steps
    assert step.landing - step.lift == pytest.approx(LONGEST_SWING)
    assert "alone" in changes[0][1]


def test_steps_out_of_reach_and_across_the_other_foot_are_moved(mahru, legs):
    start = np.array([[0.0, 0.09, 0.0], [0.0, -0.09, 0.0]])
    far, _ = make_feasible(
        mahru, FootstepPlan(start, steps_of((0, 0.5, 1.0, 2.0, 0.09)), 1.0, 0.0), legs, [1.0, 1.0], *AHEAD
    )
    assert 0.2 < far.steps[0].position[0] <= legs.reach
    across, changes = make_feasible(
        mahru, FootstepPlan(start, steps_of((0, 0.5, 1.0, 0.05, -0.1)), 1.0, 0.0), legs, [1.0, 1.0], *AHEAD
    )
    (step,) = across.steps
    # Soles are 0.14 m wide.
    assert step.position[1] > -0.09 + 0.14
    assert changes
    assert "sole" in changes[0][1]


def test_swings_join_the_places_and_clear_the_floor(mahru, legs):
    plan = scaled(legs, mahru)
    clock = np.linspace(-0.5, 4.0, 4501)
    feet = swing_feet(plan, clock, 0.03)
    assert feet.steps == 4
    np.testing.assert_allclose(feet.position[0, :, :2], plan.start[:, :2])
    np.testing.assert_allclose(feet.position[-1, 0, :2], plan.steps[2].position, atol=1e-9)
    assert feet.position[:, :, 2].max() == pytest.approx(0.03, abs=1e-4)
    assert (feet.position[feet.contact, 2] == 0.0).all()
    # A foot at rest does not jump into motion: its speed is continuous.
    speed = np.abs(np.diff(feet.position[:, :, 0], axis=0)).max(axis=1) * 1000.0
    assert np.abs(np.diff(speed)).max() < 0.05


def test_feet_that_stand_too_near_at_the_start_are_moved_apart_and_keep_their_directions(mahru, legs):
    start = np.array([[0.0, 0.09, 0.4], [0.0, -0.05, -0.2]])
    feasible, _ = make_feasible(mahru, FootstepPlan(start, (), 0.5, 0.0), legs, [1.0], *AHEAD)
    placed = feasible.start
    np.testing.assert_allclose(placed[:, 2], start[:, 2], atol=1e-9)
    np.testing.assert_allclose(placed[0], start[0], atol=1e-9)
    assert placed[1, 1] < -0.09


def test_a_foot_that_lands_and_lifts_again_carries_a_part_of_the_weight(mahru):
    start = np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]])
    steps = steps_of((1, 0.5, 0.9, 0.0, -0.1), (1, 1.4, 1.8, 0.0, -0.1))
    clock = np.arange(0.0, 2.5, 0.005)
    feet = swing_feet(FootstepPlan(start, steps, 0.5, 0.0), clock, 0.03)
    zmp = plan_zmp(mahru, feet, clock, np.ones_like(clock))
    between = (clock > 0.9) & (clock < 1.4)
    left = zmp[(clock > 0.6) & (clock < 0.8), 1].mean()
    assert left - zmp[between, 1].min() > 0.2 * 0.2
    assert np.abs(np.diff(zmp[:, 1])).max() < 0.2 * 0.1


def test_feet_are_put_down_so_that_the_root_can_turn_there_and_back(mahru, legs):
    start = np.array([[0.0, 0.09, 0.0], [0.0, -0.09, 0.0]])
    # The feet of this person turn by more than hips can, and the pelvis by 1.2 rad.
    steps = steps_of((0, 0.5, 1.0, 0.0, 0.2), (1, 1.2, 1.7, 0.2, 0.0), (1, 3.0, 3.5, 0.0, -0.1))
    steps = tuple(step._replace(yaw=yaw) for step, yaw in zip(steps, (1.2, 2.2, 0.3), strict=True))
    time = np.linspace(0.0, 5.0, 151)
    heading = np.interp(time, [0.4, 1.8, 3.0, 4.0], [0.0, 1.2, 1.2, 0.3])
    plan = FootstepPlan(start, steps, 1.0, 0.0)
    yaws = choose_directions(plan, steps, legs, time, heading)
    left, right = np.array([yaws[0], yaws[2], yaws[2], yaws[2]]), np.array([yaws[1], yaws[1], *yaws[3:]])
    inward = right - left
    assert (inward <= 0.3 * legs.inward + 1e-6).all()
    assert (inward >= -0.8 * legs.outward - 1e-6).all()
    # Both feet that stand from 1.7 to 3.0 s let the root look where the person does.
    half = 0.425 * np.array([legs.inward, legs.outward])
    assert max(left[2] - half[1], right[2] - half[0]) <= 1.2 + 1e-6
    assert min(left[2] + half[0], right[2] + half[1]) >= 1.2 - 1e-6
