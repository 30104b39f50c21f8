"""End commands at random moments, and look at what they leave behind and whether the same command goes on.

python scripts/studies/crash_matrix.py [--commands NAME ...] [--faults NAME ...] [--each N] [--seed N]
    [--folder DIR] [--json FILE]

The commands are run, sweep, check (with --update), report and video, on a short motion of PUMA 560. The
faults are the signals SIGKILL, SIGTERM and SIGHUP, a disk that becomes full, a directory that becomes
read-only, and one that vanishes. A moment is the k-th operation on files of the command and its workers, k
drawn from all of an undisturbed run; every second time the fault comes up to 0.1 s after it. After each:

- everything under a final name is opened: logs, metrics, baselines, tables, pages, pictures and videos;
- the command must have ended in the right way: by the signal, with 128 plus its number, or with 2, and with
  at most one line on the standard error; and so must its workers;
- a partial log must be readable;
- the same command is called again, undisturbed: its results must be those of the undisturbed run, and nothing
  else may be left beside them or in the temporary directory.

Processes are forked from one that has imported everything, which saves most of the time. As root, the full
disk is a file system in memory, and a read-only directory an immutable one; else they are a limit on the size
of files, and a matter of mode bits.
"""

import argparse
import ctypes
import hashlib
import importlib
import json
import mmap
import multiprocessing
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import yaml
from PIL import Image
from pyarrow import parquet
from rich.console import Console
from rich.table import Table

from simbench.cli.main import main as simbench
from simbench.errors import SimbenchError
from simbench.runs.baseline import read_baseline
from simbench.runs.log import open_run
from simbench.sim.rendering.camera import choose_renderer
from simbench.system.termination import TERMINATING, orderly_termination

SHORT = ("motion.task={amplitude_rad: 0.4, speed_rad_s: 1.0}", "simulation.settle_s=0.4")
CAMERA = ("camera.width=64", "camera.height=48", "camera.fps=3")
SCENARIO = "short.yaml"
COMMANDS = {
    "run": ["run", SCENARIO, "--out", "out/run"],
    "sweep": ["sweep", SCENARIO, "--vary", "seed=1..2", "--out", "out/sweep", "--jobs", "1", "--keep"],
    "check": ["check", SCENARIO, "--update", "--jobs", "2"],
    "report": ["report", "done"],
    "video": ["video", "done"],
}
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}
FAULTS = (*SIGNALS, "full", "read-only", "vanished")
_PART_ENDINGS = (".part", ".part.mp4", ".tmp")
_OPERATIONS = frozenset(
    (
        "open",
        "os.rename",
        "os.remove",
        "os.mkdir",
        "os.rmdir",
        "os.truncate",
        "shutil.rmtree",
        "subprocess.Popen",
    )
)
_DELAY = 0.1
"""Longest time, s, between an operation on files and the fault."""
_PATIENCE = 120.0
"""Time, s, after which a process that goes on counts as left behind."""


@dataclass
class Outcome:
    """What one fault did.

    Parameters
    ----------
    command, fault : str
        What was called, and what happened to it.
    seed : int
        Seed of the moment.
    operation : int
        Number of the operation on files at which it happened.
    status : int
        Exit status; negative after a signal.
    problems : list of str
        What is wrong, each beginning with `damaged`, `leftover`, `ended`, `partial` or `resumed`.
    """

    command: str
    fault: str
    seed: int
    operation: int
    status: int = 0
    hit: bool = True
    problems: list[str] = field(default_factory=list)


