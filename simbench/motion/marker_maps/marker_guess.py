"""Guess of a marker map: words in the names give the places of the markers, geometry checks them."""

import re
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise, reject
from simbench.motion.marker_maps.map_library import GENERAL, find_spellings, ready_maps
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.recordings import MarkerRecording
from simbench.robot.sides import SIDES

# What stands in names for a word of `PLACES`. Words of one letter count only beside another word.
SYNONYMS = {
    "left": ("left", "l", "lt", "lft", "li", "links", "gauche", "sx", "izq"),
    "right": ("right", "r", "rt", "rgt", "re", "rechts", "droit", "dx", "der"),
    "lateral": ("lateral", "lat", "out", "outer", "outside", "ext", "external"),
    "medial": ("medial", "med", "in", "inner", "inside", "int", "internal"),
    "front": ("front", "frnt", "fr", "f", "ant", "anterior"),
    "back": ("back", "bk", "b", "post", "posterior", "rear"),
    "top": ("top", "up", "upper", "vertex", "crown"),
    "head": ("head", "hd", "hed", "forehead", "kopf", "tete"),
    "shoulder": (
        "shoulder",
        "shldr",
        "shld",
        "shou",
        "sho",
        "shl",
        "sh",
        "acromion",
        "acrom",
        "acromium",
        "acro",
        "acr",
        "schulter",
        "epaule",
    ),
    "elbow": ("elbow", "elb", "elbw", "epicondyle", "epicond", "epi", "ellbogen", "coude", "humerus"),
    "wrist": ("wrist", "wri", "wrst", "wr", "styloid", "handgelenk", "poignet"),
    "thumb": ("radial", "radius", "rad", "thumb", "a"),
    "little": ("ulnar", "ulna", "uln", "pinky", "pinkie", "little", "small"),
    "hand": ("hand", "hnd", "han", "fin", "finger", "knuckle", "mcp", "metacarpal", "mc", "hm"),
    "index": ("index", "second", "2", "2nd"),
    "fifth": ("fifth", "5", "5th", "pinky", "little"),
    "asis": ("asis", "asi", "ias", "frontwaist", "frontpelvis"),
    "psis": ("psis", "psi", "ips", "backwaist"),
    "pelvis": ("pelvis", "pelv", "hip", "waist", "iliac", "spine", "hips", "pel"),
    "sacrum": ("sacrum", "sacral", "sacr", "sac", "s1", "s2"),
    "knee": ("knee", "kne", "kn", "femur", "condyle", "knie", "genou"),
    "ankle": ("ankle", "ank", "malleolus", "mal", "malleoli", "cheville"),
    "heel": ("heel", "hee", "hel", "calcaneus", "calc", "cal", "ferse", "talon"),
    "toe": ("toe", "toes", "metatarsal", "mt", "mth", "foot", "hallux", "forefoot", "mtp"),
    "c7": ("c7", "cv7", "neck", "cervical"),
    "notch": ("clavicle", "clav", "jugular", "ij", "suprasternal", "incisura", "manubrium", "clavicula"),
    "sternum": ("sternum", "strn", "ster", "stern", "xiphoid", "xyphoid", "xiph", "chest", "breast", "px"),
    "thoracic": ("t6", "t7", "t8", "t9", "t10", "t11", "t12", "thoracic", "back", "thorax"),
}
# Points of the map, and the words that all stand in a name of such a marker; more words go before fewer.
PLACES = {
    "{side}_front_head": (("head", "front"),),
    "{side}_back_head": (("head", "back"),),
    "head_top": (("head", "top"), ("head",)),
    "{side}_acromion": (("shoulder",), ("shoulder", "top")),
    "{side}_lateral_elbow": (("elbow", "lateral"), ("elbow",)),
    "{side}_medial_elbow": (("elbow", "medial"),),
    "{side}_radial_wrist": (("wrist", "thumb"), ("wrist", "medial"), ("thumb",)),
    "{side}_ulnar_wrist": (("wrist", "little"), ("wrist", "lateral"), ("little",)),
    "{side}_wrist_marker": (("wrist",),),
    "{side}_hand_marker": (("hand",),),
    "{side}_index_knuckle": (("hand", "index"), ("hand", "medial"), ("index",)),
    "{side}_little_knuckle": (("hand", "fifth"), ("hand", "lateral")),
    "{side}_asis": (("asis",), ("pelvis", "front")),
    "{side}_psis": (("psis",), ("pelvis", "back")),
    "sacrum_marker": (("sacrum",), ("pelvis", "back")),
    "{side}_lateral_knee": (("knee", "lateral"), ("knee",)),
    "{side}_medial_knee": (("knee", "medial"),),
    "{side}_lateral_ankle": (("ankle", "lateral"), ("ankle",)),
    "{side}_medial_ankle": (("ankle", "medial"),),
    "{side}_heel_marker": (("heel",),),
    "{side}_toe_marker": (("toe",),),
    "{side}_fifth_toe": (("toe", "fifth"), ("toe", "lateral")),
    "c7": (("c7",), ("c7", "back")),
    "clavicle": (("notch",), ("sternum", "top")),
    "sternum": (("sternum",),),
    "t10": (("thoracic",),),
}


