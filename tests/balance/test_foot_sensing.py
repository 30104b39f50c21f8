"""Measured COG and ZMP, the feet elsewhere than the joints' root says; filters against closed forms."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.foot_sensing import CogObserver, Sensing, measured_zmp
from simbench.balance.gait import standing_gait
from simbench.balance.leg_ik import stand
from simbench.balance.step_planning import Landing

TICK = 0.002
STANDING_COG = np.array([0.03, 0.0, 0.8])
AWAY = pin.SE3(pin.utils.rotate("z", 0.7), np.array([3.0, -2.0, 0.0]))


@pytest.fixture(scope="module")
def stance(romeo):
    return stand(romeo, (0.0, 0.0), 0.0, "standing")


@pytest.fixture
def landing(stance):
    return Landing(standing_gait(stance.soles, np.zeros(2), np.zeros(2), TICK, 3), 10.0)


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
        assert sensing.read(moved, wrench)
    gait = standing_gait(stance.soles, np.zeros(2), np.zeros(2), TICK, 3, support="right")
    cog, zmp = np.full((2, 3, 2), np.nan)
    sensing.measure(1, gait, landing, cog, zmp)
    expected = pin.centerOfMass(model, model.createData(), q)[:2]
    np.testing.assert_allclose(cog[1], expected, atol=1e-12)
    middle = np.mean([stance.soles[side].translation[:2] for side in ("left", "right")], axis=0)
    np.testing.assert_allclose(zmp[1], middle + point, atol=1e-6)
    assert np.isnan(cog[[0, 2]]).all()
    np.testing.assert_allclose(sensing.root_on_flat_sole(1, landing), stance.base, atol=1e-12)


def test_in_the_air_the_planned_zmp_counts(romeo, stance, landing):
    sensing = Sensing(romeo.model, feet(romeo), TICK, np.zeros(2))
    sensing.read(np.concatenate([stance.base, stance.joints]), np.zeros((2, 6)))
    planned = np.array([[0.0, 0.0], [0.1, 0.2], [0.3, 0.4]])
    gait = standing_gait(stance.soles, np.zeros(2), planned, TICK, 3)
    cog, zmp = np.full((2, 3, 2), np.nan)
    sensing.measure(2, gait, landing, cog, zmp)
    np.testing.assert_array_equal(zmp[2], planned[2])


@pytest.mark.parametrize(("tilt", "upright"), [(0.59, True), (0.61, False)])
def test_a_robot_that_tilts_by_more_than_0_6_rad_is_falling(romeo, stance, tilt, upright):
    sensing = Sensing(romeo.model, feet(romeo), TICK, np.zeros(2))
    q = np.concatenate([stance.base, stance.joints])
    q[3:7] = pin.Quaternion(pin.utils.rotate("x", tilt)).coeffs()
    assert sensing.read(q, np.zeros((2, 6))) is upright


def pose(rotation, place):
    return np.asfortranarray(rotation), np.asarray(place, dtype=float)


def about_origin(force, point):
    return np.concatenate([force, np.cross(point, force)])


def sensors(soles, load):
    """Sensors of a body with two feet that can be anywhere, and the configuration with the feet at poses."""
    model, free = pin.Model(), pin.JointModelFreeFlyer()
    root = model.addJoint(0, free, pin.SE3.Identity(), "root")
    model.appendBodyToJoint(root, pin.Inertia.Random(), pin.SE3.Identity())
    feet = []
    for side in ("left", "right"):
        joint = model.addJoint(root, free, pin.SE3.Identity(), side)
        feet.append(
            model.addFrame(pin.Frame(f"{side}_sole", joint, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
        )
    places = [pin.SE3ToXYZQUAT(pin.SE3(rotation, position)) for rotation, position in soles]
    return Sensing(model, feet, 0.002, load), np.concatenate([pin.neutral(model)[:7], *places])


def settled(soles, world):
    """Read the same wrenches for twenty time constants."""
    forces, configuration = sensors(soles, np.zeros(2))
    for _ in range(160):
        forces.read(configuration, world)
    return forces


def test_two_flat_turned_feet_give_the_zmp_of_their_forces():
    """Forces with friction at known points on the floor, the feet turned: the ZMP is their weighted mean."""
    yaws = np.array([0.4, -0.7])
    places = np.array([[0.1, 0.2, 0.0], [-0.05, -0.1, 0.0]])
    points = np.array([[0.15, 0.22, 0.0], [0.0, -0.16, 0.0]])
    pushes = np.array([[30.0, -12.0, 250.0], [-20.0, 8.0, 430.0]])
    soles = [pose(pin.utils.rotate("z", yaw), place) for yaw, place in zip(yaws, places, strict=True)]
    world = np.array([about_origin(force, point) for force, point in zip(pushes, points, strict=True)])
    zmp = measured_zmp(settled(soles, world).wrench, places, yaws)
    np.testing.assert_allclose(zmp, (250.0 * points[0] + 430.0 * points[1])[:2] / 680.0, atol=1e-6)


def test_zmp_is_laid_out_where_the_feet_are_taken_to_be():
    """A foot that stands turned and elsewhere in truth: only the place inside the sole counts."""
    turn = pin.utils.rotate("z", 1.0)
    inside = np.array([0.06, -0.02, 0.0])
    soles = [pose(turn, [3.0, 2.0, 0.0]), pose(np.eye(3), [9.0, 9.0, 0.0])]
    world = np.zeros((2, 6))
    world[0] = about_origin(np.array([0.0, 0.0, 300.0]), turn @ inside + [3.0, 2.0, 0.0])
    places = np.array([[0.5, 0.1, 0.0], [0.0, 0.0, 0.0]])
    zmp = measured_zmp(settled(soles, world).wrench, places, np.zeros(2))
    np.testing.assert_allclose(zmp, [0.56, 0.08], atol=1e-6)


def test_low_pass_follows_a_step_as_a_first_order_lag():
    forces, configuration = sensors([pose(np.eye(3), np.zeros(3))] * 2, np.array([100.0, 0.0]))
    world = np.zeros((2, 6))
    world[0, 2] = 300.0
    for _ in range(25):
        forces.read(configuration, world)
    assert forces.wrench[0, 2] == pytest.approx(300.0 - 200.0 * np.exp(-2.0 * np.pi * 10.0 * 0.05))


def test_in_the_air_there_is_no_zmp():
    forces, _ = sensors([pose(np.eye(3), np.zeros(3))] * 2, np.array([4.9, 0.0]))
    assert np.isnan(measured_zmp(forces.wrench, np.zeros((2, 3)), np.zeros(2))).all()


def test_a_robot_that_tips_over_its_toes_moves_about_them():
    observer = CogObserver(TICK, STANDING_COG[:2])
    toe, rate = np.array([0.13, 0.0, 0.0]), 0.2
    wrench = np.zeros((2, 6))
    # Each foot carries 200 N at its toe: M_y = −x f_z.
    wrench[:, 2], wrench[:, 4] = 200.0, -0.13 * 200.0
    place = np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]])
    for tick in range(200):
        turn = pin.utils.rotate("y", rate * tick * TICK)
        soles = [(turn, turn @ foot) for foot in place]
        observer.read(soles, turn @ STANDING_COG, wrench, place, np.zeros(2))
    away = turn @ (STANDING_COG - toe)
    assert observer.position[0] == pytest.approx(toe[0] + away[0], abs=1e-12)
    assert observer.position[1] == pytest.approx(0.0, abs=1e-12)
    # ω × r, some ticks ago.
    assert observer.velocity[0] == pytest.approx(rate * away[2], rel=0.01)


def test_in_the_air_the_cog_goes_on():
    observer = CogObserver(TICK, np.array([0.1, 0.0]))
    observer.velocity[:] = [0.5, -0.2]
    eye = (np.eye(3), np.zeros(3))
    for _ in range(100):
        observer.read([eye, eye], STANDING_COG, np.zeros((2, 6)), np.zeros((2, 3)), np.zeros(2))
    np.testing.assert_allclose(observer.position, [0.2, -0.04], atol=1e-12)
