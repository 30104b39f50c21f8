"""Dossier of a failed check, written into a folder that holds all that is needed to find the reason."""

from __future__ import annotations

import base64
import math
import os
import re
import shlex
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from simbench.errors import RunError, SimbenchError
from simbench.files.storage import FolderInUseError, ForeignFolderError, claim_folder, make_folder, whole_file
from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.runs.log import open_run
from simbench.runs.plots.signal_plot import draw_divergence
from simbench.runs.regression import CaseResult, format_number, format_tolerance, headline
from simbench.runs.report.report_page import escape, write_report
from simbench.runs.report.run_report import read_reports
from simbench.runs.run_directory import holds_only_a_run, json_text, plain_value
from simbench.runs.traces.trace_comparison import Divergence, describe_divergence
from simbench.runs.traces.trace_signals import POSE, Trace, read_samples
from simbench.runs.video import View, load_video_scene
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.camera import draw_pictures
from simbench.sim.rendering.drawing_process import RendererUnavailableError, open_encoder
from simbench.sim.rendering.scene_view import Frames, UndrawableShapeError

OnProgress = Callable[[str, int, int], None]

PAGE, CLIP, COMMANDS, RUN, PLOTS = "report.html", "clip.mp4", "reproduce.txt", "run", "plots"
_FILES = (PAGE, CLIP, COMMANDS, "divergence.json", "metrics_diff.md", "metrics_diff.json")
_LISTED = 20  # Largest number of diverging channels that the page lists; the file has all.
_DRAWN = 8  # Largest number of signals of which a plot is drawn: those that diverged first.
_HEADS = ("metric", "baseline", "now", "tolerance", "verdict")
LENGTH = 3.0  # Length of the clip, s.
_BEFORE = 1.5  # Part of it before the divergence, s.
RATE = 25  # Frames per second.
WIDTH = 640  # Width of one panel, pixels.
_BAR = 28
_PAPER, _INK, _ALARM = (255, 255, 255), (40, 40, 40), (208, 16, 16)


def dossier_files(folder: Path) -> dict[str, Path]:
    """List the files of a dossier by what they are, as far as they exist."""
    named = {
        "report": PAGE,
        "clip": CLIP,
        "metrics_diff": "metrics_diff.md",
        "reproduce": COMMANDS,
        "run": RUN,
    }
    return {key: folder / name for key, name in named.items() if (folder / name).exists()}


def write_dossier(
    result: CaseResult, artifacts: Path, commands: Sequence[str], on_progress: OnProgress, name: str = ""
) -> tuple[Path, list[str]]:
    """Write the dossier of a failed check; one of an earlier check of the same name is replaced.

    `result`: outcome of a check that failed, with its run; `artifacts`: folder of the dossiers; `commands`:
    commands that reproduce the failure; `on_progress`: callback that receives the progress; `name`: name of
    the dossier in that folder; by default the scenario's. Returns its folder, and what could not be
    made, each in one line.
    """
    folder = artifacts / (name or result.case.scenario.name)
    if result.run is None:
        raise RunError(f"{folder}: no dossier, because the run ended with an error")
    working = folder.with_name(f"{folder.name}.incomplete")
    try:
        make_folder(artifacts)
        require_dossier(folder)
        with claim_folder(working, _holds_only_a_dossier):
            shutil.copytree(result.run, working / RUN)
            notes = _fill_dossier(working, result, commands, on_progress)
            if folder.exists():
                shutil.rmtree(folder)
            os.replace(working, folder)
    except FolderInUseError:
        raise RunError(f"{working}: another process is writing this dossier") from None
    except ForeignFolderError:
        raise RunError(f"{working}: holds more than a dossier; move or delete it first") from None
    except OSError as error:
        raise RunError(f"{error.filename or folder}: cannot write the dossier: {error.strerror}") from None
    return folder, notes