# A pair of wrist markers is the other way round when the thumb points away from where it can (mean cosine).
REVERSED = -0.3
# Relative difference of the two sides' lengths that people do not have.
UNEQUAL = 0.25
MOST_FRAMES = 500


class MarkerGuess(NamedTuple):
    """A guessed marker map, and how sure it is."""

    marker_map: MarkerMap  # The map `anatomical`, with the recording's names as the aliases of its points.
    roles: dict[str, str]  # Point of the map for each of the recording's markers that has one.
    unsure: tuple[str, ...]  # Markers without a role, then roles that geometry contradicts.
    notes: tuple[str, ...]  # What was guessed and what geometry says, one line each.


def guess_marker_map(recording: MarkerRecording) -> MarkerGuess | None:
    """Guess the marker map of a recording with names that no map has.

    `recording`: tracks of the markers; NaN where one was not seen. Returns the guess; None if no arm's
    shoulder, and elbow or wrist, can be recognised.
    """
    general = ready_maps()[GENERAL]
    places = _assign(recording, general)
    seen = [
        side
        for side in SIDES
        if f"{side}_acromion" in places
        and any(f"{side}_{joint}" in places for joint in ("lateral_elbow", "radial_wrist", "wrist_marker"))
    ]
    if not seen:
        return None
    step = max(len(recording.time) // MOST_FRAMES, 1)
    index = {name: k for k, name in enumerate(recording.names)}
    tracks = {place: recording.positions[::step, index[name]] for place, name in places.items()}
    notes, doubtful = _check_lengths(tracks)
    for side in SIDES:
        line = _order_wrist(side, places, tracks)
        if line is not None:
            notes.append(line)
    facing = _check_sides(tracks)
    if facing is not None:
        notes.append(facing)
        doubtful += [place for place in places if place.partition("_")[0] in SIDES]
    # `model_copy` keeps the recipes, which are validated already.
    marker_map = general.model_copy(
        update={
            "description": "Guessed from the names of the markers, with the recipes of the map anatomical.",
            "aliases": {place: [name] for place, name in places.items()},
        }
    )
    roles = {name: place for place, name in places.items()}
    unknown = [name for name in recording.names if name not in roles]
    notes.insert(0, f"marker map guessed: {', '.join(f'{place} = {name}' for place, name in places.items())}")
    return MarkerGuess(marker_map, roles, (*unknown, *dict.fromkeys(doubtful)), tuple(notes))


def _assign(recording: MarkerRecording, general: MarkerMap) -> dict[str, str]:
    """Marker of each point of the map, by the map's own names first, then by words."""
    aliases = {alias: place for place, others in general.aliases.items() for alias in others}
    places: dict[str, str] = {}
    for alias, name in {
        **{name: name for name in recording.names if name in aliases},
        **find_spellings(recording.names, aliases),
    }.items():
        if name not in places.values():
            places.setdefault(aliases[alias], name)
    scores: list[tuple[int, int, str, str]] = []
    for order, name in enumerate(recording.names):
        if name in places.values():
            continue
        words = _words(name)
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


def _words(name: str) -> set[str]:
    """Words of `SYNONYMS` in a name: `LeftElbow_Lat`, `L.Elbow.Lat`, `lat_elbow_L`."""
    bare = name.rpartition(":")[2]
    parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", bare)]
    parts += [f"{one}{two}" for one, two in pairwise(parts) if two.isdigit()]
    letters = "".join(parts)
    # A capital L or R before or behind an abbreviation: LELB, ELBL.
    known = {spelling for spellings in SYNONYMS.values() for spelling in spellings if len(spelling) > 1}
    if letters[:1] in ("l", "r") and letters[1:] in known and letters not in known:
        parts += [letters[0], letters[1:]]
    elif letters[-1:] in ("l", "r") and letters[:-1] in known and letters not in known:
        parts += [letters[-1], letters[:-1]]
    return {word for word, spellings in SYNONYMS.items() if set(parts) & set(spellings)}


def _mean_length(tracks: dict[str, Array], first: str, second: str) -> float | None:
    """Median distance of two points, m; None if they are never seen together."""
    if first not in tracks or second not in tracks:
        return None
    length = np.linalg.norm(tracks[first] - tracks[second], axis=1)
    length = length[~np.isnan(length)]
    return float(np.median(length)) if length.size else None


def _check_lengths(tracks: dict[str, Array]) -> tuple[list[str], list[str]]:
    """Find lengths that differ between the sides: notes, and the points that are doubtful for it."""
    notes: list[str] = []
    doubtful: list[str] = []
    for first, second in (
        ("acromion", "lateral_elbow"),
        ("lateral_elbow", "radial_wrist"),
        ("lateral_elbow", "wrist_marker"),
        ("asis", "lateral_knee"),
        ("lateral_knee", "lateral_ankle"),
    ):
        lengths = [_mean_length(tracks, f"{side}_{first}", f"{side}_{second}") for side in SIDES]
        left, right = lengths
        if left is None or right is None or abs(left - right) <= UNEQUAL * max(left, right):
            continue
        notes.append(
            f"{first} to {second} is {left:.3f} m on the left and {right:.3f} m on the right: one is "
            "not there"
        )
        doubtful += [f"{side}_{second}" for side in SIDES]
    return notes, doubtful


def _order_wrist(side: str, places: dict[str, str], tracks: dict[str, Array]) -> str | None:
    """Exchange the two markers of a wrist, in place, if the thumb would point where no forearm turns it."""
    names = [f"{side}_{place}" for place in ("acromion", "lateral_elbow", "radial_wrist", "ulnar_wrist")]
    if any(name not in tracks for name in names):
        return None
    shoulder, elbow, radial, ulnar = (tracks[name] for name in names)
    upper, fore = normalise(elbow - shoulder), normalise((radial + ulnar) / 2.0 - elbow)
    # Between the ends of its turn, the thumb of a bent arm points towards the shoulder.
    bent = np.linalg.norm(np.cross(upper, fore), axis=1) > 0.3
    cosine = (normalise(radial - ulnar) * normalise(reject(-upper, fore))).sum(axis=1)[bent]
    cosine = cosine[~np.isnan(cosine)]
    if not cosine.size or float(cosine.mean()) > REVERSED:
        return None
    one, two = names[2:]
    places[one], places[two] = places[two], places[one]
    tracks[one], tracks[two] = tracks[two], tracks[one]
    return f"{side} wrist: {places[one]} is on the thumb's side, by the way the forearm turns"


def _check_sides(tracks: dict[str, Array]) -> str | None:
    """Say that left is right, if what is forward and up tells so."""
    pairs = [("left_acromion", "right_acromion"), ("left_asis", "right_asis")]
    across = next((tracks[a] - tracks[b] for a, b in pairs if a in tracks and b in tracks), None)
    forwards = [
        ("c7", "clavicle"),
        ("c7", "sternum"),
        ("left_heel_marker", "left_toe_marker"),
        ("sacrum_marker", "left_asis"),
    ]
    forward = next((tracks[b] - tracks[a] for a, b in forwards if a in tracks and b in tracks), None)
    ups = [
        ("left_asis", "left_acromion"),
        ("left_lateral_knee", "left_asis"),
        ("left_lateral_ankle", "left_acromion"),
    ]
    up = next((tracks[b] - tracks[a] for a, b in ups if a in tracks and b in tracks), None)
    if across is None or forward is None or up is None:
        return None
    agreement = (np.cross(up, forward) * across).sum(axis=1)
    agreement = agreement[~np.isnan(agreement)]
    if agreement.size and float((agreement < 0.0).mean()) > 0.5:
        return "left and right by the names contradict forward and up by the other markers: a mirrored body"
    return None
