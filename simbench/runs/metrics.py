"""Metrics of a run, computed from its log alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from simbench.errors import PluginError, SimbenchError
from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import heading_of, wrap_angle
from simbench.options import PushSection, StepCommand, SteppingSection
from simbench.plugins.declarations import plugin_maker
from simbench.runs.scenario.schema import Scenario
from simbench.sim.fixtures.mechanism import Mechanism
from simbench.sim.push import Push

if TYPE_CHECKING:
    import xarray as xr

FELL_HEIGHT = 0.7  # A robot whose root drops below this fraction of its first height has fallen.

# Energies of a log that are metrics as they are at its end.
WORKS = ("motor", "motor_absolute", "friction", "equipment", "contact", "grip", "push", "rotor", "residual")

_CARRYING_FRACTION = 0.1  # A foot carries the robot from this fraction of the weight on.

_LATEST_LANDING = 0.1  # Time after its planned landing by which a foot must touch the floor, s.
_AT_REST = 0.05  # Speed of the COG below which a robot stands still, m/s.
_STILL_FOR = 0.2  # Shortest time of standing still before the next push, s.


def run_metrics(log: xr.Dataset) -> dict[str, float | bool | None]:
    """Compute a run's metrics from its log.

    Parameters
    ----------
    log : xarray.Dataset
        Log from `open_run`.

    Returns
    -------
    dict of str to float, bool or None
        Metrics by name, with SI units in the names' suffix; None for one that could not be measured.
    """
    metrics: dict[str, float | bool | None] = {}
    if log.attrs["seat"]:
        metrics |= seat_metrics(log)
    elif log.sizes["foot"]:
        metrics |= balance_metrics(log)
    # Fingers, which the handle stops by design, count for the limits alone; sliding joints count in m. Limits
    # are compared with position and speed at every physics step, and with torque at the logged samples.
    settled = log.sel(time=slice(log.attrs["settle_s"], None))
    moved, arms = ~log["is_grip"].values, log["is_arm"].values
    errors = (settled["joint_position"] - settled["joint_reference"]).values
    low, high = log["position_lower"].values, log["position_upper"].values
    below = low - log["lowest_position"].values
    above = log["highest_position"].values - high
    ratios = np.abs(log["torque_motor"].values) / log["torque_limit"].values
    torque = settled["torque_motor"].values
    metrics |= {
        "tracking.rms_rad": float(np.sqrt(np.mean(errors[:, moved] ** 2))),
        "tracking.max_rad": float(np.abs(errors[:, moved]).max()),
        "limits.position_violation_rad": float(max(0.0, below.max(), above.max())),
        "limits.speed_ratio": float((log["highest_speed"] / log["speed_limit"]).max()),
        "limits.torque_ratio": float(ratios.max()),
        "torque.saturated_fraction": float(log.attrs["saturated_fraction"]),
        "torque.rms_nm": float(np.sqrt(np.mean(torque[:, moved] ** 2))),
    }
    if arms.any():
        metrics["tracking.arms_rms_rad"] = float(np.sqrt(np.mean(errors[:, arms] ** 2)))
        metrics["torque.arms_rms_nm"] = float(np.sqrt(np.mean(torque[:, arms] ** 2)))
    if "energy_residual" in log:
        # Sums since the start of the run.
        last = {name: float(log[f"energy_{name}"].values[-1]) for name in WORKS}
        metrics |= {f"energy.{name}_j": value for name, value in last.items()}
        worst, spent = float(np.abs(log["energy_residual"].values).max()), last["motor_absolute"]
        metrics["energy.residual_fraction"] = worst / spent if spent > 0.0 else None
    contact = log["hand_contact"].values
    if contact.any():
        # Distance of the palms from the actor's, and the grips while contact is planned.
        error = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)[contact]
        metrics |= {
            "hands.rms_m": float(np.sqrt(np.mean(error**2))),
            "hands.max_m": float(error.max()),
            "grip.lost": float(log.attrs["grips_lost"]),
            "grip.held_fraction": float(np.mean(log["grip_engaged"].values[contact])),
            "grip.max_force_n": float(np.linalg.norm(log["grip_wrench"].values[..., :3], axis=-1).max()),
        }
    elif "palm_actor" in log:
        metrics |= {"hands.rms_m": None, "hands.max_m": None}
    kinds = contact_kinds(log)
    metrics["contact.peak_force_n"] = float(log["contact_peak_force"].max()) if len(kinds) else 0.0
    # Unintended: with itself, with the floor other than by the feet, with equipment other than by the hands
    # or, on a seat, the thighs.
    for kind in ("self", "floor_unintended", "equipment_unintended"):
        metrics[f"contact.{kind}_count"] = float(np.sum(kinds == kind))
    return metrics


def measure_run(
    log: xr.Dataset, scenario: Scenario, mechanisms: Sequence[Mechanism], pushes: Sequence[Push]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Compute all metrics that a run's log gives: also of steps, a trajectory, pushes, equipment, plug-ins.

    A plug-in that fails costs no run: its metric is null, so that a check of it fails, and a note says why.
    `scenario`, `mechanisms`, `pushes`: what was simulated. Returns `metrics`: metrics by name; `notes`: what
    went wrong, one line each.
    """
    metrics: dict[str, Any] = run_metrics(log)
    if scenario.stepping is not None:
        metrics |= step_metrics(metrics, scenario.stepping, int(log.attrs["steps"]))
    if "joint_trajectory" in log:
        metrics |= trajectory_metrics(log)
    if scenario.push is not None:
        metrics |= push_metrics(log, scenario.push, pushes, scenario.simulation.timestep_s)
    for mechanism in mechanisms:
        joints = {joint.name: joint.unit for joint in mechanism.joints}
        metrics |= fixture_metrics(log, mechanism.name, joints)
    notes = []
    for name, section in scenario.metrics.items():
        measure = plugin_maker("metrics", section.plugin, section.options)
        try:
            value = measure(log)
            array = np.asarray(value)
            if value is None or isinstance(value, bool):
                metrics[name] = value
            elif array.dtype == bool and array.ndim == 0:
                metrics[name] = bool(array)
            elif array.ndim or array.dtype.kind not in "iuf" or not math.isfinite(float(array)):
                raise PluginError(
                    f"{section.plugin}: returned {' '.join(repr(value).split())[:60]}; "
                    "allowed: a finite number, true or false, or None"
                )
            else:
                metrics[name] = float(array)
        except SimbenchError as error:
            metrics[name] = None
            notes.append(f"metrics.{name} is null: {error}")
    return metrics, tuple(notes)


