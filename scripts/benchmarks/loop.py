"""What control, sensing and logging add to the bare physics step, and how long whole runs take."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from simbench.errors import SimbenchError
from simbench.runs.execution.local import JobResult, run_isolated
from simbench.runs.scenario.loading import list_scenarios, load_scenario

USUAL = ("drawer", "dance")


def timed_run(name: str) -> tuple[float, dict[str, float]]:
    """Run a scenario in this process, without video.

    Parameters
    ----------
    name : str

    Returns
    -------
    seconds : float
        From the imports on until metrics are written.
    timing : {metric: float}
        Those whose name begins with `timing.`.
    """
    start = time.perf_counter()
    # Here, in a process with one thread: what it imports reads how many there are to be.
    from simbench.runs.pipeline import run_scenario

    with tempfile.TemporaryDirectory() as folder:
        metrics = run_scenario(load_scenario(name), Path(folder) / "run").metrics
    seconds = time.perf_counter() - start
    return seconds, {key: value for key, value in metrics.items() if key.startswith("timing.")}


def loop_table(names: Sequence[str], repeat: int, jobs: int) -> Table:
    """Compare the whole loop with its bare steps.

    Parameters
    ----------
    names : sequence of str
        Of scenarios; `all` for all that ship with simbench.
    repeat : int
        Runs of each.
    jobs : int
        Runs at a time, each in a process of its own with one thread.

    Returns
    -------
    rich.table.Table
        Wall time of the fastest run; duration of the loop over that of its `stepSimulation` calls alone;
        simulated time over the loop's.

    Raises
    ------
    SimbenchError
        If a run ends with an error.
    """
    scenarios = list_scenarios() if list(names) == ["all"] else list(names)
    work = [(name,) for _ in range(repeat) for name in scenarios]
    start = time.perf_counter()
    runs: dict[str, list[tuple[float, dict[str, float]]]] = {name: [] for name in scenarios}
    for index, answer in run_isolated(timed_run, work, jobs):
        runs[work[index][0]].append(_value(work[index][0], answer))
    took = time.perf_counter() - start
    table = Table("scenario", "wall, s", "loop / bare step, best", "median", "simulated / wall time, best")
    for name, done in runs.items():
        overhead = np.array([timing["timing.step_overhead"] for _, timing in done])
        pace = max(timing["timing.realtime_factor"] for _, timing in done)
        wall = min(seconds for seconds, _ in done)
        table.add_row(
            name, f"{wall:.1f}", f"{overhead.min():.2f}", f"{np.median(overhead):.2f}", f"{pace:.2f}"
        )
    table.add_section()
    table.add_row(f"{len(work)} runs, {jobs} at a time", f"{took:.1f}", "", "", "")
    return table


def _value(name: str, answer: JobResult) -> tuple[float, dict[str, float]]:
    if answer.error:
        raise SimbenchError(f"{name}: {answer.error}")
    seconds, timing = answer.value
    return seconds, timing
