"""The observed COG of a robot that tips over its toes."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.balance.controller.cog_observer import CogObserver

TICK = 0.002
COG = np.array([0.03, 0.0, 0.8])


def test_a_robot_that_tips_over_its_toes_moves_about_them():
    observer = CogObserver(TICK, COG[:2])
    toe, rate = np.array([0.13, 0.0, 0.0]), 0.2
    wrench = np.zeros((2, 6))
    # Each foot carries 200 N at its toe: M_y = −x f_z.
    wrench[:, 2], wrench[:, 4] = 200.0, -0.13 * 200.0
    place = np.array([[0.0, 0.1, 0.0], [0.0, -0.1, 0.0]])
    for tick in range(200):
        turn = pin.utils.rotate("y", rate * tick * TICK)
        soles = [(turn, turn @ foot) for foot in place]
        observer.read(soles, turn @ COG, wrench, place, np.zeros(2))
    away = turn @ (COG - toe)
    assert observer.position[0] == pytest.approx(toe[0] + away[0], abs=1e-12)
    assert observer.position[1] == pytest.approx(0.0, abs=1e-12)
    # ω × r, some ticks ago.
    assert observer.velocity[0] == pytest.approx(rate * away[2], rel=0.01)


def test_in_the_air_the_cog_goes_on():
    observer = CogObserver(TICK, np.array([0.1, 0.0]))
    observer.velocity[:] = [0.5, -0.2]
    eye = (np.eye(3), np.zeros(3))
    for _ in range(100):
        observer.read([eye, eye], COG, np.zeros((2, 6)), np.zeros((2, 3)), np.zeros(2))
    np.testing.assert_allclose(observer.position, [0.2, -0.04], atol=1e-12)
