"""Work on a Dask cluster that runs already."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from simbench.errors import StudyError
from simbench.runs.execution.local import Execute, JobResult
from simbench.runs.execution.subprocess_worker import answer_apart

_PATIENCE = 10.0
"""For the scheduler to answer, s."""


@contextmanager
def dask_cluster(address: str) -> Iterator[Execute]:
    """Connect to a cluster.

    What runs on a worker that is lost is run again on another. When the iteration is left early, as by
    Ctrl-C, nothing more is begun; what is under way ends unheard.

    Parameters
    ----------
    address : str
        Of the scheduler, such as `tcp://10.0.0.1:8786`. Workers need simbench from the same sources, and
        see the files that the work names.

    Yields
    ------
    Execute
        Does what `run_isolated` does, with as many processes at a time as the workers have threads.

    Raises
    ------
    StudyError
        If dask.distributed is not installed, nobody answers, or, later, the cluster goes away.
    """
    try:
        from distributed import Client
    except ImportError:
        raise StudyError(
            "--dask: needs dask.distributed, which pip install 'simbench[cluster]' brings"
        ) from None
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StudyError(f"--dask {address}: no Dask scheduler answers: {error}") from None
    with client:
        yield partial(_run, client, address)


def _run(
    client: Any, address: str, function: Callable[..., Any], work: Sequence[tuple[Any, ...]]
) -> Generator[tuple[int, JobResult], None, None]:
    import cloudpickle
    from distributed import as_completed

    # By value, where the function is that of a script, which workers cannot import.
    futures = {
        client.submit(answer_apart, cloudpickle.dumps((function, arguments)), pure=False): index
        for index, arguments in enumerate(work)
    }
    try:
        for future in as_completed(futures, loop=client.loop):
            index, answer = futures.pop(future), _answer(future, address)
            # A worker that is lost takes the results on it along: this one need not be made again.
            future.release()
            yield index, answer
    finally:
        client.cancel(list(futures))


def _answer(future: Any, address: str) -> JobResult:
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        return future.result()
    if future.status != "error":
        raise StudyError(f"--dask {address}: the cluster is gone; what is finished is kept")
    error = future.exception()
    if isinstance(error, KilledWorker):
        return JobResult(error="every worker that ran it died", crashed=True)
    return JobResult(error=" ".join(f"{type(error).__name__}: {error}".split()), crashed=True)
