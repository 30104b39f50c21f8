"""Count multiplications and additions by running code on numbers that count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from simbench.dynamics.arm import Arm
from simbench.dynamics.newton_euler import link_torques


class Operations(NamedTuple):
    """How often is multiplied, and how often added or subtracted."""

    multiplications: int
    additions: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.multiplications + self.additions


@dataclass
class Tally:
    """What has been counted so far."""

    multiplications: int = 0
    additions: int = 0


class Counted:
    """A number that notes in a tally what is done with it.

    Not counted, as in the paper: sines and cosines, changes of sign, what is done with constants alone, and
    what constants that are 0, 1 or −1 make unnecessary.
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
    """Run a function on numbers that count.

    Parameters
    ----------
    function : callable
        Of sequences of numbers.
    sizes : int
        How long each of its arguments is.

    Returns
    -------
    Operations
    """
    tally = Tally()
    arguments: list[Sequence[Counted]] = [[Counted(tally) for _ in range(size)] for size in sizes]
    function(*arguments)
    return Operations(tally.multiplications, tally.additions)


def count_newton_euler(arm: Arm) -> Operations:
    """Count what the recursion does for one state of an arm: links alone, no motors, no friction.

    Parameters
    ----------
    arm : Arm
        What is zero in it is not calculated with.

    Returns
    -------
    Operations
    """
    n = arm.joints
    return count_operations(lambda *state: link_torques(arm, *state), n, n, n)
