"""Fidelity of a robot's motion, planned or executed, to the person's: errors, tempo, lag, limits, steps.

Measured from a run's log, added to it, and told in words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.optimize import linear_sum_assignment

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import heading_of, wrap_angle
from simbench.kinematics.tree import frame_poses
from simbench.motion.human_motion import HumanMotion
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import (
    BODY_QUANTITIES,
    DIRECTIONS,
    NEAR_LIMIT,
    POINT_NAMES,
    RobotErrors,
    compare_with_person,
    path_without_heading,
    robot_points,
    summarise_errors,
)
from simbench.retargeting.match.body import hand_aims
from simbench.retargeting.reference.reference import Timeline
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.runs.log import label
from simbench.runs.log_schema import PERSON_COORDINATES, PERSON_SIGNALS
from simbench.runs.metric_catalogue import Metric

if TYPE_CHECKING:
    import xarray as xr

PREFIX = "fidelity."  # Beginning of the names of all metrics of fidelity.
# Fraction of the speed that may be used from which on a joint is at its limit: plans that a limit bounds
# reach it but for rounding.
_NEAR_SPEED = 0.99
# Samples of the recording that must be executed for anything to be compared: a cubic spline needs them.
_FEWEST_SAMPLES = 4
# Step of the common time grid, s: two hundred samples a second, as recordings and logs have; the peak is
# found between the samples.
_LAG_STEP = 0.005
# Largest lag that is looked for, s: a controller's or a filter's is shorter, and the steps of a walk are
# longer. And as a fraction of the motion's duration: most of it must be compared.
_LONGEST_LAG, _LARGEST_SHARE = 0.5, 0.25
# Correlation below which a motion is not the one that it should follow, and has no lag; least number of
# grid steps that are compared.
_LEAST_CORRELATION, _FEWEST_STEPS = 0.5, 8
# A foot carries the robot from this fraction of the weight on, until it carries less than the second: one
# that is about to lift and trembles under a small load does not land again.
_CARRYING_FRACTION, _TOUCHING_FRACTION = 0.1, 0.01
# A foot that touches the floor or leaves it for less than this time, s, neither stands nor steps: an impact
# makes a foot bounce for some samples.
_SHORTEST_PHASE = 0.04
# Time after its landing at which a foot's place is read, s: until then it may still slide and rotate.
_REST_AFTER = 0.1
# Largest difference in time, s, at which a landing is taken for a wanted one of the same foot: less than
# half the time between two landings of one foot in a walk of 60 steps a minute.
_LATEST_MATCH = 0.5
# Factor and unit of what is shown, by the ending of an error's metrics.
_SCALES = {"fraction": (100.0, "% of arm"), "m": (1000.0, "mm"), "rad": (math.degrees(1.0), "°")}
_SAME = 5e-4  # Difference of durations, as a ratio, that is not said.
_EVEN = 1.001  # Ratio of the largest local stretch to the duration's from which on it is worth a word.
# Headings of the columns of `fidelity_rows` after the first.
HEADS = ("mean", "95 %", "worst", "unit", "at s", "run's s")


class Landings(NamedTuple):
    """Landings of feet on the floor."""

    side: NDArray[np.int64]  # (K,) int: foot that lands, as index into `SIDES`.
    time: Array  # (K,): times, s.
    position: Array  # (K, 2): places of the feet's frames in the world frame, m.
    yaw: Array  # (K,): directions of the feet about the vertical, rad.


@dataclass(frozen=True)
class Fidelity:
    """What a robot's motion leaves of the person's."""

    errors: RobotErrors  # Errors over time, at samples of the recording.
    recording_time: Array  # (T,): times of the samples in the recording, s.
    robot_time: Array  # (T,): times of the same samples in the plan or in the run, s.
    # Fractions of the samples at which at least one joint is at a limit of position, and of speed.
    limits: tuple[float, float]
    # Lag of the hands behind the person's at that tempo, s; None if it was not measured, as of a run that
    # ended early.
    lag: float | None = None
    # Fraction of the recording's samples that were executed: below 1 for a run that ended early.
    executed: float = 1.0
    steps: Mapping[str, float | None] | None = None  # Metrics of the footsteps where steps are followed.


def planned_fidelity(
    robot: Robot,
    trajectory: JointTrajectory,
    motion: HumanMotion,
    errors: RobotErrors,
    limits: tuple[float, float],
    *,
    heading: float = 0.0,
) -> Fidelity:
    """Measure what a plan, whose sample k is that of sample k of the recording, leaves of the person.

    `limits` are the margin that the plan keeps from limits of position, rad, and the fraction of the speed
    limits that it may use; `heading` is the direction of the robot's x axis, rad about z, as it was placed.
    """
    human = has_human_arms(robot, motion)
    lag = _hand_lag(robot, trajectory, motion, trajectory.time, heading) if human else None
    speed = make_interp_spline(trajectory.time, trajectory.q, k=min(3, len(trajectory.time) - 1)).derivative()
    speeds = speed(trajectory.time)
    shares = measure_limit_shares(robot, trajectory.q, speeds, *limits)
    return Fidelity(errors, motion.time, trajectory.time, shares, lag)


def executed_fidelity(
    robot: Robot,
    executed: JointTrajectory,
    speeds: Array,
    motion: HumanMotion,
    robot_time: Array,
    limits: tuple[float, float],
    *,
    heading: float = 0.0,
) -> Fidelity | None:
    """Measure what a run leaves of the person; None if fewer than four samples were executed.

    The executed motion, with joint velocities (S, n), is compared with the recording at the recording's
    samples, each at the robot's time (T,), s, on its clock. It begins before the first one if possible. There
    are no errors of a robot without two arms like a person's. `limits` and `heading` as in
    `planned_fidelity`.
    """
    count = int(np.searchsorted(robot_time, executed.time[-1], side="right"))
    during = (executed.time >= robot_time[0]) & (executed.time <= robot_time[-1])
    if count < _FEWEST_SAMPLES or during.sum() < 2:
        return None
    errors, lag = RobotErrors((), {}), None
    if has_human_arms(robot, motion):
        sampled = sample_trajectory(executed, robot_time[:count])
        joints, segments = (
            {name: values[:count] for name, values in tracks.items()}
            for tracks in (motion.joints, motion.segments)
        )
        begun = replace(
            motion, time=motion.time[:count], joints=joints, segments=segments, markers={}, strokes=None
        )
        errors = compare_with_person(robot, sampled, begun, heading=heading)
        if count == len(motion.time):
            # The hands of a robot that falls do not follow the person.
            lag = _hand_lag(robot, executed, motion, robot_time, heading)
    shares = measure_limit_shares(robot, executed.q[during], speeds[during], *limits)
    return Fidelity(errors, motion.time, robot_time, shares, lag, count / len(motion.time))


def fidelity_metrics(fidelity: Fidelity) -> dict[str, float | None]:
    """Compute the metrics of fidelity; what was not measured is absent.

    `fidelity.<quantity>_mean_<unit>`, `_p95_` and `_max_` of each error, and when it is largest,
    `fidelity.<quantity>_max_at_s` in the recording's time and `_max_at_robot_s` in the robot's; the hand's is
    a fraction of the arm's length where that is known. `fidelity.duration_ratio`,
    `fidelity.stretch_max_ratio` and `fidelity.stretch_max_at_s`: duration of the robot's motion as a multiple
    of the recording's, and largest local stretch of time, dt_robot / dt_recording. `fidelity.lag_s`,
    `fidelity.position_limit_fraction` and `fidelity.speed_limit_fraction`: shares of the samples at a limit;
    `fidelity.executed_fraction`; and those of footsteps.
    """
    time, robot_time = fidelity.recording_time, fidelity.robot_time
    metrics: dict[str, float | None] = {}
    for summary in {each.quantity: each for each in summarise_errors(fidelity.errors)}.values():
        name, unit = f"{PREFIX}{summary.quantity.replace(' ', '_')}", summary.unit or "fraction"
        metrics |= {
            f"{name}_mean_{unit}": summary.mean,
            f"{name}_p95_{unit}": summary.percentile_95,
            f"{name}_max_{unit}": summary.maximum,
            f"{name}_max_at_s": float(time[summary.sample]),
            f"{name}_max_at_robot_s": float(robot_time[summary.sample]),
        }
    stretch = np.diff(robot_time) / np.diff(time)
    metrics |= {
        f"{PREFIX}duration_ratio": float((robot_time[-1] - robot_time[0]) / (time[-1] - time[0])),
        f"{PREFIX}stretch_max_ratio": float(stretch.max()),
        f"{PREFIX}stretch_max_at_s": float(time[int(stretch.argmax())]),
        f"{PREFIX}position_limit_fraction": fidelity.limits[0],
        f"{PREFIX}speed_limit_fraction": fidelity.limits[1],
        f"{PREFIX}executed_fraction": fidelity.executed,
    }
    if fidelity.lag is not None:
        metrics[f"{PREFIX}lag_s"] = fidelity.lag
    return {**metrics, **(fidelity.steps or {})}


def has_human_arms(robot: Robot, motion: HumanMotion) -> bool:
    """Tell whether robot and recording have two arms with shoulder, elbow and wrist that can be compared."""
    joints = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "elbow", "wrist")]
    return (
        {"left_arm", "right_arm"} <= robot.groups.keys()
        and "basic" in robot.postures
        and all(name in robot.frames and name in motion.joints for name in joints)
    )


def _hand_lag(
    robot: Robot, executed: JointTrajectory, motion: HumanMotion, robot_time: Array, heading: float
) -> float | None:
    """Lag of the wrists, relative to their shoulders, behind the person's, s."""
    aims = hand_aims(robot, motion)
    # A log may be denser than the lag's grid, and much longer than the recording.
    stride = max(1, int(_LAG_STEP * (len(executed.time) - 1) / (executed.time[-1] - executed.time[0]) + 1e-6))
    first, last = np.searchsorted(executed.time, [robot_time[0], robot_time[-1]])
    near = slice(max(0, int(first) - stride), int(last) + 1 + stride, stride)
    base = None if executed.base is None else executed.base[near]
    cut = replace(executed, time=executed.time[near], q=executed.q[near], base=base)
    roles = [f"{side}_{joint}" for side in SIDES for joint in ("shoulder", "wrist")]
    frames = [robot.model.getFrameId(robot.frames[role]) for role in roles]
    poses = frame_poses(robot.model, frames, path_without_heading(cut, heading))
    hands = [wrist[:, :3, 3] - shoulder[:, :3, 3] for shoulder, wrist in (poses[:2], poses[2:])]
    return measure_lag(robot_time, np.hstack([aims[side] for side in SIDES]), cut.time, np.hstack(hands))


