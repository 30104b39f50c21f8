"""Which feet the controller takes as held, and how often they are sensed, for loads that follow a script."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest

from simbench.retargeting.reference.reference import Reference
from simbench.sim import loop
from simbench.sim.bullet import open_world
from simbench.sim.engine import GRAVITY
from simbench.sim.loop import LoopOptions, Simulation, simulate
from simbench.sim.recorder import Recorder
from simbench.sim.sensing import ContactSensor

DT = 1e-3
STEPS = 60
HIGH = np.array([0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0])


class Script(ContactSensor):
    """Feet that carry given fractions of the weight from given steps on."""

    def __init__(self, body, names, loads):
        super().__init__(body, names)
        self.sensed, self._loads = [], loads
        self._weight = GRAVITY * pin.computeTotalMass(body.robot.model)

    def sample(self, time, contacts):
        step = round(time / DT)
        self.sensed.append(step)
        self.foot_wrench[:, 2] = self._weight * np.array(
            [fraction for start, fraction in self._loads if start <= step][-1]
        )


@pytest.fixture
def scripted(romeo, monkeypatch):
    """Run ROMEO in the air with loads on its feet that a script gives; what was sensed and what was held."""

    def run(*loads):
        sensors, held, original = [], [], loop.make_controller

        def script_loads(body, names):
            sensors.append(Script(body, names, loads))
            return sensors[0]

        monkeypatch.setattr(loop, "ContactSensor", script_loads)

        def watched(*arguments):
            controller = original(*arguments)
            hold = controller.hold_feet

            def hold_feet(now):
                sensed = sensors[0].sensed if sensors else []
                held.append((sensed[-1] if sensed else -1, list(now)))
                hold(now)

            return SimpleNamespace(hold_feet=hold_feet, demand=controller.demand, step=controller.step)

        monkeypatch.setattr(loop, "make_controller", watched)
        rows = np.zeros((STEPS, len(romeo.joint_names)))
        reference = Reference(rows, rows, rows, rows, np.zeros((STEPS, 2), dtype=bool))
        with open_world(DT) as world:
            body = world.add_robot(romeo, HIGH, rows[0])
            simulate(Simulation(body, reference), Recorder(STEPS, romeo), LoopOptions(STEPS))
        return sensors[0].sensed, dict(held)

    return run


def test_a_foot_that_is_held_stays_so_down_to_a_small_load_and_one_that_is_free_up_to_a_larger(scripted):
    """ROMEO weighs about 360 N: 5 N are 1.4 % of it; a tenth of it grounds a foot."""
    _, held = scripted(
        (0, (0.5, 0.5)), (10, (0.05, 0.5)), (20, (0.01, 0.5)), (30, (0.05, 0.5)), (40, (0.12, 0.5))
    )
    by_step = [[held[step] for step in held if start < step < start + 10] for start in (0, 10, 20, 30, 40)]
    assert all(by_step)
    expected = [[True, True], [True, True], [False, True], [False, True], [True, True]]
    for seen, feet in zip(by_step, expected, strict=True):
        assert seen == [feet] * len(seen)


def test_a_held_foot_that_is_light_is_sensed_in_every_step(scripted):
    sensed, _ = scripted((0, (0.5, 0.5)), (20, (0.34, 0.66)), (40, (0.36, 0.64)))
    assert sensed == [0, 5, 10, 15, *range(20, 41), 45, 50, 55]


def test_a_free_foot_that_is_light_is_not(scripted):
    sensed, held = scripted((0, (0.0, 1.0)))
    assert not any(feet[0] for step, feet in held.items() if step > 0)
    # Free from the first look on.
    assert sensed == [0, *range(5, STEPS, 5)]
