"""A few faults of the crash matrix; `scripts/studies/crash_matrix.py` tries hundreds."""

import json
import subprocess
import sys

import pytest

from tests.helpers.script_modules import SCRIPTS, loaded_script

SCRIPT = SCRIPTS / "studies" / "crash_matrix.py"


def test_killed_and_disturbed_commands_leave_nothing_damaged_and_go_on(tmp_path):
    arguments = ["--commands", "run", "--faults", "SIGKILL", "vanished", "--each", "1"]
    found = subprocess.run(
        [sys.executable, str(SCRIPT), *arguments, "--seed", "5", "--json", str(tmp_path / "all.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    outcomes = json.loads((tmp_path / "all.json").read_text(encoding="utf-8"))
    assert [each["problems"] for each in outcomes] == [[]] * 2
    assert any(each["hit"] for each in outcomes)


@pytest.fixture
def matrix():
    with loaded_script("studies/crash_matrix.py") as module:
        yield module


@pytest.mark.parametrize(
    "name", ["metrics.json", "scenario.yaml", "report.html", "plots/a.png", "log.nc", "t.parquet", "v.mp4"]
)
def test_the_matrix_sees_a_damaged_file(tmp_path, matrix, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"{ : half \xff")
    assert [text.split(":")[0] for text in matrix.damaged_files(tmp_path)] == [f"damaged {name}"]


def test_the_matrix_does_not_blame_what_says_that_it_is_unfinished(tmp_path, matrix):
    (tmp_path / "a.incomplete").mkdir()
    for name in ("a.incomplete/log.nc", ".report.html.0123abcd.part"):
        (tmp_path / name).write_bytes(b"half")
    assert matrix.damaged_files(tmp_path) == []
