"""Control laws: the torque that the motors are asked for. A law is split for speed and stability.

At every step the torque asked for is `torque(state, demand) − implicit · a`, where a are the joints'
accelerations in this step, found together with the robot's motion (`sim.control.joint_controller`), and
`demand` is the part that the reference alone decides, computed for a whole run at once.
"""

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
import pinocchio as pin

from simbench.dynamics.explicit_model import ModelEvaluator, compile_parts
from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled_entry
from simbench.robot.robot import Robot
from simbench.sim.state import RobotState


class ControlLaw(Protocol):
    """Interface of a law for `JointController` and `ArmController`."""

    implicit: Array
    """(n,) Torque that a motor gives less per acceleration of its joint, kg·m²."""
    gain: Array
    """(n,) Gain on the joint positions that is subtracted from the demand."""
    rate_gain: Array
    """(n,) Gain on the joint velocities that is subtracted from the demand."""
    by_model: bool
    """Whether the difference is an acceleration, of which the torque is the model's inverse dynamics."""
    beside_step: bool
    """Whether only `torque` can compute the torque, not demand, gains and model alone."""

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the part that does not depend on the state from the reference at the end of a step.

        Parameters
        ----------
        position, velocity : (..., n) array
            Reference at the end of a step, rad and rad/s.
        feedforward : (..., n) array
            Feed-forward torque, N·m.
        acceleration : (..., n) array or float
            Reference acceleration, rad/s².

        Returns
        -------
        (..., n) array
            Demand: a torque (N·m), or an acceleration (rad/s²) if `by_model`.
        """

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Compute the torque at zero acceleration.

        Parameters
        ----------
        state : RobotState
            State at the start of the step.
        demand : (n,) array
            Row of `demand` for this step.
        out : (n,) array
            Overwritten: torque, N·m.
        """


class PdLaw:
    """PD with feed-forward, evaluated at the end of the step.

    As Bullet integrates (v⁺ = v + dt a, q⁺ = q + dt v⁺),
    τ(a) = K(q_r⁺ − q − dt v) + D(v_r⁺ − v) + τ_ff − (D dt + K dt²) a.

    Parameters
    ----------
    robot : Robot
        Robot whose motors have the gains.
    timestep : float
        Physics step dt, s.
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
        """Compute K q_r⁺ + D v_r⁺ + τ_ff.

        Parameters
        ----------
        position, velocity : (..., n) array
            Reference at the end of a step, rad and rad/s.
        feedforward : (..., n) array
            Feed-forward torque, N·m.
        acceleration : (..., n) array or float
            Reference acceleration, rad/s²; not used.

        Returns
        -------
        (..., n) array
            Demand, N·m.
        """
        return self.gain * position + self._damping * velocity + feedforward

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Compute demand − K q − (D + K dt) v.

        Parameters
        ----------
        state : RobotState
            State at the start of the step.
        demand : (n,) array
            Row of `demand` for this step.
        out : (n,) array
            Overwritten: torque, N·m.
        """
        without_feedback(demand, self.gain, self.rate_gain, state.q, state.v, out)


