"""Balance in a run: the gait a scenario asks for, and the loop that moves the reference by measurements."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.controller.feasibility import check_gait_feasibility
from simbench.balance.controller.whole_body import WholeBodyController, WholeBodyPlan
from simbench.balance.gait.footsteps import Command, Forward, March, Sideways, Turn, plan_footsteps
from simbench.balance.gait.gait import Gait, extend_gait, standing_gait
from simbench.balance.gait.stepping import StepTiming, plan_gait, sole_centres
from simbench.balance.inverted_pendulum import CogZmpGains, check_gains, natural_frequency
from simbench.balance.standing.standing import Stance
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.options import BalanceSection, SimulationSection, StepCommand, SteppingSection
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.sim.state import RobotState


class OnlineBalance:
    """Writes what `WholeBodyController` decides into the reference of a run.

    Parameters
    ----------
    whole : WholeBodyController
    every : int
        Physics steps of a tick.
    gait : Gait
    feedforward : bool
        Whether the torques are written, too.
    """

    def __init__(
        self, whole: WholeBodyController, every: int, gait: Gait, *, feedforward: bool = True
    ) -> None:
        self.whole, self.every, self.gait, self.feedforward = whole, every, gait, feedforward

    def command(
        self, step: int, state: RobotState, foot_wrench: NDArray[np.float64], reference: Reference
    ) -> None:
        """Overwrite the legs' rows of a tick, and all feed-forward torques."""
        whole = self.whole
        before = whole.configuration.copy()
        whole.tick(step // self.every, state.q, foot_wrench)
        _write_legs(
            step,
            self.every,
            whole.legs,
            before,
            whole.configuration,
            whole.velocity,
            reference.position,
            reference.velocity,
        )
        if self.feedforward:
            reference.feedforward[step : step + self.every] = whole.torque


@compiled
def _write_legs(
    step: int,
    every: int,
    legs: NDArray[np.int64],
    before: Array,
    after: Array,
    speed: Array,
    position: Array,
    velocity: Array,
) -> None:
    """Write the rows of a tick, positions in equal steps from one configuration to the next."""
    for row in range(step, min(step + every, len(position))):
        share = (row - step + 1) / every
        for leg in legs:
            position[row, leg] = before[7 + leg] + share * (after[7 + leg] - before[7 + leg])
            velocity[row, leg] = speed[6 + leg]


@dataclass(frozen=True)
class BalancedRun:
    """A run's reference, as long as its gait, and what balances it.

    Parameters
    ----------
    timeline : Timeline
    balancer : OnlineBalance
    """

    timeline: Timeline
    balancer: OnlineBalance


def balance_run(
    robot: Robot,
    timeline: Timeline,
    balance: BalanceSection,
    stepping: SteppingSection | None,
    settings: SimulationSection,
    *,
    feedforward: str = "inverse_dynamics",
) -> BalancedRun:
    """Set up balance for a run.

    Parameters
    ----------
    robot : Robot
        With two legs, as balance knows it.
    timeline : Timeline
        What arms, trunk and head do; without stepping also what pelvis and legs do.
    balance : BalanceSection
    stepping : SteppingSection or None
        Stands on both feet if None.
    settings : SimulationSection
    feedforward : str
        As in `ControlSection`; any but `inverse_dynamics` is the timeline's own.

    Returns
    -------
    BalancedRun

    Raises
    ------
    BalanceError
        If the gains are not stable, the robot has no two legs, or a step is out of its reach.
    """
    every = round(1.0 / (settings.timestep_s * balance.rate_hz))
    tick = every * settings.timestep_s
    stance = _stance(robot, timeline)
    q = np.concatenate([timeline.base, timeline.reference.position[0]])
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q).copy()
    omega = natural_frequency(float(cog[2]))
    gains = CogZmpGains(balance.gain_cog, balance.gain_zmp)
    check_gains(gains, omega)
    if stepping is None:
        plan = _standing_plan(timeline, stance, every, tick)
    else:
        gait = _gait(robot, stance, stepping, settings.settle_s, tick, omega)
        timeline = _as_long_as(timeline, every * (len(gait.zmp) - 1))
        plan = _stepping_plan(timeline, gait, every, cog)
        check_gait_feasibility(robot, plan)
    whole = WholeBodyController(
        robot,
        plan,
        gains,
        control=balance.control,
        embedding=balance.embedding,
        recovery=balance.recovery == "step",
    )
    balancer = OnlineBalance(whole, every, whole.gait, feedforward=feedforward == "inverse_dynamics")
    return BalancedRun(timeline, balancer)


