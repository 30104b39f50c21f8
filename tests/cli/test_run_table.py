import io
import json
import re

import pytest
from rich.console import Console

from simbench.cli.run_table import print_every_metric, print_important
from simbench.options import Bound
from simbench.resources import resource_dir
from simbench.runs.baseline import check_metrics
from simbench.runs.result import RunResult
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

BASELINES = sorted((resource_dir("scenarios") / "baselines").glob("*.json"))
# Beside the table: failed checks, how many hold, run, video and what to do next, and the command line itself.
LINES_LEFT = 40 - 8


def shown(printer, width, metrics, checks, *, terminal=True):
    console = Console(
        file=io.StringIO(), width=width, force_terminal=terminal, color_system=None, markup=False
    )
    printer(console, metrics, checks)
    return [line.rstrip() for line in re.sub("\x1b[^m]*m", "", console.file.getvalue()).splitlines()]


@pytest.fixture(scope="module")
def measured():
    """Metrics of every shipped scenario as its baseline has them, and the outcome of its checks."""
    found = {}
    for path in BASELINES:
        metrics = {name: entry["value"] for name, entry in json.loads(path.read_text("utf-8")).items()}
        found[path.stem] = metrics, check_metrics(load_scenario(path.stem).checks, metrics)
    return found


def test_every_shipped_scenario_fits_a_terminal_of_100_by_40(measured):
    assert len(measured) >= 40
    assert set(measured) <= set(list_scenarios())
    for name, (metrics, checks) in measured.items():
        lines = shown(print_important, 100, metrics, checks)
        assert len(lines) <= LINES_LEFT, name
        assert max(map(len, lines)) <= 100, name
        words = " ".join(lines).split()
        missing = {check.name for check in checks if check.passed} - set(words)
        # What the table of fidelity says is checked under its own name.
        assert not missing, name


def test_a_pipe_gets_every_metric_in_a_line_of_its_own_whole(measured):
    for metrics, checks in measured.values():
        lines = shown(print_every_metric, 200, metrics, checks, terminal=False)
        first = [line.split()[0] for line in lines if line]
        assert set(metrics) <= set(first)
        assert "…" not in "".join(lines)


def test_a_metric_with_a_failed_check_is_left_for_the_end():
    metrics = {"fell": False, "hands.rms_m": 0.0191}
    checks = check_metrics({"fell": False, "hands.rms_m": Bound(max=0.01)}, metrics)
    assert "hands.rms_m" not in " ".join(shown(print_important, 100, metrics, checks))


def result(tmp_path, checks, notes=()):
    metrics = {"fell": False, "hands.rms_m": 0.0191, "timing.realtime_factor": 2.0}
    return RunResult(tmp_path / "a run", metrics, tuple(checks), notes=tuple(notes))


@pytest.fixture
def terminal(monkeypatch):
    """Standard streams that say they are a terminal of 100 columns, without colours."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("simbench.cli.run_table.is_terminal", lambda stderr=False: True)
