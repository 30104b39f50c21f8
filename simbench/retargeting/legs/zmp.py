"""The desired ZMP of footsteps: from sole to sole, and between both feet where the person's weight is."""

from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals
from simbench.kinematics.profiles import minimum_jerk
from simbench.retargeting.legs.body import PersonBody, low_pass
from simbench.retargeting.legs.contacts import FootContact
from simbench.retargeting.reference.trajectory_steps import FootPlan, nearest_supported
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

TRANSFER_TIME = 0.4
"""Longest time in which the ZMP moves from one sole to the next, s: a person's double support takes 0.1 to
0.3."""
_SWAY_BANDWIDTH = 2.0
"""Bandwidth of the person's weight between their feet, Hz: above is the noise of accelerations."""
_ROLL_FRACTION = 0.25
"""Part of half a sole's length by which the ZMP moves to either side of its middle while the robot steps over
it, as the person's rolls from heel to toe; the balance controller needs the rest."""
_ROLL_STEP = 0.15
"""The same as a part of the distance from the other foot's last place to its next one."""

_LEAST_LOAD = 0.35
"""Least part of the weight on a foot that lands and lifts again while the other one stays: one that carries
less bounces."""


def weight_between_feet(body: PersonBody, contacts: tuple[FootContact, ...], time: Array) -> Array:
    """Estimate where between both feet a person's ZMP is, while both stand.

    The ZMP of the inverted pendulum, p = c − c̈ z / g, on the line between the ankles: 0 over the right, 1
    over the left one.

    Parameters
    ----------
    body : PersonBody
        Motion of the person's body, T samples.
    contacts : tuple of FootContact
        Stays of their feet on the floor.
    time : (T,) array
        Times of the samples, s.

    Returns
    -------
    (T,) array
        Part of the way from the right to the left foot, 0 to 1; 0.5 where not both feet stand.
    """
    rate = (len(time) - 1) / (time[-1] - time[0])
    cog = low_pass(body.cog, _SWAY_BANDWIDTH, rate)
    acceleration = np.gradient(np.gradient(cog[:, :2], time, axis=0), time, axis=0)
    zmp = cog[:, :2] - acceleration * cog[:, 2:] / GRAVITY
    places = np.full((len(time), 2, 2), np.nan)
    for contact in contacts:
        places[(time >= contact.landing) & (time <= contact.lift), contact.foot] = contact.position
    line = places[:, 0] - places[:, 1]
    along = np.sum((zmp - places[:, 1]) * line, axis=1) / np.maximum(np.sum(line**2, axis=1), 1e-6)
    return np.clip(np.nan_to_num(along, nan=0.5), 0.0, 1.0)


def plan_zmp(robot: Robot, feet: FootPlan, clock: Array, weight: Array) -> Array:
    """Plan the ZMP of footsteps.

    On one foot it moves over the middle of the sole from back to front, as far as the step is long. From sole
    to sole it moves by minimum jerk, in the whole double support or, in a long one, in 0.4 s at its ends;
    between, it is where the person's weight is.

    Parameters
    ----------
    robot : Robot
        Robot with two soles.
    feet : FootPlan
        Planned feet, N samples.
    clock : (N,) array
        Time of the samples, s.
    weight : (N,) array
        Part of the way from the right to the left sole at which the ZMP is to be while both feet stand long.

    Returns
    -------
    (N, 2) array
        Desired ZMP in the world frame, m, in the soles' support polygon.
    """
    middles = np.stack([_middles(robot, feet, foot) for foot in range(2)], axis=1)
    line = middles[:, 0] - middles[:, 1]
    between = middles[:, 1] + weight[:, None] * line
    loaded = middles[:, 1] + np.clip(weight, _LEAST_LOAD, 1.0 - _LEAST_LOAD)[:, None] * line
    zmp = between.copy()
    single: NDArray[np.bool_] = feet.contact.sum(axis=1) == 1
    intervals = contact_intervals(np.asarray(single))
    for first, last in intervals:
        # Contacts of one foot that follow each other without double support are planned one by one.
        zmp[first : last + 1] = _rolling(robot, feet, middles, int(first), int(last))
    double = [(int(before[1]) + 1, int(after[0]) - 1) for before, after in pairwise(intervals)]
    if len(intervals):
        double = [(0, int(intervals[0][0]) - 1), *double, (int(intervals[-1][1]) + 1, len(clock) - 1)]
    for first, last in double:
        if last < first:
            continue
        alone = [feet.contact[row] for row in (first - 1, last + 1) if 0 <= row < len(clock)]
        returns = len(alone) == 2 and bool((alone[0] == alone[1]).all())
        _transfer(zmp, loaded if returns else between, clock, (first, last), returns=returns)
    return nearest_supported(robot, zmp, feet)


def _transfer(zmp: Array, between: Array, clock: Array, interval: tuple[int, int], *, returns: bool) -> None:
    """Move the ZMP in a double support from where it was to where it goes; written in place.

    `returns` tells that the same foot stands alone before and after it.
    """
    first, last = interval
    rows = slice(first, last + 1)
    inside = clock[rows]
    before = zmp[first - 1] if first > 0 else None
    after = zmp[last + 1] if last + 1 < len(zmp) else None
    duration = float(inside[-1] - inside[0])
    if before is not None and after is not None and duration <= 2.0 * TRANSFER_TIME:
        direct = before + minimum_jerk(inside, float(inside[0]), max(duration, 1e-6))[:, None] * (
            after - before
        )
        if returns:
            # A foot that lands and lifts again while the other one stays bounces if it carries nothing.
            rise = max(0.5 * min(duration, TRANSFER_TIME), 1e-6)
            there = minimum_jerk(inside, float(inside[0]), rise) - minimum_jerk(
                inside, float(inside[-1]) - rise, rise
            )
            part = duration / (2.0 * TRANSFER_TIME)
            direct += part * there[:, None] * (between[rows] - direct)
        zmp[rows] = direct
        return
    path = between[rows].copy()
    part = min(TRANSFER_TIME, duration)
    if before is not None:
        path += (1.0 - minimum_jerk(inside, float(inside[0]), part))[:, None] * (before - path)
    if after is not None:
        path += minimum_jerk(inside, float(inside[-1]) - part, part)[:, None] * (after - path)
    zmp[rows] = path


def _middles(robot: Robot, feet: FootPlan, foot: int) -> Array:
    """Middle (N, 2) of a sole, m."""
    corners = robot.soles[f"{SIDES[foot]}_foot"][:, :2]
    x, y = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
    cos, sin = np.cos(feet.yaw[:, foot]), np.sin(feet.yaw[:, foot])
    return np.asarray(feet.position[:, foot, :2] + np.column_stack([cos * x - sin * y, sin * x + cos * y]))


def _rolling(robot: Robot, feet: FootPlan, middles: Array, first: int, last: int) -> Array:
    """Path (K, 2) of the ZMP over the sole of a foot that stands alone, m."""
    foot = int(feet.contact[first].argmax())
    side, other = SIDES[foot], 1 - foot
    length = float(np.ptp(robot.soles[f"{side}_foot"][:, 0]))
    forward = pin.utils.rotate("z", float(feet.yaw[first, foot]))[:2, 0]
    ends = feet.position[[max(first - 1, 0), min(last + 1, len(feet.contact) - 1)], other, :2]
    stride = float((ends[1] - ends[0]) @ forward)
    most = 0.5 * _ROLL_FRACTION * length
    part = float(np.clip(_ROLL_STEP * stride, -most, most))
    progress = np.linspace(-1.0, 1.0, last - first + 1)
    return np.asarray(middles[first, foot] + part * progress[:, None] * forward)
