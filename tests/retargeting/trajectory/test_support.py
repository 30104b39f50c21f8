"""The desired ZMP inside the middle parts of planned soles, which are rectangles along the axes."""

from types import SimpleNamespace

import numpy as np

from simbench.retargeting.trajectory.footholds import FootPlan
from simbench.retargeting.trajectory.support import support_zmp

TICK = 0.002
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
    zmp = support_zmp(ROBOT, wanted, feet(contact), TICK)
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
    np.testing.assert_allclose(support_zmp(ROBOT, wanted, feet(contact), TICK), wanted, atol=1e-12)


def test_in_flight_the_zmp_goes_straight_from_foot_to_foot():
    contact = np.zeros((COUNT, 2), bool)
    contact[:400, 0] = True
    contact[600:, 1] = True
    wanted = np.full((COUNT, 2), 1e3)
    zmp = support_zmp(ROBOT, wanted, feet(contact), TICK)
    ends = zmp[399], zmp[600]
    share = (np.arange(400, 600) - 399)[:, None] / 201
    np.testing.assert_allclose(zmp[400:600], ends[0] + share * (ends[1] - ends[0]), atol=1e-9)
    np.testing.assert_allclose(ends[1], PLACES[1] + MIDDLE + ROOM, atol=5e-3)
