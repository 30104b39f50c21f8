"""Parts of the validation as processes: side by side, each whole or not at all, ended with this process."""

import fcntl
import json
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dependencies import ROOT, SCRIPTS, changes, current_code, data_state, opened_log
from parts import PARTS, Part

FULL, QUICK = "full", "quick"
GRACE = 10.0
"""Time that a process has to end after SIGTERM, s."""
_WITHOUT_SIZE = ("--jobs", "--out", "--table", "--results", "--picture", "--pictures")
"""Options that do not tell what is computed."""
# Sums of other instructions round differently, which a motion at its limits or a fall makes visible.
_ONE_PROCESSOR = {
    "x86_64": {
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CPU_NAME": "haswell",
        "OPENBLAS_CORETYPE": "Haswell",
    }
}
# A process that outlives this one, kill -9 included, and then ends what this one has started.
_WATCHDOG = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    (groups.add if line[0] == "+" else groups.discard)(int(line[1:]))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


@dataclass(frozen=True)
class Place:
    """Where parts of one size work and leave their results.

    Parameters
    ----------
    size : str
        `FULL` or `QUICK`.
    results : Path
        Folder of finished files of results.
    work : Path
        Folder with one for each part, and beside it what it prints, `NAME.log`.
    """

    size: str
    results: Path
    work: Path


@dataclass(frozen=True)
class Outcome:
    """How a part ended."""

    part: Part
    failure: str  # Why there are no results; empty if there are.
    missed: tuple[str, ...] = ()  # Bounds that do not hold.
    unjudged: tuple[str, ...] = ()  # Those of them that only the full size can be held to.
    bounds: int = 0
    seconds: float = 0.0

    @property
    def good(self) -> bool:
        return not self.failure and len(self.missed) == len(self.unjudged)


def arguments_of(part: Part, place: Place) -> list[str]:
    """Arguments of a part, but how many processes it may use and where results go."""
    given = part.full if place.size == FULL else part.quick
    folders = {each.name: _said(place.work / each.name) for each in PARTS}
    return [each.format(work=folders[part.name], **folders) for each in shlex.split(given)]


def _said(path: Path) -> str:
    """Name a path relative to the repository if it lies in it, for commands that pages show."""
    return os.path.relpath(path, ROOT) if path.is_relative_to(ROOT) else str(path)


def is_done(part: Part, place: Place) -> bool:
    """Whether a part has results of this size that nothing has changed since, and what other parts read."""
    path = place.results / f"{part.name}.json"
    if not path.is_file() or (part.product and not (place.work / part.name / part.product).is_file()):
        return False
    results = read_results(path)
    others = {name: read_results(place.results / f"{name}.json") for name in part.after}
    if changes(results, others):
        return False
    wanted = ["python", f"{SCRIPTS.as_posix()}/{part.script}", *arguments_of(part, place)]
    return _size(shlex.split(results["command"])) == _size(wanted)


def _size(command: Sequence[str]) -> list[str]:
    """Leave out of a command what does not tell what is computed."""
    places = [k for k, each in enumerate(command) if each in _WITHOUT_SIZE]
    return [each for k, each in enumerate(command) if k not in places and k - 1 not in places]


