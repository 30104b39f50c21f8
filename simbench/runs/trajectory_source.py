"""The robot motion that a scenario names: read, cut out, and planned."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from simbench.errors import MotionError, ScenarioError
from simbench.motion.trajectory import JointTrajectory, round_trajectory
from simbench.motion.trajectory_files.options import RobotMotion, TrajectoryOptions
from simbench.motion.trajectory_files.robot_motion import read_robot_motion
from simbench.options import TRAJECTORY, MotionSection
from simbench.robot.robot import Robot
from simbench.runs.plans.trajectory_plan import MIN_SAMPLES, TrajectoryPlan, plan_on_feet, plan_on_fixed_base
from simbench.runs.scenario.schema import Scenario
from simbench.system.progress import OnProgress

_KEYS = {
    "--joint-order": "motion.joint_order",
    "--quaternion ": "motion.quaternion: ",
    "--quaternion": "motion.quaternion",
    "--fps": "motion.fps",
}
"""Key of a scenario for each option with which a file of a robot's motion is declared."""


def plan_scenario_trajectory(robot: Robot, scenario: Scenario, on_progress: OnProgress) -> TrajectoryPlan:
    """Read the robot motion of a scenario and plan how the robot follows it.

    `robot`: the scenario's robot; `scenario`: scenario whose `motion.source` is `trajectory:FILE`;
    `on_progress`: called as planning proceeds. Returns the planned motion, with the notes and doubts of
    reading and of planning. Raises RetargetError if the robot cannot stand where it begins or ends.
    """
    for key in ("fixtures", "stepping", "push"):
        if getattr(scenario, key):
            raise ScenarioError(f"{key}: motion.source {TRAJECTORY}FILE uses none")
    path = Path(scenario.motion.source.removeprefix(TRAJECTORY))
    on_progress("read", 0, 1)
    motion = _read(robot, path, scenario.motion)
    if (seed := scenario.variation.rounding_seed) is not None:
        motion = replace(motion, trajectory=round_trajectory(motion.trajectory, seed))
    on_progress("read", 1, 1)
    settings, feedforward = scenario.simulation, scenario.control.feedforward
    on_progress("plan", 0, 1)
    try:
        if robot.floating:
            plan = plan_on_feet(
                robot, motion.trajectory, scenario.robot, settings, scenario.balance.rate_hz, feedforward
            )
        else:
            plan = plan_on_fixed_base(robot, motion.trajectory, scenario.robot, settings, feedforward)
    except MotionError as error:
        raise MotionError(f"{path}: {error}") from None
    on_progress("plan", 1, 1)
    return replace(plan, notes=(*motion.notes, *plan.notes), doubts=(*motion.doubts, *plan.doubts))


def _with_keys(text: str) -> str:
    """Name the keys of a scenario where a text names options of the command line."""
    for option, key in _KEYS.items():
        text = text.replace(option, key)
    return text


def _read(robot: Robot, path: Path, section: MotionSection) -> RobotMotion:
    """Read the file as the scenario declares it, at its speed and of the part that it uses."""
    options = TrajectoryOptions(section.joint_order, section.quaternion, section.fps)
    try:
        motion = read_robot_motion(path, robot, options)
    except MotionError as error:
        raise MotionError(_with_keys(str(error))) from None
    notes, doubts = (tuple(map(_with_keys, lines)) for lines in (motion.notes, motion.doubts))
    motion = replace(motion, notes=notes, doubts=doubts)
    if section.strict and motion.doubts:
        raise MotionError(f"{path}: {motion.doubts[0]} (motion.strict)")
    trajectory = motion.trajectory
    time = trajectory.time / section.speed
    keep = (time >= (section.start_s or 0.0)) & (time <= (np.inf if section.end_s is None else section.end_s))
    if keep.sum() < MIN_SAMPLES:
        raise MotionError(
            f"{path}: {keep.sum()} samples between motion.start_s and motion.end_s; "
            f"at least {MIN_SAMPLES} are needed, and it lasts {time[-1]:g} s"
        )
    base = None if trajectory.base is None else trajectory.base[keep]
    part = JointTrajectory(time[keep] - time[keep][0], trajectory.q[keep], trajectory.joint_names, base)
    return replace(motion, trajectory=part)
