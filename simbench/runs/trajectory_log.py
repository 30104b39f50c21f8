"""What the log of a run that follows a trajectory holds beside the rest, and the metrics computed from it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import wrap_angle
from simbench.runs.log import assign_variables, label
from simbench.runs.plans.trajectory_plan import TrackedMotion
from simbench.sim.state import Signal

if TYPE_CHECKING:
    import xarray as xr

JOINT_TRAJECTORY: Signal[None] = Signal(
    "joint_trajectory",
    ("joint",),
    "rad",
    "Joint positions of the file that is followed; NaN before and after it.",
)
TRAJECTORY_SIGNALS: tuple[Signal[None], ...] = (
    Signal(
        "base_trajectory",
        ("pose",),
        "m",
        "Pose of the root in the world that the file that is followed has, as placed; NaN before and after.",
    ),
    Signal(
        "foot_trajectory",
        ("foot", "xyz"),
        "m",
        "Position of the feet in the world that the file that is followed has, as placed; NaN before and "
        "after.",
    ),
    Signal(
        "contact_trajectory",
        ("foot",),
        "",
        "Whether the file that is followed has a foot on the floor.",
        dtype=bool,
    ),
)
"""What `with_trajectory` adds to a log beside `JOINT_TRAJECTORY`, for a robot on its feet."""

_CARRYING_FRACTION = 0.1
"""A foot is in contact from this fraction of the weight on."""


def with_trajectory(log: xr.Dataset, tracked: TrackedMotion, timestep: float) -> xr.Dataset:
    """Add the trajectory that a run follows to its log.

    `tracked`: the trajectory at every physics step; `timestep`: physics step, s. Returns log with the
    variables of the trajectory.
    """
    steps = np.rint(log["time"].values / timestep).astype(int) - 1
    rows = steps.clip(0, len(tracked.joints) - 1)
    joints = label((JOINT_TRAJECTORY,), {"joint_trajectory": tracked.joints[rows]}, "time")
    log = assign_variables(log, joints)
    if not tracked.base.shape[1]:
        return log
    values = {
        "base_trajectory": tracked.base[rows],
        "foot_trajectory": tracked.feet[rows, :, :3],
        "contact_trajectory": tracked.contact[rows],
    }
    return assign_variables(log, label(TRAJECTORY_SIGNALS, values, "time"))


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
    turn = np.abs(wrap_angle(_headings(pose) - _headings(wanted)))
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


def _headings(poses: Array) -> Array:
    """Rotations (T,) about the vertical of poses (T, 7), rad."""
    x, y, z, w = poses[:, 3:].T
    return np.asarray(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y**2 + z**2)))