def balance_metrics(log: xr.Dataset) -> dict[str, float | bool | None]:
    """Compute whether a robot on its feet fell, the ZMP's margin, the feet's slip, and how it was balanced.

    While the robot still stands at rest, also the agreement of the two computations of the ZMP, and of the
    load on the feet with the weight. The first sample does not count, because no step precedes it and it has
    no contact forces. The last two metrics are left out if no sample lies in the second half of the settling
    time. Returns `fell`: whether the root dropped below 70 % of its first height, and `fell_s`, when;
    `zmp.inside_fraction`: fraction of the samples after settling with the ZMP inside the support polygon;
    `zmp.min_margin_m`: its least distance to the polygon's edge, negative outside; `zmp.margin_p05_m`: the
    distance that it keeps for 95 % of the samples; `cog.max_excursion_m`:
    largest horizontal distance of the COG from where it was after settling; `zmp.still_difference_rms_m`:
    difference of the ZMP from contact forces and from momentum, standing still;
    `feet.still_load_error_fraction`: largest relative difference of the load on the feet from the weight,
    standing still; `feet.slip_m` and `feet.turn_rad`: largest displacement and rotation of a foot while it
    carries the robot, None if none does after settling. Of a balanced robot also `cog.rms_m` and `zmp.rms_m`:
    RMS horizontal distance from the planned COG and ZMP after settling; `base.forward_m`, `base.left_m` and
    `base.turn_rad`: displacement of the root from the first to the last sample in its initial heading, and
    its rotation about the vertical; `steps.count`: number of steps taken; `balance.gave_up`: whether the
    balance controller had no solution.
    """
    height = log["base_pose"].values[:, 2]
    settle = log.attrs["settle_s"]
    stepped = log.isel(time=slice(1, None))
    settled = stepped.sel(time=slice(settle, None))
    still = stepped.sel(time=slice(0.5 * settle, settle))
    margin = settled["zmp_margin"].values
    cog = settled["cog"].values[:, :2]
    standing = height >= FELL_HEIGHT * height[0]
    metrics: dict[str, float | bool | None] = {
        # `>=` and not `<`: NaN heights of a diverged simulation count as a fall.
        "fell": not bool(standing.all()),
        "zmp.inside_fraction": float(np.mean(margin > 0.0)),
        "zmp.min_margin_m": float(margin.min()),
        "zmp.margin_p05_m": float(np.percentile(margin, 5.0, method="lower")),
        "cog.max_excursion_m": float(np.linalg.norm(cog - cog[0], axis=1).max()),
    }
    if not standing.all():
        metrics["fell_s"] = float(log["time"].values[standing.argmin()])
    if still.sizes["time"]:
        difference = (still["zmp"] - still["zmp_from_momentum"]).values
        load = still["foot_wrench"].values[:, :, 2].sum(axis=1)
        weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
        metrics["zmp.still_difference_rms_m"] = float(np.sqrt(np.mean(np.sum(difference**2, axis=1))))
        metrics["feet.still_load_error_fraction"] = float(np.abs(load / weight - 1.0).max())
    if "foot_pose" in log:
        metrics["feet.slip_m"], metrics["feet.turn_rad"] = (
            float(np.nanmax(values)) if np.isfinite(values).any() else None
            for values in foot_displacements(log)
        )
    if "cog_desired" in log:
        settled = log.sel(time=slice(settle, None))
        cog = np.linalg.norm(settled["cog"].values[:, :2] - settled["cog_desired"].values, axis=1)
        zmp = np.linalg.norm(settled["zmp"].values - settled["zmp_desired"].values, axis=1)
        poses = log["base_pose"].values
        heading, (dx, dy) = np.unwrap(heading_of(poses[:, 3:])), poses[-1, :2] - poses[0, :2]
        cosine, sine = np.cos(heading[0]), np.sin(heading[0])
        metrics |= {
            "cog.rms_m": float(np.sqrt(np.mean(cog**2))),
            "zmp.rms_m": float(np.sqrt(np.nanmean(zmp**2))),
            "base.forward_m": float(cosine * dx + sine * dy),
            "base.left_m": float(cosine * dy - sine * dx),
            "base.turn_rad": float(heading[-1] - heading[0]),
            "steps.count": float(len(find_steps(log))),
            "balance.gave_up": bool(np.isfinite(log.attrs["balance_gave_up_s"])),
        }
    return metrics


