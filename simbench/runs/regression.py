"""Regression checks: runs of scenarios in processes of their own against baselines, and their summary."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import numpy as np

from simbench.errors import BaselineError, RunError, ScenarioError, SimbenchError
from simbench.files.text import printable
from simbench.motion.trajectory import ROUNDING
from simbench.robot.packages import describe_missing_package, needed_package
from simbench.runs.baseline import (
    DIVERGED,
    Baseline,
    Check,
    Verdict,
    baseline_path,
    compare,
    measure_baseline,
    read_baseline,
)
from simbench.runs.execution import JobResult, run_isolated
from simbench.runs.isolated_runs import run_once
from simbench.runs.log import open_run
from simbench.runs.metric_catalogue import Better, Metric, format_value
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario, list_scenarios
from simbench.runs.scenario.schema import Scenario
from simbench.runs.traces.trace_comparison import (
    Divergence,
    Growth,
    compare_trace,
    describe_divergence,
    describe_growth,
    measure_growth,
)
from simbench.runs.traces.trace_file import envelope_width, fit_trace, read_trace, trace_path
from simbench.runs.traces.trace_signals import Trace, read_samples
from simbench.system.portable import other_kernels

_SIGN = {"lower": "+", "higher": "−", "same": "±"}

# Displacements of robot and recording, m and rad, in the runs from which a baseline's spread is measured.
_DISPLACEMENTS = (1e-12, 1e-12, 1e-11, 1e-10, 1e-9, 1e-9)
_MOST_CELLS = 8  # Failed checks and drifts of a scenario that are listed; a job's summary is limited in size.
_MARKDOWN = "\\`*_[]<>|~&"  # Characters that Markdown may read as its own within a line.


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
class CaseResult:
    """Outcome of checking a scenario."""

    case: Case  # Scenario and baseline.
    verdicts: tuple[Verdict, ...] = ()  # Empty if there is no baseline.
    failed_checks: tuple[Check, ...] = ()  # Violated checks of the scenario.
    error: str = ""  # Error that ended a run, in one line; empty if none did.
    # {metric: Expectation} or None: new baseline, where one was asked for and every run of the scenario held
    # its checks.
    measured: Baseline | None = None
    # Channels that differ from the trace, the earliest first; None if they were not compared.
    divergences: tuple[Divergence, ...] | None = None
    # File of a new trace, where one was asked for and every run of the scenario held its checks.
    measured_trace: bytes | None = None
    run: Path | None = None  # Directory of the run; None if an error ended it.
    growth: Growth | None = None  # How the run went away from the trace; None if it did not, or none tells.
    strict: bool = False  # Whether signals that diverge as by rounding fail, too.
    width: float | None = None  # `envelope_width` of the new trace.

    @property
    def diverged(self) -> bool:
        """Whether a signal left its envelope."""
        return bool(self.divergences)

    @property
    def rounded(self) -> bool:
        """Whether signals diverged, but as by rounding, and all else holds: a warning."""
        return (
            self.diverged
            and not self.strict
            and self.growth is not None
            and self.growth.rounding
            and not (self.error or self.failed_checks or any(verdict.failed for verdict in self.verdicts))
        )

    @property
    def failed(self) -> bool:
        """Whether it failed: an error, a violated check, a worse metric, or a signal that diverged."""
        return (
            bool(self.error or self.failed_checks)
            or (self.diverged and not self.rounded)
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
    strict: bool = False,
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
        Also run each scenario displaced as in `_DISPLACEMENTS`, with kernels of other processors, for a new
        baseline.
    cache : bool
        Whether runs take their plans from the cache.
    traces : bool
        Whether signals are compared with traces, or new traces made of them.
    strict : bool
        Whether signals that diverge as by rounding fail, too.
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
    kernels = other_kernels()
    work: list[tuple[Scenario, Path, bool]] = []
    variables: list[dict[str, str]] = []
    for case in cases:
        name = case.scenario.name
        work.append((case.scenario, folder / name, cache))
        variables.append({})
        for number, size in enumerate(_DISPLACEMENTS if measure else (), 1):
            perturbed = perturb_scenario(case.scenario, number, size)
            work.append((perturbed, folder / f"{name}-perturbed-{number}", cache))
            # Sums that two threads share are rounded otherwise, too.
            threads = {"OPENBLAS_NUM_THREADS": str(1 + number % 2)}
            variables.append({**kernels[number % len(kernels)], **threads})
    results: dict[int, JobResult] = {}
    on_progress("runs", 0, len(work))
    with closing(run_isolated(run_once, work, jobs, variables)) as finished:
        for index, result in finished:
            results[index] = result
            on_progress("runs", len(results), len(work))
    repetitions = len(work) // len(cases) if cases else 0
    evaluated = []
    for number, case in enumerate(cases):
        mine = range(repetitions * number, repetitions * (number + 1))
        folders = [work[index][1] for index in mine]
        outcome = _evaluate(case, [results[index] for index in mine], folders, measure, traces)
        evaluated.append(replace(outcome, strict=strict))
    return evaluated


def perturb_scenario(scenario: Scenario, number: int, size: float = ROUNDING) -> Scenario:
    """Displace a scenario's robot and recording by what another machine's rounding might cause.

    The place of the robot decides about contacts in the simulation, but a plan does not depend on it; the
    recording decides about the plan. `number`: seed of the displacements: the same number gives the same
    scenario; `size`: displacement, m and rad. Returns the changed scenario.
    """
    x, y, rotation = np.random.default_rng(number).choice([-size, size], 3)
    robot = scenario.robot
    moved = {
        "position_m": (robot.position_m[0] + float(x), robot.position_m[1] + float(y)),
        "heading_rad": robot.heading_rad + float(rotation),
    }
    variation = scenario.variation.model_copy(update={"rounding_seed": number, "rounding_size": size})
    return scenario.model_copy(update={"robot": robot.model_copy(update=moved), "variation": variation})


def evaluate_run(
    baseline: Baseline | None, metrics: Mapping[str, Metric], checks: Sequence[Check]
) -> tuple[tuple[Verdict, ...], tuple[Check, ...]]:
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
    failed_checks : tuple of Check
        Violated checks.
    """
    # Of physics that diverged, one line is enough.
    compared = baseline is not None and metrics.get(DIVERGED) is None
    verdicts = compare(baseline or {}, metrics) if compared else ()
    return verdicts, tuple(check for check in checks if not check.passed)


