"""Events of a run as marks and bars on one timeline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.files.text import printable
from simbench.kinematics.arrays import Array
from simbench.runs.log_signals import CONTACT_EVENT_SIGNALS
from simbench.runs.metric_traces import FailureTime, contact_kinds, lost_grips, saturation_excess

if TYPE_CHECKING:
    import xarray as xr

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
    events: tuple[Event, ...]  # in the order of time.


def make_lanes(log: xr.Dataset, failures: Mapping[str, FailureTime]) -> list[Lane]:
    """Collect the events of a run.

    `log`: log from `open_run`; `failures`: when checks fail, by the metric's name.
    """
    failed = [
        Event(failure.time, None, f"check {name} failed: {failure.words}", "bad")
        for name, failure in failures.items()
    ]
    lanes = [
        Lane("checks failed", tuple(failed)),
        Lane("phases", tuple(_phases(log))),
        *_foot_lanes(log),
        *_hand_lanes(log),
        Lane("contacts", tuple(_contacts(log))),
        Lane("saturation", tuple(_saturation(log))),
        Lane("pushes", tuple(_pushes(log))),
    ]
    return [
        Lane(lane.name, tuple(sorted(lane.events, key=lambda event: event.start)[:_MOST]))
        for lane in lanes
        if lane.events
    ]


def _phases(log: xr.Dataset) -> list[Event]:
    """Settling, the actor's strokes, and what ends a run before its time."""
    settled = float(log.attrs["settle_s"])
    events = [Event(0.0, min(settled, float(log.time[-1])), "stands still", "planned")]
    strokes = log["strokes"].values if "strokes" in log else ()
    for number, (start, end) in enumerate(strokes, start=1):
        events.append(Event(float(start), float(end), f"stroke {number}", "plain"))
    gave_up = float(log.attrs.get("balance_gave_up_s", np.nan))
    if np.isfinite(gave_up):
        events.append(Event(gave_up, None, "the balance controller gave up", "bad"))
    return events


def _foot_lanes(log: xr.Dataset) -> list[Lane]:
    """When each foot stands on the floor."""
    if not log.sizes["foot"]:
        return []
    weight = float(log.attrs["mass_kg"] * log.attrs["gravity_m_s2"])
    force = log["foot_wrench"].values[..., 2]
    lanes = []
    for column, side in enumerate(log["foot"].values.astype(str)):
        loaded = force[:, column] >= _LEAST_LOAD * weight
        lanes.append(Lane(f"{side} foot", tuple(_bars(log.time.values, loaded, "on the floor", side))))
    return lanes


def _hand_lanes(log: xr.Dataset) -> list[Lane]:
    """When each hand grips, where it was to hold, and where a grip was lost."""
    if "grip_engaged" not in log or "hand_contact" not in log or not log["hand_contact"].values.any():
        return []
    lost = lost_grips(log)
    time, lanes = log.time.values, []
    for column, side in enumerate(log["hand"].values.astype(str)):
        name = f"{side} hand"
        wanted = _bars(time, log["hand_contact"].values[:, column], "is to hold", "planned")
        held = _bars(time, log["grip_engaged"].values[:, column], "grips", side)
        gone = [Event(when, None, "grip lost", "bad") for when, hand in lost if hand == name]
        lanes.append(Lane(name, (*wanted, *held, *gone)))
    return lanes


def _contacts(log: xr.Dataset) -> list[Event]:
    """Contacts other than of the feet with the floor; those that were not intended stand out."""
    if not {*_CONTACT_COLUMNS} <= {*log} or not log.sizes["contact"]:
        return []
    kinds, events = contact_kinds(log), []
    first, second = log["contact_first"].values.astype(str), log["contact_second"].values.astype(str)
    for number, kind in enumerate(kinds):
        if not kind and second[number] == "floor":
            continue
        peak = float(log["contact_peak_force"].values[number])
        words = printable(f"{first[number]} on {second[number]}, up to {peak:.3g} N")
        start, end = (float(log[name].values[number]) for name in ("contact_start", "contact_end"))
        events.append(
            Event(start, end, f"unintended: {words}" if kind else words, "bad" if kind else "plain")
        )
    return events


def _saturation(log: xr.Dataset) -> list[Event]:
    """When a motor gives less torque than the control law asks for."""
    excess = saturation_excess(log)
    events = []
    for event in _bars(excess.time, excess.value > 0.0, "", "warn"):
        inside = (excess.time >= event.start) & (excess.time <= (event.end or event.start))
        sample = int(np.flatnonzero(inside)[excess.value[inside].argmax()])
        joint = printable(excess.names[excess.part[sample]])
        events.append(event._replace(words=f"torque limited, most at {joint}"))
    return events


def _pushes(log: xr.Dataset) -> list[Event]:
    """When the robot is pushed."""
    if "push_wrench" not in log:
        return []
    force = np.linalg.norm(log["push_wrench"].values[:, :3], axis=1)
    return [
        event._replace(words=f"push, up to {force[_within(log.time.values, event)].max():.3g} N")
        for event in _bars(log.time.values, force > 0.0, "", "warn")
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


def describe_lanes(lanes: list[Lane]) -> list[dict[str, Any]]:
    """Describe lanes in a page's document. `lanes`: from `make_lanes`. Returns `lanes` of a run."""
    return [
        {
            "name": lane.name,
            "events": [
                {"start": each.start, "end": each.end, "words": printable(each.words), "tone": each.tone}
                for each in lane.events
            ],
        }
        for lane in lanes
    ]
