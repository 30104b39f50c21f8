"""Force sensors of the feet: filter and ZMP against closed forms."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.controller.foot_forces import FootForces, measured_zmp


def pose(rotation, place):
    return np.asfortranarray(rotation), np.asarray(place, dtype=float)


def about_origin(force, point):
    return np.concatenate([force, np.cross(point, force)])


def settled(soles, world):
    """Read the same wrenches for twenty time constants."""
    forces = FootForces(10.0, 0.002, np.zeros(2))
    for _ in range(160):
        forces.read(soles, world)
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
    forces = FootForces(10.0, 0.002, np.array([100.0, 0.0]))
    soles = [pose(np.eye(3), np.zeros(3))] * 2
    world = np.zeros((2, 6))
    world[0, 2] = 300.0
    for _ in range(25):
        forces.read(soles, world)
    assert forces.wrench[0, 2] == pytest.approx(300.0 - 200.0 * np.exp(-2.0 * np.pi * 10.0 * 0.05))


def test_in_the_air_there_is_no_zmp():
    forces = FootForces(10.0, 0.002, np.array([4.9, 0.0]))
    assert np.isnan(measured_zmp(forces.wrench, np.zeros((2, 3)), np.zeros(2))).all()
