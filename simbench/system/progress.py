"""Progress of long work as plain text: lines in a pipe or a file, one line that changes in a terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

from simbench.system.compile_counter import CompileCounter

OnProgress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done, and how much there is."""
Progress = OnProgress | bool | None
"""How progress is shown: True or False, None for in a terminal or a notebook only, or by a callable."""

_TICK = 0.25
"""Time between two looks at whether there is something to say, s."""
_INTERVAL = 5.0
"""Longest silence, s."""
_SHORT = 1.0
"""Duration below which a stage that is done gets no line of its own, s."""
_RECENT = 10.0
"""Time after which a stage that says nothing is no longer shown beside others, s."""
_KNOWN = 0.03
"""Fraction of a stage from which on the time that is left is estimated."""


@dataclass
class _Stage:
    """A stage that is not finished."""

    name: str
    done: int
    total: int
    begin: float
    changed: float

    def describe(self, now: float) -> str:
        """Write its name, what is done of it, how long it has taken, and how long it may take."""
        elapsed = now - self.begin
        fraction = self.done / self.total if self.total > 1 else 0.0
        text = f"{self.name}:" + (f" {100.0 * fraction:.0f} %," if self.total > 1 else "")
        text += f" {elapsed:.0f} s"
        if fraction > _KNOWN and elapsed > 1.0:
            text += f", about {elapsed * (1.0 - fraction) / fraction:.0f} s left"
        return text


class StageText:
    """Follows the stages of some work, and writes about them.

    `stream`: where text goes; `in_place`: whether one line changes in place, as a terminal can, instead of a
    line for each stage; `clock`: gives the time, s.
    """

    def __init__(self, stream: IO[str], in_place: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._in_place, self._clock = stream, in_place, clock
        self._lock = threading.Lock()
        self._stages: dict[str, _Stage] = {}
        self._written = clock()
        self._length = 0
        self._compiling = False
        self._latest, self._latest_time = "the start", clock()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Take the progress of a stage.

        `stage`: its name; `done`: how much of it is done; `total`: how much there is; the stage ends when all
        of it is done.
        """
        now = self._clock()
        with self._lock:
            known = self._stages.get(stage)
            if known is None:
                if done >= total > 0 and self._latest == stage:
                    return
                known = self._stages[stage] = _Stage(stage, done, total, now, now)
            known.done, known.total, known.changed = done, total, now
            self._latest, self._latest_time = stage, now
            if done >= total > 0:
                del self._stages[stage]
                if not self._in_place and now - known.begin >= _SHORT:
                    self._write(f"{stage}: done in {now - known.begin:.1f} s")

    def tick(self, compiling: str) -> None:
        """Write what is going on, if it is time to; called a few times a second.

        `compiling`: that functions are being compiled; empty if none are.
        """
        with self._lock:
            now = self._clock()
            began, self._compiling = bool(compiling) and not self._compiling, bool(compiling)
            if self._in_place or began or now - self._written >= _INTERVAL:
                self._write(", ".join(filter(None, (self._describe(now), compiling))))

    def close(self) -> None:
        """Remove the line that changes."""
        with self._lock:
            if self._in_place and self._length:
                self._write("")
                self._put("\r")

    def _describe(self, now: float) -> str:
        """Describe the stages that go on, the latest first."""
        stages = sorted(self._stages.values(), key=lambda stage: -stage.changed)
        shown = [stage for k, stage in enumerate(stages) if k == 0 or now - stage.changed < _RECENT]
        return "; ".join(stage.describe(now) for stage in shown) or (
            f"after {self._latest}: {now - self._latest_time:.0f} s"
        )

    def _write(self, text: str) -> None:
        self._written = self._clock()
        if not self._in_place:
            self._put(f"{text}\n")
            return
        text = text[: shutil.get_terminal_size().columns - 1]
        self._put("\r" + text.ljust(self._length))
        self._length = len(text)

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads it any more, or it is closed: the work goes on.
            return


@contextmanager
def ticking(tick: Callable[[str], None]) -> Iterator[None]:
    """Call a function a few times a second from a thread of its own while the body runs.

    `tick`: gets what numba is compiling, as text; empty if nothing.
    """
    over = threading.Event()
    with CompileCounter() as counter:

        def run() -> None:
            while not over.wait(_TICK):
                tick(counter.describe())

        thread = threading.Thread(target=run, name="progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()


@contextmanager
def stage_text(stream: IO[str], *, in_place: bool) -> Iterator[OnProgress]:
    """Write about the stages of the body: each that took a second, and what goes on, every five seconds.

    `stream`: where text goes; `in_place`: whether one line changes in place instead.
    """
    text = StageText(stream, in_place)
    try:
        with ticking(text.tick):
            yield text
    finally:
        text.close()


@contextmanager
def shown_progress(progress: Progress) -> Iterator[OnProgress]:
    """Show the progress of the body as a caller of the Python API asks for.

    `progress`: callback; or whether it is shown on the standard error; None shows it in a terminal or a
    notebook.
    """
    if progress is None:
        progress = _is_interactive()
    if callable(progress):
        yield progress
    elif progress:
        with stage_text(sys.stderr, in_place=_is_interactive()) as on_progress:
            yield on_progress
    else:
        yield lambda stage, done, total: None


def _is_interactive() -> bool:
    """Return whether the standard error is a terminal, or that of a notebook."""
    stream = sys.stderr
    if stream is None:
        return False
    try:
        return stream.isatty() or type(stream).__module__.startswith("ipykernel")
    except (AttributeError, ValueError):
        return False
