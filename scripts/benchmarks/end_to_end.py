"""CPU and wall seconds of all that a person waits for: import, read, plan, reference, simulate, log, draw.

python scripts/benchmarks/end_to_end.py [--scenarios NAME ...] [--recordings NAME ...] [--repeat N]
                                        [--cold] [--against CHECKOUT] [--caches FOLDER] [--json FILE]

Every run is a process of its own, with the cache of plans switched off; with `--cold` there is neither
machine code nor bytecode from an earlier run at the first of them. With another checkout of simbench both are
measured in turn. Each part is also given as a ratio to something physical: planning to the duration of the
motion, the loop to its bare physics steps, drawing to the number of frames (`drawing.py`: to a bare frame).
Children count: processes that draw, the encoder.
"""

import argparse
import importlib.util
import inspect
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

SCENARIOS = (
    *("drawer", "valves", "canoe_paddles", "steering_wheel", "mahru_drawer", "puma560_valves"),
    *("dance", "mahru_walk", "push", "romeo_wave"),
)
RECORDINGS = ("sample:walk", "actor:drawer:3", "deepmimic:humanoid3d_dance_b")
FUNCTIONS = {
    "read": ("scenario_motion",),
    "plan": ("find_plan", "build_sweep_reference", "build_standing_reference"),
    "reference": ("build_whole_body_reference", "build_arm_reference", "_balanced"),
    "simulate": ("simulate",),
    "log": ("write_log", "measure_run", "write_metrics"),
    "draw": ("render_video",),
}
"""Functions of the pipeline by the part that they are; what is called inside another counts for itself."""
FRAME_RATE = 30.0
PARTS = ("import", "read", "plan", "reference", "simulate", "log", "draw", "other")
_CHECKOUT = Path(__file__).resolve().parents[2]
_NOT_COPIED = (".git", ".venv", "runs", "build", "dist")
"""Folders of a checkout that no run reads."""
_COMPILED = shutil.ignore_patterns("__pycache__", "*.egg-info")


class _Clock:
    """CPU and wall seconds by part; what runs inside another part is not counted twice."""

    def __init__(self) -> None:
        self.cpu = dict.fromkeys(PARTS, 0.0)
        self.wall = dict.fromkeys(PARTS, 0.0)
        self._open: list[list[float]] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count what happens inside."""
        begin = _now()
        self._open.append([0.0, 0.0])
        try:
            yield
        finally:
            cpu, wall = (after - before for after, before in zip(_now(), begin, strict=True))
            inner_cpu, inner_wall = self._open.pop()
            self.cpu[name] += cpu - inner_cpu
            self.wall[name] += wall - inner_wall
            if self._open:
                self._open[-1][0] += cpu
                self._open[-1][1] += wall

    def wrap(self, module: Any, function: str, part: str) -> None:
        """Count the calls of a module's function, if it has one of that name."""
        original = getattr(module, function, None)
        if original is None:
            return

        def counted(*arguments: Any, **named: Any) -> Any:
            with self.part(part):
                return original(*arguments, **named)

        setattr(module, function, counted)


def _now() -> tuple[float, float]:
    """CPU seconds of this process and wall seconds."""
    return _cpu(resource.RUSAGE_SELF), time.perf_counter()


