"""Inertia measured in simulation by two wires and by a torsional spring, against what was put in."""

import numpy as np
import pinocchio as pin
import pytest
from script_modules import loaded_script

from simbench.errors import DynamicsError
from simbench.robot.robot import load_robot
from simbench.sim.engine import GRAVITY

with loaded_script("reproduce/armstrong1986/inertia_measurements.py") as measuring:
    pass


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


@pytest.mark.parametrize("axis", [0, 2])
def test_a_body_on_two_wires(axis):
    """Moments of inertia of 0.02 and 0.1 kg·m², and a third that would show if the axes were confused."""
    body = pin.Inertia(4.0, np.array([0.1, 0.0, -0.2]), np.diag([0.02, 0.09, 0.1]))
    time, angle = measuring.twist_on_two_wires(body, axis, 1.5)
    frequency = measuring.oscillation_frequency(time, angle)
    found = measuring.two_wire_inertia(4.0, GRAVITY, measuring.DISTANCE, measuring.LENGTH, frequency)
    assert found == pytest.approx(body.inertia[axis, axis], rel=0.01)


def test_a_motor_as_a_spring(puma):
    assert measuring.measure_motor_inertia(puma, "ready", 0) == pytest.approx(1.14, rel=0.01)


@pytest.mark.slow
def test_all_of_pumas_inertia(puma):
    for link in (2, 3):
        body = puma.model.inertias[link]
        np.testing.assert_allclose(measuring.measure_on_two_wires(body), np.diag(body.inertia), rtol=0.01)
    found = [measuring.measure_motor_inertia(puma, "ready", joint) for joint in range(6)]
    np.testing.assert_allclose(found, puma.motors.reflected_inertia, rtol=0.01)


def test_frequency_of_a_swing_that_dies_down():
    time = np.arange(0.0, 10.0, 1e-3)
    value = 3.0 + np.exp(-0.01 * time) * np.cos(7.3 * time + 0.4)
    assert measuring.oscillation_frequency(time, value) == pytest.approx(7.3, rel=1e-3)
    with pytest.raises(DynamicsError):
        measuring.oscillation_frequency(time, np.arctan(time - 5.0))
