"""Control laws."""

import dataclasses

import numpy as np
import pinocchio as pin
import pytest

from simbench.dynamics.explicit_model import explicit_model_of
from simbench.errors import ScenarioError
from simbench.robot.robot import load_robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.bullet import open_world
from simbench.sim.bullet.bullet_bodies import bullet
from simbench.sim.control.laws import LAWS, ComputedTorqueLaw, ExplicitTorqueLaw, PdLaw
from simbench.sim.loop import make_controller
from simbench.sim.state import RobotState, empty_state

DT = 1e-3


@pytest.fixture(scope="module")
def puma():
    return load_robot("puma560")


def random_state(robot, seed):
    """State, and a reference of position, speed, acceleration and feed-forward, of a robot at the origin."""
    rng = np.random.default_rng(seed)
    count = len(robot.joint_names)
    root = [0, 0, 0, 0, 0, 0, 1][: robot.root_q]
    q = np.concatenate([root, rng.uniform(-0.7, 0.7, count)])
    v = np.concatenate([np.zeros(robot.root_v), rng.normal(size=count)])
    return RobotState(q, v), rng.normal(size=(4, count))


@pytest.mark.parametrize("name", ["puma560", "romeo"])
@pytest.mark.parametrize("seed", [0, 1])
def test_pd_is_taken_at_the_end_of_the_step(name, seed):
    """With any acceleration a: v⁺ = v + dt a, q⁺ = q + dt v⁺, τ = K (q_r − q⁺) + D (v_r − v⁺) + τ_ff."""
    robot = load_robot(name)
    state, (position, speed, ahead, _) = random_state(robot, seed)
    law = PdLaw(robot, DT)
    torque = np.empty(len(position))
    law.torque(state, law.demand(position, speed, ahead), torque)
    for scale in (0.0, 100.0):
        a = scale * np.random.default_rng(seed + 9).normal(size=len(position))
        after = state.v[robot.root_v :] + DT * a
        there = state.q[robot.root_q :] + DT * after
        motors = robot.motors
        expected = motors.stiffness * (position - there) + motors.damping * (speed - after) + ahead
        np.testing.assert_allclose(torque - law.implicit * a, expected, rtol=0, atol=1e-9)


def test_a_whole_reference_at_once_is_the_same_as_row_by_row(puma):
    _, table = random_state(puma, 3)
    rows = np.stack([table, 2.0 * table])
    for law in (PdLaw(puma, DT), ComputedTorqueLaw(puma, DT, 8.0)):
        at_once = law.demand(rows[:, 0], rows[:, 1], rows[:, 2], rows[:, 3])
        for row, one in zip(rows, at_once, strict=True):
            np.testing.assert_array_equal(law.demand(*row), one)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_computed_torque_asks_for_the_acceleration_that_closes_the_error(puma, seed):
    """τ makes links and rotors accelerate by a* = a_r + 2 ω (v_r − v⁺) + ω² (q_r − q⁺), v⁺ and q⁺ by a*."""
    state, (position, speed, _, acceleration) = random_state(puma, seed)
    omega = 2.0 * np.pi * 7.0
    law = ComputedTorqueLaw(puma, DT, 7.0)
    torque = np.empty(6)
    law.torque(state, law.demand(position, speed, np.full(6, 1e3), acceleration), torque)
    model, data = puma.model, puma.model.createData()
    upper = np.triu(pin.crba(model, data, state.q))
    inertia = upper + np.triu(upper, 1).T
    # Rotors included.
    assert np.diag(inertia)[5] > 0.193
    reached = np.linalg.solve(inertia, torque - pin.nonLinearEffects(model, data, state.q, state.v))
    after = state.v + DT * reached
    there = state.q + DT * after
    wanted = acceleration + 2.0 * omega * (speed - after) + omega**2 * (position - there)
    np.testing.assert_allclose(reached, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())
    assert not law.implicit.any()


