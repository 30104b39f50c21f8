"""Computed torque by an explicit model, its parts at rates of their own (Armstrong 1986, table 2)."""

import numpy as np

from simbench.dynamics.explicit_model import ModelEvaluator, compile_parts
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.sim.control.laws import ComputedTorqueLaw, without_feedback
from simbench.sim.state import RobotState


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
        # The state is subtracted in `torque`, not by the controller.
        nothing = np.zeros(model.joints)
        self.implicit = self.gain = self.rate_gain = nothing
        self._constants = model.constants
        self._compute, self._combine = compile_parts(model.module)
        self._every = elements_every, torques_every
        self._elements, self._target = np.zeros(len(model.module.ELEMENTS)), nothing.copy()
        self._held, self._step = nothing.copy(), 0

    def demand(
        self, position: Array, velocity: Array, feedforward: Array, acceleration: Array | float = 0.0
    ) -> Array:
        """Compute the reference's part of the acceleration.

        `position`, `velocity` (..., n): reference at the end of a step, rad and rad/s; `feedforward` (...,
        n): feed-forward torque, N·m; not used: the model takes its place; `acceleration` (..., n) or float:
        reference acceleration, rad/s². Returns (..., n): demand, rad/s².
        """
        return self._closing.demand(position, velocity, feedforward, acceleration)

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
