"""`simbench warmup`: which runs it makes, and what it says of them; nothing is simulated here."""

import pytest

from simbench.cli.main import main
from simbench.runs import isolated_runs as warmup
from simbench.runs.execution import JobResult
from simbench.runs.isolated_runs import KINDS, choose_runs
from simbench.runs.scenario.loading import load_scenario


@pytest.fixture
def made(monkeypatch):
    """Runs that were asked for, in parts that are made one after another."""
    parts = []

    def run_isolated(function, work, jobs):
        parts.append([(scenario.name, cache, jobs) for scenario, _, cache in work])
        for number, (scenario, *_) in enumerate(work):
            yield number, JobResult(error="too heavy" if scenario.robot.name == "puma560" else None)

    monkeypatch.setattr(warmup, "run_isolated", run_isolated)
    return parts


def test_every_kind_is_a_valid_scenario_shorter_than_its_own():
    for name, scenario in zip(KINDS, choose_runs(()), strict=True):
        assert scenario.name == name
        assert scenario.simulation.hold_s < load_scenario(name).simulation.hold_s


def test_the_first_run_compiles_alone_and_plans_are_made(made, capsys):
    assert main(["warmup", "drawer", "dance", "push", "--jobs", "3"]) == 0
    assert made == [[("drawer", False, 3)], [("dance", False, 3), ("push", False, 3)]]
    assert capsys.readouterr().out.startswith("ready  3 runs in ")


def test_a_run_that_fails_is_named(made, capsys):
    assert main(["warmup", "puma560_sweep"]) == 2
    assert "puma560_sweep: too heavy" in capsys.readouterr().err
