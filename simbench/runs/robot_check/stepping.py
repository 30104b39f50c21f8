"""Whether a robot can step: steps that fit its legs, their speeds, torques and ZMP, without simulation."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.balance.leg_ik import leg_length
from simbench.balance.support import support_margins, support_polygons, zmp_from_momentum
from simbench.errors import BalanceError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.options import BalanceSection, RobotSection, SimulationSection, StepCommand, SteppingSection
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.robot_check.findings import Finding, Limits, judge
from simbench.sim.balance_loop import OnlineBalance, balance_run
from simbench.sim.standing_reference import build_standing_reference
from simbench.sim.step_fitting import fit_steps

_GRAVITY = 9.81
_FORWARD, _SIDEWAYS, _TURN = 0.5, 0.15, 0.6
"""Commands that are tried: metres as parts of the leg's length, and rad."""
_LENGTH = Limits(0.13, 0.05)
"""Length of a step as a part of the leg's length; 0.26 is the usual one."""
_SPEED = Limits(0.9, 1.0)
_TORQUE = Limits(0.8, 1.0)
_ZMP = Limits(0.99, 0.9)


class Steps(NamedTuple):
    """Steps that a robot's legs can make."""

    place: RobotSection  # Height of the pelvis.
    stepping: SteppingSection  # Commands, and length, width, turn and lift of the steps.


class _Planned(NamedTuple):
    """Largest part of a speed and torque limit, and where the ZMP is, over a plan."""

    speed: Array
    torque: Array
    zmp_margin: Array


def check_stepping(robot: Robot, section: RobotSection) -> tuple[list[Finding], Steps | None]:
    """Judge whether a robot that stands can step.

    The commands are to go forward, sideways and turn. The steps are fitted to the legs, their plan is
    followed with ideal measurements; the ZMP is that of all bodies, which the plan takes for a linear
    pendulum. `robot`: robot that stands in the section's posture; `section`: base placement and posture.
    Returns `findings`: what speaks for and against it; `steps`: the steps; None if the legs can make none.
    """
    length = leg_length(robot)
    commands = (
        StepCommand(forward_m=float(f"{_FORWARD * length:.3g}")),
        StepCommand(sideways_m=float(f"{_SIDEWAYS * length:.3g}")),
        StepCommand(turn_rad=_TURN),
    )
    settings, balance = SimulationSection(), BalanceSection()
    try:
        place, stepping = fit_steps(robot, section, balance, SteppingSection(commands=commands), settings)
    except (BalanceError, RetargetError) as error:
        return [Finding("step", "step_length_fraction", "no", None, str(_LENGTH), str(error))], None
    timeline = build_standing_reference(robot, place, settings, None, "none")
    planned = _follow(robot, balance_run(robot, timeline, balance, stepping, settings).balancer)
    names = robot.joint_names
    step = float(stepping.step_length_m or 0.0)
    fast, strong = int(planned.speed.argmax()), int(planned.torque.argmax())
    lowered = f", the pelvis {-(place.height_m or 0.0):.3g} m lower" if place.height_m else ""
    findings = [
        judge(
            "step",
            "step_length_fraction",
            step / length,
            _LENGTH,
            f"of the leg's {length:.3g} m: the legs can make steps of {step:.3g} m{lowered}",
        ),
        judge(
            "step",
            "speed_fraction",
            float(planned.speed[fast]),
            _SPEED,
            f"{names[fast]} comes nearest to its speed limit in the planned steps",
        ),
        judge(
            "step",
            "torque_fraction",
            float(planned.torque[strong]),
            _TORQUE,
            f"{names[strong]} comes nearest to its torque limit, {robot.motors.torque_limit[strong]:.3g} N·m",
        ),
        judge(
            "step",
            "zmp_inside_fraction",
            float(np.mean(planned.zmp_margin > 0.0)),
            _ZMP,
            "of the planned steps the ZMP of all bodies is inside the soles; "
            f"in the median {1000 * float(np.median(planned.zmp_margin)):.0f} mm from their edge",
        ),
    ]
    return findings, Steps(place, stepping)


def _follow(robot: Robot, balancer: OnlineBalance) -> _Planned:
    """Follow planned steps with ideal measurements."""
    whole, gait = balancer.whole, balancer.gait
    model, data = robot.model, robot.model.createData()
    feet = [model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES]
    corners = [robot.soles[f"{side}_foot"] for side in SIDES]
    legs, ticks = whole.legs, len(gait.zmp) - 1
    speed, torque = np.zeros(len(robot.joint_names)), np.zeros(len(robot.joint_names))
    momentum, cog = np.zeros((ticks, 6)), np.zeros((ticks, 3))
    points = np.full((ticks, 8, 2), np.nan)
    fastest = model.velocityLimit[6:]
    for tick in range(ticks):
        q = whole.configuration.copy()
        whole.tick(tick, None, None)
        momentum[tick] = pin.computeCentroidalMomentum(model, data, q, whole.velocity)
        cog[tick] = data.com[0]
        for foot, frame in enumerate(feet):
            if gait.contact[tick, foot]:
                sole = pin.updateFramePlacement(model, data, frame)
                points[tick, 4 * foot : 4 * foot + 4] = [sole.act(corner)[:2] for corner in corners[foot]]
        speed[legs] = np.maximum(speed, np.abs(whole.velocity[6:]) / fastest)[legs]
        torque = np.maximum(torque, np.abs(whole.torque) / robot.motors.torque_limit)
    rate = np.asarray(np.gradient(momentum, gait.timestep, axis=0))
    mass, none = pin.computeTotalMass(model), np.zeros(3)
    zmp = zmp_from_momentum(mass, _GRAVITY, cog, rate[:, :3], rate[:, 3:], none, none)
    return _Planned(speed, torque, support_margins(zmp, support_polygons(points)))
