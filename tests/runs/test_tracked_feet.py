"""Contacts, planned feet and the ZMP of a synthetic gait, whose places and times are known."""

from types import SimpleNamespace

import numpy as np
import pytest

from simbench.retargeting.reference.planned_steps import FootPlan
from simbench.runs.tracked_feet import SolePath, find_contacts, plan_feet, support_zmp

TICK = 0.005
TIME = TICK * np.arange(401)
LIFT, LAND, STRIDE, HEIGHT = 0.6, 1.2, 0.25, 0.04
CORNERS = np.array([[-0.1, -0.05, 0.0], [0.1, -0.05, 0.0], [0.1, 0.05, 0.0], [-0.1, 0.05, 0.0]])


def gait(slide=0.0, floating=0.0, tilt=None):
    """The left foot makes one step forward and turns by 0.3 rad; the right one stands, or slides."""
    phase = np.clip((TIME - LIFT) / (LAND - LIFT), 0.0, 1.0)
    share = phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)
    left = np.stack(
        [STRIDE * share, 0.1 + 0.0 * TIME, 0.5 * HEIGHT * (1 - np.cos(2 * np.pi * phase))], axis=1
    )
    right = np.stack([slide * TIME / TIME[-1], -0.1 + 0.0 * TIME, floating + 0.0 * TIME], axis=1)
    position = np.stack([left, right], axis=1)
    position[:, 0, 2] += floating
    yaw = np.stack([0.3 * share, 0.0 * TIME], axis=1)
    corners = []
    for foot in (0, 1):
        cosine, sine = np.cos(yaw[:, foot]), np.sin(yaw[:, foot])
        zero = 0.0 * TIME
        rotation = np.array([[cosine, -sine, zero], [sine, cosine, zero], [zero, zero, zero + 1.0]])
        corners.append(position[:, foot, None] + np.einsum("ijt,kj->tki", rotation, CORNERS))
    tilts = np.zeros((len(TIME), 2)) if tilt is None else tilt
    return SolePath(position, yaw, tilts, tuple(corners))


def test_contacts_end_when_the_sole_begins_to_rise():
    contact = find_contacts(TIME, gait())
    edges = TIME[np.flatnonzero(np.diff(contact[:, 0].astype(int)))]
    # The sole is 1 mm high after 5 % of the swing.
    assert len(edges) == 2
    assert LIFT - TICK <= edges[0] <= LIFT + 0.06
    assert LAND - 0.06 <= edges[1] <= LAND + TICK
    assert contact[:, 1].all()


def test_the_lower_foot_stands_although_it_floats():
    contact = find_contacts(TIME, gait(floating=0.02))
    assert contact[:, 1].all()
    assert not find_contacts(TIME, gait(floating=0.06)).any()


def planned(soles, contact, lift=0.01):
    return plan_feet(soles, contact, TICK, 40, 60, lift)


def true_contact():
    return np.stack([(TIME <= LIFT) | (TIME >= LAND), np.ones(len(TIME), bool)], axis=1)


def test_feet_stand_where_the_file_has_them_and_swing_along_its_path():
    soles = gait()
    feet = planned(soles, true_contact())
    assert feet.steps == 1
    assert len(feet.contact) == 40 + len(TIME) + 60
    before, after = 40 + round(LIFT / TICK), 40 + round(LAND / TICK)
    np.testing.assert_allclose(
        feet.position[: before + 1, 0], np.tile([0.0, 0.1, 0.0], (before + 1, 1)), atol=1e-9
    )
    np.testing.assert_allclose(feet.position[after:, 0, :2] - [STRIDE, 0.1], 0.0, atol=1e-9)
    np.testing.assert_allclose(feet.yaw[after:, 0], 0.3, atol=1e-9)
    # In the middle of the swing it is on the file's path; the file's is symmetric about it.
    middle = 40 + round(0.5 * (LIFT + LAND) / TICK)
    np.testing.assert_allclose(feet.position[middle, 0], [0.5 * STRIDE, 0.1, HEIGHT], atol=2e-3)
    np.testing.assert_array_equal(np.isnan(feet.in_swing), feet.contact)
    # No jump: a swing of 0.6 s over 0.25 m passes 0.8 m/s.
    assert np.abs(np.diff(feet.position, axis=0)).max() < 1.2 * TICK
    speed = np.linalg.norm(np.diff(feet.position[:, 0], axis=0), axis=1) / TICK
    assert speed[before] < 0.02
    assert speed[after - 1] < 0.02


def test_a_foot_that_slides_in_contact_is_held_in_the_middle():
    feet = planned(gait(slide=0.05), true_contact())
    np.testing.assert_allclose(
        feet.position[:, 1], np.tile([0.025, -0.1, 0.0], (len(feet.contact), 1)), atol=1e-9
    )


def test_a_foot_stands_where_its_sole_is_flat():
    tilt = np.zeros((len(TIME), 2))
    tilt[:200, 1] = 0.5
    feet = planned(gait(slide=0.1, tilt=tilt), true_contact())
    # The median of the second half of a uniform slide.
    np.testing.assert_allclose(feet.position[0, 1, 0], 0.075, atol=1e-3)


