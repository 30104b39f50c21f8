"""PyBullet as the physics engine: the functions of `simbench.sim.engine.Engine`, and of `PictureEngine`.

PyBullet itself is loaded when a world opens, not before.
"""

import os
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from simbench.errors import RobotError, RunError
from simbench.robot.robot import Robot
from simbench.robot.urdf.source import MOST_JOINTS

if TYPE_CHECKING:
    from simbench.sim.bullet.bullet_world import BulletStage, BulletWorld


def require_robot(robot: Robot) -> None:
    """Refuse a robot with more joints than Bullet has room for."""
    moving = len(robot.joint_names)
    if moving > MOST_JOINTS:
        raise RobotError(
            f"{robot.urdf}: has {moving} joints that move; Bullet allows {MOST_JOINTS}; `fixed_joints` of a "
            "robot.yaml fixes some, and --engine mujoco has no such limit"
        )


def open_world(
    timestep: float = 0.001, *, floor_friction: float = 0.8, gui: bool = False
) -> "AbstractContextManager[BulletWorld]":
    """Open a world with gravity 9.81 m/s² along -z and a floor, and close it on leaving.

    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1; `gui`: whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.
    """
    from simbench.sim.bullet.bullet_world import connect_world

    return connect_world(timestep, floor_friction=floor_friction, gui=gui)


def open_stage(*, window: bool = False) -> "AbstractContextManager[BulletStage]":
    """Open a world for pictures, without a floor, and close it on leaving.

    `window`: whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.
    """
    from simbench.sim.bullet.bullet_world import connect_stage

    return connect_stage(window=window)


def require_display(option: str = "--gui", alternative: str = "--video") -> None:
    """Refuse where Bullet's window cannot open: Bullet itself would end the process without a message.

    `option`: option that needs the window, named in the error message; `alternative`: option to use instead,
    named in the error message.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise RunError(f"{option} needs a screen: DISPLAY is not set; use {alternative} instead")