def _cpu(who: int) -> float:
    """CPU seconds of this process, or of its children that have ended."""
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measure_run(name: str, video: bool) -> dict[str, Any]:
    """Run a scenario in this process.

    Parameters
    ----------
    name : str
        Name of the scenario.
    video : bool
        Whether to draw.

    Returns
    -------
    dict
        Seconds by part, and what they are compared with.
    """
    clock, pipeline, loading = _imported("simbench.runs.pipeline", "simbench.runs.scenario.loading")
    modules = [pipeline, *_modules("simbench.runs.preparation", "simbench.runs.run_plan")]
    for part, functions in FUNCTIONS.items():
        for module in modules:
            for function in functions:
                clock.wrap(module, function, part)
    for module in _modules("simbench.runs.live_view"):
        for method in ("add", "finish"):
            clock.wrap(module.LiveVideo, method, "draw")
    without_cache = _without_cache(pipeline.run_scenario)
    with tempfile.TemporaryDirectory() as folder, clock.part("other"):
        out = Path(folder) / "run"
        pipeline.run_scenario(loading.load_scenario(name), out, video=video, **without_cache)
        metrics = json.loads((out / "metrics.json").read_text())
    # The only children are those that draw and encode.
    clock.cpu["draw"] += _cpu(resource.RUSAGE_CHILDREN)
    return {
        "cpu": clock.cpu,
        "wall": clock.wall,
        "motion_s": metrics.get("retarget.duration_s"),
        "simulated_s": clock.wall["simulate"] * metrics["timing.realtime_factor"],
        "loop_per_bare_step": metrics["timing.step_overhead"],
    }


def _imported(*names: str) -> tuple[Any, ...]:
    """Start the clock and import modules; what came before is the interpreter's start."""
    begin = time.perf_counter() - time.process_time()
    modules = [importlib.import_module(name) for name in names]
    clock = _Clock()
    clock.cpu["import"], clock.wall["import"] = _now()[0], time.perf_counter() - begin
    return clock, *modules


def _without_cache(function: Callable[..., Any]) -> dict[str, bool]:
    """Arguments that switch the cache of plans off, if this version of simbench has one."""
    return {"cache": False} if "cache" in inspect.signature(function).parameters else {}


def _modules(*names: str) -> list[ModuleType]:
    """Import modules; those that this version of simbench does not have are left out."""
    return [importlib.import_module(name) for name in names if _exists(name)]


