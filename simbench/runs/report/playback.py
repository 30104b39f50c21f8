"""Content of the interactive part of a report: scenes, panels of curves and timelines of its runs."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import SimbenchError
from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.runs.log_schema import CONTACT_EVENT_SIGNALS, fixture_coordinates
from simbench.runs.metric_traces import EXTREMES, FailureTime, Trace, lost_grips, saturation_excess
from simbench.runs.metrics import contact_kinds
from simbench.runs.report.page_data import Packer, packed_script, read_asset
from simbench.runs.report.scene import make_scene, scene_samples
from simbench.runs.video import load_drawn_run
from simbench.sim.rendering.scene_view import UndrawableShapeError

if TYPE_CHECKING:
    import xarray as xr

    from simbench.options import GripSection
    from simbench.runs.report.run_report import RunReport

NO_SCRIPT = (
    "The scene, the timeline and the plots need scripts, which this browser does not run. "
    "Verdict and tables are complete without them."
)
_LEAST_LOAD = 0.01  # Fraction of the weight from which on a foot stands on the floor.
_BRIDGED = 0.03  # Longest gap between two bars that are drawn as one, s.
_CONTACT_COLUMNS = tuple(signal.name for signal in CONTACT_EVENT_SIGNALS)
_MOST = 400  # Number of marks and bars in a lane.
# Number of points of a curve; of a longer log, each pair is the least and greatest of some samples.
MOST_POINTS = 6000
_DEGREES = 180.0 / math.pi
# Fraction of the support's extent that is shown beyond it: a COG farther out belongs to a fall.
_MARGIN = 0.35


class Event(NamedTuple):
    """A mark or a bar on the timeline."""

    start: float  # Time, s.
    end: float | None  # End of a bar, s; None for a mark.
    words: str  # What happens.
    tone: str  # Name of the colour in `report.css`: `plain`, `left`, `right`, `planned`, `warn` or `bad`.


class Lane(NamedTuple):
    """Events of one kind."""

    name: str
    events: list[Event]  # In the order of time.


def player_html(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    """Write the interactive part of a page.

    `labels`: name of each. Returns HTML: the element in which the scripts build scene, timeline and plots,
    their data, and the scripts.
    """
    return (
        '<section id="player" aria-label="playback">'
        f'<noscript><p class="note">{html.escape(NO_SCRIPT)}</p></noscript></section>\n'
        f'<script type="application/octet-stream" id="simbench-data">{pack_runs(reports, labels)}</script>\n'
        f'<script type="application/octet-stream" id="simbench-script">{packed_script()}</script>\n'
        f"<script>{read_asset('loader.js')}</script>"
    )


def pack_runs(reports: Sequence[RunReport], labels: Sequence[str]) -> str:
    """Collect and compress what the scripts show.

    `reports`: runs of the page; `labels`: name of each. Returns base64 of the block that `scripts/data.js`
    reads.
    """
    packer = Packer()
    runs = []
    for report, label in zip(reports, labels, strict=True):
        scene, reason = None, ""
        try:
            scene = make_scene(*load_drawn_run(report.folder, log=report.log), packer)
        except (SimbenchError, UndrawableShapeError) as error:
            # An old run's robot or meshes may be gone; curves and tables need neither.
            reason = printable(" ".join(str(error).split()))
        lanes = [
            {
                "name": lane.name,
                "events": [event._asdict() | {"words": printable(event.words)} for event in lane.events],
            }
            for lane in make_lanes(report.log, report.failures)
        ]
        runs.append(
            {
                "label": printable(label),
                "scene": scene,
                "noScene": reason,
                "joints": pack_joints(report.log, packer),
                **pack_panels(make_panels(report.log, report.grip), report.log, packer),
                "lanes": lanes,
            }
        )
    return packer.pack({"version": 1, "runs": runs})


def make_lanes(log: xr.Dataset, failures: Mapping[str, FailureTime]) -> list[Lane]:
    """Collect the events of a run.

    `log`: log from `open_run`; `failures`: when checks fail, by the metric's name.
    """
    time = log.time.values
    failed = [
        Event(failure.time, None, f"check {name} failed: {failure.words}", "bad")
        for name, failure in failures.items()
    ]
    phases = [Event(0.0, min(float(log.attrs["settle_s"]), float(time[-1])), "stands still", "planned")]
    strokes = log["strokes"].values if "strokes" in log else ()
    for number, (start, end) in enumerate(strokes, start=1):
        phases.append(Event(float(start), float(end), f"stroke {number}", "plain"))
    gave_up = float(log.attrs.get("balance_gave_up_s", np.nan))
    if np.isfinite(gave_up):
        phases.append(Event(gave_up, None, "the balance controller gave up", "bad"))
    lanes = [Lane("checks failed", failed), Lane("phases", phases)]
    if log.sizes["foot"]:
        weight = float(log.attrs["mass_kg"] * log.attrs["gravity_m_s2"])
        force = log["foot_wrench"].values[..., 2]
        for column, side in enumerate(log["foot"].values.astype(str)):
            loaded = force[:, column] >= _LEAST_LOAD * weight
            lanes.append(Lane(f"{side} foot", _bars(time, loaded, "on the floor", side)))
    if "grip_engaged" in log and "hand_contact" in log and log["hand_contact"].values.any():
        lost = lost_grips(log)
        for column, side in enumerate(log["hand"].values.astype(str)):
            name = f"{side} hand"
            wanted = _bars(time, log["hand_contact"].values[:, column], "is to hold", "planned")
            held = _bars(time, log["grip_engaged"].values[:, column], "grips", side)
            gone = [Event(when, None, "grip lost", "bad") for when, hand in lost if hand == name]
            lanes.append(Lane(name, [*wanted, *held, *gone]))
    contacts = []
    if {*_CONTACT_COLUMNS} <= {*log} and log.sizes["contact"]:
        first, second = log["contact_first"].values.astype(str), log["contact_second"].values.astype(str)
        for number, kind in enumerate(contact_kinds(log)):
            # Feet on the floor have their own lanes; what was not intended stands out.
            if not kind and second[number] == "floor":
                continue
            peak = float(log["contact_peak_force"].values[number])
            words = printable(f"{first[number]} on {second[number]}, up to {peak:.3g} N")
            start, end = (float(log[name].values[number]) for name in ("contact_start", "contact_end"))
            words, tone = (f"unintended: {words}", "bad") if kind else (words, "plain")
            contacts.append(Event(start, end, words, tone))
    excess = saturation_excess(log)
    limited = []
    for event in _bars(excess.time, excess.value > 0.0, "", "warn"):
        inside = _within(excess.time, event)
        sample = int(np.flatnonzero(inside)[excess.value[inside].argmax()])
        joint = printable(excess.names[excess.part[sample]])
        limited.append(event._replace(words=f"torque limited, most at {joint}"))
    pushes = []
    if "push_wrench" in log:
        force = np.linalg.norm(log["push_wrench"].values[:, :3], axis=1)
        for event in _bars(time, force > 0.0, "", "warn"):
            strongest = force[_within(time, event)].max()
            pushes.append(event._replace(words=f"push, up to {strongest:.3g} N"))
    lanes += [Lane("contacts", contacts), Lane("saturation", limited), Lane("pushes", pushes)]
    return [
        Lane(lane.name, sorted(lane.events, key=lambda event: event.start)[:_MOST])
        for lane in lanes
        if lane.events
    ]


def _within(time: Array, event: Event) -> NDArray[np.bool_]:
    end = event.start if event.end is None else event.end
    return np.asarray((time >= event.start) & (time <= end))


def _bars(time: Array, flags: NDArray[np.bool_], words: str, tone: str) -> list[Event]:
    """Make a bar of each run of true flags; short gaps are bridged."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], np.asarray(flags, dtype=bool), [False]])))
    bars: list[Event] = []
    for start, end in edges.reshape(-1, 2):
        begins, ends = float(time[start]), float(time[end - 1])
        if bars and bars[-1].end is not None and begins - bars[-1].end <= _BRIDGED:
            bars[-1] = bars[-1]._replace(end=ends)
        else:
            bars.append(Event(begins, ends, words, tone))
    return bars


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
    panels = _balance_panels(log)
    equipment = fixture_coordinates(log)
    for name, si_unit, robot, actor in equipment:
        scale, unit = (1000.0, "mm") if si_unit == "m" else (_DEGREES, "°")
        curves: tuple[Curve, ...] = (
            Curve("actor", scale * actor, "reference", "reference"),
            Curve("robot", scale * robot, "robot"),
        )
        panels.append(Panel(f"equipment.{name}", f"{name}, position", unit, curves))
    names = ("palm_actor", "palm_position", "hand_contact")
    if all(name in log for name in names) and log["hand_contact"].values.any():
        error = np.linalg.norm((log["palm_position"] - log["palm_actor"]).values, axis=2)
        error = np.where(log["hand_contact"].values, 1000.0 * error, np.nan)
        title = "palms, distance from the actor's in contact"
        panels.append(Panel("hands", title, "mm", _sides(log["hand"].values, error)))
    if log.sizes["foot"]:
        weight = float(log.attrs["mass_kg"] * log.attrs["gravity_m_s2"])
        force = log["foot_wrench"].values[..., 2]
        curves = _sides(log["foot"].values, force)
        panels.append(Panel("feet", "floor on each foot, upwards", "N", curves, (("weight", weight),)))
    if log.sizes["hand"] and equipment:
        wrench = log["grip_wrench"].values
        for key, part, unit, strength in (
            ("force", wrench[..., :3], "N", grip.max_force_n),
            ("torque", wrench[..., 3:], "N·m", grip.max_torque_nm),
        ):
            curves = _sides(log["hand"].values, np.linalg.norm(part, axis=2))
            lines = (("lets go", float(strength)),)
            panels.append(Panel(f"grip.{key}", f"grip of each hand, {key}", unit, curves, lines))
    time = log.time.values
    if "is_grip" in log and (~log["is_grip"].values).any():
        largest = Curve("largest", _on_grid(EXTREMES["tracking.max_rad"](log), time), "robot")
        panels.append(Panel("tracking", "joint position error, largest of all joints", "rad", (largest,)))
    share = Curve("largest", 100.0 * _on_grid(EXTREMES["limits.torque_ratio"](log), time), "robot")
    limit = (("limit", 100.0),)
    panels.append(Panel("torque", "motor torque, largest share of a limit", "%", (share,), limit))
    saturation = saturation_excess(log)
    if saturation.value.max() > 0.0:
        excess = Curve("largest", _on_grid(saturation, time), "zmp")
        panels.append(Panel("saturation", "torque asked for beyond the limit, largest", "N·m", (excess,)))
    if log.sizes["foot"]:
        height = Curve("root", log["base_pose"].values[:, 2], "robot")
        panels.append(Panel("root", "height of the root", "m", (height,)))
    return panels


