"""Bullet's window for looking: a scene in which nothing is simulated, and the keys pressed in it."""

import contextlib
from collections.abc import Iterator, Sequence

from simbench.robot.robot import Robot
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.rendering.scene_renderer import Scene, open_scene
from simbench.sim.rendering.scene_view import Camera
from simbench.sim.world import bullet, quiet_native_output

_KEYS = {
    "space": ord(" "),
    "left": bullet.B3G_LEFT_ARROW,
    "right": bullet.B3G_RIGHT_ARROW,
    "r": ord("r"),
    "l": ord("l"),
    "q": ord("q"),
}


@contextlib.contextmanager
def open_window(
    robot: Robot, mechanisms: Sequence[Mechanism], camera: Camera, *, ghost: bool, gui: bool = True
) -> Iterator[Scene]:
    """Open Bullet's window on a robot and its equipment.

    Parameters
    ----------
    robot : Robot
    mechanisms : sequence of Mechanism
    camera : Camera
        Where to look from at first; the mouse moves it.
    ghost : bool
        Whether a second, half transparent figure of the robot is there.
    gui : bool
        Without, the same scene and no window.

    Yields
    ------
    Scene
    """
    with open_scene(robot, mechanisms, camera, "TinyRenderer", ghost=ghost, gui=gui) as scene:
        client = scene.world.client
        # Bullet's own keys would act beside ours; its side panels hide half of the window.
        for panel in (bullet.COV_ENABLE_KEYBOARD_SHORTCUTS, bullet.COV_ENABLE_GUI):
            bullet.configureDebugVisualizer(panel, 0, physicsClientId=client)
        bullet.resetDebugVisualizerCamera(
            camera.distance_m, camera.yaw_deg, camera.pitch_deg, camera.target_m, physicsClientId=client
        )
        _colour_links(scene)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 1, physicsClientId=client)
        yield scene


def _colour_links(scene: Scene) -> None:
    """Give links the colour of their first shape: the window has one a link, and takes that of the last."""
    client = scene.world.client
    for shape in reversed(bullet.getVisualShapeData(scene.robot.body, physicsClientId=client)):
        body, link, *_, colour = shape[:8]
        bullet.changeVisualShape(body, link, rgbaColor=colour, physicsClientId=client)


def pressed_keys(scene: Scene) -> set[str]:
    """Give the names of the keys pressed since the last call; a closed window counts as `q`."""
    client = scene.world.client
    if not bullet.isConnected(client):
        return {"q"}
    with quiet_native_output():
        try:
            events = bullet.getKeyboardEvents(physicsClientId=client)
        except bullet.error:
            return {"q"}
    return {name for name, code in _KEYS.items() if events.get(code, 0) & bullet.KEY_WAS_TRIGGERED}
