"""Whether the legs can follow a planned gait: the balance controller runs it without a simulator."""

import numpy as np

from simbench.balance.controller.sections import LEGS
from simbench.balance.controller.whole_body import WholeBodyController, WholeBodyPlan
from simbench.balance.inverted_pendulum import CogZmpGains
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

_GAINS = CogZmpGains(cog=10.0, zmp=0.0)
"""Keeps the COG on its profile; nothing is measured."""


def check_gait_feasibility(robot: Robot, plan: WholeBodyPlan, reserve: float = 0.0) -> Array:
    """Refuse a plan whose legs leave their limits.

    Every tick of the plan is run with ideal measurements. `robot`: robot with two legs; `plan`: planned
    motion; `reserve`: part of each leg joint's range, at either end, and of its speed limit that the plan is
    to leave. Returns (N, nq): configurations at the N samples of the plan: pose of the root link in the world
    frame (m and quaternion x, y, z, w), then joint positions, rad.
    """
    whole = WholeBodyController(robot, plan, _GAINS)
    model, gait = robot.model, plan.gait
    legs = whole.legs
    low, high = model.lowerPositionLimit[7 + legs], model.upperPositionLimit[7 + legs]
    low, high = low + reserve * (high - low), high - reserve * (high - low)
    fastest = (1.0 - reserve) * model.velocityLimit[6 + legs]
    names = [robot.joint_names[leg] for leg in legs]
    path = np.empty((len(gait.zmp), model.nq))
    path[0] = whole.configuration
    for tick in range(len(gait.zmp) - 1):
        whole.tick(tick, None, None)
        path[tick + 1] = whole.configuration
        if whole.gave_up is not None:
            raise BalanceError(f"{_where(robot, plan, tick)}: a leg would have to be straight")
        q, speed = whole.configuration[7 + legs], np.abs(whole.velocity[6 + legs])
        beyond = np.maximum(low - q, q - high)
        worst = int(beyond.argmax())
        if beyond[worst] > 0.0:
            raise BalanceError(
                f"{_where(robot, plan, tick)}: {names[worst]} would go to {q[worst]:.3f} rad, "
                f"{beyond[worst]:.2g} rad beyond its limit; "
                f"allowed: {low[worst]:.3f} to {high[worst]:.3f} rad"
            )
        worst = int((speed / fastest).argmax())
        if speed[worst] > fastest[worst]:
            raise BalanceError(
                f"{_where(robot, plan, tick)}: {names[worst]} would turn at {speed[worst]:.2f} rad/s; "
                f"allowed: {fastest[worst]:.2f} rad/s"
            )
    return path


def _where(robot: Robot, plan: WholeBodyPlan, tick: int) -> str:
    """Say which step of which robot it is, and when."""
    lifted = ~plan.gait.contact[: tick + 1]
    number = int(np.sum(lifted[1:] & ~lifted[:-1]))
    when = tick * plan.gait.timestep
    if number == 0:
        return f"{robot.name}: at {when:.2f} s, before the first step"
    last = np.flatnonzero(lifted.any(axis=1))[-1]
    leg = LEGS[int(lifted[last].argmax())].removesuffix("_leg")
    return f"{robot.name}: step {number} ({leg}) is out of reach at {when:.2f} s"
