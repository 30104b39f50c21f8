"""The tempo of a whole-body motion whose time is stretched locally: time law and balance in turn."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.options import RetargetSection
from simbench.retargeting.arm_adaptation.acceleration_limits import acceleration_limits
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.timing.dynamics import standing_constraints
from simbench.retargeting.timing.local import (
    PathLimits,
    fit_tempo,
    measure_stretch,
    slow_where_needed,
    with_constraints,
)
from simbench.retargeting.whole_body.arms_and_legs import (
    WholeBodyMotion,
    WholeBodyProblem,
    motion_limits,
    robot_time,
    solve_at_tempo,
)
from simbench.retargeting.whole_body.zmp import hand_wrenches, inertia_onset
from simbench.robot.robot import Robot

_ROUNDS = 3
"""Times that the tempo is fitted; between them legs and arms are solved again."""
_SAME_TEMPO = 0.02
"""Relative change of ṡ² that legs need not be solved again for: less than what balance leaves of the ZMP."""


def find_acceleration_limits(robot: Robot, imitation: Imitation, settings: RetargetSection) -> Array:
    """Estimate the acceleration limits of trunk and arms, for a motion whose time is stretched locally.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    imitation : Imitation
        Motion of the scaled model, whose joints are those of trunk and arms.
    settings : RetargetSection
        Says how time is stretched.

    Returns
    -------
    (n,) array
        Limits, rad/s²; infinite for the legs, whose accelerations follow from balance, and for joints
        without a torque limit. Empty where they are not needed.
    """
    if settings.timing != "local":
        return np.zeros(0)
    return limits_of_joints(robot, imitation.actor.model.names[2:])


def limits_of_joints(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate acceleration limits of some joints of a robot; infinite for the others.

    Parameters
    ----------
    robot : Robot
        Robot with n joints.
    names : sequence of str
        Joints whose limits are wanted.

    Returns
    -------
    (n,) array
        Limits, rad/s²; infinite where a joint is not named or has no torque limit.
    """
    torque = dict(zip(robot.joint_names, robot.motors.torque_limit, strict=True))
    known = [name for name in names if 0.0 < torque[name] < np.inf]
    limits = np.full(len(robot.joint_names), np.inf)
    limits[[robot.joint_names.index(name) for name in known]] = acceleration_limits(robot, known)
    return limits


def fit_local_tempo(
    problem: WholeBodyProblem, motion: WholeBodyMotion
) -> tuple[WholeBodyProblem, WholeBodyMotion, tuple[dict[str, float], str]]:
    """Find the tempo for which speeds, accelerations, torques and the ZMP are inside their limits.

    The sway of the pelvis that puts the ZMP where it is desired belongs to a tempo, and the tempo to a path
    of which the sway is a part. The motion comes with the sway of the tempo that joints' speeds and
    accelerations allow. Where torques or the ZMP need a slower one, arms and legs are solved again for it,
    and the tempo is slowed further where that needs it.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, recording, equipment, limits and settings.
    motion : WholeBodyMotion
        Solution for the tempo that speeds and accelerations allow.

    Returns
    -------
    problem : WholeBodyProblem
        The problem with its tempo.
    motion : WholeBodyMotion
        Solution at that tempo.
    stretch : (dict of str to float, str)
        Metrics of the tempo, and what binds (`measure_stretch`).
    """
    kinematic = fit_tempo(motion_limits(problem, motion.joints))
    tempo = kinematic
    for number in range(_ROUNDS):
        limits = _limits(replace(problem, tempo=tempo), motion)
        before = tempo
        tempo = fit_tempo(limits) if number == 0 else slow_where_needed(limits, tempo)
        problem = replace(problem, tempo=tempo)
        same = (np.abs(tempo.square - before.square) <= _SAME_TEMPO * before.square).all()
        if same or number == _ROUNDS - 1:
            break
        motion = solve_at_tempo(problem, motion)
    return problem, motion, measure_stretch(limits, tempo)


def _limits(problem: WholeBodyProblem, motion: WholeBodyMotion) -> PathLimits:
    """All limits along a motion, with the equipment's resistance at the problem's tempo."""
    time = robot_time(problem, motion.joints)
    loads = hand_wrenches(time, motion.hands, problem.equipment.resistance)
    rows = standing_constraints(
        problem.robot,
        problem.placement.stance,
        problem.time,
        motion.base,
        motion.joints,
        loads,
        inertia_onset(time),
    )
    return with_constraints(motion_limits(problem, motion.joints), *rows)