class Counted:
    """A number that forked processes share."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, 8)

    def add(self) -> int:
        """Count one more, and return the number before it."""
        before = self.value
        self._memory[:8] = struct.pack("q", before + 1)
        return before

    @property
    def value(self) -> int:
        """The number."""
        return int(struct.unpack("q", self._memory[:8])[0])


@contextmanager
def prepared(folder: Path) -> Iterator[Path]:
    """Make a working directory, on a file system of its own if possible."""
    folder.mkdir(parents=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=96m,mode=777", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    try:
        (folder / "tmp").mkdir()
        (folder / "work").mkdir()
        yield folder
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", "-l", str(folder)], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def write_scenario(work: Path) -> None:
    """Write the short scenario."""
    overrides = [text for pair in (SHORT, CAMERA) for text in pair]
    if call(["run", "puma560_sweep", *set_options(overrides), "--out", "done"], work).status != 0:
        raise SystemExit("the short run fails")
    text = (work / "done" / "scenario.yaml").read_text(encoding="utf-8")
    content = yaml.safe_load(text)
    content["checks"] = {}
    (work / SCENARIO).write_text(yaml.safe_dump(content), encoding="utf-8")


def set_options(overrides: Sequence[str]) -> list[str]:
    """Write overrides as options."""
    return [word for text in overrides for word in ("--set", text)]


@dataclass(frozen=True)
class Called:
    """How a command ended."""

    status: int
    errors: str
    operations: int
    hit: bool
    orphans: int


def call(
    arguments: Sequence[str],
    work: Path,
    *,
    at: int | None = None,
    fault: Callable[[int], None] | None = None,
    delay: float = 0.0,
) -> Called:
    """Call a command in a forked process, and let a fault happen at one of its operations on files.

    Parameters
    ----------
    arguments : sequence of str
        Arguments of `simbench`.
    work : Path
        Working directory; `TMPDIR` is `tmp` beside it.
    at : int, optional
        Number of the operation.
    fault : callable (process)
        Called with the id of the command's process before that operation.
    delay : float
        Time from the operation to the fault, s.

    Returns
    -------
    Called
        Status, standard error, number of operations, whether the fault happened, and processes left behind.
    """
    count, hits = Counted(), Counted()
    with tempfile.TemporaryFile() as errors:
        process = os.fork()
        if process == 0:
            os.setsid()
            with open(os.devnull, "r+b") as null:
                os.dup2(null.fileno(), 0)
                os.dup2(null.fileno(), 1)
            os.dup2(errors.fileno(), 2)
            os._exit(_serve(arguments, work, count, hits, (at, fault, delay)))
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        orphans = _wait_for_orphans()
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    return Called(status, text, count.value, hits.value > 0, orphans)


def _serve(arguments: Sequence[str], work: Path, count: Counted, hits: Counted, how: tuple) -> int:
    """Run a command in this forked process, with an audit hook that counts operations on files."""
    at, fault, delay = how
    leader = os.getpid()
    busy = threading.local()

    def strike() -> None:
        busy.on = True
        hits.add()
        fault(leader)
        busy.on = False

    def hook(event: str, details: tuple[Any, ...]) -> None:
        if event not in _OPERATIONS or getattr(busy, "on", False):
            return
        # Reading is no operation: what is read here was there before.
        if event == "open" and not (isinstance(details[2], int) and details[2] & (os.O_WRONLY | os.O_RDWR)):
            return
        if count.add() == at and fault is not None:
            if delay:
                threading.Timer(delay, strike).start()
            else:
                strike()

    for number in TERMINATING:
        signal.signal(number, signal.SIG_DFL)
    os.chdir(work)
    os.environ["TMPDIR"] = tempfile.tempdir = str(work.parent / "tmp")
    sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
    sys.addaudithook(hook)
    try:
        status = simbench(arguments)
    except BaseException:
        import traceback

        traceback.print_exc()
        status = 70
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def _wait_for_orphans() -> int:
    """Wait for the processes that a command left behind; return how many had to be killed."""
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.02)
        except ChildProcessError:
            return 0
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text(encoding="ascii").split()
    for child in children:
        os.kill(int(child), signal.SIGKILL)
        os.waitpid(int(child), 0)
    return len(children)


def results_of(command: str, work: Path) -> dict[str, str]:
    """Digest what a command has made, by name, without what differs from run to run."""
    found = {}
    for path in sorted(work.rglob("*")):
        if path.is_dir():
            continue
        name = str(path.relative_to(work))
        timed = path.name in ("provenance.json", "timing.parquet", "lock", "report.html")
        if path.name == "metrics.json":
            metrics = json.loads(path.read_bytes())
            content = repr({key: value for key, value in metrics.items() if not key.startswith("timing.")})
        elif timed or path.parent.name == "rows":
            content = ""
        else:
            content = hashlib.sha256(path.read_bytes()).hexdigest()
        found[name] = content
    return found


def damaged_files(work: Path) -> list[str]:
    """Open everything that has its final name, and list what is damaged."""
    damaged = []
    for path in sorted(work.rglob("*")):
        unfinished = any(
            parent.name.endswith(".incomplete") for parent in (path, *path.parents)
        ) or path.name.endswith(_PART_ENDINGS)
        if unfinished or path.is_dir():
            continue
        try:
            _open(path)
        except (
            SimbenchError,
            OSError,
            ValueError,
            LookupError,
            RuntimeError,
            SyntaxError,
            yaml.YAMLError,
        ) as error:
            damaged.append(f"damaged {path.relative_to(work)}: {type(error).__name__}: {error}"[:200])
    return damaged


def _open(path: Path) -> None:
    """Open a file, and raise an error if it is not whole."""
    if path.name == "log.nc":
        log = open_run(path.parent)
        if not log.sizes["time"]:
            raise ValueError("an empty log")
        missing = {"scenario.yaml", "provenance.json", "metrics.json"} - {
            each.name for each in path.parent.iterdir()
        }
        if missing:
            raise ValueError(f"a run without {missing}")
    elif path.parent.name == "baselines":
        if not read_baseline(path):
            raise ValueError("an empty baseline")
    elif path.suffix == ".json":
        json.loads(path.read_bytes())
    elif path.suffix == ".yaml":
        yaml.safe_load(path.read_bytes())
    elif path.suffix == ".html":
        if not path.read_text(encoding="utf-8").endswith("</html>\n"):
            raise ValueError("the page does not end")
    elif path.suffix == ".png":
        Image.open(path).load()
    elif path.suffix == ".mp4":
        if not len(iio.imread(path, plugin="FFMPEG")):
            raise ValueError("no frames")
    elif path.suffix == ".parquet":
        parquet.read_table(path)


@dataclass(frozen=True)
class Reference:
    """An undisturbed call: its number of operations, and what it made."""

    operations: int
    results: dict[str, str]


def warm_up(commands: Sequence[str]) -> None:
    """Do once here what every process would have to do again: imports, compiling, fonts, renderer."""
    for module in ("pipeline", "regression", "scenario_sweep", "execution"):
        importlib.import_module(f"simbench.runs.{module}")
    if "video" in commands:
        choose_renderer()
    with (
        tempfile.TemporaryDirectory() as scratch,
        open(os.devnull, "w", encoding="utf-8") as null,
        redirect_stdout(null),
    ):
        simbench(["run", "puma560_sweep", *set_options(SHORT), "--out", f"{scratch}/run"])
        if "report" in commands:
            simbench(["report", f"{scratch}/run"])


def reset(work: Path, keep: Path) -> None:
    """Give the working directory the content that it has before each command."""
    for path in (work, work.parent / "tmp"):
        path.mkdir(exist_ok=True)
        for entry in path.iterdir():
            shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
    shutil.copytree(keep, work, dirs_exist_ok=True)
    for path in (work, *work.rglob("*"), work.parent / "tmp"):
        path.chmod(0o777 if path.is_dir() else 0o666)


def strike_of(fault: str, work: Path) -> Callable[[int], None]:
    """Make the function that lets a fault happen."""
    if fault in SIGNALS:
        return lambda process: os.kill(process, SIGNALS[fault])
    if fault == "read-only":
        return lambda process: protect(work, read_only=True)
    if fault == "vanished":
        return lambda process: shutil.rmtree(
            work / "out" if (work / "out").exists() else work, ignore_errors=True
        )

    def fill(process: int) -> None:
        if not os.path.ismount(work.parent):
            resource.setrlimit(resource.RLIMIT_FSIZE, (512, resource.RLIM_INFINITY))
            return
        with suppress(OSError), open(work.parent / "ballast", "wb", buffering=0) as file:
            while file.write(bytes(4096)):
                pass

    return fill


def protect(work: Path, *, read_only: bool) -> None:
    """Make directories read-only, or writable again."""
    folders = [str(path) for path in (work, *work.rglob("*")) if path.is_dir()]
    if os.geteuid() == 0:
        # Mode bits do not keep root from writing.
        subprocess.run(
            ["chattr", "-f", "+i" if read_only else "-i", *folders], capture_output=True, check=False
        )
        return
    for folder in folders:
        with suppress(OSError):
            os.chmod(folder, 0o555 if read_only else 0o777)


def disturb(command: str, fault: str, seed: int, folder: Path, reference: Reference) -> Outcome:
    """Let a fault happen to a command, and look at what it left, and at the same command afterwards."""
    draw = random.Random(f"{command} {fault} {seed}")
    work, keep = folder / "work", folder / "keep"
    at, delay = draw.randrange(reference.operations), draw.choice([0.0, draw.uniform(0.0, _DELAY)])
    reset(work, keep)
    called = call(COMMANDS[command], work, at=at, fault=strike_of(fault, work), delay=delay)
    outcome = Outcome(command, fault, seed, at, called.status, called.hit)
    (folder / "ballast").unlink(missing_ok=True)
    if fault == "read-only":
        protect(work, read_only=False)
    if work.exists():
        outcome.problems += (
            _ending_problems(command, fault, called) + damaged_files(work) + _partial_problems(work)
        )
    else:
        outcome.problems += _ending_problems(command, fault, called)
    whole = (work / "out" / "run").exists()
    if fault == "vanished":
        work.mkdir(exist_ok=True)
        shutil.copytree(keep, work, dirs_exist_ok=True)
    again = call(COMMANDS[command], work)
    if command == "run" and whole:
        # It ended after its last operation on files: the run is there, and is not replaced.
        allowed = again.status == 2 and "exists and is not empty" in again.errors
        again = replace(again, status=0 if allowed else again.status)
    if again.status != 0:
        outcome.problems.append(f"resumed with status {again.status}: {again.errors.strip()[-200:]}")
    outcome.problems += damaged_files(work)
    found = results_of(command, work)
    for name in sorted({*found, *reference.results}):
        if name not in found:
            outcome.problems.append(f"resumed without {name}")
        elif name not in reference.results:
            outcome.problems.append(f"leftover {name}")
        elif found[name] != reference.results[name]:
            outcome.problems.append(f"resumed with another {name}")
    # A folder that is empty but for the killed process is one, too.
    outcome.problems += [f"leftover {path.name}" for path in (folder / "tmp").iterdir()]
    return outcome


def _ending_problems(command: str, fault: str, called: Called) -> list[str]:
    """List what is wrong with the way in which a command ended."""
    number = SIGNALS.get(fault)
    if number is signal.SIGKILL:
        allowed, lines = {-number, 0}, 0
    elif number is not None:
        allowed, lines = {128 + number, -number, 0}, 1
    else:
        # A run that fails in a sweep or check is a line of the table, and status 1.
        allowed, lines = ({2, 0} if command not in ("sweep", "check") else {2, 1, 0}), 1
    problems = (
        [] if called.status in allowed else [f"ended with status {called.status}: {called.errors[-300:]}"]
    )
    if len(called.errors.splitlines()) > lines:
        problems.append(f"ended with {called.errors.strip()[-300:]!r}")
    if called.orphans:
        problems.append(f"ended without {called.orphans} of its processes")
    return problems


def _partial_problems(work: Path) -> list[str]:
    """Read the logs of interrupted runs."""
    problems = []
    for folder in [path for path in work.rglob("*.incomplete") if (path / "scenario.yaml").exists()]:
        if not any((folder / "log.parts").glob("*.npz")) and not (folder / "log.nc").exists():
            continue
        try:
            open_run(folder)
        except SimbenchError as error:
            problems.append(f"partial log: {error}")
    return problems


def prepare_references(folder: Path, commands: Sequence[str]) -> dict[str, Reference]:
    """Call every command undisturbed."""
    work, keep = folder / "work", folder / "keep"
    write_scenario(work)
    shutil.copytree(work, keep)
    references = {}
    for command in commands:
        reset(work, keep)
        called = call(COMMANDS[command], work)
        if called.status != 0:
            raise SystemExit(f"{command} fails undisturbed: {called.errors}")
        references[command] = Reference(called.operations, results_of(command, work))
    return references


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """Lay out a line for each command and fault."""
    kinds = ("damaged", "leftover", "ended", "partial", "resumed")
    table = Table("command", "fault", "times", "hit", *kinds, box=None, pad_edge=False)
    for command, fault in dict.fromkeys((each.command, each.fault) for each in outcomes):
        chosen = [each for each in outcomes if (each.command, each.fault) == (command, fault)]
        counted = Counter(kind for each in chosen for kind in {text.split()[0] for text in each.problems})
        hit = sum(each.hit for each in chosen)
        table.add_row(command, fault, str(len(chosen)), str(hit), *(str(counted[kind]) for kind in kinds))
    return table


def main() -> int:
    """Parse the arguments, let the faults happen, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--commands", nargs="+", default=list(COMMANDS), choices=list(COMMANDS))
    parser.add_argument("--faults", nargs="+", default=list(FAULTS), choices=FAULTS)
    parser.add_argument("--each", type=int, default=14, help="times that each fault happens to each command")
    parser.add_argument("--seed", type=int, default=1, help="seed of the first time; each next has one more")
    parser.add_argument("--folder", type=Path, help="new working directory")
    parser.add_argument("--json", type=Path, help="file for all outcomes")
    options = parser.parse_args()
    # Workers are forked from this process, too, and are counted and struck like the command itself.
    spawn = multiprocessing.get_context
    multiprocessing.get_context = lambda method=None: spawn("fork")  # type: ignore[assignment]
    # Processes whose parent was killed become children of this one, which waits for them.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    warm_up(options.commands)
    with (
        tempfile.TemporaryDirectory() as scratch,
        prepared(options.folder or Path(scratch) / "matrix") as folder,
    ):
        references = prepare_references(folder, options.commands)
        outcomes: list[Outcome] = []
        # A signal ends the matrix with the table of what has been done.
        with orderly_termination(), suppress(KeyboardInterrupt):
            for seed in range(options.seed, options.seed + options.each):
                for command, fault in product(options.commands, options.faults):
                    outcome = disturb(command, fault, seed, folder, references[command])
                    outcomes.append(outcome)
                    for problem in outcome.problems:
                        where = f"{command} {fault} seed {seed} operation {outcome.operation}"
                        print(f"{where}: {problem}", flush=True)
    Console(width=110).print(outcome_table(outcomes))
    if options.json:
        options.json.write_text(json.dumps([vars(each) for each in outcomes], indent=1), encoding="utf-8")
    return 1 if any(each.problems for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
