"""Whole runs in both physics engines: the same layout of logs, the same records, and what compares them."""

import json

import numpy as np
import pytest

from simbench.cli.main import main
from simbench.errors import RunError
from simbench.runs.baseline import baseline_path
from simbench.runs.isolated_runs import compare_engines
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario
from simbench.sim import engine as engines
from simbench.sim.engine import ENGINES, is_installed, open_engine, open_picture_engine, usual_engine

pytest.importorskip("mujoco")
both = pytest.mark.skipif(not is_installed("bullet"), reason="compares with PyBullet")
"""What runs in both engines."""
ONE_PUSH = ("push.count=1", "push.start_s=0.5", "push.interval_s=2.5", "simulation.hold_s=0.1")
"""A humanoid on its feet, in a few seconds."""


def layout(log):
    """Names, dimensions, units and kinds of numbers of a log's variables, and its attributes' names."""
    variables = {
        name: (each.dims, str(each.dtype.kind), each.attrs.get("units"), each.attrs.get("description"))
        for name, each in log.variables.items()
    }
    return variables, sorted(log.attrs)


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of a pushed humanoid and of an arm with a drawer, by scenario and engine."""
    folder = tmp_path_factory.mktemp("engines")
    made = {}
    for name, overrides in (("push", ONE_PUSH), ("puma560_drawer", ("motion.task.repetitions=1",))):
        for engine in filter(is_installed, sorted(ENGINES)):
            scenario = load_scenario(name, [*overrides, f"simulation.engine={engine}"])
            made[name, engine] = run_scenario(scenario, folder / f"{name}-{engine}")
    return made


@both
@pytest.mark.parametrize("name", ["push", "puma560_drawer"])
def test_logs_have_the_same_layout(runs, name):
    bullet, mujoco = (open_run(runs[name, engine].directory) for engine in ("bullet", "mujoco"))
    assert layout(bullet) == layout(mujoco)
    sizes = [{key: size for key, size in log.sizes.items() if key != "contact"} for log in (bullet, mujoco)]
    assert sizes[0] == sizes[1]


@both
@pytest.mark.parametrize("name", ["push", "puma560_drawer"])
def test_checks_hold_and_the_same_is_measured(runs, name):
    bullet, mujoco = (runs[name, engine] for engine in ("bullet", "mujoco"))
    assert bullet.passed
    assert mujoco.passed
    assert bullet.metrics.keys() == mujoco.metrics.keys()


def test_the_engine_is_in_metrics_provenance_and_scenario(runs):
    for engine in filter(is_installed, ENGINES):
        run = runs["push", engine]
        record = json.loads((run.directory / "provenance.json").read_text())
        assert run.metrics["engine"] == engine
        assert record["engine"]["name"] == engine
        assert record["engine"]["version"]
        assert f"engine: {engine}" in (run.directory / "scenario.yaml").read_text()


def test_two_runs_in_mujoco_are_the_same_bit_for_bit(runs, tmp_path):
    again = run_scenario(load_scenario("push", [*ONE_PUSH, "simulation.engine=mujoco"]), tmp_path / "again")
    first, second = open_run(runs["push", "mujoco"].directory), open_run(again.directory)
    assert first.variables.keys() == second.variables.keys()
    for each in first.variables:
        np.testing.assert_array_equal(first[each].values, second[each].values, err_msg=each)


def test_each_engine_has_baselines_of_its_own():
    file = find_scenario("drawer")
    assert baseline_path(file, "drawer", "bullet") == file.parent / "baselines" / "drawer.json"
    assert baseline_path(file, "drawer", "mujoco") == file.parent / "baselines" / "mujoco" / "drawer.json"


@both
def test_engines_are_compared_metric_by_metric_and_signal_by_signal(tmp_path):
    (compared,) = compare_engines(
        ["puma560_sweep"],
        [],
        tmp_path,
        engines=("bullet", "mujoco"),
        jobs=2,
        on_progress=lambda stage, done, total: None,
    )
    assert len(compared.checks) == 2
    assert compared.passed
    values = {each.name: (each.was, each.now) for each in compared.verdicts}
    first, second = values["tracking.rms_rad"]
    # An arm in the air: what both engines integrate is the same.
    assert first == pytest.approx(second, rel=1e-3)
    assert "engine" not in values
    assert {each.name for each in compared.main} >= {"tracking.rms_rad", "torque.rms_nm"}
    assert compared.signals > 0
    assert len(compared.divergences) <= compared.signals


@both
def test_the_command_compares_writes_one_report_and_tells_what_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    impossible = "checks={tracking.rms_rad: {max: 1e-9}}"
    command = ["compare-engines", "puma560_sweep", "--set", impossible, "--out", "both", "--jobs", "2"]
    assert main(command) == 1
    printed = capsys.readouterr().out
    for engine in ("bullet", "mujoco"):
        assert f"puma560_sweep in {engine}: 0 of 1 checks hold; tracking.rms_rad is not ≤ 1e-09" in printed
    assert "torque.rms_nm" in printed
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == [
        "puma560_sweep-bullet",
        "puma560_sweep-mujoco",
        "puma560_sweep.html",
    ]
    page = (tmp_path / "both" / "puma560_sweep.html").read_text()
    assert "bullet" in page
    assert "mujoco" in page


@both
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["run", "puma560_sweep", "--set", "simulation.engine=ode"],
            "must be 'bullet' or 'mujoco', got 'ode'",
        ),
        (["run", "puma560_sweep", "--engine", "mujoco", "--gui"], "--gui: engine mujoco has no window"),
        (["compare-engines", "puma560_sweep", "--set", "simulation.engine=bullet"], "leave it out"),
        (["compare-engines", "puma560_sweep", "puma560_sweep"], "the same name"),
    ],
)
def test_bad_input_is_one_line(tmp_path, monkeypatch, capsys, arguments, told):
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert told in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""
    assert list(tmp_path.iterdir()) == []


@both
@pytest.mark.parametrize(
    ("missing", "other", "library"), [("bullet", "mujoco", "PyBullet"), ("mujoco", "bullet", "MuJoCo")]
)
def test_an_engine_that_is_not_installed(monkeypatch, tmp_path, capsys, missing, other, library):
    """Both ways round: the message says what to install, and which engine is there."""
    absent = ENGINES[missing].library
    found = engines.find_spec
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == absent else found(name))
    with pytest.raises(RunError, match=f"{missing} needs {library}, which is not installed: pip install"):
        open_engine(missing)
    open_engine(other)
    monkeypatch.chdir(tmp_path)
    assert main(["run", "puma560_sweep", "--engine", missing]) == 2
    told = capsys.readouterr().err
    assert f'-e ".[{missing}]"; or choose --engine {other}' in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []
    if missing == "bullet":
        with pytest.raises(RunError):
            open_picture_engine("simbench replay")


def test_without_pybullet_mujoco_is_the_usual_engine(monkeypatch):
    assert usual_engine() == ("bullet" if is_installed("bullet") else "mujoco")
    found = engines.find_spec
    monkeypatch.setattr(engines, "find_spec", lambda name: None if name == "pybullet" else found(name))
    assert usual_engine() == "mujoco"
    assert open_engine().__name__ == "simbench.sim.mujoco"
