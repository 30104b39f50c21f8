"""The plugin in a project of its own, as by `pytest` there."""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest
from scenes import SHORT_SWEEP

from simbench.runs.isolated_runs import run_once
from simbench.runs.log import open_run
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.traces.trace_file import fit_trace, write_trace
from simbench.runs.traces.trace_signals import read_samples

TESTS = """
import pytest

SLACK = ("short.yaml", "control.bandwidth_hz=5")


@pytest.mark.simbench("short.yaml")
def test_marked(simbench_result):
    assert simbench_result.metrics["tracking.rms_rad"] > 0.0
    assert simbench_result.log.sizes["joint"] == 6
    assert (simbench_result.directory / "metrics.json").is_file()
    assert simbench_result.checks == ()


def test_same_run(simbench_run):
    assert simbench_run("short.yaml") is simbench_run("short.yaml")
    assert simbench_run(*SLACK) is not simbench_run("short.yaml")


@pytest.mark.simbench("short.yaml")
def test_holds(simbench_result):
    simbench_result.assert_baseline()


@pytest.mark.simbench(*SLACK)
def test_drift(simbench_result):
    simbench_result.assert_baseline()


@pytest.mark.simbench("traced.yaml", "control.bandwidth_hz=5")
def test_divergence(simbench_result):
    simbench_result.assert_baseline()


def test_no_baseline(simbench_run):
    simbench_run("short.yaml", "name=other").assert_baseline()


def test_no_marker(simbench_result):
    pass
"""
BESIDE = """
def test_beside(simbench_run):
    assert simbench_run("beside.yaml").metrics["tracking.rms_rad"] > 0.0
"""
BASELINE = '{"tracking.rms_rad": {"value": 0.001, "tolerance": 0.001}}'


def run_samples(scenario, folder):
    run_once(load_scenario(str(scenario)), folder)
    return read_samples(open_run(folder))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """What pytest says of the project, and its JUnit report."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "short.yaml").write_text(SHORT_SWEEP, encoding="utf-8")
    (folder / "baselines").mkdir()
    (folder / "baselines" / "short.json").write_text(BASELINE, encoding="utf-8")
    (folder / "test_short.py").write_text(TESTS, encoding="utf-8")
    (folder / "traced.yaml").write_text(SHORT_SWEEP.replace("name: short", "name: traced"), encoding="utf-8")
    (folder / "baselines" / "traced.json").write_text(BASELINE.replace("0.001}", "1.0}"), encoding="utf-8")
    _, content = fit_trace([run_samples(folder / "traced.yaml", folder / "first")])
    write_trace(folder / "baselines" / "traced.trace.nc", content)
    (folder / "deeper").mkdir()
    (folder / "deeper" / "beside.yaml").write_text(SHORT_SWEEP, encoding="utf-8")
    (folder / "deeper" / "test_beside.py").write_text(BESIDE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "--strict-markers", "-p", "simbench.pytest_plugin"]
    done = subprocess.run(
        [*command, "-p", "no:cacheprovider", "--junitxml", "report.xml", "--simbench-artifacts", "kept"],
        cwd=folder,
        # Whether or not the plugin is installed, it is loaded once.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    cases = {case.get("name"): case for case in ET.parse(folder / "report.xml").iter("testcase")}
    return SimpleNamespace(status=done.returncode, printed=done.stdout, cases=cases, folder=folder)


def messages(case):
    return [element.get("message") for element in case if element.tag in ("failure", "error")]


def test_runs_that_hold_pass(project):
    assert project.status == 1
    for name in ("test_marked", "test_same_run", "test_holds"):
        assert messages(project.cases[name]) == []
    outcomes = [set(map(str.strip, line.strip("= ").split(","))) for line in project.printed.splitlines()]
    # One of them names a scenario beside its own file, which is not in the current directory.
    assert {"3 failed", "4 passed"} <= outcomes[-1]
    assert "PytestWarning" not in project.printed


def test_drift_is_a_failure_that_names_scenario_and_metric(project):
    (message,) = messages(project.cases["test_drift"])
    first, where = message.splitlines()
    assert first.startswith("AssertionError: short: tracking.rms_rad is 0.00")
    assert first.endswith(", its baseline 0.001 + 0.001")
    # A run with overrides has a dossier of its own.
    assert re.fullmatch(r"short: dossier: kept/short-[0-9a-f]{8}", where)


def test_the_first_divergence_is_one_line_and_paths_are_properties(project):
    (message,) = messages(project.cases["test_divergence"])
    first, _ = message.splitlines()
    assert re.match(
        r"AssertionError: traced: first divergence: \S+ at \d\.\d{3} s, .* times its envelope", first
    )
    attached = {
        found.get("name"): found.get("value") for found in project.cases["test_divergence"].iter("property")
    }
    assert f"AssertionError: {attached['traced.first_divergence']}" == first
    for key in ("report", "metrics_diff", "reproduce", "run"):
        assert (project.folder / attached[f"traced.{key}"]).exists()
    commands = (project.folder / attached["traced.reproduce"]).read_text(encoding="utf-8").splitlines()
    assert commands == [
        "pytest test_short.py::test_divergence",
        "simbench check traced.yaml --set control.bandwidth_hz=5",
    ]


def test_what_is_missing_is_said(project):
    (message,) = messages(project.cases["test_no_baseline"])
    assert message.endswith("other: no baseline baselines/other.json; --update writes one")
    (message,) = messages(project.cases["test_no_marker"])
    assert "simbench_result runs the scenario of a marker" in message


def test_metrics_are_properties_of_the_report(project):
    for name in ("test_marked", "test_holds"):
        values = {found.get("name"): found.get("value") for found in project.cases[name].iter("property")}
        assert 0.0 < float(values["short.tracking.rms_rad"]) < 0.002


def test_loading_the_plugin_imports_nothing_heavy():
    code = "import sys, simbench.pytest_plugin; print(*{'numpy', 'pinocchio', 'pydantic'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
