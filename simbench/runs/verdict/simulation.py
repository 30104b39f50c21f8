"""Checks on a simulated run: the robot follows the motion on free feet, by torque control."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.errors import BalanceError, MotionError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import contact_intervals
from simbench.motion.joint_use import joint_units
from simbench.motion.trajectory import JointTrajectory
from simbench.motion.trajectory_files import write_trajectory
from simbench.options import TRAJECTORY
from simbench.robot.robot import Robot
from simbench.runs.log import open_run
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.schema import Scenario
from simbench.runs.verdict.judging import judge, not_applicable
from simbench.runs.verdict.outcome import SIMULATED, Check, Moment
from simbench.runs.verdict.thresholds import (
    RUN_BASE,
    RUN_EDGE_TIME,
    RUN_HEIGHT,
    RUN_JOINT,
    RUN_SATURATION,
    RUN_SLIP,
)
from simbench.sim.engine import usual_engine
from simbench.system.progress import OnProgress

if TYPE_CHECKING:
    import xarray as xr

_EDGE = 1e-3
"""Distance of the ZMP from the edge of the soles up to which it is on it, m: it cannot be outside."""
_CARRYING = 0.1
"""Part of the weight from which a foot is in contact."""
_COMPLETED = f"{SIMULATED}completed"


class SimulatedChecks(NamedTuple):
    """What a simulated run says about a motion."""

    checks: tuple[Check, ...]  # The checks. Their moments are on the trajectory's time.
    notes: tuple[str, ...]  # What was changed for the run, one line each.
    doubts: tuple[str, ...]  # What may well be wrong, one line each.


def simulate_motion(
    robot: Robot,
    robot_name: str,
    trajectory: JointTrajectory,
    folder: Path | None,
    on_progress: OnProgress,
) -> SimulatedChecks:
    """Let a robot follow a motion in a simulation, and check how well it does.

    `robot_name`: its name or the path of its files, as for `load_robot`; `trajectory`: the motion, with its
    floor at z = 0; `folder`: directory of the run; None for one that is removed; `on_progress`: called as the
    run proceeds. Returns whether the run was completed and the robot fell, and errors of joints and base,
    slip, torque and ZMP.
    """
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
            return SimulatedChecks((Check(_COMPLETED, "fail", reason=reason),), (), ())
        notes, doubts = (
            tuple(f"{SIMULATED}{line.replace(f'{path}: ', '')}" for line in lines)
            for lines in (result.notes, result.doubts)
        )
        if result.diverged is not None:
            return SimulatedChecks((Check(_COMPLETED, "fail", reason=result.diverged),), notes, doubts)
        log = open_run(kept)
        checks = tuple(_check_run(robot, log, trajectory.time))
        log.close()
    return SimulatedChecks(checks, notes, doubts)


def _check_run(robot: Robot, log: xr.Dataset, frames: Array) -> list[Check]:
    """Check the samples of a log in which the trajectory is followed."""
    used = np.isfinite(log["joint_trajectory"].values).all(axis=1)
    log = log.isel(time=np.flatnonzero(used))
    checks = [Check(_COMPLETED, "pass"), _check_joints(robot, log)]
    floating = [_check_height, _check_base, _check_slip, _check_edge]
    if "base_trajectory" in log:
        checks += [check(log) for check in floating]
    else:
        names = ("height", "base", "foot slip", "ZMP at the edge")
        checks += [not_applicable(f"{SIMULATED}{name}", "the base is fixed") for name in names]
    checks.append(_check_saturation(robot, log))
    return [_on_frames(check, log["time"].values, frames) for check in checks]


def _on_frames(check: Check, time: Array, frames: Array) -> Check:
    """Move a check from the samples of the log to those of the trajectory."""

    def moved(moment: Moment | None) -> Moment | None:
        if moment is None:
            return None
        at = moment.time - time[0] + frames[0]
        return Moment(at, int(np.abs(frames - at).argmin()))

    series = check.series
    if series is not None:
        known = np.isfinite(series)
        elapsed = time[known] - time[0] + frames[0]
        series = np.interp(frames, elapsed, series[known]) if known.any() else None
    return Check(
        check.name,
        check.outcome,
        check.value,
        check.limit,
        check.unit,
        moved(check.worst),
        moved(check.first),
        check.where,
        check.reason,
        series,
    )


def _check_joints(robot: Robot, log: xr.Dataset) -> Check:
    """How far joints are from the trajectory, fingers left out."""
    body = ~log["is_grip"].values
    error = np.abs(log["joint_position"].values - log["joint_trajectory"].values)[:, body]
    names = [name for name, used in zip(robot.joint_names, body, strict=True) if used]
    return judge(
        f"{SIMULATED}joint error",
        log["time"].values,
        error,
        names,
        limit=RUN_JOINT.value,
        unit=RUN_JOINT.unit,
    )


def _check_height(log: xr.Dataset) -> Check:
    """How much lower than in the trajectory the root is, as a fraction of its height there: a fall."""
    height, wanted = log["base_pose"].values[:, 2], log["base_trajectory"].values[:, 2]
    return _judge("height", log, 1.0 - height / wanted, RUN_HEIGHT.value, RUN_HEIGHT.unit)


def _check_base(log: xr.Dataset) -> Check:
    """How far the root is from the trajectory horizontally."""
    apart = log["base_pose"].values[:, :2] - log["base_trajectory"].values[:, :2]
    return _judge("base", log, np.linalg.norm(apart, axis=1), RUN_BASE.value, RUN_BASE.unit)


def _check_slip(log: xr.Dataset) -> Check:
    """How far feet slip while they carry load."""
    load = log["foot_wrench"].values[:, :, 2]
    carries = load >= _CARRYING * log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    position = log["foot_pose"].values[:, :, :2]
    slip = np.zeros(len(position))
    for foot in range(position.shape[1]):
        for first, last in contact_intervals(carries[:, foot]):
            run = slice(first, last + 1)
            moved = np.linalg.norm(position[run, foot] - position[first, foot], axis=1)
            slip[run] = np.maximum(slip[run], moved)
    return _judge("foot slip", log, slip, RUN_SLIP.value, RUN_SLIP.unit)


def _check_edge(log: xr.Dataset) -> Check:
    """How long the measured ZMP stays at the edge of the soles: the robot tips about it."""
    time = log["time"].values
    at_edge = log["zmp_margin"].values < _EDGE
    lasted, failing = np.zeros(len(time)), np.zeros(len(time), bool)
    for first, last in contact_intervals(at_edge):
        run = slice(first, last + 1)
        lasted[run] = time[run] - time[first]
        failing[run] = lasted[last] > RUN_EDGE_TIME.value
    return judge(
        f"{SIMULATED}ZMP at the edge",
        time,
        lasted[:, None],
        ("",),
        limit=RUN_EDGE_TIME.value,
        unit=RUN_EDGE_TIME.unit,
        failing=failing[:, None],
    )


def _check_saturation(robot: Robot, log: xr.Dataset) -> Check:
    """How long a motor is at its torque limit without a break."""
    time = log["time"].values
    limit = log["torque_limit"].values
    saturated = np.abs(log["torque_requested"].values) > np.where(limit > 0.0, limit, np.inf)
    body = ~log["is_grip"].values
    lasted, failing = np.zeros(saturated.shape), np.zeros(saturated.shape, bool)
    for joint in np.flatnonzero(saturated.any(axis=0) & body):
        for first, last in contact_intervals(saturated[:, joint]):
            run = slice(first, last + 1)
            lasted[run, joint] = time[run] - time[first]
            failing[run, joint] = lasted[last, joint] > RUN_SATURATION.value
    return judge(
        f"{SIMULATED}torque saturation",
        time,
        lasted,
        robot.joint_names,
        limit=RUN_SATURATION.value,
        unit=RUN_SATURATION.unit,
        failing=failing,
    )


def _judge(name: str, log: xr.Dataset, values: Array, limit: float, unit: str) -> Check:
    """Judge one value over the time of the log."""
    return judge(f"{SIMULATED}{name}", log["time"].values, values[:, None], ("",), limit=limit, unit=unit)
