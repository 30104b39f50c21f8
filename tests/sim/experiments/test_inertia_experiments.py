"""The paper's two ways to measure inertia give back what was put in."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.calibration.oscillation import oscillation_frequency, two_wire_inertia
from simbench.errors import DynamicsError
from simbench.robot.robot import load_robot
from simbench.sim.engine import GRAVITY
from simbench.sim.experiments.torsional_spring import measure_motor_inertia
from simbench.sim.experiments.two_wire import DISTANCE, LENGTH, measure_on_two_wires, twist_on_two_wires


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


def test_frequency_of_a_swing_that_dies_down():
    time = np.arange(0.0, 10.0, 1e-3)
    value = 3.0 + np.exp(-0.01 * time) * np.cos(7.3 * time + 0.4)
    assert oscillation_frequency(time, value) == pytest.approx(7.3, rel=1e-3)
    with pytest.raises(DynamicsError, match="passes its middle 1 times; allowed: at least 3"):
        oscillation_frequency(time, np.arctan(time - 5.0))


@pytest.mark.parametrize("axis", [0, 2])
def test_a_body_on_two_wires(axis):
    """Moments of inertia of 0.02 and 0.1 kg·m², and a third that would show if the axes were confused."""
    body = pin.Inertia(4.0, np.array([0.1, 0.0, -0.2]), np.diag([0.02, 0.09, 0.1]))
    time, angle = twist_on_two_wires(body, axis, 1.5)
    frequency = oscillation_frequency(time, angle)
    found = two_wire_inertia(4.0, GRAVITY, DISTANCE, LENGTH, frequency)
    assert found == pytest.approx(body.inertia[axis, axis], rel=0.01)


def test_a_motor_as_a_spring(puma):
    assert measure_motor_inertia(puma, "ready", 0) == pytest.approx(1.14, rel=0.01)


@pytest.mark.slow
def test_all_of_pumas_inertia(puma):
    for link in (2, 3):
        body = puma.model.inertias[link]
        np.testing.assert_allclose(measure_on_two_wires(body), np.diag(body.inertia), rtol=0.01)
    found = [measure_motor_inertia(puma, "ready", joint) for joint in range(6)]
    np.testing.assert_allclose(found, puma.motors.reflected_inertia, rtol=0.01)
