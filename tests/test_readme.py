"""The README's Python example runs, and its commands name what exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from simbench.scenario import list_scenarios

README = Path(__file__).parents[1] / "README.md"


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_the_python_example_runs(tmp_path):
    (example,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    ratio, *worst = done.stdout.splitlines()
    assert 0.95 <= float(ratio) <= 1.05
    # The fingers are stopped by the drawer; every other joint follows.
    assert worst[0].startswith("joint") or "Hand" in worst[0]
    assert (tmp_path / "runs" / "one_stroke" / "log.nc").is_file()


def test_every_scenario_is_in_the_table():
    text = README.read_text(encoding="utf-8")
    for name in list_scenarios():
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("picture", re.findall(r"\]\((docs/[^)]+)\)", README.read_text(encoding="utf-8")))
def test_pictures_exist_and_are_small(picture):
    path = README.parent / picture
    assert 10_000 < path.stat().st_size < 300_000


def test_listed_commands_exist():
    done = subprocess.run(
        [sys.executable, "-m", "simbench", "--help"], capture_output=True, text=True, check=True
    )
    commands = {
        line.split()[1]
        for block in blocks("sh")
        for line in block.splitlines()
        if line.startswith("simbench ")
    }
    assert {"list", "run", "video", "retarget"} == commands
    for command in commands:
        assert re.search(rf"\b{command}\b", done.stdout)
