"""Count multiplications and additions by running code on numbers that count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simbench.dynamics.arm import Arm
from simbench.dynamics.newton_euler import link_torques


class Operations(NamedTuple):
    """Numbers of arithmetic operations."""

    multiplications: int
    additions: int  # Number of additions and subtractions.

    @property
    def total(self) -> int:
        """Multiplications and additions together."""
        return self.multiplications + self.additions


@dataclass
class Tally:
    """Running count of operations."""

    multiplications: int = 0  # Number of multiplications.
    additions: int = 0  # Number of additions and subtractions.


class Counted:
    """A number without a value that counts the operations applied to it.

    As in the paper, these are not counted: sines and cosines, changes of sign, operations on constants alone,
    and those that constants of 0, 1 or −1 make unnecessary. `tally`: counters that the number increments.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def cos(self) -> "Counted":
        """Stand for a cosine; `numpy.cos` asks for it."""
        return Counted(self._tally)

    sin = cos

    def __neg__(self) -> "Counted":
        return self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and other == 0:
            return self
        self._tally.additions += 1
        return Counted(self._tally)

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and other in (-1, 0, 1):
            return self if other else 0
        self._tally.multiplications += 1
        return Counted(self._tally)

    __rmul__ = __mul__


def count_operations(function: Callable[..., Any], *sizes: int) -> Operations:
    """Count the operations of a function by running it on counting numbers.

    `function`: function of sequences of numbers; `*sizes`: length of each of its arguments. Returns
    operations of one call.
    """
    tally = Tally()
    arguments: list[Sequence[Counted]] = [[Counted(tally) for _ in range(size)] for size in sizes]
    function(*arguments)
    return Operations(tally.multiplications, tally.additions)


def count_newton_euler(arm: Arm) -> Operations:
    """Count the operations of the recursion for one state of an arm's links, without motors and friction.

    `arm`: the arm; its zero parameters cause no operations. Returns operations of one evaluation.
    """
    n = arm.joints
    return count_operations(lambda *state: link_torques(arm, *state), n, n, n)