@pytest.mark.parametrize("bandwidth", [3.0, 10.0])
def test_errors_decay_as_a_double_pole_at_the_bandwidth(puma, bandwidth):
    """Without friction every joint's error is e_k = zᵏ (e₀ + k (e₁/z − e₀)) with z = 1 / (1 + ω dt).

    e'' + 2 ω e' + ω² e = 0, taken at the ends of steps, e₁ = e₀ + dt z² (ė₀ − dt ω² e₀). The arm moves on
    with all its joints coupled meanwhile.
    """
    none, steps = np.zeros(6), 400
    free = dataclasses.replace(
        puma,
        friction=dataclasses.replace(puma.friction, coulomb=none, viscous=none, breakaway=none),
        motors=dataclasses.replace(puma.motors, torque_limit=np.full(6, 1e6)),
    )
    # A reference that moves as Bullet does: v⁺ = v + dt a, q⁺ = q + dt v⁺.
    time = DT * np.arange(steps)[:, None]
    acceleration = np.linspace(2.0, -2.0, 6) * np.sin(2.0 * np.pi * np.linspace(0.6, 1.4, 6) * time)
    speed = np.array([0.3, -0.2, 0.4, -0.5, 0.3, 0.6]) + DT * np.cumsum(acceleration, axis=0)
    start = puma.postures["ready"]
    position = start + DT * np.cumsum(speed, axis=0)
    first = np.array([0.10, -0.08, 0.12, -0.15, 0.10, 0.20])
    rate = np.array([0.5, 1.0, -0.5, 0.0, -1.0, 0.7])
    errors = []
    with open_world(DT) as world:
        body = world.add_robot(free, np.array([0, 0, 0, 0, 0, 0, 1.0]), start - first)
        before = np.array([0.3, -0.2, 0.4, -0.5, 0.3, 0.6])
        for joint, place, pace in zip(body.joints, start - first, before - rate, strict=True):
            bullet.resetJointState(body.handle, joint, place, pace, physicsClientId=world.client)
        law = ComputedTorqueLaw(free, DT, bandwidth)
        controller, state = make_controller(body, law), empty_state(body.robot)
        demand = controller.demand(position, speed, np.zeros(6), acceleration)
        for step in range(steps):
            body.read_state(state)
            controller.step(state, demand[step])
            world.step()
            body.read_state(state)
            errors.append(position[step] - state.q)
    omega = 2.0 * np.pi * bandwidth
    z = 1.0 / (1.0 + omega * DT)
    second = first + DT * z**2 * (rate - DT * omega**2 * first)
    k = np.arange(1, steps + 1)[:, None]
    expected = z**k * (first + k * (second / z - first))
    np.testing.assert_allclose(errors, expected, rtol=0, atol=2e-6)
    # It moved: a quarter of a turn in sum, so inertia and weight changed on the way.
    assert np.abs(position[-1] - position[0]).sum() > 0.5


def test_friction_leaves_the_error_that_the_inertia_says(puma):
    """Friction, of which the law does not know: e = (1 + ω dt)² τ / (J ω²).

    Joint 6 at constant speed, alone, turns 0.193 kg·m² of its motor and 4e-5 of the flange.
    """
    omega, speed, steps = 2.0 * np.pi * 10.0, 0.5, 1500
    start, moving = puma.postures["ready"], np.array([0, 0, 0, 0, 0, speed])
    with open_world(DT) as world:
        body = world.add_robot(puma, np.array([0, 0, 0, 0, 0, 0, 1.0]), start)
        controller, state = make_controller(body, ComputedTorqueLaw(puma, DT, 10.0)), empty_state(body.robot)
        for step in range(steps):
            wanted = start + (step + 1) * DT * moving
            body.read_state(state)
            controller.step(state, controller.demand(wanted, moving, np.zeros(6), np.zeros(6)))
            world.step()
        body.read_state(state)
    torque = puma.friction.coulomb[5] + puma.friction.viscous[5] * speed
    expected = (1.0 + omega * DT) ** 2 * torque / ((0.193 + 4e-5) * omega**2)
    assert wanted[5] - state.q[5] == pytest.approx(expected, rel=0.01)
    assert state.v[5] == pytest.approx(speed, rel=1e-3)


def test_computed_torque_refuses_a_robot_that_floats(romeo):
    with pytest.raises(
        ScenarioError, match=r"control\.law: computed_torque needs a fixed base; romeo floats"
    ):
        LAWS["computed_torque"](romeo, DT, 10.0)
    assert isinstance(LAWS["pd"](romeo, DT, 10.0), PdLaw)


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
