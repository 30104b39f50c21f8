"""Every parameter of every command, with paths, names and numbers that nobody should give.

python scripts/studies/arguments.py [COMMAND ...] [--out FILE.json]

Walks the command line's own description of its commands. Each path or name gets the whole family of odd
paths: missing, empty, folders, devices, FIFOs, sockets, loops of links, names that are too long or not text,
files that are empty, huge, or of another kind; each number gets nan, inf, -1, 0, 1e308, 1e-320, nothing and
text. The other parameters have usual values. A case fails if the exit status is not 0, 1 or 2, if status 2
has not one line on the standard error, or leaves a file that was not there, if there is a traceback or a
warning, if it takes more than 20 s of processor time, or more than 1 GB.
"""

import argparse
import contextlib
import io
import json
import os
import resource
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from simbench.cli.main import app
from simbench.cli.main import main as simbench_main

NOBODY = 65534
PROCESSOR_S = 20
WALL_S = 120.0
NUMBERS = ("nan", "inf", "-inf", "-1", "0", "1e308", "-1e308", "1e-320", "", "text", "१", "9" * 400)
LIGHT = {"samples", "schema", "list", "explain"}
# What a command does after its arguments are found good takes long: these values end it early.
USUAL: dict[str, tuple[str, ...]] = {
    "run": ("puma560_sweep", "--set", "nonsense=1"),
    "retarget": ("sample:nonsense",),
    "convert": ("none.csv", "out.npz", "--robot", "puma560"),
    "verdict": ("none.csv", "--robot", "puma560"),
    "place": ("sample:nonsense",),
    "compare-engines": ("puma560_sweep", "--set", "nonsense=1"),
    "check": ("puma560_sweep", "--set", "nonsense=1", "--set", "name=x"),
    "trend": ("nonsense.jsonl",),
    "sweep": ("puma560_sweep", "--vary", "nonsense=1,2", "--out", "study"),
    "skills": ("sample:nonsense",),
    "calibrate": ("none.csv", "--model", "puma560"),
    "video": ("none",),
    "replay": ("none",),
    "report": ("none",),
    "samples": ("samples",),
    "explain": ("fell",),
    "cache": ("info",),
    "warmup": ("nonsense",),
    "schema": ("robot",),
    "list": (),
    "robot list": ("puma",),
    "robot check": ("none.urdf", "--no-simulate"),
    "robot scaffold": ("none.urdf",),
    "robot inspect": ("puma560",),
    "robot render": ("nonsense",),
    "motion inspect": ("sample:nonsense",),
    "motion map": ("sample:nonsense",),
    "motion export": ("sample:nonsense", "out.csv"),
    "motion session": ("--out", "session", "--actors", "99"),
}


@dataclass(frozen=True)
class Case:
    """Arguments of one case, and what was put into them."""

    command: str
    parameter: str
    kind: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """How a case ended."""

    case: Case
    status: int
    stderr: str
    left: tuple[str, ...]
    processor_s: float
    memory_mb: float
    fault: str


