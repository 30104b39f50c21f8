"""Checks on balance: ZMP and COG against the support polygon, and whether the floor can give the force."""

import numpy as np
from scipy.ndimage import binary_erosion

from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.support import support_margins, support_polygons, zmp_from_wrench
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals
from simbench.runs.verdict.dynamics import GroundForces
from simbench.runs.verdict.judging import judge, lasting_excess, lasting_integral, not_applicable
from simbench.runs.verdict.motion_state import Flags, MotionState
from simbench.runs.verdict.outcome import Check
from simbench.runs.verdict.thresholds import (
    CAPTURE_SHIFT,
    COG_TIME,
    FLIGHT,
    FLOAT_HEIGHT,
    FRICTION,
    PULL,
    WRENCH,
    ZMP,
)

BALANCE_CHECKS = ("ZMP", "COG", "flight", "pull", "friction", "contact wrench")


def check_balance(state: MotionState, forces: GroundForces) -> list[Check]:
    """Check whether the floor can give the wrench that a motion needs.

    Returns ZMP and COG against the support polygon, force in flight, pull on the floor, friction, and the
    part of the wrench that no forces of the soles give.
    """
    feet = state.feet
    if not feet.roles:
        reason = "the base is fixed" if not state.robot.floating else "the robot has no soles"
        return [not_applicable(name, reason) for name in BALANCE_CHECKS]
    points = np.where(forces.bearing[..., None], feet.corners[..., :2], np.nan).reshape(
        len(state.time), -1, 2
    )
    polygons = support_polygons(points)
    stands = feet.contact.any(axis=1) & state.smooth
    vertical = forces.force[:, 2]
    pushes = stands & (vertical > 0.0)
    zmp = zmp_from_wrench(forces.force, forces.moment)
    outside = np.where(pushes, -support_margins(zmp, polygons), np.nan)
    leaving = _leaves_the_soles(state, forces, outside)
    sideways = np.linalg.norm(forces.force[:, :2], axis=1)
    friction = np.where(pushes, sideways / np.where(pushes, vertical, 1.0), np.nan)
    slips = lasting_excess(state.time, friction[:, None], FRICTION.value)
    return [
        _judge("ZMP", state, outside, ZMP.value, "m", leaving),
        _check_cog(state, forces, polygons),
        _check_flight(state, forces),
        _judge("pull", state, np.where(stands, -vertical / forces.weight, np.nan), PULL.value, "of weight"),
        _judge("friction", state, friction, FRICTION.value, "", slips[:, 0]),
        _check_wrench(state, forces, pushes & (outside <= 0.0) & (friction <= FRICTION.value)),
    ]


def _judge(
    name: str, state: MotionState, values: Array, limit: float, unit: str, failing: Flags | None = None
) -> Check:
    """Judge one value over time."""
    which = None if failing is None else failing[:, None]
    return judge(name, state.time, values[:, None], ("",), limit=limit, unit=unit, failing=which)


def _leaves_the_soles(state: MotionState, forces: GroundForces, outside: Array) -> Flags:
    """Find the samples in which the ZMP is outside the polygon for so long or so far that it matters.

    A ZMP that is held at the edge instead of a distance d beyond it moves the capture point by ω ∫ d dt.
    """
    omega = natural_frequency(float(np.median(forces.cog[:, 2])))
    # Without any polygon it is infinitely far; there is no contact then.
    beyond = np.nan_to_num(outside - ZMP.value, nan=0.0, posinf=0.0)
    return lasting_integral(state.time, omega * beyond[:, None], CAPTURE_SHIFT.value)[:, 0]


def _check_cog(state: MotionState, forces: GroundForces, polygons: Array) -> Check:
    """How long the COG is outside the support polygon without a break, s."""
    distance = -support_margins(forces.cog[:, :2], polygons)
    outside = np.isfinite(distance) & (distance > 0.0)
    lasted = np.zeros(len(state.time))
    failing = np.zeros(len(state.time), bool)
    for first, last in contact_intervals(outside):
        run = slice(first, last + 1)
        lasted[run] = state.time[run] - state.time[first]
        failing[run] = lasted[last] > COG_TIME.value
    return _judge("COG", state, lasted, COG_TIME.value, "s", failing)


def _check_flight(state: MotionState, forces: GroundForces) -> Check:
    """Force that a motion needs while the feet are in the air, where there is none."""
    feet = state.feet
    heights = feet.corners[..., 2].reshape(len(state.time), -1).min(axis=1)
    flying = np.zeros(len(state.time), bool)
    for first, last in contact_intervals(feet.airborne):
        flying[first : last + 1] = heights[first : last + 1].max() > FLOAT_HEIGHT.value
    size = np.linalg.norm(forces.force, axis=1) / forces.weight
    # Near take-off and landing the derivatives have some of the forces on the floor.
    inner = binary_erosion(feet.airborne, iterations=state.window // 2 + 1)
    values = np.where(np.logical_and.reduce([flying, inner, state.smooth]), size, np.nan)
    if np.isnan(values).all():
        return not_applicable("flight", "a foot is on the floor throughout")
    failing = lasting_excess(state.time, values[:, None], FLIGHT.value)[:, 0]
    return _judge("flight", state, values, FLIGHT.value, "of weight", failing)


def _check_wrench(state: MotionState, forces: GroundForces, judged: Flags) -> Check:
    """Part of the wrench that the soles cannot give, where neither ZMP nor friction says it already."""
    values = np.where(judged, forces.missing, np.nan)
    failing = lasting_excess(state.time, values[:, None], WRENCH.value)[:, 0]
    return _judge("contact wrench", state, values, WRENCH.value, "of weight", failing)
