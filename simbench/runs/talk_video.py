"""Videos for a talk: runs side by side, captions over time, and title cards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simbench.errors import RunError
from simbench.files.text import printable, read_text
from simbench.files.yaml_document import parse_yaml
from simbench.kinematics.arrays import Array
from simbench.runs.log import open_run
from simbench.runs.metric_catalogue import format_value, unit_of
from simbench.runs.report.run_report import differing_keys, run_labels
from simbench.runs.run_directory import incomplete_reason, read_metrics
from simbench.runs.scenario.loading import load_finished
from simbench.runs.video import (
    ANIMATIONS,
    OnProgress,
    VideoScene,
    View,
    load_video_scene,
    render_video,
    video_path,
)
from simbench.sim.rendering.camera import Renderer, open_pictures, write_pictures
from simbench.sim.rendering.drawing_process import default_processes
from simbench.sim.rendering.scene_view import BACKGROUND, Camera

if TYPE_CHECKING:
    import xarray as xr

MOST_RUNS = 2
TITLE_S = 2.0  # Time for which a title card is shown, s.
# Least ratio of the width to the height that a panel shows: a narrower one is seen from farther away.
_LEAST_ASPECT = 1.1
_MOST_KEYS = 2  # Number of keys in which scenarios differ up to which they name the runs.
_LONGEST_VALUE = 32
# Sections of a scenario that do not change the simulation.
_NOT_SHOWN = ("name", "summary", "checks", "camera")
_OWN = ("target_m", "distance_m", "overlays")  # Camera keys in which the panels may differ.
_DIVIDER = 2  # Width of the line between two panels, pixels.
MOST_VALUES = 2  # Number of values that a caption shows at most.
_THOUSANDTHS = {"m": ("mm", 1), "rad": ("mrad", 2)}  # Unit and decimals of small values, by their unit.
_SMALL = 0.5  # Largest value that is shown in thousandths, m or rad.
Picture = NDArray[np.uint8]
# A run in the picture: what it shows, its label and the times beside it, its caption, when it ends.
Panel: TypeAlias = "tuple[VideoScene, str | None, list[str], Caption | None, float]"

_INK, _BAR, _DIM = (245, 246, 248), (22, 25, 30), (168, 173, 180)
_BAR_OPACITY = 0.72
_TITLE_INK = (30, 33, 38)
# Least height of a caption's letters, pixels, and rows of the picture for each pixel of their height.
_LEAST_TEXT, _ROWS_PER_TEXT = 13, 26
# Least height of letters in one line, and least distance of its items, in usual heights and in heights.
_LEAST_SHARE, _GAP = 0.7, 1.2
_SMALLEST = 8  # Height of letters below which a text is cut, pixels.


@dataclass(frozen=True)
class Decoration:
    """What is added to the pictures of runs."""

    caption: tuple[str, ...] = ()  # Names of at most two metrics or signals that are shown with the time.
    title: str | None = None  # Text of the title card; there is none by default.


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


def _load_panels(folders: Sequence[Path], view: View, names: Sequence[str]) -> tuple[Camera, list[Panel]]:
    """Read what each run shows, and the size and rate of the whole picture."""
    pair = len(folders) > 1
    first = load_video_scene(folders[0], view, may_end_before=pair)
    scenes = [first]
    rate = first.camera.fps / view.speed
    for folder in folders[1:]:
        # Another run has the camera of the first, but for the place.
        camera = load_finished(folders[0], view.overrides).camera.model_dump()
        shared = [
            f"camera.{key}={'null' if value is None else str(value).lower()}"
            for key, value in camera.items()
            if key not in _OWN
        ]
        own = replace(view, overrides=(*view.overrides, *shared))
        scene = load_video_scene(folder, own, rate, may_end_before=True)
        scenes.append(replace(scene, camera=replace(scene.camera, fps=first.camera.fps)))
    ends = [float(open_run(folder).time.values[-1]) for folder in folders]
    if pair:
        latest = max(ends)
        if view.end is not None and view.end > latest:
            raise RunError(f"--end {view.end:g}: allowed: up to {latest:g} s, the end of the longer run")
        fixed = any(override.startswith("camera.distance_m=") for override in view.overrides)
        # Each scene has a panel of the picture, at one scale and height.
        width, height = (first.camera.width - _DIVIDER) // len(scenes), first.camera.height
        farther = 1.0 if fixed else max(1.0, _LEAST_ASPECT * height / width)
        distance = farther * max(scene.camera.distance_m for scene in scenes)
        level = float(np.mean([scene.camera.target_m[2] for scene in scenes]))
        for number, scene in enumerate(scenes):
            x, y, _ = scene.camera.target_m
            panel = replace(
                scene.camera, width=width, height=height, distance_m=distance, target_m=(x, y, level)
            )
            scenes[number] = replace(scene, camera=panel)
    labels: Sequence[str | None] = _label_runs(folders) if pair else [None]
    panels = []
    for folder, scene, label, end in zip(folders, scenes, labels, ends, strict=True):
        clock, caption = [], None
        if names:
            clock, *items = caption_texts(folder, open_run(folder), names, scene.times)
            # Beside a label, there is room for the time.
            items = items if label is not None else [clock, *items]
            caption = Caption(items, scene.camera.width, scene.camera.height)
        panels.append((scene, label, clock, caption, end))
    return first.camera, panels


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
    named: list[list[str]] = [[] for _ in folders]
    for key, values in differing.items():
        for label, value in zip(named, values, strict=True):
            plain = str(value).lower() if isinstance(value, bool) else printable(str(value))
            text = "none" if value is None else plain
            short = text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 1]}…"
            label.append(f"{key}: {short}")
    return [", ".join(label) for label in named]


@contextlib.contextmanager
def _composed(
    panels: Sequence[Panel], on_progress: OnProgress, whole: Camera, title: str | None
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
            count = max(len(scene.times) for scene, *_ in panels)
            last: list[Picture | None] = [None] * len(panels)
            for frame in range(count):
                parts = []
                for number, (scene, label, clock, caption, end) in enumerate(panels):
                    here = len(scene.times)
                    # The run that ends first holds its last picture.
                    last[number] = next(streams[number], last[number])
                    held = last[number]
                    assert held is not None
                    part = held.copy()
                    if caption is not None:
                        caption.draw(part, min(frame, here - 1))
                    if label is not None:
                        time = clock[min(frame, here - 1)] if clock else ""
                        aside = f"ended at {end:.2f} s" if frame >= here else time
                        draw_label(part, label, aside, dimmed=frame >= here)
                    parts.append(part)
                height, width = parts[0].shape[:2]
                row = np.full((height, whole.width, 3), 255, np.uint8)
                for number, part in enumerate(parts):
                    # A spare column of an odd width belongs to the line between the pictures.
                    left = number * (whole.width - width)
                    row[:, left : left + width] = part
                yield row
                on_progress("video", frame + 1, count)
            # What is left of the streams tells whether drawing has failed.
            for stream in streams:
                for _ in stream:
                    pass

        yield pictures(), ", ".join(dict.fromkeys(renderers))


def _joint_errors(log: xr.Dataset, flag: str) -> Array:
    """Absolute errors (T, n) of the joints that count, rad."""
    counted = log["is_arm"].values if flag == "is_arm" else ~log["is_grip"].values
    return np.asarray(np.abs((log["joint_position"] - log["joint_reference"]).values[:, counted]))


def _rms(values: Array) -> Array:
    return np.asarray(np.sqrt(np.mean(values**2, axis=1)))


def _hand_error(log: xr.Dataset, *, largest: bool) -> Array:
    """RMS or largest distance of the palms from the actor's while in contact (T,), m; NaN otherwise."""
    distance = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
    errors = np.where(log["hand_contact"].values, distance, np.nan)
    count = np.isfinite(errors).sum(axis=1)
    if largest:
        greatest = np.max(np.where(np.isfinite(errors), errors, -np.inf), axis=1, initial=-np.inf)
        return np.where(greatest >= 0.0, greatest, np.nan)
    return np.sqrt(np.where(count > 0, np.nansum(errors**2.0, axis=1) / np.maximum(count, 1), np.nan))


