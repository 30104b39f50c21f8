"""What trunk and arms need of soles and motors while the robot steps, beside what they may use."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from simbench.balance.gait.gait import Gait
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_path import AccelerationRows
from simbench.retargeting.legs.candidate import StepCandidate, path_at_samples
from simbench.retargeting.stand.standing_tempo import limit_torques, torque_reserve
from simbench.retargeting.timing.preserve import UpperBody, zmp_shifts
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_ZMP_MARGIN = 0.015
"""Distance of all bodies' ZMP from the edge of the soles that stand, m: what control and soles leave."""
_LEAST_ROOM = 0.01
"""Least distance from the planned ZMP to the edge that counts, m."""
_BUSY = 0.6
"""Fraction of its allowed torque from which on a joint's torque is limited: others do not exceed theirs."""


class StepExcess(NamedTuple):
    """Ratios to what is allowed at the recording's T samples: above 1 it is exceeded.

    Parameters
    ----------
    legs : (T,) array
        How far the legs are beyond their limits, as `FollowedPlan.excess`: 0 within them.
    zmp : (T,) array
        Of the distance of all bodies' ZMP from the planned one, to the edge of the soles that stand.
    calm : (T,) array
        The same if trunk and arms did not accelerate.
    margin : float
        Least distance of all bodies' ZMP from that edge, m; negative outside.
    torque : (T, m) array
        Of the torques of trunk and arms.
    slopes : (T, m, m) array
        Derivatives of these torques by the accelerations of trunk and arms, kg·m².
    rest : (T, m) array
        The torques without these accelerations, N·m.
    allowed : (m,) array
        The torques that may be used, N·m.
    """

    legs: Array
    zmp: Array
    calm: Array
    margin: float
    torque: Array
    slopes: Array
    rest: Array
    allowed: Array

    @property
    def worst(self) -> Array:
        """Largest ratio at each sample that trunk and arms can make smaller, (T,)."""
        zmp = np.where(self.calm < self.zmp, self.zmp, 0.0)
        return np.asarray(np.maximum(zmp, self.torque.max(axis=1, initial=0.0)))


def examine_steps(robot: Robot, body: UpperBody, candidate: StepCandidate) -> StepExcess:
    """Compare legs, ZMP and the torques of trunk and arms with what is allowed, sample by sample.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    body : UpperBody
        Trunk and arms.
    candidate : StepCandidate
        A plan of their motion and of the legs'.

    Returns
    -------
    StepExcess
        Ratios to what is allowed.
    """
    time, path = candidate.setting.trajectory.time, path_at_samples(candidate)
    velocity = _velocities(robot, time, path)
    acceleration = np.gradient(velocity, time, axis=0)
    moved = acceleration[:, 6 + body.columns]
    zmp = planned_zmp(robot, time, path[:, :7], path[:, 7:])[0]
    rows = zmp_shifts(body, path[:, :7], path[:, 7:])[:, :2]
    calm = zmp + (rows @ moved[:, :, None])[:, :, 0]
    gait = candidate.followed.plan.gait
    ticks = np.rint((candidate.steps.start + time) / candidate.setting.tick).astype(int)
    ticks = np.clip(ticks, 0, len(gait.zmp) - 1)
    ratios, margin = _zmp_ratios(robot, gait, ticks, (zmp, calm))
    torque, still, slopes = _torques(robot, body, path, velocity, acceleration)
    limit = np.asarray(robot.motors.torque_limit)[body.columns]
    limit = np.where(limit > 0.0, limit, np.inf)
    allowed = limit * torque_reserve(np.abs(still).max(axis=0) / limit)
    return StepExcess(
        _at_samples(candidate, ticks),
        ratios[0],
        ratios[1],
        margin,
        np.abs(torque) / allowed,
        slopes,
        torque - (slopes @ moved[:, :, None])[:, :, 0],
        allowed,
    )