def foot_displacements(log: xr.Dataset) -> tuple[Array, Array]:
    """Compute how far each foot slid, m, and turned, rad, since it began to carry the robot, (S, F) each.

    At the samples after settling; NaN while it does not carry a tenth of the weight. The slip is that of the
    foot's frame, horizontal, and the rotation is about the vertical, both from the first sample at which the
    foot was put down, or stood already.
    """
    settled = log.sel(time=slice(log.attrs["settle_s"], None))
    weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    carrying = settled["foot_wrench"].values[:, :, 2] >= _CARRYING_FRACTION * weight
    slip, turn = np.full(carrying.shape, np.nan), np.full(carrying.shape, np.nan)
    for foot in range(carrying.shape[1]):
        pose = settled["foot_pose"].values[:, foot]
        heading = np.unwrap(heading_of(pose[:, 3:]))
        begins = np.flatnonzero(np.diff(carrying[:, foot].astype(int), prepend=0) > 0)
        ends = np.flatnonzero(np.diff(carrying[:, foot].astype(int), append=0) < 0) + 1
        for begin, end in zip(begins, ends, strict=True):
            slip[begin:end, foot] = np.linalg.norm(pose[begin:end, :2] - pose[begin, :2], axis=1)
            turn[begin:end, foot] = np.abs(heading[begin:end] - heading[begin])
    return slip, turn


