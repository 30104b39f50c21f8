"""Regression checks: run scenarios in separate processes and compare their metrics with baselines."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simbench.errors import BaselineError, RunError, ScenarioError, SimbenchError
from simbench.motion.rounding import ROUNDING
from simbench.robot.needed_package import needed_package
from simbench.robot.packages import describe_missing_package
from simbench.runs.baseline import (
    Baseline,
    Metric,
    Verdict,
    baseline_path,
    compare,
    measure_baseline,
    read_baseline,
)
from simbench.runs.checks import DIVERGED, Check
from simbench.runs.execution.local import JobResult, run_isolated
from simbench.runs.log import open_run
from simbench.runs.metric_format import format_value
from simbench.runs.run_records import read_metrics
from simbench.runs.scenario.loading import Scenario, find_scenario, list_scenarios, load_scenario
from simbench.runs.tolerances import Better
from simbench.runs.traces.trace_comparison import TraceComparison, compare_trace
from simbench.runs.traces.trace_file import fit_trace, read_trace, trace_path
from simbench.runs.traces.trace_signals import Trace, read_samples

_SIGN = {"lower": "+", "higher": "−", "same": "±"}

_PERTURBED = 5
"""Runs with inputs that differ by rounding, from which the spread of a baseline is measured."""


@dataclass(frozen=True)
class Case:
    """A scenario to check, with its baseline."""

    scenario: Scenario
    path: Path  # File of the baseline, from `baseline_path`.
    baseline: Baseline | None  # {metric: Expectation} or None: none if there is no such file.
    # What the scenario's robot needs that is not installed, and how to install it; empty if nothing.
    missing: str = ""
    trace: Trace | None = None  # Signals of the baseline; None if there is no file of them.
    arguments: tuple[str, ...] = ()  # Name or path of the scenario and its overrides, as they were given.


@dataclass(frozen=True)
class FailedCheck:
    """A violated check of the scenario."""

    name: str  # Name of the metric.
    bound: str  # What the metric must be, such as `≤ 0.03`.
    now: Metric  # Value of the metric.


@dataclass(frozen=True)
class CaseResult:
    """Outcome of checking a scenario."""

    case: Case  # Scenario and baseline.
    verdicts: tuple[Verdict, ...] = ()  # Empty if there is no baseline.
    failed_checks: tuple[FailedCheck, ...] = ()  # Violated checks of the scenario.
    error: str = ""  # Error that ended a run, in one line; empty if none did.
    # {metric: Expectation} or None: new baseline, where one was asked for and every run of the scenario held
    # its checks.
    measured: Baseline | None = None
    comparison: TraceComparison | None = None  # Signals compared with the trace; None if they were not.
    # File of a new trace, where one was asked for and every run of the scenario held its checks.
    measured_trace: bytes | None = None
    run: Path | None = None  # Directory of the run; None if an error ended it.

    @property
    def diverged(self) -> bool:
        """Whether a signal left its envelope."""
        return self.comparison is not None and self.comparison.first is not None

    @property
    def failed(self) -> bool:
        """Whether it failed: an error, a violated check, a worse metric, or a signal that diverged."""
        return (
            bool(self.error or self.failed_checks)
            or self.diverged
            or any(verdict.failed for verdict in self.verdicts)
        )


def find_cases(names: Sequence[str], overrides: Sequence[str] = (), *, traces: bool = True) -> list[Case]:
    """Read scenarios and their baselines.

    Parameters
    ----------
    names : sequence of str
        Names or paths of the scenarios; all that ship with simbench if empty.
    overrides : sequence of str
        Overrides of every scenario, as for `load_scenario`.
    traces : bool
        Whether traces are read, too.

    Returns
    -------
    list of Case
        One for each scenario.

    Raises
    ------
    SimbenchError
        If a scenario or baseline is malformed, or two scenarios have the same baseline.
    """
    found: dict[Path, str] = {}
    cases = []
    for name in names or list_scenarios():
        scenario = load_scenario(name, overrides)
        path = baseline_path(find_scenario(name), scenario.name, scenario.simulation.engine)
        if path.resolve() in found:
            raise ScenarioError(
                f"{name}: has the name '{scenario.name}' and so the baseline of {found[path.resolve()]}; "
                "scenarios that are checked together need names of their own"
            )
        found[path.resolve()] = name
        package = needed_package(scenario.robot.name)
        missing = describe_missing_package(package) if package else ""
        trace = read_trace(trace_path(path)) if traces else None
        cases.append(Case(scenario, path, read_baseline(path), missing, trace, (name, *overrides)))
    return cases


def require_packages(cases: Sequence[Case]) -> None:
    """Refuse cases whose robot is in a package that is not installed. `cases`: scenarios to check."""
    for case in cases:
        if case.missing:
            raise BaselineError(f"{case.scenario.name}: {case.missing}")


def require_baselines(cases: Sequence[Case]) -> None:
    """Refuse cases without a baseline. `cases`: scenarios to check."""
    for case in cases:
        if case.baseline is None:
            raise BaselineError(f"{case.scenario.name}: no baseline {case.path}; --update writes one")


def run_cases(
    cases: Sequence[Case],
    folder: Path,
    *,
    jobs: int,
    measure: bool,
    cache: bool = True,
    traces: bool = True,
    on_progress: Callable[[str, int, int], None],
) -> list[CaseResult]:
    """Run scenarios and compare their metrics and signals with their baselines.

    Parameters
    ----------
    cases : sequence of Case
        Scenarios to run.
    folder : Path
        Run directories are made in it, `<scenario>` and, to measure, `<scenario>-perturbed-<number>`.
    jobs : int
        Maximum number of runs at a time.
    measure : bool
        Also run each scenario `_PERTURBED` times with robot and recording displaced by `ROUNDING`, for a new
        baseline.
    cache : bool
        Whether runs take their plans from the cache.
    traces : bool
        Whether signals are compared with traces, or new traces made of them.
    on_progress : callable (stage, done, total)
        Callback that receives the progress.

    Returns
    -------
    list of CaseResult
        Results in the order of `cases`.

    Raises
    ------
    RunError
        If `folder` is not a new directory.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise RunError(f"{folder}: exists and is not an empty directory; a check needs a new directory")
    work = []
    for case in cases:
        name = case.scenario.name
        work.append((case.scenario, folder / name, cache))
        for number in range(1, _PERTURBED + 1 if measure else 1):
            work.append(
                (perturb_scenario(case.scenario, number), folder / f"{name}-perturbed-{number}", cache)
            )
    results: dict[int, JobResult] = {}
    on_progress("runs", 0, len(work))
    with closing(run_isolated(run_once, work, jobs)) as finished:
        for index, result in finished:
            results[index] = result
            on_progress("runs", len(results), len(work))
    repetitions = _PERTURBED + 1 if measure else 1
    evaluated = []
    for number, case in enumerate(cases):
        mine = slice(repetitions * number, repetitions * (number + 1))
        folders = [run[1] for run in work[mine]]
        outcome = _evaluate_case(case, [results[index] for index in range(len(work))[mine]], measure)
        evaluated.append(_evaluate_signals(outcome, folders, measure) if traces else outcome)
    return evaluated


