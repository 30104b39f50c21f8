"""The control law that a scenario asks for."""

import numpy as np
import pytest

from simbench.errors import ScenarioError
from simbench.options import ControlSection
from simbench.robot.robot import load_robot
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.control.laws import PdLaw
from simbench.sim.control.torque_law import make_control_law

DT = 1e-3


def test_factors_scale_stiffness_and_damping_of_every_joint():
    """τ = K (q_r − q) + D (v_r − v), so a row of ones as the reference at rest gives each gain."""
    robot = load_robot("romeo")
    scaled = make_control_law(robot, "romeo", ControlSection(stiffness_scale=2.0, damping_scale=3.0), DT)
    usual = PdLaw(robot, DT)
    assert isinstance(scaled, PdLaw)
    damping, stiffness = 3.0 * robot.motors.damping, 2.0 * robot.motors.stiffness
    np.testing.assert_allclose(scaled.gain, 2.0 * usual.gain)
    np.testing.assert_allclose(scaled.rate_gain, damping + DT * stiffness)
    np.testing.assert_allclose(scaled.implicit, DT * damping + DT**2 * stiffness)


@pytest.mark.parametrize("key", ["stiffness_scale", "damping_scale"])
def test_computed_torque_has_no_gains_to_scale(key):
    with pytest.raises(ScenarioError, match=f"control.{key} needs control.law: pd"):
        load_scenario("puma560_sweep", {"control.law": "computed_torque", f"control.{key}": 2})
