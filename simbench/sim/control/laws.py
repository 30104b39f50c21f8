"""Control laws: what torque the motors are asked for. A law is split for speed and stability.

At every step the torque asked for is `torque(state, demand) − implicit · a`, where a are the joints'
accelerations in this step, found together with the robot's motion (`sim.control.joint_controller`), and
`demand` is the part that the reference alone decides, computed for a whole run at once.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import pinocchio as pin

from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.robot.robot import Robot
from simbench.sim.state import RobotState


class ControlLaw(Protocol):
    """What `JointController` needs of a law."""

    implicit: Array
    """(n,) What a motor gives less per acceleration of its joint, kg·m²."""
    gain: Array
    """(n,) What is taken from the demand per position of the joint."""
    rate_gain: Array
    """(n,) The same per velocity."""
    by_model: bool
    """Whether what is left is an acceleration, of which the torque is the model's inverse dynamics."""
    beside_step: bool
    """Whether a torque has more to it, and only `torque` can compute it."""

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the part that does not depend on the state from the reference at the end of a step."""

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Write the torque at zero acceleration (n,), N·m, into `out`."""


class PdLaw:
    """PD with feed-forward, evaluated at the end of the step.

    As Bullet integrates (v⁺ = v + dt a, q⁺ = q + dt v⁺),
    τ(a) = K(q_r⁺ − q − dt v) + D(v_r⁺ − v) + τ_ff − (D dt + K dt²) a.
    """

    def __init__(self, robot: Robot, timestep: float) -> None:
        motors = robot.motors
        self._damping = motors.damping
        self.implicit = motors.damping * timestep + motors.stiffness * timestep**2
        self.gain, self.rate_gain = motors.stiffness, motors.damping + motors.stiffness * timestep
        self.by_model = False
        self.beside_step = False

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute K q_r⁺ + D v_r⁺ + τ_ff, N·m, for references (..., n) in rad, rad/s, N·m."""
        return self.gain * position + self._damping * velocity + feedforward

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Write demand − K q − (D + K dt) v."""
        without_feedback(demand, self.gain, self.rate_gain, state.q, state.v, out)


class ComputedTorqueLaw:
    """Computed torque: the model's inverse dynamics of the acceleration that closes the error.

    a* = a_r + 2 ω (v_r⁺ − v⁺) + ω² (q_r⁺ − q⁺) with q⁺, v⁺ as a* would make them and ω the bandwidth;
    τ = A(q) a* + I_m a* + h(q, v). Friction is not compensated.
    """

    def __init__(self, robot: Robot, timestep: float, bandwidth_hz: float) -> None:
        if robot.floating:
            raise ScenarioError(f"control.law: computed_torque needs a fixed base; {robot.name} floats")
        omega = 2.0 * np.pi * bandwidth_hz
        self._stiffness, self._damping = omega**2, 2.0 * omega
        self._model, self._data = robot.model, robot.model.createData()
        self.implicit = np.zeros(len(robot.joint_names))
        # What is asked for at the end of the step, from the state at its start.
        share = 1.0 / (1.0 + self._damping * timestep + self._stiffness * timestep**2)
        each = np.full(len(self.implicit), share)
        self._share, self.gain = share, each * self._stiffness
        self.rate_gain = each * (self._damping + self._stiffness * timestep)
        self.by_model = True
        self.beside_step = False
        self._wanted = np.zeros(len(self.implicit))

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the reference's part of a*, rad/s²; the model takes the feed-forward's place."""
        return self._share * (acceleration + self._damping * velocity + self._stiffness * position)

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Write the inverse dynamics of a*."""
        without_feedback(demand, self.gain, self.rate_gain, state.q, state.v, self._wanted)
        out[:] = pin.rnea(self._model, self._data, state.q, state.v, self._wanted)


@compiled
def without_feedback(demand: Array, gain: Array, rate_gain: Array, q: Array, v: Array, out: Array) -> None:
    """Write demand − gain · q − rate_gain · v of the joints, which come last in q and v."""
    joint_q, joint_v = len(q) - len(out), len(v) - len(out)
    for i in range(len(out)):
        out[i] = demand[i] - gain[i] * q[joint_q + i] - rate_gain[i] * v[joint_v + i]


LAWS: Mapping[str, Callable[[Robot, float, float], ControlLaw]] = {
    "pd": lambda robot, timestep, bandwidth_hz: PdLaw(robot, timestep),
    "computed_torque": ComputedTorqueLaw,
}
