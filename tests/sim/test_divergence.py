"""Physics that explodes ends the simulation, which says when and what was first."""

from dataclasses import replace

import numpy as np
import pytest
import scenes

from simbench.errors import BalanceError
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import load_robot
from simbench.sim.bullet import open_world
from simbench.sim.fixtures.furniture import drawer_mechanism
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.recorder import Recorder, find_divergence
from simbench.sim.state import empty_state

DT = 1e-3
HIGH = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def puma560():
    return load_robot("puma560")


def resting(robot, steps):
    rows = np.zeros((steps, len(robot.joint_names)))
    return Reference(rows, rows, rows, rows, np.zeros((steps, len(robot.hands)), dtype=bool))


class Disturbed:
    """A robot whose state reads as its engine's but for one entry, from one step on."""

    def __init__(self, body, step, entry, value):
        self._body, self._step, self._entry, self._value, self._driven = body, step, entry, value, 0

    def __getattr__(self, name):
        return getattr(self._body, name)

    def read_state(self, state):
        self._body.read_state(state)
        kind, column = self._entry
        if self._driven >= self._step:
            getattr(state, kind)[column] = self._value

    def apply_joint_torques(self, torques):
        self._body.apply_joint_torques(torques)
        self._driven += 1


def disturbed_run(robot, base, step, entry, value, *, steps=300, log_every=5, balancer=None):
    recorder = Recorder(-(-steps // log_every), robot)
    with open_world(DT) as world:
        body = world.add_robot(robot, base, np.zeros(len(robot.joint_names)))
        body = body if entry is None else Disturbed(body, step, entry, value)
        simulation = Simulation(body, resting(robot, steps), balancer=balancer)
        simulate(simulation, recorder, LoopOptions(log_every))
    return recorder


@pytest.mark.parametrize("step", [1, 63, 64, 70, 128, 297])
@pytest.mark.parametrize(
    ("entry", "value", "cause"),
    [
        (("v", 3), 99.5, "speed 99.5 rad/s"),
        (("v", 0), -100.0, "speed 100 rad/s"),
        (("v", 5), np.nan, "speed nan rad/s"),
        (("q", 2), np.inf, "position inf"),
    ],
)
def test_the_first_joint_and_its_time_are_said_and_the_samples_end_before(puma560, step, entry, value, cause):
    log = disturbed_run(puma560, np.array([0, 0, 1.0, 0, 0, 0, 1]), step, entry, value)
    assert log.divergence.cause == f"joint {puma560.joint_names[entry[1]]} ({cause})"
    assert log.divergence.time == pytest.approx(step * DT)
    assert log.steps == step
    assert log.count == -(-step // 5)
    np.testing.assert_allclose(log.time[: log.count], 5 * DT * np.arange(log.count))
    for name in log.signals:
        if log[name].dtype.kind == "f" and name not in ("push_wrench",):
            assert np.isfinite(log[name][: log.count]).all(), name
    assert np.isfinite(log.highest_speed).all()
    assert (log.highest_speed < 99.0).all()


@pytest.mark.parametrize(
    ("entry", "value", "cause"),
    [
        (("v", 1), 99.1, "the base (speed 99.1 m/s)"),
        (("v", 4), -99.1, "the base (speed 99.1 rad/s)"),
        (("q", 0), 1001.0, "the base (position 1e+03 m)"),
    ],
)
def test_a_base_that_explodes_is_said(romeo, entry, value, cause):
    log = disturbed_run(romeo, HIGH, 40, entry, value, steps=80)
    assert log.divergence.cause == cause
    assert log.divergence.time == pytest.approx(0.040)


def test_what_moves_fast_without_exploding_runs_to_its_end(romeo):
    log = disturbed_run(romeo, HIGH, 10, ("v", 9), 98.9, steps=80)
    assert log.divergence is None
    assert log.steps == 80


def test_a_joint_far_from_zero_is_no_explosion_of_the_base(puma560):
    states = empty_state(puma560, 3)
    states.q[:] = 2000.0
    assert find_divergence(puma560, states) is None


def test_after_a_fall_only_what_is_not_finite_counts(romeo):
    """The impact throws light joints to the speed at which the engine cuts them off."""
    logs = []
    for entry, value in ((("v", 9), 100.0), (("v", 9), np.nan)):
        recorder = Recorder(200, romeo)
        with open_world(DT) as world:
            body = world.add_robot(romeo, HIGH, np.zeros(len(romeo.joint_names)))
            body = Disturbed(body, 130, entry, value)
            options = LoopOptions(5, fallen_height=4.999)
            simulate(Simulation(body, resting(romeo, 1000)), recorder, options)
        logs.append(recorder)
    shaken, broken = logs
    assert shaken.divergence is None
    assert 500 < shaken.steps < 700
    assert broken.divergence.time == pytest.approx(0.130)


class _Overcome:
    every = 2

    def command(self, step, state, foot_wrench, reference):
        if not np.isfinite(state.q).all():
            raise BalanceError("not a state")
        if step >= 100:
            raise BalanceError("of its own")


@pytest.mark.parametrize("step", [22, 64, 65])
def test_an_error_of_a_controller_in_physics_that_diverged_is_the_divergence(romeo, step):
    log = disturbed_run(romeo, HIGH, step, ("q", 10), np.nan, steps=120, balancer=_Overcome())
    assert log.divergence.time == pytest.approx(step * DT)
    assert log.divergence.cause == f"joint {romeo.joint_names[3]} (position nan)"


def test_an_error_of_a_controller_in_sound_physics_stays_an_error(romeo):
    with pytest.raises(BalanceError):
        disturbed_run(romeo, HIGH, 0, None, 0.0, steps=120, balancer=_Overcome())


def test_equipment_that_explodes_is_said(romeo):
    mechanism = drawer_mechanism(scenes.drawer_section())
    recorder = Recorder(40, romeo, [mechanism])
    with open_world(DT) as world:
        fixture = world.add_fixture(mechanism)
        body = world.add_robot(romeo, HIGH, np.zeros(len(romeo.joint_names)))

        class Shot(type(fixture)):
            def read_state(self):
                state = super().read_state()
                return state._replace(velocity=np.array([100.0]))

        shot = Shot.__new__(Shot)
        vars(shot).update(vars(fixture))
        simulate(Simulation(body, resting(romeo, 200), [shot]), recorder, LoopOptions(5))
    joint = mechanism.joints[0].name
    assert recorder.divergence.cause == f"joint {joint} of {mechanism.name} (speed 100 m/s)"
    assert recorder.steps < 64


def test_gains_a_thousand_times_too_high_explode(romeo):
    """The engine itself, not a made-up state."""
    motors = replace(romeo.motors, stiffness=1e3 * romeo.motors.stiffness, damping=1e3 * romeo.motors.damping)
    wild = replace(romeo, motors=motors)
    recorder = Recorder(400, wild)
    with open_world(DT) as world:
        body = world.add_robot(wild, HIGH, np.full(len(wild.joint_names), 0.1))
        simulate(Simulation(body, resting(wild, 400)), recorder, LoopOptions(1))
    assert recorder.divergence is not None
    assert recorder.divergence.time == pytest.approx(DT * recorder.count)
    assert np.isfinite(recorder["joint_position"][: recorder.count]).all()
    assert (np.abs(recorder["joint_velocity"][: recorder.count]) < 99.0).all()
