"""Trial of a file in a process of its own: the HDF5 library crashes and hangs on some damaged files."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import h5py

from simbench.files.hdf5.dataset import READ_ERRORS, describe_error, load_dataset
from simbench.files.hdf5.structure import check_structure

MEMORY = 512 << 20
"""Bytes that reading may take beside twice what the file declares."""
PROCESSOR_TIME = 10
"""Processor time that reading may take, s, beside a second for every `BYTES_PER_SECOND` declared."""
BYTES_PER_SECOND = 20 << 20
_REFUSED = 3
"""Exit status of a trial that says why the file cannot be read."""


def probe_file(path: Path) -> str:
    """Read a NetCDF file in a process with limited memory and processor time.

    Returns why it cannot be read, in one line; empty if it can.
    """
    # The new process must find the module where this one found it.
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, os.fspath(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # A thread's stack counts as memory.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        check=False,
    )
    if done.returncode == 0:
        return ""
    if done.returncode == _REFUSED:
        return done.stdout.decode(errors="replace")
    return "the HDF5 library crashes, or takes too long, reading it"


def main() -> None:
    """Read the file that is the first argument; print why it cannot be read, if it cannot."""
    path = Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _limit(0)
        with h5py.File(path, "r") as file:
            _limit(check_structure(file, path.stat().st_size))
        load_dataset(path)
    except READ_ERRORS as error:
        sys.stdout.buffer.write(describe_error(error).encode(errors="replace"))
        sys.stdout.flush()
        # Closing what is damaged may crash.
        os._exit(_REFUSED)
    os._exit(0)


def _limit(declared: int) -> None:
    """Limit memory and processor time of this process to what reading so many bytes takes."""
    seconds = PROCESSOR_TIME + declared // BYTES_PER_SECOND
    used = resource.getrusage(resource.RUSAGE_SELF)
    _set_soft_limit(resource.RLIMIT_CPU, int(used.ru_utime + used.ru_stime) + seconds)
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        # Only Linux tells how much is mapped.
        return
    _set_soft_limit(resource.RLIMIT_AS, pages * resource.getpagesize() + MEMORY + 2 * declared)


def _set_soft_limit(which: int, value: int) -> None:
    """Lower or raise a soft limit, up to the hard one."""
    _, hard = resource.getrlimit(which)
    resource.setrlimit(which, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))
