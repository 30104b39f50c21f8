"""A pytest plugin: fixtures that run scenarios and compare them with their baselines.

Every pytest of an environment with simbench loads it, so slow imports are left to the tests that need them.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from simbench.files.storage import typed_output

if TYPE_CHECKING:
    import xarray as xr

    from simbench.runs.baseline import Check
    from simbench.runs.metric_catalogue import Metric
    from simbench.runs.regression import Case, CaseResult

_MARKER = (
    "simbench(scenario, *overrides): the scenario, by name or path, and `key=value` texts, that the fixture "
    "simbench_result runs"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the plugin's options. `parser`: parser of pytest's command line."""
    parser.getgroup("simbench").addoption(
        "--simbench-artifacts",
        metavar="DIR",
        default="failures",
        help="where a failed assert_baseline leaves plots, a clip, and its run (default: failures)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker `simbench`. `config`: configuration of the test session."""
    config.addinivalue_line("markers", _MARKER)


@dataclass
class Reporter:
    """Where a failed comparison leaves its dossier, and the test to whose report the paths go."""

    artifacts: Path  # Folder of the dossiers.
    node: pytest.Item | None = None  # Test that is running.

    def attach(self, name: str, value: object) -> None:
        """Add a property to the running test in a JUnit report."""
        # As pytest's record_property does, without its warning about the report's schema.
        if self.node is not None:
            self.node.user_properties.append((name, value))

    def write(self, result: CaseResult, line: str) -> str:
        """Write the dossier of a failed comparison, and attach its paths.

        `line`: first divergence. Returns line that says where the dossier is, or why there is none.
        """
        import shlex

        from simbench.errors import SimbenchError
        from simbench.runs.dossier import check_command, dossier_files, write_dossier

        name, overrides = result.case.scenario.name, result.case.arguments[1:]
        # Runs with other overrides have dossiers of their own.
        digest = hashlib.sha256("\0".join(overrides).encode()).hexdigest()[:8]
        commands = [check_command(result.case.arguments)]
        if self.node is not None:
            commands.insert(0, shlex.join(["pytest", self.node.nodeid]))
        self.attach(f"{name}.first_divergence", line)
        try:
            folder, notes = write_dossier(
                result,
                self.artifacts,
                commands,
                lambda stage, done, total: None,
                f"{name}-{digest}" if overrides else name,
            )
        except SimbenchError as error:
            return f"{name}: no dossier: {error}"
        for key, path in dossier_files(folder).items():
            self.attach(f"{name}.{key}", str(path))
        return "; ".join([f"{name}: dossier: {folder}", *notes])


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
    reporter : Reporter
        Where a failed comparison is reported.
    """

    case: Case
    directory: Path
    metrics: dict[str, Metric]
    checks: tuple[Check, ...]
    reporter: Reporter = field(default_factory=lambda: Reporter(Path("failures")), repr=False)

    @cached_property
    def log(self) -> xr.Dataset:
        """The log, as returned by `simbench.open_run`."""
        from simbench.runs.log import open_run

        return open_run(self.directory)

    def assert_baseline(self, *, traces: bool = True, strict: bool = False) -> None:
        """Fail where `simbench check` would, naming the scenario, the first divergence and the metrics.

        A failure leaves a dossier in the folder that `--simbench-artifacts` names. Signals that diverge as by
        rounding, while all metrics hold, are a warning.

        Parameters
        ----------
        traces : bool
            Whether signals are compared with the scenario's trace, if there is one, beside the metrics.
        strict : bool
            Whether signals that diverge as by rounding fail, too.

        Raises
        ------
        AssertionError
            If a metric is worse than its baseline or missing, a signal left its envelope, or a check of the
            scenario fails.
        BaselineError
            If the scenario has no baseline.
        """
        __tracebackhide__ = True
        from simbench.runs.regression import (
            CaseResult,
            compare_signals,
            describe_check,
            describe_drift,
            evaluate_run,
            headline,
            require_baselines,
        )

        require_baselines([self.case])
        name, trace = self.case.scenario.name, self.case.trace
        verdicts, failed = evaluate_run(self.case.baseline, self.metrics, self.checks)
        result = CaseResult(self.case, verdicts, failed, run=self.directory, strict=strict)
        if traces and trace is not None:
            divergences, growth = compare_signals(trace, self.directory)
            result = replace(result, divergences=divergences, growth=growth)
        if result.rounded:
            warnings.warn(headline(result), stacklevel=2)
        if not result.failed:
            return
        first = headline(result)
        lines = [describe_check(name, check) for check in failed]
        lines += [describe_drift(name, verdict) for verdict in verdicts if verdict.failed]
        lines = [first, *(line for line in lines if line != first)]
        raise AssertionError("\n".join([*lines, self.reporter.write(result, first)]))


RunScenario = Callable[..., SimbenchRun]


@pytest.fixture(scope="session")
def _simbench_reporter(request: pytest.FixtureRequest) -> Reporter:
    """Make what all runs of a session report to."""
    return Reporter(typed_output(request.config.getoption("--simbench-artifacts")))


@pytest.fixture(scope="session")
def _simbench_runs(tmp_path_factory: pytest.TempPathFactory, _simbench_reporter: Reporter) -> RunScenario:
    """Run each scenario with the same overrides only once a session."""
    made: dict[tuple[str, ...], SimbenchRun] = {}

    def run(scenario: str | Path, *overrides: str) -> SimbenchRun:
        key = (str(scenario), *overrides)
        if key not in made:
            from simbench.runs.isolated_runs import run_once
            from simbench.runs.regression import find_cases

            (case,) = find_cases([str(scenario)], overrides)
            directory = tmp_path_factory.mktemp(case.scenario.name) / "run"
            made[key] = SimbenchRun(case, directory, *run_once(case.scenario, directory), _simbench_reporter)
        return made[key]

    return run


@pytest.fixture
def simbench_run(
    _simbench_runs: RunScenario, _simbench_reporter: Reporter, request: pytest.FixtureRequest
) -> RunScenario:
    """Run a scenario: `simbench_run(name_or_path, "key=value", ...)` gives a `SimbenchRun`.

    A path is looked for in the current directory, then beside the test's file.

    Calls with the same arguments share one run in a session. Metrics become properties `<scenario>.<metric>`
    of the test in a JUnit report; a failed `assert_baseline` adds the paths of its dossier.
    """
    _simbench_reporter.node = request.node

    def run(scenario: str | Path, *overrides: str) -> SimbenchRun:
        beside = request.path.parent / scenario
        if not Path(scenario).is_file() and beside.is_file():
            scenario = beside
        result = _simbench_runs(scenario, *overrides)
        for name, value in result.metrics.items():
            _simbench_reporter.attach(f"{result.case.scenario.name}.{name}", value)
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
