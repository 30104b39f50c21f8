"""What is sensed, laid out over feet that are elsewhere than the joints' root says."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.controller.sensing import Sensing
from simbench.balance.gait.gait import standing
from simbench.balance.gait.landing import Landing
from simbench.balance.standing.standing import stand

TICK = 0.002
AWAY = pin.SE3(pin.utils.rotate("z", 0.7), np.array([3.0, -2.0, 0.0]))


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, (0.0, 0.0), 0.0, "standing")


@pytest.fixture
def landing(stance):
    return Landing(standing(stance.soles, np.zeros(2), np.zeros(2), TICK, 3), 10.0)


def feet(robot):
    return [robot.model.getFrameId(robot.frames[f"{side}_foot"]) for side in ("left", "right")]


def test_cog_and_zmp_do_not_depend_on_where_the_robot_stands(romeo, stance, landing):
    """Moved and tilted by 0.1 rad as a whole: seen from a flat sole, the COG is where it was."""
    model, q = romeo.model, np.concatenate([stance.base, stance.joints])
    tilt = AWAY * pin.SE3(pin.utils.rotate("y", 0.1), np.zeros(3))
    moved = q.copy()
    moved[:7] = pin.SE3ToXYZQUAT(tilt * pin.XYZQUATToSE3(stance.base))
    sensing = Sensing(model, feet(romeo), TICK, np.zeros(2))
    point = np.array([0.03, -0.02])
    wrench = np.zeros((2, 6))
    for foot, side in enumerate(("left", "right")):
        sole = tilt * stance.soles[side]
        within = np.array([*point, 0.0])
        push = 200.0 * sole.rotation[:, 2]
        wrench[foot] = *push, *np.cross(sole.act(within), push)
    for _ in range(160):
        sensing.read(moved, wrench)
    assert sensing.upright
    gait = standing(stance.soles, np.zeros(2), np.zeros(2), TICK, 3, support="right")
    cog, zmp = np.full((2, 3, 2), np.nan)
    sensing.measure(1, gait, landing, cog, zmp)
    expected = pin.centerOfMass(model, model.createData(), q)[:2]
    np.testing.assert_allclose(cog[1], expected, atol=1e-12)
    middle = np.mean([stance.soles[side].translation[:2] for side in ("left", "right")], axis=0)
    np.testing.assert_allclose(zmp[1], middle + point, atol=1e-6)
    assert np.isnan(cog[[0, 2]]).all()
    np.testing.assert_allclose(sensing.standing_flat(1, landing), stance.base, atol=1e-12)


def test_in_the_air_the_planned_zmp_counts(romeo, stance, landing):
    sensing = Sensing(romeo.model, feet(romeo), TICK, np.zeros(2))
    sensing.read(np.concatenate([stance.base, stance.joints]), np.zeros((2, 6)))
    planned = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.4]])
    gait = standing(stance.soles, np.zeros(2), planned, TICK, 3)
    cog, zmp = np.full((2, 3, 2), np.nan)
    sensing.measure(2, gait, landing, cog, zmp)
    np.testing.assert_array_equal(zmp[2], planned[2])


@pytest.mark.parametrize(("tilt", "upright"), [(0.59, True), (0.61, False)])
def test_a_robot_that_tilts_by_more_than_0_6_rad_is_falling(romeo, stance, tilt, upright):
    sensing = Sensing(romeo.model, feet(romeo), TICK, np.zeros(2))
    q = np.concatenate([stance.base, stance.joints])
    q[3:7] = pin.Quaternion(pin.utils.rotate("x", tilt)).coeffs()
    sensing.read(q, np.zeros((2, 6)))
    assert sensing.upright is upright
