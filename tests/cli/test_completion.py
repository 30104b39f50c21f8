"""What the shell completes, by the script that `--install-completion` installs."""

import pytest

from simbench.cli.completion import (
    complete_metric,
    complete_motion,
    complete_scenario_key,
    complete_tasks,
    join_words,
)
from simbench.cli.main import main


@pytest.mark.parametrize(
    ("complete", "typed", "expected"),
    [
        (complete_motion, "actor:dr", ["actor:drawer"]),
        (complete_tasks, "drawer,kn", ["drawer,knife"]),
        (complete_scenario_key, "motion.spee", ["motion.speed="]),
        (complete_metric, "zmp.min", ["zmp.min_margin_m"]),
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
        (["video", "runs/a", "--set", "camera.yaw"], ["camera.yaw_deg="]),
        (["run", "dra"], ["drawer", "drawer_by_weights"]),
        (["report", "ru"], []),
    ],
)
def test_bash_completes_words(monkeypatch, capsys, parts, expected):
    assert completions(monkeypatch, capsys, "simbench", *parts) == expected
