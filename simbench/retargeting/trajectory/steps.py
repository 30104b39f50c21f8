"""Feet, ZMP and the upper body of a trajectory in time, with rest before and after."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.interpolate import BPoly
from scipy.ndimage import gaussian_filter1d

from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import Stance, leg_columns, stand
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RobotSection, SimulationSection
from simbench.retargeting.reference.assembly import (
    MAX_LEAD_STRETCH,
    SampledMotion,
    Segment,
    assemble,
    run_up,
    sample_lead_times,
    sample_motion,
    stretch_lead,
)
from simbench.retargeting.trajectory.curves import (
    Flags,
    SolePath,
    cog_heights,
    compute_soles,
    continuous_quaternions,
    fit_curve,
    sample_configurations,
)
from simbench.retargeting.trajectory.footholds import LANDING_TIME, FootPlan, find_contacts, plan_feet
from simbench.retargeting.trajectory.rest import solve_rest
from simbench.retargeting.trajectory.support import support_zmp
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_TIME_CONSTANTS = 4.0
"""Time constants 1 / ω of the pendulum at rest before and after, in which the COG gets under way."""
_LEAST_LIFT = 0.04
"""Least height of a swing as a part of the leg's length: that of planned steps."""
_SHORTEST_LEAD = 0.3
"""Shortest way from rest to the motion, s."""
_BODY_BANDWIDTH = 5.0
"""Bandwidth of the root's orientation and the COG's height, Hz: noise of them would go to every torque."""
_ZMP_RATE = 100.0
"""Rate at which the ZMP of the trajectory is computed, Hz."""
_ZMP_BANDWIDTH = 5.0
"""Bandwidth of that ZMP, Hz: above is the noise of samples that were differentiated twice."""


@dataclass(frozen=True)
class TrajectoryTask:
    """A placed trajectory and the sections of the scenario by which a robot on feet follows it.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    trajectory : JointTrajectory
        Motion in the world, joints inside their limits.
    section : RobotSection
        Posture in which the robot rests before and after.
    settings : SimulationSection
        Physics step, and times to settle, lead in and hold.
    every : int
        Physics steps in a tick of the balance controller.
    """

    robot: Robot
    trajectory: JointTrajectory
    section: RobotSection
    settings: SimulationSection
    every: int

    @property
    def tick(self) -> float:
        """Period of the balance controller, s."""
        return self.every * self.settings.timestep_s

    @property
    def duration(self) -> float:
        """Duration of the trajectory, s."""
        return float(self.trajectory.time[-1])


class PlannedSteps(NamedTuple):
    """Feet, ZMP and the curve of all other things, sampled.

    Parameters
    ----------
    start : float
        Time of the trajectory's first sample, s.
    sampled : SampledMotion
        Joints, root quaternion and height of the COG at every physics step.
    feet : FootPlan
        Planned feet at every tick.
    zmp : (N, 2) array
        Desired ZMP at every tick, m.
    soles : SolePath
        Soles of the trajectory at every tick of its duration.
    contact : (M, 2) bool array
        Whether they touch the floor.
    first : int
        First tick of the trajectory's duration.
    rest : (7 + n,) array
        Posture at the start.
    """

    start: float
    sampled: SampledMotion
    feet: FootPlan
    zmp: Array
    soles: SolePath
    contact: Flags
    first: int
    rest: Array


