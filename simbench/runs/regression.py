"""Scenarios against their baselines: which to run, in processes of their own, and what their metrics say."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simbench.errors import BaselineError, RunError, ScenarioError
from simbench.runs.baseline import (
    Baseline,
    Metric,
    Verdict,
    compare,
    measure_baseline,
    read_baseline,
)
from simbench.runs.checks import Check
from simbench.runs.execution.local import JobResult, run_isolated
from simbench.runs.metric_format import format_value
from simbench.runs.scenario.loading import Scenario, find_scenario, list_scenarios, load_scenario
from simbench.runs.tolerances import Better

_SIGN = {"lower": "+", "higher": "−", "same": "±"}

_PERTURBED = 5
"""Runs whose inputs differ by rounding, from which the spread of a baseline is measured."""
_ROUNDING = 1e-12
"""How far the robot is elsewhere in them, m and rad."""


@dataclass(frozen=True)
class Case:
    """A scenario and its baseline.

    Parameters
    ----------
    scenario : Scenario
    path : Path
        Of its baseline, `baselines/<scenario's name>.json` beside the scenario's file.
    baseline : {metric: Expectation} or None
        None if there is no such file.
    """

    scenario: Scenario
    path: Path
    baseline: Baseline | None


@dataclass(frozen=True)
class FailedCheck:
    """A check of the scenario's own that does not hold.

    Parameters
    ----------
    name : str
        The metric's name.
    bound : str
        What the metric must be, such as `≤ 0.03`.
    now : float, bool, str or None
        What it is.
    """

    name: str
    bound: str
    now: Metric


@dataclass(frozen=True)
class Result:
    """What came of a case.

    Parameters
    ----------
    case : Case
    verdicts : tuple of Verdict
        Empty if there is no baseline.
    failed_checks : tuple of FailedCheck
    error : str
        What ended a run, in one line; empty if nothing did.
    measured : {metric: Expectation} or None
        The new baseline, where one was asked for and every run of the scenario held its own checks.
    """

    case: Case
    verdicts: tuple[Verdict, ...] = ()
    failed_checks: tuple[FailedCheck, ...] = ()
    error: str = ""
    measured: Baseline | None = None

    @property
    def failed(self) -> bool:
        """Whether the scenario does not hold."""
        return bool(self.error or self.failed_checks) or any(verdict.failed for verdict in self.verdicts)


def find_cases(names: Sequence[str], overrides: Sequence[str] = ()) -> list[Case]:
    """Read scenarios and their baselines.

    Parameters
    ----------
    names : sequence of str
        Names or paths; all that ship with simbench if empty.
    overrides : sequence of str
        As for `load_scenario`, for each.

    Returns
    -------
    list of Case

    Raises
    ------
    SimbenchError
        For a scenario or baseline that is malformed, or two scenarios with one baseline.
    """
    found: dict[Path, str] = {}
    cases = []
    for name in names or list_scenarios():
        scenario = load_scenario(name, overrides)
        path = find_scenario(name).parent / "baselines" / f"{scenario.name}.json"
        if path.resolve() in found:
            raise ScenarioError(
                f"{name}: has the name '{scenario.name}' and so the baseline of {found[path.resolve()]}; "
                "scenarios that are checked together need names of their own"
            )
        found[path.resolve()] = name
        cases.append(Case(scenario, path, read_baseline(path)))
    return cases


def require_baselines(cases: Sequence[Case]) -> None:
    """Refuse cases without a baseline.

    Raises
    ------
    BaselineError
        That names the first.
    """
    for case in cases:
        if case.baseline is None:
            raise BaselineError(f"{case.scenario.name}: no baseline {case.path}; --update writes one")


def run_cases(
    cases: Sequence[Case],
    folder: Path,
    *,
    jobs: int,
    measure: bool,
    on_progress: Callable[[str, int, int], None],
) -> list[Result]:
    """Run scenarios and compare their metrics with their baselines.

    Parameters
    ----------
    cases : sequence of Case
    folder : Path
        Run directories are made in it, `<scenario>` and, to measure, `<scenario>-perturbed-<number>`.
    jobs : int
        At most so many runs at a time.
    measure : bool
        Also run each scenario `_PERTURBED` times with the robot `_ROUNDING` elsewhere, for a new baseline.
    on_progress : callable (stage, done, total)

    Returns
    -------
    list of Result
        In the order of `cases`.

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
        work.append((case.scenario, folder / name))
        for number in range(1, _PERTURBED + 1 if measure else 1):
            work.append((perturbed(case.scenario, number), folder / f"{name}-perturbed-{number}"))
    answers: dict[int, JobResult] = {}
    on_progress("runs", 0, len(work))
    with closing(run_isolated(run_once, work, jobs)) as finished:
        for index, answer in finished:
            answers[index] = answer
            on_progress("runs", len(answers), len(work))
    each = _PERTURBED + 1 if measure else 1
    return [
        _judge(case, [answers[each * number + k] for k in range(each)], measure)
        for number, case in enumerate(cases)
    ]


