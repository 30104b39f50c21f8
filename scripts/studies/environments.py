"""Do the commands work, quietly and with the same log, in environments that nobody tries at a desk?

python scripts/studies/environments.py [NAME ...] [--out FILE.json] [--list]

Runs cheap commands in each environment: without a home directory, with disks that are full or read-only, with
damaged caches of machine code, in a directory that was deleted, without an output, with odd names, locales,
limits, users and interpreter options. An environment holds if each command ends as it should (0, or 2 with
one line that says why), writes no traceback and no warning, leaves nothing in the current, home and temporary
directories, and if the run's log has the digest that it has in a usual environment.

Environments that need another user, a mount or a limit ask for root, as in a container; without it they
are left out, and the table says so. Exit status 1 if an environment does not hold.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

from log_digest import log_digest
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[2]
BASH = shutil.which("bash") or "/bin/bash"
NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
# The interpreter may be in a home directory that others cannot enter: reading, not writing, stays allowed.
READING = (*AS_NOBODY, "--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search")
TIMEOUT = 300.0

COMMANDS: dict[str, tuple[str, ...]] = {
    "list": ("list",),
    "inspect": ("robot", "inspect", "puma560"),
    "run": ("run", "puma560_sweep", "--set", "motion.task={amplitude_rad: 0.2}", "--out", "{out}/run"),
    "report": ("report", "{out}/run"),
    "video": ("video", "{out}/run", "--end", "0.1"),
    "motion": ("motion", "inspect", "sample:walk"),
    "retarget": ("retarget", "sample:walk", "--out", "{out}/walk.csv"),
    "error": ("run", "puma560_sweep", "--set", "nonsense=1", "--out", "{out}/none"),
}
ALL = tuple(COMMANDS)
SHORT = ("list", "run", "error")
DRAWING = ("run", "report", "video")
LONG_NAME = "n" * 200
ODD_NAME = "a 'b' \"c\" ü 漢 %s #1 $HOME\n;"


@dataclass(frozen=True)
class Environment:
    """How a command is started.

    Parameters
    ----------
    commands : tuple of str
        Names of the commands that are run.
    variables : mapping of str to str or None
        Environment variables that are set, or removed; `{box}` is a folder for this environment.
    before, after : str
        Shell text before the command, such as `ulimit -n 64`, and redirections after it.
    prefix, flags : tuple of str
        Program that starts the interpreter, and the interpreter's options.
    out, cwd : str
        Folders below the box for the results, and to work in.
    allowed : mapping of str to tuple of int
        Exit statuses by command, where they are not the usual ones.
    prepare : callable or None
        Makes the box ready; returns a function that undoes it, or None.
    user : int
        Owner of the folders.
    quiet : bool
        Whether the standard error can be read.
    """

    commands: tuple[str, ...] = SHORT
    variables: Mapping[str, str | None] = field(default_factory=dict)
    before: str = ""
    after: str = ""
    prefix: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    out: str = "out"
    cwd: str = "cwd"
    allowed: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    prepare: Callable[[Path], Callable[[], None] | None] | None = None
    user: int = 0


@dataclass(frozen=True)
class Outcome:
    """Outcome of one command in one environment."""

    environment: str
    command: str
    status: int
    stderr: tuple[str, ...]
    digest: str
    left: tuple[str, ...]
    fault: str


def _mount(options: str, folder: str, fill: bool = False) -> Callable[[Path], Callable[[], None]]:
    """Mount a disk of its own on a folder of the box."""

    def prepare(box: Path) -> Callable[[], None]:
        target = box / folder
        target.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(target)], check=True)
        if fill:
            with open(target / "filler", "wb", buffering=0) as file:
                try:
                    while file.write(b"0" * 4096):
                        pass
                except OSError:
                    pass
        return lambda: subprocess.run(["umount", "-l", str(target)], check=True)

    return prepare


def _damaged_kernels(damage: Callable[[Path], None]) -> Callable[[Path], None]:
    """Copy the warm cache of machine code and damage each file of it."""

    def prepare(box: Path) -> None:
        shutil.copytree(box.parent / "warm", box / "kernels")
        for path in sorted((box / "kernels").rglob("*.nb*")):
            damage(path)

    return prepare


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 3, len(data), max(len(data) // 50, 1)):
        data[place] ^= 0x55
    path.write_bytes(data)


def _into_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _make_unwritable(*names: str) -> Callable[[Path], None]:
    def prepare(box: Path) -> None:
        for name in names:
            (box / name).mkdir(exist_ok=True)
            os.chown(box / name, 0, 0)
            (box / name).chmod(0o555)

    return prepare


def _without_programs(box: Path) -> None:
    (box / "bin").mkdir()


def _checkout(owner: int) -> Callable[[Path], None]:
    """Copy the package and its data into a checkout of another user, with an odd name."""

    def prepare(box: Path) -> None:
        target = box / ODD_NAME
        target.mkdir()
        for name in ("simbench", "robots", "scenarios", "marker_maps", "samples", "schemas"):
            shutil.copytree(ROOT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
        subprocess.run(["git", "init", "-q", str(target)], check=True)
        subprocess.run(["chown", "-R", f"{owner}:{owner}", str(target)], check=True)

    return prepare


def _name_taken(box: Path) -> None:
    """Take the names that runs of the next seconds have by default."""
    script = (
        "import datetime, pathlib\n"
        "for second in range(600):\n"
        "    time = datetime.datetime.now() + datetime.timedelta(seconds=second)\n"
        "    path = pathlib.Path('runs') / f'puma560_sweep-{time:%Y%m%d-%H%M%S}'\n"
        "    path.mkdir(parents=True); (path / 'log.nc').touch()\n"
    )
    subprocess.run([sys.executable, "-c", script], cwd=box / "cwd", check=True)


def environments() -> dict[str, Environment]:
    """Name the environments.

    Returns
    -------
    dict of str to Environment
        The first is the usual one, with which the others are compared.
    """
    E = Environment
    tables = ("list", "inspect", "motion", "error")
    full = {name: (2,) for name in ALL}
    named = {
        "usual": E(ALL),
        "HOME unset": E(SHORT, {"HOME": None}),
        "HOME missing": E(ALL, {"HOME": "{box}/none", "NUMBA_CACHE_DIR": None}),
        "HOME empty": E(SHORT, {"HOME": ""}),
        "HOME relative": E(SHORT, {"HOME": "home", "NUMBA_CACHE_DIR": None}),
        "HOME unset, unknown user": E(
            ("list", "run", "report"),
            {"HOME": None, "NUMBA_CACHE_DIR": None},
            prefix=("setpriv", "--reuid=4242", "--regid=4242", *READING[3:]),
            user=4242,
        ),
        "HOME unwritable": E(
            ("run", "report", "video"),
            {"NUMBA_CACHE_DIR": None},
            prefix=READING,
            user=NOBODY,
            prepare=_make_unwritable("home"),
        ),
        "XDG missing": E(
            DRAWING,
            {"XDG_CACHE_HOME": "{box}/none/a", "XDG_CONFIG_HOME": "/proc/none", "XDG_RUNTIME_DIR": "/x"},
        ),
        "XDG nonsense": E(SHORT, {"XDG_CACHE_HOME": "/dev/null/x", "NUMBA_CACHE_DIR": None}),
        "MPLCONFIGDIR unwritable": E(DRAWING, {"MPLCONFIGDIR": "/proc/none"}),
        "MPLCONFIGDIR file": E(("run", "report"), {"MPLCONFIGDIR": "/dev/null"}),
        "MPLBACKEND nonsense": E(("run", "report"), {"MPLBACKEND": "nonsense"}),
        "NUMBA_CACHE_DIR empty": E(SHORT, {"NUMBA_CACHE_DIR": ""}),
        "NUMBA_CACHE_DIR nonsense": E(SHORT, {"NUMBA_CACHE_DIR": "/dev/null/x"}),
        "NUMBA_CACHE_DIR relative": E(SHORT, {"NUMBA_CACHE_DIR": "../kernels"}),
        "NUMBA_CACHE_DIR full": E(
            SHORT, {"NUMBA_CACHE_DIR": "{box}/disk"}, prepare=_mount("size=64k", "disk", fill=True)
        ),
        "NUMBA_CACHE_DIR nearly full": E(
            SHORT, {"NUMBA_CACHE_DIR": "{box}/disk"}, prepare=_mount("size=300k", "disk")
        ),
        "NUMBA_CACHE_DIR read-only": E(
            SHORT, {"NUMBA_CACHE_DIR": "{box}/disk"}, prepare=_mount("ro", "disk")
        ),
        "NUMBA_DISABLE_JIT": E(("list", "error"), {"NUMBA_DISABLE_JIT": "1"}),
        "NUMBA locators nonsense": E(SHORT, {"NUMBA_CACHE_LOCATOR_CLASSES": "nonsense.Locator"}),
        "kernels empty": E(prepare=_damaged_kernels(lambda path: path.write_bytes(b""))),
        "kernels truncated": E(
            prepare=_damaged_kernels(lambda path: os.truncate(path, path.stat().st_size // 2))
        ),
        "kernels flipped": E(prepare=_damaged_kernels(_flip)),
        "kernels folders": E(prepare=_damaged_kernels(_into_folder)),
        "kernels unreadable": E(
            prefix=AS_NOBODY, user=NOBODY, prepare=_damaged_kernels(lambda path: path.chmod(0))
        ),
        "kernels of another user": E(prepare=_damaged_kernels(lambda path: os.chown(path, 4242, 4242))),
        "another user": E(ALL, prefix=READING, user=NOBODY),
        "package read-only": E(("run",), {"NUMBA_CACHE_DIR": None}, prefix=READING, user=NOBODY),
        "TMPDIR missing": E(ALL, {"TMPDIR": "{box}/none"}),
        "TMPDIR file": E(SHORT, {"TMPDIR": "/dev/null"}),
        "TMPDIR odd": E(ALL, {"TMPDIR": f"{{box}}/{ODD_NAME}"}, prepare=lambda box: (box / ODD_NAME).mkdir()),
        "TMPDIR relative": E(DRAWING, {"TMPDIR": "../tmp"}),
        "TMPDIR full": E(
            ALL,
            {"TMPDIR": "{box}/disk"},
            prepare=_mount("size=16k", "disk", fill=True),
            allowed={"video": (0, 2), "retarget": (0, 2), "report": (0, 2)},
        ),
        "no temporary folder": E(DRAWING, prefix=READING, user=NOBODY, prepare=_make_unwritable("tmp")),
        "--out odd": E(ALL, out=ODD_NAME),
        "--out long": E(ALL, out=LONG_NAME),
        "cwd odd": E(SHORT, cwd=ODD_NAME),
        "cwd deleted": E(ALL, before="mkdir ../gone; cd ../gone; rmdir ../gone"),
        "cwd unreadable": E(SHORT, before="chmod 000 .", prefix=(), cwd="locked"),
        "checkout odd, of another user": E(
            ("list", "run", "error"), {"PYTHONPATH": f"{{box}}/{ODD_NAME}"}, prepare=_checkout(4242)
        ),
        "LC_ALL=C": E(ALL, {"LC_ALL": "C", "LANG": None}),
        "LC_ALL=POSIX, no UTF-8 mode": E(
            ALL, {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, out="ü 漢"
        ),
        "LC_ALL missing locale": E(SHORT, {"LC_ALL": "tr_TR.UTF-8"}),
        "LC_ALL nonsense": E(SHORT, {"LC_ALL": "nonsense", "LANG": "xx"}),
        "PYTHONIOENCODING=ascii": E(ALL, {"PYTHONIOENCODING": "ascii"}),
        "PYTHONIOENCODING=utf-16": E(("list",), {"PYTHONIOENCODING": "utf-16"}),
        "PYTHONUTF8=0": E(SHORT, {"PYTHONUTF8": "0", "LANG": "C"}),
        "TERM=dumb": E(tables, {"TERM": "dumb"}),
        "TERM unset": E(SHORT, {"TERM": None}),
        "NO_COLOR": E(SHORT, {"NO_COLOR": "1"}),
        "FORCE_COLOR": E(tables, {"FORCE_COLOR": "1"}),
        **{
            f"COLUMNS={width}": E((*tables, "run"), {"COLUMNS": width})
            for width in ("1", "20", "0", "-5", "x", "99999")
        },
        "LINES=0": E(("list",), {"LINES": "0"}),
        "stdout closed": E(ALL, after=">&-"),
        "stderr closed": E(ALL, after="2>&-"),
        "stdin closed": E(ALL, after="<&-"),
        "all closed": E(DRAWING, after="<&- >&- 2>&-"),
        "stdout full": E(ALL, after=">/dev/full", allowed=full),
        "stderr full": E(SHORT, after="2>/dev/full"),
        "broken pipe": E(
            ALL, after="> >(true)", before="trap '' USR1", allowed={name: (0, 2, 141) for name in ALL}
        ),
        "SIGPIPE ignored": E(("list",), before="trap '' PIPE", after="> >(true)", allowed={"list": (0, 141)}),
        "PYTHONHASHSEED=1": E(SHORT, {"PYTHONHASHSEED": "1"}),
        "threads 1": E(
            ("run", "retarget"),
            {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"},
        ),
        "threads 2": E(
            ("run", "retarget"),
            {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
        ),
        "threads nonsense": E(("list", "run"), {"OMP_NUM_THREADS": "x", "OPENBLAS_NUM_THREADS": "-1"}),
        "one core": E(("run", "video"), prefix=("taskset", "-c", "0")),
        "ulimit -n 64": E(ALL, before="ulimit -n 64"),
        "ulimit -n 20": E(ALL, before="ulimit -n 20", allowed={name: (0, 2) for name in ALL}),
        "ulimit -v 2 GB": E(ALL, before="ulimit -v 2000000", allowed={name: (0, 2) for name in ALL}),
        "ulimit -v 500 MB": E(ALL, before="ulimit -v 500000", allowed={name: (0, 2) for name in ALL}),
        "ulimit -v 150 MB": E(ALL, before="ulimit -v 150000", allowed={name: (0, 2) for name in ALL}),
        "ulimit -s 256": E(SHORT, before="ulimit -s 256", allowed={name: (0, 2) for name in SHORT}),
        "ulimit -f 0": E(ALL, before="ulimit -f 0", allowed={name: (0, 2) for name in ALL}),
        "ulimit -u 1": E(
            DRAWING, before="ulimit -u 1", prefix=READING, user=NOBODY, allowed={name: (0, 2) for name in ALL}
        ),
        "umask 777": E(("run",), before="umask 777"),
        "umask 077": E(DRAWING, before="umask 077"),
        "umask 000": E(SHORT, before="umask 000"),
        "no bytecode": E(SHORT, {"PYTHONDONTWRITEBYTECODE": "1"}),
        "PYTHONPYCACHEPREFIX": E(SHORT, {"PYTHONPYCACHEPREFIX": "{box}/bytecode"}),
        "python -O": E(ALL, flags=("-O",)),
        "python -OO": E(ALL, flags=("-OO",)),
        "python -W error": E(ALL, flags=("-W", "error")),
        "python -X dev": E(("list", "run", "report", "error"), flags=("-X", "dev")),
        "python -X importtime quiet": E(("list",), flags=("-B", "-s")),
        "no programs": E(ALL, {"PATH": "{box}/bin"}, prepare=_without_programs),
        "PATH unset": E(SHORT, {"PATH": None}),
        "ffmpeg missing": E(
            ("run", "video"), {"IMAGEIO_FFMPEG_EXE": "/nonexistent/ffmpeg"}, allowed={"video": (2,)}
        ),
        "ffmpeg not executable": E(
            ("run", "video"), {"IMAGEIO_FFMPEG_EXE": "/etc/hostname"}, allowed={"video": (2,)}
        ),
        "ffmpeg fails": E(("run", "video"), {"IMAGEIO_FFMPEG_EXE": "/bin/false"}, allowed={"video": (2,)}),
        "DISPLAY nonsense": E(DRAWING, {"DISPLAY": ":99", "WAYLAND_DISPLAY": "nonsense"}),
        "no graphics": E(
            DRAWING,
            {"EGL_PLATFORM": "nonsense", "LIBGL_DRIVERS_PATH": "/none", "__EGL_VENDOR_LIBRARY_DIRS": "/none"},
        ),
        "TZ nonsense": E(SHORT, {"TZ": "nonsense/nowhere"}),
        "names taken": E(("default",), prepare=_name_taken, allowed={"default": (0,)}),
        "SOURCE_DATE_EPOCH": E(("run", "report"), {"SOURCE_DATE_EPOCH": "x"}),
    }
    if shutil.which("faketime"):
        named["1979"] = E(DRAWING, prefix=("faketime", "1979-06-01 00:00:00"))
    return named


COMMANDS["default"] = ("run", "puma560_sweep", "--set", "motion.task={amplitude_rad: 0.2}")


@contextmanager
def _prepared(environment: Environment, box: Path) -> Iterator[None]:
    """Make the folders of an environment, and remove them."""
    # The name of the last one that is missing stays free.
    for name in {"cwd", "home", "tmp", environment.out, environment.cwd}:
        (box / name).mkdir(parents=True, exist_ok=True)
        os.chown(box / name, environment.user, environment.user)
    os.chown(box, environment.user, environment.user)
    undo = environment.prepare(box) if environment.prepare else None
    if environment.user:
        for path in (box / "kernels").rglob("*"):
            os.chown(path, environment.user, environment.user)
    try:
        yield
    finally:
        if undo:
            undo()


def _variables(environment: Environment, box: Path) -> dict[str, str]:
    """Return the variables of the process; nothing of the caller's but the path of programs."""
    kernels = box / "kernels"
    variables: dict[str, str | None] = {
        "PATH": os.environ["PATH"],
        "HOME": "{box}/home",
        "TMPDIR": "{box}/tmp",
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_CACHE_DIR": str(kernels if kernels.exists() else box.parent / "warm"),
        **environment.variables,
    }
    return {name: value.replace("{box}", str(box)) for name, value in variables.items() if value is not None}