def _balance_panels(log: xr.Dataset) -> list[Panel]:
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


def _sides(names: Any, values: Array) -> tuple[Curve, ...]:
    return tuple(Curve(side, values[:, k], side) for k, side in enumerate(names.astype(str)))


def _on_grid(trace: Trace, time: Array) -> Array:
    """Put a trace on the times of a log; NaN where it has no sample."""
    values = np.full(len(time), np.nan)
    values[np.searchsorted(time, trace.time)] = trace.value
    return values


def thin_time(time: Array) -> tuple[Array, int]:
    """Choose the points of curves over a log, so that at most `MOST_POINTS` are drawn.

    `time` (T,): times of the log's samples, s. Returns the times of the points, s, (P,), and the number of
    samples for each pair of points; 0 if every sample is a point.
    """
    if len(time) <= MOST_POINTS:
        return time, 0
    size = 2 * math.ceil(len(time) / MOST_POINTS)
    groups = _grouped(time, size)
    return np.stack([groups[:, 0], groups[:, size // 2]], axis=1).ravel(), size


def thin_values(values: Array, size: int) -> Array:
    """Thin a curve so that no peak is lost.

    `values` (T,): values at the log's samples; `size`: samples for each pair of points, from `thin_time`.
    Returns (P,): values at the points: of each group of samples the least and the greatest, in their order.
    """
    if not size:
        return values
    groups = _grouped(values, size)
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
    time, size = thin_time(log.time.values)
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
                    "values": packer.add_signals(thin_values(curve.values, size)),
                }
                for curve in panel.curves
            ],
        }
        for panel in panels
    ]
    return {"time": packer.add_array(time, "float64"), "panels": described}


