"""Markers that a map needs and that have a name which it does not know, found by where they are on the body.

Markers keep their distances to others on the same segment. Where the other side has the same markers, these
distances are known from it; else from a table of where markers are on a person.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_library import (
    GENERAL,
    compare_maps,
    find_aliases,
    find_needs,
    list_wanted_points,
)
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.marker_guess import assign_places, is_wrist_reversed, may_be_at
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

# Frames that are looked at, and the fewest markers by which a body is known.
MOST_FRAMES, FEWEST_KNOWN = 200, 6
# A place is known by two distances, or by one that is the other side's or that of a marker with a twin there.
FEWEST_DISTANCES = 2
# Few distances count as one that is off by this part of its spread, divided by their number.
FEW_DISTANCES = 0.5
# The general map is taken where every other one has less than this fraction of its points.
GENERAL_SHARE = 0.8
# Two sides of a body differ by this fraction of the stature.
ASYMMETRY = 0.018
# A marker is taken where its distances are off by at most this many times their spread, and where every other
# unknown marker is off by at least the second factor more.
LARGEST_COST, CLEARLY_WORSE = 1.4, 1.5
# What fits worse than this is all the same.
HOPELESS = 3.0
# Distances on a person that tell the size, as a fraction of the stature.
LONG = 0.06
# Markers up to this far off, m, are named in a message.
NEAR = 0.15


class _Fit(NamedTuple):
    """How an unknown marker fits a place."""

    cost: float  # Root mean square deviation of its distances to known markers, over their spread.
    off: float  # Root mean square deviation, m.


def name_by_place(recording: MarkerRecording, requested: str | None) -> tuple[MarkerRecording, str]:
    """Give the map's names to unknown markers that are where the map needs one.

    The map is the requested one, or the one of which the recording has most points. Returns the recording,
    with a doubt for each marker, and text for a message on what is needed and was not found, and which
    unknown markers are near.
    """
    compared = compare_maps(recording.names, requested, skeleton=False)
    closest = max(compared, key=lambda each: each[4] * (GENERAL_SHARE if each[0] == GENERAL else 1.0))
    marker_map, recorded = closest[1:3]
    wanted = list_wanted_points(marker_map)
    spelled = dict(find_aliases(recording.names, marker_map))
    place_of = {name: place for place, name in assign_places(wanted).items()}
    needed, beside = _find_missing(marker_map, recorded)
    here = {place for name, place in place_of.items() if name in recorded}
    also = {place for name, place in place_of.items() if name in beside}
    missing = {}
    for name, place in place_of.items():
        twin = _other_side(place)
        # What is in the middle, what the other side has, and what both sides would use.
        wished = twin == place or twin in here or {twin, place} <= also
        if place not in here and (name in needed or wished):
            missing[place] = name
    unknown = [name for name in recording.names if name not in {*wanted, *spelled.values()}]
    if not missing or not unknown:
        return recording, ""
    index = {name: k for k, name in enumerate(recording.names)}
    index |= {name: index[alias] for name, alias in spelled.items()}
    some = recording.positions[:: max(1, len(recording.time) // MOST_FRAMES)]
    known = {place: name for name, place in place_of.items() if name in index}
    if len(known) < FEWEST_KNOWN:
        return recording, ""

    @cache
    def measure(one: str, other: str) -> tuple[float, float]:
        """Median and standard deviation of the distance of two markers, m; NaN if never seen together."""
        apart = np.linalg.norm(some[:, index[one]] - some[:, index[other]], axis=1)
        apart = apart[~np.isnan(apart)]
        return (float(np.median(apart)), float(apart.std())) if apart.size else (np.nan, np.nan)

    sides = {name: _find_side(name, recording.names) for name in unknown}
    found: dict[str, str] = {}
    offs: dict[str, float] = {}
    # One at a time, the surest first: what is found helps to find the rest.
    while True:
        fits = {
            place: [
                _fit_place(place, name, known, measure, twin=bool(sides[name]))
                if may_be_at(name, place) and place.startswith(sides[name])
                else _Fit(np.inf, np.inf)
                for name in unknown
            ]
            for place in missing.keys() - found.keys()
        }
        places = sorted(fits)
        costs = np.array([[min(fit.cost, HOPELESS) for fit in fits[place]] for place in places])
        costs = costs.reshape(len(places), len(unknown))
        rows, columns = linear_sum_assignment(costs)
        free = [column for column in range(len(unknown)) if column not in columns]
        clear = [
            (costs[row, column], places[row], column)
            for row, column in zip(rows, columns, strict=True)
            if costs[row, column] < min(LARGEST_COST, *(costs[row, free] / CLEARLY_WORSE), np.inf)
        ]
        if not clear:
            break
        _, place, column = min(clear)
        found[place], offs[place] = unknown[column], fits[place][column].off
        known[place] = found[place]
        unknown.remove(found[place])
    for side in SIDES:
        pair = f"{side}_radial_wrist", f"{side}_ulnar_wrist"
        arm = f"{side}_acromion", f"{side}_lateral_elbow", *pair
        whole = found.keys() >= {*pair} and known.keys() >= {*arm}
        if whole and is_wrist_reversed(*(some[:, index[known[place]]] for place in arm)):
            found[pair[0]], found[pair[1]] = found[pair[1]], found[pair[0]]
    new = {name: missing[place] for place, name in found.items()}
    doubts = [
        f"marker {name} is read as {missing[place]}: no map knows it, and it is where that one is "
        f"({1000 * offs[place]:.0f} mm off)"
        for place, name in found.items()
    ]
    hints = []
    for place in places:
        near = sorted((fit.off, name) for fit, name in zip(fits[place], unknown, strict=True))[:3]
        listed = ", ".join(f"{name} ({1000 * off:.0f} mm)" for off, name in near if off < NEAR)
        if listed:
            hints.append(f"; near where {missing[place]} should be: {listed}")
    names = tuple(new.get(name, name) for name in recording.names)
    renamed = replace(recording, names=names, doubts=(*recording.doubts, *doubts))
    return renamed, "".join(hints)


def _find_missing(marker_map: MarkerMap, recorded: Collection[str]) -> tuple[set[str], set[str]]:
    """Find the points that joints and frames need and the recording lacks, and those used beside them."""
    needed: set[str] = set()
    for joints, frames in (
        *(([name], []) for name in marker_map.joints),
        *(([], [name]) for name in marker_map.segments),
    ):
        needed |= set(find_needs(marker_map, recorded, joints, frames).lacking)
    recipes = [
        recipe.named_points()
        for section in (marker_map.joints, marker_map.points)
        for each in section.values()
        for recipe in each
    ]
    beside = {
        name for points in recipes if needed & {*points} and not {*points} & {*recorded} for name in points
    }
    return needed, beside


def _find_side(name: str, names: Sequence[str]) -> str:
    """Find the side of a marker that has a twin with the letter of the other side; else empty."""
    other = {"l": "r", "r": "l"}
    for k, letter in enumerate(name):
        swapped = other.get(letter, other.get(letter.lower(), "").upper())
        if swapped and f"{name[:k]}{swapped}{name[k + 1 :]}" in names:
            return "left" if letter in "lL" else "right"
    return ""


def _fit_place(
    place: str,
    name: str,
    known: Mapping[str, str],
    measure: Callable[[str, str], tuple[float, float]],
    *,
    twin: bool,
) -> _Fit:
    """Compare the distances of a marker to the known ones, by place, with those that a place has."""
    positions, segments = _body()

    def on_person(one: str, other: str) -> float:
        return float(np.linalg.norm(positions[one] - positions[other]))

    ratios = [
        measure(known[one], known[other])[0] / apart
        for _, names in segments
        for one, other in combinations(sorted(names & known.keys()), 2)
        if (apart := on_person(one, other)) > LONG
    ]
    stature = float(np.nanmedian(ratios)) if np.isfinite(ratios).any() else np.nan
    deviations, offs, certain = [], [], int(twin)
    for spread, names in segments:
        for other in sorted(names & known.keys()) if place in names else ():
            apart, moving = measure(name, known[other])
            expected, size = stature * on_person(place, other), spread
            twins = _other_side(place), _other_side(other)
            if known.keys() >= {*twins} and twins != (other, place):
                expected, size = measure(known[twins[0]], known[twins[1]])[0], ASYMMETRY
                certain += 1
            if np.isfinite(apart - expected):
                offs.append(apart - expected)
                deviations += [offs[-1] / (size * stature), moving / (spread * stature)]
    if not offs or len(offs) + certain < FEWEST_DISTANCES:
        return _Fit(np.inf, np.inf)
    cost, off = (float(np.sqrt(np.mean(np.square(each)))) for each in (deviations, offs))
    return _Fit(cost + FEW_DISTANCES / len(offs), off)


def _other_side(place: str) -> str:
    """Name the same place of the other side; of one in the middle itself."""
    side, _, name = place.partition("_")
    return {"left": f"right_{name}", "right": f"left_{name}"}.get(side, place)


@cache
def _body() -> tuple[Mapping[str, Array], tuple[tuple[float, frozenset[str]], ...]]:
    """Read where markers are on a person, and which keep their distances, with the spread of these."""
    content = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
    positions = {}
    for place, at in content["positions"].items():
        positions[place] = np.array(at)
        positions[_other_side(place)] = np.array(at) * ([1.0, -1.0, 1.0] if "_" in place else 1.0)
    segments = []
    for segment in content["segments"]:
        for sides in [SIDES] if segment.get("both") else [(side,) for side in SIDES]:
            names = {place.replace("{side}", side) for place in segment["places"] for side in sides}
            segments.append((segment["spread"], frozenset(names)))
    return positions, tuple(segments)
