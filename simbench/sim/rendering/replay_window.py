"""The engine's window on a scene in which nothing is simulated, and the keys pressed in it."""

import contextlib
from collections.abc import Iterator, Sequence

from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.scene_renderer import Scene, open_scene
from simbench.sim.rendering.scene_view import Camera


@contextlib.contextmanager
def open_window(
    robot: Robot, mechanisms: Sequence[Mechanism], camera: Camera, *, ghost: bool, gui: bool = True
) -> Iterator[Scene]:
    """Open the engine's window on a robot and its equipment.

    Parameters
    ----------
    robot : Robot
        Robot to show.
    mechanisms : sequence of Mechanism
        Equipment to show.
    camera : Camera
        Initial view; the mouse moves it.
    ghost : bool
        Whether to add a second, half transparent figure of the robot.
    gui : bool
        False opens the same scene without a window.

    Yields
    ------
    Scene
    """
    with open_scene(robot, mechanisms, camera, "TinyRenderer", ghost=ghost, gui=gui) as scene:
        angles = camera.yaw_deg, camera.pitch_deg
        scene.stage.show_window(scene.robot, camera.target_m, camera.distance_m, angles)
        yield scene


def pressed_keys(scene: Scene) -> set[str]:
    """Read which keys were pressed since the last call.

    Parameters
    ----------
    scene : Scene
        Scene in the window.

    Returns
    -------
    set of str
        Among `space`, `left`, `right`, `r`, `l`, `q`; a closed window counts as `q`.
    """
    return scene.stage.pressed_keys()
