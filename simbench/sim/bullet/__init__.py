"""PyBullet as the physics engine: the functions of `simbench.sim.engine.Engine`, and of `PictureEngine`.

PyBullet itself is loaded when a world opens, not before.
"""

import os
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from simbench.errors import RunError
from simbench.sim.bullet.capacity import require_robot
from simbench.sim.bullet.renderer_choice import choose_renderer

if TYPE_CHECKING:
    from simbench.sim.bullet.stage import BulletStage
    from simbench.sim.bullet.world import BulletWorld

__all__ = ["choose_renderer", "open_stage", "open_world", "require_display", "require_robot"]


def open_world(
    timestep: float = 0.001, *, floor_friction: float = 0.8, gui: bool = False
) -> "AbstractContextManager[BulletWorld]":
    """Open a world with gravity 9.81 m/s² along -z and a floor, and close it on leaving.

    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1; `gui`: whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.
    """
    from simbench.sim.bullet.world import connect_world

    return connect_world(timestep, floor_friction=floor_friction, gui=gui)


def open_stage(renderer: str, *, window: bool = False) -> "AbstractContextManager[BulletStage]":
    """Open a world for pictures, without a floor, and close it on leaving.

    `renderer`: name that `choose_renderer` gave; `window`: whether to open Bullet's window, which shows
    nothing until `BulletWorld.show_window`.
    """
    from simbench.sim.bullet.stage import connect_stage

    return connect_stage(renderer, window=window)


def require_display(option: str = "--gui", alternative: str = "--video") -> None:
    """Refuse where Bullet's window cannot open: Bullet itself would end the process without a message.

    `option`: option that needs the window, named in the error message; `alternative`: option to use instead,
    named in the error message.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise RunError(f"{option} needs a screen: DISPLAY is not set; use {alternative} instead")