def _evaluate(
    case: Case, results: Sequence[JobResult], folders: Sequence[Path], measure: bool, traces: bool
) -> CaseResult:
    """Compare the runs of a scenario with its baseline and its trace, or measure new ones if asked for."""
    errors = [result.error for result in results if result.error]
    if errors:
        return CaseResult(case, error=errors[0])
    verdicts, _ = evaluate_run(case.baseline, *results[0].value)
    # A check whose outcome depends on rounding does not hold.
    failed = next(filter(None, (evaluate_run(None, *result.value)[1] for result in results)), ())
    outcome = CaseResult(case, verdicts, failed, run=folders[0] if traces else None)
    if measure and not failed:
        runs = [metrics for metrics, _ in (result.value for result in results)]
        outcome = replace(outcome, measured=measure_baseline(runs, case.baseline))
    try:
        if traces and outcome.measured is not None:
            trace, content = fit_trace([read_samples(open_run(folder)) for folder in folders])
            return replace(outcome, measured_trace=content, width=envelope_width(trace))
        if traces and not measure and case.trace is not None:
            divergences, growth = compare_signals(case.trace, folders[0])
            return replace(outcome, divergences=divergences, growth=growth)
    except SimbenchError as error:
        return replace(outcome, error=f"its signals cannot be compared: {error}", measured=None)
    return outcome


def compare_signals(trace: Trace, run: Path) -> tuple[tuple[Divergence, ...], Growth | None]:
    """Compare the signals of a run with a trace, and measure how a difference grew.

    `trace`: trace of the baseline; `run`: run directory. Raises RunError if there is no log, or it is
    damaged.
    """
    samples = read_samples(open_run(run))
    return compare_trace(trace, samples), measure_growth(trace, samples)


def describe_check(scenario: str, check: Check) -> str:
    """Describe a violated check in one line. `scenario`: name of the scenario."""
    return f"{scenario}: check failed: {check.name} is {format_number(check.value)}, must be {check.bound}"


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


