"""Damaged files, keys and arguments end as a message or a result, and the harness sees when they do not."""

import os
import random
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inputs import INPUTS, KEYS
from mutations import mutate_bytes, mutate_json, mutate_text, mutate_xml, mutate_yaml
from odd_values import NUMBERS, WORDS
from oracle import find_failures
from sandbox import OUTSIDE, OUTSIDE_FOLDER, TRACEBACK_STATUS, Case, Outcome, run_case

from simbench.errors import ScenarioError
from simbench.runs.scenario.loading import load_scenario, resolved_yaml

STUDY = Path(__file__).parents[2] / "scripts" / "studies" / "fuzz.py"


def test_damaged_inputs_of_every_kind_end_as_they_may(tmp_path):
    """Every input is damaged several times, in processes of their own, from a fixed seed."""
    arguments = ["--cases", "12", "--seed", "1", "--folder", str(tmp_path)]
    study = subprocess.run([sys.executable, STUDY, *arguments], capture_output=True, text=True)
    assert study.returncode == 0, study.stdout + study.stderr
    rows = {line[:14].strip() for line in study.stdout.splitlines()}
    assert set(INPUTS) <= rows
    assert list(tmp_path.iterdir()) == []


def _say(line, status):
    def call():
        print(line, file=sys.stderr)
        return status

    return call


def _write_and_refuse():
    Path("half").write_text("written")
    print("error: something", file=sys.stderr)
    return 2


def _print(text):
    def call():
        print(text)
        return 0

    return call


def _warn():
    warnings.warn("divide by zero", RuntimeWarning, stacklevel=1)
    return 0


def _loop():
    while True:
        pass


CALLS = {
    "well": lambda: 0,
    "one line": _say("error: file.yaml:3: no", 2),
    "two lines": _say("error: a\nb", 2),
    "no line": lambda: 2,
    "another status": lambda: 3,
    "raise": lambda: [][1],
    "abort": os.abort,
    "kill": lambda: os.kill(os.getpid(), 11),
    "hang": _loop,
    "leave": _write_and_refuse,
    "warn": _warn,
    "not a number": _print("rms  nan  rad"),
    "part of a word": _print("banana nano"),
    "escape": _print("\x1b[31m"),
    "memory": lambda: len(bytearray(b"\x01") * (5 * 2**28)) * 0,
}
KINDS = {
    "well": [],
    "one line": [],
    "two lines": ["2 lines of error"],
    "no line": ["0 lines of error"],
    "another status": ["status 3"],
    "raise": ["traceback"],
    "abort": ["signal SIGABRT"],
    "kill": ["signal SIGSEGV"],
    "hang": ["hang"],
    "leave": ["left behind"],
    "warn": ["warning"],
    "not a number": ["NaN reported"],
    "part of a word": [],
    "escape": ["control characters in the terminal"],
    "memory": ["memory"],
}


@pytest.mark.parametrize("name", KINDS)
def test_oracle_sees_each_kind_of_failure(tmp_path, name):
    case = Case({}, (), name)
    outcome = run_case(case, tmp_path / "case", CALLS, cpu_limit=1 if name == "hang" else 60)
    assert [failure.kind for failure in find_failures(case, outcome, "")] == KINDS[name]


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        (OUTSIDE, "wrote through a link"),
        (f"{OUTSIDE_FOLDER}/new", "wrote through a link"),
        ("work/code.py.executed", "executed code of a file"),
    ],
)
def test_oracle_sees_what_a_case_does_outside_its_folder(tmp_path, target, kind):
    calls = {"follow": lambda: Path("report.html").write_text("x") * 0}
    case = Case({}, (), "follow", {"report.html": target})
    outcome = run_case(case, tmp_path / "case", calls, cpu_limit=60)
    assert [failure.kind for failure in find_failures(case, outcome, "")] == [kind]


def test_not_a_number_that_was_given_may_be_repeated(tmp_path):
    outcome = run_case(Case({}, (), "not a number"), tmp_path / "case", CALLS, cpu_limit=1)
    assert find_failures(Case({}, (), "not a number"), outcome, "x = nan") == []


def test_place_of_a_traceback_is_the_last_line_of_simbench():
    err = 'File "/a/simbench/x.py", line 3, in f\nFile "/lib/numpy/y.py", line 9, in g\nValueError: no: 5'
    case = Case({}, ("run",))
    outcome = _outcome(status=TRACEBACK_STATUS, err=err)
    assert find_failures(case, outcome, "")[0].place == "simbench/x.py:3 ValueError"


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ("plan: 20 %, 6 s, about 20 s left", []),
        ("runs: done in 5.1 s", []),
        ("so: 5 N", ["2 lines of error"]),
    ],
)
def test_progress_of_a_busy_machine_is_no_line_of_the_error(line, kinds):
    outcome = _outcome(status=2, err=f"{line}\nerror: no such file\n")
    assert [failure.kind for failure in find_failures(Case({}, ("run",)), outcome, "")] == kinds


def _outcome(**changed):
    values = dict(status=0, signal=0, out="", err="", left=(), changed=(), cpu=0.0, memory=0)
    return Outcome(**{**values, **changed})


@pytest.mark.parametrize(
    ("mutate", "content"),
    [
        (mutate_bytes, bytes(range(256))),
        (mutate_text, b"a: 1.5\nb: two\n"),
        (mutate_yaml, b"a: 1.5\nb: {c: [1, 2]}\n"),
        (mutate_json, b'{"a": 1.5, "b": [null, true]}'),
        (mutate_xml, b'<robot><link name="a"><mass value="1 2"/></link></robot>'),
    ],
)
def test_damage_is_the_same_for_the_same_seed_and_differs_between_seeds(mutate, content):
    damaged = [mutate(content, random.Random(seed)) for seed in range(60)]
    assert damaged == [mutate(content, random.Random(seed)) for seed in range(60)]
    assert len(set(damaged)) > 40


VALUES = st.recursive(
    st.one_of(st.sampled_from(WORDS), st.sampled_from(NUMBERS), st.text(max_size=30), st.floats().map(repr)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: f"[{', '.join(parts)}]"),
        st.tuples(inner, inner).map(lambda pair: f"{{{pair[0]}: {pair[1]}}}"),
    ),
    max_leaves=5,
)


@settings(max_examples=200)
@given(st.one_of(st.sampled_from(KEYS), st.text(max_size=20)), VALUES)
def test_an_override_gives_a_scenario_or_one_line(key, value):
    try:
        scenario = load_scenario("puma560_sweep", [f"{key}={value}"])
    except ScenarioError as error:
        message = str(error)
    else:
        # What was accepted can be written and read again.
        message = ""
        assert resolved_yaml(scenario) == resolved_yaml(scenario.model_validate(scenario.model_dump()))
    assert "\n" not in message or "\n" in key + value
