"""Studies of cheap work: what is done stays done, and the table does not tell what happened on the way."""

import importlib
import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from waiting import wait_until

from simbench.errors import StudyError
from simbench.runs import study
from simbench.runs.execution import JobResult, capture_result, run_isolated
from simbench.runs.study import TABLE, TIMING, Item, finished_rows, run_study

parquet = pytest.importorskip("pyarrow.parquet")
IMPORTABLE = Path(__file__).parents[1] / "helpers" / "importable"

KILLED = """
import sys
from functools import partial
from pathlib import Path
from simbench.runs.execution import run_isolated
from simbench.runs.study import Item, run_study
from study_units import square

items = [Item({"number": n}, (n, sys.argv[1]), n) for n in range(6)]
run_study(square, items, Path(sys.argv[2]), execute=partial(run_isolated, jobs=2))
"""


def run_here(function, work):
    for index, arguments in enumerate(work):
        yield index, capture_result(function, arguments)


def run_backwards(function, work):
    yield from list(run_here(function, work))[::-1]


@pytest.fixture
def units(monkeypatch):
    monkeypatch.syspath_prepend(str(IMPORTABLE))
    import study_units

    return study_units


@pytest.fixture
def items(tmp_path):
    """Six numbers, and the folder of their calls."""
    folder = tmp_path / "calls"
    folder.mkdir()
    return [Item({"number": number}, (number, str(folder)), number) for number in range(6)]


def calls(tmp_path):
    """The processes by number that were called for it."""
    folder = tmp_path / "calls"
    return {
        int(path.name.partition("-")[2]): list(map(int, path.read_text().split()))
        for path in folder.glob("called-*")
    }


