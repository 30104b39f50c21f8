import importlib.util
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from rich.console import Console

from simbench.errors import SkillError
from simbench.skills.fuzzy_memberships import BY_HAND
from simbench.skills.fuzzy_rules import INPUTS, OUTPUTS

SCRIPT = Path(__file__).parents[1] / "scripts" / "reproduce_tomic2018_ch5.py"


@pytest.fixture(scope="module")
def script():
    spec = importlib.util.spec_from_file_location(SCRIPT.stem, SCRIPT)
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules[spec.name]


@pytest.fixture
def recordings(script):
    """Ten actors, all tasks, random inputs; the first three actors of each task are one of each kind."""
    rng = np.random.default_rng(3)
    task = np.repeat([*script.THESIS_TASKS, script.UNSEEN], 10)
    actor = np.tile(np.arange(1, 11), 8)
    weights = np.full((len(task), 4), 0.1)
    weights[np.arange(len(task)), (actor - 1) % 4] = 0.7
    names = tuple(frozenset([script.NAMES[k]]) for k in weights.argmax(axis=1))
    return script.Recordings(task, actor, rng.uniform(size=(len(task), len(INPUTS))), weights, names)


def test_nobody_is_judged_by_terms_tuned_on_them(script, recordings, monkeypatch):
    tuned = []

    def tune_on(given, chosen, rules):
        np.testing.assert_array_equal(given.inputs, recordings.inputs)
        tuned.append(chosen)
        return len(tuned) - 1

    # Each recording is told which tuning answered.
    monkeypatch.setattr(script, "tune_on", tune_on)
    monkeypatch.setattr(script, "speak", lambda given, number, rules: np.full(len(given.task), number))
    judged = script.judge(recordings, 1)
    assert len(tuned) == script.FOLDS
    for k, number in enumerate(judged.said):
        together = set(recordings.actor[judged.said == number])
        assert recordings.actor[k] in together
        assert len(together) == 2
        # Manipulability dominates all that actors 4 and 8 do.
        assert set(recordings.actor[tuned[number]]) == set(range(1, 11)) - together - {4, 8}
    for chosen in tuned:
        assert script.UNSEEN not in recordings.task[chosen]
        assert (recordings.weights[chosen].argmax(axis=1) < len(OUTPUTS)).all()
        assert np.count_nonzero(chosen) > 40


def test_people_of_other_sessions_are_tuned_on_and_never_judged(script, recordings, monkeypatch):
    chosen = []
    monkeypatch.setattr(script, "tune_on", lambda given, picked, rules: chosen.append((given, picked)))
    monkeypatch.setattr(script, "speak", lambda given, _, rules: np.zeros(len(given.task), dtype=np.int64))
    judged = script.judge(recordings, 1, recordings)
    count = len(recordings.task)
    assert judged.said.shape == (count,)
    whole = recordings.counts & (recordings.task != script.UNSEEN)
    for given, picked in chosen:
        assert len(given.task) == 2 * count
        np.testing.assert_array_equal(picked[count:], whole)
        assert picked[:count].sum() < whole.sum()


def test_share_leaves_manipulability_out(script, recordings):
    # Of ten actors, those of numbers 4 and 8 are dominated by manipulability.
    energy = np.zeros(len(recordings.task), dtype=np.int64)
    assert script.share(energy, recordings, "pump") == pytest.approx(3 / 8)
    right = np.minimum(recordings.dominant, 2)
    assert script.share(right, recordings, "pump") == 1.0


def test_tables_say_when_the_paper_is_missed(script, recordings):
    right = script.Judged(np.minimum(recordings.dominant, 2), 0.6, 1.0)
    assert script.agreement_table(recordings, [right] * 3)[1]
    said = right.said.copy()
    said[(recordings.task == "drawer") & (recordings.actor == 1)] = 1
    table, held = script.agreement_table(recordings, [script.Judged(said, 0.6, 1.0)] * 3)
    assert not held
    assert [list(column.cells)[script.THESIS_TASKS.index("drawer")] for column in table.columns][:6] == [
        "drawer",
        "88%",
        *["88%"] * 4,
    ]
    assert not script.agreement_table(recordings, [script.Judged(right.said, 0.4, 1.0)] * 3)[1]


def test_rules_speak_of_all_recordings(script, recordings):
    said = script.speak(recordings, BY_HAND)
    assert said.shape == recordings.task.shape
    assert set(said) <= {0, 1, 2}


def test_only_tasks_without_a_table_are_studied(script, monkeypatch, tmp_path):
    given = [{"task": task, "actor": 1} for task in script.THESIS_TASKS]
    made = [{"task": script.UNSEEN, "actor": 1}]
    studied = []
    monkeypatch.setattr(script, "read_rows", lambda path: given if path == tmp_path / "given" else made)
    monkeypatch.setattr(script, "run_study", lambda function, items, *rest, **more: studied.extend(items))
    rows = script.optimised(2018, [tmp_path / "given"], tmp_path, 1, Console())
    assert rows == [*given, *made]
    assert {item.varied["task"] for item in studied} == {script.UNSEEN}
    assert [item.varied["actor"] for item in studied] == list(range(1, 16))


def test_rows_of_everybody_are_left_out_and_errors_are_not(script, tmp_path):
    rows = [{"task": "pump", "actor": actor, "error": None} for actor in (0, 1)]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "good.parquet")
    assert [row["actor"] for row in script.read_rows(tmp_path / "good.parquet")] == [1]
    rows[1]["error"] = "the hands cannot follow"
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "bad.parquet")
    with pytest.raises(SkillError, match="pump 1: the hands cannot follow"):
        script.read_rows(tmp_path / "bad.parquet")
    parquet.write_table(pa.table({"other": [1]}), tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("no table")
    for name in ("other", "text", "none"):
        with pytest.raises(SkillError, match="no table of the study"):
            script.read_rows(tmp_path / f"{name}.parquet")