@pytest.mark.parametrize("lift", [0.02, 0.07])
def test_a_swing_is_as_high_as_asked_or_as_in_the_file(lift):
    feet = planned(gait(), true_contact(), lift)
    assert feet.position[:, 0, 2].max() == pytest.approx(max(lift, HEIGHT), rel=0.05)
    assert feet.position[:, :, 2].min() >= 0.0


def test_a_foot_in_the_air_at_the_end_is_put_down_below():
    soles, contact = gait(), true_contact()
    count = round(0.9 / TICK)
    feet = plan_feet(soles, contact[:count], TICK, 40, 100, 0.01)
    assert feet.contact[-1].all()
    np.testing.assert_allclose(feet.position[-1, 0], [*soles.position[count - 1, 0, :2], 0.0], atol=2e-3)
    assert feet.steps == 1


def test_errors_of_detection_are_no_steps():
    contact = true_contact()
    contact[20:25] = False
    assert planned(gait(), contact).steps == 1
    contact = true_contact()
    contact[round(0.9 / TICK) : round(0.9 / TICK) + 4, 0] = True
    assert planned(gait(), contact).steps == 1


def test_a_foot_in_the_air_at_the_first_sample_is_lifted_before():
    begin = round(0.9 / TICK)
    soles, contact = gait(), true_contact()[begin:]
    cut = SolePath(
        soles.position[begin:], soles.yaw[begin:], soles.tilt[begin:], tuple(c[begin:] for c in soles.corners)
    )
    before = 100
    feet = plan_feet(cut, contact, TICK, before, 60, 0.01)
    assert feet.contact[: before - 60].all()
    assert not feet.contact[before - 59 : before, 0].any()
    assert feet.contact[:, 1].all()
    # At the height of the file when it begins, raised in a fifth of the swing by minimum jerk: 0.63 m/s.
    assert feet.position[before, 0, 2] == pytest.approx(soles.position[begin, 0, 2], abs=0.002)
    rising = np.gradient(feet.position[before - 60 : before, 0, 2], TICK)
    assert np.abs(rising).max() < 0.65
    nothing = plan_feet(cut, np.zeros_like(contact), TICK, before, 60, 0.01)
    assert nothing.contact[:before].all()


FINE_TICK = 0.002
COUNT = 1000
SOLE = np.array([[-0.08, -0.04, 0.0], [0.12, -0.04, 0.0], [0.12, 0.04, 0.0], [-0.08, 0.04, 0.0]])
ROBOT = SimpleNamespace(soles={"left_foot": SOLE, "right_foot": SOLE})
# Middle of a sole in its foot frame, and half of a quarter of its sides.
MIDDLE, ROOM = np.array([0.02, 0.0]), np.array([0.025, 0.01])
PLACES = np.array([[0.0, 0.1], [0.3, -0.1]])


def feet(contact):
    position = np.zeros((COUNT, 2, 3))
    position[:, :, :2] = PLACES
    in_swing = np.where(contact, np.nan, 0.5)
    return FootPlan(position, np.zeros((COUNT, 2)), contact, in_swing, 1)


def test_on_one_foot_the_zmp_is_in_the_middle_quarter_of_its_sole():
    contact = np.ones((COUNT, 2), bool)
    contact[300:700, 0] = False
    wanted = np.tile([-0.5, 0.3], (COUNT, 1))
    zmp = support_zmp(ROBOT, wanted, feet(contact), FINE_TICK)
    off = np.abs(zmp[300:700] - PLACES[1] - MIDDLE)
    assert (off <= ROOM + 1e-9).all()
    # The nearest corner of the left foot's rectangle while both carry.
    np.testing.assert_allclose(zmp[0], PLACES[0] + MIDDLE + [-ROOM[0], ROOM[1]], atol=1e-9)
    # It moves there before the foot lifts, and does not jump.
    assert np.abs(np.diff(zmp, axis=0)).max() < 0.02
    assert np.abs(zmp[299] - zmp[300]).max() < 1e-3


def test_what_the_soles_can_carry_is_kept():
    contact = np.ones((COUNT, 2), bool)
    wanted = np.tile(PLACES.mean(axis=0) + MIDDLE, (COUNT, 1))
    np.testing.assert_allclose(support_zmp(ROBOT, wanted, feet(contact), FINE_TICK), wanted, atol=1e-12)


def test_in_flight_the_zmp_goes_straight_from_foot_to_foot():
    contact = np.zeros((COUNT, 2), bool)
    contact[:400, 0] = True
    contact[600:, 1] = True
    wanted = np.full((COUNT, 2), 1e3)
    zmp = support_zmp(ROBOT, wanted, feet(contact), FINE_TICK)
    ends = zmp[399], zmp[600]
    share = (np.arange(400, 600) - 399)[:, None] / 201
    np.testing.assert_allclose(zmp[400:600], ends[0] + share * (ends[1] - ends[0]), atol=1e-9)
    np.testing.assert_allclose(ends[1], PLACES[1] + MIDDLE + ROOM, atol=5e-3)
