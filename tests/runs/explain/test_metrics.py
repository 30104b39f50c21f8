import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from simbench.resources import resource_dir
from simbench.runs.explain.documented_names import find_log_entry
from simbench.runs.metric_catalogue import (
    find_metric,
    metric_direction,
    metric_entries,
    unit_of,
    usual_tolerance,
)
from simbench.runs.metrics import fixture_metrics
from simbench.runs.scenario.loading import load_scenario

BASELINES = sorted((resource_dir("scenarios") / "baselines").glob("*.json"))


def missing(path: Path) -> list[str]:
    """Names without an entry; that of a fixture counts only for the scenario's own fixtures."""
    fixtures = {fixture.name for fixture in load_scenario(path.stem).fixtures}
    known = {entry.name for entry in metric_entries()}
    return [
        name
        for name in json.loads(path.read_text(encoding="utf-8"))
        if find_metric(name) is None or (name not in known and name.partition(".")[0] not in fixtures)
    ]


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: path.stem)
def test_every_metric_of_every_baseline_has_an_entry(path):
    assert missing(path) == []


def test_entries_agree_with_the_names_units_and_directions_of_metrics():
    entries = metric_entries()
    assert len({entry.name for entry in entries}) == len(entries)
    for entry in entries:
        assert entry.unit == unit_of(entry.name)
        assert entry.better == metric_direction(entry.name)
        assert entry.definition.endswith(".")
        assert entry.advice.endswith(".")
        if entry.better != "ignored" and entry.kind == "number":
            assert f"at least {usual_tolerance(entry.name, 0.0):g}" in entry.tolerance or (
                usual_tolerance(entry.name, 0.0) == 0.0
            )


def test_a_metric_is_computed_from_variables_that_logs_have():
    named = {name for entry in metric_entries() for name in entry.variables}
    assert "zmp_margin" in named
    assert [name for name in named if find_log_entry(name) is None] == []


@pytest.mark.parametrize("name", ["zmp.none_m", "grip.other_n", "drawer", "a.b.travel_m", ""])
def test_a_name_that_no_run_gives_has_no_entry(name):
    assert find_metric(name) is None


def test_a_fixtures_metric_is_explained_with_the_fixtures_name():
    entry = find_metric("my-box.lid_ratio")
    assert entry.name == "my-box.lid_ratio"
    assert entry.variables == ("my-box_lid", "my-box_lid_actor", "strokes")
    assert find_metric("knife.cut_ratio").variables == ("knife_cut", "knife_cut_actor")
    assert "<" not in entry.definition + entry.advice


def test_the_entries_of_fixtures_are_those_that_a_fixture_with_everything_has():
    time = np.linspace(0.0, 1.0, 5)
    pose = np.tile([0.0] * 6 + [1.0], (5, 1))
    log = xr.Dataset(
        {
            "block_lid": ("time", time),
            "block_lid_actor": ("time", time),
            "block_cut": ("time", time),
            "block_cut_actor": ("time", time),
            "block_stand": (("time", "pose"), pose),
            "strokes": (("stroke", "bound"), [[0.0, 1.0]]),
        },
        coords={"time": time},
        attrs={"settle_s": 0.0},
    )
    for unit in ("m", "rad"):
        for name in fixture_metrics(log, "block", {"lid": unit}):
            assert find_metric(name).name == name
    patterns = [entry.name for entry in metric_entries() if entry.name.startswith("<")]
    given = {*fixture_metrics(log, "block", {"lid": "m"}), *fixture_metrics(log, "block", {"lid": "rad"})}
    assert {each.replace("<fixture>", "block").replace("<joint>", "lid") for each in patterns} == given
