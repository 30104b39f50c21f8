"""`--robot`, short for one `--set`, and what the shell completes for it."""

import json
from pathlib import Path

import pytest

from simbench.cli.main import main
from simbench.cli.shared_options import list_overrides
from simbench.runs.scenario.loading import load_scenario


def test_set_wins_over_robot():
    assert list_overrides(None, None) == []
    assert list_overrides(["seed=1"], None) == ["seed=1"]
    given = list_overrides(["robot.name=mahru"], "puma560")
    assert load_scenario("puma560_sweep", given).robot.name == "mahru"


@pytest.mark.parametrize("name", ["1.0", "~", "a b", "é: [x", "true"])
def test_a_robot_is_a_text_whatever_yaml_would_make_of_it(name):
    assert load_scenario("puma560_sweep", list_overrides([], name)).robot.name == name


def test_run_takes_another_robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    still = [
        "--set",
        "motion.task.amplitude_rad=0.1",
        "--set",
        "motion.task.speed_rad_s=2",
        "--set",
        "checks={}",
    ]
    assert main(["run", "puma560_sweep", "--robot", "direct_drive_arm", *still, "--out", "run"]) == 0
    provenance = json.loads(Path("run/provenance.json").read_text())
    assert provenance["robot"]["origin"] == "shipped"
    assert "name: direct_drive_arm" in Path("run/scenario.yaml").read_text()
