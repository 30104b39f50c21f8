"""Whether a robot's joints can track: gains, inertia, physics step and motors, without simulation."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.robot.drives import light_foot_fraction
from simbench.robot.robot import Robot
from simbench.robot.urdf.normalise import UNLIMITED_EFFORT, UNLIMITED_VELOCITY
from simbench.runs.robot_check.findings import Finding, Limits, judge

_TIMESTEP = 0.001
"""Physics step of a scenario by default, s."""
_FREQUENCY = Limits(3.0, 1.0)
_STABILITY = Limits(1.5, 5.0)
_GRAVITY = Limits(0.8, 1.0)
_HEAVIEST = Limits(1.0, 2.0)
_ACCELERATION = Limits(40.0, 20.0)
_SPEED = Limits(1.0, 0.2)
_SATURATION = Limits(0.005, 0.001)
_SAMPLES = 64
"""Random configurations in which an arm must hold its weight."""


def check_tracking(robot: Robot, posture: Array) -> list[Finding]:
    """Judge whether the joints of a robot can follow a motion.

    `robot`: any robot with joints; `posture` (n,): posture in which inertia and weight are taken, rad.
    Returns what speaks for and against it.
    """
    q = np.concatenate([pin.neutral(robot.model)[: robot.root_q], posture])
    mass = pin.crba(robot.model, robot.model.createData(), q)
    mass = np.triu(mass) + np.triu(mass, 1).T
    fingers = [joint for hand in robot.hands.values() for joint in hand.joints]
    limb = np.array([name not in fingers for name in robot.joint_names])
    findings = [_limits(robot), _frequency(robot, mass, limb)]
    if robot.feet:
        findings.append(_light_foot(robot, q))
    arms = [name for group, names in robot.groups.items() if group.endswith("_arm") for name in names]
    if arms:
        index = [robot.joint_names.index(name) for name in arms]
        findings += [*_gravity(robot, q, index), _acceleration(robot, mass, index), _speed(robot, index)]
    findings.append(_saturation(robot, limb))
    return findings


def _limits(robot: Robot) -> Finding:
    """Joints of which nothing says how strong and fast they are."""
    limits = zip(
        robot.joint_names,
        robot.motors.torque_limit,
        robot.model.velocityLimit[robot.root_v :],
        strict=True,
    )
    unlimited = [
        name for name, torque, speed in limits if torque >= UNLIMITED_EFFORT or speed >= UNLIMITED_VELOCITY
    ]
    share = 1.0 - len(unlimited) / len(robot.joint_names)
    named = f"; without: {', '.join(unlimited[:3])}{' …' if len(unlimited) > 3 else ''}" if unlimited else ""
    reason = f"of the joints have limits of torque and speed{named}"
    return judge("track", "limited_fraction", share, Limits(1.0, 0.0), reason)


def _frequency(robot: Robot, mass: Array, limb: Array) -> Finding:
    """Lowest natural frequency of a joint with its limb, Hz."""
    inertia = np.diag(mass)[robot.root_v :]
    frequency = np.sqrt(robot.motors.stiffness / inertia) / (2.0 * np.pi)
    slow = int(np.flatnonzero(limb)[frequency[limb].argmin()])
    reason = f"of {robot.joint_names[slow]}, the slowest, with its stiffness and the inertia of its limb"
    return judge("track", "natural_frequency_hz", float(frequency[slow]), _FREQUENCY, reason)


def _light_foot(robot: Robot, q: Array) -> Finding:
    """How near the gains of the legs are to shaking a foot that the floor only touches."""
    gains = (robot.motors.stiffness, robot.motors.damping)
    fractions = {
        role: light_foot_fraction(
            robot.model, q, robot.model.getFrameId(robot.frames[role]), gains, _TIMESTEP
        )
        for role in robot.feet
    }
    role = max(fractions, key=lambda each: fractions[each])
    reason = (
        f"of what `{robot.frames[role]}` allows with a physics step of {1000 * _TIMESTEP:g} ms; far beyond, "
        "a foot that the floor only touches shakes"
    )
    return judge("track", "light_foot_fraction", fractions[role], _STABILITY, reason)


def _gravity(robot: Robot, q: Array, arms: Sequence[int]) -> list[Finding]:
    """Largest part of a torque limit that holds the arms: in a posture, and in random configurations."""
    model, data = robot.model, robot.model.createData()
    index = np.array(arms)
    low = np.maximum(model.lowerPositionLimit[robot.root_q + index], -np.pi)
    high = np.maximum(low, np.minimum(model.upperPositionLimit[robot.root_q + index], np.pi))
    configurations = np.tile(q, (_SAMPLES, 1))
    random = np.random.default_rng(0)
    configurations[:, robot.root_q + index] = random.uniform(low, high, (_SAMPLES, len(index)))
    findings = []
    for name, limits, where, considered in (
        ("gravity_fraction", _GRAVITY, "in its posture", q[None]),
        ("heaviest_gravity_fraction", _HEAVIEST, f"in the heaviest of {_SAMPLES} others", configurations),
    ):
        torque = np.array([pin.computeGeneralizedGravity(model, data, each) for each in considered])
        share = np.abs(torque[:, robot.root_v + index]).max(axis=0) / robot.motors.torque_limit[index]
        weak = int(share.argmax())
        joint = arms[weak]
        limit = f"{robot.motors.torque_limit[joint]:.3g} N·m of {robot.joint_names[joint]}"
        reason = f"of the {limit} hold the arm {where}"
        findings.append(judge("track", name, float(share[weak]), limits, reason))
    return findings


def _acceleration(robot: Robot, mass: Array, arms: Sequence[int]) -> Finding:
    """Least acceleration that a motor of the arms gives its limb, rad/s²."""
    inertia = np.diag(mass)[robot.root_v :]
    acceleration = (robot.motors.torque_limit / inertia)[list(arms)]
    least = int(acceleration.argmin())
    reason = f"of {robot.joint_names[arms[least]]} at its torque limit; a person's fast waving reaches 50"
    return judge("track", "acceleration_rad_s2", float(acceleration[least]), _ACCELERATION, reason)


def _speed(robot: Robot, arms: Sequence[int]) -> Finding:
    """Least speed limit of a joint of the arms."""
    speed = robot.model.velocityLimit[robot.root_v :][list(arms)]
    least = int(speed.argmin())
    reason = f"of {robot.joint_names[arms[least]]}, the slowest of the arms; faster motions are slowed down"
    return judge("track", "speed_rad_s", float(speed[least]), _SPEED, reason)


def _saturation(robot: Robot, limb: Array) -> Finding:
    """Least error at which a motor is at its limit."""
    error = robot.motors.torque_limit / np.maximum(robot.motors.stiffness, 1e-12)
    least = int(np.flatnonzero(limb)[error[limb].argmin()])
    reason = f"of {robot.joint_names[least]} takes its motor to its limit"
    return judge("track", "saturation_error_rad", float(error[least]), _SATURATION, reason)
