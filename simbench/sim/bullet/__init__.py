"""PyBullet as the physics engine: the functions of `simbench.sim.engine.Engine`, and of `PictureEngine`.

PyBullet itself is loaded when a world opens, not before.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from simbench.errors import RobotError, RunError
from simbench.files.storage import scratch_folder
from simbench.robot.native_output import hidden_native_stdout, quiet_native_output
from simbench.robot.robot import Robot
from simbench.robot.urdf.source import BULLET_JOINTS
from simbench.sim.engine import GRAVITY
from simbench.system.limits import MOST_JOINTS

if TYPE_CHECKING:
    from simbench.sim.bullet.bullet_world import BulletStage, BulletWorld


def require_robot(robot: Robot) -> None:
    """Refuse a robot with more joints than Bullet has room for."""
    moving = len(robot.joint_names)
    if moving > BULLET_JOINTS:
        raise RobotError(
            f"{robot.urdf}: {moving} joints that move; allowed by Bullet: {BULLET_JOINTS}; `fixed_joints` of "
            f"a robot.yaml fixes some, and --engine mujoco allows {MOST_JOINTS}"
        )


@contextlib.contextmanager
def open_world(
    timestep: float = 0.001, *, floor_friction: float = 0.8, gui: bool = False
) -> "Iterator[BulletWorld]":
    """Open a world with gravity 9.81 m/s² along -z and a floor, and close it on leaving.

    `timestep`: duration of a step, s; `floor_friction`: coulomb coefficient between the floor and a body of
    friction 1; `gui`: whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.
    """
    from simbench.sim.bullet import bullet_world
    from simbench.sim.bullet.bullet_bodies import bullet

    # The window's thread prints whenever it likes.
    with hidden_native_stdout() if gui else contextlib.nullcontext():
        with quiet_native_output():
            client = bullet.connect(bullet.GUI if gui else bullet.DIRECT)
        try:
            if gui:
                # Every call would wait for a picture, of a world that is not whole yet.
                bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 0, physicsClientId=client)
            bullet.setGravity(0, 0, -GRAVITY, physicsClientId=client)
            # Bullet would stop solving contacts at a residual of 1e-7: standing feet then creep, and jump.
            bullet.setPhysicsEngineParameter(
                fixedTimeStep=timestep,
                numSubSteps=0,
                numSolverIterations=bullet_world.SOLVER_ITERATIONS,
                solverResidualThreshold=0.0,
                deterministicOverlappingPairs=1,
                physicsClientId=client,
            )
            plane = {"planeNormal": [0, 0, 1], "physicsClientId": client}
            shape = bullet.createCollisionShape(bullet.GEOM_PLANE, **plane)
            floor = bullet.createMultiBody(0, shape, physicsClientId=client)
            bullet.changeDynamics(floor, -1, lateralFriction=floor_friction, physicsClientId=client)
            if gui:
                hidden = [1.0, 1.0, 1.0, 0.0]
                bullet.changeVisualShape(floor, -1, rgbaColor=hidden, physicsClientId=client)
            with scratch_folder() as scratch:
                yield bullet_world.BulletWorld(client, timestep, floor, scratch)
        finally:
            with quiet_native_output():
                bullet.disconnect(physicsClientId=client)


@contextlib.contextmanager
def open_stage(*, window: bool = False) -> "Iterator[BulletStage]":
    """Open a world for pictures, without a floor, and close it on leaving.

    `window`: whether to open Bullet's window, which shows nothing until `BulletWorld.show_window`.
    """
    from simbench.sim.bullet.bullet_bodies import bullet
    from simbench.sim.bullet.bullet_world import BulletStage

    with open_world(gui=window) as world:
        # It has no texture and TinyRenderer paints it blue.
        bullet.removeBody(world.floor, physicsClientId=world.client)
        yield BulletStage(world.client, world.timestep, world.floor, world.scratch)


def require_display(option: str = "--gui", alternative: str = "--video") -> None:
    """Refuse where Bullet's window cannot open: Bullet itself would end the process without a message.

    `option`: option that needs the window, named in the error message; `alternative`: option to use instead,
    named in the error message.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        raise RunError(f"{option} needs a screen: DISPLAY is not set; use {alternative} instead")
