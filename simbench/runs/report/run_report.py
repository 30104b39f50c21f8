"""Content of a report: everything in a run directory, and the baseline of its scenario beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from simbench.errors import RunError, SimbenchError
from simbench.files.text import read_text
from simbench.files.yaml_document import parse_yaml
from simbench.options import GripSection
from simbench.runs.baseline import Check, Verdict, baseline_path, check_metrics, compare, read_baseline
from simbench.runs.log import open_plotted_run
from simbench.runs.log_schema import has_person
from simbench.runs.metric_catalogue import Metric
from simbench.runs.metric_traces import FailureTime, find_failure_times
from simbench.runs.run_directory import incomplete_reason, read_metrics, read_provenance
from simbench.runs.scenario.loading import load_finished, load_scenario
from simbench.runs.scenario.scenario_files import find_scenario
from simbench.runs.scenario.schema import Scenario

if TYPE_CHECKING:
    from simbench.runs.plots.run_plots import OnProgress

_IGNORED = {"summary", "camera", "checks"}  # Sections of a scenario that change nothing in the motion.
FIDELITY = "fidelity"  # Plot that a page shows as a picture: stick figures of the recording and of the robot.


@dataclass(frozen=True)
class RunReport:
    """Content of a report about one run."""

    folder: Path  # Run directory.
    scenario: dict[str, Any]  # Resolved scenario, as in its file.
    scenario_text: str  # Text of that file.
    metrics: dict[str, Metric]  # Metrics by name; empty for an interrupted run.
    checks: tuple[Check, ...]  # Outcome of the checks; empty for an interrupted run.
    provenance: dict[str, Any]  # Content of `provenance.json`.
    log: xr.Dataset
    grip: GripSection  # Strength of the grips.
    failures: dict[str, FailureTime]  # When failed checks fail, by the metric's name.
    baseline: tuple[Verdict, ...] | None  # Metrics beside the baseline of the scenario, if it has one.
    video: Path | None  # File of the video, if there is one.
    incomplete: str | None  # Reason why the run is incomplete, if it is.
    # PNG files of the run, among them `fidelity` where it follows a person.
    plots: list[Path] = field(default_factory=list)


def read_reports(
    folders: Sequence[Path], on_progress: OnProgress, *, pictures: bool = False
) -> list[RunReport]:
    """Collect the content of run directories, complete or interrupted, and draw their pictures.

    Pictures are files in the run directories: none is drawn if a file of any of these is damaged.
    `on_progress`: callback that receives the progress; `pictures`: whether all plots are drawn as PNG files;
    else only `fidelity`, which the page shows as a picture. Returns content of the report about each. Raises
    RunError, ScenarioError if there is no log, or a file is damaged. Raises OSError if a plot cannot be
    written.
    """
    reports = []
    for folder in folders:
        log = open_plotted_run(folder)
        scenario = load_finished(folder)
        text = read_text(folder / "scenario.yaml", RunError)
        incomplete = incomplete_reason(folder)
        metrics = {} if incomplete else read_metrics(folder)
        provenance = read_provenance(folder)
        video = folder / "video.mp4"
        checks = () if incomplete else check_metrics(scenario.checks, metrics)
        reports.append(
            RunReport(
                folder=folder,
                scenario=parse_yaml(text, str(folder / "scenario.yaml"), RunError).value,
                scenario_text=text,
                metrics=metrics,
                checks=checks,
                provenance=provenance,
                log=log,
                grip=scenario.grip,
                failures=find_failure_times(checks, scenario.checks, metrics, log),
                baseline=None if incomplete else compare_with_baseline(scenario, metrics),
                video=video if video.is_file() else None,
                incomplete=incomplete,
            )
        )
    for report in reports:
        if pictures or has_person(report.log):
            # Matplotlib takes half a second to import.
            from simbench.runs.plots.run_plots import draw_plots

            chosen = None if pictures else (FIDELITY,)
            report.plots.extend(draw_plots(report.folder, on_progress, chosen, report.log))
    return reports


def compare_with_baseline(scenario: Scenario, metrics: Mapping[str, Metric]) -> tuple[Verdict, ...] | None:
    """Compare a run with the baseline of the scenario of its name that ships with simbench.

    Returns what is worse or missing first, and what holds last; None if there is no such scenario or
    baseline, or the run's scenario was changed.
    """
    try:
        engine = scenario.simulation.engine
        shipped = load_scenario(scenario.name, [f"simulation.engine={engine}"])
        baseline = read_baseline(baseline_path(find_scenario(scenario.name), scenario.name, engine))
    except SimbenchError:
        return None
    # The values of both that decide what happens in a run.
    motions = [each.model_dump(mode="json", exclude=_IGNORED) for each in (shipped, scenario)]
    if baseline is None or motions[0] != motions[1]:
        return None
    order = {"worse": 0, "missing": 1, "better": 2, "new": 3, "holds": 4}
    verdicts = compare(baseline, metrics)
    return tuple(sorted(verdicts, key=lambda verdict: (order[verdict.outcome], verdict.name)))


def run_labels(folders: Sequence[Path]) -> list[str]:
    """Name runs by their directories, with as much of the path as distinguishes them."""
    paths = [Path(os.path.abspath(folder)) for folder in folders]
    deepest = max(len(path.parts) for path in paths)
    for count in range(1, deepest + 1):
        labels = ["/".join(path.parts[-count:]) for path in paths]
        if len(set(labels)) == len(set(paths)):
            break
    return labels


def differing_keys(scenarios: Sequence[dict[str, Any]]) -> dict[str, list[Any]]:
    """Find the keys in which scenarios differ.

    `scenarios`: resolved scenarios. Returns value in each scenario by dotted key; None where the key is not
    set.
    """
    flat = [dict(_flattened(scenario, "")) for scenario in scenarios]
    keys = dict.fromkeys(key for each in flat for key in each)
    values = {key: [each.get(key) for each in flat] for key in keys}
    return {key: row for key, row in values.items() if any(value != row[0] for value in row)}


def _flattened(value: Any, key: str) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list) and any(isinstance(part, dict) for part in value):
        parts = dict(enumerate(value)).items()
    else:
        return [(key, value)]
    return [
        entry for name, part in parts for entry in _flattened(part, f"{key}.{name}" if key else str(name))
    ]