def alive(process):
    """Whether a process of another parent runs."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_the_table_has_a_row_an_item_and_times_are_apart(units, items, tmp_path, monkeypatch):
    """On a clock by which the first item takes a second, the second one two, and so on."""
    read = iter(np.repeat(np.cumsum(np.arange(7.0)), 2)[1:].tolist())
    monkeypatch.setattr(study, "time", SimpleNamespace(perf_counter=lambda: next(read)))
    seen = []
    rows = run_study(
        units.square, items, tmp_path / "a", execute=run_here, on_progress=lambda *told: seen.append(told)
    )
    assert [row.values["square"] for row in rows] == [0, 1, 4, 9, 16, 25]
    assert seen == [("runs", done, 6) for done in range(7)]
    table = parquet.read_table(tmp_path / "a" / TABLE)
    assert table.to_pydict() == {
        "number": list(range(6)),
        "none": [None] * 6,
        "square": [0, 1, 4, 9, 16, 25],
        "third": [number / 3.0 for number in range(6)],
        "error": [None] * 6,
    }
    assert [str(field.type) for field in table.schema] == ["int64", "double", "int64", "double", "string"]
    timing = parquet.read_table(tmp_path / "a" / TIMING)
    assert timing.column_names == ["number", "seconds", "timing.process"]
    assert timing["seconds"].to_pylist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_columns_of_several_kinds_are_json_and_whole_numbers_among_others_are_numbers(tmp_path):
    work = [Item({"a": a, "b": b}, ({"sum": a},)) for a, b in ((1, [1, 2]), (2.5, "x"), (3, None), (4, True))]
    run_study(dict, work, tmp_path / "a", execute=run_here)
    columns = parquet.read_table(tmp_path / "a" / TABLE).to_pydict()
    assert columns["a"] == columns["sum"] == [1.0, 2.5, 3.0, 4.0]
    assert columns["b"] == ["[1, 2]", '"x"', None, "true"]


def test_killed_in_the_middle_it_goes_on_to_the_same_table_without_repeating_what_was_done(
    units, items, tmp_path
):
    """SIGKILL, with two rows written and two under way; the processes at work end by themselves."""
    slow = tmp_path / "calls" / "slow"
    slow.touch()
    program = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "calls"), str(tmp_path / "a")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(IMPORTABLE), *filter(None, sys.path)])},
    )
    try:
        wait_until(lambda: finished_rows(tmp_path / "a") == 2 and {2, 3} <= calls(tmp_path).keys())
        with pytest.raises(StudyError, match="another process is working on this study"):
            run_study(units.square, items, tmp_path / "a", execute=run_here)
    finally:
        program.send_signal(signal.SIGKILL)
        program.wait()
    under_way = [*calls(tmp_path)[2], *calls(tmp_path)[3]]
    wait_until(lambda: not any(map(alive, under_way)))
    assert not (tmp_path / "a" / TABLE).exists()
    slow.unlink()

    seen = []
    run_study(
        units.square, items, tmp_path / "a", execute=run_here, on_progress=lambda *told: seen.append(told)
    )
    assert seen[0] == ("runs", 2, 6)
    assert {number: len(made) for number, made in calls(tmp_path).items()} == {
        0: 1,
        1: 1,
        2: 2,
        3: 2,
        4: 1,
        5: 1,
    }
    run_study(units.square, items, tmp_path / "unbroken", execute=run_backwards)
    assert (tmp_path / "a" / TABLE).read_bytes() == (tmp_path / "unbroken" / TABLE).read_bytes()


def test_a_row_that_was_half_written_is_made_again(units, items, tmp_path):
    run_study(units.square, items, tmp_path / "a", execute=run_here)
    whole = (tmp_path / "a" / TABLE).read_bytes()
    torn, unfinished = sorted((tmp_path / "a" / "rows").iterdir())[:2]
    torn.write_bytes(torn.read_bytes()[:20])
    unfinished.rename(unfinished.with_name(unfinished.name + ".tmp"))
    run_study(units.square, items, tmp_path / "a", execute=run_here)
    assert sum(len(made) for made in calls(tmp_path).values()) == 8
    assert (tmp_path / "a" / TABLE).read_bytes() == whole


@pytest.mark.parametrize(
    "damage",
    [
        lambda row: row["values"].pop("square"),
        lambda row: row["values"].update(square=row["values"]["square"] + 1),
        lambda row: row.update(error="it failed"),
        lambda row: row.pop("sha256"),
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_made_again(units, items, tmp_path, damage):
    run_study(units.square, items, tmp_path / "a", execute=run_here)
    whole = (tmp_path / "a" / TABLE).read_bytes()
    path = sorted((tmp_path / "a" / "rows").iterdir())[0]
    row = json.loads(path.read_text(encoding="utf-8"))
    damage(row)
    path.write_text(json.dumps(row), encoding="utf-8")
    run_study(units.square, items, tmp_path / "a", execute=run_here)
    assert sum(len(made) for made in calls(tmp_path).values()) == 7
    assert (tmp_path / "a" / TABLE).read_bytes() == whole


def test_an_error_is_a_row_and_a_process_that_died_is_tried_again(units, items, tmp_path):
    ill = tmp_path / "calls" / "ill"
    ill.touch()
    run = partial(run_study, units.fragile, items[:4], tmp_path / "a", execute=partial(run_isolated, jobs=2))
    rows = run()
    assert [bool(row.error) for row in rows] == [False, True, True, False]
    assert rows[1].error.startswith("ValueError: one is not wanted (")
    assert rows[2].error == "its process died, exit status 7"
    assert parquet.read_table(tmp_path / "a" / TABLE)["error"].to_pylist()[2] == rows[2].error
    ill.unlink()
    again = run(execute=run_here)
    assert [bool(row.error) for row in again] == [False, True, False, False]
    assert again[1] == rows[1]
    assert {number: len(made) for number, made in calls(tmp_path).items()} == {0: 1, 2: 1, 3: 1}
    called = []
    run(execute=lambda function, work: called.extend(work) or run_here(function, work), retry=True)
    assert [arguments for *_, arguments in called] == [items[1].arguments]


@pytest.mark.parametrize("how", ["system", "run"])
def test_a_full_disk_is_no_result_and_is_tried_again(units, items, tmp_path, how):
    (tmp_path / "calls" / "full").write_text(how, encoding="utf-8")
    run = partial(run_study, units.crowded, items[:2], tmp_path / "a", execute=run_here)
    assert ["No space left" in row.error for row in run()] == [True, False]
    assert [row.error for row in run()] == ["", ""]


def test_a_study_whose_directory_was_deleted_meanwhile_goes_on(units, items, tmp_path):
    (tmp_path / "a" / "runs" / "0001-seed=1.incomplete").mkdir(parents=True)
    rows = run_study(units.square, items[:1], tmp_path / "a", execute=run_here)
    assert not rows[0].error


def test_ctrl_c_keeps_what_is_done(units, items, tmp_path):
    def interrupted(function, work):
        yield from list(run_here(function, work[:2]))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(units.square, items, tmp_path / "a", execute=interrupted)
    assert finished_rows(tmp_path / "a") == 2
    assert len(run_study(units.square, items, tmp_path / "a", execute=run_here)) == 6
    assert sum(len(made) for made in calls(tmp_path).values()) == 6


def test_the_directory_of_something_else_is_refused(units, items, tmp_path, monkeypatch):
    folder = tmp_path / "a"
    run_study(units.square, items[:2], folder, execute=run_here)
    for function, others in ((units.square, items), (units.fragile, items[:2])):
        with pytest.raises(StudyError, match=r"a: holds another study, 2 runs over number; choose another"):
            run_study(function, others, folder, execute=run_here)
    with monkeypatch.context() as patch:
        patch.setattr(study, "sources_fingerprint", lambda: "0" * 32)
        with pytest.raises(StudyError, match="begun with other sources"):
            run_study(units.square, items[:2], folder, execute=run_here)
    thesis = tmp_path / "thesis"
    thesis.mkdir()
    (thesis / "chapter1.tex").touch()
    with pytest.raises(StudyError):
        run_study(units.square, items, thesis, execute=run_here)
    assert [path.name for path in thesis.iterdir()] == ["chapter1.tex"]


def test_sources_that_change_meanwhile_end_it_and_keep_what_was_done(units, items, tmp_path, monkeypatch):
    # Of the study, of two rows, and of the third.
    states = iter(["old", "old", "old", "new"])
    monkeypatch.setattr(study, "sources_fingerprint", lambda: next(states))
    with pytest.raises(StudyError, match="have changed since the study began"):
        run_study(units.square, items, tmp_path / "a", execute=run_here)
    assert finished_rows(tmp_path / "a") == 2


def test_the_file_of_the_function_is_a_source_too(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    work = [Item({"number": 2}, (2,))]
    for power, name in ((2, "first"), (3, "first"), (3, "second")):
        (tmp_path / "powers.py").write_text(f"def power(number):\n    return {{'power': number**{power}}}\n")
        monkeypatch.delitem(sys.modules, "powers", raising=False)
        importlib.invalidate_caches()
        module = importlib.import_module("powers")
        if (power, name) == (3, "first"):
            with pytest.raises(StudyError, match="begun with other sources"):
                run_study(module.power, work, tmp_path / name, execute=run_here)
        else:
            run_study(module.power, work, tmp_path / name, execute=run_here)


def test_two_items_that_are_one_are_refused(units, items, tmp_path):
    twice = [*items, Item({"number": "two"}, items[2].arguments, 2)]
    with pytest.raises(StudyError):
        run_study(units.square, twice, tmp_path / "a", execute=run_here)
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("returned", "said"),
    [({"number": 1}, "number"), ({"inner": {"a": 1}}, "inner"), ({"error": "x"}, "error")],
)
def test_what_is_no_row_is_an_error_of_its_item(tmp_path, returned, said):
    (row,) = run_study(dict, [Item({"number": 1}, (returned,))], tmp_path / "a", execute=run_here)
    assert row.error.startswith(f"{said}: the study's function returns ")
    assert row.values == {}


def test_an_answer_of_a_process_that_died_is_known_by_it():
    assert JobResult(error="x").crashed is False
    (_, answer), *_ = run_isolated(os._exit, [(3,)], 1)
    assert answer.crashed
