"""Joint use of a trajectory: range, closest approach to a limit, peak speed."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import kinematic_tree
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_TIMESTEP = 1e-3
"""Time step at which the speed of the interpolated trajectory is examined, s: a controller's."""
NEAR_LIMIT = 0.01
"""Distance from the limit that a plan keeps within which a joint is at it, rad or m: beyond what smoothing
and interpolation move it."""


@dataclass(frozen=True)
class JointUse:
    """Range and speed of one joint in a trajectory, and its limits.

    Parameters
    ----------
    name : str
        Name of the joint.
    unit : str
        rad or m; speeds are per second.
    lowest : float
        Least position.
    highest : float
        Greatest position.
    lower : float
        Lower limit.
    upper : float
        Upper limit.
    speed : float
        Peak speed.
    speed_limit : float
        Speed limit.
    """

    name: str
    unit: str
    lowest: float
    highest: float
    lower: float
    upper: float
    speed: float
    speed_limit: float

    @property
    def clearance(self) -> float:
        """Least distance from a limit; negative beyond it."""
        return min(self.lowest - self.lower, self.upper - self.highest)


def joint_uses(robot: Robot, trajectory: JointTrajectory) -> tuple[JointUse, ...]:
    """Measure range and peak speed of each joint in a trajectory.

    Speeds are those of the cubic spline through the samples.

    Parameters
    ----------
    robot : Robot
        Gives the limits.
    trajectory : JointTrajectory
        At least two samples of all the robot's joints.

    Returns
    -------
    tuple of JointUse
        Use of each joint, in the trajectory's order of joints.
    """
    model, time, q = robot.model, trajectory.time, trajectory.q
    lower, upper = model.lowerPositionLimit[robot.root_q :], model.upperPositionLimit[robot.root_q :]
    speed = _peak_speeds(time, q)
    limit = model.velocityLimit[robot.root_v :]
    rows = zip(
        trajectory.joint_names,
        joint_units(robot),
        *(values.tolist() for values in (q.min(axis=0), q.max(axis=0), lower, upper, speed, limit)),
        strict=True,
    )
    return tuple(JointUse(*row) for row in rows)


@dataclass(frozen=True)
class LimitStay:
    """A joint of trunk or arms that stays at one of its limits.

    Parameters
    ----------
    joint : str
        Name of the joint.
    end : str
        `lower` or `upper`.
    limit : float
        That limit, rad or m.
    unit : str
        rad or m.
    fraction : float
        Fraction of the samples at which it is there.
    first, last : int
        First and last sample of its longest stay.
    """

    joint: str
    end: str
    limit: float
    unit: str
    fraction: float
    first: int
    last: int


def limit_stays(robot: Robot, trajectory: JointTrajectory, margin: float) -> tuple[LimitStay, ...]:
    """Find the joints of trunk and arms that stay at a limit.

    A joint is at its limit within the margin that plans keep, and 0.01 rad (m) more. Joints with a range of
    less than four times that are left out, and sliding joints that stand still, such as a lift.

    Parameters
    ----------
    robot : Robot
        Gives the limits.
    trajectory : JointTrajectory
        T samples of all the robot's joints.
    margin : float
        Margin that the plan keeps from the limits, rad (m).

    Returns
    -------
    tuple of LimitStay
        Those that are there at any sample, the longest first.
    """
    model, near = robot.model, margin + NEAR_LIMIT
    units = joint_units(robot)
    limbs = {
        name
        for group in ("trunk", *(f"{side}_arm" for side in SIDES))
        for name in robot.groups.get(group, ())
    }
    stays = []
    for column, name in enumerate(trajectory.joint_names):
        lower, upper = (
            float(limits[robot.root_q + column])
            for limits in (model.lowerPositionLimit, model.upperPositionLimit)
        )
        q = trajectory.q[:, column]
        if name not in limbs or upper - lower < 4.0 * near or (units[column] == "m" and not np.ptp(q)):
            continue
        for end, limit, there in (("lower", lower, q <= lower + near), ("upper", upper, q >= upper - near)):
            if there.any():
                fraction = float(there.mean())
                stays.append(LimitStay(name, end, limit, units[column], fraction, *_longest_run(there)))
    return tuple(sorted(stays, key=lambda stay: -stay.fraction))


def limit_metrics(stays: Sequence[LimitStay]) -> dict[str, float]:
    """Compute the metric of joints that stay at a limit.

    Parameters
    ----------
    stays : sequence of LimitStay
        Stays of one trajectory.

    Returns
    -------
    dict of str to float
        `retarget.robot_at_limit_fraction`: the largest fraction of the samples at which one joint is at one
        of its limits.
    """
    return {"retarget.robot_at_limit_fraction": max((stay.fraction for stay in stays), default=0.0)}


def joint_units(robot: Robot) -> tuple[str, ...]:
    """Find the units of the robot's joint positions.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.

    Returns
    -------
    tuple of n str
        `rad` for a revolute joint, `m` for a prismatic one.
    """
    return tuple("m" if slides else "rad" for slides in kinematic_tree(robot.model).sliding)


def _longest_run(flags: NDArray[np.bool_]) -> tuple[int, int]:
    """First and last sample of the longest run of true flags, of which there is at least one."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]])))
    starts, ends = edges[::2], edges[1::2] - 1
    longest = int((ends - starts).argmax())
    return int(starts[longest]), int(ends[longest])


def _peak_speeds(time: Array, q: Array) -> Array:
    """Greatest speeds (n,) of the cubic spline through the samples."""
    speed = make_interp_spline(time, q, k=min(3, len(time) - 1)).derivative()
    fine = np.arange(time[0], time[-1], _TIMESTEP)
    return np.asarray(np.abs(speed(fine)).max(axis=0))
