"""Look at runs of somebody who means harm: what do the commands that read a run write, and what do they load?

python scripts/studies/received_runs.py [--count N] [--seed N] [--jobs N] [--json FILE] [--folder DIR]

Makes run directories out of two short runs of PUMA 560, one of which has a fixture, a control law, a reader
and a metric of a file. Each gets links at names that commands write, code of its own under names that
scenarios give to code, and beside them modules named like those that Python loads, settings of libraries, a
repository with a program in its configuration, and names with markup. Each directory is taken, as the current
one, through the commands and functions that read runs, in a forked process whose audit hook sees every file
that is opened for writing, renamed or removed, every module and every process; what libraries and other
processes do is seen by what is left. It is a violation if

- anything outside the directory, the temporary directory and the caches is written, by whatever link;
- code in the directory is executed, in the process or in one that it starts;
- a command ends with a traceback, or another status than 0, 1 or 2.

The exit status is 1 if there is any.
"""

import argparse
import contextlib
import io
import json
import multiprocessing
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.table import Table

import simbench
from simbench.cli.main import main as simbench_main
from simbench.runs.log import open_run
from simbench.runs.plots.run_plots import draw_plots
from simbench.runs.result import compare, load_run

TEMPLATE = Path(__file__).resolve().parents[2] / "examples" / "plugins"
OWN = """
def law(robot, timestep):
    def torques(now):
        return 2000.0 * (now.reference_position - now.position) - 60.0 * now.velocity + now.feedforward
    torques.implicit = np.full(len(robot.joint_names), 60.0 * timestep + 2000.0 * timestep**2)
    return torques

def reach(log):
    return float(abs(log["joint_position"].values).max())
"""
SHORT = (
    "motion.task={amplitude_rad: 0.1, speed_rad_s: 1.0}",
    "simulation.settle_s=0.1",
    "simulation.hold_s=0.1",
)
CAMERA = {"width": 64, "height": 48, "fps": 4}
# Names that commands write by default in the directory; the last ones in the current one.
FILES = (
    *("report.html", "video.mp4", "log.nc", "metrics.json", "INCOMPLETE", "trend.html", "history.jsonl"),
    *("plots/torque.png", "plots/tracking.png", "plots/equipment.png", "plots/fidelity.png"),
    *(
        "baselines/sent.json",
        "baselines/traces/sent.nc",
        ".lock",
        "study.json",
        "table.parquet",
        "robot.yaml",
    ),
    *(".report.html.12345678.part", ".video.mp4.12345678.part.mp4", "puma560.png", "log.parts/000000.npz"),
)
FOLDERS = ("plots", "runs", "failures", "baselines", "rows", "log.parts", "__pycache__", "puma560", "sent")
# Of these, what a link stands for is read: a run without them could not be read at all.
NEEDED = ("log.nc", "metrics.json", "history.jsonl")
MODULES = (
    *(
        "sitecustomize",
        "usercustomize",
        "numpy",
        "simbench",
        "matplotlib",
        "typing",
        "multiprocessing",
        "yaml",
    ),
    *("encodings", "evil", "h5py", "imageio_ffmpeg", "conftest", "robot_descriptions"),
)
SETTINGS = {
    "matplotlibrc": "backend: module://evil\ntext.usetex: True\n",
    ".numba_config.yaml": "cache_dir: .\n",
    "pyvenv.cfg": "home = .\n",
    "python.pth": "import evil\n",
}
# Keys that name code, and what makes a section of such a key valid otherwise.
CODE_KEYS: dict[str, Callable[[dict[str, Any], str], Any]] = {
    "control.law": lambda data, code: data["control"].update(law=code, options=None),
    "control.policy.callable": lambda data, code: data["control"].update(
        law="policy", policy={"contract": "contract.yaml", "callable": code}
    ),
    "control.policy.model": lambda data, code: data["control"].update(
        law="policy", policy={"contract": "contract.yaml", "model": code}
    ),
    "balance.controller": lambda data, code: data["balance"].update(controller=code),
    "retarget.method": lambda data, code: data["retarget"].update(method=code),
    "motion.reader": lambda data, code: data["motion"].update(reader=code),
    "motion.source": lambda data, code: data["motion"].update(source=code.partition(":")[0]),
    "motion.marker_map": lambda data, code: data["motion"].update(marker_map=code),
    "metrics": lambda data, code: data["metrics"].update(evil_m=code),
    "metrics.plugin": lambda data, code: data["metrics"].update(evil_m={"plugin": code, "options": {"a": 1}}),
    "robot.name": lambda data, code: data["robot"].update(name=code),
    "fixtures.type": lambda data, code: data["fixtures"].append({"type": code, "name": "evil"}),
    "fixtures.file": lambda data, code: data["fixtures"].append(
        {"type": "mechanism", "name": "evil", "file": code}
    ),
}
MARKUP = "<script>hostile</script>[red]%s{0}"
CONTROL = "\x1b[31m\u202e"
STATUSES = (0, 1, 2)