def pack_joints(log: xr.Dataset, packer: Packer) -> dict[str, Any]:
    """Describe position, reference and torque of each joint at the samples of the scene.

    Of the torque, the value that is largest in magnitude between two samples of the scene is kept. `log`: log
    of the run; `packer`: gets the arrays. Returns `joints` of a run, with the times of the scene's samples.
    """
    samples = scene_samples(log.time.values)
    torque, begins = log["torque_motor"].values, np.append(0, samples[:-1] + 1)
    largest, least = (each.reduceat(torque, begins, axis=0) for each in (np.maximum, np.minimum))
    error = np.abs((log["joint_position"] - log["joint_reference"]).values).max(axis=0)
    return {
        "time": packer.add_array(log.time.values[samples], "float64"),
        "names": [printable(name) for name in log["joint"].values.astype(str)],
        "closesHand": log["is_grip"].values.astype(int).tolist() if "is_grip" in log else [0] * len(error),
        "largestError": error.tolist(),
        "position": packer.add_signals(log["joint_position"].values[samples]),
        "reference": packer.add_signals(log["joint_reference"].values[samples]),
        "torque": packer.add_signals(np.where(np.abs(largest) >= np.abs(least), largest, least)),
        "torqueLimit": [float(limit) for limit in np.minimum(log["torque_limit"].values, 1e15)],
    }
