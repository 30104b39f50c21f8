"""Fidelity of a run to the recording that it follows: measured from its log, added to it, and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from simbench.kinematics.rotation import heading_of
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import (
    BODY_QUANTITIES,
    DIRECTIONS,
    POINT_NAMES,
    robot_points,
)
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.runs.log import assign_variables, label
from simbench.runs.log_schema import PERSON_COORDINATES, PERSON_SIGNALS
from simbench.runs.metric_catalogue import Metric
from simbench.runs.motion_fidelity import (
    PREFIX,
    Landings,
    compare_landings,
    executed_fidelity,
    fidelity_metrics,
    find_landings,
    has_human_arms,
)

if TYPE_CHECKING:
    import xarray as xr

# Factor and unit of what is shown, by the ending of an error's metrics.
_SCALES = {"fraction": (100.0, "% of arm"), "m": (1000.0, "mm"), "rad": (math.degrees(1.0), "°")}
_SAME = 5e-4  # Difference of durations, as a ratio, that is not said.
_EVEN = 1.001  # Ratio of the largest local stretch to the duration's from which on it is worth a word.
# Headings of the columns of `fidelity_rows` after the first.
HEADS = ("mean", "95 %", "worst", "unit", "at s", "run's s")


def add_fidelity(
    log: xr.Dataset,
    robot: Robot,
    timeline: Timeline,
    motion: HumanMotion,
    speed: float,
    retarget: RetargetSection,
) -> tuple[xr.Dataset, dict[str, float | None]]:
    """Measure what a run leaves of the person, and add it to its log.

    `timeline`: its reference, and the recording's place in it; `motion`: the recording at the samples of the
    plan; `speed`: factor by which its tempo was changed before planning (`motion.speed`); `retarget`: margins
    of the limits that the plan keeps. Returns `log`: the log, with the person and
    the directions' errors for a robot with two arms like a person's; `metrics`: metrics `fidelity.*`; none of
    a run that ended before the recording's fourth sample.
    """
    # The tempo is that of the recording, whatever the scenario made of it.
    motion = replace(motion, time=motion.time * speed)
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
    limits = retarget.joint_limit_margin_rad, retarget.speed_limit_fraction
    fidelity = executed_fidelity(
        robot, executed, log["joint_velocity"].values, motion, timeline.time, limits, heading=heading
    )
    if fidelity is None:
        return log, {}
    if timeline.steps is not None and "foot_pose" in log:
        steps, weight = timeline.steps, log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
        load = log["foot_wrench"].values[:, :, 2] / weight
        wanted = Landings(
            steps.side, timeline.start + steps.person_time, steps.person_position, steps.person_yaw
        )
        landed = find_landings(log["time"].values, load, log["foot_pose"].values)
        # Settling, lead-in and lead-out have steps of their own, such as the last one beside the other foot.
        margin = 0.5
        during = (landed.time >= wanted.time.min(initial=np.inf) - margin) & (
            landed.time <= wanted.time.max(initial=-np.inf) + margin
        )
        compared = compare_landings(Landings(*(values[during] for values in landed)), wanted)
        fidelity = replace(fidelity, steps=compared)
    if has_human_arms(robot, motion):
        count = round(fidelity.executed * len(timeline.time))
        sampled = sample_trajectory(executed, timeline.time[:count])
        points = robot_points(robot, sampled, heading=heading)
        person = {name: motion.joints[name] for name in POINT_NAMES if name in motion.joints}
        total = len(fidelity.recording_time)
        tracks = [track for track in fidelity.errors.tracks if track.quantity in DIRECTIONS]
        errors = np.full((total, len(tracks)), np.nan)
        for column, track in enumerate(tracks):
            errors[track.samples, column] = track.values
        names = [name for name in POINT_NAMES if name in person or name in points]
        # Positions (T, N, 3); NaN for points that are not there, and after their last sample.
        stacked = np.full((2, total, len(names), 3), np.nan)
        for whose, places in zip(stacked, (person, points), strict=True):
            for column, name in enumerate(names):
                if name in places:
                    whose[: len(places[name]), column] = places[name]
        values = {
            "recording_time": fidelity.recording_time,
            "recording_robot_time": fidelity.robot_time,
            "direction_error": errors,
            "person_point": stacked[0],
            "robot_point": stacked[1],
        }
        limbs = ["_".join(filter(None, (track.side, *track.quantity.split()))) for track in tracks]
        labels = {"limb": limbs, "body_point": names}
        described = {signal.name: {"description": signal.description} for signal in PERSON_COORDINATES}
        log = log.assign_coords(
            {name: (name, np.array(each, dtype=str), described[name]) for name, each in labels.items()}
        )
        log = assign_variables(log, label(PERSON_SIGNALS, values))
    return log, fidelity_metrics(fidelity)


def fidelity_rows(metrics: Mapping[str, Metric]) -> list[tuple[str, ...]]:
    """Read the errors of a robot's motion against the person from their metrics.

    `metrics`: metrics of a run. Returns one for each error that was measured, in the order of
    `BODY_QUANTITIES`: part of the body; mean, 95th percentile and largest value; their unit: mm, °, or
    percent of the arm's length; time of the largest in the recording and in the run, s.
    """
    rows, value = [], _finite_values(metrics).get
    for quantity in BODY_QUANTITIES:
        name = quantity.replace(" ", "_")
        for ending, (scale, unit) in _SCALES.items():
            errors = [value(f"{name}_{kind}_{ending}") for kind in ("mean", "p95", "max")]
            times = [value(f"{name}_max_at_{clock}") for clock in ("s", "robot_s")]
            found = [each for each in (*errors, *times) if each is not None]
            if len(found) == len(errors) + len(times):
                shown = (f"{scale * each:.1f}" for each in found[:3])
                rows.append((quantity, *shown, unit, *(f"{each:.2f}" for each in found[3:])))
    return rows


def fidelity_lines(metrics: Mapping[str, Metric]) -> Iterator[str]:
    """Say at which tempo the robot moved, how late it was, how often it was at a limit, and how it stepped.

    `metrics`: metrics `fidelity.*`, of a run or a plan. Yields A line; none without these metrics.
    """
    value = _finite_values(metrics).get
    ratio, stretch, lag = value("duration_ratio"), value("stretch_max_ratio"), value("lag_s")
    position, speed, executed = (
        value(f"{name}_fraction") for name in ("position_limit", "speed_limit", "executed")
    )
    if ratio is None or stretch is None or position is None or speed is None:
        return
    at = value("stretch_max_at_s") or 0.0
    most = "" if stretch < _EVEN * ratio else f", at most {stretch:.3g} at {at:.2f} s"
    late = "" if lag is None else f"; hands {abs(1000.0 * lag):.1f} ms {'early' if lag < 0.0 else 'late'}"
    kept = "the person's" if abs(ratio - 1.0) < _SAME else f"{ratio:.3g} times as long as the person"
    yield f"tempo      {kept}{most}{late}"
    yield (
        f"limits     a joint is at a limit of its position {position:.0%} of the time, "
        f"at its speed limit {speed:.0%}"
    )
    if executed is not None and executed < 1.0:
        yield f"ended      after {executed:.0%} of the recording; the rest is not compared"
    wanted, missed = value("steps_wanted"), value("steps_missed_count")
    if wanted is None or missed is None:
        return
    place, when, turn = (
        value(f"step_{name}") for name in ("position_rms_m", "time_rms_s", "heading_rms_rad")
    )
    errors = (
        ""
        if place is None or when is None or turn is None
        else f"; RMS {1000.0 * place:.0f} mm, {when:.3f} s and {math.degrees(turn):.1f}° off"
    )
    yield f"steps      {wanted - missed:.0f} of the person's {wanted:.0f}{errors}"


def _finite_values(metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Metrics of fidelity that are finite numbers, by their names without the prefix."""
    return {
        name.removeprefix(PREFIX): float(value)
        for name, value in metrics.items()
        if name.startswith(PREFIX) and isinstance(value, (int, float)) and math.isfinite(value)
    }
