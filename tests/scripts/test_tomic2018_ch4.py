"""Tables of chapter 4 from a study that is not finished."""

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
    with pytest.raises(SkillError, match="no actor of this study is finished in all tasks"):
        script.finished_rows(script.skill_items(TASKS, (4,), script.MixtureSearch()), folder)
