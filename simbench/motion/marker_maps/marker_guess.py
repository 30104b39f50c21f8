"""Guess of a marker map: words in the names give the places of the markers, geometry checks them."""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from simbench.errors import MotionError
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise, reject
from simbench.motion.marker_maps.map_library import GENERAL, find_spellings, ready_maps
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.marker_distances import fit_place, measure_distances
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

# The words of the names of markers, with what stands for them in a name, and those of each point of the map.
_TABLES = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
SYNONYMS, PLACES = _TABLES["synonyms"], _TABLES["places"]
# A pair of wrist markers is the other way round when the thumb points away from where it can (mean cosine).
REVERSED = -0.3
# Relative difference of the two sides' lengths that people do not have.
UNEQUAL = 0.25
MOST_FRAMES = 500
# A marker this far, m, from where its name says is somewhere else.
FAR = 0.2


def guess_marker_map(recording: MarkerRecording) -> tuple[MarkerMap, tuple[str, ...]] | None:
    """Guess the marker map of a recording with names that no map has.

    `recording`: tracks of the markers; NaN where one was not seen. Returns the map `anatomical`, with the
    recording's names as the aliases of its points, and what was guessed and what geometry says, one line
    each; None if no arm's shoulder, and elbow or wrist, can be recognised.
    """
    general = ready_maps()[GENERAL]
    places = assign_places(recording.names)
    notes = _drop_far_places(recording, places)
    wrists = ("lateral_elbow", "radial_wrist", "wrist_marker")
    if not any(
        f"{side}_acromion" in places and any(f"{side}_{joint}" in places for joint in wrists)
        for side in SIDES
    ):
        return None
    step = max(len(recording.time) // MOST_FRAMES, 1)
    index = {name: k for k, name in enumerate(recording.names)}
    tracks = {place: recording.positions[::step, index[name]] for place, name in places.items()}
    for first, second in (
        ("acromion", "lateral_elbow"),
        ("lateral_elbow", "radial_wrist"),
        ("lateral_elbow", "wrist_marker"),
        ("asis", "lateral_knee"),
        ("lateral_knee", "lateral_ankle"),
    ):
        lengths = []
        for side in SIDES:
            if f"{side}_{first}" in tracks and f"{side}_{second}" in tracks:
                length = np.linalg.norm(tracks[f"{side}_{first}"] - tracks[f"{side}_{second}"], axis=1)
                length = length[~np.isnan(length)]
                lengths += [float(np.median(length))] if length.size else []
        if len(lengths) == 2 and abs(lengths[0] - lengths[1]) > UNEQUAL * max(lengths):
            notes.append(
                f"{first} to {second} is {lengths[0]:.3f} m on the left and {lengths[1]:.3f} m on the right: "
                "one is not there"
            )
    for side in SIDES:
        names = [f"{side}_{place}" for place in ("acromion", "lateral_elbow", "radial_wrist", "ulnar_wrist")]
        if any(name not in tracks for name in names):
            continue
        if is_wrist_reversed(*(tracks[name] for name in names)):
            one, two = names[2:]
            places[one], places[two] = places[two], places[one]
            notes.append(f"{side} wrist: {places[one]} is on the thumb's side, by the way the forearm turns")

    def connect(*pairs: tuple[str, str]) -> Array | None:
        """Vectors (T, 3) from the first to the second of the first pair of points that is recorded."""
        return next((tracks[b] - tracks[a] for a, b in pairs if a in tracks and b in tracks), None)

    across = connect(("right_acromion", "left_acromion"), ("right_asis", "left_asis"))
    forward = connect(
        ("c7", "clavicle"),
        ("c7", "sternum"),
        ("left_heel_marker", "left_toe_marker"),
        ("sacrum_marker", "left_asis"),
    )
    up = connect(
        ("left_asis", "left_acromion"),
        ("left_lateral_knee", "left_asis"),
        ("left_lateral_ankle", "left_acromion"),
    )
    if across is not None and forward is not None and up is not None:
        agreement = (np.cross(up, forward) * across).sum(axis=1)
        agreement = agreement[~np.isnan(agreement)]
        if agreement.size and float((agreement < 0.0).mean()) > 0.5:
            notes.append(
                "left and right by the names contradict forward and up by the other markers: a mirrored body"
            )
    # `model_copy` keeps the recipes, which are validated already.
    marker_map = general.model_copy(
        update={
            "description": "Guessed from the names of the markers, with the recipes of the map anatomical.",
            "aliases": {place: [name] for place, name in places.items()},
        }
    )
    guessed = ", ".join(f"{place} = {name}" for place, name in places.items())
    return marker_map, (f"marker map guessed: {guessed}", *notes)


def _drop_far_places(recording: MarkerRecording, places: dict[str, str]) -> list[str]:
    """Drop markers that are far from where their names say, the farthest first; say which."""
    index = {name: k for k, name in enumerate(recording.names)}
    step = max(len(recording.time) // MOST_FRAMES, 1)
    measure = measure_distances(recording.positions[::step], index)
    notes: list[str] = []
    while True:
        fits = {
            place: fit_place(place, name, places, measure, twin=True, mirrored=False).off
            for place, name in places.items()
        }
        far = {place: off for place, off in fits.items() if FAR < off < np.inf}
        if not far:
            return notes
        worst = max(far, key=lambda place: far[place])
        notes.append(f"{places.pop(worst)} is not at {worst}: it is {far[worst]:.2f} m off")


def is_wrist_reversed(shoulder: Array, elbow: Array, radial: Array, ulnar: Array) -> bool:
    """Tell whether the markers (T, 3) of a wrist are the other way round than named, by how it turns."""
    upper, fore = normalise(elbow - shoulder), normalise((radial + ulnar) / 2.0 - elbow)
    # Between the ends of its turn, the thumb of a bent arm points towards the shoulder.
    bent = np.linalg.norm(np.cross(upper, fore), axis=1) > 0.3
    cosine = (normalise(radial - ulnar) * normalise(reject(-upper, fore))).sum(axis=1)[bent]
    cosine = cosine[~np.isnan(cosine)]
    return bool(cosine.size) and float(cosine.mean()) <= REVERSED


def assign_places(names: Sequence[str]) -> dict[str, str]:
    """Find the marker of each point of the map `anatomical` by that map's names first, then by words."""
    general = ready_maps()[GENERAL]
    aliases = {alias: place for place, others in general.aliases.items() for alias in others}
    places: dict[str, str] = {}
    for alias, name in {
        **{name: name for name in names if name in aliases},
        **find_spellings(names, aliases),
    }.items():
        if name not in places.values():
            places.setdefault(aliases[alias], name)
    scores: list[tuple[int, int, str, str]] = []
    for order, name in enumerate(names):
        if name in places.values():
            continue
        words = find_words(name)
        sides = [side for side in SIDES if side in words]
        for template, alternatives in PLACES.items():
            sided = "{side}" in template
            if sided is not (len(sides) == 1):
                continue
            place = template.replace("{side}", sides[0]) if sided else template
            fit = max((len(each) for each in alternatives if set(each) <= words), default=0)
            # Words that the place does not explain speak against it.
            rest = len(words - {word for each in alternatives for word in each} - set(SIDES))
            if fit:
                scores.append((2 * fit - rest, -order, place, name))
    for _, _, place, name in sorted(scores, reverse=True):
        if place not in places and name not in places.values():
            places[place] = name
    return places


def may_be_at(name: str, place: str) -> bool:
    """Tell whether the words in a marker's name, if it has any, allow a point of the map `anatomical`."""
    side = place.partition("_")[0]
    template = place.replace(f"{side}_", "{side}_") if side in SIDES else place
    # A digit may be a number of markers, and a letter anything.
    spellings = (name, re.sub(r"\d", "", name))
    if not any(find_words(each, short=False) for each in spellings):
        return True
    for words in map(find_words, spellings):
        sides = words & set(SIDES)
        if sides <= {side} and any(set(each) <= words for each in PLACES.get(template, ())):
            return True
    return False


def find_words(name: str, *, short: bool = True) -> set[str]:
    """Find the words of `SYNONYMS` in a name: `LeftElbow_Lat`, `L.Elbow.Lat`, `lat_elbow_L`.

    `short`: whether abbreviations of one and two letters count.
    """
    bare = name.rpartition(":")[2]
    parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", bare)]
    letters = "".join(parts)
    parts += [f"{one}{two}" for one, two in pairwise(parts) if two.isdigit()]
    # A capital L or R before or behind an abbreviation: LELB, ELBL.
    abbreviations = {
        spelling for spellings in SYNONYMS.values() for spelling in spellings if len(spelling) > 1
    }
    for letter, rest in ((letters[:1], letters[1:]), (letters[-1:], letters[:-1])):
        if letter in ("l", "r") and rest in abbreviations and letters not in abbreviations:
            parts += [letter, rest]
            break
    # LTIB3: a marker of a cluster.
    parts += [part for part in (letters.rstrip("0123456789")[1:],) if part in SYNONYMS["elsewhere"]]
    counted = {part for part in parts if short or len(part) > 2}
    return {word for word, spellings in SYNONYMS.items() if counted & set(spellings)}