def perturb_scenario(scenario: Scenario, number: int) -> Scenario:
    """Displace a scenario's robot and recording by what another machine's rounding might cause.

    The place of the robot decides about contacts in the simulation, but a plan does not depend on it; the
    recording decides about the plan. `number`: seed of the displacements: the same number gives the same
    scenario. Returns the changed scenario.
    """
    x, y, rotation = np.random.default_rng(number).choice([-ROUNDING, ROUNDING], 3)
    robot = scenario.robot
    moved = {
        "position_m": (robot.position_m[0] + float(x), robot.position_m[1] + float(y)),
        "heading_rad": robot.heading_rad + float(rotation),
    }
    variation = scenario.variation.model_copy(update={"rounding_seed": number})
    return scenario.model_copy(update={"robot": robot.model_copy(update=moved), "variation": variation})


def run_once(
    scenario: Scenario, folder: Path, cache: bool = True
) -> tuple[dict[str, Metric], tuple[Check, ...]]:
    """Run a scenario.

    `folder`: run directory to make; `cache`: whether the plan may come from the cache. Returns `metrics`
    {name: float, bool, str or None}: metrics as in `metrics.json`: None where a number is not finite;
    `checks`: outcome of the scenario's checks.
    """
    # Imported here, in the process with one thread: its imports read the number of threads.
    from simbench.runs.pipeline import run_scenario

    checks = run_scenario(scenario, folder, cache=cache, on_progress=False).checks
    return read_metrics(folder), checks


