"""Videos that are put together from drawn pictures: runs side by side, captions, title cards."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simbench.errors import RunError
from simbench.files.text import printable, read_text
from simbench.files.yaml_document import parse_yaml
from simbench.runs.log import open_run
from simbench.runs.report.report import differing_keys, run_labels
from simbench.runs.scenario.loading import load_finished
from simbench.runs.talk_video.caption import caption_names, caption_texts
from simbench.runs.talk_video.lettering import Caption, Picture, draw_label, title_card
from simbench.runs.video import (
    ANIMATIONS,
    OnProgress,
    VideoScene,
    View,
    load_video_scene,
    render_video,
    video_path,
)
from simbench.sim.rendering.camera import Camera, Renderer, open_pictures, write_pictures
from simbench.sim.rendering.drawing_process import default_processes

MOST_RUNS = 2
TITLE_S = 2.0
"""Time for which a title card is shown, s."""
_LEAST_ASPECT = 1.1
"""Least ratio of the width to the height that a panel shows: a narrower one is seen from farther away."""
_MOST_KEYS = 2
"""Number of keys in which scenarios differ up to which they name the runs."""
_LONGEST_VALUE = 32
_NOT_SHOWN = ("name", "summary", "checks", "camera")
"""Sections of a scenario that do not change the simulation."""
_OWN = ("target_m", "distance_m", "overlays")
"""Camera keys in which the panels may differ."""
_DIVIDER = 2
"""Width of the line between two panels, pixels."""


@dataclass(frozen=True)
class Decoration:
    """What is added to the pictures of runs."""

    caption: tuple[str, ...] = ()  # Names of at most two metrics or signals that are shown with the time.
    title: str | None = None  # Text of the title card; there is none by default.


class _Panel(NamedTuple):
    """A run in the picture: what it shows, its label and the times beside it, its caption, when it ends."""

    scene: VideoScene
    label: str | None
    clock: list[str]
    caption: Caption | None
    ends: float


def render_talk_video(
    folders: Sequence[Path],
    out: Path | None = None,
    *,
    on_progress: OnProgress,
    view: View | None = None,
    decoration: Decoration | None = None,
) -> tuple[Path, Renderer]:
    """Render a video of one run or of two side by side, with captions and a title card.

    Two runs have one clock and one kind of camera: direction, field of view, distance and height are equal.
    The run that ends first holds its last frame, and its label says so. `folders`: one or two run
    directories; `out`: file to write, ending in `.mp4`, `.gif` or `.webp`; `video.mp4` in the directory of a
    single run by default; `on_progress`: callback that receives the progress; `view`: part of the runs, speed
    and camera; by default all of the longer one as the first one's scenario shows it; `decoration`: caption
    and title; none by default. Returns `path`: file of the video; `renderer`: renderer that drew it.
    """
    if not 1 <= len(folders) <= MOST_RUNS:
        raise RunError(f"{len(folders)} runs: a video shows one run, or {MOST_RUNS} side by side")
    if len(folders) > 1 and out is None:
        raise RunError("a video of two runs belongs to neither directory: give its name by --out FILE")
    path = video_path(folders[0], out)
    view, decoration = view or View(), decoration or Decoration()
    if len(folders) == 1 and decoration == Decoration():
        # Drawn directly in the colours of the video, and only where it changes.
        return render_video(folders[0], path, on_progress=on_progress, view=view)
    view = replace(view, animation=path.suffix in ANIMATIONS)
    names = caption_names(decoration.caption) if decoration.caption else ()
    whole, panels = _load_panels(folders, view, names)
    with _composed(panels, on_progress, whole, decoration.title) as (pictures, renderer):
        write_pictures(path, pictures, whole)
    return path, renderer


def _load_panels(folders: Sequence[Path], view: View, names: Sequence[str]) -> tuple[Camera, list[_Panel]]:
    """Read what each run shows, and the size and rate of the whole picture."""
    pair = len(folders) > 1
    first = load_video_scene(folders[0], view, may_end_before=pair)
    scenes = [first]
    rate = first.camera.fps / view.speed
    for folder in folders[1:]:
        shared = _camera_overrides(folders[0], view)
        own = replace(view, overrides=(*view.overrides, *shared))
        scene = load_video_scene(folder, own, rate, may_end_before=True)
        scenes.append(replace(scene, camera=replace(scene.camera, fps=first.camera.fps)))
    ends = [float(open_run(folder).time.values[-1]) for folder in folders]
    if pair:
        latest = max(ends)
        if view.end is not None and view.end > latest:
            raise RunError(f"--end {view.end:g}: allowed: up to {latest:g} s, the end of the longer run")
        fixed = any(override.startswith("camera.distance_m=") for override in view.overrides)
        scenes = _fit_panels(scenes, keep_distance=fixed)
    labels: Sequence[str | None] = _label_runs(folders) if pair else [None]
    panels = []
    for folder, scene, label, end in zip(folders, scenes, labels, ends, strict=True):
        clock, caption = [], None
        if names:
            clock, *items = caption_texts(folder, open_run(folder), names, scene.times)
            # Beside a label, there is room for the time.
            items = items if label is not None else [clock, *items]
            caption = Caption(items, scene.camera.width, scene.camera.height)
        panels.append(_Panel(scene, label, clock, caption, end))
    return first.camera, panels


def _camera_overrides(folder: Path, view: View) -> list[str]:
    """Texts that give another run the camera of the first, but for the place."""
    section = load_finished(folder, view.overrides).camera.model_dump()
    return [
        f"camera.{key}={'null' if value is None else str(value).lower()}"
        for key, value in section.items()
        if key not in _OWN
    ]


def _fit_panels(scenes: Sequence[VideoScene], *, keep_distance: bool) -> list[VideoScene]:
    """Give each scene a panel of the picture, at one scale and height."""
    width = (scenes[0].camera.width - _DIVIDER) // len(scenes)
    height = scenes[0].camera.height
    farther = 1.0 if keep_distance else max(1.0, _LEAST_ASPECT * height / width)
    distance = farther * max(scene.camera.distance_m for scene in scenes)
    level = float(np.mean([scene.camera.target_m[2] for scene in scenes]))
    fitted = []
    for scene in scenes:
        x, y, _ = scene.camera.target_m
        camera = replace(
            scene.camera, width=width, height=height, distance_m=distance, target_m=(x, y, level)
        )
        fitted.append(replace(scene, camera=camera))
    return fitted


def _label_runs(folders: Sequence[Path]) -> list[str]:
    """Name runs by what differs in their scenarios, if that is little, else by their directories."""
    texts = [(folder / "scenario.yaml", read_text(folder / "scenario.yaml", RunError)) for folder in folders]
    scenarios: list[dict[str, Any]] = [parse_yaml(text, str(path), RunError).value for path, text in texts]
    shown = [
        {key: value for key, value in scenario.items() if key not in _NOT_SHOWN} for scenario in scenarios
    ]
    differing = differing_keys(shown)
    if not 1 <= len(differing) <= _MOST_KEYS:
        return [printable(label) for label in run_labels(folders)]
    return [
        ", ".join(f"{key}: {_short(values[number])}" for key, values in differing.items())
        for number in range(len(folders))
    ]


def _short(value: Any) -> str:
    """Write a scenario's value in a few letters."""
    text = (
        "none" if value is None else str(value).lower() if isinstance(value, bool) else printable(str(value))
    )
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"


