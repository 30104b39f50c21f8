import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from rich.console import Console
from script_modules import loaded_script

from simbench.errors import SkillError
from simbench.motion.actors.session import perform_in_session
from simbench.skills.fuzzy_rules import INPUTS
from simbench.skills.fuzzy_strategy import read_rule_base
from simbench.skills.inverse_optimal_control import compute_criterion_shares


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
    return script.LabelledRecordings(
        session, task, actor, rng.uniform(size=(len(task), len(INPUTS))), weights
    )


def column(table, number):
    return list(table.columns[number].cells)


def test_agreement_is_by_task_and_says_when_the_paper_is_missed(script, recordings, monkeypatch):
    right = np.minimum(recordings.dominant, 2)

    def wrong(task, actors):
        predicted = right.copy()
        predicted[(recordings.task == task) & np.isin(recordings.actor, actors)] = 1
        return predicted

    monkeypatch.setattr(script, "predict_dominant", lambda given, predicted: predicted)
    judged = (recordings, recordings.dominant, {})
    assert script.agreement_table(judged, {script.OURS: right})[1]
    # 14 of 16, and 6 of 16: velocity is what actors 2, 6 and 10 have.
    table, held = script.agreement_table(judged, {"other": right, script.OURS: wrong("drawer", [1])})
    assert not held
    row = [each[list(script.PAPER).index("drawer")] for each in (column(table, k) for k in range(6))]
    assert row == ["drawer", "88%", "100%", "88%", "MISSED", "16"]
    assert not script.agreement_table(judged, {script.OURS: wrong(script.UNSEEN, range(1, 11))})[1]


def test_the_example_of_the_thesis_is_reproduced_by_its_rules(script):
    bases = {script.PRINTED: read_rule_base("thesis"), script.OURS: read_rule_base()}
    table, reproduced = script.example_table(bases)
    assert reproduced
    printed, found = (dict(zip(column(table, 0), column(table, k), strict=True)) for k in (1, 2))
    assert found["rules satisfied"] == printed["rules satisfied"] == "1, 8"
    assert found["Kenergy"] == printed["Kenergy"] == "0.95"
    assert not script.example_table({script.PRINTED: read_rule_base()})[1]


def test_fitness_is_compared_person_by_person(script, recordings):
    found = np.full(len(recordings.task), 0.004)
    ruled = np.where(recordings.actor == 1, 0.012, 0.005)
    ruled[(recordings.task == "pump") & (recordings.actor == 2)] = np.inf
    predicted = np.where(recordings.actor == 1, 1, np.minimum(recordings.dominant, 2))
    errors = {script.FOUND: found, script.OURS: ruled, script.PRINTED: 2.0 * found}
    table = script.fitness_table((recordings, recordings.dominant, errors), predicted)
    rows = {cells[0]: cells for cells in zip(*(column(table, k) for k in range(10)), strict=True)}
    # Of eight actors that rules can be right about, two are number 1.
    assert rows["drawer"] == (
        *("drawer", "fig. 5.15", "16", "4.0", "5.0", "1.25"),
        *(f"{(2 * 3.0 + 14 * 1.25) / 16:.2f}", "1.25", "3.00", "2.00"),
    )
    assert rows["pump"][2] == "16, 2 lose the path"


def test_people_are_tuned_on_by_what_they_minimise_and_inputs_are_kept(script, monkeypatch, tmp_path):
    asked = []

    def inputs(session, actor, task):
        asked.append((session, actor, task))
        return np.full(len(INPUTS), 0.01 * actor)

    monkeypatch.setattr(script, "_computed", lambda function, given, *rest: [inputs(*each) for each in given])
    first = script.recordings_to_tune_on([2019], tmp_path / "inputs.csv", 1, Console())
    assert len(asked) == len(first.task) < 15 * 7
    assert first.decidable.all()
    assert script.UNSEEN not in first.task
    again = script.recordings_to_tune_on([2019], tmp_path / "inputs.csv", 1, Console())
    assert len(asked) == len(first.task)
    np.testing.assert_array_equal(again.inputs, first.inputs)
    hidden = perform_in_session(2019, int(first.actor[0]), str(first.task[0])).strategy
    assert first.weights[0] == pytest.approx(compute_criterion_shares(hidden.weights, 0.01))


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
