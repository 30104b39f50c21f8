"""Declarations of the quantities that a run samples: each stands beside the code that measures it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from numpy.typing import ArrayLike

Source = TypeVar("Source")
"""Object that a signal is measured on: a state, a command, the grips of a robot."""


@dataclass(frozen=True)
class Signal(Generic[Source]):
    """A quantity that a run samples; recorder and log take everything they know of it from here.

    Parameters
    ----------
    name : str
        Name of the variable in the log.
    dims : tuple of str
        Dimensions of a sample, among the coordinates of the log; empty for a number.
    unit : str
        SI unit, and the frame where there is one; empty for what has none.
    description : str
        Description of the measured quantity.
    measure : callable (Source) -> array_like, optional
        Gives a sample; None for a signal that is computed after the run.
    dtype : type
        Type of the values.
    fill : float
        Value of a sample that is not measured.
    """

    name: str
    dims: tuple[str, ...]
    unit: str
    description: str
    measure: Callable[[Source], ArrayLike] | None = None
    dtype: type[Any] = float
    fill: float = 0.0
