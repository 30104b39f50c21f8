"""Progress as text: what is said when, in a pipe and in a terminal; a clock of the test's own."""

import io

import numba
import pytest

from simbench.system import progress
from simbench.system.progress import CompileCounter, StageText, stage_text


class Clock:
    """A clock that tests set."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


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
