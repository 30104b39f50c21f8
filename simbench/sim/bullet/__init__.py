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

    Parameters
    ----------
    timestep : float
        Duration of a step, s.
    floor_friction : float
        Coulomb coefficient between the floor and a body of friction 1.
    gui : bool
        Whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.

    Returns
    -------
    context manager of BulletWorld
        Closes the world on leaving.
    """
    from simbench.sim.bullet.world import connect_world

    return connect_world(timestep, floor_friction=floor_friction, gui=gui)


def open_stage(renderer: str, *, window: bool = False) -> "AbstractContextManager[BulletStage]":
    """Open a world for pictures, without a floor, and close it on leaving.

    Parameters
    ----------
    renderer : `EGL` or `TinyRenderer`
        Name that `choose_renderer` gave.
    window : bool
        Whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.

    Returns
    -------
    context manager of BulletStage
        Closes the world on leaving.
    """
    from simbench.sim.bullet.stage import connect_stage

    return connect_stage(renderer, window=window)


def require_display(option: str = "--gui", alternative: str = "--video") -> None:
    """Refuse where Bullet's window cannot open: Bullet itself would end the process without a message.

    Parameters
    ----------
    option : str
        Option that needs the window, named in the error message.
    alternative : str
        Option to use instead, named in the error message.

    Raises
    ------
    RunError
        If there is no screen.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise RunError(f"{option} needs a screen: DISPLAY is not set; use {alternative} instead")