def make_paths(folder: Path, suffixes: Sequence[str]) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Make odd files in a folder and name them, relative to it: those of any kind, those of each suffix."""
    odd = {
        "empty": "",
        "blank": " ",
        "dash": "-",
        "dot": ".",
        "dots": "..",
        "root": "/",
        "slashes": "a//../../b/",
        "newline": "a\nb",
        "line break in a folder": "no\n/such\r\n",
        "escape": "\x1b[31mred",
        "not text": os.fsdecode(b"\xff\xfe"),
        "tilde": "~nobody/x",
        "percent": "%s%n{}{0}$HOME`id`",
        "star": "*",
        "nul device": "/dev/null",
        "long": "n" * 300,
        "very long": "n" * 5000,
        "deep": "/".join("d" * 200 for _ in range(30)),
        "below a file": "/etc/hostname/x",
        "proc": "/proc/self/mem",
        "unicode": "ü漢\u202e\u200b",
        "scheme": "http://localhost/x",
        "colon": "actor:",
        "unknown": "nonsense:x",
    }
    by_suffix: dict[str, dict[str, str]] = {}
    for suffix in suffixes:
        found = by_suffix[suffix] = {}
        for kind, make in {
            "folder": lambda path: path.mkdir(),
            "fifo": os.mkfifo,
            "socket": _make_socket,
            "zero": lambda path: path.symlink_to("/dev/zero"),
            "random": lambda path: path.symlink_to("/dev/random"),
            "terminal": lambda path: path.symlink_to("/dev/tty"),
            "loop": lambda path: path.symlink_to(path.name),
            "dangling": lambda path: path.symlink_to("nowhere"),
            "nothing": lambda path: path.touch(),
            "sparse": _make_sparse,
            "binary": lambda path: path.write_bytes(bytes(range(256)) * 40),
        }.items():
            path = folder / f"{kind}{suffix}"
            make(path)
            found[f"{kind}{suffix}"] = path.name
        found[f"missing{suffix}"] = f"missing{suffix}"
        found[f"long{suffix}"] = "n" * 300 + suffix
        found[f"almost too long{suffix}"] = "n" * (250 - len(suffix)) + suffix
        found[f"not text{suffix}"] = os.fsdecode(b"\xff" + suffix.encode())
        found[f"newline{suffix}"] = f"a\nb{suffix}"
        found[f"in no folder{suffix}"] = f"none/at/all{suffix}"
    return odd, by_suffix


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
        made.bind(path.name)


def _make_sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(5 << 30)


def find_commands() -> dict[str, object]:
    """Return the commands by their words, as typer made them."""
    found: dict[str, object] = {}

    def walk(group: object, words: str) -> None:
        for name, command in group.commands.items():  # type: ignore[attr-defined]
            full = f"{words} {name}".strip()
            walk(command, full) if hasattr(command, "commands") else found.setdefault(full, command)

    walk(typer.main.get_command(app), "")
    return found


_RECORDINGS = (".bvh", ".c3d", ".csv", ".nc", ".trc", ".txt")
SUFFIXES_OF = {
    "scenario": (".yaml",),
    "scenarios": (".yaml",),
    "robot": (".yaml", ".urdf", ""),
    "model": (".yaml",),
    "motion": _RECORDINGS,
    "source": _RECORDINGS,
    "marker_map": (".yaml",),
    "joint_order": (".txt",),
    "body_model": (".npz",),
    "data": (".csv",),
    "file": (".csv", ".c3d"),
    "folder": ("",),
    "folders": ("",),
    "picture": (".png",),
    "plot": (".png",),
    "out": ("", ".csv", ".html", ".mp4"),
}


def make_cases(chosen: Sequence[str], folder: Path) -> Iterator[Case]:
    """Yield each parameter of each command with each odd value."""
    odd, paths = make_paths(folder, sorted({suffix for each in SUFFIXES_OF.values() for suffix in each}))
    for words, command in find_commands().items():
        if chosen and words not in chosen:
            continue
        usual = list(USUAL[words])
        position = 0
        for parameter in command.params:  # type: ignore[attr-defined]
            option = parameter.param_type_name == "option"
            kind = _type_name(parameter)
            if kind.startswith("bool") or parameter.name == "help":
                continue
            if "int" in kind or "float" in kind:
                values = {repr(number): number for number in NUMBERS}
            else:
                own = (paths[suffix] for suffix in SUFFIXES_OF.get(parameter.name, ()))
                values = {"many digits": "9" * 5000, **odd}
                for each in own:
                    values |= each
            for name, value in values.items():
                count = max(parameter.nargs, 1)
                given = [value] * count
                if option:
                    arguments = (
                        [*usual, f"{parameter.opts[-1]}={value}"]
                        if count == 1
                        else [*usual, parameter.opts[-1], *given]
                    )
                else:
                    # A value that begins with a dash is not an option.
                    rest = [each for k, each in enumerate(usual) if k != position]
                    positional = [each for each in usual[:1]] if position else []
                    arguments = [
                        *[each for each in rest if each not in positional],
                        "--",
                        *positional,
                        *given,
                    ]
                yield Case(words, parameter.name, name, tuple(arguments))
            position += not option


def _type_name(parameter: object) -> str:
    """Name the type of a parameter; older versions of typer leave it to click."""
    described = getattr(parameter, "type_descriptor", None)
    return str(described.annotation if described else parameter.type.name)  # type: ignore[attr-defined]


def run_case(case: Case, folder: Path) -> Outcome:
    """Run one case in a fork and judge it."""
    before = _listing(folder)
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        os.setsid()
        os.close(reading)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        os.dup2(writing, 2)
        os.chdir(folder)
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_S, PROCESSOR_S + 2))
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb", closefd=False), encoding="utf-8")
        sys.stderr = io.TextIOWrapper(
            os.fdopen(2, "wb", closefd=False), encoding="utf-8", line_buffering=True
        )
        status = 99
        try:
            status = simbench_main([*case.command.split(), *case.arguments])
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as errors:
        timer = _end_later(process)
        stderr = errors.read().decode(errors="replace")
    _, waited, used = os.wait4(process, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    del timer
    left = tuple(sorted(_listing(folder) - before))
    for name in left:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)
    status = os.waitstatus_to_exitcode(waited)
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return Outcome(case, status, stderr, left, seconds, memory, _fault(status, stderr, left, memory))


def _end_later(process: int) -> object:
    """Kill a process that hangs without using the processor."""

    def kill(*_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)

    signal.signal(signal.SIGALRM, kill)
    signal.setitimer(signal.ITIMER_REAL, WALL_S)
    return kill


def _fault(status: int, stderr: str, left: Sequence[str], memory: float) -> str:
    lines = stderr.splitlines()
    if "Traceback" in stderr:
        return f"traceback: {lines[-1][:120]}"
    if status not in (0, 1, 2):
        return f"status {status}"
    if "Warning" in stderr:
        return "warning"
    if status == 2 and len(lines) != 1:
        return f"{len(lines)} lines"
    if status == 2 and left:
        return f"left {left[0][:60]!r}"
    if memory > 1024:
        return f"{memory:.0f} MB"
    return ""


def _listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases, print those that fail, and a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "commands", nargs="*", metavar="COMMAND", help="such as 'robot inspect'; by default all"
    )
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write every outcome")
    parser.add_argument("--root", action="store_true", help="stay root, where devices could be replaced")
    given = parser.parse_args(arguments)
    # Imported once, so that a case takes milliseconds.

    if os.geteuid() == 0 and not given.root:
        # As root, a mistake could replace a device.
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    outcomes: list[Outcome] = []
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="arguments-") as temporary:
        folder = Path(temporary)
        for case in make_cases(given.commands, folder):
            outcome = run_case(case, folder)
            outcomes.append(outcome)
            if outcome.fault:
                print(f"{case.command} | {case.parameter} | {case.kind}: {outcome.fault}", flush=True)
    for words in dict.fromkeys(each.case.command for each in outcomes):
        rows = [each for each in outcomes if each.case.command == words]
        by = {
            status: sum(each.status == status for each in rows)
            for status in sorted({each.status for each in rows})
        }
        print(
            f"{words}: {len(rows)} cases, statuses {by}, faults {sum(bool(each.fault) for each in rows)}, "
            f"at most {max(each.processor_s for each in rows):.1f} s, "
            f"{max(each.memory_mb for each in rows):.0f} MB"
        )
    print(f"{len(outcomes)} cases in {time.monotonic() - start:.0f} s")
    if given.out:
        given.out.write_text(json.dumps([asdict(each) for each in outcomes], indent=1))
    return 1 if any(each.fault for each in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
