"""In place of `run_isolated`: runs in this process, which has imported what each process of its own would."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simbench.runs.execution import capture_result


def run_here(
    function: Callable[..., Any], work: Sequence[Any], jobs: int, variables: Sequence[Any] = ()
) -> Iterator[tuple[int, Any]]:
    """Yield index and outcome of each piece of work, one after another."""
    del jobs, variables
    return ((index, capture_result(function, arguments)) for index, arguments in enumerate(work))
