"""A scenario in two physics engines: what comes of it in each, and from when on they differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from simbench.errors import RunError, SimbenchError
from simbench.runs.baseline import (
    Baseline,
    Expectation,
    Metric,
    Verdict,
    baseline_path,
    compare,
    read_baseline,
)
from simbench.runs.checks import Check
from simbench.runs.execution.local import run_isolated
from simbench.runs.log import open_run
from simbench.runs.regression import run_once
from simbench.runs.scenario.loading import Scenario, find_scenario, load_scenario
from simbench.runs.traces.trace_comparison import Divergence, compare_trace
from simbench.runs.traces.trace_file import measure_trace
from simbench.runs.traces.trace_signals import read_samples

_MAIN = (
    "fell",
    "tracking.rms_rad",
    "hands.rms_m",
    "hands.max_m",
    "zmp.min_margin_m",
    "zmp.inside_fraction",
    "feet.slip_m",
    "feet.turn_rad",
    "torque.rms_nm",
    "torque.saturated_fraction",
    "contact.peak_force_n",
    "grip.max_force_n",
    "push.survived_ns",
)
"""Metrics that are always shown, where a run has them; beside those of the equipment's ways."""
_WAYS = ("_travel_m", ".travel_m", "_turn_rad", ".cut_depth_m", ".max_m", ".max_rad")
_IGNORED = "engine"


@dataclass(frozen=True)
class EngineRun:
    """A scenario that ran in one engine."""

    engine: str  # Name of the engine.
    folder: Path  # Run directory.
    metrics: dict[str, Metric]  # {name: float, bool, str or None}: its metrics; empty if an error ended it.
    checks: tuple[Check, ...]  # Outcome of the scenario's checks.
    error: str = ""  # Error that ended it, in one line; empty if none did.

    @property
    def passed(self) -> bool:
        """Whether it ran to its end and all checks hold."""
        return not self.error and all(check.passed for check in self.checks)


@dataclass(frozen=True)
class EngineComparison:
    """A scenario in two engines."""

    scenario: str  # Name of the scenario.
    runs: tuple[EngineRun, EngineRun]
    # Every metric of the second engine compared with the first one's; empty if one did not run.
    verdicts: tuple[Verdict, ...] = ()
    # of each signal the channel that leaves the first engine's tolerance first, the earliest first.
    divergences: tuple[Divergence, ...] = ()
    signals: int = 0  # Number of signals that were compared.

    @property
    def main(self) -> tuple[Verdict, ...]:
        """The metrics that say most: tracking, balance, hands, the ways of the equipment, forces, torques."""
        names = {name: place for place, name in enumerate(_MAIN)}
        checked = {check.name for run in self.runs for check in run.checks}
        shown = [
            verdict
            for verdict in self.verdicts
            if verdict.name in names or verdict.name in checked or verdict.name.endswith(_WAYS)
        ]
        return tuple(sorted(shown, key=lambda each: (names.get(each.name, len(names)), each.name)))


def compare_engines(
    names: Sequence[str],
    overrides: Sequence[str],
    folder: Path,
    *,
    engines: tuple[str, str],
    jobs: int,
    on_progress: Callable[[str, int, int], None],
) -> list[EngineComparison]:
    """Run scenarios in two physics engines and compare what comes of them.

    `names`: names or paths of the scenarios; `overrides`: overrides of every scenario, as for
    `load_scenario`; `folder`: run directories `<scenario>-<engine>` are made in it; `engines`: names of the
    engines; `jobs`: maximum number of runs at a time; `on_progress`: callback that receives the progress.
    Raises SimbenchError if a scenario is malformed, or two have the same name.
    """
    work: list[tuple[Scenario, Path, bool]] = []
    for name in names:
        for engine in engines:
            scenario = load_scenario(name, [*overrides, f"simulation.engine={engine}"])
            work.append((scenario, folder / f"{scenario.name}-{engine}", True))
    folders = [run[1] for run in work]
    if len(set(folders)) < len(folders):
        raise RunError("two of the scenarios have the same name; a comparison needs names of their own")
    done: dict[int, EngineRun] = {}
    on_progress("runs", 0, len(work))
    with closing(run_isolated(run_once, work, jobs)) as finished:
        for index, result in finished:
            scenario, path, _ = work[index]
            metrics, checks = ({}, ()) if result.error else result.value
            done[index] = EngineRun(scenario.simulation.engine, path, metrics, checks, result.error)
            on_progress("runs", len(done), len(work))
    return [
        _compare(work[2 * number][0].name, (done[2 * number], done[2 * number + 1]), find_scenario(name))
        for number, name in enumerate(names)
    ]


def _compare(scenario: str, runs: tuple[EngineRun, EngineRun], file: Path) -> EngineComparison:
    """Compare two runs of a scenario, metric by metric and signal by signal."""
    if any(run.error for run in runs):
        return EngineComparison(scenario, runs)
    expected = _expectations(runs[0], baseline_path(file, scenario, runs[0].engine))
    verdicts = tuple(each for each in compare(expected, runs[1].metrics) if each.name != _IGNORED)
    try:
        first, second = (read_samples(open_run(run.folder)) for run in runs)
    except SimbenchError:
        return EngineComparison(scenario, runs, verdicts)
    compared = compare_trace(measure_trace([first], rate=1e6), second)
    earliest: dict[str, Divergence] = {}
    for divergence in compared.divergences:
        earliest.setdefault(divergence.channel.signal, divergence)
    return EngineComparison(
        scenario, runs, verdicts, tuple(earliest.values()), len({each.signal for each in first.channels})
    )


def _expectations(run: EngineRun, path: Path) -> Baseline:
    """Expect the metrics of a run, with the tolerances of its baseline where it has one."""
    baseline = read_baseline(path) or {}
    return {
        name: Expectation(value, spread=baseline[name].spread if name in baseline else 0.0)
        for name, value in run.metrics.items()
        if name != _IGNORED
    }
