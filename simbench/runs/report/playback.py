"""Content of the interactive part of a report: scenes, panels and timelines of its runs."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import SimbenchError
from simbench.files.printable import printable
from simbench.kinematics.arrays import Array
from simbench.runs.log_signals import CONTACT_EVENT_SIGNALS
from simbench.runs.metric_traces import FailureTime, contact_kinds, lost_grips, saturation_excess
from simbench.runs.report.page_data import LOADER, Packer, packed_script
from simbench.runs.report.panels import make_panels, pack_joints, pack_panels
from simbench.runs.report.scene import make_scene
from simbench.runs.video import load_drawn_run
from simbench.sim.rendering.renderer_choice import UndrawableShapeError

if TYPE_CHECKING:
    import xarray as xr

    from simbench.runs.report.run_report import RunReport

NO_SCRIPT = (
    "The scene, the timeline and the plots need scripts, which this browser does not run. "
    "Verdict and tables are complete without them."
)
_LEAST_LOAD = 0.01
"""Fraction of the weight from which on a foot stands on the floor."""
_BRIDGED = 0.03
"""Longest gap between two bars that are drawn as one, s."""
_CONTACT_COLUMNS = tuple(signal.name for signal in CONTACT_EVENT_SIGNALS)
_MOST = 400
"""Number of marks and bars in a lane."""


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
        f"<script>{LOADER}</script>"
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
            scene = make_scene(load_drawn_run(report.folder, log=report.log), packer)
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
