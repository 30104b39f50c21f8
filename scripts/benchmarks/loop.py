"""Time that control, sensing and logging add to the bare physics step, and duration of whole runs."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from simbench.errors import SimbenchError
from simbench.runs.execution import JobResult, run_isolated
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

USUAL = ("drawer", "dance")


def timed_run(name: str, engine: str) -> tuple[float, dict[str, float]]:
    """Run a scenario in this process, without video.

    Parameters
    ----------
    name : str
        Name of the scenario.
    engine : str
        Physics engine.

    Returns
    -------
    seconds : float
        Wall time from the imports until metrics are written, s.
    timing : {metric: float}
        Metrics whose name begins with `timing.`, and the mean time of the engine's own step, s.
    """
    start = time.perf_counter()
    # Imported here, in a process limited to one thread: libraries read the number of threads when imported.
    from simbench.runs.pipeline import run_scenario

    with tempfile.TemporaryDirectory() as folder:
        scenario = load_scenario(name, [f"simulation.engine={engine}"])
        metrics = run_scenario(scenario, Path(folder) / "run").metrics
    seconds = time.perf_counter() - start
    timing = {key: value for key, value in metrics.items() if key.startswith("timing.")}
    loop = scenario.simulation.timestep_s / timing["timing.realtime_factor"]
    return seconds, {**timing, "bare_step": loop / timing["timing.step_overhead"]}


def loop_table(names: Sequence[str], engines: Sequence[str], repeat: int, jobs: int) -> Table:
    """Tabulate the duration of the loop relative to its bare physics steps.

    Parameters
    ----------
    names : sequence of str
        Names of scenarios; `all` for all that ship with simbench.
    engines : sequence of str
        Physics engines.
    repeat : int
        Number of runs of each scenario.
    jobs : int
        Number of simultaneous runs, each in a separate process with one thread.

    Returns
    -------
    rich.table.Table
        Wall time of the fastest run; time of the engine's own step; duration of the loop divided by that of
        the engine's steps; simulated time divided by the duration of the loop.

    Raises
    ------
    SimbenchError
        If a run ends with an error.
    """
    scenarios = list_scenarios() if list(names) == ["all"] else list(names)
    cases = [(name, engine) for name in scenarios for engine in engines]
    work = [case for _ in range(repeat) for case in cases]
    start = time.perf_counter()
    runs: dict[tuple[str, str], list[tuple[float, dict[str, float]]]] = {case: [] for case in cases}
    for index, answer in run_isolated(timed_run, work, jobs):
        runs[work[index]].append(_value(work[index][0], answer))
    duration = time.perf_counter() - start
    table = Table(
        *("scenario", "engine", "wall, s", "bare step, µs, best"),
        *("loop / bare step, best", "median", "simulated / wall time, best"),
    )
    for (name, engine), done in runs.items():
        overhead = np.array([timing["timing.step_overhead"] for _, timing in done])
        factor = max(timing["timing.realtime_factor"] for _, timing in done)
        wall = min(seconds for seconds, _ in done)
        table.add_row(
            name,
            engine,
            f"{wall:.1f}",
            f"{1e6 * min(timing['bare_step'] for _, timing in done):.0f}",
            f"{overhead.min():.2f}",
            f"{np.median(overhead):.2f}",
            f"{factor:.2f}",
        )
    table.add_section()
    table.add_row(f"{len(work)} runs, {jobs} at a time", "", f"{duration:.1f}", "", "", "", "")
    return table


def _value(name: str, answer: JobResult) -> tuple[float, dict[str, float]]:
    """Take the result of a run, or raise its error."""
    if answer.error:
        raise SimbenchError(f"{name}: {answer.error}")
    seconds, timing = answer.value
    return seconds, timing
