"""A balance controller: simbench's own, whose corrections of the legs are made smaller."""

from simbench.kinematics.arrays import Array
from simbench.options import Fraction, ScenarioSection
from simbench.retargeting.reference.reference import Reference
from simbench.robot.robot import Robot
from simbench.sim.balance_loop import BalancedRun
from simbench.sim.loop import Balancer
from simbench.sim.state import RobotState


class Calm(ScenarioSection):
    """Keys of the controller."""

    share: Fraction = 1.0
    """Share of the correction that is made; 1 is simbench's own."""

    def balancer(self, robot: Robot, plan: BalancedRun, timestep: float) -> Balancer:
        """Make the controller of a run."""
        return _CalmBalance(self.share, plan)


class _CalmBalance:
    """Mixes planned and corrected rows of the reference."""

    def __init__(self, share: float, plan: BalancedRun) -> None:
        self.every, self._inner, self._share = plan.balancer.every, plan.balancer, share
        self._planned = plan.timeline.reference.position.copy()

    def command(self, step: int, state: RobotState, foot_wrench: Array, reference: Reference) -> None:
        """Overwrite the rows of one tick."""
        rows = slice(step, step + self.every)
        self._inner.command(step, state, foot_wrench, reference)
        planned = self._planned[rows]
        reference.position[rows] = planned + self._share * (reference.position[rows] - planned)