class ComputedTorqueLaw:
    """Computed torque: the model's inverse dynamics of the acceleration that closes the error.

    a* = a_r + 2 ω (v_r⁺ − v⁺) + ω² (q_r⁺ − q⁺) with q⁺, v⁺ as a* would make them and ω the bandwidth; τ =
    A(q) a* + I_m a* + h(q, v). Friction is not compensated. `robot`: robot with a fixed base; `timestep`:
    physics step, s; `bandwidth_hz`: bandwidth of the closed loop ω / 2π, Hz. Raises ScenarioError if the
    robot has a free base.
    """

    def __init__(self, robot: Robot, timestep: float, bandwidth_hz: float) -> None:
        if robot.floating:
            raise ScenarioError(f"control.law: computed_torque needs a fixed base; {robot.name} floats")
        omega = 2.0 * np.pi * bandwidth_hz
        self._stiffness, self._damping = omega**2, 2.0 * omega
        self._model, self._data = robot.model, robot.model.createData()
        self.implicit = np.zeros(len(robot.joint_names))
        # The law holds for the end of the step; the state is known at its start.
        scale = 1.0 / (1.0 + self._damping * timestep + self._stiffness * timestep**2)
        each = np.full(len(self.implicit), scale)
        self._scale, self.gain = scale, each * self._stiffness
        self.rate_gain = each * (self._damping + self._stiffness * timestep)
        self.by_model = True
        self.beside_step = False
        self._target = np.zeros(len(self.implicit))

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the reference's part of a*.

        `position`, `velocity` (..., n): reference at the end of a step, rad and rad/s; `feedforward` (...,
        n): feed-forward torque, N·m; not used: the model takes its place; `acceleration` (..., n) or float:
        reference acceleration, rad/s². Returns (..., n): demand, rad/s².
        """
        return self._scale * (acceleration + self._damping * velocity + self._stiffness * position)

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Compute the inverse dynamics of a*.

        `state`: state at the start of the step; `demand` (n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        without_feedback(demand, self.gain, self.rate_gain, state.q, state.v, self._target)
        out[:] = pin.rnea(self._model, self._data, state.q, state.v, self._target)


@compiled_entry("demand (n), gain (n), rate_gain (n), out (n)")
def without_feedback(demand: Array, gain: Array, rate_gain: Array, q: Array, v: Array, out: Array) -> None:
    """Compute demand − gain · q − rate_gain · v of the joints.

    `demand`, `gain`, `rate_gain` (n,): demand of the law and its gains; `q` (nq,): configuration; the joints
    come last, rad; `v` (nv,): velocity; the joints come last, rad/s; `out` (n,): overwritten.
    """
    joint_q, joint_v = len(q) - len(out), len(v) - len(out)
    for i in range(len(out)):
        out[i] = demand[i] - gain[i] * q[joint_q + i] - rate_gain[i] * v[joint_v + i]


LAWS: Mapping[str, Callable[[Robot, float, float], ControlLaw]] = {
    "pd": lambda robot, timestep, bandwidth_hz: PdLaw(robot, timestep),
    "computed_torque": ComputedTorqueLaw,
}


class RowsLaw:
    """A law whose `torque` computes everything, from the reference in rows."""

    by_model = False
    beside_step = True

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Put the reference into rows, from which `torque` takes it.

        `position`, `velocity` (..., n): reference at the end of a step, rad and rad/s; `feedforward` (...,
        n): feed-forward torque, N·m; `acceleration` (..., n) or float: reference acceleration, rad/s².
        Returns (..., 4 n): all of them: position, velocity, acceleration, feed-forward.
        """
        rows = np.broadcast_to(acceleration, np.shape(position))
        return np.concatenate([position, velocity, rows, feedforward], axis=-1)


class ExplicitTorqueLaw:
    """Computed torque, its inverse dynamics by an explicit model.

    `robot`: robot with a fixed, upright base. `timestep`: physics step, s. `bandwidth_hz`: bandwidth of the
    closed loop, Hz. `elements_every`, `torques_every`: number of steps after which the elements, which depend
    on the angles, and the torques are computed again. In between the motors hold their torques.
    """

    by_model = False
    beside_step = True

    def __init__(
        self,
        robot: Robot,
        timestep: float,
        bandwidth_hz: float,
        model: ModelEvaluator,
        elements_every: int = 1,
        torques_every: int = 1,
    ) -> None:
        self._closing = ComputedTorqueLaw(robot, timestep, bandwidth_hz)
        self.demand = self._closing.demand
        # The state is subtracted in `torque`, not by the controller.
        nothing = np.zeros(model.joints)
        self.implicit = self.gain = self.rate_gain = nothing
        self._constants = model.constants
        self._compute, self._combine = compile_parts(model.module)
        self._every = elements_every, torques_every
        self._elements, self._target = np.zeros(len(model.module.ELEMENTS)), nothing.copy()
        self._held, self._step = nothing.copy(), 0

    def torque(self, state: RobotState, demand: Array, out: Array) -> None:
        """Compute the model's torques of the acceleration that closes the error.

        `state`: state at the start of the step; `demand` (n,): row of `demand` for this step; `out` (n,):
        overwritten: torque, N·m.
        """
        law = self._closing
        if self._step % self._every[0] == 0:
            self._compute(self._constants, state.q, self._elements)
        if self._step % self._every[1] == 0:
            without_feedback(demand, law.gain, law.rate_gain, state.q, state.v, self._target)
            self._combine(self._elements, state.v, self._target, self._held)
        self._step += 1
        out[:] = self._held
