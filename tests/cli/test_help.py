"""Every command explains itself by `-h`, with an example that the command line understands."""

import shlex
from pathlib import Path

import pytest
from typer.main import get_command

from simbench.cli.completion import complete_robot
from simbench.cli.main import app, main
from simbench.cli.shared_options import read_examples
from simbench.motion.readers import read_motion
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios


def find_commands(command, words=()):
    """Every command and group below one, with the words that name it."""
    yield words, command
    for name, sub in getattr(command, "commands", {}).items():
        yield from find_commands(sub, (*words, name))


COMMANDS = list(find_commands(get_command(app)))
EXAMPLES = [(words, line) for words, command in COMMANDS for line in read_examples(command.epilog)]


@pytest.mark.parametrize(("words", "line"), EXAMPLES, ids=[line for _, line in EXAMPLES])
def test_an_example_is_understood_by_the_command_whose_help_it_ends(words, line):
    parts = shlex.split(line)
    assert parts[: len(words) + 1] == ["simbench", *words]
    command, rest = get_command(app), parts[1:]
    while rest and rest[0] in getattr(command, "commands", {}):
        command, rest = command.commands[rest[0]], rest[1:]
    given = command.make_context(line, rest).params
    for scenario in [*(given.get("scenarios") or ()), given.get("scenario")]:
        if scenario in list_scenarios():
            load_scenario(scenario, given.get("overrides") or ())
        else:
            assert scenario is None or Path(scenario).suffix == ".yaml"
    robot = given.get("robot")
    if robot and not Path(robot).suffix:
        assert robot in complete_robot(robot)
    source = given.get("motion") or given.get("source")
    if isinstance(source, str) and source.startswith(("actor:", "sample:", "deepmimic:")):
        assert len(read_motion(source).time)


def test_what_is_cheap_runs_as_its_example_says(monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    cheap = ("list", "cache", "schema", "samples", "explain", "calibrate", "robot list", "robot inspect")
    ran = [line for words, line in EXAMPLES if " ".join(words) in cheap]
    assert len(ran) == len(cheap)
    # Calibration reads the samples.
    for line in sorted(ran, key=lambda each: "calibrate" in each):
        assert main(shlex.split(line)[1:]) == 0, line
        assert capsys.readouterr().out
