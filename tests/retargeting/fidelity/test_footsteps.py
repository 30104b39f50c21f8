"""Landings of feet against the wanted ones: known shifts give known errors."""

import numpy as np
import pytest

from simbench.retargeting.fidelity.footsteps import (
    FollowedSteps,
    Landings,
    compare_landings,
    find_landings,
    step_metrics,
)

STEPS = Landings(
    np.array([0, 1, 0, 1]),
    np.array([1.0, 1.6, 2.2, 2.8]),
    np.array([[0.3, 0.1], [0.6, -0.1], [0.9, 0.1], [0.9, -0.1]]),
    np.array([0.0, 0.1, 0.2, 0.2]),
)


def walk(steps, rate=1000.0, end=4.0, bounce=False):
    """Log of two feet that stand but for 0.3 s before each landing; they fly to the new place meanwhile."""
    time = np.arange(0.0, end, 1.0 / rate)
    carrying = np.ones((len(time), 2), dtype=bool)
    feet = np.zeros((len(time), 2, 7))
    feet[..., 6] = 1.0
    for foot, when, place, yaw in zip(*steps, strict=True):
        carrying[(time > when - 0.3) & (time < when - 1e-9), foot] = False
        after = time >= when - 1e-9
        feet[after, foot, :2] = place
        feet[after, foot, 5], feet[after, foot, 6] = np.sin(yaw / 2), np.cos(yaw / 2)
        if bounce:
            carrying[(time >= when + 0.005) & (time < when + 0.02), foot] = False
            carrying[(time >= when - 0.15) & (time < when - 0.14), foot] = True
    return time, carrying, feet


@pytest.mark.parametrize("bounce", [False, True])
def test_landings_are_found_where_and_when_they_are(bounce):
    found = find_landings(*walk(STEPS, bounce=bounce))
    assert found.side.tolist() == STEPS.side.tolist()
    np.testing.assert_allclose(found.time, STEPS.time, atol=1e-3)
    np.testing.assert_allclose(found.position, STEPS.position)
    np.testing.assert_allclose(found.yaw, STEPS.yaw, atol=1e-12)


def test_feet_that_only_stand_do_not_land():
    time, carrying, feet = walk(Landings(np.empty(0, int), np.empty(0), np.empty((0, 2)), np.empty(0)))
    found = find_landings(time, carrying, feet)
    assert len(found.time) == 0
    errors = compare_landings(found, STEPS)
    assert (errors.wanted, errors.landed, errors.matched) == (4, 0, 0)
    assert errors.position_rms is errors.time_rms is errors.yaw_rms is None


def test_shifted_landings_have_that_error():
    moved = Landings(
        STEPS.side,
        STEPS.time + np.array([0.1, -0.1, 0.1, -0.1]),
        STEPS.position + np.array([0.03, 0.04]),
        STEPS.yaw + 2 * np.pi - 0.2,
    )
    errors = compare_landings(moved, STEPS)
    assert errors[:3] == (4, 4, 4)
    assert errors.position_rms == pytest.approx(0.05)
    assert errors.time_rms == pytest.approx(0.1)
    assert errors.yaw_rms == pytest.approx(0.2)


def test_a_missed_step_and_one_too_many_are_counted_and_do_not_shift_the_others():
    late = STEPS.time[:3] + 0.02
    fewer = Landings(STEPS.side[:3], late, STEPS.position[:3], STEPS.yaw[:3])
    more = Landings(
        *(
            np.append(a, b[None], axis=0)
            for a, b in zip(
                fewer, (np.array(0), np.array(3.9), np.array([5.0, 5.0]), np.array(1.0)), strict=True
            )
        )
    )
    errors = compare_landings(more, STEPS)
    assert errors[:3] == (4, 4, 3)
    assert errors.time_rms == pytest.approx(0.02)
    assert errors.position_rms == pytest.approx(0.0, abs=1e-12)
    metrics = step_metrics(errors)
    assert metrics["fidelity.steps_missed_count"] == 1.0
    assert metrics["fidelity.step_time_rms_s"] == pytest.approx(0.02)


def test_the_plan_is_compared_with_the_person_like_a_run():
    followed = FollowedSteps(*STEPS, STEPS.time + 0.05, STEPS.position, STEPS.yaw)
    errors = compare_landings(followed.as_planned(), followed.as_person())
    assert errors.time_rms == pytest.approx(0.05)
    assert errors.position_rms == 0.0
