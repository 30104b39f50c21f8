"""Signals of a run as panels of curves on an interactive page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.runs.fixture_coordinates import fixture_coordinates
from simbench.runs.metric_traces import EXTREMES, Trace, saturation_excess
from simbench.runs.report.packing import Packer
from simbench.runs.report.scene import scene_samples

if TYPE_CHECKING:
    import xarray as xr

    from simbench.options import GripSection

MOST_POINTS = 6000
"""Number of points of a curve; of a longer log, each pair is the least and greatest of some samples."""
_DEGREES = 180.0 / math.pi
_MARGIN = 0.35
"""Fraction of the support's extent that is shown beyond it: a COG farther out belongs to a fall."""


class Curve(NamedTuple):
    """A curve of a panel."""

    name: str  # What the legend says.
    values: Array  # (T,): values at the log's samples, in the panel's unit.
    # Name of the colour in `report.css`: `left`, `right`, `robot`, `reference`, `zmp`, `cog`, `support`.
    colour: str
    role: str = "measured"  # `measured`, `reference` (thin and dashed) or `edge` (of an area).


class Panel(NamedTuple):
    """Curves with a common axis."""

    key: str  # Name by which the panels of two runs are put into one.
    title: str  # Heading.
    unit: str  # Unit of all values.
    # The curves; those with the role `edge` are two, between which the area is filled.
    curves: tuple[Curve, ...]
    lines: tuple[tuple[str, float], ...] = ()  # Name and value of horizontal lines, such as limits.
    limits: tuple[float, float] | None = None  # Range beyond which the axis does not go.


def make_panels(log: xr.Dataset, grip: GripSection) -> list[Panel]:
    """Choose the panels for which a log has data.

    `log`: log from `open_run`; `grip`: strength of the grips. Returns panels in the order of the page.
    """
    return [*_balance(log), *_equipment(log), *_hands(log), *_contacts(log, grip), *_joints(log), *_root(log)]


def _balance(log: xr.Dataset) -> list[Panel]:
    """ZMP and COG over the support in both horizontal directions, and the ZMP's margin."""
    if "zmp" not in log:
        return []
    panels = []
    for axis, words in (("y", "sideways, to the left"), ("x", "forward")):
        support = 1000.0 * log["support_polygon"].sel(xy=axis)
        low, high = support.min("corner").values, support.max("corner").values
        curves = [
            Curve("support", low, "support", "edge"),
            Curve("support", high, "support", "edge"),
            Curve("ZMP", 1000.0 * log["zmp"].sel(xy=axis).values, "zmp"),
            Curve("COG", 1000.0 * log["cog"].sel(xyz=axis).values, "cog"),
        ]
        for name in ("zmp", "cog"):
            if f"{name}_desired" in log:
                planned = 1000.0 * log[f"{name}_desired"].sel(xy=axis).values
                curves.insert(-2, Curve(f"{name.upper()} planned", planned, name, "reference"))
        limits = None
        if np.isfinite(low).any():
            least, greatest = float(np.nanmin(low)), float(np.nanmax(high))
            limits = (least - _MARGIN * (greatest - least), greatest + _MARGIN * (greatest - least))
        panels.append(Panel(f"balance.{axis}", f"ZMP and COG, {words}", "mm", tuple(curves), limits=limits))
    if "zmp_margin" not in log:
        return panels
    margin = 1000.0 * log["zmp_margin"].values
    curve = Curve("margin", np.where(np.isfinite(margin), margin, np.nan), "zmp")
    limits = (-200.0, max(10.0, float(np.nanmax(curve.values))) * 1.2) if np.isfinite(margin).any() else None
    panels.append(
        Panel(
            "zmp_margin",
            "ZMP: distance to the support's edge, inside",
            "mm",
            (curve,),
            (("edge", 0.0),),
            limits,
        )
    )
    return panels