def _files(box: Path) -> set[str]:
    return {
        str(path.relative_to(box))
        for name in ("cwd", "home", "tmp")
        for path in (box / name).rglob("*")
        # What numba and matplotlib keep at home is theirs to keep.
        if ".cache" not in path.parts and ".config" not in path.parts
    }


def run_command(name: str, environment: Environment, command: str, box: Path) -> Outcome:
    """Run one command in a prepared environment and judge it."""
    out = box / environment.out
    arguments = [part.replace("{out}", str(out)) for part in COMMANDS[command]]
    text = f'{environment.before or ":"}; exec "$@" {environment.after}'
    interpreter = (sys.executable, *environment.flags, "-m", "simbench")
    before = _files(box)
    try:
        done = subprocess.run(
            [BASH, "-c", text, "bash", *environment.prefix, *interpreter, *arguments],
            cwd=box / environment.cwd,
            env=_variables(environment, box),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
        )
        status, stderr = done.returncode, done.stderr.decode(errors="replace").splitlines()
    except subprocess.TimeoutExpired:
        status, stderr = -99, []
    runs = [out / "run", *(box / "cwd").glob("runs/puma*")]
    digests = {log_digest(each) for each in runs if (each / "scenario.yaml").exists()} - {""}
    digest = " ".join(sorted(digests)) if command in ("run", "default") else ""
    left = tuple(sorted(_files(box) - before)) if command != "default" else ()
    return Outcome(
        name, command, status, tuple(stderr), digest, left, _fault(environment, command, status, stderr)
    )