def plan_steps(setting: TrajectoryTask) -> PlannedSteps:
    """Plan feet, ZMP, joints, the root's orientation and the height of the COG in time.

    Parameters
    ----------
    setting : TrajectoryTask
        The trajectory, and how it is to be followed.

    Returns
    -------
    PlannedSteps
        Everything but the legs and the COG's horizontal motion.

    Raises
    ------
    RetargetError
        If the robot cannot stand where the trajectory begins or ends.
    """
    robot, settings, tick = setting.robot, setting.settings, setting.tick
    assert setting.trajectory.base is not None
    q = np.hstack([setting.trajectory.base, setting.trajectory.q])
    heights = cog_heights(robot, q)
    omega = natural_frequency(float(np.clip(heights.mean(), 0.05, None)))
    clock = np.linspace(0.0, setting.duration, max(round(setting.duration / tick), 2) + 1)
    soles = compute_soles(robot, sample_configurations(setting.trajectory, clock))
    contact = find_contacts(clock, soles)
    lift = _LEAST_LIFT * leg_length(robot)
    alone = plan_feet(soles, contact, tick, 1, round(1.0 / tick), lift)
    ends = [np.column_stack([alone.position[row, :, :2], alone.yaw[row]]) for row in (0, -1)]
    middles = [middle_of_soles(robot, feet) for feet in ends]
    body = np.hstack([continuous_quaternions(q[:, 3:7]), heights[:, None]])
    period = setting.duration / (len(q) - 1)
    values = np.hstack([setting.trajectory.q, _low_pass(body, _BODY_BANDWIDTH, period)])
    pause = _TIME_CONSTANTS / omega
    leads, rests = [], []
    for end, place in enumerate(zip(ends, middles, strict=True)):
        waiting = settings.hold_s if end else settings.settle_s
        least = max(settings.lead_in_s, pause - waiting, _SHORTEST_LEAD)
        lead, rest = plan_lead(setting, values, -end, place, least)
        leads.append(lead)
        rests.append(rest)
    whole = assemble(leads[0], Segment(setting.trajectory.time, values), leads[1])
    sampled = sample_motion(fit_curve(whole.time, whole.joints), settings, float(whole.time[-1]))
    before, after = float(leads[0].time[-1]), float(leads[1].time[-1])
    start = settings.settle_s + before
    total = len(sampled.clock) // setting.every + 1
    first = round(start / tick)
    count = min(len(clock), total - first)
    feet = plan_feet(
        soles.first(count),
        contact[:count],
        tick,
        first,
        total - first - count,
        lift,
    )
    zmp = _desired_zmp(setting, feet, middles, (settings.settle_s, start, start + setting.duration, after))
    return PlannedSteps(start, sampled, feet, zmp, soles, contact, first, rests[0])


def plan_lead(
    setting: TrajectoryTask, values: Array, sample: int, place: tuple[Array, Array], duration: float
) -> tuple[Segment, Array]:
    """Plan the way from rest to the first or the last sample of a motion.

    Parameters
    ----------
    setting : TrajectoryTask
        The motion, and the posture in which the robot rests.
    values : (T, n + 5) array
        Joint positions (rad), quaternion of the root link and height of the COG (m) at its samples.
    sample : int
        0 for the first sample, -1 for the last.
    place : ((2, 3) array, (2,) array)
        Feet (x, y, m, and yaw, rad) and the point over which the COG rests, m.
    duration : float
        Shortest duration, s.

    Returns
    -------
    lead : Segment
        The way from rest to the sample.
    rest : (7 + n,) array
        Posture at rest: root pose and joint positions.

    Raises
    ------
    RetargetError
        If the robot cannot stand there, or a joint is too fast however long the way takes.
    """
    robot, section = setting.robot, setting.section
    n = len(robot.joint_names)
    feet, middle = place
    there = values[sample]
    curve = fit_curve(setting.trajectory.time, values)
    velocity = curve.derivative()(setting.trajectory.time[[0, -1]])[sample]
    velocity = velocity if sample == 0 else -velocity
    if setting.settings.lead_in_s > 0.0:
        stance = stand(robot, (0.0, 0.0), float(feet[:, 2].mean()), section.posture, section.height_m or 0.0)
    else:
        assert setting.trajectory.base is not None
        base = setting.trajectory.base[sample]
        stance = Stance({}, base.copy(), there[:n], middle)
    rest = solve_rest(robot, stance, feet, middle)
    quaternion = rest[3:7] * (1.0 if rest[3:7] @ there[n : n + 4] >= 0.0 else -1.0)
    home = np.concatenate([rest[7:], quaternion, cog_heights(robot, rest[None])])
    # The legs' columns are not used, and root and COG have no limits.
    unlimited = np.ones(len(there), bool)
    unlimited[:n] = False
    unlimited[np.concatenate([leg_columns(robot, side) for side in SIDES])] = True
    limit, low, high = (np.full(len(there), value) for value in (np.inf, -np.inf, np.inf))
    limit[:n] = np.maximum(robot.model.velocityLimit[6:], 1.05 * np.abs(velocity[:n]))
    low[:n], high[:n] = robot.model.lowerPositionLimit[7:], robot.model.upperPositionLimit[7:]
    limit[unlimited], low[unlimited], high[unlimited] = np.inf, -np.inf, np.inf
    still = np.zeros_like(there)

    def plan_quintic(duration: float) -> Segment:
        clock = sample_lead_times(duration)
        path = BPoly.from_derivatives([0.0, duration], [[home, still, still], [there, still, still]])(clock)
        return Segment(clock, path + run_up(clock, path, velocity, duration, (low, high)))

    where = f"{robot.name}: between its posture and the trajectory"
    return stretch_lead(plan_quintic, duration, MAX_LEAD_STRETCH * duration, limit, where), rest