def read_results(path: Path) -> dict[str, Any]:
    """Read a file of results; without one, nothing."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def judge(part: Part, place: Place, seconds: float = 0.0) -> Outcome:
    """Judge the results of a part by its bounds."""
    checks = read_results(place.results / f"{part.name}.json")["checks"]
    missed = tuple(each["what"] for each in checks if not each["holds"])
    unjudged = tuple(each for each in missed if place.size != FULL and each.startswith(part.sized or ("\0",)))
    return Outcome(part, "", missed, unjudged, len(checks), seconds)


@contextmanager
def alone(place: Place) -> Iterator[None]:
    """Keep others out of the folder of a run; BlockingIOError if one is in it."""
    place.work.mkdir(parents=True, exist_ok=True)
    place.results.mkdir(parents=True, exist_ok=True)
    with (place.work / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def run_parts(
    parts: Sequence[Part], place: Place, jobs: int, on_change: Callable[[Mapping[str, float]], None]
) -> Iterator[Outcome]:
    """Run parts side by side and yield how each ended, as soon as it is known.

    Parameters
    ----------
    parts : sequence of Part
        Parts; what one of them reads of another must be there, or come from one of them.
    place : Place
        Where they work.
    jobs : int
        Processes at once. In full, a part that shares its work among processes has all of them.
    on_change : callable
        Called several times a second with the seconds for which each part has been running.
    """
    waiting = list(parts)
    running: dict[str, tuple[Part, subprocess.Popen[bytes], float]] = {}
    used: dict[str, int] = {}
    done: dict[str, bool] = {}
    watchdog = subprocess.Popen(
        [sys.executable, "-c", _WATCHDOG], stdin=subprocess.PIPE, start_new_session=True
    )
    assert watchdog.stdin is not None
    wanted = {each.name for each in parts}
    try:
        while waiting or running:
            for part in list(waiting):
                before = [name for name in part.after if name in wanted]
                failed = [name for name in before if not done.get(name, True)]
                if failed:
                    waiting.remove(part)
                    done[part.name] = False
                    yield Outcome(part, f"needs {', '.join(failed)}")
                    continue
                need = jobs if part.jobs and place.size == FULL else 1
                if all(name in done for name in before) and sum(used.values()) + need <= jobs:
                    waiting.remove(part)
                    used[part.name] = need
                    process = _start(part, place, need)
                    running[part.name] = (part, process, time.monotonic())
                    watchdog.stdin.write(f"+{process.pid}\n".encode())
                    watchdog.stdin.flush()
            time.sleep(0.1)
            on_change({name: time.monotonic() - begin for name, (_, _, begin) in running.items()})
            for name, (part, process, begin) in list(running.items()):
                status = process.poll()
                if status is not None:
                    _end(process)
                    watchdog.stdin.write(f"-{process.pid}\n".encode())
                    del running[name], used[name]
                    outcome = _finish(part, place, status, time.monotonic() - begin)
                    done[name] = not outcome.failure
                    yield outcome
    finally:
        for _, process, _ in running.values():
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
        for _, process, _ in running.values():
            with suppress(subprocess.TimeoutExpired):
                process.wait(GRACE)
            _end(process)
            watchdog.stdin.write(f"-{process.pid}\n".encode())
        watchdog.stdin.close()
        watchdog.wait()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End whatever a part has left running, and take note of its own end."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _start(part: Part, place: Place, jobs: int) -> subprocess.Popen[bytes]:
    """Start a part in its folder, which is emptied if what is there is of other code or data."""
    folder = place.work / part.name
    script = f"{SCRIPTS.as_posix()}/{part.script}"
    arguments = arguments_of(part, place)
    # What scripts that go on after a kill have finished is of use as long as nothing has changed.
    state = json.dumps([current_code(ROOT, script)[0], data_state(ROOT), _size(arguments)])
    kept = place.work / f"{part.name}.state"
    if not kept.is_file() or kept.read_text(encoding="utf-8") != state:
        shutil.rmtree(folder, ignore_errors=True)
        opened_log(_unfinished(part, place)).unlink(missing_ok=True)
        kept.write_text(state, encoding="utf-8")
    command = [sys.executable, script, *arguments, *(["--jobs", str(jobs)] if part.jobs else [])]
    environment = {
        **os.environ,
        **_ONE_PROCESSOR.get(platform.machine(), {}),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONUNBUFFERED": "1",
        # Computed, and not read from the cache of plans.
        "SIMBENCH_CACHE_MB": "0",
    }
    with (place.work / f"{part.name}.log").open("wb") as log:
        return subprocess.Popen(
            [*command, "--results", str(_unfinished(part, place))],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def _unfinished(part: Part, place: Place) -> Path:
    """File that a part writes: beside the finished one, where results of others are found, too."""
    return place.results / f".{part.name}.json.new"


def _finish(part: Part, place: Place, status: int, seconds: float) -> Outcome:
    """Put results in their place if the script has finished them."""
    written, log = _unfinished(part, place), place.work / f"{part.name}.log"
    checks = read_results(written).get("checks") if status in (0, 1) else None
    # Status 1 means a missed bound: without one among the results, something else went wrong.
    if checks is None or (status == 1 and all(each["holds"] for each in checks)):
        lines = [
            each for each in log.read_text(encoding="utf-8", errors="replace").splitlines() if each.strip()
        ]
        written.unlink(missing_ok=True)
        said = f": {lines[-1].strip()[:200]}" if lines else ""
        return Outcome(part, f"status {status}{said} ({_said(log)})", seconds=seconds)
    written.replace(place.results / f"{part.name}.json")
    return judge(part, place, seconds)
