"""Numbers of a run, computed from its log alone."""

from collections.abc import Mapping

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from simbench.balance.standing.support import support_margin, support_polygon

FELL_HEIGHT = 0.7
"""A robot whose root drops below this part of its first height has fallen."""

_SOON = 0.1
"""After its plan a foot has to be down, s."""


def run_metrics(log: xr.Dataset) -> dict[str, float | bool]:
    """Flat metrics with SI units in their names' suffix.

    Parameters
    ----------
    log : xarray.Dataset
        From `open_run`.

    Returns
    -------
    dict of str to float or bool
    """
    return {
        **(seat_metrics(log) if log.attrs["seat"] else balance_metrics(log) if log.sizes["foot"] else {}),
        **(control_metrics(log) if "cog_desired" in log else {}),
        **tracking_metrics(log),
        **limit_metrics(log),
        **torque_metrics(log),
        **hand_metrics(log),
        **contact_metrics(log),
    }


def with_support(log: xr.Dataset) -> xr.Dataset:
    """Add the support polygon (`support_polygon`, NaN-padded) and the ZMP's signed margin (`zmp_margin`).

    The polygon is the convex hull of the points where the feet touch the floor.
    """
    points = log["foot_points"].values
    points = points.reshape(len(points), points.shape[1] * points.shape[2], 2)
    zmp = log["zmp"].values
    corners = points.shape[1]
    polygons = np.full((len(points), corners, 2), np.nan)
    margins = np.full(len(points), -np.inf)
    for sample, row in enumerate(points):
        polygon = support_polygon(row[~np.isnan(row[:, 0])])
        polygons[sample, : len(polygon)] = polygon
        if not np.isnan(zmp[sample, 0]):
            margins[sample] = support_margin(zmp[sample], polygon)
    return log.assign(
        support_polygon=(("time", "corner", "xy"), polygons, {"units": "m"}),
        zmp_margin=(("time",), margins, {"units": "m"}),
    )


