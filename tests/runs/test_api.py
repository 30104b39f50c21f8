"""`simbench.run`: what it passes on, and where the run goes."""

import os

import numpy as np
import pytest

import simbench
from simbench.errors import ScenarioError
from simbench.runs import pipeline as api

SHORT = {"motion.task.amplitude_rad": 0.05, "motion": {"task": {"speed_rad_s": 1.0}}, "checks": {}}


def test_a_run_without_a_directory_goes_to_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = simbench.run("puma560_sweep", SHORT, on_progress=False)
    assert result.directory.parent == type(result.directory)("runs")
    assert result.directory.name.startswith("puma560_sweep-")
    assert os.listdir("runs") == [result.directory.name]
    scenario = simbench.load_scenario(result.directory / "scenario.yaml")
    assert scenario.motion.task["amplitude_rad"] == 0.05
    assert simbench.load_run(result.directory).metrics == result.metrics


@pytest.mark.parametrize(
    "overrides",
    [
        {"control.law": "pd", "control.stiffness_scale": np.float64(2.0)},
        {"control": {"law": "pd", "stiffness_scale": 2}},
        ["control.law=pd", "control.stiffness_scale=2"],
    ],
)
@pytest.mark.parametrize("loaded", [False, True])
def test_values_are_set_by_dotted_keys_nested_keys_or_texts(overrides, loaded, monkeypatch, tmp_path):
    runs = []
    monkeypatch.setattr(api, "run_scenario", lambda scenario, out, **_: runs.append((scenario, out)))
    given = simbench.load_scenario("puma560_sweep") if loaded else "puma560_sweep"
    simbench.run(given, overrides, out=tmp_path)
    ((scenario, out),) = runs
    assert scenario.control.stiffness_scale == 2.0
    assert out == tmp_path


def test_a_key_that_does_not_exist_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ScenarioError, match=r"override control\.stifness: .*did you mean 'stiffness'"):
        simbench.run("drawer", {"control": {"stifness": 2}})
    assert not os.listdir(tmp_path)