def _exists(name: str) -> bool:
    """Whether there is a module of that name."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def measure_retargeting(source: str) -> dict[str, Any]:
    """Retarget a recording to ROMEO in this process.

    Parameters
    ----------
    source : str
        Recording or virtual actor.

    Returns
    -------
    dict
        Seconds by part, and what they are compared with.
    """
    clock, api = _imported("simbench.retargeting.api")
    clock.wrap(api, "read_motion", "read")
    without_cache = _without_cache(api.retarget_motion)
    with clock.part("plan"):
        done = api.retarget_motion(source, "romeo", **without_cache)
    return {"cpu": clock.cpu, "wall": clock.wall, "motion_s": float(done.plan.trajectory.time[-1])}


def main() -> None:
    """Print the table, and write it as JSON if asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenarios", nargs="*", default=SCENARIOS, metavar="NAME")
    parser.add_argument("--recordings", nargs="*", default=RECORDINGS, metavar="NAME")
    parser.add_argument("--repeat", type=int, default=1, metavar="N", help="runs of each; the least counts")
    parser.add_argument("--no-video", action="store_true", help="draw nothing")
    parser.add_argument(
        "--cold", action="store_true", help="begin without compiled code, and show that run too"
    )
    parser.add_argument(
        "--against", type=Path, metavar="CHECKOUT", help="another checkout to measure in turn"
    )
    parser.add_argument(
        "--caches", type=Path, metavar="FOLDER", help="keep compiled code here, and begin with what is there"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write all measurements")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        kind, name, video = given.measure
        found = measure_run(name, video == "video") if kind == "run" else measure_retargeting(name)
        print(json.dumps(found))
        return
    jobs = [("run", name) for name in given.scenarios] + [("retarget", name) for name in given.recordings]
    checkouts = {"here": _CHECKOUT} | ({"against": given.against.resolve()} if given.against else {})
    with ExitStack() as stack:
        folder = given.caches or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        caches = {title: folder / title for title in checkouts}
        measure = Measurement(checkouts, caches, given.repeat, cold=given.cold, compiled=bool(given.caches))
        rows = list(measure_all(jobs, measure, video=not given.no_video))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n")
    Console(width=170).print(end_to_end_table(rows))


class Measurement(NamedTuple):
    """What is measured, and how.

    Parameters
    ----------
    checkouts : dict of str to Path
        Checkouts of simbench by title.
    caches : dict of str to Path
        Folder for the compiled code of each.
    repeat : int
        Number of warm runs of each job.
    cold : bool
        Whether each checkout is copied first, so that nothing is compiled.
    compiled : bool
        Whether the caches already hold what the jobs need.
    """

    checkouts: dict[str, Path]
    caches: dict[str, Path]
    repeat: int
    cold: bool
    compiled: bool


def measure_all(
    jobs: Sequence[tuple[str, str]], given: Measurement, *, video: bool
) -> Iterator[dict[str, Any]]:
    """Measure every job in every checkout, in turn.

    Parameters
    ----------
    jobs : sequence of (str, str)
        `run` and a scenario, or `retarget` and a recording.
    given : Measurement
        Checkouts and caches.
    video : bool
        Whether scenarios are drawn.

    Yields
    ------
    dict
        Job, checkout, state of the caches, and the measurements of the run with the least CPU seconds.
    """
    for kind, name in jobs:
        for state in ("cold", "warm") if given.cold else ("warm",):
            for title, checkout in given.checkouts.items():
                cache = given.caches[title]
                tree = cache / "tree" if given.cold else checkout
                if state == "cold":
                    shutil.rmtree(cache, ignore_errors=True)
                    _copy_sources(checkout, tree)
                if not given.cold and not given.compiled:
                    _run(tree, cache, kind, name, video=False)
                count = 1 if state == "cold" else given.repeat
                runs = [_run(tree, cache, kind, name, video) for _ in range(count)]
                best = min(runs, key=lambda run: sum(run["cpu"].values()))
                yield {"job": f"{kind} {name}", "checkout": title, "caches": state, **best}


def _copy_sources(checkout: Path, tree: Path) -> None:
    """Copy a checkout without what has been compiled or written in it."""

    def left_out(folder: str, names: list[str]) -> set[str]:
        return _COMPILED(folder, names) | (set(_NOT_COPIED) if Path(folder) == checkout else set())

    shutil.copytree(checkout, tree, ignore=left_out)


def _run(tree: Path, cache: Path, kind: str, name: str, video: bool) -> dict[str, Any]:
    """Measure in a process of its own that sees only the checkout and the cache."""
    environment = {
        **{key: value for key, value in os.environ.items() if key != "NUMBA_CACHE_DIR"},
        "PYTHONPATH": str(tree),
        "XDG_CACHE_HOME": str(cache / "cache"),
    }
    command = [sys.executable, __file__, "--measure", kind, name, "video" if video else "none"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{kind} {name} in {tree}: {done.stderr.strip().splitlines()[-1]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def end_to_end_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Tabulate CPU seconds by part, wall seconds of all, and the ratios.

    Parameters
    ----------
    rows : sequence of dict
        Measurements of `measure_all`.

    Returns
    -------
    rich.table.Table
        One row for each measurement.
    """
    heads = ("all", "wall", "plan/motion", "loop/step", "ms/frame")
    table = Table("job", "code", *PARTS, *heads, title="CPU seconds by part")
    for row in rows:
        cpu, wall = row["cpu"], row["wall"]
        frames = FRAME_RATE * row.get("simulated_s", 0.0)
        table.add_row(
            row["job"].split(maxsplit=1)[1],
            f"{row['checkout']}, {row['caches']}",
            *(f"{cpu[part]:.2f}" for part in PARTS),
            f"{sum(cpu.values()):.1f}",
            f"{sum(wall.values()):.1f}",
            _ratio(cpu["plan"] + cpu["reference"], row.get("motion_s")),
            _ratio(row.get("loop_per_bare_step"), 1.0),
            f"{1e3 * cpu['draw'] / frames:.1f}" if cpu["draw"] and frames else "",
        )
    return table


def _ratio(value: float | None, unit: float | None) -> str:
    """Format a ratio; empty where one of the two is unknown."""
    return f"{value / unit:.2f}" if value is not None and unit else ""


if __name__ == "__main__":
    main()
