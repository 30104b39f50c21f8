"""A piece of work in a process of its own, from a process that may start none through multiprocessing.

Such are the workers of a Dask cluster: daemons, each with as many threads as it may run tasks at once.
"""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress

from simbench.runs.execution.local import JobResult, answer_of, death, end_after


def answer_apart(work: bytes) -> JobResult:
    """Call a function in a new process with one thread.

    The process ends by itself when this one is killed.

    Parameters
    ----------
    work : bytes
        The pickled function and tuple of its arguments.

    Returns
    -------
    JobResult
    """
    # The module must be found where this process found it.
    begin = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _answer_pipe; _answer_pipe()"
    said = b""
    with (
        suppress(BrokenPipeError),
        subprocess.Popen(
            [sys.executable, "-c", begin],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ) as process,
    ):
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without pipes")
        process.stdin.write(work)
        # The pipe stays open: its end tells the process that this one is no more.
        process.stdin.flush()
        said = process.stdout.read()
    return pickle.loads(said) if said and process.returncode == 0 else death(process.returncode)


def _answer_pipe() -> None:
    """Read work from standard input and write its answer to standard output."""
    answers = os.fdopen(os.dup(1), "wb")
    # What the work prints is no part of the answer.
    os.dup2(2, 1)
    try:
        function, arguments = pickle.load(sys.stdin.buffer)
        end_after(lambda: os.read(0, 1))
        answer = answer_of(function, arguments)
        # From here on the end of the pipe only says that the answer has come.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with answers:
            pickle.dump(answer, answers)
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(1)