def evaluate_run(
    baseline: Baseline | None, metrics: Mapping[str, Metric], checks: Sequence[Check]
) -> tuple[tuple[Verdict, ...], tuple[FailedCheck, ...]]:
    """Compare a run with its baseline, if there is one, and list the checks that it violates.

    Parameters
    ----------
    baseline : {metric: Expectation} or None
        Expected values of the metrics; None if the scenario has no baseline.
    metrics : mapping of str to float, bool, str or None
        Metrics of the run.
    checks : sequence of Check
        Outcome of the scenario's checks.

    Returns
    -------
    verdicts : tuple of Verdict
        Comparison with the baseline; empty without one.
    failed_checks : tuple of FailedCheck
        Violated checks.
    """
    # Of physics that diverged, one line is enough.
    compared = baseline is not None and metrics.get(DIVERGED) is None
    verdicts = compare(baseline or {}, metrics) if compared else ()
    return verdicts, tuple(
        FailedCheck(check.name, check.bound, metrics.get(check.name)) for check in checks if not check.passed
    )


def _evaluate_case(case: Case, results: Sequence[JobResult], measure: bool) -> CaseResult:
    """Compare the runs of a scenario with its baseline, and measure a new one if asked for."""
    errors = [result.error for result in results if result.error]
    if errors:
        return CaseResult(case, error=errors[0])
    runs = [metrics for metrics, _ in (result.value for result in results)]
    failed = [evaluate_run(None, *result.value)[1] for result in results]
    if any(failed):
        # A check whose outcome depends on rounding does not hold.
        return CaseResult(case, evaluate_run(case.baseline, *results[0].value)[0], next(filter(None, failed)))
    verdicts, _ = evaluate_run(case.baseline, *results[0].value)
    return CaseResult(case, verdicts, measured=measure_baseline(runs, case.baseline) if measure else None)


def _evaluate_signals(result: CaseResult, folders: Sequence[Path], measure: bool) -> CaseResult:
    """Compare the signals of a scenario's run with its trace, or make a new trace of all its runs."""
    if result.error:
        return result
    result = replace(result, run=folders[0])
    try:
        if measure and result.measured is not None:
            _, content = fit_trace([read_samples(open_run(folder)) for folder in folders])
            return replace(result, measured_trace=content)
        if not measure and result.case.trace is not None:
            return replace(result, comparison=compare_signals(result.case.trace, folders[0]))
    except SimbenchError as error:
        return replace(result, error=f"its signals cannot be compared: {error}", measured=None)
    return result


def compare_signals(trace: Trace, run: Path) -> TraceComparison:
    """Compare the signals of a run with a trace.

    `trace`: trace of the baseline; `run`: run directory. Raises RunError if there is no log, or it is
    damaged.
    """
    return compare_trace(trace, read_samples(open_run(run)))


def describe_check(scenario: str, check: FailedCheck) -> str:
    """Describe a violated check in one line. `scenario`: name of the scenario."""
    return f"{scenario}: check failed: {check.name} is {format_number(check.now)}, must be {check.bound}"


def describe_drift(scenario: str, verdict: Verdict) -> str:
    """Describe in one line how a metric differs from its baseline.

    `scenario`: name of the scenario; `verdict`: A verdict that has failed.
    """
    if verdict.outcome == "missing":
        return f"{scenario}: {verdict.name} is missing; its baseline is {format_number(verdict.was)}"
    return (
        f"{scenario}: {verdict.name} is {format_number(verdict.now)}, "
        f"its baseline {format_number(verdict.was)} {format_tolerance(verdict.tolerance, verdict.better)}"
    )


def format_number(value: Metric) -> str:
    """Write a metric with five significant digits, one more than in other tables, so that 1 % shows.

    Returns text.
    """
    return f"{value:.5g}" if isinstance(value, float) and not isinstance(value, bool) else format_value(value)


def format_tolerance(tolerance: float, better: Better) -> str:
    """Write the tolerance of a metric for a table.

    `tolerance`: allowed deviation from the baseline in the metric's own unit; 0 if none is allowed; `better`:
    direction in which the metric improves. Returns sign and size, or `as it is`.
    """
    return f"{_SIGN[better]} {tolerance:.2g}" if tolerance else "as it is"
