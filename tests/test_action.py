"""The action of GitHub in action.yml: its steps do what they say, with the command of this repository."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from simbench.cli.main import app

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS = ACTION["runs"]["steps"]
PROGRAM = """#!/usr/bin/env python3
import json, os, sys
with open(os.environ["CALLS"], "a") as file:
    file.write(json.dumps([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
sys.exit(int(os.environ.get("STATUS", "0")))
"""


def step(name):
    (found,) = (each for each in STEPS if each.get("name") == name)
    return found


def run_step(name, tmp_path, status=0, **variables):
    """Run a step's script as GitHub does, with programs that only note how they are called."""
    for program in ("simbench", "python"):
        path = tmp_path / "bin" / program
        path.parent.mkdir(exist_ok=True)
        path.write_text(PROGRAM, encoding="utf-8")
        path.chmod(0o755)
    calls = tmp_path / "calls"
    calls.touch()
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]],
        env={
            "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}",
            "CALLS": str(calls),
            "STATUS": str(status),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            **dict.fromkeys(step(name)["env"], ""),
            **variables,
        },
        check=False,
    )
    return done.returncode, [json.loads(line) for line in calls.read_text(encoding="utf-8").splitlines()]


def test_every_input_is_used_described_and_optional():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    used = set(re.findall(r"\$\{\{ inputs\.([\w-]+) \}\}", text))
    assert used == set(ACTION["inputs"])
    for entry in ACTION["inputs"].values():
        assert entry["description"].endswith(".")
        assert isinstance(entry["default"], str)


def test_scripts_contain_no_input():
    """An input within a script could end a command and begin another."""
    for each in STEPS:
        assert "${{" not in each.get("run", "")
        assert ("run" in each) == ("shell" in each)
        assert "uses" in each or "run" in each


def test_simbench_is_installed_from_the_repository_of_the_action(tmp_path):
    assert step("Install")["env"]["SOURCE"] == "${{ github.action_path }}"
    status, calls = run_step("Install", tmp_path, SOURCE="/a b", EXTRAS="robots,study")
    assert (status, calls) == (0, [["python", "-m", "pip", "install", "/a b[robots,study]"]])
    (tmp_path / "calls").unlink()
    assert run_step("Install", tmp_path, SOURCE="/a")[1] == [["python", "-m", "pip", "install", "/a"]]


def test_the_check_gets_what_the_inputs_say(tmp_path):
    status, calls = run_step(
        "Check",
        tmp_path,
        SCENARIOS="drawer\nmy scenarios/a.yaml\n",
        OVERRIDES="seed=1\nmotion.speed=0.5; touch x",
        JOBS="2",
        HISTORY="history.jsonl",
    )
    ((program, command, *arguments),) = calls
    assert (status, program, command) == (0, "simbench", "check")
    assert not (tmp_path / "x").exists()
    given = get_command(app).commands["check"].make_context("check", arguments).params
    assert given["scenarios"] == ["drawer", "my scenarios/a.yaml"]
    assert given["overrides"] == ["seed=1", "motion.speed=0.5; touch x"]
    assert (given["jobs"], given["history"]) == (2, Path("history.jsonl"))
    assert given["summary"] == tmp_path / "summary.md"


def test_without_inputs_all_shipped_scenarios_are_checked(tmp_path):
    _, ((*_, last),) = run_step("Check", tmp_path)
    assert last == "--"
    _, calls = run_step("Check", tmp_path)
    given = get_command(app).commands["check"].make_context("check", calls[0][2:]).params
    assert not given["scenarios"]
    assert given["jobs"] is None
    assert given["history"] is None


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_action_ends_as_the_check_does(tmp_path, status):
    assert run_step("Check", tmp_path, status)[0] == status
    assert "continue-on-error" not in step("Check")
    # What comes after does not turn a failure into a success.
    assert step("Keep what failed")["if"] == "failure()"


def test_what_failed_is_linked_in_the_summary(tmp_path):
    assert step("Keep what failed")["with"]["path"] == "failures"
    assert run_step("Link what failed", tmp_path, ADDRESS="https://github.com/a/b/artifacts/1")[0] == 0
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text == "\n[Plots and runs of what failed](https://github.com/a/b/artifacts/1)\n"
