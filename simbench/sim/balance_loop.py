"""Balance in a run: the gait of a scenario, and the loop that changes the reference by measurements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from pydantic import BaseModel
from scipy.interpolate import PPoly

from simbench.balance.gait import Command, Gait, extend_gait, plan_footsteps, standing_gait
from simbench.balance.ground_reaction import standing_torques
from simbench.balance.inverted_pendulum import CogZmpGains, choose_gains, natural_frequency
from simbench.balance.leg_ik import Stance, require_sideways_sway, stand
from simbench.balance.sections import limb_sections
from simbench.balance.step_planning import correct_cog, plan_gait, sole_centres
from simbench.balance.whole_body import WholeBodyController, WholeBodyPlan, check_gait_feasibility
from simbench.errors import BalanceError, PluginError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled_entry
from simbench.options import (
    BalanceSection,
    PushSection,
    RobotSection,
    SimulationSection,
    StepCommand,
    SteppingSection,
    end_of_pushes,
)
from simbench.plugins.declarations import call_plugin, plugin_maker
from simbench.retargeting.reference.reference import Reference, SampledMotion, Timeline
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.sim.loop import Balancer
from simbench.sim.state import RobotState


def build_standing_reference(
    robot: Robot,
    section: RobotSection,
    settings: SimulationSection,
    push: PushSection | None,
    feedforward: str,
) -> Timeline:
    """Build the constant reference of a robot that stands in a posture, until the last push is over.

    Feed-forward torques are those of standing still, or `none`.
    """
    limb_sections(robot)
    stance = stand(robot, section.position_m, section.heading_rad, section.posture, section.height_m or 0.0)
    duration = end_of_pushes(push) if push else 0.0
    # A constant joint curve: the motion consists of waiting for the pushes.
    sampled = SampledMotion(PPoly(stance.joints[None, None], [0.0, 1.0]), settings, duration)
    steps, joints = len(sampled.clock), stance.joints
    torque = np.zeros((1, len(joints)))
    if feedforward != "none":
        torque = standing_torques(robot, np.zeros(1), stance.base[None], joints[None], inertia=False)
    grip = np.zeros((steps, len(robot.hands)), dtype=bool)
    torque = np.tile(torque, (steps, 1))
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    cog = pin.centerOfMass(robot.model, robot.model.createData(), np.concatenate([stance.base, joints]))
    times = np.array([settings.settle_s, settings.settle_s + settings.hold_s + duration])
    base_path, zmp, cog = (np.tile(each, (steps, 1)) for each in (stance.base, stance.target, cog))
    still = np.zeros((steps, 3))
    return Timeline(reference, stance.base, settings.settle_s, times, None, base_path, zmp, cog, still)


_CORRECTIONS = 2  # Corrections of a gait's COG: each leaves about a tenth of the ZMP's error.


class OnlineBalance:
    """Writes the decisions of `WholeBodyController` into the reference of a run.

    `robot`: robot with two legs; `plan`: plan of the controller; `gains`: gains of its feedback, 1/s;
    `balance`: section `balance` of the scenario; `every`: number of physics steps in a tick of balance;
    `feedforward`: `control.feedforward` of the scenario: whether the feed-forward torques are written, too.
    """

    def __init__(
        self,
        robot: Robot,
        plan: WholeBodyPlan,
        gains: CogZmpGains,
        balance: BalanceSection,
        every: int,
        feedforward: str,
    ) -> None:
        self.whole = WholeBodyController(
            robot,
            plan,
            gains,
            control=balance.control,
            embedding=balance.embedding,
            recovery=balance.recovery,
        )
        # Footsteps, and desired ZMP and COG.
        self.gait, self.every = self.whole.gait, every
        self.feedforward = feedforward == "inverse_dynamics"

    def command(self, step: int, state: RobotState, foot_wrench: Array, reference: Reference) -> None:
        """Overwrite the legs' rows of a tick, and all feed-forward torques.

        `step`: index of this physics step, a multiple of `every`; `state`: measured state at the start of the
        step; `foot_wrench` (2, 6): measured wrench of the floor on each foot, N and N·m about the world's
        origin; `reference`: reference of the run; rows [step, step + every) are overwritten.
        """
        whole = self.whole
        before = whole.configuration.copy()
        whole.tick(step // self.every, state.q, foot_wrench)
        now, rows = (whole.configuration, whole.velocity), (reference.position, reference.velocity)
        _write_legs(step, self.every, whole.legs, before, *now, *rows)
        if self.feedforward:
            reference.feedforward[step : step + self.every] = whole.torque


@compiled_entry("before (q), after (q), position (S, n), velocity (S, n)")
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
        fraction = (row - step + 1) / every
        for leg in legs:
            position[row, leg] = before[7 + leg] + fraction * (after[7 + leg] - before[7 + leg])
            velocity[row, leg] = speed[6 + leg]


@dataclass(frozen=True)
class BalancedRun:
    """A run's reference, as long as its gait, and its balancer."""

    timeline: Timeline  # Reference of the run and the recording's place in it.
    balancer: OnlineBalance  # Changes the reference during the run.


