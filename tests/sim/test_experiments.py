"""Scenes with a closed form, and measurements of inertia."""

import numpy as np
import pinocchio as pin
import pytest

from simbench.calibration.oscillation import oscillation_frequency, two_wire_inertia
from simbench.errors import DynamicsError
from simbench.robot.robot import load_robot
from simbench.sim.engine import ENGINES, GRAVITY, is_installed
from simbench.sim.experiments import (
    DISTANCE,
    LENGTH,
    SCENES,
    SceneResult,
    measure_motor_inertia,
    measure_on_two_wires,
    twist_on_two_wires,
)

STEP = 1e-3

BOUNDS = {
    "height after 0.5 s of fall": {"bullet": 2.6e-3, "mujoco": 2.6e-3},
    "distance of a block that slides to rest": {"bullet": 1e-5, "mujoco": 3e-5},
    "speed of a block after an oblique landing": {"bullet": 1e-2, "mujoco": 1e-2},
    "its bounce": {"bullet": 1e-9, "mujoco": 8e-4},
    "period of a pendulum": {"bullet": 1e-6, "mujoco": 1e-6},
    "amplitude after three periods": {"bullet": 3e-6, "mujoco": 3e-6},
    "precession of a spinning body": {"bullet": 2e-4, "mujoco": 2e-4},
    "its angle with its momentum": {"bullet": 4e-4, "mujoco": 4e-4},
    "Ixx by two wires": {"bullet": 3e-5, "mujoco": 3e-5},
    "Iyy by two wires": {"bullet": 3e-5, "mujoco": 3e-5},
    "Izz by two wires": {"bullet": 3e-5, "mujoco": 3e-5},
    "way of a block at 98% of break-away": {"bullet": 2e-7, "mujoco": 3e-6},
    "way of a block at 102% of break-away": {"bullet": 4e-5, "mujoco": 4e-5},
    "way of a joint at 98% of break-away": {"bullet": 1e-12, "mujoco": 1e-6},
    "way of a joint at 102% of break-away": {"bullet": 3e-5, "mujoco": 3e-5},
}
"""Largest error at a step of 1 ms, in the unit of the quantity.

Semi-implicit Euler falls g t dt / 2 too far. MuJoCo's friction creeps, as its constraints give way
a little; what lands obliquely bounces a little, as its friction takes a part of sliding for parting."""


@pytest.fixture(params=[name for name in sorted(ENGINES) if is_installed(name)])
def engine(request):
    return request.param


def results_of(scene: str, engine: str, timestep: float) -> list[SceneResult]:
    return SCENES[scene](engine, timestep)


@pytest.mark.parametrize("scene", sorted(SCENES))
def test_engines_follow_closed_forms(engine, scene):
    for result in results_of(scene, engine, STEP):
        assert result.error <= BOUNDS[result.quantity][engine], result


@pytest.mark.parametrize(
    ("scene", "order"),
    [("free fall", 1), ("pendulum", 2), ("spinning body", 1), ("break-away of a joint", 1)],
)
def test_errors_shrink_with_the_time_step(engine, scene, order):
    """Half the step is half the error, or a quarter of it where the scheme is of second order."""
    coarse, fine = (results_of(scene, engine, step) for step in (STEP, 0.5 * STEP))
    for before, after in zip(coarse, fine, strict=True):
        assert after.error <= 1.15 * 0.5**order * before.error + 1e-12, (before, after)


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