def _equipment(log: xr.Dataset) -> list[Panel]:
    """Joints of the equipment, moved by the robot and by the actor."""
    panels = []
    for each in fixture_coordinates(log):
        scale, unit = (1000.0, "mm") if each.unit == "m" else (_DEGREES, "°")
        curves = (
            Curve("actor", scale * each.actor, "reference", "reference"),
            Curve("robot", scale * each.robot, "robot"),
        )
        panels.append(Panel(f"equipment.{each.name}", f"{each.name}, position", unit, curves))
    return panels


def _hands(log: xr.Dataset) -> list[Panel]:
    """Distance of the palms from the actor's in contact."""
    names = ("palm_actor", "palm_position", "hand_contact")
    if any(name not in log for name in names) or not log["hand_contact"].values.any():
        return []
    error = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
    error = np.where(log["hand_contact"].values, 1000.0 * error, np.nan)
    curves = tuple(
        Curve(side, error[:, hand], side) for hand, side in enumerate(log["hand"].values.astype(str))
    )
    return [Panel("hands", "palms, distance from the actor's in contact", "mm", curves)]


def _contacts(log: xr.Dataset, grip: GripSection) -> list[Panel]:
    """Make the panels of the floor's forces on the feet, and of force and torque of the grips."""
    panels = []
    if log.sizes["foot"]:
        weight = float(log.attrs["mass_kg"] * log.attrs["gravity_m_s2"])
        force = log["foot_wrench"].values[..., 2]
        curves = _sides(log["foot"].values, force)
        panels.append(Panel("feet", "floor on each foot, upwards", "N", curves, (("weight", weight),)))
    if log.sizes["hand"] and fixture_coordinates(log):
        wrench = log["grip_wrench"].values
        for key, part, unit, strength in (
            ("force", wrench[..., :3], "N", grip.max_force_n),
            ("torque", wrench[..., 3:], "N·m", grip.max_torque_nm),
        ):
            curves = _sides(log["hand"].values, np.linalg.norm(part, axis=2))
            lines = (("lets go", float(strength)),)
            panels.append(Panel(f"grip.{key}", f"grip of each hand, {key}", unit, curves, lines))
    return panels


def _sides(names: Any, values: Array) -> tuple[Curve, ...]:
    return tuple(Curve(side, values[:, k], side) for k, side in enumerate(names.astype(str)))


def _joints(log: xr.Dataset) -> list[Panel]:
    """Largest joint position error, and torque of the motor nearest to its limit."""
    time = log.time.values
    curves = []
    if "is_grip" in log and (~log["is_grip"].values).any():
        curves.append(Curve("largest", _on_grid(EXTREMES["tracking.max_rad"](log), time), "robot"))
    panels = (
        [Panel("tracking", "joint position error, largest of all joints", "rad", tuple(curves))]
        if curves
        else []
    )
    ratio = EXTREMES["limits.torque_ratio"](log)
    share = Curve("largest", 100.0 * _on_grid(ratio, time), "robot")
    panels.append(
        Panel("torque", "motor torque, largest share of a limit", "%", (share,), (("limit", 100.0),))
    )
    if saturation_excess(log).value.max() > 0.0:
        excess = Curve("largest", _on_grid(saturation_excess(log), time), "zmp")
        panels.append(Panel("saturation", "torque asked for beyond the limit, largest", "N·m", (excess,)))
    return panels


def _root(log: xr.Dataset) -> list[Panel]:
    """Height of the root of a robot with a floating base."""
    if not log.sizes["foot"]:
        return []
    height = Curve("root", log["base_pose"].values[:, 2], "robot")
    return [Panel("root", "height of the root", "m", (height,))]


def _on_grid(trace: Trace, time: Array) -> Array:
    """Put a trace on the times of a log; NaN where it has no sample."""
    values = np.full(len(time), np.nan)
    values[np.searchsorted(time, trace.time)] = trace.value
    return values


class Thinning(NamedTuple):
    """How a log is thinned for curves."""

    time: Array  # (P,): times of the points, s.
    size: int  # Samples for each pair of points; 0 if every sample is a point.