def _stance(robot: Robot, timeline: Timeline) -> Stance:
    """Where the feet are at the start."""
    data = robot.model.createData()
    joints = timeline.reference.position[0]
    pin.framesForwardKinematics(robot.model, data, np.concatenate([timeline.base, joints]))
    soles = {
        side: data.oMf[robot.model.getFrameId(robot.frames[f"{side}_foot"])].copy()
        for side in SIDES
        if f"{side}_foot" in robot.frames
    }
    corners = np.vstack(
        [[sole.act(corner) for corner in robot.soles[f"{s}_foot"]] for s, sole in soles.items()]
    )
    target = 0.5 * (corners[:, :2].min(axis=0) + corners[:, :2].max(axis=0))
    return Stance(soles, timeline.base, joints, target)


def _commands(section: SteppingSection) -> list[Command]:
    """Translate a scenario's commands into the gait's."""

    def command(asked: StepCommand) -> Command:
        if asked.march is not None:
            return March(asked.march)
        if asked.forward_m is not None:
            return Forward(asked.forward_m, section.step_length_m)
        if asked.sideways_m is not None:
            return Sideways(asked.sideways_m, section.step_width_m)
        return Turn(float(asked.turn_rad or 0.0), section.step_turn_rad)

    return [command(asked) for asked in section.commands]


def _gait(
    robot: Robot, stance: Stance, section: SteppingSection, settle: float, tick: float, omega: float
) -> Gait:
    """Plan the steps a scenario asks for, after the time in which nothing moves."""
    timing = StepTiming(
        section.single_support_s, section.double_support_s, section.lift_m, settle + section.settle_s
    )
    middles: Mapping[str, Array] = sole_centres(robot, section.zmp_inset_m)
    try:
        steps = plan_footsteps(robot, stance, _commands(section))
        return plan_gait(stance.soles, steps, timing, tick, omega, middles)
    except BalanceError as error:
        # A gait's settle_s is the sum of the scenario's two.
        text = str(error).replace("gait.settle_s", "simulation.settle_s + stepping.settle_s")
        text = text.replace("gait.", "stepping.")
        raise BalanceError(text if "stepping." in text else f"stepping: {text}") from None


def _as_long_as(timeline: Timeline, steps: int) -> Timeline:
    """Hold the end of a timeline until a gait is over."""
    reference = timeline.reference
    missing = steps - len(reference.position)
    if missing <= 0:
        return timeline

    def held(rows: Array, at_rest: bool) -> Array:
        last = np.zeros_like(rows[-1:]) if at_rest else rows[-1:]
        return np.concatenate([rows, np.repeat(last, missing, axis=0)])

    longer = Reference(
        position=held(reference.position, at_rest=False),
        velocity=held(reference.velocity, at_rest=True),
        feedforward=held(reference.feedforward, at_rest=False),
        acceleration=held(reference.acceleration, at_rest=True),
        grip=np.concatenate([reference.grip, np.repeat(reference.grip[-1:], missing, axis=0)]),
    )
    return replace(timeline, reference=longer)


def _at_ticks(rows: Array, start: Array, every: int) -> Array:
    """Sample rows that hold for the ends of steps at the ticks, from the start on."""
    return np.concatenate([start[None], rows[every - 1 :: every]])


def _stepping_plan(timeline: Timeline, gait: Gait, every: int, cog: Array) -> WholeBodyPlan:
    """Arms as planned, upright body, COG at one height."""
    position = timeline.reference.position
    joints = _at_ticks(position, position[0], every)
    samples = len(gait.zmp)
    if len(joints) > samples:
        gait = extend_gait(gait, len(joints))
    yaw = gait.pelvis_yaw
    body = np.zeros((len(yaw), 4))
    body[:, 2], body[:, 3] = np.sin(0.5 * yaw), np.cos(0.5 * yaw)
    return WholeBodyPlan(gait, joints, timeline.base, np.full(len(yaw), cog[2]), body)


def _standing_plan(timeline: Timeline, stance: Stance, every: int, tick: float) -> WholeBodyPlan:
    """Everything as planned, both feet on the ground."""
    position = timeline.reference.position
    joints = _at_ticks(position, position[0], every)
    rows = np.concatenate([[0], np.arange(every - 1, len(position), every)])
    if len(rows) < 3:
        raise BalanceError(
            f"simulation.settle_s + simulation.hold_s: {timeline.time[-1]:g}; "
            f"allowed: at least {2.0 * tick:g}, two ticks of balance"
        )
    cog, zmp, base = timeline.cog[rows], timeline.zmp[rows], timeline.base_path[rows]
    gait = standing_gait(stance.soles, cog[:, :2], zmp, tick, len(rows))
    return WholeBodyPlan(gait, joints, timeline.base, cog[:, 2], base[:, 3:])
