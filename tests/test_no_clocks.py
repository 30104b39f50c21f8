"""No test depends on how fast the machine is: none reads a clock, sleeps or sets a time limit."""

import ast
from pathlib import Path

TESTS = Path(__file__).parent
CLOCKS = {"time", "timeit", "sched", "tracemalloc"}
"""Modules whose answer depends on the machine, and on what else runs on it."""
BOMBS = {"files/arrays/test_array_file.py", "motion/readers/test_bvh.py"}
"""Tests that files which announce gigabytes do not take them: bounds far above what else is allocated."""
LIMITS = {"timeout", "timeout_s", "deadline"}
"""Names of arguments that a loaded machine makes fail, unless they are None."""
WAITING = {"helpers/waiting.py", "helpers/importable/study_units.py", "fuzz/sandbox.py", "fuzz/in_process.py"}
"""Helpers that sleep between two looks at a condition, or end a case that waits for ever."""


def uses_of_clocks(source, clocks=CLOCKS):
    """Lines that import a clock, or pass a time limit."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [node.lineno for alias in node.names if alias.name in clocks]
        elif isinstance(node, ast.ImportFrom):
            found += [node.lineno] if node.module in clocks else []
        elif isinstance(node, ast.keyword) and node.arg in LIMITS:
            found += (
                [] if isinstance(node.value, ast.Constant) and node.value.value is None else [node.lineno]
            )
        elif isinstance(node, ast.Attribute) and node.attr in ("alarm", "setitimer", "getrusage"):
            found.append(node.lineno)
    return found


def test_no_test_has_a_clock():
    used = {
        path: lines
        for file in sorted(TESTS.rglob("*.py"))
        if (path := file.relative_to(TESTS).as_posix()) not in WAITING
        and (
            lines := uses_of_clocks(
                file.read_text(encoding="utf-8"), CLOCKS - {"tracemalloc"} if path in BOMBS else CLOCKS
            )
        )
    }
    assert used == {}


def test_clocks_are_found():
    assert uses_of_clocks("import time") == [1]
    assert uses_of_clocks("\nfrom time import sleep") == [2]
    assert uses_of_clocks("run(timeout=60)\nrun(timeout=None)\nsettings(deadline=None)") == [1]
    assert uses_of_clocks("import signal\nsignal.alarm(5)") == [2]
    assert uses_of_clocks("motion.time.max()") == []
