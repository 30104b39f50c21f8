"""Verdict on a file of a robot's motion: reading, checks, and a simulated run that follows it."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simbench.errors import BalanceError, MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files import read_robot_motion
from simbench.motion.trajectory_files.joint_order import joint_units
from simbench.motion.trajectory_files.native import write_trajectory
from simbench.motion.trajectory_files.stored_motion import TrajectoryOptions
from simbench.options import TRAJECTORY
from simbench.robot.robot import Robot, load_robot
from simbench.runs.verdict import thresholds
from simbench.runs.verdict.physical_checks import check_trajectory
from simbench.runs.verdict.verdict_outcome import (
    SIMULATED,
    Check,
    Flags,
    Moment,
    Verdict,
    judge,
    not_applicable,
)
from simbench.system.progress import OnProgress

if TYPE_CHECKING:
    import xarray as xr

# Distance of the ZMP from the edge of the soles up to which it is on it, m: it cannot be outside.
_EDGE = 1e-3
_CARRYING = 0.1  # Part of the weight from which a foot is in contact.
_COMPLETED = f"{SIMULATED}completed"


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
    trajectory = motion.trajectory
    if trajectory.base is not None:
        # The floor of a simulation is at z = 0.
        down = np.array([0.0, 0.0, floor, 0.0, 0.0, 0.0, 0.0])
        trajectory = replace(trajectory, base=trajectory.base - down)
    checks, notes, doubts = simulate_motion(robot, robot_name, trajectory, folder, on_progress)
    # The run reads the motion once more: what was said already is not said twice.
    new = [line for line in notes if line.removeprefix(SIMULATED) not in judged.notes]
    return replace(
        judged,
        checks=(*judged.checks, *checks),
        notes=(*judged.notes, *new),
        doubts=(*judged.doubts, *doubts),
    )


def simulate_motion(
    robot: Robot, robot_name: str, trajectory: JointTrajectory, folder: Path | None, on_progress: OnProgress
) -> tuple[tuple[Check, ...], tuple[str, ...], tuple[str, ...]]:
    """Let a robot follow a motion in a simulation, and check how well it does.

    `robot_name`: its name or the path of its files, as for `load_robot`; `trajectory`: the motion, with its
    floor at z = 0; `folder`: directory of the run; None for one that is removed; `on_progress`: called as the
    run proceeds. Returns checks of whether the run was completed and the robot fell, and of errors of joints
    and base, slip, torque and ZMP, with moments on the trajectory's time; what was changed for the run; and
    what may well be wrong.
    """
    # The simulation of a run takes a second to import.
    from simbench.runs.log import open_run
    from simbench.runs.pipeline import run_scenario
    from simbench.runs.scenario.schema import Scenario
    from simbench.sim.engine import usual_engine

    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "motion.nc"
        write_trajectory(trajectory, path, joint_units(robot), {})
        scenario = Scenario.model_validate(
            {
                "name": "verdict",
                "robot": {"name": robot_name},
                "motion": {"source": f"{TRAJECTORY}{path}"},
                "simulation": {"engine": usual_engine()},
            }
        )
        kept = folder or Path(scratch) / "run"
        try:
            result = run_scenario(scenario, kept, on_progress=on_progress)
        except (BalanceError, MotionError, RetargetError) as error:
            reason = str(error).replace(f"{path}: ", "")
            return (Check(_COMPLETED, "fail", reason=reason),), (), ()
        notes, doubts = (
            tuple(f"{SIMULATED}{line.replace(f'{path}: ', '')}" for line in lines)
            for lines in (result.notes, result.doubts)
        )
        if result.diverged is not None:
            return (Check(_COMPLETED, "fail", reason=result.diverged),), notes, doubts
        log = open_run(kept)
        checks = tuple(_check_run(robot, log, trajectory.time))
        log.close()
    return checks, notes, doubts


def _check_run(robot: Robot, log: xr.Dataset, frames: Array) -> list[Check]:
    """Check the samples of a log in which a trajectory is followed; `frames` (T,): its times, s."""
    log = log.isel(time=np.flatnonzero(np.isfinite(log["joint_trajectory"].values).all(axis=1)))
    time, names = log["time"].values, robot.joint_names
    fingers = log["is_grip"].values
    error = np.abs(log["joint_position"].values - log["joint_trajectory"].values)[:, ~fingers]
    body = [name for name, finger in zip(names, fingers, strict=True) if not finger]
    checks = [
        Check(_COMPLETED, "pass"),
        judge("run: joint error", time, error, body, limit=thresholds.RUN_JOINT, unit="rad"),
    ]
    # Name, threshold and unit of each check of a robot on its feet.
    on_feet = (
        ("run: height", thresholds.RUN_HEIGHT, "of height"),
        ("run: base", thresholds.RUN_BASE, "m"),
        ("run: foot slip", thresholds.RUN_SLIP, "m"),
        ("run: ZMP at the edge", thresholds.RUN_EDGE_TIME, "s"),
    )
    if "base_trajectory" in log:
        base, wanted = log["base_pose"].values, log["base_trajectory"].values
        load = log["foot_wrench"].values[:, :, 2]
        carries = load >= _CARRYING * log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
        position = log["foot_pose"].values[:, :, :2]
        slip = np.zeros(len(time))
        for foot in range(position.shape[1]):
            for first, last in contact_intervals(carries[:, foot]):
                run = slice(first, last + 1)
                moved = np.linalg.norm(position[run, foot] - position[first, foot], axis=1)
                slip[run] = np.maximum(slip[run], moved)
        # The robot tips about the edge of the soles at which the measured ZMP stays.
        edge = _time_without_break(
            time, (log["zmp_margin"].values < _EDGE)[:, None], thresholds.RUN_EDGE_TIME
        )
        values = (
            1.0 - base[:, 2] / wanted[:, 2],
            np.linalg.norm(base[:, :2] - wanted[:, :2], axis=1),
            slip,
            edge[0][:, 0],
        )
        for (name, bound, unit), series in zip(on_feet, values, strict=True):
            failing = edge[1][:, 0] if bound == thresholds.RUN_EDGE_TIME else None
            checks.append(judge(name, time, series, limit=bound, unit=unit, failing=failing))
    else:
        checks += [not_applicable(name, "the base is fixed") for name, _, _ in on_feet]
    limit = log["torque_limit"].values
    saturated = np.abs(log["torque_requested"].values) > np.where(limit > 0.0, limit, np.inf)
    lasted, failing = _time_without_break(time, saturated & ~fingers, thresholds.RUN_SATURATION)
    name, bound = "run: torque saturation", thresholds.RUN_SATURATION
    checks.append(judge(name, time, lasted, names, limit=bound, unit="s", failing=failing))
    # From the samples of the log to those of the trajectory.
    elapsed, moved_checks = time - time[0] + frames[0], []
    for check in checks:
        moments = []
        for moment in (check.worst, check.first):
            at = None if moment is None else moment.time - time[0] + frames[0]
            moments.append(None if at is None else Moment(at, int(np.abs(frames - at).argmin())))
        series = check.series
        if series is not None:
            known = np.isfinite(series)
            series = np.interp(frames, elapsed[known], series[known]) if known.any() else None
        moved_checks.append(replace(check, worst=moments[0], first=moments[1], series=series))
    return moved_checks


def _time_without_break(time: Array, active: Flags, limit: float) -> tuple[Array, Flags]:
    """Measure how long columns of `active` (T, N) have been so, s, and find what exceeds a limit, s."""
    lasted, failing = np.zeros(active.shape), np.zeros(active.shape, bool)
    for column in np.flatnonzero(active.any(axis=0)):
        for first, last in contact_intervals(active[:, column]):
            run = slice(first, last + 1)
            lasted[run, column] = time[run] - time[first]
            failing[run, column] = lasted[last, column] > limit
    return lasted, failing
