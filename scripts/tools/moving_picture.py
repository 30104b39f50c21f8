"""The moving picture: scenes of runs, one after another, as an animated WebP file that repeats."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from strip_drawing import frame_run, save_small

from simbench.runs.log import open_run
from simbench.runs.video import VideoScene, View, load_video_scene
from simbench.sim.rendering.camera import draw_pictures
from simbench.sim.rendering.scene_view import Camera

FPS = 15
"""Pictures per second."""
SIZE = 720, 406
"""Width and height, pixels."""
QUALITY = 85
"""Of WebP, 0 to 100."""
LARGEST = 3_000_000
"""Size of the file, bytes."""
INK = (60, 60, 60)
FRAMED = 6
"""Number of moments of a scene at which robot and equipment must fit into the picture."""


@dataclass(frozen=True)
class Scene:
    """Part of the runs of scenarios, side by side, with a title on each.

    Parameters
    ----------
    titles : {scenario: title}
        Scenarios from left to right, each with what it overrides, and what is written above each.
    shows : `first stroke` or `end`
        Whether the scene begins with the first stroke of the first run, or ends with its log.
    lasts : float
        Duration in the time of the run, s.
    speed : float
        Ratio of the run's time to the picture's.
    """

    titles: dict[str, str]
    shows: Literal["first stroke", "end"]
    lasts: float
    speed: float


SCENES = (
    Scene({"drawer": "ROMEO opens and closes a drawer as a person did"}, "first stroke", 2.6, 1.2),
    Scene({"valves": "... and turns two valves (3 times as fast)"}, "first stroke", 6.0, 3.0),
    Scene(
        {
            "mahru_arms_forward balance.embedding.cog=false": "Mahru: the COG of resting arms is measured",
            "mahru_arms_forward": "balance with motion embedding",
        },
        "end",
        2.2,
        1.0,
    ),
)


def draw_moving_picture(find_run: Callable[[str], Path], path: Path) -> None:
    """Draw all scenes, one after another, and the middle of the first as a still picture.

    Parameters
    ----------
    find_run : callable
        Finds the run directory of a scenario by its name and what it overrides.
    path : Path
        File to write, to which `.webp` and `.png` are appended.
    """
    scenes = [_draw_scene({name: find_run(name) for name in scene.titles}, scene) for scene in SCENES]
    save_small(scenes[0][len(scenes[0]) // 2], path.with_suffix(".png"))
    first, *others = [picture for pictures in scenes for picture in pictures]
    target = path.with_suffix(".webp")
    first.save(
        target,
        save_all=True,
        append_images=others,
        duration=round(1000 / FPS),
        loop=0,
        quality=QUALITY,
        method=4,
    )
    size = target.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{target}: {size} bytes, at most {LARGEST}")


def _draw_scene(runs: dict[str, Path], scene: Scene) -> list[Image.Image]:
    """Draw every picture of a scene, its runs side by side."""
    log = open_run(next(iter(runs.values())))
    last = float(log.time.values[-1])
    start = float(log["strokes"].values[0, 0]) if scene.shows == "first stroke" else last - scene.lasts
    view = View(start=start, end=min(start + scene.lasts, last), speed=scene.speed)
    loaded = [load_video_scene(run, view, FPS / view.speed) for run in runs.values()]
    count = len(loaded[0].times)
    spread = np.linspace(0, count - 1, FRAMED).round().astype(int).tolist()
    # The first run's camera for all: what is side by side has the same scale.
    (camera, *_) = frame_run(loaded[0], spread, SIZE[0] // len(runs), SIZE[1], together=True)
    panels = [
        _draw_run(each, camera, title) for each, title in zip(loaded, scene.titles.values(), strict=True)
    ]
    pictures = []
    for images in zip(*panels, strict=True):
        picture = Image.new("RGB", SIZE)
        for column, image in enumerate(images):
            picture.paste(image, (column * image.width, 0))
        pictures.append(picture)
    return pictures


def _draw_run(run: VideoScene, camera: Camera, title: str) -> list[Image.Image]:
    """Draw every frame of a run with its title."""
    drawn, _ = draw_pictures(run.robot, run.mechanisms, run.frames, camera, range(len(run.times)))
    pictures = [Image.fromarray(picture) for picture in drawn]
    for picture in pictures:
        # Above what fills the picture.
        ImageDraw.Draw(picture).text((14, 3), title, INK, ImageFont.load_default(17))
    return pictures
