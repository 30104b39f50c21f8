"""Progress of long work as plain text: lines in a pipe or a file, one line that changes in a terminal."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any

# Called with a stage's name, how much of it is done, and how much there is.
OnProgress = Callable[[str, int, int], None]
# How progress is shown: True or False, None for in a terminal or a notebook only, or by a callable.
Progress = OnProgress | bool | None

_TICK = 0.25  # Time between two looks at whether there is something to say, s.
_INTERVAL = 5.0  # Longest silence, s.
_SHORT = 1.0  # Duration below which a stage that is done gets no line of its own, s.
_RECENT = 10.0  # Time after which a stage that says nothing is no longer shown beside others, s.
_KNOWN = 0.03  # Fraction of a stage from which on the time that is left is estimated.
# Time of compiling from which on it is said, s; also the pause after which it counts as over.
_LONG_COMPILATION = 1.0


class StageText:
    """Follows the stages of some work, and writes about them.

    `stream`: where text goes; `in_place`: whether one line changes in place, as a terminal can, instead of a
    line for each stage; `clock`: gives the time, s.
    """

    def __init__(self, stream: IO[str], in_place: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream, self._in_place, self._clock = stream, in_place, clock
        self._lock = threading.Lock()
        self._stages: dict[str, tuple[int, int, float, float]] = {}
        """Unfinished stages: what is done, the total, when each began and when it last changed, s."""
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
            over = done >= total > 0
            if stage not in self._stages and over and self._latest == stage:
                return
            begin = self._stages[stage][2] if stage in self._stages else now
            self._stages[stage] = done, total, begin, now
            self._latest, self._latest_time = stage, now
            if over:
                del self._stages[stage]
                if not self._in_place and now - begin >= _SHORT:
                    self._write(f"{stage}: done in {now - begin:.1f} s")

    def tick(self, compiling: str) -> None:
        """Write what is going on, if it is time to; called a few times a second.

        `compiling`: that functions are being compiled; empty if none are.
        """
        with self._lock:
            now = self._clock()
            began, self._compiling = bool(compiling) and not self._compiling, bool(compiling)
            if not (self._in_place or began or now - self._written >= _INTERVAL):
                return
            latest = sorted(self._stages.items(), key=lambda stage: -stage[1][3])
            described = []
            for number, (name, (done, total, begin, changed)) in enumerate(latest):
                if number and now - changed >= _RECENT:
                    continue
                elapsed, fraction = now - begin, done / total if total > 1 else 0.0
                text = f"{name}:" + (f" {100.0 * fraction:.0f} %," if total > 1 else "") + f" {elapsed:.0f} s"
                if fraction > _KNOWN and elapsed > 1.0:
                    text += f", about {elapsed * (1.0 - fraction) / fraction:.0f} s left"
                described.append(text)
            stages = "; ".join(described) or f"after {self._latest}: {now - self._latest_time:.0f} s"
            self._write(", ".join(filter(None, (stages, compiling))))

    def close(self) -> None:
        """Remove the line that changes."""
        with self._lock:
            if self._in_place and self._length:
                self._write("", end="\r")

    def _write(self, text: str, end: str = "") -> None:
        self._written, line = self._clock(), f"{text}\n"
        if self._in_place:
            text = text[: shutil.get_terminal_size().columns - 1]
            line, self._length = f"\r{text.ljust(self._length)}{end}", len(text)
        try:
            self._stream.write(line)
            self._stream.flush()
        except (OSError, ValueError):
            # Nobody reads it any more, or it is closed: the work goes on.
            return


class CompileCounter:
    """Counts the functions that numba compiles until it is closed; those read from disk do not count.

    Numba is not imported for it: counting begins when something else has imported it.
    """

    count = 0
    """Functions compiled so far, with the one that is being compiled."""
    _running = 0
    _begin = _last = 0.0
    _listener: Any = None

    def close(self) -> None:
        """Count no more."""
        if self._listener is not None:
            sys.modules["numba.core.event"].unregister("numba:compile", self._listener)

    def describe(self) -> str:
        """Say that functions are being compiled, if that takes long; called a few times a second.

        Returns text with the number of functions; empty while nothing, or only a little, is compiled.
        """
        module: Any = sys.modules.get("numba.core.event")
        if self._listener is None and hasattr(module, "trigger_event"):
            counter = self

            class Listener(module.Listener):  # type: ignore[misc]
                def on_start(self, event: Any) -> None:
                    counter.add(1)

                def on_end(self, event: Any) -> None:
                    counter.add(-1)

            self._listener = Listener()
            module.register("numba:compile", self._listener)
        now = time.monotonic()
        if not self._running and now - self._last > _LONG_COMPILATION:
            self._begin = 0.0
        if not self._begin or now - self._begin < _LONG_COMPILATION:
            return ""
        return f"compiling kernels {self.count} (first run only)"

    def add(self, started: int) -> None:
        """Take an event of numba: 1 where it starts to compile a function, -1 where it has compiled one."""
        if started > 0:
            self.count += 1
            self._begin = self._begin or time.monotonic()
        else:
            self._last = time.monotonic()
        self._running = max(self._running + started, 0)


@contextmanager
def ticking(tick: Callable[[str], None]) -> Iterator[None]:
    """Call a function a few times a second from a thread of its own while the body runs.

    `tick`: gets what numba is compiling, as text; empty if nothing.
    """
    over, counter = threading.Event(), CompileCounter()

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
        counter.close()


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
