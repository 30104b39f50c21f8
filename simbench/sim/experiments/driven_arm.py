"""An arm on a fixed base under a feedback law in Bullet, and what it is seen doing."""

import numpy as np
from numpy.typing import ArrayLike

from simbench.dynamics.calibration.arm_motion import ArmMotion, Feedback
from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.control.controller import ArmController
from simbench.sim.engines import open_engine
from simbench.sim.state import RobotState, empty_state

_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class FeedbackLaw:
    """The law of `Feedback` as the controller wants it: state at the start of a step, acceleration in it."""

    def __init__(self, law: Feedback, joints: int) -> None:
        self.gain = np.full(joints, law.position)
        self.rate_gain = np.full(joints, -law.velocity)
        self.implicit = np.full(joints, -law.acceleration)
        self.by_model = False
        self.beside_step = False

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute k_p θ*, N·m."""
        return self.gain * position

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Write the torque at zero acceleration, N·m."""
        out[:] = demand - self.gain * state.q - self.rate_gain * state.v


def drive_arm(
    robot: Robot, law: Feedback, start: ArrayLike, target: ArrayLike, timestep: float, steps: int
) -> ArmMotion:
    """Let an arm go from rest to where a law brings it.

    Parameters
    ----------
    robot : Robot
        With a fixed base. Coulomb friction less than zero, which an identification may find, drives a joint
        that moves.
    law : Feedback
    start, target : (n,) array_like
        rad.
    timestep : float
        s; every step is a sample.
    steps : int

    Returns
    -------
    ArmMotion
        Positions and velocities at the start of each step, and what the step added to the velocity over its
        time: Bullet's own equation of motion holds between them without any error of integration.

    Raises
    ------
    RobotError
        If the robot floats.
    """
    if robot.floating:
        raise RobotError(f"{robot.name} floats; allowed: an arm on a fixed base")
    aim = np.asarray(target, dtype=float)
    n = len(aim)
    q, velocity = np.empty((steps + 1, n)), np.empty((steps + 1, n))
    pushing = np.minimum(robot.friction.coulomb, 0.0)
    with open_engine().open_world(timestep) as world:
        body = world.add_robot(robot, _ORIGIN, np.asarray(start, dtype=float))
        controller = ArmController(body, FeedbackLaw(law, n))
        asked = controller.demand(aim, np.zeros(n), np.zeros(n))
        state = empty_state(robot)
        for step in range(steps + 1):
            body.read_state(state)
            q[step], velocity[step] = state.q, state.v
            controller.step(state, asked - pushing * np.sign(state.v))
            world.step()
    change = np.diff(velocity, axis=0) / timestep
    return ArmMotion(1.0 / timestep, q[:-1], velocity[:-1], change, np.broadcast_to(aim, (steps, n)))