def _low_pass(values: Array, bandwidth: float, period: float) -> Array:
    """Filter even samples (T, k) by a Gaussian without delay, half as strong at its bandwidth, Hz."""
    width = np.sqrt(np.log(4.0)) / (2.0 * np.pi * bandwidth * period)
    return np.asarray(gaussian_filter1d(values, width, axis=0, mode="nearest"))


def middle_of_soles(robot: Robot, feet: Array) -> Array:
    """Find the middle between the centres of both soles.

    Parameters
    ----------
    robot : Robot
        Robot with two soles.
    feet : (2, 3) array
        Left and right foot frame: x, y, m, and yaw, rad.

    Returns
    -------
    (2,) array
        The middle, m.
    """
    centres = []
    for side, (x, y, yaw) in zip(SIDES, feet, strict=True):
        corners = robot.soles[f"{side}_foot"][:, :2]
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        centres.append(pin.utils.rotate("z", float(yaw))[:2, :2] @ middle + [x, y])
    return np.asarray(np.mean(centres, axis=0))


def _desired_zmp(
    setting: TrajectoryTask, feet: FootPlan, middles: list[Array], times: tuple[float, float, float, float]
) -> Array:
    """Desired ZMP (N, 2) at every tick: between both feet at the ends, as the motion requires in between."""
    settle, start, end, after = times
    clock = np.linspace(0.0, setting.duration, max(round(setting.duration * _ZMP_RATE), 8) + 1)
    q = sample_configurations(setting.trajectory, clock)
    raw = planned_zmp(setting.robot, clock, q[:, :7], q[:, 7:])[0]
    # In flight nothing carries the motion: what is not finite or far away is brought to the soles anyhow.
    raw = np.clip(np.nan_to_num(raw, nan=0.0, posinf=0.0, neginf=0.0), -1e3, 1e3)
    raw = _low_pass(raw, _ZMP_BANDWIDTH, float(clock[1] - clock[0]))
    ticks: Array = setting.tick * np.arange(len(feet.contact), dtype=np.float64)
    wanted = np.stack([np.interp(ticks - start, clock, raw[:, axis]) for axis in (0, 1)], axis=1)
    # A foot that is in the air at the first sample is lifted before: then the other one carries already.
    lifted = 0.0 if feet.contact[min(round(start / setting.tick), len(ticks) - 1)].all() else LANDING_TIME
    leading = minimum_jerk(ticks, settle, max(start - settle - lifted, _SHORTEST_LEAD))[:, None]
    leaving = minimum_jerk(ticks, end, after)[:, None]
    wanted = middles[0] + leading * (wanted - middles[0])
    wanted = wanted + leaving * (middles[1] - wanted)
    return support_zmp(setting.robot, wanted, feet, setting.tick)
