"""A step that catches a falling robot: which foot, where to and how long, by the capture point."""

import math
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.balance.standing.support import support_margin, support_polygon
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

EDGE = 0.03
"""The ZMP of a recovery keeps this far inside the soles, m."""
_SHORTEST = 0.28
"""Duration of a swing, s."""
_PEAK = 1.875
"""Largest speed of a minimum-jerk way over its mean speed."""
_SPEED_SHARE = 0.8
"""Of the hip's speed limit that a swinging foot takes."""
_CLEARANCE = 0.02
"""Between two soles side by side, m."""
_LONGEST, _WIDEST = 0.65, 0.7
"""Of a step from foot to foot, ahead and aside, in leg lengths."""


@dataclass(frozen=True)
class Legs:
    """What of a robot's legs matters to a step.

    Parameters
    ----------
    length : float
        From hip to ankle, straight, m.
    speed : float
        Of a swinging foot at most, m/s.
    soles : (2, 4, 2) array
        Corners of left and right sole in the foot frames, m.
    pivots : (2, 4, 2) array
        Corners of where the ZMP may be in them, m.
    """

    length: float
    speed: float
    soles: Array
    pivots: Array


@dataclass(frozen=True)
class CaptureStep:
    """A foot goes to a place while the robot stands on the other.

    Parameters
    ----------
    foot : int
        0 left, 1 right.
    target : (2,) array
        Of the foot frame, m.
    duration : float
        Of the whole swing, s.
    pivot : (2,) array
        Where the ZMP is meanwhile, m.
    missed : float
        By how much the sole's middle falls short of the capture point, m.
    """

    foot: int
    target: Array
    duration: float
    pivot: Array
    missed: float


def measure_legs(robot: Robot) -> Legs:
    """Measure what a step needs to know of a robot's legs.

    Parameters
    ----------
    robot : Robot
        With two legs of equal length.

    Returns
    -------
    Legs
    """
    model, data = robot.model, robot.model.createData()
    pin.forwardKinematics(model, data, pin.neutral(model))
    joints = [model.getJointId(name) for name in robot.groups["left_leg"]]
    places = [data.oMi[joint].translation for joint in joints]
    bend = np.linalg.norm(np.diff(places, axis=0), axis=1)
    hip = joints[0]
    speed = min(model.velocityLimit[model.joints[joint].idx_v] for joint in joints if joint != hip)
    length = float(bend.sum())
    soles = np.array([robot.soles[f"{side}_foot"][:, :2] for side in SIDES])
    middles = soles.mean(axis=1, keepdims=True)
    inner = soles - EDGE * np.sign(soles - middles)
    return Legs(length, _SPEED_SHARE * float(speed) * length, soles, inner)


def laid_down(corners: Array, place: Array, yaw: float) -> Array:
    """Lay a sole down.

    Parameters
    ----------
    corners : (4, 2) array
        In the foot frame, m.
    place : (2,) array
        m.
    yaw : float
        rad.

    Returns
    -------
    (4, 2) array
        Corners, m.
    """
    return place + corners @ _rotation(yaw).T


def nearest_inside(point: Array, corners: Array) -> Array:
    """Find the point of a convex polygon that is nearest to a point.

    Parameters
    ----------
    point : (2,) array
        m.
    corners : (N, 2) array
        Of which the hull is meant, m.

    Returns
    -------
    (2,) array
        m.
    """
    polygon = support_polygon(corners)
    if support_margin(point, polygon) >= 0.0:
        return point
    start, way = polygon, np.roll(polygon, -1, axis=0) - polygon
    share = np.sum((point - start) * way, axis=1) / np.sum(way**2, axis=1)
    feet = start + share.clip(0.0, 1.0)[:, None] * way
    nearest: Array = feet[np.sum((feet - point) ** 2, axis=1).argmin()]
    return nearest


def choose_step(
    legs: Legs,
    omega: float,
    capture_point: Array,
    place: Array,
    yaw: Array,
    load: Array,
    only: int | None,
    passed: float,
) -> CaptureStep:
    """Choose the step after which the ZMP can stop the COG.

    While the robot stands on one foot, the ZMP is at the point p of its sole nearest to the capture point
    ξ = c + ċ/ω, which runs away as ξ(T) = p + (ξ − p) e^(ωT) until the other foot comes down with its sole's
    middle there. Of both feet the one is taken that comes nearer to that; of equals, the one that carries
    less.

    Parameters
    ----------
    legs : Legs
    omega : float
        The pendulum's natural frequency, 1/s.
    capture_point : (2,) array
        ξ, m.
    place, yaw : (2, 2), (2,) array
        Of the feet before the step, m and rad.
    load : (2,) array
        Vertical force on each, N.
    only : int or None
        The foot that swings already.
    passed : float
        For how long it has, s.

    Returns
    -------
    CaptureStep
    """
    candidates = []
    for foot in (0, 1) if only is None else (only,):
        stands = 1 - foot
        turn = _rotation(yaw[stands])
        pivot = nearest_inside(capture_point, laid_down(legs.pivots[stands], place[stands], yaw[stands]))
        middle = turn @ legs.soles[foot].mean(axis=0)
        duration, target, missed = _SHORTEST, place[foot], 0.0
        for _ in range(4):
            arrives = pivot + (capture_point - pivot) * math.exp(omega * max(duration - passed, 0.0))
            target = place[stands] + turn @ _within_reach(
                legs, foot, turn.T @ (arrives - middle - place[stands])
            )
            missed = float(np.linalg.norm(arrives - middle - target))
            way = float(np.linalg.norm(target - place[foot]))
            duration = max(_SHORTEST, _PEAK * way / legs.speed)
        candidates.append((round(missed, 2), load[foot], CaptureStep(foot, target, duration, pivot, missed)))
    return min(candidates, key=lambda candidate: candidate[:2])[2]


def _within_reach(legs: Legs, foot: int, relative: Array) -> Array:
    """Bring a place, as seen from the standing foot, to where the other foot can go."""
    half = 0.5 * np.ptp(legs.soles[:, :, 1], axis=1).sum()
    across = relative[1] if foot == 0 else -relative[1]
    across = min(max(across, half + _CLEARANCE), _WIDEST * legs.length)
    along = min(max(relative[0], -_LONGEST * legs.length), _LONGEST * legs.length)
    return np.array((along, across if foot == 0 else -across))


def _rotation(yaw: float) -> Array:
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return np.array(((cosine, -sine), (sine, cosine)))