def balance_metrics(log: xr.Dataset) -> dict[str, float | bool]:
    """Fall, ZMP margin, COG excursion; agreement of both ZMP computations and load on the feet at rest.

    The first sample has no step before it, so no contact forces: it does not count. Without a sample in the
    second half of the time of standing still, the last two are left out.
    """
    height = log["base_pose"].values[:, 2]
    settle = log.attrs["settle_s"]
    stepped = log.isel(time=slice(1, None))
    settled = stepped.sel(time=slice(settle, None))
    still = stepped.sel(time=slice(0.5 * settle, settle))
    margin = settled["zmp_margin"].values
    cog = settled["cog"].values[:, :2]
    standing = height >= FELL_HEIGHT * height[0]
    metrics: dict[str, float | bool] = {
        # Not `<`: a simulation that ended in NaN did not stay up.
        "fell": not bool(standing.all()),
        "zmp.inside_fraction": float(np.mean(margin > 0.0)),
        "zmp.min_margin_m": float(margin.min()),
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
    return metrics


def seat_metrics(log: xr.Dataset) -> dict[str, float | bool]:
    """Fall of a robot that sits; what the seat carries, and how far the pelvis moves and tilts on it.

    Its contacts are not in one plane: it has no ZMP.
    """
    poses, settle = log["base_pose"].values, log.attrs["settle_s"]
    sitting = poses[:, 2] >= FELL_HEIGHT * poses[0, 2]
    settled = log.sel(time=slice(settle, None))
    moved = settled["base_pose"].values
    # The robot presses the seat down.
    load = -settled[f"{log.attrs['seat']}_contact_wrench"].values[:, 2]
    turned = np.abs(moved[:, 3:] @ moved[0, 3:]).min()
    metrics: dict[str, float | bool] = {
        "fell": not bool(sitting.all()),
        "seat.least_force_n": float(load.min()),
        "seat.mean_force_n": float(load.mean()),
        "seat.slip_m": float(np.linalg.norm(moved[:, :3] - moved[0, :3], axis=1).max()),
        "seat.tilt_rad": float(2.0 * np.arccos(min(1.0, turned))),
    }
    if not sitting.all():
        metrics["fell_s"] = float(log["time"].values[sitting.argmin()])
    return metrics


def control_metrics(log: xr.Dataset) -> dict[str, float | bool]:
    """How well COG and ZMP keep to their profiles, and where the robot went.

    Distances are horizontal; `base.*` is the way of the root from the first to the last sample, in its first
    heading, and its turn about the vertical.
    """
    settled = log.sel(time=slice(log.attrs["settle_s"], None))
    cog = np.linalg.norm(settled["cog"].values[:, :2] - settled["cog_desired"].values, axis=1)
    zmp = np.linalg.norm(settled["zmp"].values - settled["zmp_desired"].values, axis=1)
    forward, left, turn = _way(log["base_pose"].values)
    return {
        "cog.rms_m": float(np.sqrt(np.mean(cog**2))),
        "zmp.rms_m": float(np.sqrt(np.nanmean(zmp**2))),
        "base.forward_m": forward,
        "base.left_m": left,
        "base.turn_rad": turn,
        "steps.count": float(len(steps_taken(log))),
        "balance.gave_up": bool(np.isfinite(log.attrs["balance_gave_up_s"])),
    }


def steps_taken(log: xr.Dataset) -> NDArray[np.float64]:
    """Find the steps in which a foot was off the floor midway and on it again soon after its plan.

    Parameters
    ----------
    log : xarray.Dataset
        With `contact_planned`.

    Returns
    -------
    (N,) array
        When their swings were to end, s, sorted.
    """
    touching = np.isfinite(log["foot_points"].values[..., 0]).any(axis=2)
    time, done = log["time"].values, []
    for foot in range(log.sizes["foot"]):
        planned = log["contact_planned"].values[:, foot].astype(int)
        lifts, lands = np.flatnonzero(np.diff(planned) < 0), np.flatnonzero(np.diff(planned) > 0)
        # A swing that a fall has cut off has no end.
        for lift, land in zip(lifts, lands, strict=False):
            soon = (time >= time[land]) & (time <= time[land] + _SOON)
            if not touching[(lift + land) // 2, foot] and touching[soon, foot].any():
                done.append(time[land])
    return np.sort(done)


def _way(poses: NDArray[np.float64]) -> tuple[float, float, float]:
    """Way forward and to the left, m, and turn, rad, from the first to the last pose of the root."""
    x, y, z, w = poses[:, 3:].T
    heading = np.unwrap(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))
    dx, dy = poses[-1, :2] - poses[0, :2]
    cosine, sine = np.cos(heading[0]), np.sin(heading[0])
    return float(cosine * dx + sine * dy), float(cosine * dy - sine * dx), float(heading[-1] - heading[0])


def tracking_metrics(log: xr.Dataset) -> dict[str, float]:
    """Joint position error of all joints but the grips, which the handle stops by design."""
    settled = log.sel(time=slice(log.attrs["settle_s"], None))
    every = (settled["joint_position"] - settled["joint_reference"]).values
    error, arms = every[:, ~log["is_grip"].values], every[:, log["is_arm"].values]
    metrics = {
        "tracking.rms_rad": float(np.sqrt(np.mean(error**2))),
        "tracking.max_rad": float(np.abs(error).max()),
    }
    if arms.size:
        metrics["tracking.arms_rms_rad"] = float(np.sqrt(np.mean(arms**2)))
    return metrics


def limit_metrics(log: xr.Dataset) -> dict[str, float]:
    """How close joints came to their limits; a ratio above 1 is a violation.

    Position and speed at every physics step, torque at the logged samples (it is limited at every step).
    """
    low, high = log["position_lower"].values, log["position_upper"].values
    below = low - log["lowest_position"].values
    above = log["highest_position"].values - high
    torque = np.abs(log["torque_motor"].values) / log["torque_limit"].values
    return {
        "limits.position_violation_rad": float(max(0.0, below.max(), above.max())),
        "limits.speed_ratio": float((log["highest_speed"] / log["speed_limit"]).max()),
        "limits.torque_ratio": float(torque.max()),
        "torque.saturated_fraction": float(log.attrs["saturated_fraction"]),
    }


def torque_metrics(log: xr.Dataset) -> dict[str, float]:
    """RMS of the motors' torques over all joints but the grips, and over the arms': what links weigh."""
    torque = log["torque_motor"].sel(time=slice(log.attrs["settle_s"], None)).values
    arms = torque[:, log["is_arm"].values]
    metrics = {"torque.rms_nm": float(np.sqrt(np.mean(torque[:, ~log["is_grip"].values] ** 2)))}
    if arms.size:
        metrics["torque.arms_rms_nm"] = float(np.sqrt(np.mean(arms**2)))
    return metrics


def hand_metrics(log: xr.Dataset) -> dict[str, float]:
    """Distance of the palms from where the actor's were, in the contact phase."""
    contact = log["hand_contact"].values
    if not contact.any():
        return {}
    error = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)[contact]
    return {
        "hands.rms_m": float(np.sqrt(np.mean(error**2))),
        "hands.max_m": float(error.max()),
        "grip.lost": float(log.attrs["grips_lost"]),
        "grip.held_fraction": float(np.mean(log["grip_engaged"].values[contact])),
        "grip.max_force_n": float(np.linalg.norm(log["grip_wrench"].values[..., :3], axis=-1).max()),
    }


