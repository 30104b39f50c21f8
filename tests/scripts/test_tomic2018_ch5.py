import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from rich.console import Console
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.skills.fuzzy_rules import INPUTS


@pytest.fixture(scope="module")
def script():
    with loaded_script("reproduce/tomic2018/ch5.py") as module:
        yield module


@pytest.fixture
def recordings(script):
    """Ten actors of two sessions, all tasks, random inputs; each four actors are one of each kind."""
    rng = np.random.default_rng(3)
    session = np.repeat([2018, 2019], 80)
    task = np.tile(np.repeat([*script.THESIS_TASKS, script.UNSEEN], 10), 2)
    actor = np.tile(np.arange(1, 11), 16)
    weights = np.full((len(task), 4), 0.1)
    weights[np.arange(len(task)), (actor - 1) % 4] = 0.7
    names = tuple(frozenset([script.NAMES[k]]) for k in weights.argmax(axis=1))
    return script.LabelledRecordings(
        session, task, actor, rng.uniform(size=(len(task), len(INPUTS))), weights, names
    )


def test_tables_say_when_the_paper_is_missed(script, recordings):
    right = script.Validation(np.minimum(recordings.dominant, 2), 1.0)
    assert script.agreement_table(recordings, [right] * 3)[1]

    def wrong(task, actors):
        predicted = right.predicted.copy()
        predicted[(recordings.task == task) & np.isin(recordings.actor, actors)] = 1
        return script.Validation(predicted, 1.0)

    # 14 of 16, and 6 of 16: velocity is what actors 2, 6 and 10 have.
    table, held = script.agreement_table(recordings, [wrong("drawer", [1])] * 3)
    assert not held
    cells = [list(column.cells)[list(script.PAPER).index("drawer")] for column in table.columns]
    assert cells[:7] == ["drawer", "88%", *["88%"] * 4, "MISSED"]
    assert not script.agreement_table(recordings, [wrong(script.UNSEEN, range(1, 11))] * 3)[1]
    only = wrong("pump", [1])
    only.predicted[recordings.session == 2019] = right.predicted[recordings.session == 2019]
    table = script.session_table(recordings, [only])
    assert [list(column.cells)[list(script.PAPER).index("pump")] for column in table.columns] == [
        "pump",
        "88% of 8",
        "100% of 8",
    ]


def test_only_recordings_without_a_table_are_studied(script, monkeypatch, tmp_path):
    given = [{"task": task, "actor": 1, "session": 2019} for task in script.THESIS_TASKS]
    studied = []

    def read_rows(path, console):
        if path == tmp_path / "given":
            return given
        return [{"path": path}]

    monkeypatch.setattr(script, "read_rows", read_rows)
    monkeypatch.setattr(script, "run_study", lambda function, items, *rest, **more: studied.extend(items))
    rows = script.optimised([2019], [tmp_path / "given"], tmp_path, 1, Console())
    assert rows == [*given, {"path": tmp_path / "optimised_2019" / "table.parquet"}]
    assert {item.varied["task"] for item in studied} == {script.UNSEEN}
    assert [item.varied["actor"] for item in studied] == list(range(1, 16))
    with pytest.raises(SkillError):
        script.optimised([2018], [tmp_path / "given"], tmp_path, 1, Console())


def test_rows_of_everybody_are_left_out_and_errors_are_said(script, tmp_path):
    rows = [{"session": 2018, "task": "pump", "actor": actor, "error": None} for actor in (0, 1, 2)]
    rows[2]["error"] = "the hands cannot follow"
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "good.parquet")
    console = Console(width=200, record=True)
    assert [row["actor"] for row in script.read_rows(tmp_path / "good.parquet", console)] == [1]
    assert console.export_text() == ("left out: pump, actor 2 of session 2018: the hands cannot follow\n")
    parquet.write_table(pa.table({"other": [1]}), tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("no table")
    for name in ("other", "text", "none"):
        with pytest.raises(SkillError):
            script.read_rows(tmp_path / f"{name}.parquet", console)
