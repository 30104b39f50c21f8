"""Fidelity of a run to the recording that it follows, from its log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection
from simbench.retargeting.fidelity.body_points import person_points, robot_points
from simbench.retargeting.fidelity.fidelity import (
    Execution,
    Fidelity,
    base_heading,
    executed_fidelity,
    has_human_arms,
    sample_trajectory,
)
from simbench.retargeting.fidelity.footsteps import StepErrors, carrying_feet, compare_landings, find_landings
from simbench.retargeting.fidelity.metrics import fidelity_metrics
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.runs.person_log import with_person

if TYPE_CHECKING:
    import xarray as xr

_CARRYING_FRACTION, _TOUCHING_FRACTION = 0.1, 0.01
"""A foot carries the robot from this fraction of the weight on, until it carries less than the second: one
that is about to lift and trembles under a small load does not land again."""


class FollowedRecording(NamedTuple):
    """The recording that a run follows, and how.

    Parameters
    ----------
    motion : HumanMotion
        The recording at the samples of the plan.
    speed : float
        Factor by which its tempo was changed before planning: `motion.speed`.
    retarget : RetargetSection
        Margins of the limits that the plan keeps.
    """

    motion: HumanMotion
    speed: float
    retarget: RetargetSection


def add_fidelity(
    log: xr.Dataset, robot: Robot, timeline: Timeline, followed: FollowedRecording
) -> tuple[xr.Dataset, dict[str, float | None]]:
    """Measure what a run leaves of the person, and add it to its log.

    Parameters
    ----------
    log : xarray.Dataset
        Log of the run.
    robot : Robot
        Robot of the run.
    timeline : Timeline
        Its reference, and the recording's place in it.
    followed : FollowedRecording
        The recording.

    Returns
    -------
    log : xarray.Dataset
        The log, with the person and the directions' errors for a robot with two arms like a person's.
    metrics : dict of str to float or None
        Metrics `fidelity.*`; none of a run that ended before the recording's fourth sample.
    """
    # The tempo is that of the recording, whatever the scenario made of it.
    motion = replace(followed.motion, time=followed.motion.time * followed.speed)
    if log.sizes["time"] < 2 or not np.isfinite(log["joint_position"].values).all():
        return log, {}
    execution = _execution(log, robot, timeline)
    section = followed.retarget
    limits = section.joint_limit_margin_rad, section.speed_limit_fraction
    fidelity = executed_fidelity(robot, execution, motion, limits)
    if fidelity is None:
        return log, {}
    if timeline.steps is not None and "foot_pose" in log:
        fidelity = replace(fidelity, steps=_step_errors(log, timeline))
    if has_human_arms(robot, motion):
        log = with_person(log, fidelity, person_points(motion), _points(robot, execution, fidelity))
    return log, fidelity_metrics(fidelity)


def _execution(log: xr.Dataset, robot: Robot, timeline: Timeline) -> Execution:
    """Take the executed motion out of a log."""
    base = log["base_pose"].values if robot.floating else None
    motion = JointTrajectory(log["time"].values, log["joint_position"].values, robot.joint_names, base)
    if timeline.steps is not None:
        # The stance before the person's first step may be turned against the recording.
        heading = timeline.steps.heading
    else:
        heading = base_heading(timeline.base) if robot.floating else 0.0
    return Execution(motion, log["joint_velocity"].values, timeline.time, heading)


def _points(robot: Robot, execution: Execution, fidelity: Fidelity) -> dict[str, Array]:
    """Points of the robot at the samples that were executed."""
    count = round(fidelity.executed * len(execution.robot_time))
    sampled = sample_trajectory(execution.motion, execution.robot_time[:count])
    return robot_points(robot, sampled, heading=execution.heading)


def _step_errors(log: xr.Dataset, timeline: Timeline) -> StepErrors:
    """Compare the landings of a run with the person's, those that are due before it ends."""
    assert timeline.steps is not None
    weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    load = log["foot_wrench"].values[:, :, 2] / weight
    carrying = carrying_feet(load, _CARRYING_FRACTION, _TOUCHING_FRACTION)
    wanted = timeline.steps.as_person()
    wanted = wanted._replace(time=timeline.start + wanted.time)
    landed = find_landings(log["time"].values, carrying, log["foot_pose"].values)
    # Settling, lead-in and lead-out have steps of their own, such as the last one beside the other foot.
    margin = 0.5
    during = (landed.time >= wanted.time.min(initial=np.inf) - margin) & (
        landed.time <= wanted.time.max(initial=-np.inf) + margin
    )
    return compare_landings(type(landed)(*(values[during] for values in landed)), wanted)
