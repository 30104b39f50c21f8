"""Spellings of a map's points in a recording: prefixes, capitals, dots and blanks do not count."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from pydantic import BaseModel

from simbench.motion.marker_maps.schema import MarkerMap, fill_side, has_side_placeholder
from simbench.robot.sides import SIDES

SEPARATORS = ":._- "
# A prefix that only says the side belongs to the name.
SIDE_WORDS = ("l", "r", "left", "right")
# Names that must share a beginning or an end before it counts as none of the marker's name.
LEAST_SHARED, SHARED_ENDING = 3, 0.8


def find_spellings(recorded: Collection[str], wanted: Iterable[str]) -> dict[str, str]:
    """Find the points of a map in a recording that spells them in another way.

    A point that the recording has under its own name is not searched for. Otherwise that name counts whose
    letters and digits are the same, whatever stands before a colon; else the one with a prefix or an ending
    dropped that other names share, or with a single letter before a dot that is no side (`V.C7`). If several
    persons were recorded, those of the one with most markers are taken. `recorded`: names of the recording's
    points; `wanted`: names of the map's points. Returns name in the recording of each point that was found
    under another one.
    """
    names = list(dict.fromkeys(recorded))
    whole: dict[str, list[str]] = {}
    reduced: dict[str, list[str]] = {}
    prefixes, endings = _shared_ends(names)
    for name in names:
        bare = name.rpartition(":")[2]
        whole.setdefault(_letters(bare), []).append(name)
        for short in {
            *(name[len(prefix) :] for prefix in prefixes if name.startswith(prefix)),
            *(bare[: -len(ending)] for ending in endings if bare.endswith(ending)),
            *([bare[2:]] if len(bare) > 2 and bare[1] in SEPARATORS and bare[0].lower() not in "lr" else []),
        }:
            reduced.setdefault(_letters(short), []).append(name)
    persons = Counter(name.rpartition(":")[0] for name in names)
    found = {}
    for point in wanted:
        if point in names:
            continue
        key = _letters(point)
        candidates = whole.get(key) or reduced.get(key) or []
        if candidates and key:
            found[point] = max(candidates, key=lambda name: persons[name.rpartition(":")[0]])
    return found


def find_persons(recorded: Collection[str]) -> list[str]:
    """Find the persons of a recording whose markers have the same names after different prefixes.

    `recorded`: names of the recording's points. Returns the prefixes, the one with most markers first; empty
    if there is one person only.
    """
    by_person: dict[str, set[str]] = {}
    for name in recorded:
        person, colon, marker = name.rpartition(":")
        if colon:
            by_person.setdefault(person, set()).add(_letters(marker))
    ordered = sorted(by_person, key=lambda person: -len(by_person[person]))
    first = by_person[ordered[0]] if ordered else set()
    others = [person for person in ordered[1:] if len(by_person[person] & first) >= LEAST_SHARED]
    return [ordered[0], *others] if others else []


def list_wanted_points(marker_map: MarkerMap) -> list[str]:
    """List the points of a recording that a map mentions.

    Returns their names, without those that the map itself computes.
    """
    known = {*marker_map.points, *marker_map.joints, *marker_map.frames, *marker_map.segments}
    wanted: dict[str, None] = {}
    for identifying in marker_map.identified_by:
        for name in identifying:
            sides = SIDES if has_side_placeholder(name) else SIDES[:1]
            wanted.update(dict.fromkeys(fill_side(name, side) for side in sides))
    for section in (marker_map.points, marker_map.joints, marker_map.frames, marker_map.segments):
        for recipes in section.values():
            for recipe in recipes:
                wanted.update(dict.fromkeys(_names_in(recipe)))
    for item in (*marker_map.feet, *(name for pair in marker_map.facing for name in pair)):
        wanted[item] = None
    return [name for name in wanted if name not in known]


def _names_in(recipe: BaseModel) -> list[str]:
    """Names of points and frames in a recipe."""
    values: Mapping[str, Any] = recipe.model_dump(exclude={"note", "turns_with"})
    names: list[str] = []
    pending = list(values.items())
    while pending:
        key, value = pending.pop(0)
        if isinstance(value, str):
            names.append(value)
        elif isinstance(value, dict):
            names += list(value) if key == "cluster" else []
            pending += [] if key == "cluster" else list(value.items())
        elif isinstance(value, list | tuple):
            pending += [(key, item) for item in value]
    return names


def _letters(name: str) -> str:
    """Letters and digits of a name, in small letters."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _shared_ends(names: list[str]) -> tuple[list[str], list[str]]:
    """Beginnings and endings up to a separator that several names share and that say no side."""
    starts: Counter[str] = Counter()
    ends: Counter[str] = Counter()
    for name in names:
        for k, letter in enumerate(name):
            if letter in SEPARATORS:
                starts[name[: k + 1]] += 1
                ends[name[k:]] += 1
    prefixes = [
        start
        for start, count in starts.items()
        if count >= LEAST_SHARED
        and re.split(r"[\W_]+", start.rstrip(SEPARATORS))[-1].lower() not in SIDE_WORDS
    ]
    endings = [
        end
        for end, count in ends.items()
        if count >= max(LEAST_SHARED, SHARED_ENDING * len(names)) and _letters(end) not in SIDE_WORDS
    ]
    return prefixes, endings
