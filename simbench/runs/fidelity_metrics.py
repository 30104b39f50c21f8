"""Fidelity of a run to the recording that it follows, from its log."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.rotation import heading_of
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import person_points, robot_points
from simbench.retargeting.reference.reference import FollowedSteps, Timeline
from simbench.robot.robot import Robot
from simbench.runs.motion_fidelity import (
    Landings,
    compare_landings,
    executed_fidelity,
    fidelity_metrics,
    find_landings,
    has_human_arms,
)
from simbench.runs.person_log import with_person

if TYPE_CHECKING:
    import xarray as xr


class FollowedRecording(NamedTuple):
    """The recording that a run follows, and how."""

    motion: HumanMotion  # The recording at the samples of the plan.
    speed: float  # Factor by which its tempo was changed before planning: `motion.speed`.
    retarget: RetargetSection  # Margins of the limits that the plan keeps.


def add_fidelity(
    log: xr.Dataset, robot: Robot, timeline: Timeline, followed: FollowedRecording
) -> tuple[xr.Dataset, dict[str, float | None]]:
    """Measure what a run leaves of the person, and add it to its log.

    `timeline`: its reference, and the recording's place in it. Returns `log`: the log, with the person and
    the directions' errors for a robot with two arms like a person's; `metrics`: metrics `fidelity.*`; none of
    a run that ended before the recording's fourth sample.
    """
    # The tempo is that of the recording, whatever the scenario made of it.
    motion = replace(followed.motion, time=followed.motion.time * followed.speed)
    if log.sizes["time"] < 2 or not np.isfinite(log["joint_position"].values).all():
        return log, {}
    executed = JointTrajectory(
        log["time"].values,
        log["joint_position"].values,
        robot.joint_names,
        log["base_pose"].values if robot.floating else None,
    )
    heading = 0.0
    if timeline.steps is not None:
        # The stance before the person's first step may be turned against the recording.
        heading = timeline.steps.heading
    elif robot.floating:
        heading = float(heading_of(timeline.base[3:]))
    limits = followed.retarget.joint_limit_margin_rad, followed.retarget.speed_limit_fraction
    fidelity = executed_fidelity(
        robot, executed, log["joint_velocity"].values, motion, timeline.time, limits, heading=heading
    )
    if fidelity is None:
        return log, {}
    if timeline.steps is not None and "foot_pose" in log:
        fidelity = replace(fidelity, steps=_step_errors(log, timeline.steps, timeline.start))
    if has_human_arms(robot, motion):
        count = round(fidelity.executed * len(timeline.time))
        points = robot_points(robot, sample_trajectory(executed, timeline.time[:count]), heading=heading)
        log = with_person(log, fidelity, person_points(motion), points)
    return log, fidelity_metrics(fidelity)


def _step_errors(log: xr.Dataset, steps: FollowedSteps, start: float) -> dict[str, float | None]:
    """Compare the landings of a run with the person's, those that are due before it ends."""
    weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    load = log["foot_wrench"].values[:, :, 2] / weight
    wanted = Landings(steps.side, start + steps.person_time, steps.person_position, steps.person_yaw)
    landed = find_landings(log["time"].values, load, log["foot_pose"].values)
    # Settling, lead-in and lead-out have steps of their own, such as the last one beside the other foot.
    margin = 0.5
    during = (landed.time >= wanted.time.min(initial=np.inf) - margin) & (
        landed.time <= wanted.time.max(initial=-np.inf) + margin
    )
    return compare_landings(Landings(*(values[during] for values in landed)), wanted)
