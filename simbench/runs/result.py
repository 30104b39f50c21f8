"""The outcome of a run: metrics and checks at once, the rest when it is asked for; and of two, compared."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simbench.errors import RunError
from simbench.files.storage import typed_output
from simbench.files.yaml_document import read_yaml
from simbench.runs.baseline import DIVERGED, Check, Expectation, Verdict, check_metrics
from simbench.runs.baseline import compare as compare_metrics
from simbench.runs.metric_catalogue import format_value, unit_of
from simbench.runs.run_directory import incomplete_reason, read_metrics, read_provenance
from simbench.system.progress import Progress, shown_progress

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from simbench.runs.plots.signal_plot import SignalFigure
    from simbench.runs.talk_video import Decoration
    from simbench.runs.video import View

_SHOWN = 12  # Lines of metrics in the text of a comparison.


@dataclass(frozen=True, repr=False)
class RunResult:
    """Outcome of a run.

    Parameters
    ----------
    directory : Path
        Run directory.
    metrics : dict of str to float, bool, str or None
        Metrics by name, as in `metrics.json`.
    checks : tuple of Check
        Outcome of the scenario's checks.
    video_file : Path or None
        File of the video; None if none was drawn with the run.
    renderer : str or None
        Renderer that drew the video, `OpenGL` or `TinyRenderer`.
    diverged : str or None
        When the physics diverged and what did first, in one line; None if it did not.
    robot : str or None
        Where the robot came from, in one line; None if all of it ships with simbench.
    notes : tuple of str
        What the robot made of the scenario differently, and what was found out about a trajectory, one line
        each.
    doubts : tuple of str
        What may well be wrong about the recording or the trajectory, or what the robot cannot do of it, one
        line each.
    """

    directory: Path
    metrics: dict[str, Any]
    checks: tuple[Check, ...]
    video_file: Path | None = None
    renderer: str | None = None
    diverged: str | None = None
    robot: str | None = None
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether all of the scenario's checks hold; True where it has none."""
        return all(check.passed for check in self.checks)

    @cached_property
    def log(self) -> xr.Dataset:
        """Log of the run, as `open_run` returns it: every variable has named dimensions and a unit."""
        from simbench.runs.log import open_run

        return open_run(self.directory)

    def plot(self, *signals: str, entries: Sequence[str] = ()) -> SignalFigure:
        """Draw signals of the log over time.

        Parameters
        ----------
        *signals : str
            Variables of the log such as `zmp` or `joint_position`, or `tracking error`, `motor torque`,
            `foot load`; one panel each. By default those that tell most.
        entries : sequence of str
            Which joints, axes or feet are drawn.

        Returns
        -------
        matplotlib.figure.Figure
            The figure: a notebook shows it, `savefig` writes it.

        Raises
        ------
        RunError
            If the log has no such signal; the message lists those it has.
        """
        from simbench.runs.plots.signal_plot import plot_signals

        name = self.directory.name
        return plot_signals({name: self.log}, signals, entries=entries, title=name)

    def video(
        self,
        out: str | Path | None = None,
        *,
        view: View | None = None,
        decoration: Decoration | None = None,
        fast: bool = False,
        on_progress: Progress = None,
    ) -> Path:
        """Render a video of the run; without a choice of one's own, only if there is none yet.

        Parameters
        ----------
        out : str or Path, optional
            File to write, ending in `.mp4`, `.gif` or `.webp`; by default `video.mp4` in the run directory.
        view : View, optional
            Part of the run, speed, camera, reference and recorded person (`simbench.runs.video.View`); by
            default all of it as the scenario shows it.
        decoration : Decoration, optional
            Caption and title (`simbench.runs.talk_video.Decoration`); none by default.
        fast : bool
            Whether it is a preview: at most 640 pixels wide, at most 15 frames a second, without shadows.
        on_progress : callable (stage, done, total), bool or None
            As for `run`.

        Returns
        -------
        Path
            The file.
        """
        from simbench.runs.talk_video import render_talk_video
        from simbench.runs.video import View

        path = self.directory / "video.mp4" if out is None else typed_output(out)
        if out is None and view is None and decoration is None and path.is_file():
            return path
        view = replace(view, fast=view.fast or fast) if view is not None else View(fast=fast)
        with shown_progress(on_progress) as tell:
            render_talk_video([self.directory], path, on_progress=tell, view=view, decoration=decoration)
        return path

    def report(self, out: str | Path | None = None, *, on_progress: Progress = None) -> Path:
        """Write the report of the run: one page that needs no other file.

        Parameters
        ----------
        out : str or Path, optional
            File to write, ending in `.html`; by default `report.html` in the run directory.
        on_progress : callable (stage, done, total), bool or None
            As for `run`.

        Returns
        -------
        Path
            The file.
        """
        from simbench.runs.report.report_page import write_report
        from simbench.runs.report.run_report import read_reports

        path = self.directory / "report.html" if out is None else typed_output(out)
        with shown_progress(on_progress) as tell:
            reports = read_reports([self.directory], tell)
        write_report(reports, path)
        return path

    def __repr__(self) -> str:
        """Write checks and where the run is, in a few lines."""
        lines = [f"<run {self.directory.name}: {describe_checks(self.checks)}"]
        lines += [self.diverged] if self.diverged else []
        for check in self.checks:
            if not check.passed:
                value = f"{format_value(self.metrics.get(check.name))} {unit_of(check.name)}".strip()
                why = f" ({check.reason})" if check.reason else ""
                lines.append(f"✗ {check.name} is {value}, must be {check.bound}{why}")
        lines += [f"{len(self.metrics)} metrics, run directory {os.fspath(self.directory)}>"]
        return "\n ".join(lines)

    def _repr_html_(self) -> str:
        """Write checks, failed ones first, then the metrics, as a notebook shows them."""
        from simbench.runs.report.report_page import escape

        verdict = escape(f"{self.directory.name}: {describe_checks(self.checks)}")
        rows = "".join(
            f"<tr><td>{'✓' if check.passed else '✗'}</td><td>{escape(check.name)}</td>"
            f"<td>{escape(format_value(self.metrics.get(check.name)))} {escape(unit_of(check.name))}</td>"
            f"<td>{escape(check.bound)}</td></tr>"
            for check in sorted(self.checks, key=lambda check: check.passed)
        )
        metrics = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(format_value(value))} {escape(unit_of(name))}</td></tr>"
            for name, value in sorted(self.metrics.items())
        )
        return (
            f"<p><b>{verdict}</b></p>"
            f"<table><tr><th></th><th>check</th><th>value</th><th>must be</th></tr>{rows}</table>"
            f"<details><summary>{len(self.metrics)} metrics</summary><table>{metrics}</table></details>"
            f"<p><code>{escape(os.fspath(self.directory))}</code></p>"
        )


