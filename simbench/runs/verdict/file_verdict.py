"""Verdict on a file of a robot's motion: reading, checks, and the simulated run."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files.options import TrajectoryOptions
from simbench.motion.trajectory_files.robot_motion import read_robot_motion
from simbench.robot.robot import load_robot
from simbench.runs.verdict.check import check_trajectory
from simbench.runs.verdict.outcome import SIMULATED, Verdict
from simbench.system.progress import OnProgress


def judge_file(
    path: Path,
    robot_name: str,
    declared: TrajectoryOptions,
    *,
    floor: float,
    simulate: bool,
    folder: Path | None,
    on_progress: OnProgress,
) -> Verdict:
    """Read a robot's motion, check whether it is physically possible, and simulate it.

    `robot_name`: name of the robot, or path of its files, as for `load_robot`; `declared`: what the user
    declares about the file; `floor`: height of the floor in the file's world, m; `simulate`: whether to
    simulate the motion too; `folder`: directory in which the simulated run is kept; None to remove it;
    `on_progress`: called as the work proceeds. Returns the checks, with notes and doubts of reading and of
    the run. Raises RobotError if the robot cannot be loaded.
    """
    if not np.isfinite(floor):
        raise MotionError(f"--floor {floor:g}: must be a finite height, m")
    on_progress("read", 0, 1)
    robot = load_robot(robot_name)
    motion = read_robot_motion(path, robot, declared)
    on_progress("read", 1, 1)
    on_progress("check", 0, 1)
    try:
        judged = check_trajectory(robot, motion.trajectory, floor=floor, source=str(path))
    except MotionError as error:
        raise MotionError(f"{path}: {error}") from None
    on_progress("check", 1, 1)
    judged = replace(judged, notes=(*motion.notes, *judged.notes), doubts=motion.doubts)
    if not simulate:
        return judged
    # The simulation of a run takes a second to import.
    from simbench.runs.verdict.simulation import simulate_motion

    run = simulate_motion(robot, robot_name, _above_floor(motion.trajectory, floor), folder, on_progress)
    # The run reads the motion once more: what was said already is not said twice.
    new = [line for line in run.notes if line.removeprefix(SIMULATED) not in judged.notes]
    return replace(
        judged,
        checks=(*judged.checks, *run.checks),
        notes=(*judged.notes, *new),
        doubts=(*judged.doubts, *run.doubts),
    )


def _above_floor(trajectory: JointTrajectory, floor: float) -> JointTrajectory:
    """Move a trajectory so that its floor is at z = 0."""
    if trajectory.base is None:
        return trajectory
    return replace(trajectory, base=trajectory.base - np.array([0.0, 0.0, floor, 0.0, 0.0, 0.0, 0.0]))