def _distance(log: xr.Dataset, measured: str, desired: str) -> Array:
    return np.asarray(np.linalg.norm(log[measured].values[:, :2] - log[desired].values, axis=1))


_ERRORS = ("joint_position", "joint_reference")
_HANDS = ("palm_position", "palm_actor", "hand_contact")
# Metrics whose value at each moment is shown instead of that of the whole run. Name in a caption, variables
# of the log that are needed, and function that computes the value (T,) at each sample.
OVER_TIME: dict[str, tuple[str, tuple[str, ...], Callable[[xr.Dataset], Array]]] = {
    "tracking.rms_rad": (
        "joint error, RMS",
        (*_ERRORS, "is_grip"),
        lambda log: _rms(_joint_errors(log, "is_grip")),
    ),
    "tracking.max_rad": (
        "largest joint error",
        (*_ERRORS, "is_grip"),
        lambda log: _joint_errors(log, "is_grip").max(axis=1),
    ),
    "tracking.arms_rms_rad": (
        "arm joint error, RMS",
        (*_ERRORS, "is_arm"),
        lambda log: _rms(_joint_errors(log, "is_arm")),
    ),
    "zmp.min_margin_m": ("ZMP margin", ("zmp_margin",), lambda log: log["zmp_margin"].values),
    "zmp.rms_m": ("ZMP error", ("zmp", "zmp_desired"), lambda log: _distance(log, "zmp", "zmp_desired")),
    "cog.rms_m": ("COG error", ("cog", "cog_desired"), lambda log: _distance(log, "cog", "cog_desired")),
    "hands.rms_m": ("hand error, RMS", _HANDS, lambda log: _hand_error(log, largest=False)),
    "hands.max_m": ("largest hand error", _HANDS, lambda log: _hand_error(log, largest=True)),
}
_TITLES = {"zmp_margin": "ZMP margin"}  # Names in a caption of variables whose name is not plain text.


