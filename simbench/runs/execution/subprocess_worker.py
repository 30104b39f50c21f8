"""A job in a process of its own, started from a process that must not use multiprocessing.

The workers of a Dask cluster are such processes: daemons with a thread for each task that runs at once.
"""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import suppress

from simbench.runs.execution.local import JobResult, capture_result, crash_result, read_result
from simbench.system.termination import end_with_parent


def run_in_subprocess(work: bytes) -> JobResult:
    """Call a function in a new process with one thread.

    The new process ends by itself when this one is killed. `work`: pickled function and tuple of its
    arguments. Returns value or error of the call.
    """
    # The new process must find the module where this one found it.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import _serve_pipe; _serve_pipe()"
    output = b""
    with (
        suppress(BrokenPipeError),
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        ) as process,
    ):
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("a process without pipes")
        process.stdin.write(work)
        # The pipe stays open: when it closes, the new process knows that this one has ended.
        process.stdin.flush()
        output = process.stdout.read()
    return read_result(output, ()) if output and process.returncode == 0 else crash_result(process.returncode)


def _serve_pipe() -> None:
    """Read a job from the standard input and write its outcome to the standard output."""
    results = os.fdopen(os.dup(1), "wb")
    # What the job prints must not mix with its outcome.
    os.dup2(2, 1)
    try:
        # Code by design: the function of the script that asks for the job. Who may send jobs to a cluster may
        # run anything on it.
        function, arguments = pickle.load(sys.stdin.buffer)
        end_with_parent(lambda: os.read(0, 1))
        result = capture_result(function, arguments)
        # From here on the pipe closes because the outcome has been received.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        with results:
            pickle.dump(result, results)
    except (KeyboardInterrupt, BrokenPipeError):
        sys.exit(1)
