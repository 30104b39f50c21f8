"""An arm on a fixed base under a feedback law in simulation, and its measured motion."""

import numpy as np
from numpy.typing import ArrayLike

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.control.controller import ArmController
from simbench.sim.engine import open_engine
from simbench.sim.state import RobotState, empty_state

_ORIGIN = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])


class FeedbackLaw:
    """A `Feedback` law for a controller: state at the start of a step, acceleration in it.

    `law`: gains on position, velocity and acceleration; `joints`: number of joints, n.
    """

    def __init__(self, law: Feedback, joints: int) -> None:
        self.gain = np.full(joints, law.position)
        self.rate_gain = np.full(joints, -law.velocity)
        self.implicit = np.full(joints, -law.acceleration)
        self.by_model = False
        self.beside_step = False

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute k_p θ*.

        `position` (..., n): target θ*, rad; `velocity`, `feedforward` (..., n): not used; `acceleration`
        (..., n) or float: not used. Returns (..., n): demand, N·m.
        """
        return self.gain * position

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Compute the torque at zero acceleration.

        `state`: state at the start of the step; `demand` (n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        out[:] = demand - self.gain * state.q - self.rate_gain * state.v


def drive_arm(
    robot: Robot, law: Feedback, start: ArrayLike, target: ArrayLike, timestep: float, steps: int
) -> ArmMotion:
    """Simulate an arm that moves from rest toward the target of a law.

    `robot`: robot with a fixed base. Coulomb friction less than zero, which an identification may find,
    drives a joint that moves. `law`: law that drives all joints. `start`, `target` (n,) _like: initial and
    target joint positions, rad. `timestep`: physics step, s; every step is a sample. `steps`: number of
    steps. Returns positions and velocities at the start of each step, and the change of velocity in the step
    over its duration: the engine's own equation of motion holds between them without any error of
    integration.
    """
    if robot.floating:
        raise RobotError(f"{robot.name} floats; allowed: an arm on a fixed base")
    goal = np.asarray(target, dtype=float)
    n = len(goal)
    q, velocity = np.empty((steps + 1, n)), np.empty((steps + 1, n))
    pushing = np.minimum(robot.friction.coulomb, 0.0)
    with open_engine().open_world(timestep) as world:
        body = world.add_robot(robot, _ORIGIN, np.asarray(start, dtype=float))
        controller = ArmController(body, FeedbackLaw(law, n))
        demand = controller.demand(goal, np.zeros(n), np.zeros(n))
        state = empty_state(robot)
        for step in range(steps + 1):
            body.read_state(state)
            q[step], velocity[step] = state.q, state.v
            controller.step(state, demand - pushing * np.sign(state.v))
            world.step()
    change = np.diff(velocity, axis=0) / timestep
    return ArmMotion(1.0 / timestep, q[:-1], velocity[:-1], change, np.broadcast_to(goal, (steps, n)))
