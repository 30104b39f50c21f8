"""Checks on joints: position, jumps, speed, acceleration, torque and jerk."""

from dataclasses import replace

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import dimensionless_jerk
from simbench.motion.joint_use import joint_units
from simbench.runs.verdict.dynamics import GroundForces
from simbench.runs.verdict.judging import judge, lasting_excess, moment_at, not_applicable, since_onset
from simbench.runs.verdict.motion_state import MotionState
from simbench.runs.verdict.outcome import Check
from simbench.runs.verdict.thresholds import POSITION, SPEED, TORQUE

_ON_LIMIT = 1e-4
"""Distance beyond a limit from which an excess is dated, rad or m."""
_MOVING = 0.05
"""Range of a joint from which its dimensionless jerk says something, rad or m."""


def check_joints(state: MotionState, forces: GroundForces) -> list[Check]:
    """Check the joints of a motion against the robot's limits.

    `forces`: forces that it needs. Returns joint position, jump, joint speed, joint torque, and acceleration
    and jerk, which are only reported.
    """
    return [
        _check_position(state),
        _check_jumps(state),
        _check_speed(state),
        _check_torque(state, forces),
        _report_acceleration(state),
        _report_jerk(state),
    ]


def _check_position(state: MotionState) -> Check:
    """How far joints are beyond their position limits; negative within."""
    robot = state.robot
    lower = robot.model.lowerPositionLimit[robot.root_q :]
    upper = robot.model.upperPositionLimit[robot.root_q :]
    beyond = np.maximum(lower - state.joints, state.joints - upper)
    beyond = np.where(np.isfinite(beyond), beyond, -np.inf)
    check = judge(
        "joint position",
        state.time,
        beyond,
        robot.joint_names,
        limit=POSITION.value,
        unit="rad",
        failing=since_onset(beyond, POSITION.value, beyond > _ON_LIMIT),
    )
    units = dict(zip(robot.joint_names, joint_units(robot), strict=True))
    return replace(check, unit=units.get(check.where, "rad"))


def _check_jumps(state: MotionState) -> Check:
    """Check for steps between two samples that are jumps."""
    jumps = state.jumps
    labels = ("base position", "base orientation", *state.robot.joint_names)
    return judge("jump", state.time, jumps.steps, labels, limit=0.0, unit="rad or m")


def _check_speed(state: MotionState) -> Check:
    """Joint speeds as fractions of their limits."""
    robot = state.robot
    limits = robot.model.velocityLimit[robot.root_v :]
    speeds = np.abs(state.velocity[:, robot.root_v :])
    ratio = _fraction(np.where(state.smooth[:, None], speeds, np.nan), limits)
    return judge("joint speed", state.time, ratio, robot.joint_names, limit=SPEED.value, unit="of limit")


def _check_torque(state: MotionState, forces: GroundForces) -> Check:
    """Joint torques as fractions of their limits, where the floor can carry the robot."""
    robot = state.robot
    judged = state.smooth & (forces.bearing.any(axis=(1, 2)) if robot.floating else True)
    ratio = _fraction(np.where(judged[:, None], np.abs(forces.torque), np.nan), robot.motors.torque_limit)
    failing = lasting_excess(state.time, ratio, TORQUE.value)
    return judge(
        "joint torque",
        state.time,
        ratio,
        robot.joint_names,
        limit=TORQUE.value,
        unit="of limit",
        failing=failing,
    )


def _report_acceleration(state: MotionState) -> Check:
    """Report the largest joint acceleration."""
    robot = state.robot
    size = np.where(state.smooth[:, None], np.abs(state.acceleration[:, robot.root_v :]), np.nan)
    return _report(
        "joint acceleration",
        state.time,
        size,
        robot.joint_names,
        "rad/s²",
        "robots state no limits; see torque",
    )


def _report_jerk(state: MotionState) -> Check:
    """Report the largest joint jerk, and the roughest joint."""
    robot = state.robot
    jerk = np.gradient(state.acceleration[:, robot.root_v :], state.time, axis=0)
    size = np.where(state.smooth[:, None], np.abs(jerk), np.nan)
    reason = "robots state no limits"
    moving = np.flatnonzero(np.ptp(state.joints, axis=0) > _MOVING)
    if len(moving):
        rough = dimensionless_jerk(state.time, state.joints[:, moving])
        worst = int(np.nanargmax(rough))
        reason += f"; dimensionless {rough[worst]:.3g} ({robot.joint_names[moving[worst]]})"
    return _report("joint jerk", state.time, size, robot.joint_names, "rad/s³", reason)


def _report(name: str, time: Array, size: Array, labels: tuple[str, ...], unit: str, reason: str) -> Check:
    """Make a check that reports its worst value and judges nothing."""
    if np.isnan(size).all():
        return not_applicable(name, reason)
    known = np.where(np.isnan(size), -np.inf, size)
    worst, column = np.unravel_index(int(known.argmax()), known.shape)
    series = np.where(np.isnan(size).all(axis=1), np.nan, known.max(axis=1))
    return Check(
        name,
        "not applicable",
        float(known[worst, column]),
        None,
        unit,
        moment_at(time, int(worst)),
        None,
        labels[int(column)],
        reason,
        series,
    )


def _fraction(size: Array, limits: Array) -> Array:
    """Values (T, n) as fractions of limits (n,); NaN without a limit."""
    known = np.isfinite(limits) & (limits > 0.0)
    return np.where(known, size / np.where(known, limits, 1.0), np.nan)
