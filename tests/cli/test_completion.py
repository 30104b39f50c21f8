"""What the shell completes, by the script that `--install-completion` installs."""

import os
import shlex
import subprocess
import sys

import pytest
from typer.main import get_command

from simbench.cli.completion import (
    complete_explained,
    complete_marker_map,
    complete_metric,
    complete_motion,
    complete_scenario_key,
    complete_tasks,
    join_words,
)
from simbench.cli.main import app, main


@pytest.mark.parametrize(
    ("complete", "typed", "expected"),
    [
        (complete_motion, "actor:dr", ["actor:drawer"]),
        (complete_motion, "nothing", []),
        (complete_tasks, "drawer,kn", ["drawer,knife"]),
        (complete_marker_map, "plug", ["plug_in_gait"]),
        (complete_scenario_key, "motion.spee", ["motion.speed="]),
        (complete_metric, "zmp.min", ["zmp.min_margin_m"]),
        (complete_explained, "zmp.min", ["zmp.min_margin_m"]),
    ],
)
def test_names_are_completed(complete, typed, expected):
    assert complete(typed) == expected


def test_words_that_bash_breaks_are_whole_again():
    assert join_words(["simbench", "retarget", "actor", ":", "dr"]) == ["simbench", "retarget", "actor:dr"]
    assert join_words(["simbench", "run", "a", "--set", "x", "="]) == ["simbench", "run", "a", "--set", "x="]
    assert join_words(["simbench", "run", "a", ""]) == ["simbench", "run", "a", ""]


def completions(monkeypatch, capsys, *parts):
    """What bash is told for a line that it has broken into parts."""
    monkeypatch.setenv("_SIMBENCH_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "\n".join(parts))
    monkeypatch.setenv("COMP_CWORD", str(len(parts) - 1))
    # As a shell does, which the process ends for.
    with pytest.raises(SystemExit, match="0"):
        main([])
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (["retarget", "actor", ":", "dr"], ["drawer"]),
        (["skills", "actor", ":", "kni"], ["knife"]),
        (["run", "drawer", "--robot", "mah"], ["mahru"]),
        (["check", "drawer", "g1_wal"], ["g1_walk"]),
        (["retarget", "actor", ":", "drawer", "--physics", "st"], ["stand", "steps"]),
        (["video", "runs/a", "--set", "camera.yaw"], ["camera.yaw_deg="]),
        (["run", "dra"], ["drawer", "drawer_by_weights"]),
        (["list", "sc"], ["scenarios"]),
        # The shell completes files where the program names nothing.
        (["report", "ru"], []),
    ],
)
def test_bash_completes_words(monkeypatch, capsys, parts, expected):
    assert completions(monkeypatch, capsys, "simbench", *parts) == expected


def test_completion_can_be_installed(tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    program = "from simbench.cli.main import main; raise SystemExit(main())"
    # The program asks for the shell that it was started by; the second command keeps this one from leaving.
    line = f"{shlex.quote(sys.executable)} -c {shlex.quote(program)} --install-completion; exit $?"
    done = subprocess.run(["bash", "-c", line], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    script = tmp_path / ".bash_completions" / "simbench.sh"
    assert "_SIMBENCH_COMPLETE=complete_bash" in script.read_text(encoding="utf-8")
    assert str(script) in (tmp_path / ".bashrc").read_text(encoding="utf-8")


def test_options_that_take_a_known_name_are_completed():
    """A robot, scenario or recording that is typed can be completed wherever it is asked for."""
    known = {"robot", "scenario", "scenarios", "motion", "source", "marker_map", "overrides", "vary"}

    def parameters(command):
        yield from ((command.name, each) for each in command.params)
        for sub in getattr(command, "commands", {}).values():
            yield from parameters(sub)

    asked = [(name, each) for name, each in parameters(get_command(app)) if each.name in known]
    assert len(asked) > 15
    for name, each in asked:
        completes = getattr(each, "_custom_shell_complete", None) is not None
        assert completes or name in ("convert",), (name, each.name)