def measure_lag(time: Array, wanted: Array, executed_time: Array, executed: Array) -> float | None:
    """Measure the lag, s, of an executed motion (S, C) behind a wanted one (T, C), in any unit.

    It is the shift τ with the largest normalised cross-correlation of the velocities v, the wanted's, and u,

        c(τ) = Σ v(t) · u(t + τ) / √(Σ |v(t)|² Σ |u(t + τ)|²),

    refined by a parabola through the largest value on a grid of 5 ms and its neighbours. Shifts of up to
    0.5 s, or a quarter of the duration, are looked for. It is positive where the executed motion, on the same
    clock, is late; None where nothing moves, too little was executed, the velocities correlate by less than
    0.5, or the largest correlation is at the largest shift.
    """
    begin, end = max(time[0], executed_time[0]), min(time[-1], executed_time[-1])
    shifts = int(min(_LONGEST_LAG, _LARGEST_SHARE * (end - begin)) / _LAG_STEP)
    # What is compared stays inside the motion at every shift: beside it the executed motion is another one.
    first, last = begin + shifts * _LAG_STEP, end - shifts * _LAG_STEP
    count = int((last - first) / _LAG_STEP) + 1
    if shifts < 1 or count < _FEWEST_STEPS:
        return None
    grid = first + np.arange(-shifts, count + shifts) * _LAG_STEP
    # Velocities of the cubic splines through the samples.
    velocity = make_interp_spline(time, wanted, k=min(3, len(time) - 1)).derivative()
    asked = velocity(grid[shifts : shifts + count])
    # Rounding may take the grid beyond the ends.
    velocity = make_interp_spline(executed_time, executed, k=min(3, len(executed_time) - 1)).derivative()
    done = velocity(grid.clip(executed_time[0], executed_time[-1]))
    # A few hundred shifts: no need of `scipy.signal`, which takes a third of a second to import.
    product = sum(np.correlate(u, v, mode="valid") for u, v in zip(done.T, asked.T, strict=True))
    power = np.concatenate([[0.0], np.cumsum(np.sum(done**2, axis=1))])
    energy = np.sum(asked**2) * (power[count:] - power[:-count])
    if not energy.min() > 0.0:
        return None
    correlation = np.asarray(product) / np.sqrt(energy)
    peak = int(correlation.argmax())
    if correlation[peak] < _LEAST_CORRELATION or not 0 < peak < len(correlation) - 1:
        return None
    left, top, right = correlation[peak - 1 : peak + 2]
    curvature = left - 2.0 * top + right
    between = 0.5 * (left - right) / curvature if curvature else 0.0
    return float((peak - shifts + between) * _LAG_STEP)


