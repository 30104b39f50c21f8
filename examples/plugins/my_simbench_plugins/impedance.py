"""A control law: joint impedance about the planned motion."""

import numpy as np

from simbench.options import Gain, ScenarioSection
from simbench.robot.robot import Robot
from simbench.sim.control.torque_law import ControlInputs, TorqueLaw


class Impedance(ScenarioSection):
    """Keys of the law, the same for every joint."""

    stiffness_nm_rad: Gain = 2000.0
    """Stiffness K."""
    damping_nms_rad: Gain = 60.0
    """Damping D."""

    def control_law(self, robot: Robot, timestep: float) -> TorqueLaw:
        """Make τ = K (q_r − q) + D (q̇_r − q̇) + τ_ff."""
        k, d = self.stiffness_nm_rad, self.damping_nms_rad

        def law(now: ControlInputs) -> np.ndarray:
            error, rate = now.reference_position - now.position, now.reference_velocity - now.velocity
            return k * error + d * rate + now.feedforward

        # What the law gives less per acceleration in the step: it acts at the step's end, and is stable.
        law.implicit = np.full(len(robot.joint_names), d * timestep + k * timestep**2)  # type: ignore[attr-defined]
        return law
