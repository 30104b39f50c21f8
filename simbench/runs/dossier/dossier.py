"""Dossier of a failed check, written into a folder that holds all that is needed to find the reason."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from simbench.errors import RunError, SimbenchError
from simbench.files.storage import FolderInUseError, ForeignFolderError, claim_folder
from simbench.runs.dossier.clip import write_clip
from simbench.runs.dossier.headline import headline
from simbench.runs.dossier.metrics_diff import diff_entries, diff_markdown, diff_rows, summarise_rest
from simbench.runs.dossier.page import PageContent, dossier_page
from simbench.runs.plots.divergence import draw_divergence
from simbench.runs.regression import CaseResult
from simbench.runs.report.html import write_report
from simbench.runs.report.report import read_reports
from simbench.runs.run_directory import holds_only_a_run, json_text, plain_value
from simbench.runs.traces.comparison import Divergence, TraceComparison, describe_divergence
from simbench.sim.rendering.renderer_choice import RendererUnavailableError, UndrawableShapeError

OnProgress = Callable[[str, int, int], None]

DEFAULT_FOLDER = Path("failures")
"""Where dossiers go unless it is said otherwise."""
PAGE, CLIP, COMMANDS, RUN, PLOTS = "report.html", "clip.mp4", "reproduce.txt", "run", "plots"
_FILES = (PAGE, CLIP, COMMANDS, "divergence.json", "metrics_diff.md", "metrics_diff.json")
_LISTED = 20
"""Largest number of diverging channels that the page lists; the file has all."""
_DRAWN = 8
"""Largest number of signals of which a plot is drawn: those that diverged first."""


class Dossier(NamedTuple):
    """What was written about a failed check."""

    folder: Path
    notes: tuple[str, ...]  # What could not be made, each in one line.

    @property
    def files(self) -> dict[str, Path]:
        """Its files by what they are, as far as they exist."""
        named = {
            "report": PAGE,
            "clip": CLIP,
            "metrics_diff": "metrics_diff.md",
            "reproduce": COMMANDS,
            "run": RUN,
        }
        return {key: self.folder / name for key, name in named.items() if (self.folder / name).exists()}


def write_dossier(
    result: CaseResult, artifacts: Path, commands: Sequence[str], on_progress: OnProgress, name: str = ""
) -> Dossier:
    """Write the dossier of a failed check; one of an earlier check of the same name is replaced.

    `result`: outcome of a check that failed, with its run; `artifacts`: folder of the dossiers; `commands`:
    commands that reproduce the failure; `on_progress`: callback that receives the progress; `name`: name of
    the dossier in that folder; by default the scenario's. Returns the dossier; its notes say what could not
    be drawn.
    """
    folder = artifacts / (name or result.case.scenario.name)
    if result.run is None:
        raise RunError(f"{folder}: no dossier, because the run ended with an error")
    working = folder.with_name(f"{folder.name}.incomplete")
    try:
        if folder.exists() and not _holds_only_a_dossier(folder):
            raise RunError(f"{folder}: holds more than a dossier; move or delete it first")
        with claim_folder(working, _holds_only_a_dossier):
            shutil.copytree(result.run, working / RUN)
            notes = _fill(working, result, commands, on_progress)
            if folder.exists():
                shutil.rmtree(folder)
            os.replace(working, folder)
    except FolderInUseError:
        raise RunError(f"{working}: another process is writing this dossier") from None
    except ForeignFolderError:
        raise RunError(f"{working}: holds more than a dossier; move or delete it first") from None
    except OSError as error:
        raise RunError(f"{error.filename or folder}: cannot write the dossier: {error.strerror}") from None
    return Dossier(folder, tuple(notes))


def _fill(folder: Path, result: CaseResult, commands: Sequence[str], on_progress: OnProgress) -> list[str]:
    """Write everything into a folder that holds the run already; return what could not be made."""
    run = folder / RUN
    notes: list[str] = []
    text = "\n".join(commands) + "\n"
    (folder / COMMANDS).write_text(text, encoding="utf-8")
    rows = diff_rows(result.verdicts, result.failed_checks)
    rest = summarise_rest(result.verdicts)
    (folder / "metrics_diff.md").write_text(diff_markdown(rows, rest), encoding="utf-8")
    entries = diff_entries(result.verdicts, result.failed_checks)
    (folder / "metrics_diff.json").write_text(json_text(entries), encoding="utf-8")
    comparison = result.comparison
    divergences = comparison.divergences if comparison else ()
    (folder / "divergence.json").write_text(json_text(_divergence_entries(comparison)), encoding="utf-8")
    plots: list[Path] = []
    clip = ""
    if comparison is not None and divergences:
        plots = _draw_plots(folder / PLOTS, result, comparison)
        try:
            on_progress("clip", 0, 1)
            write_clip(run, comparison, divergences[0].time, folder / CLIP)
            on_progress("clip", 1, 1)
            clip = CLIP
        except (SimbenchError, RendererUnavailableError, UndrawableShapeError, OSError) as error:
            notes.append(f"no clip: {' '.join(str(error).split())}")
    try:
        write_report(read_reports([run], on_progress), run / "report.html")
    except SimbenchError as error:
        notes.append(f"no report of the run: {error}")
    lines = [describe_divergence(each) for each in divergences]
    more = len(lines) - _LISTED
    listed = [*lines[:_LISTED], *([f"and {more} more: divergence.json"] if more > 0 else [])]
    scenario = result.case.scenario
    page = dossier_page(
        PageContent(
            f"{scenario.name} on {scenario.robot.name}",
            headline(result),
            listed,
            rows,
            rest,
            plots,
            clip,
            notes,
            text,
        )
    )
    (folder / PAGE).write_text(page, encoding="utf-8", errors="replace")
    return notes


def _draw_plots(folder: Path, result: CaseResult, comparison: TraceComparison) -> list[Path]:
    """Draw a plot for each of the signals that diverged first."""
    folder.mkdir()
    by_signal: dict[str, list[Divergence]] = {}
    for each in comparison.divergences:
        by_signal.setdefault(each.channel.signal, []).append(each)
    paths = []
    for signal, channels in list(by_signal.items())[:_DRAWN]:
        paths.append(folder / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', signal)}.png")
        title = f"{result.case.scenario.name}: {signal}, {len(channels)} of its channels diverged"
        draw_divergence(comparison, channels, title, paths[-1])
    return paths


def _divergence_entries(comparison: TraceComparison | None) -> dict[str, Any]:
    """List all diverging channels for `divergence.json`, the earliest first."""
    if comparison is None:
        return {"trace": None, "diverged": []}
    entries = []
    for each in comparison.divergences:
        numbers = {key: plain_value(value) for key, value in each._asdict().items() if key != "channel"}
        entries.append({"channel": each.channel.name, "unit": each.channel.unit, **numbers})
    return {"channels": len(comparison.trace.channels), "diverged": entries}


def _holds_only_a_dossier(folder: Path) -> bool:
    """Return whether a directory contains nothing but what a dossier consists of."""
    with os.scandir(folder) as found:
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                if entry.name == PLOTS and all(name.endswith(".png") for name in os.listdir(entry)):
                    continue
                if entry.name == RUN and holds_only_a_run(Path(entry.path)):
                    continue
                return False
            if entry.name not in _FILES:
                return False
    return True


def check_command(arguments: Sequence[str]) -> str:
    """Write the command that checks a scenario.

    `arguments`: name or path of the scenario, then its overrides. Returns command for a shell.
    """
    name, *overrides = arguments
    return shlex.join(["simbench", "check", name, *(part for text in overrides for part in ("--set", text))])
