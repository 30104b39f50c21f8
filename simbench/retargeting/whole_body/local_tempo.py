"""The tempo of a whole-body motion whose time is stretched locally: time law and balance in turn."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from simbench.balance.standing.standing_profile import planned_zmp
from simbench.errors import LegReachError
from simbench.kinematics.arrays import Array
from simbench.options import RetargetSection
from simbench.retargeting.imitation.imitation import Imitation
from simbench.retargeting.timing.acceleration_limits import estimated_accelerations
from simbench.retargeting.timing.stretch import (
    PathLimits,
    TempoMap,
    fit_tempo,
    measure_stretch,
    slow_for_accelerations,
    slow_where_needed,
    standing_constraints,
    with_constraints,
)
from simbench.retargeting.whole_body.arms_and_legs import (
    GRIP_TOLERANCE,
    WholeBodyMotion,
    WholeBodyProblem,
    motion_limits,
    robot_time,
    solve_at_tempo,
)
from simbench.retargeting.whole_body.stance import measure_grip_error, require_leg_limits
from simbench.retargeting.whole_body.zmp import estimate_hand_wrench, hand_wrenches, inertia_onset
from simbench.robot.robot import Robot

_ROUNDS = 2
"""Times that the tempo is fitted: the equipment's resistance depends on it."""


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
    names, limits = imitation.actor.model.names[2:], np.full(len(robot.joint_names), np.inf)
    limits[[robot.joint_names.index(name) for name in names]] = estimated_accelerations(robot, names)
    return limits


@dataclass(frozen=True)
class LocalTempo:
    """A motion whose time is stretched locally.

    Parameters
    ----------
    problem : WholeBodyProblem
        The problem with its tempo.
    motion : WholeBodyMotion
        Solution at that tempo.
    metrics : dict of str to float
        How much and where time is stretched (`measure_stretch`).
    note : str
        What binds; empty if nothing is stretched.
    """

    problem: WholeBodyProblem
    motion: WholeBodyMotion
    metrics: dict[str, float]
    note: str


def fit_local_tempo(problem: WholeBodyProblem, motion: WholeBodyMotion) -> Iterator[LocalTempo]:
    """Find the tempo for which speeds, accelerations, torques and the ZMP are inside their limits.

    The path is that of the motion slowed by one factor, with the sway of the pelvis that puts the ZMP where
    it is desired at that pace. Followed faster, it keeps the ZMP inside the soles, by the tempo. Then arms
    and legs are solved once more for the ZMP that is desired, and the tempo is slowed where that path needs
    it: the first motion. The greater sway may take links into each other or palms off their handles; the
    second motion has the path as it was, and the ZMP that it needs is the desired one.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, recording, equipment, limits and settings.
    motion : WholeBodyMotion
        Solution for the motion slowed by one factor.

    Yields
    ------
    LocalTempo
        The better motion first; it is left out if a palm would miss its handle, or a leg not reach.
    """
    tempo = fit_tempo(motion_limits(problem, motion.joints))
    for _ in range(_ROUNDS):
        limits = _limits(replace(problem, tempo=tempo), motion)
        before, tempo = tempo, _slow_for_accelerations(limits, fit_tempo(limits), problem, motion)
        if np.array_equal(before.square, tempo.square):
            break
    timed = replace(problem, tempo=tempo)
    if (tempo.square == 1.0).all():
        # Nothing is stretched: the motion is balanced for this tempo.
        yield LocalTempo(timed, motion, *measure_stretch(limits, tempo))
        return
    balanced = _balance(timed, motion)
    if balanced is not None:
        at_new = _limits(timed, balanced)
        slowed = _slow_for_accelerations(at_new, slow_where_needed(at_new, tempo.square), timed, balanced)
        yield LocalTempo(replace(problem, tempo=slowed), balanced, *measure_stretch(at_new, slowed))
    if problem.placement.embedding:
        motion = replace(motion, zmp=_planned_zmp(timed, motion))
    yield LocalTempo(timed, motion, *measure_stretch(limits, tempo))


def _slow_for_accelerations(
    limits: PathLimits, tempo: TempoMap, problem: WholeBodyProblem, motion: WholeBodyMotion
) -> TempoMap:
    """Slow a tempo where accelerations at corners of the path are beyond their limits."""
    return slow_for_accelerations(limits, tempo, problem.time, motion.joints, problem.acceleration_limit)


def _balance(problem: WholeBodyProblem, motion: WholeBodyMotion) -> WholeBodyMotion | None:
    """Solve arms and legs for the desired ZMP at the problem's tempo; None if legs or palms cannot follow."""
    if not problem.placement.embedding:
        return None
    try:
        balanced = solve_at_tempo(problem, motion)
        require_leg_limits(problem.robot, balanced.joints)
    except LegReachError:
        return None
    allowed = max(_grip_error(problem, motion), GRIP_TOLERANCE)
    return balanced if _grip_error(problem, balanced) <= allowed else None


def _grip_error(problem: WholeBodyProblem, motion: WholeBodyMotion) -> float:
    """Largest distance of a palm from its handle in contact, m."""
    return measure_grip_error(problem.robot, motion.base, motion.joints, motion.hands, problem.time)[0]


def _planned_zmp(problem: WholeBodyProblem, motion: WholeBodyMotion) -> Array:
    """ZMP (T, 2) that a motion has at the problem's tempo, m."""
    time = robot_time(problem, motion.joints)
    wrench = estimate_hand_wrench(time, motion.hands, problem.equipment.resistance)
    return planned_zmp(problem.robot, time, motion.base, motion.joints, wrench, inertia_onset(time))[0]


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
