"""Commands that compute nothing import nothing that computes."""

import json
import os
import subprocess
import sys

import pytest

from simbench.options import RETARGETING_METHODS

SLOW = {
    "h5py", "imageio_ffmpeg", "matplotlib", "numba", "numpy", "pandas", "PIL", "pinocchio", "pybullet",
    "rich", "scipy", "shapely", "trimesh", "xarray",
}  # fmt: skip
"""Libraries whose import takes from 30 ms to half a second of CPU time. Typer itself imports pydantic."""
PROGRAM = """
import json, sys
from simbench.cli.main import main
statuses = [main(arguments) for arguments in json.loads(sys.argv[1])]
print(json.dumps([statuses, sorted({name.partition(".")[0] for name in sys.modules})]), file=sys.stderr)
"""
COMMANDS = (
    *(
        "cache",
        "calibrate",
        "check",
        "convert",
        "explain",
        "list",
        "motion export",
        "motion inspect",
        "motion session",
        "place",
    ),
    *("place", "replay", "report", "retarget", "robot inspect", "robot render", "run", "samples", "schema"),
    *("skills", "sweep", "video", "warmup"),
)

WORDS = ("zmp.min_margin_m", "zmp", "joint_position", "fixtures.0.friction_n", "robot")
"""What can be explained: a metric, a term, a variable, a key, a section."""


def run_apart(*commands):
    """Run commands in one new process: their statuses, all their output, and the libraries it imported."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(commands)], capture_output=True, text=True, check=True
    )
    *messages, last = done.stderr.splitlines()
    statuses, imported = json.loads(last)
    return statuses, " ".join([*done.stdout.split(), *messages]), set(imported)


def test_help_and_lists_import_no_slow_library():
    shown = [[*command.split(), "--help"] for command in ("", "motion", "robot", *COMMANDS)]
    listed = [["list"], ["schema", "scenario"], ["schema", "robot"], *(["explain", each] for each in WORDS)]
    statuses, said, imported = run_apart(*shown, *listed)
    assert statuses == [0] * (len(shown) + len(listed))
    assert all(f"Usage: simbench {command} " in said for command in COMMANDS)
    assert not imported & SLOW


WRONG = (
    (["run", "nothere"], "unknown scenario 'nothere'"),
    (["run", "nothere.yaml"], "nothere.yaml"),
    (["sweep", "nothere", "--vary", "seed=1,2"], "unknown scenario 'nothere'"),
    (["check", "nothere"], "unknown scenario 'nothere'"),
    (["--bad-option"], "--bad-option"),
    (["run"], "scenario"),
    (["drwaer"], "drwaer"),
    (["list", "robot"], "robot"),
)
WRONG_RETARGET = (
    (["--method", "none"], "unknown method `none`"),
    (["--timing", "none"], "unknown timing `none`"),
    (["--physics", "none"], "unknown physics `none`"),
    (["--robot", "nothere"], "unknown robot `nothere`"),
)


@pytest.mark.parametrize(
    ("wrong", "before", "most"),
    [
        (WRONG, [], set()),
        # Files to be written are checked with what prints tables, and names of robots beside their readers.
        (WRONG_RETARGET, ["retarget", "sample:walk"], {"numpy", "pinocchio", "rich"}),
    ],
    ids=["any", "retarget"],
)
def test_errors_in_the_arguments_import_no_slow_library(wrong, before, most):
    statuses, said, imported = run_apart(*([*before, *arguments] for arguments, _ in wrong))
    assert statuses == [2] * len(wrong)
    # One line each, in the order of the commands.
    lines = said.split("error: ")[1:]
    assert [message for (_, message), line in zip(wrong, lines, strict=True) if message not in line] == []
    assert imported & SLOW <= most


def test_a_wrong_key_imports_no_physics():
    statuses, said, imported = run_apart(["run", "drawer", "--set", "foo=1"])
    assert statuses == [2]
    assert "foo" in said
    assert imported & SLOW <= {"numpy"}


def test_planning_does_not_import_what_draws_logs_or_is_rarely_needed():
    code = "import sys, simbench.runs.pipeline; print(*sys.modules)"
    imported = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    slow = {"matplotlib", "pandas", "pybullet", "rich", "scipy.signal", "scipy.stats", "trimesh", "xarray"}
    assert not set(imported.stdout.split()) & slow


def test_inspecting_a_recording_imports_neither_compiler_nor_dynamics():
    statuses, _, imported = run_apart(["motion", "inspect", "sample:walk"])
    assert statuses == [0]
    assert not imported & {"matplotlib", "numba", "pandas", "pinocchio", "pybullet", "trimesh", "xarray"}


def test_the_help_of_retarget_names_every_method():
    assert ", ".join(RETARGETING_METHODS) in run_apart(["retarget", "--help"])[1]


COMPLETES = """
import sys
from simbench.cli.main import main
try:
    main([])
finally:
    print(*{name.partition(".")[0] for name in sys.modules}, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("simbench sw", ["sweep"]),
        ("simbench run drawer_", ["drawer_by_weights"]),
        ("simbench sweep nothing", []),
        ("simbench run --no-", ["--no-cache"]),
    ],
)
def test_the_shell_completes_without_slow_libraries(typed, offered):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    done = subprocess.run(
        [sys.executable, "-c", COMPLETES],
        capture_output=True,
        text=True,
        env={**os.environ, **words, "_SIMBENCH_COMPLETE": "complete_bash"},
        check=True,
    )
    assert done.stdout.split() == offered
    assert not set(done.stderr.split()) & SLOW