def contact_metrics(log: xr.Dataset) -> dict[str, float]:
    """Peak force, self-contacts, and contacts with equipment that are not hands' or, with a seat, thighs'."""
    first = log["contact_first"].values.astype(str)
    second = log["contact_second"].values.astype(str)
    own = log.attrs["robot"] + "/"
    allowed = {own + link for link in log.attrs["hand_links"].split()}
    feet = {own + link for link in log.attrs["foot_links"].split()}
    with_self = np.array([name.startswith(own) for name in second], dtype=bool)
    with_floor = second == "floor"
    by_hand = np.isin(first, list(allowed))
    thighs = [own + link for link in log.attrs["thigh_links"].split()]
    seated = np.isin(first, thighs) & np.char.startswith(second, log.attrs["seat"] + "/")
    return {
        "contact.peak_force_n": float(log["contact_peak_force"].max()) if len(first) else 0.0,
        "contact.self_count": float(np.sum(with_self)),
        "contact.floor_unintended_count": float(np.sum(with_floor & ~np.isin(first, list(feet)))),
        "contact.equipment_unintended_count": float(np.sum(~with_self & ~with_floor & ~by_hand & ~seated)),
    }


def fixture_metrics(log: xr.Dataset, fixture: str, joints: Mapping[str, str]) -> dict[str, float]:
    """Way of a fixture's joints, the least share of the actor's in a stroke; what was cut; how it was moved.

    Parameters
    ----------
    log : xarray.Dataset
    fixture : str
        Its name; the log holds `<fixture>_<joint>` and `<fixture>_<joint>_actor`.
    joints : {joint: unit}

    Returns
    -------
    dict of str to float
    """
    metrics = {}
    for joint, unit in joints.items():
        own, actor = log[f"{fixture}_{joint}"], log[f"{fixture}_{joint}_actor"]
        metrics[f"{fixture}.{joint}_{unit}"] = float(own.max() - own.min())
        shares = []
        # What none of the robot's hands was to move has no share.
        strokes = log["strokes"].values if actor.max() > actor.min() else ()
        for start, end in strokes:
            mine, theirs = own.sel(time=slice(start, end)), actor.sel(time=slice(start, end))
            # A run that ended before has done nothing of the stroke.
            done = float(mine.max() - mine.min()) if mine.size else 0.0
            shares.append(done / float(theirs.max() - theirs.min()) if done else 0.0)
        if shares:
            metrics[f"{fixture}.{joint}_ratio"] = min(shares)
    if f"{fixture}_cut" in log:
        depth, asked = (float(log[f"{fixture}_{name}"][-1]) for name in ("cut", "cut_actor"))
        metrics[f"{fixture}.cut_depth_m"], metrics[f"{fixture}.cut_ratio"] = depth, depth / asked
    if f"{fixture}_stand" in log:
        stand = log[f"{fixture}_stand"].sel(time=slice(log.attrs["settle_s"], None)).values
        metrics[f"{fixture}.moved_m"] = float(np.linalg.norm(stand[:, :3] - stand[0, :3], axis=1).max())
        # ‖q − p‖ = 2 sin θ/4, of the nearer of ±p; unlike an arc cosine it knows small turns.
        apart = [np.linalg.norm(stand[:, 3:] + sign * stand[0, 3:], axis=1) for sign in (1.0, -1.0)]
        turned = 4.0 * np.arcsin(0.5 * np.minimum(*apart))
        metrics[f"{fixture}.turned_rad"] = float(turned.max())
    return metrics