def measure_limit_shares(
    robot: Robot, positions: Array, speeds: Array, margin: float, speed_fraction: float
) -> tuple[float, float]:
    """Measure at which fractions of the samples (T, n) a joint is at a limit of position, and of speed.

    A joint is at a limit of its position within the margin that plans keep, and 0.01 rad (m) more; of its
    speed at 99 % of the fraction that may be used. Joints with a range of less than four times that are left
    out, those that move by less than 0.01 rad (m), and fingers.
    """
    model, near = robot.model, margin + NEAR_LIMIT
    lower, upper = model.lowerPositionLimit[robot.root_q :], model.upperPositionLimit[robot.root_q :]
    fingers = {name for hand in robot.hands.values() for name in hand.joints}
    used = np.array([name not in fingers for name in robot.joint_names])
    used &= np.ptp(positions, axis=0) > NEAR_LIMIT
    at_position = (positions <= lower + near) | (positions >= upper - near)
    at_speed = np.abs(speeds) >= _NEAR_SPEED * speed_fraction * model.velocityLimit[robot.root_v :]
    at_position = at_position[:, used & (upper - lower >= 4.0 * near)]
    return float(at_position.any(axis=1).mean()), float(at_speed[:, used].any(axis=1).mean())


def find_landings(time: Array, load: Array, feet: Array) -> Landings:
    """Find the landings of the feet in the log of a run, in order of time.

    A foot lands at the first sample at which it carries the robot after it did not. Phases of less than
    0.04 s do not count. Its place is that 0.1 s later, or when it lifts again. `load` (T, F) is the vertical
    force on each foot as a fraction of the weight, `feet` (T, F, 7) the poses of their frames in the world:
    position, m, and quaternion x, y, z, w.
    """
    known = (load >= _CARRYING_FRACTION) | (load < _TOUCHING_FRACTION)
    known[0] = True
    recent = np.maximum.accumulate(np.where(known, np.arange(len(load))[:, None], 0), axis=0)
    carrying = np.take_along_axis(load >= _CARRYING_FRACTION, recent, axis=0)
    found: list[Any] = []
    for foot, stands in enumerate(carrying.T.copy()):
        # A foot stands through short lifts; then short contacts are none.
        for value in (False, True):
            edges = np.concatenate([[0], np.flatnonzero(np.diff(stands)) + 1, [len(stands)]])
            starts, ends = edges[:-1], edges[1:]
            # The first and the last phase have no other end.
            short = time[np.minimum(ends, len(time) - 1)] - time[starts] < _SHORTEST_PHASE
            short &= (stands[starts] == value) & (starts > 0) & (ends < len(stands))
            for start, end in zip(starts[short], ends[short], strict=True):
                stands[start:end] = not value
        changes = np.diff(stands.astype(np.int8))
        begins, ends = np.flatnonzero(changes > 0) + 1, np.flatnonzero(changes < 0)
        lifts = np.append(ends, len(time) - 1)[np.searchsorted(ends, begins)]
        rests = np.minimum(np.searchsorted(time, time[begins] + _REST_AFTER), lifts)
        place = feet[rests, foot]
        found.append((np.full(len(begins), foot), time[begins], place[:, :2], heading_of(place[:, 3:])))
    columns = [np.concatenate(values) for values in zip(*found, strict=True)]
    order = np.argsort(columns[1], kind="stable")
    return Landings(*(column[order] for column in columns))