def thin_time(time: Array) -> Thinning:
    """Choose the points of curves over a log.

    `time` (T,): times of the log's samples, s. Returns all samples; of a long log, two for each of at most
    half `MOST_POINTS` equal numbers of samples.
    """
    if len(time) <= MOST_POINTS:
        return Thinning(time, 0)
    size = 2 * math.ceil(len(time) / MOST_POINTS)
    groups = _grouped(time, size)
    return Thinning(np.stack([groups[:, 0], groups[:, size // 2]], axis=1).ravel(), size)


def thin_values(values: Array, thinning: Thinning) -> Array:
    """Thin a curve so that no peak is lost.

    `values` (T,): values at the log's samples; `thinning`: from `thin_time`. Returns (P,): values at the
    points: of each group of samples the least and the greatest, in their order.
    """
    if not thinning.size:
        return values
    groups = _grouped(values, thinning.size)
    least = np.where(np.isnan(groups), np.inf, groups).argmin(axis=1)
    greatest = np.where(np.isnan(groups), -np.inf, groups).argmax(axis=1)
    rows = np.arange(len(groups))
    chosen = np.sort(np.stack([least, greatest], axis=1), axis=1)
    return np.asarray(groups[rows[:, None], chosen].ravel())


def _grouped(values: Array, size: int) -> Array:
    """Divide values into groups of one size; the last is filled with the last value."""
    padded = np.append(values, np.full(-len(values) % size, values[-1]))
    return np.asarray(padded.reshape(-1, size))


def pack_panels(panels: list[Panel], log: xr.Dataset, packer: Packer) -> dict[str, Any]:
    """Describe panels in a page's document.

    `panels`: from `make_panels`; `log`: log of the run; `packer`: gets the arrays. Returns `time` and
    `panels` of a run.
    """
    thinning = thin_time(log.time.values)
    described = [
        {
            "key": printable(panel.key),
            "title": printable(panel.title),
            "unit": panel.unit,
            "lines": [{"name": name, "value": value} for name, value in panel.lines],
            "limits": panel.limits,
            "curves": [
                {
                    "name": curve.name,
                    "colour": curve.colour,
                    "role": curve.role,
                    "values": packer.add_signals(thin_values(curve.values, thinning)),
                }
                for curve in panel.curves
            ],
        }
        for panel in panels
    ]
    return {"time": packer.add_array(thinning.time, "float64"), "panels": described}


def pack_joints(log: xr.Dataset, packer: Packer) -> dict[str, Any]:
    """Describe position, reference and torque of each joint at the samples of the scene.

    Of the torque, the value that is largest in magnitude between two samples of the scene is kept. `log`: log
    of the run; `packer`: gets the arrays. Returns `joints` of a run, with the times of the scene's samples.
    """
    samples = scene_samples(log.time.values)
    error = np.abs((log["joint_position"] - log["joint_reference"]).values).max(axis=0)
    return {
        "time": packer.add_array(log.time.values[samples], "float64"),
        "names": [printable(name) for name in log["joint"].values.astype(str)],
        "closesHand": log["is_grip"].values.astype(int).tolist() if "is_grip" in log else [0] * len(error),
        "largestError": error.tolist(),
        "position": packer.add_signals(log["joint_position"].values[samples]),
        "reference": packer.add_signals(log["joint_reference"].values[samples]),
        "torque": packer.add_signals(_largest_between(log["torque_motor"].values, samples)),
        "torqueLimit": [float(limit) for limit in np.minimum(log["torque_limit"].values, 1e15)],
    }


def _largest_between(values: Array, samples: NDArray[np.intp]) -> Array:
    """Keep of each column the value of largest magnitude since the chosen sample before."""
    largest = np.maximum.reduceat(values, np.append(0, samples[:-1] + 1), axis=0)
    smallest = np.minimum.reduceat(values, np.append(0, samples[:-1] + 1), axis=0)
    return np.where(np.abs(largest) >= np.abs(smallest), largest, smallest)