def caption_names(given: Sequence[str]) -> tuple[str, ...]:
    """Read the names that `--caption` gives, each text with names that commas separate."""
    names = tuple(name.strip() for text in given for name in text.split(","))
    if len(names) > MOST_VALUES or not all(names):
        raise RunError(
            f"--caption {','.join(given)}: allowed: one or two names, such as "
            "zmp.min_margin_m,tracking.rms_rad"
        )
    return names


def caption_texts(folder: Path, log: xr.Dataset, names: Sequence[str], times: Array) -> list[list[str]]:
    """Write the items of a caption at each frame.

    `folder`: run directory; `names`: metrics, or variables of the log with one value a sample; `times` (F,):
    times of the frames in the time of the run, s. Returns F texts of the time, then F texts of each name.
    Raises RunError if the run has no such metric and no such variable.
    """
    chosen = np.clip(np.searchsorted(log.time.values, times - 1e-9), 0, log.sizes["time"] - 1)
    signals = [
        str(name)
        for name, variable in log.data_vars.items()
        if variable.dims == ("time",) and variable.dtype.kind in "iuf"
    ]
    items = [[f"t = {time:.2f} s" for time in times]]
    for name in names:
        title, needed, compute = OVER_TIME.get(name, ("", (), None))
        if compute is not None and all(each in log.variables for each in needed):
            unit, values = unit_of(name), np.asarray(compute(log), dtype=float)
        elif name in signals:
            title = _TITLES.get(name, name.replace("_", " "))
            unit, values = str(log[name].attrs["units"]), log[name].values.astype(float)
        else:
            metrics = {} if incomplete_reason(folder) is not None else read_metrics(folder)
            if name not in metrics:
                allowed = ", ".join(["its metrics (metrics.json)", *sorted(signals)])
                raise RunError(f"{folder}: --caption {name}: no such metric or signal; allowed: {allowed}")
            text = f"{name} {format_value(metrics[name])} {unit_of(name)}".rstrip() + " (whole run)"
            items.append([text] * len(times))
            continue
        # As many digits as the largest of the run needs, so that a caption does not jump.
        largest = float(np.abs(values[np.isfinite(values)]).max(initial=0.0))
        digits = 3 if largest < 1.0 else 2 if largest < 10.0 else 1 if largest < 1000.0 else 0
        shown = values[chosen]
        if unit in _THOUSANDTHS and largest <= _SMALL:
            shown = 1000.0 * shown
            unit, digits = _THOUSANDTHS[unit]
        texts = [f"{value:.{digits}f} {unit}".rstrip() if np.isfinite(value) else "none" for value in shown]
        items.append([f"{title} {text}" for text in texts])
    return items


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size)


def text_size(height: int) -> int:
    """Choose the height of a caption's letters.

    `height`: height of the picture, pixels. Returns pixels: legible in small pictures, and in proportion to
    large ones.
    """
    return max(_LEAST_TEXT, round(height / _ROWS_PER_TEXT))


