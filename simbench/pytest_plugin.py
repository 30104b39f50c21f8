"""A pytest plugin: fixtures that run scenarios and compare them with their baselines.

Every pytest of an environment with simbench loads it, so slow imports are left to the tests that need them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import xarray as xr

    from simbench.runs.baseline import Metric
    from simbench.runs.checks import Check
    from simbench.runs.regression import Case

_MARKER = (
    "simbench(scenario, *overrides): the scenario, by name or path, and `key=value` texts, that the fixture "
    "simbench_result runs"
)


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `simbench`.

    Parameters
    ----------
    config : pytest.Config
        Configuration of the test session.
    """
    config.addinivalue_line("markers", _MARKER)


@dataclass(frozen=True)
class SimbenchRun:
    """A finished run of a scenario.

    Parameters
    ----------
    case : Case
        The scenario and its baseline.
    directory : Path
        The run directory.
    metrics : {name: float, bool, str or None}
        Metrics as in `metrics.json`.
    checks : tuple of Check
        Outcome of the scenario's checks.
    """

    case: Case
    directory: Path
    metrics: dict[str, Metric]
    checks: tuple[Check, ...]

    @cached_property
    def log(self) -> xr.Dataset:
        """The log, as returned by `simbench.open_run`."""
        from simbench.runs.log import open_run

        return open_run(self.directory)

    def assert_baseline(self) -> None:
        """Fail where `simbench check` would, naming the scenario and the metrics.

        Raises
        ------
        AssertionError
            If a metric is worse than its baseline or missing, or a check of the scenario fails.
        BaselineError
            If the scenario has no baseline.
        """
        __tracebackhide__ = True
        from simbench.runs.regression import describe_check, describe_drift, evaluate_run, require_baselines

        require_baselines([self.case])
        name = self.case.scenario.name
        verdicts, failed = evaluate_run(self.case.baseline, self.metrics, self.checks)
        lines = [describe_check(name, check) for check in failed]
        lines += [describe_drift(name, verdict) for verdict in verdicts if verdict.failed]
        if lines:
            raise AssertionError("\n".join(lines))


RunScenario = Callable[..., SimbenchRun]


@pytest.fixture(scope="session")
def _simbench_runs(tmp_path_factory: pytest.TempPathFactory) -> RunScenario:
    """Run each scenario with the same overrides only once a session."""
    made: dict[tuple[str, ...], SimbenchRun] = {}

    def run(scenario: str | Path, *overrides: str) -> SimbenchRun:
        key = (str(scenario), *overrides)
        if key not in made:
            from simbench.runs.regression import find_cases, run_once

            (case,) = find_cases([str(scenario)], overrides)
            directory = tmp_path_factory.mktemp(case.scenario.name) / "run"
            made[key] = SimbenchRun(case, directory, *run_once(case.scenario, directory))
        return made[key]

    return run


@pytest.fixture
def simbench_run(_simbench_runs: RunScenario, request: pytest.FixtureRequest) -> RunScenario:
    """Run a scenario: `simbench_run(name_or_path, "key=value", ...)` gives a `SimbenchRun`.

    A path is looked for in the current directory, then beside the test's file.

    Calls with the same arguments share one run in a session. Metrics become properties `<scenario>.<metric>`
    of the test in a JUnit report.
    """

    def run(scenario: str | Path, *overrides: str) -> SimbenchRun:
        beside = request.path.parent / scenario
        if not Path(scenario).is_file() and beside.is_file():
            scenario = beside
        result = _simbench_runs(scenario, *overrides)
        # As pytest's record_property does, without its warning about the report's schema.
        for name, value in result.metrics.items():
            request.node.user_properties.append((f"{result.case.scenario.name}.{name}", value))
        return result

    return run


@pytest.fixture
def simbench_result(request: pytest.FixtureRequest, simbench_run: RunScenario) -> SimbenchRun:
    """Run the scenario of the test's marker, `@pytest.mark.simbench(scenario, *overrides)`."""
    marker = request.node.get_closest_marker("simbench")
    if marker is None or not marker.args or marker.kwargs:
        raise pytest.UsageError(
            f"{request.node.nodeid}: simbench_result runs the scenario of a marker, "
            '@pytest.mark.simbench("drawer", "seed=1"); allowed: a scenario, then key=value texts'
        )
    return simbench_run(*marker.args)
