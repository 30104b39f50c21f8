"""Tables of chapter 4 from a study that is not finished."""

import json

import pytest
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.kinematics.redundancy_criteria import CRITERIA
from simbench.runs.provenance import fingerprint
from simbench.runs.study import StudyRow, write_row

TASKS, ACTORS = ("pump", "drawer"), (1, 2, 3)


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/ch4.py") as module:
        yield module


@pytest.fixture
def items(script):
    return script.skill_items(TASKS, ACTORS, script.MixtureSearch())


@pytest.fixture
def folder(script, items, tmp_path):
    """Everybody and the first two actors are finished, the third in one task."""
    (tmp_path / "rows").mkdir()
    for item in items[:-1]:
        hidden = "velocity" if item.varied["actor"] == 2 else "energy"
        values = {
            **dict(zip(CRITERIA, (0.7, 0.1, 0.1, 0.1), strict=True)),
            **{f"hidden_{name}": float(name == hidden) for name in CRITERIA},
            **{f"single_{name}_m": 0.03 for name in CRITERIA},
            "single_ergonomy_m": None,
            "fitness_m": 0.004,
            "dominant": "energy",
            "hidden_dominant": hidden,
            "rivals": "energy, velocity",
            "confused": "energy-ergonomy",
        }
        key = fingerprint((script.study_mixture, item.arguments))
        write_row(tmp_path, key, StudyRow(item.varied, values, 20.0, ""))
    return tmp_path


def test_only_actors_of_all_tasks_count(script, items, folder):
    rows = script.finished_rows(items, folder)
    assert [(row.varied["task"], row.varied["actor"]) for row in rows] == [
        (task, actor) for actor in (script.EVERYBODY, 1, 2) for task in TASKS
    ]
    with pytest.raises(SkillError):
        script.finished_rows(script.skill_items(TASKS, (4,), script.MixtureSearch()), folder)


def test_finished_rows_are_printed_and_written(script, folder, tmp_path, capsys):
    file = tmp_path / "x.json"
    arguments = ["--tasks", ",".join(TASKS), "--actors", "1,2,3", "--out", str(folder), "--finished"]
    assert script.main([*arguments, "--results", str(file)]) == 1
    out = capsys.readouterr().out
    results = json.loads(file.read_text(encoding="utf-8"))
    assert results["command"].endswith(f"--out {folder}")
    assert results["scope"] == "2 of 3 virtual actors of session 2018, 2 tasks; table 4.2 of all 3"
    assert (results["duration_s"], results["timed"]) == (120, "sum of the durations of all jobs")
    first, counts, _, general = results["tables"]
    assert first["rows"][0] == ["pump", "9.6", "4.0", "30.0", "30.0", "inf", "30.0", "7.50"]
    assert "inf: " in first["note"]
    assert counts["rows"][0][1:6] == [
        "energy 9, velocity 2, ergonomy 2, manipulability 2",
        "energy 1, velocity 1",
        "energy 2",
        "energy 2",
        "50 %",
    ]
    assert general["rows"][1][1:4] == [
        "0.000 0.999 0.001 0.000",
        "1.000 0.000 0.000 0.000",
        "0.700 0.100 0.100 0.100",
    ]
    assert [check["holds"] for check in results["checks"]] == [False, True, True]
    assert all(check["what"] in out for check in results["checks"])
    assert (folder / "weights.png").is_file()
