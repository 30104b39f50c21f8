"""Bounds of a joint's next increment, by position, speed and acceleration, that can always be kept."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.retargeting.arm_adaptation.acceleration_limits import acceleration_limits
from simbench.robot.robot import Robot


class JointBounds(NamedTuple):
    """Bounds of joints, the same in both directions for speed and acceleration.

    Parameters
    ----------
    lower : (n,) array
        Lower position limits, rad.
    upper : (n,) array
        Upper position limits, rad.
    speed : (n,) array
        Speed limits, rad/s.
    acceleration : (n,) array
        Acceleration limits, rad/s²; infinite where it is not bounded.
    """

    lower: Array
    upper: Array
    speed: Array
    acceleration: Array


def joint_bounds(
    robot: Robot,
    names: Sequence[str],
    *,
    margin: float = 0.0,
    acceleration: Mapping[str, float] | float | None = None,
) -> JointBounds:
    """Take the bounds of some joints from a robot.

    Parameters
    ----------
    robot : Robot
        Robot whose joint limits are taken.
    names : sequence of str
        Joints.
    margin : float
        Kept from the position limits, rad.
    acceleration : mapping of str to float, or float, optional
        Limits by joint, or one for all, rad/s², infinite for none; what is not given is estimated by
        `acceleration_limits`.

    Returns
    -------
    JointBounds
        Bounds of the joints in the given order.

    Raises
    ------
    RetargetError
        If a speed or acceleration limit is not positive or for no joint of the robot, or the margin leaves a
        joint no range.
    """
    columns = np.array([robot.joint_names.index(name) for name in names], dtype=np.int64)
    speed = np.asarray(robot.model.velocityLimit)[robot.root_v + columns]
    given = (
        dict.fromkeys(names, acceleration) if isinstance(acceleration, (int, float)) else acceleration or {}
    )
    strange = [name for name in given if name not in robot.joint_names]
    if strange:
        raise RetargetError(f"{robot.name}: acceleration given for {strange[0]}, which is none of its joints")
    unknown = [name for name in names if name not in given]
    estimated = dict(zip(unknown, acceleration_limits(robot, unknown), strict=True))
    limits = np.array([{**estimated, **given}[name] for name in names], dtype=np.float64)
    for what, values, unit in (("speed", speed, "rad/s"), ("acceleration", limits, "rad/s²")):
        bad = np.flatnonzero(~(values > 0))
        if bad.size:
            raise RetargetError(
                f"{robot.name}: the {what} limit of {names[bad[0]]} is {values[bad[0]]:g} {unit}; "
                "it must be positive"
            )
    lower = np.asarray(robot.model.lowerPositionLimit)[robot.root_q + columns] + margin
    upper = np.asarray(robot.model.upperPositionLimit)[robot.root_q + columns] - margin
    bad = np.flatnonzero(~(lower <= upper))
    if bad.size:
        raise RetargetError(
            f"{robot.name}: a margin of {margin:g} rad leaves {names[bad[0]]} no range; "
            f"it must be less than {0.5 * (upper - lower)[bad[0]] + margin:.3g} rad"
        )
    return JointBounds(lower, upper, speed, limits)


@compiled
def braking_speed(distance: float, acceleration: float, period: float) -> float:
    """Compute the greatest speed toward a limit from which the limit is never passed.

    A joint that moves by dt v in this sample and then brakes as hard as it may, by dt (v − a dt),
    dt (v − 2a dt), ..., goes F(v) = dt Σ_j max(0, v − j a dt) before it rests. F is increasing and piecewise
    linear: with n terms above zero, F = n dt v − ½ n (n − 1) a dt². The speed is where F(v) = s; the
    textbook's √(2 a s), right for infinitely short samples, lets the joint pass the limit.

    Parameters
    ----------
    distance : float
        s to the limit before this sample, rad, not negative.
    acceleration : float
        a, rad/s²; may be infinite.
    period : float
        dt, s.

    Returns
    -------
    float
        rad/s.
    """
    step = acceleration * period
    if distance <= step * period:
        return max(distance, 0.0) / period
    n = np.ceil(0.5 * np.sqrt(1.0 + 8.0 * distance / (step * period)) - 0.5)
    return distance / (n * period) + 0.5 * (n - 1.0) * step


@compiled
def increment_bounds(
    bounds: JointBounds, q: Array, velocity: Array, period: float, low: Array, high: Array
) -> None:
    """Compute the interval of each joint's next increment Δq (Kim & Kim 2005, eq. 9, 13, 14).

    With the velocity v' = Δq / dt, v that of the last sample, and s the distances to the limits:

        |v'| ≤ v_max,   |v' − v| ≤ a dt,   −b(s_low) ≤ v' ≤ b(s_up),   b = `braking_speed`.

    The paper's position bound, v' ≤ s / dt, is contained in the third, for b(s) ≤ s / dt. The interval is
    never empty, by induction. A joint at rest inside its limits is safe. Let the last increment have kept
    v ≤ b(s + dt v): then F(v) ≤ s + dt v, so that braking once, u = max(0, v − a dt), leaves
    F(u) = F(v) − dt v ≤ s, that is u ≤ b(s) (for v ≤ 0, u = 0 ≤ b(s)). Hence v − a dt ≤ b(s_up), and, by
    symmetry, −b(s_low) ≤ v + a dt. The other pairs of lower and upper ends are in order because
    −b(s_low) ≤ 0 ≤ b(s_up) and |v| ≤ v_max. Intervals of which every two meet have a point in common.

    Parameters
    ----------
    bounds : JointBounds
        Bounds of joint position, speed and acceleration.
    q : (n,) array
        Joint positions in the last sample, rad.
    velocity : (n,) array
        Joint velocities in the last sample, the last increment over the period, rad/s.
    period : float
        dt, s.
    low : (n,) array
        Overwritten with the least increment, rad.
    high : (n,) array
        Overwritten with the greatest increment, rad.
    """
    for k in range(len(q)):
        speed, acceleration = bounds.speed[k], bounds.acceleration[k]
        down = braking_speed(q[k] - bounds.lower[k], acceleration, period)
        up = braking_speed(bounds.upper[k] - q[k], acceleration, period)
        least = max(-speed, velocity[k] - acceleration * period, -down)
        greatest = min(speed, velocity[k] + acceleration * period, up)
        if least > greatest:
            # Rounding: the two have met.
            least = greatest = 0.5 * (least + greatest)
        low[k], high[k] = period * least, period * greatest


@compiled
def approach(behind: float, ahead: float, acceleration: float, period: float) -> float:
    """Compute an increment that catches up with a moving target and can still slow down to its speed.

    Parameters
    ----------
    behind : float
        Last target minus the position, rad.
    ahead : float
        This target minus the position, rad.
    acceleration : float
        Acceleration limit, rad/s².
    period : float
        dt, s.

    Returns
    -------
    float
        Increment, rad.
    """
    catch_up = period * braking_speed(abs(behind), acceleration, period)
    return ahead - behind + min(max(behind, -catch_up), catch_up)


@compiled
def follow(targets: Array, bounds: JointBounds, period: float) -> Array:
    """Follow target positions as bounds allow, from rest, and come to rest at a target that stays.

    Parameters
    ----------
    targets : (T, n) array
        Target positions, rad; the first is the start, moved into the position limits.
    bounds : JointBounds
        Bounds of joint position, speed and acceleration.
    period : float
        dt, s.

    Returns
    -------
    (T, n) array
        Joint positions, rad.
    """
    result = np.empty_like(targets)
    n = targets.shape[1]
    velocity, low, high = np.zeros(n), np.empty(n), np.empty(n)
    for k in range(n):
        result[0, k] = min(max(targets[0, k], bounds.lower[k]), bounds.upper[k])
    for sample in range(1, len(targets)):
        q = result[sample - 1]
        increment_bounds(bounds, q, velocity, period, low, high)
        for k in range(n):
            behind, ahead = targets[sample - 1, k] - q[k], targets[sample, k] - q[k]
            change = approach(behind, ahead, bounds.acceleration[k], period)
            position = q[k] + min(max(change, low[k]), high[k])
            result[sample, k] = min(max(position, bounds.lower[k]), bounds.upper[k])
            velocity[k] = (result[sample, k] - q[k]) / period
    return result