@dataclass
class Visit:
    """What became of a directory: status of each command, and what must not have happened."""

    number: int
    hostile: list[str]
    statuses: list[tuple[str, str]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    violations: list[str] = field(default_factory=list)
    caches: int = 0
    processes: dict[str, int] = field(default_factory=dict)


def make_bases(folder: Path) -> list[Path]:
    """Make the two runs, of which the second one has code, in a folder; return their directories."""
    code = folder / "own.py"
    parts = [
        (TEMPLATE / "my_simbench_plugins" / name).read_text("utf-8") for name in ("metronome.py", "poses.py")
    ]
    code.write_text("\n".join([*parts, OWN]), encoding="utf-8")
    plain = simbench.load_scenario("puma560_sweep", [*SHORT, "name=sent", "checks={}"])
    own = {
        "name": "sent",
        "robot": {"name": "puma560"},
        "motion": {"source": str(TEMPLATE / "walk.poses"), "reader": f"{code}:read_poses", "end_s": 0.3},
        "fixtures": [{"type": f"{code}:Metronome", "name": "beat", "position_m": [0.0, 1.5, 0.0]}],
        "control": {"law": f"{code}:law"},
        "metrics": {"reach_rad": f"{code}:reach"},
        "checks": {"reach_rad": {"max": 4.0}},
        "simulation": {"settle_s": 0.05, "hold_s": 0.05},
    }
    (folder / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    found = []
    for name, scenario in (("plain", plain), ("own", simbench.load_scenario(folder / "own.yaml"))):
        simbench.run_scenario(scenario, folder / name, on_progress=False)
        found.append(folder / name)
    return found


def make_hostile(base: Path, folder: Path, outside: Path, ran: Path, draw: random.Random) -> list[str]:
    """Make a directory out of a run; return what is hostile in it.

    `outside`: folder to which links lead, and which must stay as it is; `ran`: file that its code would make.
    """
    shutil.copytree(base, folder)
    history = {"scenario": "sent", "date": "2026-01-01T00:00:00+00:00", "commit": "", "outcome": "holds"}
    line = json.dumps(history | {"metrics": {"tracking.rms_rad": 0.1}, "tolerances": {}, "versions": {}})
    (folder / "history.jsonl").write_text(line + "\n", encoding="utf-8")
    hostile = []
    source = f"from pathlib import Path\nPath({str(ran)!r}).write_text(__file__ + ' ' + __name__)\n"
    for name in draw.sample(MODULES, draw.randint(2, len(MODULES))):
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
        hostile.append(f"module {name}")
    for name in ("evil", "own"):
        (folder / f"{name}.py").write_text(source, encoding="utf-8")
    for name in draw.sample(sorted(SETTINGS), draw.randint(0, len(SETTINGS))):
        (folder / name).write_text(SETTINGS[name], encoding="utf-8")
        hostile.append(f"settings {name}")
    if draw.random() < 0.5:
        program = folder / "program"
        program.write_text(f"#!/bin/sh\necho program > {ran}\n", encoding="utf-8")
        program.chmod(0o755)
        for arguments in (("init", "-q"), ("config", "core.fsmonitor", str(program))):
            subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)
        hostile.append("repository")
    path = folder / "scenario.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    # As received: the paths of the code are those of this directory.
    data = yaml.safe_load(yaml.safe_dump(data).replace(str(base.parent / "own.py"), str(folder / "own.py")))
    for name in ("control", "balance", "retarget", "metrics"):
        data[name] = data.get(name) or {}
    data["fixtures"] = list(data.get("fixtures") or ())
    forms = ("./evil.py:Thing", f"{folder}/evil.py:Thing", "evil:Thing", "python:evil.Thing", "evil.py")
    for key in draw.sample(sorted(CODE_KEYS), draw.choice((0, 1, 1, 2))):
        form = draw.choice(forms)
        CODE_KEYS[key](data, form)
        hostile.append(f"{key}: {form.replace(str(folder), '')}")
    if draw.random() < 0.5:
        data["summary"] = MARKUP
        (folder / f"{MARKUP.replace('/', '')}.nc").write_text(MARKUP, encoding="utf-8")
        hostile.append("markup")
        if draw.random() < 0.5:
            metrics = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
            (folder / "metrics.json").write_text(
                json.dumps(metrics | {CONTROL: MARKUP + CONTROL}), encoding="utf-8"
            )
            hostile.append("markup in metrics")
    path.write_text(yaml.safe_dump(data, sort_keys=False), encoding="utf-8")
    for name in draw.sample(FILES, draw.randint(0, 6)) + draw.sample(FOLDERS, draw.randint(0, 3)):
        place = folder / name
        if os.path.lexists(place) and not place.is_file():
            continue
        if any(parent.is_symlink() for parent in place.parents if folder in parent.parents):
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        target = outside / ("folder" if name in FOLDERS else draw.choice(("thesis.txt", "new.txt")))
        if name in NEEDED:
            target = outside / f"{len(list(outside.iterdir()))}-{place.name}"
            shutil.move(place, target)
        elif place.exists():
            place.unlink()
        place.symlink_to(target)
        hostile.append(f"link {name}")
    return hostile


def steps(folder: Path, other: Path, draw: random.Random) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the commands and functions that read a run, as the current directory; `other`: a harmless run."""

    def command(*arguments: str) -> Callable[[], int]:
        def call() -> int:
            sys.argv = ["simbench", *arguments]
            return simbench_main()

        return call

    here = draw.choice((".", str(folder)))
    small = [part for key, value in CAMERA.items() for part in ("--set", f"camera.{key}={value}")]
    scenario = f"{here}/scenario.yaml"
    yield "report", command("report", here)
    yield "report --plots", command("report", here, "--plots")
    yield "video", command("video", here, "--end", "0.3", *small)
    if draw.random() < 0.3:
        yield "report RUN RUN", command("report", here, str(other), "--out", "both.html")
        yield "video RUN RUN", command("video", here, str(other), "--out", "both.mp4", "--end", "0.3", *small)
        caption = ("--caption", "energy_motor", "--title", MARKUP)
        yield "video --caption", command("video", here, "--end", "0.3", *caption, *small)
    yield "replay", command("replay", here)
    yield "convert", command("convert", here, "motion.csv")
    if draw.random() < 0.3:
        yield "verdict", command("verdict", "motion.csv", "--robot", "puma560", "--no-run")
    yield "trend", command("trend", "history.jsonl")
    yield "explain", command("explain", "evil_m")
    yield "schema", command("schema", "scenario", "--for", scenario)
    if draw.random() < 0.3:
        yield "RunResult.report", lambda: load_run(here).report(on_progress=False)
        yield "draw_plots", lambda: draw_plots(Path(here), lambda *_: None)
        yield "place", command("place", scenario)
        yield "check", command("check", scenario, "--jobs", "1")
        yield (
            "check --update",
            command("check", scenario, "--update", "--jobs", "1", "--history", "history.jsonl"),
        )
        yield "run", command("run", scenario)
        yield "sweep", command("sweep", scenario, "--vary", "seed=1,2", "--jobs", "1")
    yield "robot render", command("robot", "render", "puma560", "--fast")
    yield "open_run", lambda: open_run(here).sizes
    yield "load_run", lambda: repr(load_run(here)) + load_run(here)._repr_html_()
    yield "compare", lambda: repr(compare(here, other))


def watch(folder: Path, allowed: Sequence[Path], visit: Visit) -> threading.Event:
    """Note what this process writes outside the directory, and what it executes in it.

    `allowed`: where it may write, too, caches first. Returns what is set while it is noted.
    """
    watching = threading.Event()
    inside = f"{folder}{os.sep}"
    trusted = [f"{os.path.realpath(each)}{os.sep}" for each in (*allowed, "/dev", "/proc")]
    caches = f"{os.path.realpath(allowed[0])}{os.sep}"
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    # Numbers of a path and of the descriptor of the folder that it is relative to among an event's details.
    changing = {
        **{"os.rename": ((0, 2), (1, 3)), "os.link": ((1, 3),), "os.symlink": ((1, 2),)},
        **{"os.mkdir": ((0, 2),), "os.remove": ((0, 1),), "os.rmdir": ((0, 1),), "os.truncate": ((0, 0),)},
    }

    def changed(event: str, path: Any, descriptor: Any = -1, *, follow: bool) -> None:
        if isinstance(path, int) or path is None:
            return
        path = os.fsdecode(path)
        if isinstance(descriptor, int) and descriptor >= 0:
            path = os.path.join(os.readlink(f"/proc/self/fd/{descriptor}"), path)
        path = os.path.abspath(path)
        # Renaming and removing act on the name itself.
        head, tail = os.path.split(path)
        real = os.path.realpath(path) if follow else os.path.join(os.path.realpath(head), tail)
        visit.caches += real.startswith(caches)
        if not f"{real}{os.sep}".startswith((inside, *trusted)):
            visit.violations.append(f"{event}: {real}")

    def hook(event: str, details: tuple[Any, ...]) -> None:
        if not watching.is_set():
            return
        if event == "open" and isinstance(details[2], int) and details[2] & writing:
            changed(event, details[0], follow=not details[2] & os.O_NOFOLLOW)
        elif event in changing:
            for number, descriptor in changing[event]:
                changed(event, details[number], details[descriptor], follow=event == "os.truncate")
        elif event == "exec" and hasattr(details[0], "co_filename"):
            name = details[0].co_filename
            if not name.startswith("<") and os.path.realpath(name).startswith(inside):
                visit.violations.append(f"exec: {name}")
        elif event == "import" and details[1] and os.path.realpath(str(details[1])).startswith(inside):
            visit.violations.append(f"import: {details[1]}")
        elif event == "subprocess.Popen":
            name = os.fsdecode(details[0])
            visit.processes[os.path.basename(name)] = visit.processes.get(os.path.basename(name), 0) + 1
            # A name alone is looked for in the search path.
            if os.sep in name and os.path.realpath(name).startswith(inside):
                visit.violations.append(f"subprocess: {name}")

    sys.addaudithook(hook)
    return watching


def listing(folder: Path) -> dict[str, str]:
    """Name everything in a folder with its content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        found[str(path.relative_to(folder))] = path.read_bytes().hex() if path.is_file() else ""
    return found


def visit_run(number: int, seed: int, work: Path, bases: Sequence[Path]) -> Visit:
    """Make a directory, take it through all commands in this process, which ends after it, and look."""
    draw = random.Random(f"{seed} {number}")
    place = work / f"{number:05d}"
    folder, outside, temporary = (place / name for name in ("sent", "outside", "tmp"))
    for each in (place, outside, outside / "folder", temporary):
        each.mkdir()
    for name in ("thesis.txt", "folder/thesis.txt"):
        (outside / name).write_text("mine", encoding="utf-8")
    visit = Visit(number, make_hostile(draw.choice(bases), folder, outside, place / "ran", draw))
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    before = listing(outside)
    os.chdir(folder)
    watching = watch(folder, (work / "cache", temporary), visit)
    for name, call in steps(folder, bases[0], draw):
        count = len(visit.violations)
        output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
        status, trace, message = "returned", "", ""
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            try:
                watching.set()
                value = call()
                status = str(value) if isinstance(value, int) else status
            except simbench.SimbenchError as error:
                status, message = "refused", str(error)
            except OSError as error:
                status, message = "refused" if error.strerror else "traceback", str(error)
                trace = "" if error.strerror else traceback.format_exc()
            except BaseException:
                status, trace = "traceback", traceback.format_exc()
            watching.clear()
        output.flush()
        said = output.buffer.getvalue().decode("utf-8", "replace").strip()  # type: ignore[attr-defined]
        visit.statuses.append((name, status))
        if status in ("2", "refused"):
            visit.messages.append(f"{name}: {said or message}")
        if trace or status not in (*map(str, STATUSES), "returned", "refused"):
            visit.violations.append(f"status {status}: {trace[-600:]}")
        if (place / "ran").exists():
            visit.violations.append(f"executed: {(place / 'ran').read_text(errors='replace')}")
            (place / "ran").unlink()
        if listing(outside) != before:
            changes = {*listing(outside).items()} ^ {*before.items()}
            visit.violations.append(f"outside: {sorted({path for path, _ in changes})}")
            before = listing(outside)
        visit.violations[count:] = [f"{name}: {each}" for each in visit.violations[count:]]
    for page in (folder / "report.html", folder / "both.html"):
        if page.is_file() and "<script>hostile" in page.read_text(encoding="utf-8", errors="replace"):
            visit.violations.append(f"{page.name}: markup of a name is in the page as it is")
    os.chdir(work)
    return visit


def visit_apart(number: int, seed: int, work: Path, bases: Sequence[Path]) -> Visit:
    """Visit a directory in a forked process of its own: an audit hook cannot be removed."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(visit_run(number, seed, work, bases)))
    process.start()
    sender.close()
    try:
        visit = receiver.recv()
    except EOFError:
        visit = Visit(number, [], violations=["the process ended before all commands"])
    process.join()
    # At its end, the process removes what it has in the temporary directory.
    shutil.rmtree(work / f"{number:05d}")
    return visit


def main(arguments: Sequence[str] | None = None) -> int:
    """Make and visit directories, and print what became of them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="directories")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="directories at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every visit")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="where they are made")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="received-", dir=given.folder) as temporary:
        work = Path(os.path.realpath(temporary))
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        os.environ.setdefault("NUMBA_CACHE_DIR", str(work / "cache" / "numba"))
        (work / "cache").mkdir()
        bases = make_bases(work)
        # Imported and compiled once, so that what is forked need not be.
        for step in (["report", str(bases[1]), "--plots"], ["video", str(bases[0]), "--end", "0.2"]):
            with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                simbench_main(step)
        for base in bases:
            shutil.rmtree(base / "plots", ignore_errors=True)
            for name in ("report.html", "video.mp4"):
                (base / name).unlink(missing_ok=True)
        call = partial(visit_apart, seed=given.seed, work=work, bases=bases)
        visits = []
        with ThreadPoolExecutor(given.jobs) as pool:
            for visit in pool.map(call, range(given.count)):
                visits.append(visit)
                for violation in visit.violations:
                    print(f"{visit.number:05d} {violation}", flush=True)
    counts = Counter(each for visit in visits for each in visit.statuses)
    statuses = sorted({status for _, status in counts})
    table = Table("command", *statuses, box=None, pad_edge=False)
    for name in dict.fromkeys(name for visit in visits for name, _ in visit.statuses):
        table.add_row(name, *(str(counts[name, status] or "") for status in statuses))
    Console(width=120).print(table)
    processes: Counter[str] = Counter()
    for visit in visits:
        processes.update(visit.processes)
    hostile = Counter(each for visit in visits for each in visit.hostile)
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(f"hostile things: {sum(hostile.values())} of {len(hostile)} kinds")
    print(f"processes: {', '.join(f'{name} {count}' for name, count in sorted(processes.items()))}")
    print(f"writes to caches: {sum(visit.caches for visit in visits)}")
    violations = sum(len(visit.violations) for visit in visits)
    seconds = sum(each.ru_utime + each.ru_stime for each in used)
    print(f"{len(visits)} directories, {violations} violations, {seconds:.0f} s of processor time")
    if given.json:
        given.json.write_text(json.dumps([asdict(visit) for visit in visits], indent=1), encoding="utf-8")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
