"""Waiting for what another process does: by the condition, never for a time."""

import time
from collections.abc import Callable


def wait_until(holds: Callable[[], bool]) -> None:
    """Return when a condition holds, however long a busy machine takes."""
    while not holds():
        time.sleep(0.02)
