"""How many functions numba is compiling, counted by its own events."""

import sys
import time
from types import TracebackType
from typing import Any

_WORTH_SAYING = 1.0
"""Time of compiling from which on it is said, s; also the pause after which it counts as over."""


class CompileCounter:
    """Counts the functions that numba compiles while a context is open; those read from disk do not count.

    Numba is not imported for it: counting begins when something else has imported it.
    """

    def __init__(self) -> None:
        self.count = 0
        """Functions compiled so far, with the one that is being compiled."""
        self._running = 0
        self._begin = self._last = 0.0
        self._listener: Any = None

    def __enter__(self) -> "CompileCounter":
        """Return itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Count no more."""
        if self._listener is not None:
            sys.modules["numba.core.event"].unregister("numba:compile", self._listener)

    def describe(self) -> str:
        """Say that functions are being compiled, if that takes long; called a few times a second.

        Returns text with the number of functions; empty while nothing, or only a little, is compiled.
        """
        self._listen()
        now = time.monotonic()
        if not self._running and now - self._last > _WORTH_SAYING:
            self._begin = 0.0
        if not self._begin or now - self._begin < _WORTH_SAYING:
            return ""
        return f"compiling kernels {self.count} (first run only)"

    def _listen(self) -> None:
        """Register for numba's events, once it is imported."""
        module: Any = sys.modules.get("numba.core.event")
        if self._listener is not None or not hasattr(module, "trigger_event"):
            return
        counter = self

        class Listener(module.Listener):  # type: ignore[misc]
            def on_start(self, event: Any) -> None:
                counter._started()

            def on_end(self, event: Any) -> None:
                counter._ended()

        self._listener = Listener()
        module.register("numba:compile", self._listener)

    def _started(self) -> None:
        self.count += 1
        self._running += 1
        self._begin = self._begin or time.monotonic()

    def _ended(self) -> None:
        self._running = max(self._running - 1, 0)
        self._last = time.monotonic()