def headline(result: CaseResult) -> str:
    """Say in one line how a check failed: by the first divergence, if a signal diverged.

    `result`: outcome of a check that failed. Returns the line, which begins with the scenario's name.
    """
    name = result.case.scenario.name
    for divergence in result.divergences or ():
        looks = "" if result.growth is None else f"; {describe_growth(result.growth)}"
        return f"{name}: first divergence: {describe_divergence(divergence)}{looks}"
    for check in result.failed_checks:
        return describe_check(name, check)
    for verdict in result.verdicts:
        if verdict.failed:
            return describe_drift(name, verdict)
    return f"{name}: {result.error}"


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


def summary_markdown(
    results: Sequence[CaseResult], unchecked: Sequence[Case] = (), dossiers: Path | None = None
) -> str:
    """Write a table of scenarios: whether each holds, its failed checks, and what drifted from its baseline.

    `results`: outcome of each scenario that was run; `unchecked`: scenarios that were not run; `dossiers`:
    folder with a folder for each failed scenario, which its name links to; in a job of GitHub Actions the
    folder is named.
    """
    failed = [result for result in results if result.failed]
    held = len(results) - len(failed)
    lines = [
        f"### {'❌' if failed else '✅'} simbench check: {held} of {len(results)} scenarios hold",
        "",
        "| scenario | | failed checks | drifts |",
        "|---|---|---|---|",
    ]
    # What failed is read first.
    for result in [*failed, *(result for result in results if not result.failed)]:
        name = result.case.scenario.name
        folder, cell = None if dossiers is None else dossiers / name, escape_markdown(name)
        # An older check may have left a folder of a scenario that holds now.
        if folder is not None and result.failed and folder.is_dir():
            # In a job the summary is not beside the folder, which is in an artifact.
            cell = (
                f"{cell}<br>`{_code(folder.as_posix())}`"
                if os.environ.get("GITHUB_ACTIONS")
                else f"[{cell}]({quote(folder.as_posix())})"
            )
        checks = [
            f"`{_code(check.name)}` is {escape_markdown(format_number(check.value))}, must be "
            f"{escape_markdown(check.bound)}"
            for check in result.failed_checks
        ]
        drifts = []
        for verdict in result.verdicts:
            if verdict.outcome == "missing":
                drifts.append(f"`{_code(verdict.name)}` is missing")
            elif verdict.failed:
                was, now = (escape_markdown(format_number(each)) for each in (verdict.was, verdict.now))
                allowed = escape_markdown(format_tolerance(verdict.tolerance, verdict.better))
                drifts.append(f"`{_code(verdict.name)}` {was} → {now} (allowed {allowed})")
        cells = (
            cell,
            "❌ failed" if result.failed else "⚠️ rounding" if result.rounded else "✅ holds",
            escape_markdown(result.error) if result.error else _listed(checks),
            _listed(drifts),
        )
        lines.append(f"| {' | '.join(cells)} |")
    for case in unchecked:
        reason = case.missing or "no baseline"
        lines.append(f"| {escape_markdown(case.scenario.name)} | not checked | {escape_markdown(reason)} | |")
    return "\n".join(lines) + "\n"


def append_summary(
    path: Path, results: Sequence[CaseResult], unchecked: Sequence[Case] = (), dossiers: Path | None = None
) -> None:
    """Add the summary of a check to a file, such as the one that `GITHUB_STEP_SUMMARY` names.

    `path`: the file; it is made if it is missing; `results`, `unchecked`, `dossiers`: as in
    `summary_markdown`.
    """
    with path.open("a", encoding="utf-8") as file:
        file.write(summary_markdown(results, unchecked, dossiers))


def escape_markdown(text: str) -> str:
    """Write a text so that Markdown shows it as it is, in one line. `text`: any text."""
    line = " ".join(printable(text).split())
    return "".join(f"\\{character}" if character in _MARKDOWN else character for character in line)


def _code(name: str) -> str:
    """Write a name for a code span in a table, which nothing can leave."""
    return printable(name).replace("`", "'").replace("|", "\\|")


def _listed(entries: Sequence[str]) -> str:
    """Put entries below each other in a cell of a table."""
    more = len(entries) - _MOST_CELLS
    return "<br>".join([*entries[:_MOST_CELLS], *([f"… and {more} more"] if more > 0 else [])])
