"""MuJoCo as the physics engine: the functions of `simbench.sim.engine.Engine`.

MuJoCo itself is loaded when a world opens, not before.
"""

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from simbench.errors import RunError
from simbench.robot.robot import Robot

if TYPE_CHECKING:
    from simbench.sim.mujoco.mujoco_world import MujocoWorld


def require_robot(robot: Robot) -> None:
    """Refuse a robot that MuJoCo cannot read or simulate.

    Raises RobotError if there is something in its URDF that MuJoCo does not take.
    """
    from simbench.sim.mujoco.mujoco_robot import require_readable

    require_readable(robot)


def open_world(
    timestep: float = 0.001, *, floor_friction: float = 0.8, gui: bool = False
) -> "AbstractContextManager[MujocoWorld]":
    """Open a world with gravity 9.81 m/s² along -z and a floor, and close it on leaving.

    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1; `gui`: has to be False: there is no window.
    """
    from simbench.sim.mujoco.mujoco_world import make_world

    if gui:
        require_display()
    return make_world(timestep, floor_friction=floor_friction)


def require_display(option: str = "--gui", alternative: str = "--view") -> None:
    """Refuse the engine's window, which MuJoCo does not have here.

    `option`: option that needs the window, named in the error message; `alternative`: option to use instead,
    named in the error message.
    """
    raise RunError(f"{option}: engine mujoco has no window; allowed: {alternative}, or engine bullet")
