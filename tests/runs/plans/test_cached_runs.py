"""Runs with and without the cache of plans are the same, bit for bit."""

import json

import pytest

from simbench.cli.main import main
from simbench.runs import execution as local
from simbench.runs.execution import capture_result
from simbench.runs.log import open_run
from simbench.runs.plan_cache import FOLDER_VARIABLE

SHORT = ["motion.end_s=0.4", "simulation.lead_in_s=0.6", "simulation.hold_s=0.1"]


def read(folder, name):
    return json.loads((folder / name).read_text(encoding="utf-8"))


def test_a_sweep_of_friction_plans_once_and_changes_no_bit(tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")

    def run_here(function, work, jobs):
        for index, arguments in enumerate(work):
            yield index, capture_result(function, arguments)

    monkeypatch.setattr(local, "run_isolated", run_here)
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "cache"))
    sets = [part for text in SHORT for part in ("--set", text)]
    vary = ["--vary", "simulation.floor_friction=0.7,0.8,0.9"]
    assert main(["sweep", "dance", *vary, *sets, "--keep", "--out", str(tmp_path / "s")]) in (0, 1)
    assert "plans  made: 1, reused: 2" in capsys.readouterr().out
    swept = sorted((tmp_path / "s" / "runs").iterdir())[1]
    alone = tmp_path / "alone"
    assert main(["run", "dance", *sets, "--no-cache", "--out", str(alone)]) in (0, 1)
    plans = [read(folder, "provenance.json")["plan"] for folder in (swept, alone)]
    assert [plan["reused"] for plan in plans] == [True, False]
    assert plans[0]["key"] == plans[1]["key"]
    metrics = [read(folder, "metrics.json") for folder in (swept, alone)]
    assert metrics[0].keys() == metrics[1].keys()
    assert [
        name for name in metrics[0] if metrics[0][name] != metrics[1][name] and not name.startswith("timing.")
    ] == []
    logs = [open_run(folder) for folder in (swept, alone)]
    assert set(logs[0]) == set(logs[1])
    assert [
        name for name in logs[0] if logs[0][name].values.tobytes() != logs[1][name].values.tobytes()
    ] == []
