"""Directions of a robot's feet in all steps at once, so that its root can turn with the person."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.retargeting.legs.footsteps import FootstepPlan, TimedStep
from simbench.retargeting.legs.leg_range import (
    INWARD_FRACTION,
    MAX_TURN_ACCELERATION,
    MAX_TWIST,
    OUTWARD_FRACTION,
    TWIST_FRACTION,
    LegRange,
)

_INTERVAL = 1.0 / 30.0
"""Interval of the samples of the root's rotation, s."""
_DIRECTION_WEIGHT = 0.1
"""Weight of a foot's direction while it stands against that of the root: the root shows where a person looks,
and a foot that turns on the floor has no one direction."""


class Heading(NamedTuple):
    """Where a person looks.

    Parameters
    ----------
    time : (T,) array
        Times of the recording's samples from 0 on, s.
    yaw : (T,) array
        Direction of the pelvis in the scenario's world frame, rad, without jumps.
    """

    time: Array
    yaw: Array


def choose_directions(
    plan: FootstepPlan, steps: Sequence[TimedStep], legs: LegRange, heading: Heading
) -> Array:
    """Choose the directions of all feet with which the root can turn nearest to the person.

    A linear program: the least mean of |root − heading|, and a tenth of the mean of |direction − wanted| of
    both feet over the times they stand. The root is within the range of both hips at all times, with feet
    that turn in a swing by a minimum-jerk profile; its angular acceleration is at most 20 rad/s²; the feet of
    each pair are within their range against each other, and a swing turns no faster than the hips do.

    Parameters
    ----------
    plan : FootstepPlan
        Wanted footsteps, of which the directions at the start are used.
    steps : sequence of TimedStep
        The K steps with the times at which the robot takes them.
    legs : LegRange
        Range of the legs.
    heading : Heading
        The person's heading.

    Returns
    -------
    (2 + K,) array
        Directions of the left and the right foot at the start and of all steps, rad.
    """
    wanted = np.array([*plan.start[:, 2], *(step.yaw for step in steps)])
    time = _INTERVAL * np.arange(max(math.ceil(heading.time[-1] / _INTERVAL), 3))
    yaw = np.interp(time, heading.time, heading.yaw)
    yaw += 2.0 * np.pi * np.round((wanted[:2].mean() - yaw[0]) / (2.0 * np.pi))
    feet, standing = _feet_over_time(steps, time)
    count, samples = len(wanted), len(time)
    root, same = sparse.identity(samples, format="csr"), sparse.identity(count, format="csr")
    inward, outward = (0.5 * TWIST_FRACTION * limit for limit in (legs.inward, legs.outward))
    bend = sparse.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(samples - 2, samples))
    most = MAX_TURN_ACCELERATION * _INTERVAL**2
    pairs, swings, fastest = _differences(steps, legs)
    # Rows A [directions, root, |root - heading|, |direction - wanted|] within bounds.
    blocks: list[tuple[list[Any], Any, Any]] = [
        ([-feet[0], root, None, None], -outward, inward),
        ([-feet[1], root, None, None], -inward, outward),
        ([-0.5 * (feet[0] + feet[1]), root, None, None], -MAX_TWIST, MAX_TWIST),
        ([None, bend, None, None], -most, most),
        ([None, root, -root, None], -np.inf, yaw),
        ([None, root, root, None], yaw, np.inf),
        ([same, None, None, -same], -np.inf, wanted),
        ([same, None, None, same], wanted, np.inf),
        ([pairs, None, None, None], -INWARD_FRACTION * legs.inward, OUTWARD_FRACTION * legs.outward),
        ([swings, None, None, None], -fastest, fastest),
    ]
    rows = sparse.bmat([block for block, _, _ in blocks], format="csr")
    sizes = [next(part.shape[0] for part in block if part is not None) for block, _, _ in blocks]
    ends = zip(blocks, sizes, strict=True)
    bounds = [(np.broadcast_to(low, size), np.broadcast_to(high, size)) for (_, low, high), size in ends]
    low, high = (np.concatenate(each) for each in zip(*bounds, strict=True))
    upper, lower = np.isfinite(high), np.isfinite(low)
    weights = _DIRECTION_WEIGHT * standing / samples
    cost = np.concatenate([np.zeros(count + samples), np.full(samples, 1.0 / samples), weights])
    found = linprog(
        cost,
        A_ub=sparse.vstack([rows[upper], -rows[lower]]),
        b_ub=np.concatenate([high[upper], -low[lower]]),
        bounds=(None, None),
        method="highs",
    )
    # Feet and a root that never turn are within all bounds, so that there is an optimum.
    return np.asarray(found.x[:count])


def _feet_over_time(
    steps: Sequence[TimedStep], time: Array
) -> tuple[tuple[sparse.csr_matrix, sparse.csr_matrix], Array]:
    """Matrices of both feet's directions at T times by the 2 + K directions; samples at which each counts."""
    weights = np.zeros((2, len(time), 2 + len(steps)))
    weights[0, :, 0] = weights[1, :, 1] = 1.0
    for number, step in enumerate(steps, 2):
        part = minimum_jerk(time, step.lift, step.landing - step.lift)[:, None]
        weights[step.foot] *= 1.0 - part
        weights[step.foot, :, number] += part[:, 0]
    left, right = (sparse.csr_matrix(each) for each in weights)
    return (left, right), weights.sum(axis=(0, 1)) + 1.0


def _differences(
    steps: Sequence[TimedStep], legs: LegRange
) -> tuple[sparse.csr_matrix, sparse.csr_matrix, Array]:
    """Outward turns of feet against the other one, turns in swings, and how far these may go, rad."""
    latest = [0, 1]
    pairs, swings = np.zeros((1 + len(steps), 2 + len(steps))), np.zeros((len(steps), 2 + len(steps)))
    pairs[0, :2] = [1.0, -1.0]
    for number, step in enumerate(steps):
        sign = (1.0, -1.0)[step.foot]
        pairs[number + 1, [number + 2, latest[1 - step.foot]]] = [sign, -sign]
        swings[number, [number + 2, latest[step.foot]]] = [1.0, -1.0]
        latest[step.foot] = number + 2
    fastest = legs.turn_rate * np.array([step.landing - step.lift for step in steps])
    return sparse.csr_matrix(pairs), sparse.csr_matrix(swings), fastest