def torque_rows(
    excess: StepExcess, knots: NDArray[np.int64], busy: NDArray[np.bool_], usable: Array
) -> AccelerationRows:
    """Limit the torques of the busy joints of trunk and arms, linear around what was found.

    Parameters
    ----------
    excess : StepExcess
        What was found.
    knots : (K,) int array
        Samples at which torques are limited.
    busy : (m,) bool array
        Joints whose torques are limited.
    usable : (T, m) array
        Fraction of the allowed torque that is used.

    Returns
    -------
    AccelerationRows
        Limits for `keep_tempo`.
    """
    most = (usable * excess.allowed)[knots][:, busy]
    return limit_torques(excess.slopes[knots][:, busy], excess.rest[knots][:, busy], most)


def busy_joints(excess: StepExcess) -> NDArray[np.bool_]:
    """Find the joints whose torques come near to what is allowed.

    Parameters
    ----------
    excess : StepExcess
        What was found.

    Returns
    -------
    (m,) bool array
        Which of trunk and arms they are.
    """
    return np.asarray(excess.torque.max(axis=0) > _BUSY)


def _at_samples(candidate: StepCandidate, ticks: NDArray[np.int64]) -> Array:
    """Largest excess (T,) of the legs in the time around each sample; leads count for the ends."""
    excess = candidate.followed.excess
    result = np.zeros(len(ticks))
    middles = (ticks[1:] + ticks[:-1] + 1) // 2
    np.maximum.at(result, np.searchsorted(middles, np.arange(len(excess)), side="right"), excess)
    return result


def _velocities(robot: Robot, time: Array, path: Array) -> Array:
    """Generalised velocities (T, nv) by central differences."""
    last = len(path) - 1
    ends = [(max(k - 1, 0), min(k + 1, last)) for k in range(len(path))]
    return np.array([pin.difference(robot.model, path[a], path[b]) / (time[b] - time[a]) for a, b in ends])


def _torques(
    robot: Robot, body: UpperBody, path: Array, velocity: Array, acceleration: Array
) -> tuple[Array, Array, Array]:
    """Torques of trunk and arms (T, m), those of weight alone, and their derivatives (T, m, m)."""
    model, data, columns = robot.model, robot.model.createData(), 6 + body.columns
    torque, still = np.empty((2, len(path), len(columns)))
    slopes = np.empty((len(path), len(columns), len(columns)))
    for k, q in enumerate(path):
        torque[k] = pin.rnea(model, data, q, velocity[k], acceleration[k])[columns]
        still[k] = pin.computeGeneralizedGravity(model, data, q)[columns]
        inertia = np.triu(pin.crba(model, data, q))
        slopes[k] = (inertia + np.triu(inertia, 1).T)[np.ix_(columns, columns)]
    return torque, still, slopes


def _zmp_ratios(
    robot: Robot, gait: Gait, ticks: NDArray[np.int64], points: tuple[Array, Array]
) -> tuple[Array, float]:
    """Ratios (2, T) of the points' distances from the planned ZMP, and the first one's least margin, m."""
    ratios, margin = np.zeros((2, len(ticks))), np.inf
    corners = [robot.soles[f"{side}_foot"][:, :2] for side in SIDES]
    for sample, tick in enumerate(ticks):
        standing = np.flatnonzero(gait.contact[tick])
        if not len(standing):
            continue
        yaw = gait.foot_yaw[tick]
        turns = [np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in yaw]
        soles = [corners[k] @ turns[k].T + gait.foot_position[tick, k, :2] for k in standing]
        hull = ConvexHull(np.vstack(soles)).equations
        room = np.maximum(-hull[:, 2] - hull[:, :2] @ gait.zmp[tick] - _ZMP_MARGIN, _LEAST_ROOM)
        for number, each in enumerate(points):
            ratios[number, sample] = (hull[:, :2] @ (each[sample] - gait.zmp[tick]) / room).max()
        margin = min(margin, float(-(hull[:, :2] @ points[0][sample] + hull[:, 2]).max()))
    return ratios, margin
