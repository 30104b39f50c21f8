"""Progress as text: what is said when, in a pipe and in a terminal; a clock of the test's own."""

import io
import os
import pty
import subprocess
import sys
from contextlib import nullcontext

import numba
import pytest

from simbench.system import progress
from simbench.system.progress import CompileCounter, StageText, shown_progress, stage_text


class Clock:
    """A clock that tests set."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def lines(clock):
    """A text in a pipe, and the lines that it has written since they were read last."""
    stream = io.StringIO()
    text = StageText(stream, in_place=False, clock=clock)

    def read():
        found = stream.getvalue().splitlines()
        stream.seek(0)
        stream.truncate()
        return found

    return text, read


def test_nothing_is_silent_for_more_than_five_seconds(lines, clock):
    text, read = lines
    silent, longest = 0.0, 0.0
    text("transfer", 0, 10)
    for tick in range(200):
        clock.now += 0.25
        if tick == 80:
            text("transfer", 10, 10)
        text.tick("")
        silent = 0.0 if read() else silent + 0.25
        longest = max(longest, silent)
    assert 4.0 < longest <= 5.0


def test_a_line_says_how_much_is_done_and_how_long_the_rest_takes(lines, clock):
    text, read = lines
    text("transfer", 0, 12)
    clock.now += 6.0
    text("transfer", 4, 12)
    text.tick("")
    assert read() == ["transfer: 33 %, 6 s, about 12 s left"]
    text.tick("")
    assert read() == []
    clock.now += 5.0
    text("transfer", 12, 12)
    assert read() == ["transfer: done in 11.0 s"]
    text("transfer", 12, 12)
    assert read() == []


def test_a_short_stage_has_no_line(lines, clock):
    text, read = lines
    text("read", 0, 1)
    clock.now += 0.4
    text("read", 1, 1)
    assert read() == []


def test_stages_at_once_share_a_line_and_one_that_stopped_is_left_out(lines, clock):
    text, read = lines
    text("abandoned", 1, 4)
    clock.now += 11.0
    text("simulate", 50, 100)
    text("draw", 0, 1)
    text.tick("")
    (line,) = read()
    assert "simulate: 50 %, 0 s" in line
    assert "draw: 0 s" in line
    assert "abandoned" not in line


def test_compiling_is_said_at_once(lines, clock):
    text, read = lines
    text("transfer", 1, 3)
    clock.now += 0.5
    text.tick("compiling kernels 2 (first run only)")
    assert read() == ["transfer: 33 %, 0 s, compiling kernels 2 (first run only)"]
    clock.now += 0.5
    text.tick("compiling kernels 3 (first run only)")
    assert read() == []


def test_a_terminal_shows_one_line_that_changes_and_goes(clock):
    stream = io.StringIO()
    text = StageText(stream, in_place=True, clock=clock)
    text("transfer", 1, 2)
    clock.now += 2.0
    text.tick("compiling kernels 12 (first run only)")
    text.tick("")
    text.close()
    shown = stream.getvalue()
    assert "\n" not in shown
    first, second, blank, end = shown.split("\r")[1:]
    assert first == "transfer: 50 %, 2 s, about 2 s left, compiling kernels 12 (first run only)"
    # The shorter line covers the longer one.
    assert second.rstrip() == "transfer: 50 %, 2 s, about 2 s left"
    assert len(second) == len(first)
    assert (blank.strip(), end) == ("", "")


def test_a_reader_that_went_away_stops_nothing():
    class Broken(io.StringIO):
        def write(self, text):
            raise BrokenPipeError(32, "Broken pipe")

    with stage_text(Broken(), in_place=False) as on_progress:
        on_progress("simulate", 1, 2)
        on_progress.tick("compiling kernels 1 (first run only)")


def test_compiled_functions_are_counted_by_numbas_events(monkeypatch):
    monkeypatch.setattr(progress, "_LONG_COMPILATION", 0.0)
    with CompileCounter() as counter:
        assert counter.describe() == ""
        double, add = numba.njit(lambda x: 2.0 * x), numba.njit(lambda x: x + 1.0)
        assert (double(2.0), add(2.0)) == (4.0, 3.0)
        assert counter.count == 2
        # Compiled before: not again.
        assert double(3.0) == 6.0
        assert counter.count == 2
    numba.njit(lambda x: 3.0 * x)(1.0)
    assert counter.count == 2


def test_what_takes_less_than_a_second_to_compile_is_not_said(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(progress.time, "monotonic", clock)
    counter = CompileCounter()
    counter.add(1)
    assert counter.describe() == ""
    clock.now += 1.5
    assert counter.describe() == "compiling kernels 1 (first run only)"
    counter.add(-1)
    counter.add(1)
    assert counter.describe() == "compiling kernels 2 (first run only)"
    counter.add(-1)
    clock.now += 1.5
    assert counter.describe() == ""


PROGRAM = """
import sys
from simbench.system.progress import shown_progress
with shown_progress({progress}) as on_progress:
    on_progress("simulate", 1, 2)
    if hasattr(on_progress, "tick"):
        on_progress.tick("")
"""


@pytest.mark.parametrize(
    ("asked", "terminal", "shown"),
    [
        (None, True, True),
        (None, False, False),
        (True, True, True),
        (False, True, False),
        (False, False, False),
    ],
)
def test_python_shows_progress_in_a_terminal_and_not_in_a_pipe(asked, terminal, shown):
    ours, theirs = pty.openpty() if terminal else os.pipe()
    with nullcontext() if terminal else open(ours, "rb"):
        program = [sys.executable, "-c", PROGRAM.format(progress=asked)]
        done = subprocess.run(program, stdout=subprocess.PIPE, stderr=theirs, check=True)
        os.close(theirs)
        try:
            said = os.read(ours, 10_000)
        except OSError:
            # A terminal whose other end is closed.
            said = b""
    if terminal:
        os.close(ours)
    assert (b"simulate: 50 %" in said) == shown
    assert done.stdout == b""


def test_a_callable_gets_the_progress():
    seen = []
    with shown_progress(lambda *each: seen.append(each)) as on_progress:
        on_progress("read", 0, 1)
    assert seen == [("read", 0, 1)]