def balance_run(
    robot: Robot,
    timeline: Timeline,
    balance: BalanceSection,
    stepping: SteppingSection | None,
    settings: SimulationSection,
    *,
    feedforward: str = "inverse_dynamics",
    reserve: float = 0.0,
) -> BalancedRun:
    """Set up balance for a run.

    `robot`: robot with two legs, without variations; `timeline`: planned motion of arms, trunk and head;
    without stepping also of pelvis and legs; `balance`: section `balance` of the scenario; `stepping`:
    section `stepping` of the scenario; None to stand on both feet; `settings`: section `simulation` of the
    scenario; `feedforward`: `control.feedforward` of the scenario: `inverse_dynamics` lets balance write the
    feed-forward torques, any other keeps the timeline's; `reserve`: part of the leg joints' ranges and speed
    limits that the steps are to leave. Returns reference, extended to the length of the gait, and the
    balancer. Raises BalanceError if the gains are not stable, the robot has no two legs, or a step is out of
    its reach.
    """
    every = round(1.0 / (settings.timestep_s * balance.rate_hz))
    tick = every * settings.timestep_s
    joints = timeline.reference.position[0]
    q = np.concatenate([timeline.base, joints])
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    soles = {
        side: data.oMf[robot.model.getFrameId(robot.frames[f"{side}_foot"])].copy()
        for side in SIDES
        if f"{side}_foot" in robot.frames
    }
    corners = np.vstack(
        [[sole.act(corner) for corner in robot.soles[f"{s}_foot"]] for s, sole in soles.items()]
    )
    target = 0.5 * (corners[:, :2].min(axis=0) + corners[:, :2].max(axis=0))
    stance = Stance(soles, timeline.base, joints, target)
    cog = pin.centerOfMass(robot.model, robot.model.createData(), q).copy()
    omega = natural_frequency(float(cog[2]))
    gains = choose_gains(balance.gain_cog, balance.gain_zmp, omega)
    if stepping is None:
        # Rows that hold for the ends of steps, at the ticks, from the start on.
        rows = np.concatenate([[0], np.arange(every - 1, len(timeline.reference.position), every)])
        if len(rows) < 3:
            raise BalanceError(
                f"simulation.settle_s + simulation.hold_s: {timeline.time[-1]:g}; "
                f"allowed: at least {2.0 * tick:g}, two ticks of balance"
            )
        # Both feet stand, and everything is as in the timeline.
        path = timeline.cog[rows]
        gait = standing_gait(stance.soles, path[:, :2], timeline.zmp[rows], tick, len(rows))
        base = timeline.base_path[rows, 3:]
        plan = WholeBodyPlan(gait, timeline.reference.position[rows], timeline.base, path[:, 2], base)
    else:
        gait = _gait(robot, stance, stepping, settings.settle_s, tick, omega)
        timeline = _as_long_as(timeline, every * (len(gait.zmp) - 1))
        position = timeline.reference.position
        joints = np.concatenate([position[:1], position[every - 1 :: every]])
        if len(joints) > len(gait.zmp):
            gait = extend_gait(gait, len(joints))
        # An upright body, and the COG at one height.
        yaw = gait.pelvis_yaw
        body = np.zeros((len(yaw), 4))
        body[:, 2], body[:, 3] = np.sin(0.5 * yaw), np.cos(0.5 * yaw)
        plan = WholeBodyPlan(gait, joints, timeline.base, np.full(len(yaw), cog[2]), body)
        known = plan
        if not balance.embedding.plan:
            known = replace(plan, joints=np.repeat(joints[:1], len(joints), axis=0))
        for _ in range(_CORRECTIONS):
            path = check_gait_feasibility(robot, known, reserve)
            known = replace(known, gait=correct_cog(robot, known.gait, path, float(cog[2])))
        plan = replace(plan, gait=known.gait)
        check_gait_feasibility(robot, plan, reserve)
    return BalancedRun(timeline, OnlineBalance(robot, plan, gains, balance, every, feedforward))


def balance_plan(
    robot: Robot,
    timeline: Timeline,
    plan: WholeBodyPlan,
    balance: BalanceSection,
    settings: SimulationSection,
    *,
    feedforward: str = "inverse_dynamics",
) -> BalancedRun:
    """Set up balance for a run whose feet, ZMP and COG are planned.

    `robot`: robot with two legs, without variations; `timeline`: planned motion at every physics step;
    `plan`: plan of the balance controller at every one of its ticks; `balance`: section `balance` of the
    scenario; `settings`: section `simulation` of the scenario; `feedforward`: `control.feedforward` of the
    scenario, as for `balance_run`. Returns the same reference, and the balancer. Raises BalanceError if the
    gains are not stable.
    """
    omega = natural_frequency(float(plan.cog_height[0]))
    gains = choose_gains(balance.gain_cog, balance.gain_zmp, omega)
    every = round(1.0 / (settings.timestep_s * balance.rate_hz))
    return BalancedRun(timeline, OnlineBalance(robot, plan, gains, balance, every, feedforward))


def _known(value: float | None) -> float:
    """Take a key of a section that `fit_steps` has completed."""
    assert value is not None
    return value


def _gait(
    robot: Robot, stance: Stance, section: SteppingSection, settle: float, tick: float, omega: float
) -> Gait:
    """Plan the steps of a scenario, after the time in which nothing moves."""
    middles: Mapping[str, Array] = sole_centres(robot, section.zmp_inset_m)

    def command(given: StepCommand) -> Command:
        if given.march is not None:
            return Command("march", given.march)
        if given.forward_m is not None:
            return Command("forward", given.forward_m, _known(section.step_length_m))
        if given.sideways_m is not None:
            return Command("sideways", given.sideways_m, _known(section.step_width_m))
        return Command("turn", float(given.turn_rad or 0.0), _known(section.step_turn_rad))

    require_sideways_sway(robot, stance)
    try:
        steps = plan_footsteps(robot, stance, [command(given) for given in section.commands])
        return plan_gait(
            stance.soles,
            steps,
            tick,
            omega,
            middles,
            single_support_s=section.single_support_s,
            double_support_s=section.double_support_s,
            lift_m=_known(section.lift_m),
            settle_s=settle + section.settle_s,
        )
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
    reference: str, options: BaseModel | None, robot: Robot, plan: BalancedRun, settings: SimulationSection
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
