import io
import json
import re

import pytest
from rich.console import Console

from simbench.cli.console import make_console
from simbench.cli.run import next_commands, print_metrics, print_run
from simbench.options import Bound
from simbench.resources import resource_dir
from simbench.runs.baseline import Check, check_metrics
from simbench.runs.result import RunResult
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

BASELINES = sorted((resource_dir("scenarios") / "baselines").glob("*.json"))
# Beside the table: failed checks, how many hold, run, video and what to do next, and the command line itself.
LINES_LEFT = 40 - 8


def shown(width, metrics, checks, *, every=False):
    console = Console(
        file=io.StringIO(), width=width, force_terminal=not every, color_system=None, markup=False
    )
    print_metrics(console, metrics, checks, every=every)
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
        lines = shown(100, metrics, checks)
        assert len(lines) <= LINES_LEFT, name
        assert max(map(len, lines)) <= 100, name
        words = " ".join(lines).split()
        missing = {check.name for check in checks if check.passed} - set(words)
        # What the table of fidelity says is checked under its own name.
        assert not missing, name


@pytest.mark.parametrize("width", [60, 80])
def test_narrow_terminals_break_no_name(measured, width):
    for name, (metrics, checks) in measured.items():
        lines = shown(width, metrics, checks)
        assert max(map(len, lines)) <= width, name
        words = set(" ".join(lines).split())
        assert {check.name for check in checks if check.passed} <= words, name
        # There is room for what the checks ask for.
        assert any("✓" in line and re.search(r" (≤|≥) ", line) for line in lines) or len(checks) < 2, name


def test_a_pipe_gets_every_metric_in_a_line_of_its_own_whole(measured):
    for metrics, checks in measured.values():
        lines = shown(200, metrics, checks, every=True)
        first = [line.split()[0] for line in lines if line]
        assert set(metrics) <= set(first)
        assert "…" not in "".join(lines)


def test_a_metric_with_a_failed_check_is_left_for_the_end():
    metrics = {"fell": False, "hands.rms_m": 0.0191}
    checks = check_metrics({"fell": False, "hands.rms_m": Bound(max=0.01)}, metrics)
    assert "hands.rms_m" not in " ".join(shown(100, metrics, checks))


def test_counts_are_shown_when_they_are_not_zero():
    def rows(count):
        metrics = {"fell": False, "contact.self_count": count, "steps.missed_count": count}
        return " ".join(shown(100, metrics, ()))

    assert "contact.self_count" not in rows(0)
    assert "steps.missed_count" not in rows(0)
    assert "contact.self_count" in rows(2)
    assert "steps.missed_count" in rows(1)


def result(tmp_path, checks, notes=()):
    metrics = {"fell": False, "hands.rms_m": 0.0191, "timing.realtime_factor": 2.0}
    return RunResult(tmp_path / "a run", metrics, tuple(checks), notes=tuple(notes))


@pytest.fixture
def terminal(monkeypatch):
    """Standard streams that say they are a terminal of 100 columns, without colours."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("simbench.cli.run.is_terminal", lambda stderr=False: True)


def test_failed_checks_come_last_then_how_many_hold_and_the_run(tmp_path, capsys, terminal):
    checks = [Check("hands.rms_m", passed=False, bound="≤ 0.01"), Check("fell", passed=True, bound="false")]
    print_run(result(tmp_path, checks))
    printed = capsys.readouterr()
    assert "timing.realtime_factor" not in printed.out
    assert printed.out.splitlines()[-3:] == [
        "✗ hands.rms_m is 0.0191, must be ≤ 0.01",
        "1 of 2 checks hold",
        f"run    {tmp_path}/a run",
    ]
    # It is the same terminal.
    assert printed.err == ""
    print_run(result(tmp_path, checks[1:]), all_metrics=True)
    printed = capsys.readouterr().out
    assert "timing.realtime_factor" in printed
    assert "\n1 of 1 check holds\n" in printed


def test_a_terminal_shows_a_few_notes_and_all_when_asked(tmp_path, capsys, terminal):
    notes = [f"note number {number}" for number in range(5)]
    print_run(result(tmp_path, (), notes))
    assert capsys.readouterr().err.splitlines() == [
        *(f"note: {note}" for note in notes[:3]),
        "note: 2 more, which --all shows",
    ]
    print_run(result(tmp_path, (), notes), all_metrics=True)
    assert capsys.readouterr().err.splitlines() == [f"note: {note}" for note in notes]


def test_a_pipe_gets_all_metrics_and_notes_without_colours(tmp_path, capsys):
    checks = [Check("hands.rms_m", passed=False, bound="≤ 0.01")]
    print_run(result(tmp_path, checks, "abcde"))
    printed = capsys.readouterr()
    assert "\x1b" not in printed.out
    assert re.search(r"^timing\.realtime_factor +2 *$", printed.out, flags=re.MULTILINE)
    assert "\n0 of 1 check holds\n" in printed.out
    assert printed.err.count("note: ") == 5
    assert printed.err.endswith("check failed: hands.rms_m is 0.0191, must be ≤ 0.01\n")


def test_what_to_do_next_can_be_typed(tmp_path):
    folder = tmp_path / "a run"
    assert list(next_commands(folder, has_video=True)) == [f"simbench report '{folder}'"]
    assert list(next_commands(folder, has_video=False))[1] == f"simbench video '{folder}'"


def test_names_are_shown_as_they_are(capsys):
    name = "[red]a\x1b[2J.b_ratio"
    print_metrics(make_console(), {name: 1.0}, (), every=False)
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[red]a\\x1b[2J.b_ratio" in printed