def seat_metrics(log: xr.Dataset) -> dict[str, float | bool]:
    """Compute whether a seated robot fell, the load on the seat, and how far the pelvis slips and tilts.

    Its contacts are not in one plane, so it has no ZMP. `log`: log of a robot that sits. Returns `fell` and
    `fell_s`, as for a robot that stands; `seat.least_force_n` and `seat.mean_force_n`: vertical load on the
    seat after settling; `seat.slip_m` and `seat.tilt_rad`: largest displacement and rotation of the pelvis
    after settling.
    """
    poses, settle = log["base_pose"].values, log.attrs["settle_s"]
    sitting = poses[:, 2] >= FELL_HEIGHT * poses[0, 2]
    settled = log.sel(time=slice(settle, None))
    pelvis = settled["base_pose"].values
    # The seat's contact force points down.
    load = -settled[f"{log.attrs['seat']}_contact_wrench"].values[:, 2]
    cosine = np.abs(pelvis[:, 3:] @ pelvis[0, 3:]).min()
    metrics: dict[str, float | bool] = {
        "fell": not bool(sitting.all()),
        "seat.least_force_n": float(load.min()),
        "seat.mean_force_n": float(load.mean()),
        "seat.slip_m": float(np.linalg.norm(pelvis[:, :3] - pelvis[0, :3], axis=1).max()),
        "seat.tilt_rad": float(2.0 * np.arccos(min(1.0, cosine))),
    }
    if not sitting.all():
        metrics["fell_s"] = float(log["time"].values[sitting.argmin()])
    return metrics


