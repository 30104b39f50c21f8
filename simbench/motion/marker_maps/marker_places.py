"""Markers that a map needs under a name which it does not know, found by where they are on the body."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from simbench.motion.marker_maps.map_library import (
    GENERAL,
    compare_maps,
    find_aliases,
    find_needs,
    list_wanted_points,
)
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.marker_distances import Fit, fit_place, measure_distances, other_side
from simbench.motion.marker_maps.marker_guess import assign_places, is_wrist_reversed, may_be_at
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

# Frames that are looked at, and the fewest markers by which a body is known.
MOST_FRAMES, FEWEST_KNOWN = 200, 6
# The general map is taken where every other one has less than this fraction of its points.
GENERAL_SHARE = 0.8
# A marker is taken where its distances are off by at most this many times their spread, and where every other
# unknown marker is off by at least the second factor more.
LARGEST_COST, CLEARLY_WORSE = 1.4, 1.5
# What fits worse than this is all the same.
HOPELESS = 3.0
# Markers up to this far off, m, are named in a message.
NEAR = 0.15


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
        twin = other_side(place)
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
    measure = measure_distances(some, index)
    sides = {name: _find_side(name, recording.names) for name in unknown}
    found: dict[str, str] = {}
    offs: dict[str, float] = {}
    # One at a time, the surest first: what is found helps to find the rest.
    while True:
        fits = {
            place: [
                fit_place(place, name, known, measure, twin=bool(sides[name]))
                if may_be_at(name, place) and place.startswith(sides[name])
                else Fit(np.inf, np.inf)
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
