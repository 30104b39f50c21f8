"""Jobs on a running Dask cluster."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from simbench.errors import StudyError
from simbench.runs.execution.local import Execute, JobResult
from simbench.runs.execution.subprocess_worker import run_in_subprocess

_CONNECT_TIMEOUT = 10.0
"""Time in which the scheduler must answer, s."""
_LONGEST_TRANSFER = 60.0
"""Time in which the result of a job that has finished must arrive, s; it is a few lines of text."""


@contextmanager
def dask_cluster(address: str) -> Iterator[Execute]:
    """Connect to a running Dask cluster.

    Jobs of a lost worker are run again on another. When the iteration is left early, as by Ctrl-C, no more
    jobs are started, and the results of those that run are discarded. `address`: address of the scheduler,
    such as `tcp://10.0.0.1:8786`. Workers need simbench from the same sources and access to the files that
    the jobs name. Yields runs jobs as `run_isolated` does, with as many processes at a time as the workers
    have threads.
    """
    try:
        from distributed import Client
    except ImportError:
        raise StudyError("--dask: needs dask.distributed: pip install 'dask[distributed]'") from None
    try:
        client = Client(address, timeout=_CONNECT_TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise StudyError(f"--dask {address}: no Dask scheduler answers: {error}") from None
    with client:
        yield partial(_run, client, address)


def _run(
    client: Any, address: str, function: Callable[..., Any], work: Sequence[tuple[Any, ...]]
) -> Generator[tuple[int, JobResult], None, None]:
    import cloudpickle
    from distributed import TimeoutError as DaskTimeoutError
    from distributed import as_completed

    def submit(index: int) -> Any:
        # Pickled by value where the function belongs to a script, which workers cannot import.
        return client.submit(run_in_subprocess, cloudpickle.dumps((function, work[index])), pure=False)

    futures = {submit(index): index for index in range(len(work))}
    try:
        completed = as_completed(futures, loop=client.loop)
        for future in completed:
            if future.status in ("lost", "pending"):
                # It had finished when its worker was lost: it is computed again.
                completed.add(future)
                continue
            index = futures.pop(future)
            try:
                result = _job_result(future, address)
            except DaskTimeoutError:
                # Its worker was lost after it had finished, and the scheduler has forgotten it.
                again = submit(index)
                futures[again] = index
                completed.add(again)
                continue
            # A lost worker loses its results: this one, released, is not computed again.
            future.release()
            yield index, result
    finally:
        client.cancel(list(futures))


def _job_result(future: Any, address: str) -> JobResult:
    """Return the outcome of a finished job."""
    from distributed.scheduler import KilledWorker

    if future.status == "finished":
        return future.result(timeout=_LONGEST_TRANSFER)
    if future.status != "error":
        raise StudyError(f"--dask {address}: the cluster is gone; what is finished is kept")
    error = future.exception()
    if isinstance(error, KilledWorker):
        return JobResult(error="every worker that ran it died", crashed=True)
    return JobResult(error=" ".join(f"{type(error).__name__}: {error}".split()), crashed=True)