def find_steps(log: xr.Dataset) -> Array:
    """Find the steps in which a foot was off the floor midway and touched it soon after its planned landing.

    Parameters
    ----------
    log : xarray.Dataset
        Log with `contact_planned`.

    Returns
    -------
    (N,) array
        Planned end of each swing, s, sorted.
    """
    touching = np.isfinite(log["foot_points"].values[..., 0]).any(axis=2)
    time, done = log["time"].values, []
    for foot in range(log.sizes["foot"]):
        planned = log["contact_planned"].values[:, foot].astype(int)
        lifts, lands = np.flatnonzero(np.diff(planned) < 0), np.flatnonzero(np.diff(planned) > 0)
        # A swing that a fall cuts off has no end.
        for lift, land in zip(lifts, lands, strict=False):
            landing = (time >= time[land]) & (time <= time[land] + _LATEST_LANDING)
            if not touching[(lift + land) // 2, foot] and touching[landing, foot].any():
                done.append(time[land])
    return np.sort(done)


def contact_kinds(log: xr.Dataset) -> Array:
    """Classify the contacts of a log as metrics count them.

    `log`: log of a run. Returns (C,) of str: `self`, `floor_unintended` or `equipment_unintended`; empty for
    an intended contact.
    """
    first, second = log["contact_first"].values.astype(str), log["contact_second"].values.astype(str)
    robot = log.attrs["robot"] + "/"
    hands, feet, thighs = (
        [robot + link for link in str(log.attrs.get(name, "")).split()]
        for name in ("hand_links", "foot_links", "thigh_links")
    )
    kinds = np.full(len(first), "", dtype="U32")
    with_self = np.array([name.startswith(robot) for name in second], dtype=bool)
    with_floor = second == "floor"
    seated = np.isin(first, thighs) & np.char.startswith(second, f"{log.attrs.get('seat', '')}/")
    kinds[with_self] = "self"
    kinds[with_floor & ~np.isin(first, feet)] = "floor_unintended"
    kinds[~with_self & ~with_floor & ~np.isin(first, hands) & ~seated] = "equipment_unintended"
    return kinds


def fixture_metrics(log: xr.Dataset, fixture: str, joints: Mapping[str, str]) -> dict[str, float]:
    """Compute how far a fixture's joints were moved, absolutely and relative to the actor.

    The ratio is the smallest over the actor's strokes. Where the fixture is cut or may slide, also the depth
    of the cut, and how far the fixture moved.

    Parameters
    ----------
    log : xarray.Dataset
        Log of a run.
    fixture : str
        Name of the fixture; the log holds `<fixture>_<joint>` and `<fixture>_<joint>_actor`.
    joints : {joint: unit}
        Unit of each joint of the fixture, `m` or `rad`.

    Returns
    -------
    dict of str to float
        `<fixture>.<joint>_m` or `_rad`: range of the joint's position; `<fixture>.<joint>_ratio`: least ratio
        of that range to the actor's in one stroke; `<fixture>.cut_depth_m` and `<fixture>.cut_ratio`: depth
        of the cut, and its ratio to the actor's; `<fixture>.moved_m` and `<fixture>.turned_rad`: largest
        displacement and rotation of the fixture after settling.
    """
    metrics = {}
    for joint, unit in joints.items():
        robot, actor = log[f"{fixture}_{joint}"], log[f"{fixture}_{joint}_actor"]
        metrics[f"{fixture}.{joint}_{unit}"] = float(robot.max() - robot.min())
        ratios = []
        # A joint that none of the robot's hands was to move has no ratio.
        strokes = log["strokes"].values if actor.max() > actor.min() else ()
        for start, end in strokes:
            moved, prescribed = robot.sel(time=slice(start, end)), actor.sel(time=slice(start, end))
            # Nothing is moved by a run that ended before, or by hands that were not to hold anything.
            travel = float(moved.max() - moved.min()) if moved.size else 0.0
            asked = float(prescribed.max() - prescribed.min()) if travel else 0.0
            ratios.append(travel / asked if asked else 0.0)
        if ratios:
            metrics[f"{fixture}.{joint}_ratio"] = min(ratios)
    if f"{fixture}_cut" in log:
        depth, prescribed_depth = (float(log[f"{fixture}_{name}"][-1]) for name in ("cut", "cut_actor"))
        metrics[f"{fixture}.cut_depth_m"], metrics[f"{fixture}.cut_ratio"] = depth, depth / prescribed_depth
    if f"{fixture}_stand" in log:
        stand = log[f"{fixture}_stand"].sel(time=slice(log.attrs["settle_s"], None)).values
        metrics[f"{fixture}.moved_m"] = float(np.linalg.norm(stand[:, :3] - stand[0, :3], axis=1).max())
        # ‖q − p‖ = 2 sin θ/4 for the nearer of ±p, which is accurate for small rotations as arccos is not.
        chords = [np.linalg.norm(stand[:, 3:] + sign * stand[0, 3:], axis=1) for sign in (1.0, -1.0)]
        rotation = 4.0 * np.arcsin(0.5 * np.minimum(*chords))
        metrics[f"{fixture}.turned_rad"] = float(rotation.max())
    return metrics


def trajectory_metrics(log: xr.Dataset) -> dict[str, float | None]:
    """Compute how far a run is from the trajectory that it follows.

    Only samples between the trajectory's first and last count. Returns `trajectory.joint_error_rms_rad` and
    `trajectory.joint_error_max_rad`: error of the joints without the fingers. On free feet also
    `trajectory.base_error_mean_m`, `trajectory.base_error_max_m`: horizontal distance of the root;
    `trajectory.height_error_max_m`: difference of its height; `trajectory.heading_error_mean_rad` and
    `trajectory.heading_error_max_rad`: of its heading; `trajectory.contact_agreement_fraction`;
    `trajectory.foot_error_mean_m` and `trajectory.foot_error_max_m`: horizontal distance of feet that stand
    in both. None where nothing was measured.
    """
    used = np.isfinite(log["joint_trajectory"].values).all(axis=1)
    joints = ~log["is_grip"].values
    error = (log["joint_position"].values - log["joint_trajectory"].values)[used][:, joints]
    metrics = {
        "trajectory.joint_error_rms_rad": float(np.sqrt(np.mean(error**2))) if error.size else None,
        "trajectory.joint_error_max_rad": float(np.abs(error).max()) if error.size else None,
    }
    if "base_trajectory" not in log:
        return metrics
    pose, wanted = log["base_pose"].values[used], log["base_trajectory"].values[used]
    apart = np.linalg.norm(pose[:, :2] - wanted[:, :2], axis=1)
    turn = np.abs(wrap_angle(heading_of(pose[:, 3:]) - heading_of(wanted[:, 3:])))
    weight = log.attrs["mass_kg"] * log.attrs["gravity_m_s2"]
    carries = log["foot_wrench"].values[used][:, :, 2] >= _CARRYING_FRACTION * weight
    stands = log["contact_trajectory"].values[used]
    feet = log["foot_pose"].values[used][:, :, :2] - log["foot_trajectory"].values[used][:, :, :2]
    off = np.linalg.norm(feet, axis=2)[carries & stands]
    return {
        **metrics,
        "trajectory.base_error_mean_m": _summary(np.mean, apart),
        "trajectory.base_error_max_m": _summary(np.max, apart),
        "trajectory.height_error_max_m": _summary(np.max, np.abs(pose[:, 2] - wanted[:, 2])),
        "trajectory.heading_error_mean_rad": _summary(np.mean, turn),
        "trajectory.heading_error_max_rad": _summary(np.max, turn),
        "trajectory.contact_agreement_fraction": _summary(np.mean, (carries == stands).astype(float)),
        "trajectory.foot_error_mean_m": _summary(np.mean, off),
        "trajectory.foot_error_max_m": _summary(np.max, off),
    }


def _summary(function: Callable[[Array], np.floating[Any]], values: Array) -> float | None:
    """Reduce values to one, None if there are none."""
    return float(function(values)) if values.size else None


def push_metrics(
    log: xr.Dataset, section: PushSection, pushes: Sequence[Push], timestep: float
) -> dict[str, float]:
    """Find the strongest push after which the robot still stood when the next one came, or at the end.

    `log`: log of the run; `section`: section `push` of the scenario; `pushes`: pushes that were applied, in
    order; `timestep`: physics step, s. Returns `push.survived_ns`: impulse of that push, 0 if the robot fell
    at the first; `push.survived_count`: number of pushes survived; `push.survived_fraction`: their fraction
    of all; `push.rest_s`: longest time from the start of a push until the robot stood still, NaN if it fell
    or still moved before the next push.
    """
    time, height = log["time"].values, log["base_pose"].values[:, 2]
    speed = np.linalg.norm(log["cog_velocity"].values, axis=1)
    survived, rest = 0, 0.0
    for _, _, first_step, _ in pushes:
        start = first_step * timestep
        before = time <= start + section.interval_s
        if (height[before] < FELL_HEIGHT * height[0]).any():
            rest = math.nan
            break
        survived += 1
        moving = time[before & (time >= start) & (speed >= _AT_REST)]
        still_from = float(moving[-1]) if moving.size else start
        came_to_rest = still_from <= time[before][-1] - _STILL_FOR
        rest = max(rest, still_from - start) if came_to_rest and not math.isnan(rest) else math.nan
    strongest = pushes[survived - 1][0] if survived else 0.0
    return {
        "push.survived_ns": strongest,
        "push.survived_count": float(survived),
        "push.survived_fraction": survived / len(pushes),
        "push.rest_s": rest,
    }


def commanded_displacement(commands: Sequence[StepCommand]) -> tuple[float, float, float]:
    """Compute where commands lead, each in the frame where the one before ends.

    `commands`: commands of the section `stepping`, one after another. Returns `forward`: distance along the
    initial heading, m; `left`: distance to the left of the initial heading, m; `rotation`: rotation to the
    left, rad; whole turns are counted.
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

    `metrics`: metrics from `run_metrics`: `base.forward_m`, `base.left_m`, `base.turn_rad` and `steps.count`;
    `section`: section `stepping` of the scenario; `planned`: number of planned steps. Returns
    `base.forward_error_m`, `base.left_error_m` and `base.turn_error_rad`: absolute difference of the
    displacement and rotation of the root from those commanded; `steps.missed_count`: number of planned steps
    that were not taken.
    """
    forward, left, rotation = commanded_displacement(section.commands)
    return {
        "base.forward_error_m": abs(metrics["base.forward_m"] - forward),
        "base.left_error_m": abs(metrics["base.left_m"] - left),
        "base.turn_error_rad": abs(metrics["base.turn_rad"] - rotation),
        "steps.missed_count": max(0.0, planned - metrics["steps.count"]),
    }


class MetricPlugin(Protocol):
    """A plug-in of group `simbench.metrics`: a section with keys that has this method."""

    def measure(self, log: xr.Dataset) -> float | bool | None:
        """Compute the metric.

        Parameters
        ----------
        log : xarray.Dataset
            Log of the run, as `open_run` returns it.

        Returns
        -------
        float, bool or None
            Its value; None if it cannot be measured.
        """
