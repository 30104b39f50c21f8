"""Computed torque by explicit models: the same as by the robot's own, a little off, and at lower rates."""

import numpy as np
import pytest

from simbench.dynamics.explicit_model import explicit_model_of
from simbench.errors import ScenarioError
from simbench.robot.robot import load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.control.explicit_law import ExplicitTorqueLaw
from simbench.sim.control.laws import ComputedTorqueLaw
from simbench.sim.state import RobotState

SHORT = ("motion.task.amplitude_rad=0.2", "simulation.settle_s=0.1", "simulation.hold_s=0.1")


def test_the_full_model_is_the_robots_own():
    robot, rng = load_robot("puma560"), np.random.default_rng(3)
    own = ComputedTorqueLaw(robot, 1e-3, 10.0)
    law = ExplicitTorqueLaw(robot, 1e-3, 10.0, explicit_model_of("puma560"))
    expected, found = np.empty(6), np.empty(6)
    for _ in range(20):
        state = RobotState(rng.uniform(-2, 2, 6), rng.uniform(-2, 2, 6))
        demand = law.demand(*rng.uniform(-2, 2, (4, 6)))
        own.torque(state, demand, expected)
        law.torque(state, demand, found)
        # The URDF has its numbers with fewer digits than the table.
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-5)


def test_parts_at_rates_of_their_own():
    """Elements every fourth step, torques every second: what is asked in between changes nothing."""
    robot, model = load_robot("puma560"), explicit_model_of("puma560", abbreviated=True)
    law = ExplicitTorqueLaw(robot, 1e-3, 10.0, model, 4, 2)
    fresh = ExplicitTorqueLaw(robot, 1e-3, 10.0, model)
    rng = np.random.default_rng(4)
    states = [RobotState(rng.uniform(-1, 1, 6), rng.uniform(-1, 1, 6)) for _ in range(5)]
    # No error to close: the same acceleration, 0, whatever the state.
    held = [RobotState(states[0].q, state.v) for state in states]
    found, expected = np.empty((5, 6)), np.empty((5, 6))
    for step, state in enumerate(states):
        wanted = law._closing.gain * state.q + law._closing.rate_gain * state.v
        law.torque(state, wanted, found[step])
        seen = state if step == 4 else held[step]
        fresh.torque(seen, law._closing.gain * seen.q + law._closing.rate_gain * seen.v, expected[step])
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(found[3], found[2])
    np.testing.assert_allclose(found[[0, 2, 4]], expected[[0, 2, 4]], rtol=0, atol=1e-9)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Sweep all joints a little and return the joints' positions and the RMS tracking error."""
    folder = tmp_path_factory.mktemp("runs")

    def swept(*overrides):
        out = folder / str(len(list(folder.iterdir())))
        result = run_scenario(load_scenario("puma560_sweep", [*SHORT, *overrides]), out)
        with open_run(out) as log:
            return log["joint_position"].values, result.metrics["tracking.rms_rad"]

    return swept


def test_a_scenario_chooses_the_model(run):
    position, tracking = run()
    brief, other = run("control.model=abbreviated", "control.elements_hz=50", "control.torques_hz=200")
    assert 1e-6 < np.abs(brief - position).max() < 1e-3
    assert other == pytest.approx(tracking, rel=0.1)


@pytest.mark.slow
def test_runs_with_the_full_model_are_the_same(run):
    position, tracking = run()
    explicit, same = run("control.model=explicit")
    np.testing.assert_allclose(explicit, position, rtol=0, atol=1e-9)
    assert same == pytest.approx(tracking, rel=1e-6)


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            ["control.law=pd", "control.model=explicit"],
            "control.model: explicit needs control.law: computed_torque",
        ),
        (["control.elements_hz=50"], "control.elements_hz needs control.model: explicit or abbreviated"),
        (
            ["control.model=explicit", "control.torques_hz=300"],
            "control.torques_hz 300 must be 1000 divided by a whole number",
        ),
        (
            ["control.model=explicit", "control.torques_hz=200", "control.elements_hz=500"],
            "control.elements_hz 500 must be 200 divided by a whole number",
        ),
    ],
)
def test_bad_rates_and_models_are_said(overrides, message):
    with pytest.raises(ScenarioError, match=message):
        load_scenario("puma560_sweep", overrides)
