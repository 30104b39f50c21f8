"""A control law as a function from measurements and reference to torques: what a plug-in writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from simbench.errors import PluginError
from simbench.kinematics.arrays import Array
from simbench.plugins.declarations import call_plugin
from simbench.robot.robot import Robot
from simbench.sim.control.laws import ControlLaw
from simbench.sim.state import RobotState, empty_state


@dataclass
class ControlInputs:
    """What a torque law knows at the start of a physics step; n actuated joints in the robot's order.

    Its arrays are overwritten by the next step.

    Parameters
    ----------
    time : float
        Time, s.
    position, velocity : (n,) array
        Measured joint positions and velocities, rad and rad/s (m and m/s of a sliding joint).
    state : RobotState
        Measured state with the base: configuration (nq,) and velocity (nv,) of the robot's Pinocchio model.
    reference_position, reference_velocity, reference_acceleration : (n,) array
        Reference at the end of the step, rad, rad/s and rad/s².
    feedforward : (n,) array
        Feed-forward torque of the plan (`control.feedforward`), N·m.
    """

    time: float
    position: Array
    velocity: Array
    state: RobotState
    reference_position: Array
    reference_velocity: Array
    reference_acceleration: Array
    feedforward: Array


TorqueLaw = Callable[[ControlInputs], Array]
"""Gives the torques (n,) that the motors are asked for, N·m (N of a sliding joint), limited afterwards.

An attribute `implicit` (n,), if it has one, is by how much each motor gives less per acceleration of its
joint in this step, kg·m²: D dt + K dt² makes stiffness K and damping D act at the end of the step, which is
stable at gains for which a torque of the state at its start is not.
"""


class ControlLawPlugin(Protocol):
    """A plug-in of group `simbench.control_laws`: a section with keys that has this method."""

    def control_law(self, robot: Robot, timestep: float) -> TorqueLaw | ControlLaw:
        """Make the law of a run.

        Parameters
        ----------
        robot : Robot
            Robot that the law drives.
        timestep : float
            Physics step, s.

        Returns
        -------
        TorqueLaw or ControlLaw
            Function from measurements and reference to torques; or a law as those of `sim.control.laws`.
        """


class PluggedLaw:
    """A torque law as a control law.

    `reference`: how the scenario names it, for messages; `law`: the function; `robot`: robot that it drives;
    `timestep`: physics step, s. Raises PluginError if `implicit` of the law has another shape.
    """

    by_model = False
    beside_step = True

    def __init__(self, reference: str, law: TorqueLaw, robot: Robot, timestep: float) -> None:
        count = len(robot.joint_names)
        self._reference, self._law, self._timestep, self._step = reference, law, timestep, 0
        self._names = robot.joint_names
        implicit = np.asarray(getattr(law, "implicit", np.zeros(count)), dtype=float)
        if implicit.shape != (count,) or not np.isfinite(implicit).all():
            raise PluginError(f"{reference}: implicit of shape {implicit.shape}; allowed: ({count},), finite")
        self.implicit = implicit
        # The state is subtracted by the law itself, not by the controller.
        self.gain = self.rate_gain = np.zeros(count)
        self._root = robot.root_q, robot.root_v
        at, speed, *rows = np.zeros((6, count))
        self._inputs = ControlInputs(0.0, at, speed, empty_state(robot), rows[0], rows[1], rows[2], rows[3])

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Put the reference into rows, from which `torque` takes it.

        `position`, `velocity` (..., n): reference at the end of a step, rad and rad/s; `feedforward` (...,
        n): feed-forward torque, N·m; `acceleration` (..., n) or float: reference acceleration, rad/s².
        Returns (..., 4 n): all of them in this order.
        """
        rows = np.broadcast_to(acceleration, np.shape(position))
        return np.concatenate([position, velocity, rows, feedforward], axis=-1)

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Ask the law.

        `state`: state at the start of the step; `demand` (4 n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        given, root = self._inputs, self._root
        given.time = self._step * self._timestep
        given.state.q[:], given.state.v[:] = state.q, state.v
        given.position[:], given.velocity[:] = state.q[root[0] :], state.v[root[1] :]
        rows = demand.reshape(4, -1)
        given.reference_position[:], given.reference_velocity[:] = rows[0], rows[1]
        given.reference_acceleration[:], given.feedforward[:] = rows[2], rows[3]
        self._step += 1
        torque = np.asarray(call_plugin(self._reference, self._law, given))
        if torque.shape != out.shape:
            raise PluginError(
                f"{self._reference}: torques of shape {torque.shape}; "
                f"allowed: ({len(out)},), one for each joint"
            )
        if not np.isfinite(torque).all():
            joint = self._names[int(np.argmin(np.isfinite(torque)))]
            raise PluginError(
                f"{self._reference}: torque of {joint} is no finite number at {given.time:.4g} s"
            )
        out[:] = torque