def _fill_dossier(
    folder: Path, result: CaseResult, commands: Sequence[str], on_progress: OnProgress
) -> list[str]:
    """Write everything into a folder that holds the run already; return what could not be made."""
    run, scenario, trace = folder / RUN, result.case.scenario, result.case.trace
    notes: list[str] = []
    text = "\n".join(commands) + "\n"
    (folder / COMMANDS).write_text(text, encoding="utf-8")
    metrics, rest = _write_metrics(folder, result)
    divergences = result.divergences or ()
    diverged = []
    for each in divergences:
        numbers = {key: plain_value(value) for key, value in each._asdict().items() if key != "channel"}
        diverged.append({"channel": each.channel.name, "unit": each.channel.unit, **numbers})
    counted = (
        {"trace": None} if result.divergences is None or trace is None else {"channels": len(trace.channels)}
    )
    (folder / "divergence.json").write_text(json_text({**counted, "diverged": diverged}), encoding="utf-8")
    clip = signals = ""
    if divergences and trace is not None:
        samples = read_samples(open_run(run))
        (folder / PLOTS).mkdir()
        by_signal: dict[str, list[Divergence]] = {}
        for each in divergences:
            by_signal.setdefault(each.channel.signal, []).append(each)
        lines = [describe_divergence(each) for each in divergences[:_LISTED]]
        if len(divergences) > _LISTED:
            lines.append(f"and {len(divergences) - _LISTED} more: divergence.json")
        listed = "".join(f"<li>{escape(line)}</li>" for line in lines)
        signals = f"<h2>Signals that diverged</h2><ul>{listed}</ul>"
        for signal, channels in list(by_signal.items())[:_DRAWN]:
            plot = folder / PLOTS / f"{re.sub(r'[^A-Za-z0-9_.-]', '_', signal)}.png"
            title = f"{scenario.name}: {signal}, {len(channels)} of its channels diverged"
            draw_divergence(trace, samples, channels, title, plot)
            data = base64.b64encode(plot.read_bytes()).decode()
            signals += f'<p><img alt="{escape(plot.stem)}" src="data:image/png;base64,{data}"></p>'
        try:
            on_progress("clip", 0, 1)
            write_clip(run, trace, divergences[0].time, folder / CLIP)
            on_progress("clip", 1, 1)
            clip = CLIP
        except (SimbenchError, RendererUnavailableError, UndrawableShapeError, OSError) as error:
            notes.append(f"no clip: {' '.join(str(error).split())}")
    try:
        write_report(read_reports([run], on_progress), run / "report.html")
    except SimbenchError as error:
        notes.append(f"no report of the run: {error}")
    title = f"{scenario.name} on {scenario.robot.name}"
    sections = [
        f"<h1>{escape(title)}: check failed</h1>",
        f'<p class="bad">{escape(headline(result))}</p>',
        *(f'<p class="note">{escape(note)}</p>' for note in notes),
        f'<video src="{escape(clip)}" controls loop muted></video>' if clip else "",
        signals,
        f'<h2>Metrics</h2>{metrics}<p class="note">{escape(rest)}</p>',
        f"<h2>Reproduce</h2><pre>{escape(text)}</pre>",
        '<p><a href="run/report.html">Report of the run</a></p>',
    ]
    style = files("simbench.runs").joinpath("dossier.css").read_text(encoding="utf-8")
    page = (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>\n{style}</style></head><body>\n" + "\n".join(filter(None, sections)) + "\n</body></html>\n"
    )
    (folder / PAGE).write_text(page, encoding="utf-8", errors="replace")
    return notes


def _write_metrics(folder: Path, result: CaseResult) -> tuple[str, str]:
    """Write the metrics of a failed run beside those of its baseline, as Markdown and JSON.

    The table has violated checks and metrics that changed, failures first. Returns the table as HTML, and a
    sentence about the metrics that are not in it.
    """
    rows: list[tuple[str, ...]] = [
        (check.name, "", format_number(check.value), "", f"check failed: must be {check.bound}")
        for check in result.failed_checks
    ]
    changed = [verdict for verdict in result.verdicts if verdict.outcome not in ("holds", "new")]
    for verdict in sorted(changed, key=lambda each: not each.failed):
        now = "" if verdict.outcome == "missing" else format_number(verdict.now)
        tolerance = format_tolerance(verdict.tolerance, verdict.better)
        words = {"worse": "worse", "better": "better", "missing": "missing in the run"}[verdict.outcome]
        words = "changed" if verdict.outcome == "worse" and verdict.better == "same" else words
        rows.append((verdict.name, format_number(verdict.was), now, tolerance, words))
    held = sum(verdict.outcome == "holds" for verdict in result.verdicts)
    new = sum(verdict.outcome == "new" for verdict in result.verdicts)
    rest = f"{held} metrics hold their tolerance." + (f" {new} are not in the baseline." if new else "")
    lines, html = [], ""
    for row in (_HEADS, *rows) if rows else ():
        lines.append("| " + " | ".join(printable(cell).replace("|", "\\|") for cell in row) + " |")
        tag = "th" if row is _HEADS else "td"
        html += "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) + "</tr>"
    lines.insert(1, "|---|---:|---:|---:|---|")
    table = lines if rows else []
    (folder / "metrics_diff.md").write_text("\n".join([*table, "", rest]).lstrip() + "\n", encoding="utf-8")
    entries = {
        "metrics": {
            each.name: {
                "baseline": each.was,
                "now": each.now,
                "tolerance": each.tolerance if math.isfinite(each.tolerance) else None,
                "better": each.better,
                "outcome": each.outcome,
            }
            for each in result.verdicts
        },
        "checks": {each.name: {"now": each.value, "must_be": each.bound} for each in result.failed_checks},
    }
    (folder / "metrics_diff.json").write_text(json_text(entries), encoding="utf-8")
    return f"<table>{html}</table>" if rows else "", rest


