"""Comparison of two runs: which of their settings differ, and what comes of it in metrics and signals."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simbench.errors import RunError
from simbench.files.yaml_document import read_yaml
from simbench.runs.baseline import Expectation, Verdict
from simbench.runs.baseline import compare as compare_metrics
from simbench.runs.metric_format import format_value, unit_of
from simbench.runs.result import RunResult, describe_checks, load_run
from simbench.system.progress import Progress, shown_progress

if TYPE_CHECKING:
    import pandas as pd

    from simbench.runs.plots.signals import SignalFigure
    from simbench.runs.talk_video.composition import Decoration
    from simbench.runs.video import View

_SHOWN = 12
"""Lines of metrics in the text of a comparison."""


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
        from simbench.runs.plots.signals import plot_signals

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
        from simbench.runs.report.html import write_report
        from simbench.runs.report.report import read_reports

        with shown_progress(on_progress) as tell:
            write_report(read_reports([run.directory for run in self.runs], tell), Path(out))
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
            Caption and title (`simbench.runs.talk_video.composition.Decoration`); none by default.
        on_progress : callable (stage, done, total), bool or None
            As for `run`.

        Returns
        -------
        Path
            The file.
        """
        from simbench.runs.talk_video.composition import render_talk_video

        folders = [run.directory for run in self.runs]
        with shown_progress(on_progress) as tell:
            render_talk_video(folders, Path(out), on_progress=tell, view=view, decoration=decoration)
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
        from simbench.runs.report.html import escape

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
    from simbench.runs.report.report import differing_keys, run_labels

    runs = (_as_result(first), _as_result(second))
    scenarios = [read_yaml(run.directory / "scenario.yaml", RunError).value for run in runs]
    settings = differing_keys(scenarios)
    settings.pop("name", None)
    baseline = {name: Expectation(value) for name, value in runs[0].metrics.items()}
    verdicts = [each for each in compare_metrics(baseline, runs[1].metrics) if each.outcome != "holds"]
    if 0 < len(settings) <= 2:
        texts = [
            ", ".join(f"{key.rpartition('.')[2]}={values[number]}" for key, values in settings.items())
            for number in (0, 1)
        ]
    else:
        texts = run_labels([run.directory for run in runs])
    labels = (texts[0], texts[1] if texts[1] != texts[0] else f"{texts[1]} (2)")
    return Comparison(runs, labels, settings, tuple(sorted(verdicts, key=_tolerances, reverse=True)))


def _as_result(run: RunResult | str | Path) -> RunResult:
    return run if isinstance(run, RunResult) else load_run(run)


def _tolerances(change: Verdict) -> float:
    """How many tolerances a metric differs by; a change of kind counts most."""
    difference = _difference(change.was, change.now)
    if difference is None:
        return float("inf")
    return abs(difference) / change.tolerance if change.tolerance else float("inf")


def _difference(first: Any, second: Any) -> float | None:
    """Second minus first, of two numbers."""
    if any(isinstance(value, bool) or not isinstance(value, int | float) for value in (first, second)):
        return None
    return float(second) - float(first)
