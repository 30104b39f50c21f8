"""Figures 5 and 6: adapted arm motion as the reference of a PID controller, simulated, the pelvis held."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import NDArray

from simbench.resources import resource_dir
from simbench.robot.robot import Robot, load_robot
from simbench.sim.control.laws import PdLaw
from simbench.sim.engine import open_engine
from simbench.sim.loop import make_controller
from simbench.sim.state import empty_state

Array = NDArray[np.float64]

TIMESTEP = 0.001
INTEGRAL = 4.0
"""Integral gain over the robot's stiffness, 1/s. The paper gives no gains; stiffness and damping are the
robot's."""
HEIGHT = 1.0
"""Height at which the pelvis is held, m: nothing touches the floor."""


def held_robot(name: str, folder: Path, contacts: bool = True) -> Robot:
    """Load a robot whose root is fixed; without contacts its links pass through each other."""
    source = resource_dir("robots") / name / "robot.yaml"
    described = yaml.safe_load(source.read_text(encoding="utf-8"))
    described["base"] = "fixed"
    described["urdf"] = str(source.parent / described["urdf"])
    if not contacts:
        described["self_collision"] = []
    path = folder / f"{name}_held.yaml"
    path.write_text(yaml.safe_dump(described), encoding="utf-8")
    return load_robot(path)


def simulate_pid(
    robot: Robot, names: Sequence[str], path: Array, rate: float, integral: float = INTEGRAL
) -> tuple[Array, Array]:
    """Simulate joints that a PID controller drives along a path (T, n), rad, at a rate, Hz.

    τ = K (q_r − q) + D (q̇_r − q̇) + K_I ∫ (q_r − q) dt, without a model of the robot. Velocities of the
    reference are determined numerically, as in the paper; the other joints hold the basic posture. The arms
    begin at rest in the first posture. Returns positions of the joints (T, n) at the frames, rad, and their
    torques (T, n), N·m.
    """
    columns = [robot.joint_names.index(name) for name in names]
    rest = robot.postures.get("basic", np.zeros(len(robot.joint_names)))
    steps = round((len(path) - 1) / rate / TIMESTEP)
    clock = (1.0 + np.arange(steps)) * TIMESTEP * rate
    frames = np.arange(len(path))
    position = np.tile(rest, (steps, 1))
    position[:, columns] = np.stack([np.interp(clock, frames, joint) for joint in path.T], axis=1)
    velocity = np.gradient(position, TIMESTEP, axis=0)
    start = rest.copy()
    start[columns] = path[0]
    gain, total = integral * robot.motors.stiffness, np.zeros(len(rest))
    seen, torque = np.empty((steps, len(columns))), np.empty((steps, len(columns)))
    with open_engine().open_world(TIMESTEP) as world:
        body = world.add_robot(robot, np.array([0.0, 0.0, HEIGHT, 0.0, 0.0, 0.0, 1.0]), start)
        controller = make_controller(body, PdLaw(body.robot, TIMESTEP))
        state = empty_state(body.robot)
        for step in range(steps):
            body.read_state(state)
            joints = state.q[-len(rest) :]
            total += gain * TIMESTEP * ((position[step - 1] if step else start) - joints)
            command = controller.step(state, controller.demand(position[step], velocity[step], total))
            seen[step], torque[step] = joints[columns], command.motor[columns]
            world.step()
    at = np.minimum(np.round(frames / rate / TIMESTEP).astype(int), steps - 1)
    return seen[at], torque[at]
