"""Balance controllers of plug-ins (group `simbench.balance_controllers`)."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from pydantic import BaseModel

from simbench.errors import PluginError
from simbench.kinematics.arrays import Array
from simbench.options import SimulationSection
from simbench.plugins.declarations import call_plugin, plugin_maker
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import Robot
from simbench.sim.balance_loop import BalancedRun
from simbench.sim.loop import Balancer
from simbench.sim.state import RobotState


class BalanceControllerPlugin(Protocol):
    """A plug-in of group `simbench.balance_controllers`: a section with keys that has this method."""

    def balancer(self, robot: Robot, plan: BalancedRun, timestep: float) -> Balancer:
        """Make the balance controller of a run.

        Parameters
        ----------
        robot : Robot
            Robot on two feet, without variations.
        plan : BalancedRun
            `plan.timeline` is the planned motion of all joints at every physics step; `plan.balancer.gait`
            has the footsteps and the desired ZMP and COG at every tick; `plan.balancer` is simbench's own
            controller, whose `command` one's own may call.
        timestep : float
            Physics step, s.

        Returns
        -------
        Balancer
            Its method `command` is called every `every` steps, and overwrites rows of the reference.
        """


class _PluggedBalancer:
    """A balance controller of a plug-in; what it writes into the reference is checked."""

    def __init__(self, reference: str, balancer: Balancer) -> None:
        self._reference, self._balancer, self.every = reference, balancer, int(balancer.every)

    def command(self, step: int, state: RobotState, foot_wrench: Array, reference: Reference) -> None:
        """Let the plug-in overwrite rows of the reference."""
        call_plugin(self._reference, self._balancer.command, step, state, foot_wrench, reference)
        rows = slice(step, step + self.every)
        for name in ("position", "velocity", "feedforward"):
            if not np.isfinite(getattr(reference, name)[rows]).all():
                raise PluginError(f"{self._reference}: wrote a {name} at step {step} that is not finite")


def plug_balancer(
    reference: str,
    options: BaseModel | None,
    robot: Robot,
    plan: BalancedRun,
    settings: SimulationSection,
) -> Balancer:
    """Make the balance controller of a plug-in.

    `reference`: how the scenario names it; `options`: its section, if it has one; `robot`: robot on two feet;
    `plan`: planned motion and simbench's own controller; `settings`: section `simulation` of the scenario.
    """
    made = plugin_maker("balance_controllers", reference, options)(robot, plan, settings.timestep_s)
    every = getattr(made, "every", None)
    if not callable(getattr(made, "command", None)) or not isinstance(every, int) or every < 1:
        raise PluginError(
            f"{reference}: makes a value of type {type(made).__name__}; allowed: an object with `every`, the "
            "number of steps between commands, and `command(step, state, foot_wrench, reference)`"
        )
    return _PluggedBalancer(reference, made)
