"""Metrics of commanded steps: how far the robot ended from where its commands lead, and steps not taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from simbench.retargeting.fidelity.footsteps import FollowedSteps, Landings, compare_landings, find_landings
from simbench.retargeting.fidelity.footsteps import step_metrics as landing_metrics
from simbench.retargeting.reference.reference import Timeline
from simbench.options import StepCommand, SteppingSection


if TYPE_CHECKING:
    import xarray as xr

_CARRYING_FRACTION = 0.1
"""A foot is in contact from this fraction of the weight on."""
_AROUND = 0.1
"""Time before the recording's beginning and after its end within which a landing counts, s."""


def commanded_displacement(commands: Sequence[StepCommand]) -> tuple[float, float, float]:
    """Compute where commands lead, each in the frame where the one before ends.

    Parameters
    ----------
    commands : sequence of StepCommand
        Commands of the section `stepping`, one after another.

    Returns
    -------
    forward : float
        Distance along the initial heading, m.
    left : float
        Distance to the left of the initial heading, m.
    rotation : float
        Rotation to the left, rad; whole turns are counted.
    """
    forward = left = heading = 0.0
    for command in commands:
        ahead, aside = command.forward_m or 0.0, command.sideways_m or 0.0
        forward += math.cos(heading) * ahead - math.sin(heading) * aside
        left += math.sin(heading) * ahead + math.cos(heading) * aside
        heading += command.turn_rad or 0.0
    return forward, left, heading


def step_metrics(
    metrics: Mapping[str, float | bool], section: SteppingSection, planned: int
) -> dict[str, float]:
    """Compare the displacement of the robot with its commands, and the steps taken with those planned.

    Parameters
    ----------
    metrics : mapping of str to float or bool
        Metrics from `run_metrics`: `base.forward_m`, `base.left_m`, `base.turn_rad` and `steps.count`.
    section : SteppingSection
        Section `stepping` of the scenario.
    planned : int
        Number of planned steps.

    Returns
    -------
    dict of str to float
        `base.forward_error_m`, `base.left_error_m` and `base.turn_error_rad`: absolute difference of the
        displacement and rotation of the root from those commanded; `steps.missed_count`: number of planned
        steps that were not taken.
    """
    forward, left, rotation = commanded_displacement(section.commands)
    return {
        "base.forward_error_m": abs(metrics["base.forward_m"] - forward),
        "base.left_error_m": abs(metrics["base.left_m"] - left),
        "base.turn_error_rad": abs(metrics["base.turn_rad"] - rotation),
        "steps.missed_count": max(0.0, planned - metrics["steps.count"]),
    }


def followed_step_metrics(
    log: xr.Dataset, steps: FollowedSteps, timeline: Timeline
) -> dict[str, float | None]:
    """Compare a robot's landings with those of the person whom it follows.

    Parameters
    ----------
    log : xarray.Dataset
        Log of the run.
    steps : FollowedSteps
        The person's steps, scaled, and the planned ones.
    timeline : Timeline
        When the recording begins and ends in the run.

    Returns
    -------
    dict of str to float or None
        The metrics of `simbench.retargeting.fidelity.footsteps.step_metrics`, of landings from the recording's
        beginning to its end; `follow.landing_error_rms_m`: RMS distance of the feet from where they were
        planned to land; None without landings.
    """
    weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    time = np.asarray(log["time"].values)
    carrying = log["foot_wrench"].values[:, :, 2] >= _CARRYING_FRACTION * weight
    landed = find_landings(time, carrying, log["foot_pose"].values)
    landed = landed._replace(time=landed.time - timeline.start)
    end = float(timeline.time[-1] - timeline.start)
    inside = (landed.time >= -_AROUND) & (landed.time <= end + _AROUND)
    landed = Landings(*(values[inside] for values in landed))
    metrics = landing_metrics(compare_landings(landed, steps.as_person()))
    planned = compare_landings(landed, steps.as_planned())
    return {**metrics, "follow.landing_error_rms_m": planned.position_rms}