def _fault(environment: Environment, command: str, status: int, stderr: Sequence[str]) -> str:
    """Say what is wrong with how a command ended; empty if nothing is."""
    usual = (2,) if command == "error" else (0,)
    allowed = environment.allowed.get(command, usual)
    if status not in allowed:
        return f"status {status}"
    readable = "2>" not in environment.after
    if any("Traceback" in line or "Warning" in line for line in stderr):
        return "traceback or warning"
    if readable and len(stderr) != (status == 2):
        return f"{len(stderr)} lines on stderr"
    return ""


def run_environment(
    name: str, environment: Environment, folder: Path, reference: str, only: Sequence[str]
) -> list[Outcome]:
    """Run the commands of one environment, each on what the ones before it left."""
    box = folder / "".join(letter if letter.isalnum() else "-" for letter in name)
    box.mkdir()
    outcomes = []
    with _prepared(environment, box):
        for command in (each for each in environment.commands if not only or each in only):
            outcome = run_command(name, environment, command, box)
            fault = outcome.fault
            if not fault and outcome.left:
                fault = f"left {outcome.left[0]}"
            if not fault and outcome.digest and reference not in ("", outcome.digest):
                fault = "another log"
            outcomes.append(Outcome(**{**vars(outcome), "fault": fault}))
    subprocess.run(["chmod", "-R", "u+rwX", str(box)], check=False)
    shutil.rmtree(box, ignore_errors=True)
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the matrix, print a line for each environment, and write the outcomes as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="environments, by default all")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write every outcome")
    parser.add_argument("--only", metavar="COMMAND,...", help="run only these commands where they are listed")
    parser.add_argument("--warm", type=Path, metavar="DIR", help="cache of machine code to begin with")
    parser.add_argument("--list", action="store_true", help="list the environments")
    given = parser.parse_args(arguments)
    known = environments()
    if given.list:
        print("\n".join(known))
        return 0
    unknown = [name for name in given.names if name not in known]
    if unknown:
        print(f"error: no environment {unknown[0]!r}; --list names them", file=sys.stderr)
        return 2
    if os.geteuid() != 0:
        print("error: needs root, for other users and disks; run it in a container", file=sys.stderr)
        return 2
    chosen = [name for name in known if not given.names or name in given.names or name == "usual"]
    only = given.only.split(",") if given.only else []
    outcomes: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="environments-") as temporary:
        folder = Path(temporary)
        folder.chmod(0o755)
        shutil.copytree(given.warm, folder / "warm") if given.warm else (folder / "warm").mkdir()
        for name in chosen:
            reference = next((each.digest for each in outcomes if each.digest), "")
            found = run_environment(name, known[name], folder, reference, only)
            outcomes += found
            for each in found:
                if each.fault:
                    print(
                        f"{name}: {each.command}: {each.fault}: {' | '.join(each.stderr[-2:])[:200]}",
                        flush=True,
                    )
            if given.out:
                given.out.write_text(json.dumps([asdict(each) for each in outcomes], indent=1))
    _show(outcomes)
    return 1 if any(each.fault for each in outcomes) else 0


def _show(outcomes: Sequence[Outcome]) -> None:
    """Print one line for each environment."""
    table = Table("environment", "commands", "statuses", "lines on stderr", "log", "fault", box=None)
    for name in dict.fromkeys(each.environment for each in outcomes):
        rows = [each for each in outcomes if each.environment == name]
        faults = "; ".join(f"{each.command}: {each.fault}" for each in rows if each.fault)
        table.add_row(
            name,
            str(len(rows)),
            " ".join(str(each.status) for each in rows),
            " ".join(str(len(each.stderr)) for each in rows),
            next((each.digest for each in rows if each.digest), ""),
            faults,
        )
    console = Console(markup=False, emoji=False)
    console.width = max(console.width, 160)
    console.print(table)


if __name__ == "__main__":
    sys.exit(main())