def compare_landings(landings: Landings, wanted: Landings) -> dict[str, float | None]:
    """Compare the landings of a run, or of a plan, with wanted ones on the same clock: metrics of the steps.

    Landings of each foot are assigned to its wanted ones so that the sum of the differences in time is least;
    pairs that are 0.5 s or more apart do not match. `fidelity.steps_wanted`, `fidelity.steps_landed` and
    `fidelity.steps_missed_count`: numbers of the person's landings, of the robot's, and of the person's
    without one of the robot; `fidelity.step_position_rms_m`, `fidelity.step_time_rms_s`,
    `fidelity.step_heading_rms_rad`: errors of those that match; None if none does.
    """
    pairs = [np.empty((2, 0), dtype=np.int64)]
    for foot in np.unique(wanted.side):
        got, asked = np.flatnonzero(landings.side == foot), np.flatnonzero(wanted.side == foot)
        late = np.abs(landings.time[got][:, None] - wanted.time[asked][None])
        rows, columns = linear_sum_assignment(np.minimum(late, _LATEST_MATCH))
        near = late[rows, columns] < _LATEST_MATCH
        pairs.append(np.stack([got[rows[near]], asked[columns[near]]]))
    got, asked = np.concatenate(pairs, axis=1)
    errors = {
        "position_rms_m": np.linalg.norm(landings.position[got] - wanted.position[asked], axis=1),
        "time_rms_s": landings.time[got] - wanted.time[asked],
        "heading_rms_rad": wrap_angle(landings.yaw[got] - wanted.yaw[asked]),
    }
    return {
        f"{PREFIX}steps_wanted": float(len(wanted.time)),
        f"{PREFIX}steps_landed": float(len(landings.time)),
        f"{PREFIX}steps_missed_count": float(len(wanted.time) - len(got)),
    } | {
        f"{PREFIX}step_{name}": float(np.sqrt(np.mean(values**2))) if values.size else None
        for name, values in errors.items()
    }


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
        log = log.assign(label(PERSON_SIGNALS, values))
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