class Caption:
    """A bar with the time and values along the lower edge of pictures, laid out once for all of them.

    `items`: texts of each item in each frame; `width`, `height`: size of the pictures, pixels.
    """

    def __init__(self, items: list[list[str]], width: int, height: int) -> None:
        self._items = items
        usual = self._size = text_size(height)
        # One line hides less of the picture, if its letters need not be much smaller.
        while not self._fits_one_line(width) and self._size > max(_LEAST_TEXT, _LEAST_SHARE * usual):
            self._size -= 1
        self._one_line = self._fits_one_line(width)
        if not self._one_line:
            self._size = usual
            while max(self._widths()) + self._size > width and self._size > _SMALLEST:
                self._size -= 1
        widths = self._widths()
        step = round(1.35 * self._size)
        self._height = min(height, step * (1 if self._one_line else len(items)) + round(0.55 * self._size))
        spare = (width - sum(widths)) / (len(widths) + 1)
        starts = np.cumsum([0.0, *widths[:-1]]) + spare * (1 + np.arange(len(widths)))
        middle = 0.5 * (self._height - step * (1 if self._one_line else len(items)))
        self._places = [
            (starts[k], middle + 0.5 * step)
            if self._one_line
            else (0.5 * self._size, middle + (k + 0.5) * step)
            for k in range(len(items))
        ]

    def draw(self, picture: Picture, frame: int) -> None:
        """Draw the bar of a frame over its picture.

        `picture` (height, width, 3) of uint8: picture to change; `frame`: index of the frame.
        """
        texts = [(place, item[frame], _INK) for place, item in zip(self._places, self._items, strict=True)]
        _draw_bar(picture[len(picture) - self._height :], texts, self._size)

    def _fits_one_line(self, width: int) -> bool:
        widths = self._widths()
        return sum(widths) + _GAP * self._size * (len(widths) + 1) <= width

    def _widths(self) -> list[float]:
        return [max(_font(self._size).getlength(text) for text in set(item)) for item in self._items]


def draw_label(picture: Picture, text: str, aside: str = "", *, dimmed: bool) -> None:
    """Draw the label of a run along the upper edge of its picture.

    `picture` (height, width, 3) of uint8: picture to change; `aside`: text on the right, such as the time;
    `dimmed`: whether the run has ended.
    """
    height, width = picture.shape[:2]
    size = text_size(height)
    widest = f"{text}   {aside}" if aside else text
    while _font(size).getlength(widest) + size > width and size > _SMALLEST:
        size -= 1
    strip = picture[: round(1.9 * size)]
    ink, middle = _DIM if dimmed else _INK, 0.5 * len(strip)
    right = width - 0.5 * size - _font(size).getlength(aside)
    _draw_bar(strip, [((0.5 * size, middle), text, ink), ((right, middle), aside, ink)], size)


def title_card(text: str, width: int, height: int) -> Picture:
    """Draw a title card.

    `text`: the title; it is broken into lines where it is too long for one; `width`, `height`: size, pixels.
    Returns (height, width, 3) of uint8.
    """
    card = Image.new("RGB", (width, height), (BACKGROUND, BACKGROUND, BACKGROUND))
    size = max(_LEAST_TEXT, round(height / 11))
    lines = _break(text, _font(size), 0.86 * width)
    while size > _SMALLEST and (
        1.3 * size * len(lines) > 0.86 * height
        or max(_font(size).getlength(line) for line in lines) > 0.86 * width
    ):
        size -= 1
        lines = _break(text, _font(size), 0.86 * width)
    pen = ImageDraw.Draw(card)
    for number, line in enumerate(lines):
        row = 0.5 * height + 1.3 * size * (number - 0.5 * (len(lines) - 1))
        pen.text((0.5 * width, row), line, _TITLE_INK, _font(size), anchor="mm")
    return np.array(card)


def _break(text: str, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: float) -> list[str]:
    """Break a text between words into lines of at most a width, pixels, if they are not longer."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _draw_bar(
    strip: Picture, texts: Sequence[tuple[tuple[float, float], str, tuple[int, int, int]]], size: int
) -> None:
    """Darken a part of a picture, and write on it."""
    strip[:] = np.rint((1.0 - _BAR_OPACITY) * strip + _BAR_OPACITY * np.array(_BAR))
    bar = Image.fromarray(strip)
    pen = ImageDraw.Draw(bar)
    for place, text, ink in texts:
        pen.text(place, text, ink, _font(size), anchor="lm")
    strip[:] = np.asarray(bar)
