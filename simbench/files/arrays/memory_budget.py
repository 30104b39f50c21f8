"""The memory that the contents of a file may take."""

from dataclasses import dataclass

from simbench.errors import SimbenchError

MAX_MEMORY = 600_000_000
"""Bytes that the arrays and texts of one file may take: with the interpreter and one copy of the largest
array that stays below a gigabyte."""


@dataclass
class MemoryBudget:
    """Counts the bytes that the contents of a file take, and refuses more than the limit."""

    name: str  # Name of the file in messages.
    error: type[SimbenchError]  # Class of the error that is raised.
    left: int = MAX_MEMORY  # Bytes that may still be taken.

    def take(self, count: int) -> None:
        """Count bytes before they are allocated.

        `count`: number of bytes. Raises SimbenchError of the given class, if the limit is passed.
        """
        self.left -= count
        if self.left < 0:
            raise self.error(f"{self.name}: its arrays take more than {MAX_MEMORY / 1e6:g} MB of memory")
