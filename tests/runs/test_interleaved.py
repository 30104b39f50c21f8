"""Runs in one process that take turns at every physics step give, byte for byte, what they give apart."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from wheel_robots import missing

from simbench.runs.execution import run_isolated
from simbench.runs.isolated_runs import run_once
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios
from simbench.sim.bullet.bullet_world import BulletWorld

# A second each: a grip that closes, moves and lets go; balance beside equipment.
GRIP = load_scenario(
    "puma560_drawer",
    [
        *("motion.task.repetitions=1", "motion.task.rest_duration_s=0.1", "motion.speed=2"),
        *("simulation.lead_in_s=0.2", "simulation.settle_s=0.1", "simulation.hold_s=0.1"),
    ],
)
STAND = load_scenario("drawer", ["motion.end_s=0.4", "simulation.lead_in_s=0.6", "simulation.hold_s=0.1"])


class Turns:
    """Threads of which one runs at a time, until it hands over to the next."""

    def __init__(self, names):
        self.names, self.changed, self.given = list(names), threading.Condition(), 0

    def wait(self, name):
        with self.changed:
            self.changed.wait_for(lambda: self.names[0] == name)

    def hand_over(self, *_):
        name = self.names[0]
        with self.changed:
            self.names = [*self.names[1:], name]
            self.given += len(self.names) > 1
            self.changed.notify_all()
        self.wait(name)

    def leave(self):
        with self.changed:
            del self.names[0]
            self.changed.notify_all()


def run_in_turns(scenarios, folder, monkeypatch):
    """Run scenarios in one process; they hand over at every report of progress and every physics step."""
    folders = [folder / f"{scenario.name}-{number}" for number, scenario in enumerate(scenarios)]
    turns, step = Turns(folders), BulletWorld.step

    def step_and_hand_over(world):
        step(world)
        turns.hand_over()

    def run(scenario, folder):
        turns.wait(folder)
        try:
            run_scenario(scenario, folder, on_progress=turns.hand_over)
        finally:
            turns.leave()

    with monkeypatch.context() as patch, ThreadPoolExecutor(len(folders)) as threads:
        patch.setattr(BulletWorld, "step", step_and_hand_over)
        list(threads.map(run, scenarios, folders))
    return folders, turns.given


def run_each_apart(scenarios, folder):
    """Run scenarios once each, in processes of their own."""
    work = {scenario.name: (scenario, folder / scenario.name) for scenario in scenarios}
    errors = [answer.error for _, answer in run_isolated(run_once, list(work.values()), 2)]
    assert not any(errors), errors
    return [work[scenario.name][1] for scenario in scenarios]


def outcome(folder):
    """Metrics but for the times on the clock, NaN as a text that is equal to itself, and the log's bytes."""
    metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
    kept = {name: str(value) for name, value in metrics.items() if not name.startswith("timing.")}
    return kept, (folder / "log.nc").read_bytes()


def require_the_same(scenarios, folder, monkeypatch):
    """Compare runs in turns with runs apart; return how often there was a turn."""
    in_turns, given = run_in_turns(scenarios, folder, monkeypatch)
    for one, other in zip(in_turns, run_each_apart(scenarios, folder), strict=True):
        (metrics, log), (metrics_apart, log_apart) = outcome(one), outcome(other)
        assert metrics == metrics_apart, one.name
        assert log == log_apart, one.name
    return given


def test_runs_in_turns_in_one_process_are_what_they_are_apart(tmp_path, monkeypatch):
    """Two robots, and one scenario twice at different moments."""
    # They did run beside each other: a run of the grip has 5,656 steps.
    assert require_the_same([GRIP, STAND, GRIP], tmp_path, monkeypatch) > 10000


NAMES = [name for name in list_scenarios() if not missing(load_scenario(name).robot.name)]
HALF = (len(NAMES) + 1) // 2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"), list(zip(NAMES, [*NAMES[HALF:], *NAMES[:HALF]], strict=True))[:HALF]
)
def test_every_scenario_beside_another_is_what_it_is_apart(one, other, tmp_path, monkeypatch):
    assert require_the_same([load_scenario(one), load_scenario(other)], tmp_path, monkeypatch) > 10000
