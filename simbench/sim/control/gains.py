"""The PD gains of a scenario: the robot's, replaced or scaled by joint or group."""

import difflib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simbench.errors import ScenarioError
from simbench.kinematics.arrays import Array
from simbench.options import ControlSection
from simbench.robot.robot import Robot


def apply_gains(robot: Robot, control: ControlSection) -> Robot:
    """Give a robot's motors the gains of a scenario: K = s_K K₀ and D = s_D D₀ of each joint.

    `robot`: robot with gains of its own; `control`: gains K₀ and D₀ instead of these, in N·m/rad and
    N·m·s/rad (N/m and N·s/m of a sliding joint), and factors s_K and s_D. Returns the same robot with these
    gains. Raises ScenarioError if the robot has no joint or group of a name.
    """
    motors = robot.motors
    stiffness = _by_joint(robot, "stiffness", control.stiffness, motors.stiffness)
    damping = _by_joint(robot, "damping", control.damping, motors.damping)
    ones = np.ones(len(robot.joint_names))
    gains = replace(
        motors,
        stiffness=_by_joint(robot, "stiffness_scale", control.stiffness_scale, ones) * stiffness,
        damping=_by_joint(robot, "damping_scale", control.damping_scale, ones) * damping,
    )
    return replace(robot, motors=gains)


def _by_joint(robot: Robot, key: str, given: float | Mapping[str, float] | None, usual: Array) -> Array:
    """Take a value for each joint (n,): its own, else that of the last group it is in, else the usual one."""
    if given is None:
        return usual
    if not isinstance(given, Mapping):
        return np.full(len(robot.joint_names), given)
    values, known = usual.copy(), {*robot.joint_names, *robot.groups}
    for name in given:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f" (did you mean '{close[0]}'?)" if close else ""
            groups = ", ".join(name for name, joints in robot.groups.items() if joints)
            raise ScenarioError(
                f"control.{key}.{name}: {robot.name} has no such joint or group{hint}; "
                f"allowed: a joint, or one of {groups or 'no group'}"
            )
    for name in sorted(given, key=lambda name: name in robot.joint_names):
        joints = (name,) if name in robot.joint_names else robot.groups[name]
        values[[robot.joint_names.index(joint) for joint in joints]] = given[name]
    return values
