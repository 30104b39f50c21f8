"""Replay of a finished run in Bullet's window, in real time."""

import time as clock
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simbench.runs.video import VideoScene, View, load_video_scene
from simbench.sim.engine import open_picture_engine
from simbench.sim.rendering.scene_renderer import Scene, open_window, pose_scene, pressed_keys

FRAME_RATE = 60.0
"""Frame rate of the window, 1/s."""
JUMP = 1.0
"""Time of the run by which the arrow keys jump forward and back, s."""


@dataclass(frozen=True)
class Playhead:
    """State of the player: which moment is shown, and what happens next."""

    time: float = 0.0  # Time of the run since the first frame, s.
    paused: bool = False  # Whether time stands still.
    looping: bool = False  # Whether the player begins again at every end.
    ended: bool = False  # Whether the player is to end.


def advance_playhead(head: Playhead, keys: Collection[str], elapsed: float, length: float) -> Playhead:
    """Advance a playhead by the keys pressed and the time elapsed.

    `head`: state before; `keys`: keys pressed since: `space` pauses and continues, `left` and `right` jump
    back and forward, `r` begins again, `l` switches looping, `q` ends; `elapsed`: time of the run by which it
    advances unless it is paused, s; `length`: time of the last frame, s; without looping the playhead stays
    there. Returns state after.
    """
    paused = head.paused != ("space" in keys)
    looping = head.looping != ("l" in keys)
    time = 0.0 if "r" in keys else head.time + JUMP * (("right" in keys) - ("left" in keys))
    time = max(0.0, time) + (0.0 if paused else elapsed)
    if time > length:
        time = time % length if looping and length > 0.0 else length
    return replace(head, time=time, paused=paused, looping=looping, ended="q" in keys)


def play_scene(
    video: VideoScene,
    window: Scene,
    head: Playhead,
    speed: float,
    *,
    keys: Callable[[Scene], Collection[str]] = pressed_keys,
    now: Callable[[], float] = clock.perf_counter,
    sleep: Callable[[float], None] = clock.sleep,
) -> None:
    """Show frames at their times until `q` is pressed or the window is closed.

    `head`: initial state; `speed`: ratio of the run's time to the clock; `keys`: function that returns the
    keys pressed since its last call; `now`: function that returns the clock's time, s; `sleep`: function that
    waits for a time, s.
    """
    length = float(video.times[-1] - video.times[0])
    before = now()
    while not head.ended:
        index = int(np.abs(video.times - video.times[0] - head.time).argmin())
        pose_scene(window, video.frames, index)
        sleep(max(0.0, before + 1.0 / FRAME_RATE - now()))
        after = now()
        head = advance_playhead(head, keys(window), speed * (after - before), length)
        before = after


def replay_run(folder: Path, view: View, *, loop: bool) -> None:
    """Show a run, complete or interrupted, in Bullet's window.

    `folder`: run directory; `view`: part of the run, speed and camera; `loop`: begin again at the end. Raises
    RunError, ScenarioError if there is no screen or no log, or the view does not fit the run.
    """
    engine = open_picture_engine("simbench replay")
    engine.require_display("simbench replay", "simbench video RUN")
    video = load_video_scene(folder, view, FRAME_RATE / view.speed)
    with open_window(video.robot, video.mechanisms, video.camera, ghost=view.ghost is not None) as window:
        play_scene(video, window, Playhead(looping=loop), view.speed)
