"""Planned ZMP: the equipment's wrench on the hands, and the COG that puts the ZMP where it is desired."""

import math
from collections.abc import Mapping

import numpy as np

from simbench.balance.inverted_pendulum import natural_frequency
from simbench.balance.standing.standing import Stance, solve_com_ik
from simbench.balance.standing.standing_profile import lipm_com_offset, planned_zmp
from simbench.kinematics.arrays import Array
from simbench.kinematics.profiles import minimum_jerk
from simbench.retargeting.contact.hand_plan import HandPlan, Resistance
from simbench.robot.robot import Robot

_PRESLIDING_DISPLACEMENT = 0.001
"""Displacement of the hands, m, over which friction reverses: grips and fingers give way by so much."""
_INERTIA_ONSET_TIME = 0.5
"""Time at both ends over which inertia begins to count, s: twice the time constant with which a pendulum as
high as a robot falls."""
_LINEAR_RANGE, _MAX_OFFSET = 0.04, 0.08
"""Offset of the COG from the desired ZMP, m, up to which it is as computed, and its bound: half a sole."""


def estimate_hand_wrench(time: Array, hands: HandPlan, resistance: Mapping[str, Resistance]) -> Array:
    """Estimate the wrench of the equipment on the hands that move it.

    With x the path of a palm in contact, f = −(F s + d ẋ + m ẍ). The friction's direction s follows the
    displacement, ds = dx / 1 mm with ‖s‖ ≤ 1, and stays when the hand rests.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    hands : HandPlan
        Planned hand motion at the same samples.
    resistance : {side: Resistance}
        Resistance of the equipment to each hand that moves it.

    Returns
    -------
    (T, 6) array
        Force (N) and its moment about the world's origin (N·m), summed over the hands, in the world frame.
    """
    wrench = np.zeros((len(time), 6))
    for each in hand_wrenches(time, hands, resistance).values():
        wrench += each
    return wrench


def hand_wrenches(time: Array, hands: HandPlan, resistance: Mapping[str, Resistance]) -> dict[str, Array]:
    """Estimate the wrench of the equipment on each hand that moves it, as `estimate_hand_wrench`.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    hands : HandPlan
        Planned hand motion at the same samples.
    resistance : {side: Resistance}
        Resistance of the equipment to each hand that moves it.

    Returns
    -------
    {side: (T, 6) array}
        Force (N) and its moment about the world's origin (N·m), in the world frame.
    """
    wrenches = {}
    for side, opposed in resistance.items():
        palm, held = hands.actor[side][:, :3, 3], hands.contact[side]
        steps = np.where((held[1:] & held[:-1])[:, None], np.diff(palm, axis=0), 0.0)
        path = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
        friction = np.zeros_like(path)
        x = y = z = 0.0
        for sample, (dx, dy, dz) in enumerate((steps / _PRESLIDING_DISPLACEMENT).tolist(), start=1):
            x, y, z = x + dx, y + dy, z + dz
            length = max(1.0, math.sqrt(x * x + y * y + z * z))
            friction[sample] = x, y, z = x / length, y / length, z / length
        velocity = np.gradient(path, time, axis=0)
        acceleration = np.gradient(velocity, time, axis=0)
        force = -(
            opposed.friction_n * friction + opposed.damping_ns_m * velocity + opposed.mass_kg * acceleration
        )
        force[~held] = 0.0
        wrenches[side] = np.hstack([force, np.cross(palm, force)])
    return wrenches


def inertia_onset(time: Array) -> Array:
    """Part of a motion's inertia that counts for the ZMP: none at both ends, where leads are not known yet.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.

    Returns
    -------
    (T,) array
        0 to 1.
    """
    clock = time - time[0]
    return np.asarray(
        minimum_jerk(clock, 0.0, _INERTIA_ONSET_TIME)
        * minimum_jerk(clock[-1] - clock, 0.0, _INERTIA_ONSET_TIME)
    )


def compute_balancing_cog(
    robot: Robot, time: Array, base: Array, joints: Array, zmp: Array, wrench: Array | None
) -> Array:
    """Compute the COG path of a motion for which the ZMP is where it is desired.

    The linear inverted pendulum gives the COG offset for the difference between desired and planned ZMP. At
    both ends, where it is not yet known how the robot gets into motion and to rest, inertia does not count
    and the COG is at rest near the desired ZMP: there it is the pendulum's whole COG, for the desired ZMP
    less what the pendulum does not know of (angular momentum, and the wrench of the equipment), and not the
    given one with an offset, which may be moving.

    Parameters
    ----------
    robot : Robot
        Robot with a floating base and n joints.
    time : (T,) array
        Time of each sample, s.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (T, n) array
        Joint positions, rad.
    zmp : (T, 2) array
        Desired ZMP in the world frame, m.
    wrench : (T, 6) array or None
        Wrench of the equipment on the hands, from `estimate_hand_wrench`; None without equipment.

    Returns
    -------
    (T, 2) array
        COG in the world frame, m.
    """
    moving = inertia_onset(time)
    planned, cog = planned_zmp(robot, time, base, joints, wrench, moving)
    height = float(cog[:, 2].mean())
    shifted = cog[:, :2] + lipm_com_offset(time, zmp - planned, height)
    acceleration = np.gradient(np.gradient(cog[:, :2], time, axis=0), time, axis=0) * moving[:, None]
    unknown = planned - cog[:, :2] + acceleration / natural_frequency(height) ** 2
    resting = lipm_com_offset(time, zmp - unknown, height)
    return zmp + _saturate(resting + moving[:, None] * (shifted - resting) - zmp)


def solve_legs_for_zmp(
    robot: Robot, stance: Stance, time: Array, base: Array, joints: Array, zmp: Array, free: Array
) -> tuple[Array, Array]:
    """Move legs and pelvis so that the ZMP is where it is desired, in part where hands are not free.

    Parameters
    ----------
    robot : Robot
        Robot with a floating base and n joints.
    stance : Stance
        Poses of the soles, which stay, and the nominal pelvis height.
    time : (T,) array
        Time of each sample, s; the motion starts and ends at rest.
    base : (T, 7) array
        Pose of the root link in the world frame: position, m, and quaternion.
    joints : (T, n) array
        Joint positions, rad.
    zmp : (T, 2) array
        Desired ZMP in the world frame, m.
    free : (T,) array
        Weight of the correction: 0 where hands are with equipment, which the pelvis would take them away
        from, up to 1.

    Returns
    -------
    base : (T, 7) array
        Corrected pose of the root link in the world frame: position, m, and quaternion.
    joints : (T, n) array
        Joint positions with corrected legs, rad.

    Raises
    ------
    RetargetError
        As `solve_com_ik`.
    """
    planned, cog = planned_zmp(robot, time, base, joints)
    weight = free[:, None]
    sway = weight * lipm_com_offset(time, weight * (zmp - planned), float(cog[:, 2].mean()))
    return solve_com_ik(robot, stance, joints, cog[:, :2] + _saturate(sway), base[:, 2] - stance.base[2])


def _saturate(offset: Array) -> Array:
    """Bound a COG offset smoothly by what legs and soles can do: motions that need more make robots fall."""
    beyond = np.maximum(np.abs(offset) - _LINEAR_RANGE, 0.0)
    room = _MAX_OFFSET - _LINEAR_RANGE
    bounded = np.minimum(np.abs(offset), _LINEAR_RANGE) + room * np.tanh(beyond / room)
    return np.asarray(np.sign(offset) * bounded)
