"""Imitate a recording with a robot's whole body: from the recording to the joint trajectory."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection
from simbench.retargeting.arm_adaptation.acceleration_limits import known_acceleration_limits
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.imitate.barriers import BarrierRows, barrier_rows, make_barriers
from simbench.retargeting.imitate.clip import Coupling, no_barriers, solve_clip
from simbench.retargeting.imitate.problem import ImitationProblem, initial_configuration, make_problem
from simbench.retargeting.imitate.targets import find_targets
from simbench.retargeting.imitation.joint_use import limit_metrics, limit_stays
from simbench.retargeting.imitation.robot_errors import RobotErrors, compare_with_person, robot_error_metrics
from simbench.retargeting.match.body import match_body
from simbench.robot.robot import Robot

_TIME_CONSTANT = 0.02
"""Time constant of the smoothing, s: motion below 5 Hz is left as it is."""
_SLIDE_WEIGHT = 1e5
_CLEARANCE = 0.005
"""Distance that links keep from each other and from the floor, m."""
_WINDOW, _OVERLAP, _FIXED = 600, 60, 3
"""Frames that are solved together, those of them that the next window solves again, and those of the last
window that couple it with the next one."""
_FIRST_ROUNDS, _FRAME_ROUNDS = 80, 3


@dataclass(frozen=True)
class KinematicPlan:
    """A robot's motion that is the person's within the limits of its body; nothing balances it.

    Parameters
    ----------
    trajectory : JointTrajectory
        All joints of the robot and its base at the samples of the recording.
    errors : RobotErrors
        Errors of the robot against the person at these samples.
    interferences : tuple of Interference
        Links that still penetrate each other.
    metrics : dict of str to float
        Metrics `retarget.*`.
    notes : tuple of str
        What was assumed and what was given up, one line each.
    """

    trajectory: JointTrajectory
    errors: RobotErrors
    interferences: tuple[Interference, ...]
    metrics: dict[str, float]
    notes: tuple[str, ...] = ()


def plan_kinematic(
    robot: Robot,
    motion: HumanMotion,
    settings: RetargetSection,
    on_progress: Callable[[str, int, int], object],
) -> KinematicPlan:
    """Retarget a recording to a robot's whole body, at the recorded tempo.

    Every bone of the robot is to have the direction of the person's; soles stand where and when the person's do,
    and joints keep their limits of position, speed and acceleration. Balance and torques are left out.

    Parameters
    ----------
    robot : Robot
        Robot on a floating base, of human form.
    motion : HumanMotion
        Recording.
    settings : RetargetSection
        Margins of the joints' limits.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    KinematicPlan
        The motion, with what it leaves of the person.

    Raises
    ------
    RetargetError
        If the robot has no limb that bends, or no bone of the person's is recorded that it has too.
    """
    on_progress("imitate", 0, len(motion.time))
    body = match_body(robot)
    targets = find_targets(body, motion)
    problem = make_problem(body, targets, settings.joint_limit_margin_rad)
    following = [robot.joint_names[k] for k in body.joints]
    free = np.full(6, np.inf)
    coupling = Coupling(
        _TIME_CONSTANT,
        _SLIDE_WEIGHT,
        np.concatenate([free, settings.speed_limit_fraction * robot.model.velocityLimit[6 + body.joints]]),
        np.concatenate([free, known_acceleration_limits(robot, following)[body.joints]]),
    )
    q = solve_windows(problem, coupling, on_progress)
    trajectory = JointTrajectory(motion.time, q[:, 7:], robot.joint_names, q[:, :7])
    on_progress("check", 0, 1)
    interferences = find_interference(robot, trajectory)
    errors = compare_with_person(robot, trajectory, motion)
    stays = limit_stays(robot, trajectory, settings.joint_limit_margin_rad)
    metrics = {
        "retarget.slow_down": 1.0,
        "retarget.duration_s": float(trajectory.time[-1] - trajectory.time[0]),
        "retarget.leg_scale": targets.scale,
        "retarget.interference_count": float(len(interferences)),
        **robot_error_metrics(errors),
        **limit_metrics(stays),
    }
    on_progress("check", 1, 1)
    return KinematicPlan(trajectory, errors, interferences, metrics, targets.notes)


def solve_windows(
    problem: ImitationProblem, coupling: Coupling, on_progress: Callable[[str, int, int], object]
) -> Array:
    """Solve a recording of any length: frame by frame first, then all frames of one window after the other.

    A window begins with the last frames of the one before, which stay as they are, and solves its last frames
    once more: so memory does not grow with the recording, and the motion has no seams.

    Returns
    -------
    (T, 7 + n) array
        Configurations of the robot.
    """
    count = len(problem.targets.time)
    barriers = make_barriers(problem.body)

    def keep_clear(configurations: Array) -> BarrierRows:
        return barrier_rows(barriers, configurations, _CLEARANCE)

    q = np.empty((count, 7 + len(problem.body.rest)))
    begin, guessed = 0, 0
    while begin < count:
        end = min(count, begin + _WINDOW)
        for frame in range(guessed, end):
            if frame == 0:
                first = initial_configuration(problem)[None]
                for clear in (no_barriers, keep_clear):
                    first = solve_clip(problem, first, slice(0, 1), coupling, rounds=_FIRST_ROUNDS, barriers=clear)
                q[0] = first[0]
            else:
                pair = np.repeat(q[frame - 1 : frame], 2, axis=0)
                frames = slice(frame - 1, frame + 1)
                q[frame] = solve_clip(
                    problem, pair, frames, coupling, fixed=1, rounds=_FRAME_ROUNDS, barriers=keep_clear
                )[1]
            if frame % 50 == 0:
                on_progress("imitate", begin + (frame - begin) // 2, count)
        guessed = end
        fixed = min(_FIXED, begin)
        frames = slice(begin - fixed, end)
        q[frames] = solve_clip(problem, q[frames], frames, coupling, fixed=fixed, barriers=keep_clear)
        begin = end if end == count else end - _OVERLAP
        on_progress("imitate", begin, count)
    return q