def describe_checks(checks: Sequence[Check]) -> str:
    """Say in a few words how many checks hold.

    `checks`: outcome of a run's checks. Returns such as `12 of 12 checks hold`.
    """
    held = sum(check.passed for check in checks)
    return f"{held} of {len(checks)} checks hold" if checks else "no checks"


def load_run(directory: str | Path) -> RunResult:
    """Read the outcome of a finished run from its directory.

    Parameters
    ----------
    directory : str or Path
        Run directory.

    Returns
    -------
    RunResult
        As `run` returned it, without its notes.

    Raises
    ------
    RunError, ScenarioError
        If it is not the directory of a finished run, or a file is damaged.
    """
    from simbench.runs.scenario.loading import load_finished

    folder = Path(directory)
    if not folder.is_dir():
        raise RunError(f"{folder}: is not a run directory")
    reason = incomplete_reason(folder)
    if reason is not None:
        raise RunError(f"{folder}: incomplete ({reason}); open_run reads its log as far as it goes")
    metrics = read_metrics(folder)
    checks = check_metrics(load_finished(folder).checks, metrics)
    video, time = folder / "video.mp4", metrics.get(DIVERGED)
    result = RunResult(folder, metrics, checks, doubts=tuple(read_provenance(folder).get("doubts", ())))
    return replace(
        result,
        video_file=video if video.is_file() else None,
        diverged=f"physics diverged at {time} s" if time is not None else None,
    )


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two runs side by side.

    Parameters
    ----------
    runs : pair of RunResult
        The runs.
    labels : pair of str
        What they are called: by the settings in which they differ, if those are few, else by their
        directories.
    settings : dict of str to pair
        Values of the scenarios' keys that differ; None where a key is not set.
    changes : tuple of Verdict
        Metrics that differ by more than their usual tolerance, those first that differ by most tolerances:
        `worse`, `better`, `new` in the second run or `missing` in it; any change counts as `worse` where no
        direction is better.
    """

    runs: tuple[RunResult, RunResult]
    labels: tuple[str, str]
    settings: dict[str, list[Any]]
    changes: tuple[Verdict, ...]

    @property
    def metrics(self) -> pd.DataFrame:
        """Metrics of both runs by name, the difference of numbers, their unit, and which way it is."""
        import pandas as pd

        first, second = (run.metrics for run in self.runs)
        outcome = {change.name: _judgement(change).strip(" ()") or "differs" for change in self.changes}
        names = sorted({*first, *second})
        rows = {
            name: (
                first.get(name),
                second.get(name),
                _difference(first.get(name), second.get(name)),
                unit_of(name),
                outcome.get(name, "same"),
            )
            for name in names
        }
        columns = [*self.labels, "difference", "unit", "outcome"]
        return pd.DataFrame.from_dict(rows, orient="index", columns=columns)

    def plot(self, *signals: str, entries: Sequence[str] = ()) -> SignalFigure:
        """Draw signals of both runs on the same axes, the second dashed.

        Parameters
        ----------
        *signals : str
            As for `RunResult.plot`.
        entries : sequence of str
            Which joints, axes or feet are drawn.

        Returns
        -------
        matplotlib.figure.Figure
            The figure: a notebook shows it, `savefig` writes it.
        """
        from simbench.runs.plots.signal_plot import plot_signals

        logs = {label: run.log for label, run in zip(self.labels, self.runs, strict=True)}
        return plot_signals(logs, signals, entries=entries)

    def report(self, out: str | Path, *, on_progress: Progress = None) -> Path:
        """Write one report with both runs.

        Parameters
        ----------
        out : str or Path
            File to write, ending in `.html`.
        on_progress : callable (stage, done, total), bool or None
            As for `run`.

        Returns
        -------
        Path
            The file.
        """
        from simbench.runs.report.report_page import write_report
        from simbench.runs.report.run_report import read_reports

        with shown_progress(on_progress) as tell:
            write_report(read_reports([run.directory for run in self.runs], tell), typed_output(out))
        return Path(out)

    def video(
        self,
        out: str | Path,
        *,
        view: View | None = None,
        decoration: Decoration | None = None,
        on_progress: Progress = None,
    ) -> Path:
        """Render one video of both runs, side by side.

        Parameters
        ----------
        out : str or Path
            File to write, ending in `.mp4`, `.gif` or `.webp`.
        view : View, optional
            Part of the runs, speed and camera (`simbench.runs.video.View`); by default all of the longer one,
            as the first one's scenario shows it.
        decoration : Decoration, optional
            Caption and title (`simbench.runs.talk_video.Decoration`); none by default.
        on_progress : callable (stage, done, total), bool or None
            As for `run`.

        Returns
        -------
        Path
            The file.
        """
        from simbench.runs.talk_video import render_talk_video

        folders = [run.directory for run in self.runs]
        with shown_progress(on_progress) as tell:
            render_talk_video(folders, typed_output(out), on_progress=tell, view=view, decoration=decoration)
        return Path(out)

    def __repr__(self) -> str:
        """Write what differs: settings, checks, and the metrics that change most."""
        lines = [f"<{self.labels[0]} against {self.labels[1]}"]
        for label, run in zip(self.labels, self.runs, strict=True):
            lines.append(f"{label}: {describe_checks(run.checks)}, {os.fspath(run.directory)}")
        lines += [f"{key}: {first} → {second}" for key, (first, second) in self.settings.items()]
        width = max((len(change.name) for change in self.changes[:_SHOWN]), default=0)
        for change in self.changes[:_SHOWN]:
            value = f"{format_value(change.was)} → {format_value(change.now)} {unit_of(change.name)}".strip()
            lines.append(f"{change.name:{width}}  {value}{_judgement(change)}")
        more = len(self.changes) - _SHOWN
        lines += [f"and {more} more in .metrics"] if more > 0 else []
        return "\n ".join(lines if self.changes else [*lines, "no metric differs"]) + ">"

    def _repr_html_(self) -> str:
        """Write what differs as a notebook shows it."""
        from simbench.runs.report.report_page import escape

        head = "".join(
            f"<li><b>{escape(label)}</b>: {escape(describe_checks(run.checks))}</li>"
            for label, run in zip(self.labels, self.runs, strict=True)
        )
        rows = "".join(
            f"<tr><td>{escape(change.name)}</td><td>{escape(format_value(change.was))}</td>"
            f"<td>{escape(format_value(change.now))}</td><td>{escape(unit_of(change.name))}</td>"
            f"<td>{escape(_judgement(change).strip(' ()'))}</td></tr>"
            for change in self.changes
        )
        labels = "".join(f"<th>{escape(label)}</th>" for label in self.labels)
        return (
            f"<ul>{head}</ul><table><tr><th>metric</th>{labels}<th>unit</th><th></th></tr>{rows}</table>"
            f"<p>{len(self.changes)} metrics differ by more than their tolerance.</p>"
        )


def _judgement(change: Verdict) -> str:
    """Say in brackets what a change means; nothing of a metric for which no direction is better."""
    neutral = change.outcome == "worse" and change.better == "same"
    return "" if neutral else f" ({change.outcome})"


def compare(first: RunResult | str | Path, second: RunResult | str | Path) -> Comparison:
    """Compare two runs: settings, metrics, and signals on the same axes.

    Parameters
    ----------
    first : RunResult, str or Path
        A run, or its directory.
    second : RunResult, str or Path
        The other one.

    Returns
    -------
    Comparison
        What differs.

    Raises
    ------
    RunError, ScenarioError
        If one is not the directory of a finished run.
    """
    from simbench.runs.report.run_report import differing_keys, run_labels

    runs = (_as_result(first), _as_result(second))
    scenarios = [read_yaml(run.directory / "scenario.yaml", RunError).value for run in runs]
    settings = differing_keys(scenarios)
    settings.pop("name", None)
    baseline = {name: Expectation(value) for name, value in runs[0].metrics.items()}
    changes: dict[Verdict, float] = {}
    for verdict in compare_metrics(baseline, runs[1].metrics):
        if verdict.outcome != "holds":
            # In tolerances; a change of kind counts most.
            difference = _difference(verdict.was, verdict.now)
            if difference is None or not verdict.tolerance:
                changes[verdict] = float("inf")
            else:
                changes[verdict] = abs(difference) / verdict.tolerance
    if 0 < len(settings) <= 2:
        texts = [
            ", ".join(f"{key.rpartition('.')[2]}={values[number]}" for key, values in settings.items())
            for number in (0, 1)
        ]
    else:
        texts = run_labels([run.directory for run in runs])
    labels = (texts[0], texts[1] if texts[1] != texts[0] else f"{texts[1]} (2)")
    return Comparison(
        runs, labels, settings, tuple(sorted(changes, key=lambda each: changes[each], reverse=True))
    )


def _as_result(run: RunResult | str | Path) -> RunResult:
    return run if isinstance(run, RunResult) else load_run(run)


def _difference(first: Any, second: Any) -> float | None:
    """Second minus first, of two numbers."""
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in (first, second)):
        return None
    return float(second) - float(first)
