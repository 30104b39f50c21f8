"""A run's outcome as an object: log, plots, texts, and the same outcome read from its directory."""

import dataclasses
import json
import shutil

import numpy as np
import pytest

import simbench
from simbench.errors import RunError
from simbench.runs.baseline import Check
from simbench.runs.plots.signal_plot import LARGEST_ERROR, MOST_LINES, plot_signals
from simbench.runs.result import RunResult


@pytest.fixture
def drawer(drawer_run):
    return simbench.load_run(drawer_run())


@pytest.fixture
def failed(tmp_path):
    """A run with a metric that looks like markup, of which one check holds and one does not."""
    checks = (Check("fell", True, "false"), Check("tracking.rms_rad", False, "≤ 0.03"))
    return RunResult(tmp_path / "<b>", {"fell": False, "tracking.rms_rad": 0.5, "<i>": 1.0}, checks)


def test_a_result_is_read_from_its_directory(drawer, drawer_run):
    assert drawer.metrics == json.loads((drawer_run() / "metrics.json").read_text())
    assert drawer.passed
    assert len(drawer.checks) > 5
    np.testing.assert_array_equal(drawer.log.time, simbench.open_run(drawer_run()).time)


@pytest.mark.parametrize("made", ["nothing", "incomplete"])
def test_what_is_no_finished_run_is_refused(made, tmp_path):
    folder = tmp_path / "run"
    if made == "incomplete":
        folder.mkdir()
        (folder / "INCOMPLETE").write_text("interrupted")
    with pytest.raises(RunError, match=made if made == "incomplete" else "not a run directory"):
        simbench.load_run(folder)


def test_the_text_of_a_result_says_which_check_failed_and_where_the_run_is(failed):
    lines = repr(failed).splitlines()
    assert len(lines) == 3
    assert "1 of 2 checks hold" in lines[0]
    assert "tracking.rms_rad is 0.5 rad, must be ≤ 0.03" in lines[1]
    assert str(failed.directory) in lines[2]


def test_a_notebook_shows_failed_checks_first_and_no_markup_of_a_name(failed):
    page = failed._repr_html_()
    assert page.index("tracking.rms_rad") < page.index("fell")
    assert "<i>" not in page
    assert "&lt;i&gt;" in page


def panels(figure):
    """Labels of the curves, and their values, by the title of the panel."""
    return {axes.get_title(loc="left"): [line.get_ydata() for line in axes.lines] for axes in figure.axes}


def test_a_plot_shows_the_signals_that_are_named(drawer):
    drawn = panels(drawer.plot("zmp", "joint_position", entries=["RElbowYaw", "y"]))
    assert list(drawn) == ["zmp (m)", "joint_position (rad)"]
    np.testing.assert_array_equal(drawn["zmp (m)"], [drawer.log.zmp.sel(xy="y")])
    np.testing.assert_array_equal(
        drawn["joint_position (rad)"], [drawer.log.joint_position.sel(joint="RElbowYaw")]
    )


def test_the_tracking_error_is_that_of_the_metric(drawer):
    (errors,) = panels(drawer.plot(LARGEST_ERROR))[f"{LARGEST_ERROR} (mrad)"]
    settled = drawer.log.time.values >= drawer.log.attrs["settle_s"]
    assert errors[settled].max() == pytest.approx(1000.0 * drawer.metrics["tracking.max_rad"])


def test_of_many_joints_those_that_move_most_are_drawn(drawer):
    (title, drawn), *_ = panels(drawer.plot("joint_position")).items()
    position = drawer.log.joint_position.values
    smallest = min(np.ptp(curve) for curve in drawn)
    assert title == f"joint_position (rad), {MOST_LINES} of {position.shape[1]}"
    assert (np.ptp(position, axis=0) >= smallest).sum() == MOST_LINES


def test_without_names_balance_equipment_and_torque_are_drawn(drawer):
    titles = " ".join(panels(drawer.plot()))
    assert all(word in titles for word in ("tracking error", "drawer_travel", "zmp", "foot load", "torque"))


@pytest.mark.parametrize(
    ("signals", "entries", "words"),
    [(["zpm"], [], "zpm: no such signal in the log; allowed: .*zmp"), (["zmp"], ["z"], "allowed: x, y")],
)
def test_an_unknown_signal_is_refused_with_those_that_there_are(drawer, signals, entries, words):
    with pytest.raises(RunError, match=words):
        drawer.plot(*signals, entries=entries)


def test_runs_of_different_length_and_joints_share_the_axes(drawer):
    log = drawer.log
    other = log.isel(time=slice(None, 400)).assign(joint_position=log.joint_position[:400] + 0.1)
    figure = plot_signals({"one": log, "other": other}, ["joint_position", "drawer_travel"])
    curves = panels(figure)
    assert [len(each) for each in curves["drawer_travel (m)"]] == [log.sizes["time"], 400]
    assert figure.axes[0].get_xlim()[1] == pytest.approx(log.time.values[-1])


def copied_with(drawer, folder, *, metric, value, setting):
    """Copy a run with another value of a metric and of a key of its scenario."""
    shutil.copytree(drawer.directory, folder)
    metrics = {**drawer.metrics, metric: value}
    (folder / "metrics.json").write_text(json.dumps(metrics))
    text = (folder / "scenario.yaml").read_text()
    was, now = setting
    assert was in text
    (folder / "scenario.yaml").write_text(text.replace(was, now))
    return folder


def test_a_comparison_names_what_differs(drawer, tmp_path):
    folder = copied_with(
        drawer,
        tmp_path / "stiff",
        metric="tracking.rms_rad",
        value=0.5 * drawer.metrics["tracking.rms_rad"],
        setting=("stiffness_scale: 1.0", "stiffness_scale: 2.0"),
    )
    both = simbench.compare(drawer, folder)
    assert both.settings == {"control.stiffness_scale": [1.0, 2.0]}
    assert both.labels == ("stiffness_scale=1.0", "stiffness_scale=2.0")
    assert [(each.name, each.outcome) for each in both.changes] == [("tracking.rms_rad", "better")]
    row = both.metrics.loc["tracking.rms_rad"]
    assert row["difference"] == pytest.approx(-0.5 * drawer.metrics["tracking.rms_rad"])
    assert (row["unit"], row["outcome"]) == ("rad", "better")
    assert "control.stiffness_scale: 1.0 → 2.0" in repr(both)
    assert "(better)" in repr(both)
    assert "tracking.rms_rad" in both._repr_html_()
    assert len(both.plot("zmp").axes[0].lines) == 4


def test_a_run_does_not_differ_from_itself(drawer):
    both = simbench.compare(drawer, drawer.directory)
    assert not both.changes
    assert not both.settings
    assert both.labels[0] != both.labels[1]
    assert "no metric differs" in repr(both)


def test_a_change_of_a_metric_without_a_better_side_is_not_judged(drawer):
    moved = dataclasses.replace(drawer, metrics={**drawer.metrics, "base.turn_rad": 1.0})
    both = simbench.compare(drawer, moved)
    (change,) = both.changes
    assert change.name == "base.turn_rad"
    assert "worse" not in repr(both)
    assert both.metrics.loc["base.turn_rad", "outcome"] == "differs"