@contextlib.contextmanager
def _composed(
    panels: Sequence[_Panel], on_progress: OnProgress, whole: Camera, title: str | None
) -> Iterator[tuple[Iterator[Picture], Renderer]]:
    """Draw all runs at the same time, and put their pictures together."""
    processes = max(1, default_processes() // len(panels))
    with contextlib.ExitStack() as stack:
        streams, renderers = [], []
        for scene, *_ in panels:
            stream, renderer = stack.enter_context(
                open_pictures(
                    scene.robot,
                    scene.mechanisms,
                    scene.frames,
                    scene.camera,
                    shadows=scene.shadows,
                    processes=processes,
                )
            )
            streams.append(stream)
            renderers.append(renderer)

        def pictures() -> Iterator[Picture]:
            if title is not None:
                card = title_card(printable(title), whole.width, whole.height)
                for _ in range(round(TITLE_S * whole.fps)):
                    yield card
            count = max(len(panel.scene.times) for panel in panels)
            for frame, parts in enumerate(_advance(panels, streams, count)):
                yield _side_by_side(parts, whole.width)
                on_progress("video", frame + 1, count)

        yield pictures(), ", ".join(dict.fromkeys(renderers))


def _advance(
    panels: Sequence[_Panel], streams: Sequence[Iterator[Picture]], count: int
) -> Iterator[list[Picture]]:
    """Take the next picture of each run, or hold its last one."""
    last: list[Picture | None] = [None] * len(panels)
    for frame in range(count):
        parts = []
        for number, panel in enumerate(panels):
            here = len(panel.scene.times)
            last[number] = next(streams[number], last[number])
            held = last[number]
            assert held is not None
            part = held.copy()
            ended = frame >= here
            if panel.caption is not None:
                panel.caption.draw(part, min(frame, here - 1))
            if panel.label is not None:
                clock = panel.clock[min(frame, here - 1)] if panel.clock else ""
                aside = f"ended at {panel.ends:.2f} s" if ended else clock
                draw_label(part, panel.label, aside, dimmed=ended)
            parts.append(part)
        yield parts
    # What is left of the streams tells whether drawing has failed.
    for stream in streams:
        for _ in stream:
            pass


def _side_by_side(parts: Sequence[Picture], width: int) -> Picture:
    """Put pictures of one size into a row with a line between them."""
    height, each = parts[0].shape[:2]
    row = np.full((height, width, 3), 255, np.uint8)
    for number, part in enumerate(parts):
        # A spare column of an odd width belongs to the line.
        left = number * (width - each)
        row[:, left : left + each] = part
    return row