def require_dossier(folder: Path) -> None:
    """Refuse a folder, if it is there, that holds more than a dossier, which would be replaced."""
    if folder.exists() and not _holds_only_a_dossier(folder):
        raise RunError(f"{folder}: holds more than a dossier; move or delete it first")


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


def write_clip(run: Path, trace: Trace, moment: float, path: Path) -> tuple[float, float]:
    """Draw a run and its baseline side by side around a moment.

    The baseline is posed from its trace, linearly between its samples. `run`: run directory; `trace`:
    trace of the baseline; `moment`: time in the middle of the clip, s; `path`: file to write,
    ending in `.mp4`. Returns `start`, `end`: part of the run that it shows, s. Raises RunError, ScenarioError
    if the run has nothing to draw, or the clip cannot be written. Raises RendererUnavailableError if there is
    no renderer.
    """
    end = min(float(open_run(run).time[-1]), max(moment - _BEFORE, 0.0) + LENGTH)
    start = max(0.0, end - LENGTH)
    scene = load_video_scene(run, View(start=start, end=end), RATE)
    height = 2 * round(0.5 * WIDTH * scene.camera.height / scene.camera.width)
    camera = replace(scene.camera, width=WIDTH, height=height, fps=RATE)
    mine = replace(scene.frames, balance=None)
    theirs = pose_trace(trace, scene.robot, scene.mechanisms, scene.times)
    count = range(len(scene.times))
    left, _ = draw_pictures(scene.robot, scene.mechanisms, mine, camera, count)
    right, _ = draw_pictures(scene.robot, scene.mechanisms, theirs, camera, count)
    canvas = replace(camera, width=2 * WIDTH, height=height + _BAR)
    font = ImageFont.load_default(16)
    try:
        with (
            whole_file(path, keep_suffix=True) as part,
            open_encoder(part, canvas, "rgb24") as encoder,
            os.fdopen(os.dup(encoder.input), "wb") as stream,
        ):
            for time, panels in zip(scene.times, zip(left, right, strict=True), strict=True):
                # Two pictures side by side under a bar that names them and shows the time.
                sheet = Image.new("RGB", (2 * WIDTH, height + _BAR), _PAPER)
                for number, picture in enumerate(panels):
                    sheet.paste(Image.fromarray(picture), (number * WIDTH, _BAR))
                drawing, late = ImageDraw.Draw(sheet), time >= moment
                words = f"run  {time:.2f} s" + (f"  diverged at {moment:.2f} s" if late else "")
                drawing.text((8, 5), words, fill=_ALARM if late else _INK, font=font)
                drawing.text((WIDTH + 8, 5), f"baseline  {time:.2f} s", fill=_INK, font=font)
                drawing.line([(WIDTH, 0), (WIDTH, sheet.height)], fill=_INK, width=2)
                stream.write(sheet.tobytes())
    except OSError as error:
        raise RunError(f"{path}: cannot write the clip: {error.strerror or error}") from error
    return start, end


def pose_trace(trace: Trace, robot: Robot, mechanisms: list[Mechanism], times: Array) -> Frames:
    """Pose robot and equipment as the baseline had them. `times` (F,): times of the frames, s."""
    column = {channel.name: index for index, channel in enumerate(trace.channels)}

    def curves(*names: str) -> Array:
        for name in names:
            if name not in column:
                raise RunError(f"the trace of the baseline has no {name}, which is needed to draw it")
        values = [np.interp(times, trace.time, trace.values[:, column[name]]) for name in names]
        return np.stack(values, axis=1) if values else np.empty((len(times), 0))

    def pose(signal: str) -> Array:
        found = curves(*(f"{signal}.{label}" for label in POSE))
        found[:, 3:] /= np.linalg.norm(found[:, 3:], axis=1, keepdims=True)
        return found

    return Frames(
        pose("base"),
        curves(*(f"joint_position.{name}" for name in robot.joint_names)),
        {each.name: curves(*(f"{each.name}_{joint.name}" for joint in each.joints)) for each in mechanisms},
        None,
        {each.name: pose(f"{each.name}_stand") for each in mechanisms if each.standing},
    )
