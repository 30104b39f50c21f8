"""The engine's window: on a scene in which nothing is simulated, with its keys, and on a simulation."""

import contextlib
from collections.abc import Iterator, Sequence

from simbench.robot.robot import Robot
from simbench.sim.engine import RobotBody, World
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.scene_floor import add_floor
from simbench.sim.rendering.scene_look import light_direction
from simbench.sim.rendering.scene_renderer import Scene, open_scene
from simbench.sim.rendering.scene_view import Camera


@contextlib.contextmanager
def open_window(
    robot: Robot, mechanisms: Sequence[Mechanism], camera: Camera, *, ghost: bool, gui: bool = True
) -> Iterator[Scene]:
    """Open the engine's window on a robot and its equipment.

    `robot`: robot to show; `mechanisms`: equipment to show; `camera`: initial view; the mouse moves it;
    `ghost`: whether to add a second, half transparent figure of the robot; `gui`: false opens the same scene
    without a window.
    """
    with open_scene(robot, mechanisms, camera, "TinyRenderer", ghost=ghost, gui=gui) as scene:
        _point_window(scene.stage, scene.robot, camera)
        yield scene


def show_simulation(world: World, body: RobotBody, camera: Camera) -> None:
    """Show the world of a simulation in the engine's window, as `open_window` shows one without physics.

    `world`: world that was opened with a window, with all of its bodies; `camera`: initial view; the mouse
    moves it.
    """
    add_floor(world, camera.target_m[:2], light_direction(camera))
    _point_window(world, body, camera)


def _point_window(world: World, body: RobotBody, camera: Camera) -> None:
    angles = camera.yaw_deg, camera.pitch_deg
    world.show_window(body, camera.target_m, camera.distance_m, angles)


def pressed_keys(scene: Scene) -> set[str]:
    """Read which keys were pressed since the last call.

    `scene`: scene in the window. Returns among `space`, `left`, `right`, `r`, `l`, `q`; a closed window
    counts as `q`.
    """
    return scene.stage.pressed_keys()
