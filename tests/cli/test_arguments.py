"""Every path and number of every command, with what nobody should give: a small part of the study."""

import random

import pytest
from script_modules import loaded_script

from simbench.cli.main import main

KINDS = ("fifo", "zero", "folder", "not text", "newline")
CASES = 120


@pytest.fixture(scope="module")
def script():
    with loaded_script("studies/arguments.py") as module:
        yield module


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("odd")


@pytest.fixture(scope="module")
def all_cases(script, folder):
    """All cases of the study; the odd files that they name are in the folder."""
    return list(script.make_cases((), folder))


@pytest.fixture(scope="module")
def cases(script, all_cases):
    """Cases that were chosen by a fixed seed, some of each command."""
    made = all_cases
    assert {case.command for case in made} == set(script.find_commands()) == set(script.USUAL)
    fit = [case for case in made if case.kind.startswith(KINDS) or case.kind.strip("'") in script.NUMBERS]
    return random.Random(27).sample(fit, CASES)


def test_no_argument_gives_a_traceback_or_leaves_a_file(script, cases, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    before = script._listing(folder)
    for case in cases:
        status = main([*case.command.split(), *case.arguments])
        stderr = capsys.readouterr().err
        left = script._listing(folder) - before
        assert script._fault(status, stderr, sorted(left), 0.0) == "", case
        before |= left


@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "directory"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "{kind}.yaml"],
        ["check", "{kind}.yaml"],
        ["robot", "inspect", "{kind}.yaml"],
        ["robot", "inspect", "{kind}.urdf"],
        ["robot", "render", "{kind}.yaml"],
        ["motion", "inspect", "{kind}.bvh"],
        ["motion", "inspect", "{kind}.nc"],
        ["motion", "inspect", "sample:walk", "--map", "{kind}.yaml"],
        ["retarget", "{kind}.c3d"],
        ["convert", "{kind}.npz", "a.csv", "--robot", "puma560"],
        ["calibrate", "{kind}.csv", "--model", "puma560"],
    ],
)
def test_only_regular_files_are_read(all_cases, folder, monkeypatch, capsys, kind, arguments):
    monkeypatch.chdir(folder)
    names = {"pipe": "fifo", "device": "zero", "directory": "folder"}
    given = [part.replace("{kind}", names.get(kind, kind)) for part in arguments]
    assert all_cases
    assert main(given) == 2
    printed = capsys.readouterr().err
    assert printed.count("\n") == 1
    assert f"is a {kind}; give a file" in printed
