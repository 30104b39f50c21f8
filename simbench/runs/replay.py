"""A finished run in Bullet's window, at the pace of the clock."""

import time as clock
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from simbench.runs.video import Film, View, open_film
from simbench.sim.engines import open_engine
from simbench.sim.rendering.replay_window import open_window, pressed_keys
from simbench.sim.rendering.scene_renderer import Scene, pose_scene

FRAME_RATE = 60.0
"""Of the window, 1/s."""
JUMP = 1.0
"""By which the arrow keys go on and back, s of the run."""


@dataclass(frozen=True)
class Playhead:
    """Which moment is shown, and what happens next.

    Parameters
    ----------
    time : float
        Since the first frame, s of the run.
    paused, looping, ended : bool
    """

    time: float = 0.0
    paused: bool = False
    looping: bool = False
    ended: bool = False


def moved(head: Playhead, keys: Collection[str], elapsed: float, length: float) -> Playhead:
    """Move a playhead on.

    Parameters
    ----------
    head : Playhead
    keys : collection of str
        Pressed since: `space` pauses and goes on, `left` and `right` go back and on, `r` begins again, `l`
        begins again at every end, `q` ends.
    elapsed : float
        By which it moves unless it is paused, s of the run.
    length : float
        Time of the last frame, s; without looping it stays there.

    Returns
    -------
    Playhead
    """
    paused = head.paused != ("space" in keys)
    looping = head.looping != ("l" in keys)
    time = 0.0 if "r" in keys else head.time + JUMP * (("right" in keys) - ("left" in keys))
    time = max(0.0, time) + (0.0 if paused else elapsed)
    if time > length:
        time = time % length if looping and length > 0.0 else length
    return replace(head, time=time, paused=paused, looping=looping, ended="q" in keys)


def play(
    film: Film,
    scene: Scene,
    head: Playhead,
    speed: float,
    *,
    keys: Callable[[Scene], Collection[str]] = pressed_keys,
    now: Callable[[], float] = clock.perf_counter,
    sleep: Callable[[float], None] = clock.sleep,
) -> None:
    """Show frames in their time until `q` is pressed or the window is closed.

    Parameters
    ----------
    film : Film
    scene : Scene
    head : Playhead
        Where to begin.
    speed : float
        Times as fast as it was.
    keys : callable (Scene) -> collection of str
        Names of the keys pressed since the last call.
    now, sleep : callable
        The clock, s.
    """
    length = float(film.times[-1] - film.times[0])
    before = now()
    while not head.ended:
        index = int(np.abs(film.times - film.times[0] - head.time).argmin())
        pose_scene(scene, film.frames, index)
        sleep(max(0.0, before + 1.0 / FRAME_RATE - now()))
        after = now()
        head = moved(head, keys(scene), speed * (after - before), length)
        before = after


def replay_run(folder: Path, view: View, *, loop: bool) -> None:
    """Show a run, complete or interrupted, in Bullet's window.

    Parameters
    ----------
    folder : Path
        Run directory.
    view : View
    loop : bool
        Begin again at the end.

    Raises
    ------
    RunError, ScenarioError
        If there is no screen, no log, or the view asks for what there is not.
    """
    open_engine().require_display("simbench replay", "simbench video RUN")
    film = open_film(folder, view, FRAME_RATE / view.speed)
    with open_window(film.robot, film.mechanisms, film.camera, ghost=view.ghost is not None) as scene:
        play(film, scene, Playhead(looping=loop), view.speed)
