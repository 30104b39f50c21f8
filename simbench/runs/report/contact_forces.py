"""Contact forces as arrows: on feet, hands and equipment, and pushes, from the wrenches of a log."""

from typing import NamedTuple

import numpy as np
import xarray as xr

from simbench.kinematics.arrays import Array

_LEAST = 1.0
"""Least force that has an arrow, N."""


class ForceArrow(NamedTuple):
    """A force over time."""

    layer: str  # `feet`, `grips`, `equipment` or `pushes`.
    name: str  # What it acts on.
    point: Array  # (T, 3): point of application in the world, m; NaN where there is no force.
    force: Array  # (T, 3): force in the world, N; NaN where there is none.


def contact_forces(log: xr.Dataset) -> list[ForceArrow]:
    """Collect the contact forces of a log.

    The floor's force on a foot acts at the foot's centre of pressure; a grip's at its grip point. The force
    of contacts on equipment, and of a push, is drawn on its line of action (the central axis of its wrench):
    where it is nearest to a palm, and where it is nearest to the COG. `log`: log from `open_run`, or some of
    its samples. Returns forces of at least 1 N at some sample.
    """
    arrows = []
    if "foot_wrench" in log:
        for column, side in enumerate(log["foot"].values.astype(str)):
            wrench = log["foot_wrench"].values[:, column]
            arrows.append(ForceArrow("feet", f"{side} foot", centre_of_pressure(wrench), wrench[:, :3]))
    if "grip_wrench" in log and "grip_point" in log:
        for column, side in enumerate(log["hand"].values.astype(str)):
            point, wrench = log["grip_point"].values[:, column], log["grip_wrench"].values[:, column]
            arrows.append(ForceArrow("grips", f"grip of the {side} hand", point, wrench[:, :3]))
    arrows += _on_equipment(log)
    if "push_wrench" in log and "cog" in log:
        wrench = log["push_wrench"].values
        point = nearest_on_axis(wrench, log["cog"].values)
        arrows.append(ForceArrow("pushes", "push", point, wrench[:, :3]))
    return [each for arrow in arrows if (each := _without_small(arrow)) is not None]


def _on_equipment(log: xr.Dataset) -> list[ForceArrow]:
    """Collect the forces of the robot's contacts on each fixture."""
    if "palm_position" not in log or not log.sizes["hand"]:
        return []
    arrows = []
    palms = log["palm_position"].values
    for name in map(str, log):
        if not name.endswith("_contact_wrench") or log[name].dims != ("time", "axis6"):
            continue
        wrench = log[name].values
        candidates = np.stack(
            [nearest_on_axis(wrench, palms[:, hand]) for hand in range(palms.shape[1])], axis=1
        )
        distance = np.linalg.norm(candidates - palms, axis=2)
        nearest = np.where(np.isnan(distance), np.inf, distance).argmin(axis=1)
        point = candidates[np.arange(len(candidates)), nearest]
        arrows.append(
            ForceArrow(
                "equipment", f"contacts on {name.removesuffix('_contact_wrench')}", point, wrench[:, :3]
            )
        )
    return arrows


def centre_of_pressure(wrench: Array) -> Array:
    """Compute where the floor's force on a foot acts.

    `wrench` (T, 6): force, N, and moment about the world's origin, N·m. Returns (T, 3): point on the floor z
    = 0, m; NaN where the floor does not press.
    """
    vertical = np.where(wrench[:, 2] > 0.0, wrench[:, 2], np.nan)
    return np.stack([-wrench[:, 4] / vertical, wrench[:, 3] / vertical, 0.0 * vertical], axis=1)


def nearest_on_axis(wrench: Array, near: Array) -> Array:
    """Compute the point of a wrench's central axis that is nearest to a given one.

    `wrench` (T, 6): force, N, and moment about the world's origin, N·m; `near` (T, 3): points in the world,
    m. Returns (T, 3): points, m; NaN where there is no force.
    """
    force, moment = wrench[:, :3], wrench[:, 3:]
    square = np.sum(force**2, axis=1, keepdims=True)
    square = np.where(square > 0.0, square, np.nan)
    foot = np.cross(force, moment) / square
    along = np.sum((near - foot) * force, axis=1, keepdims=True) / square
    return np.asarray(foot + along * force)


def _without_small(arrow: ForceArrow) -> ForceArrow | None:
    """Leave out samples with less than the least force; None if no sample has it."""
    enough = np.linalg.norm(arrow.force, axis=1) >= _LEAST
    enough &= np.isfinite(arrow.point).all(axis=1)
    if not enough.any():
        return None
    shown = enough[:, None]
    return arrow._replace(
        point=np.where(shown, arrow.point, np.nan), force=np.where(shown, arrow.force, np.nan)
    )
