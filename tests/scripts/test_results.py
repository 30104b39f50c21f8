"""The file of results of the scripts that reproduce papers."""

import json

import pytest
from rich.table import Table
from script_modules import SCRIPTS, loaded_script


@pytest.fixture(scope="module")
def results():
    with loaded_script("reproduce/results.py") as module:
        yield module


@pytest.fixture
def table():
    made = Table("", "paper", "ours\nmm", title="Table 1:\n errors", caption="of all\njoints")
    made.add_row("mean", "< 2", "1.25")
    made.add_section()
    made.add_row("[peak]", "", None)
    return made


def test_what_is_printed_is_written(results, table, tmp_path):
    script = SCRIPTS / "reproduce" / "tomic2018" / "ch3.py"
    found = results.begin_results(
        str(script), ["--seed", "3", "--results", "x.json", "--jobs", "2"], "two of 19"
    )
    assert results.begin_results(str(script), []).paper == "tomic2018"
    assert found.add(table, "figure 3.7", "mm", "More.") is table
    assert found.remark("one\n line") == "one\n line"
    found.check("mean: 1.25, ≤ 2", True)
    found.duration_s, found.timed = 12.6, results.JOBS
    path = tmp_path / "new" / "x.json"
    results.write_results(path, found)
    read = json.loads(path.read_text(encoding="utf-8"))
    assert read.pop("date")[:2] == "20"
    assert read.pop("simbench")
    assert len(read.pop("computed_from")["code"]) == 12
    assert read == {
        "paper": "tomic2018",
        "script": "scripts/reproduce/tomic2018/ch3.py",
        "command": "python scripts/reproduce/tomic2018/ch3.py --seed 3 --jobs 2",
        "duration_s": 13,
        "timed": results.JOBS,
        "scope": "two of 19",
        "checks": [{"what": "mean: 1.25, ≤ 2", "holds": True}],
        "remarks": ["one line"],
        "tables": [
            {
                "title": "Table 1: errors",
                "source": "figure 3.7",
                "unit": "mm",
                "columns": ["", "paper", "ours mm"],
                "rows": [["mean", "< 2", "1.25"], ["[peak]", "", ""]],
                "note": "of all joints More.",
            }
        ],
    }


def test_without_a_path_nothing_is_written(results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results.write_results(
        None, results.begin_results(str(SCRIPTS / "reproduce" / "ohtsuki" / "ohtsuki.py"), [])
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        (["--results", "a.json"], []),
        (["--results=a.json", "--out", "b"], ["--out", "b"]),
        (["--out", "b", "--results", "--out", "c"], ["--out", "b", "c"]),
        (["--results-of", "b"], ["--results-of", "b"]),
    ],
)
def test_the_option_is_no_part_of_the_command(results, arguments, kept):
    assert results.without_option(arguments) == kept


def test_time_of_this_process_is_counted(results):
    before = results.processor_time()
    sum(k * k for k in range(300_000))
    assert results.processor_time() > before > 0.0
