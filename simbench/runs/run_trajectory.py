"""The motion of the robot of a finished run, measured or planned, as a joint trajectory."""

from pathlib import Path
from typing import NamedTuple

import numpy as np

from simbench.errors import RunError
from simbench.motion.trajectory import JointTrajectory
from simbench.robot.robot import Robot, load_robot
from simbench.runs.log import open_run
from simbench.runs.log_schema import require_entries
from simbench.runs.scenario.loading import load_finished
from simbench.runs.video import reconstruct_planned_base


class RunTrajectory(NamedTuple):
    """Motion of the robot of a run."""

    trajectory: JointTrajectory  # The motion at the log's rate, from 0 s, joints in the order of the robot.
    robot: Robot  # The robot of the run's scenario.


def read_run_trajectory(folder: Path, *, planned: bool = False) -> RunTrajectory:
    """Read the motion of the robot of a run, complete or interrupted.

    `folder`: run directory; `planned`: whether to read the reference: joints that were to be followed, and
    the base that the planned feet give, in place of what was measured. Raises RunError, ScenarioError,
    RobotError if there is no log or no scenario, or the robot of the scenario is not that of the log.
    """
    log = open_run(folder)
    robot = load_robot(load_finished(folder).robot.name)
    joints = "joint_reference" if planned else "joint_position"
    needed = ("joint", joints, "base_pose", *(("contact_planned",) if planned and robot.floating else ()))
    require_entries(log, needed, ("seat",) if planned and robot.floating else (), folder)
    if log["joint"].values.astype(str).tolist() != list(robot.joint_names):
        raise RunError(
            f"{folder}: the joints of its log are not those of {robot.name}, the robot of its scenario"
        )
    base = None
    if robot.floating:
        base = reconstruct_planned_base(robot, log) if planned else np.asarray(log["base_pose"].values)
    time = np.asarray(log["time"].values, dtype=float)
    return RunTrajectory(
        JointTrajectory(time - time[0], np.asarray(log[joints].values), robot.joint_names, base), robot
    )
