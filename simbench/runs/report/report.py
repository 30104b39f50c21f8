"""Content of a report: everything in a run directory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xarray as xr

from simbench.errors import RunError
from simbench.files.text import read_text
from simbench.files.yaml_document import parse_yaml
from simbench.options import GripSection
from simbench.runs.checks import Check, Metric, check_metrics
from simbench.runs.metric_traces import FailureTime, find_failure_times
from simbench.runs.person_log import has_person
from simbench.runs.plotted_log import open_plotted_run
from simbench.runs.report.baseline_comparison import BaselineComparison, compare_with_baseline
from simbench.runs.run_directory import incomplete_reason
from simbench.runs.run_records import read_metrics, read_provenance
from simbench.runs.scenario.loading import load_finished

if TYPE_CHECKING:
    from simbench.runs.plots.run_plots import OnProgress, Plot

FIDELITY = "fidelity"
"""Plot that a page shows as a picture: stick figures of the recording and of the robot."""


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
    baseline: BaselineComparison | None  # Metrics beside the baseline of the scenario, if it has one.
    video: Path | None  # File of the video, if there is one.
    incomplete: str | None  # Reason why the run is incomplete, if it is.
    # Pictures of the run, among them `fidelity` where it follows a person.
    plots: list[Plot] = field(default_factory=list)


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
    reports = [_read_without_pictures(folder) for folder in folders]
    return [replace(each, plots=_draw(each, on_progress, pictures=pictures)) for each in reports]


def _draw(report: RunReport, on_progress: OnProgress, *, pictures: bool) -> list[Plot]:
    """Draw the pictures of a run, if it has any."""
    if not pictures and not has_person(report.log):
        return []
    # Matplotlib takes half a second to import.
    from simbench.runs.plots.run_plots import draw_plots

    return draw_plots(report.folder, on_progress, None if pictures else (FIDELITY,), report.log)


def _read_without_pictures(folder: Path) -> RunReport:
    """Collect the content of a run directory whose plots can be drawn."""
    log = open_plotted_run(folder)
    scenario = load_finished(folder)
    text = read_text(folder / "scenario.yaml", RunError)
    incomplete = incomplete_reason(folder)
    metrics = {} if incomplete else read_metrics(folder)
    provenance = read_provenance(folder)
    video = folder / "video.mp4"
    checks = () if incomplete else check_metrics(scenario.checks, metrics)
    return RunReport(
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
