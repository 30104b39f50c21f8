"""Pictures of an episode, by the renderer of videos."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np
from numpy.typing import NDArray

from simbench.runs.preparation import Preparation
from simbench.runs.video import make_camera
from simbench.sim.loop import Simulation
from simbench.sim.rendering.portrait import fit_camera
from simbench.sim.rendering.scene_renderer import open_scene, take_picture
from simbench.sim.state import RobotState


class Picture:
    """A scene that is drawn again and again. `prepared`: what is simulated."""

    def __init__(self, prepared: Preparation) -> None:
        scenario, robot = prepared.scenario, prepared.robot
        posture = robot.postures.get(scenario.robot.posture)
        camera = make_camera(fit_camera(robot, posture, scenario.camera, prepared.way), fast=True)
        self._open = ExitStack()
        self._scene = self._open.enter_context(
            open_scene(robot, prepared.mechanisms, camera)
        )

    def draw(self, state: RobotState, simulation: Simulation) -> NDArray[np.uint8]:
        """Draw the present state.

        `simulation`: whose equipment is drawn. Returns (height, width, 3) of uint8.
        """
        body = simulation.body
        joints = state.q[body.robot.root_q :]
        self._scene.robot.place(body.root_pose(), joints)
        for fixture in simulation.fixtures:
            now = fixture.read_state()
            self._scene.fixtures[fixture.name].place(now.position, now.stand)
        return take_picture(self._scene).rgb

    def close(self) -> None:
        """Remove the scene."""
        self._open.close()