def perturbed(scenario: Scenario, number: int) -> Scenario:
    """Place a scenario's robot elsewhere by what another machine's rounding might make of it.

    Parameters
    ----------
    scenario : Scenario
    number : int
        Decides the directions: the same number, the same scenario.

    Returns
    -------
    Scenario
    """
    x, y, turn = np.random.default_rng(number).choice([-_ROUNDING, _ROUNDING], 3)
    robot = scenario.robot
    moved = {
        "position_m": (robot.position_m[0] + float(x), robot.position_m[1] + float(y)),
        "heading_rad": robot.heading_rad + float(turn),
    }
    return scenario.model_copy(update={"robot": robot.model_copy(update=moved)})


def run_once(scenario: Scenario, folder: Path) -> tuple[dict[str, Metric], tuple[Check, ...]]:
    """Run a scenario.

    Parameters
    ----------
    scenario : Scenario
    folder : Path
        The run directory to make.

    Returns
    -------
    metrics : {name: float, bool, str or None}
        As `metrics.json` has them: None where a number is not finite.
    checks : tuple of Check
        The scenario's own.
    """
    # Here, in a process with one thread: what it imports reads how many there are to be.
    from simbench.runs.pipeline import run_scenario

    checks = run_scenario(scenario, folder).checks
    return json.loads((folder / "metrics.json").read_text(encoding="utf-8")), checks


def judge_run(
    baseline: Baseline | None, metrics: Mapping[str, Metric], checks: Sequence[Check]
) -> tuple[tuple[Verdict, ...], tuple[FailedCheck, ...]]:
    """Compare a run with its baseline, if there is one, and name the checks that it failed.

    Parameters
    ----------
    baseline : {metric: Expectation} or None
    metrics : mapping of str to float, bool, str or None
    checks : sequence of Check

    Returns
    -------
    verdicts : tuple of Verdict
    failed_checks : tuple of FailedCheck
    """
    verdicts = () if baseline is None else compare(baseline, metrics)
    return verdicts, tuple(
        FailedCheck(check.name, check.bound, metrics.get(check.name)) for check in checks if not check.passed
    )


def _judge(case: Case, answers: Sequence[JobResult], measure: bool) -> Result:
    errors = [answer.error for answer in answers if answer.error]
    if errors:
        return Result(case, error=errors[0])
    runs = [metrics for metrics, _ in (answer.value for answer in answers)]
    failed = [judge_run(None, *answer.value)[1] for answer in answers]
    if any(failed):
        # A check that holds or not by rounding does not hold.
        return Result(case, judge_run(case.baseline, *answers[0].value)[0], next(filter(None, failed)))
    verdicts, _ = judge_run(case.baseline, *answers[0].value)
    return Result(case, verdicts, measured=measure_baseline(runs, case.baseline) if measure else None)


def describe_check(scenario: str, check: FailedCheck) -> str:
    """Say in one line which check of a scenario does not hold."""
    return f"{scenario}: check failed: {check.name} is {format_number(check.now)}, must be {check.bound}"


def describe_drift(scenario: str, verdict: Verdict) -> str:
    """Say in one line how a metric is not as it was.

    Parameters
    ----------
    scenario : str
        Its name.
    verdict : Verdict
        That has failed.

    Returns
    -------
    str
    """
    if verdict.outcome == "missing":
        return f"{scenario}: {verdict.name} is missing; its baseline is {format_number(verdict.was)}"
    return (
        f"{scenario}: {verdict.name} is {format_number(verdict.now)}, "
        f"its baseline {format_number(verdict.was)} {format_tolerance(verdict.tolerance, verdict.better)}"
    )


def format_number(value: Metric) -> str:
    """With a digit more than other tables: differences of one per cent are to be seen."""
    return f"{value:.5g}" if isinstance(value, float) and not isinstance(value, bool) else format_value(value)


def format_tolerance(tolerance: float, better: Better) -> str:
    """Write the tolerance of a metric for a table.

    Parameters
    ----------
    tolerance : float
        Allowed deviation from the baseline in the metric's own unit; 0 if none is allowed.
    better : {"lower", "higher", "same"}
        Direction in which the metric improves.

    Returns
    -------
    str
        Sign and size, or `as it is`.
    """
    return f"{_SIGN[better]} {tolerance:.2g}" if tolerance else "as it is"
