"""How a run's metrics compare with the baseline of its scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from simbench.errors import SimbenchError
from simbench.runs.baseline import Verdict, baseline_path, compare, read_baseline
from simbench.runs.metric_catalogue import Metric
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario
from simbench.runs.scenario.schema import Scenario

_IGNORED = ("summary", "camera", "checks")
"""Sections of a scenario that change nothing in the motion."""


class BaselineComparison(NamedTuple):
    """Metrics of a run beside its baseline."""

    path: Path  # File of the baseline.
    verdicts: tuple[Verdict, ...]

    @property
    def different(self) -> tuple[Verdict, ...]:
        """Metrics that are not as in the baseline: those that are worse or missing first."""
        order = {"worse": 0, "missing": 1, "better": 2, "new": 3}
        found = [verdict for verdict in self.verdicts if verdict.outcome != "holds"]
        return tuple(sorted(found, key=lambda verdict: (order[verdict.outcome], verdict.name)))


def compare_with_baseline(scenario: Scenario, metrics: Mapping[str, Metric]) -> BaselineComparison | None:
    """Compare a run with the baseline of the scenario of its name that ships with simbench.

    Returns none if there is no such scenario or baseline, or the run's scenario was changed.
    """
    try:
        engine = scenario.simulation.engine
        shipped = load_scenario(scenario.name, [f"simulation.engine={engine}"])
        path = baseline_path(find_scenario(scenario.name), scenario.name, engine)
        baseline = read_baseline(path)
    except SimbenchError:
        return None
    if baseline is None or _motion_of(shipped) != _motion_of(scenario):
        return None
    return BaselineComparison(path, compare(baseline, metrics))


def _motion_of(scenario: Scenario) -> dict[str, Any]:
    """Values of a scenario that decide what happens in its run."""
    return {key: value for key, value in scenario.model_dump(mode="json").items() if key not in _IGNORED}
