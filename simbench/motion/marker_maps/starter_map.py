"""A starter marker map for a recording, as YAML with comments on what was guessed."""

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from simbench.errors import MotionError
from simbench.motion.marker_maps.map_choice import GUESSED, GuessedMap, find_reading, guess_map
from simbench.motion.marker_maps.map_library import describe_missing_names, find_aliases, list_fitting_maps
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.skeleton_guess import SkeletonGuess
from simbench.motion.read_options import ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

WIDTH = 110
# The parts of a map that hold recipes.
SECTIONS = ("points", "joints", "frames", "segments")


def write_starter_map(recording: MarkerRecording | SkeletonRecording, requested: str | None = None) -> str:
    """Write a marker map that reads a recording, as YAML to be edited.

    It is the map with which the recording is read: the shipped one that fits, reduced to the points that the
    recording has, or of another skeleton the guess from its names and its geometry. `requested`: name of a
    shipped map or path of a YAML file, which is written as it applies to the recording. Returns YAML that
    `load_map` reads. Comments say how sure each guess is and which points are not used. Raises MotionError
    the skeleton is not that of a person, or no map fits the markers.
    """
    skeleton = isinstance(recording, SkeletonRecording)
    if skeleton:
        reading = find_reading(recording, ReadOptions(marker_map=requested))
        found = GuessedMap(reading.map_name, reading.marker_map)
    elif fitting := list_fitting_maps(recording.names, requested, skeleton=False):
        found = GuessedMap(*fitting[0])
    elif requested is None:
        found = guess_map(recording)
    else:
        raise MotionError(
            f"{recording.source}: {describe_missing_names(recording.names, requested, skeleton=False)}"
        )
    name = Path(recording.source).name
    if isinstance(recording, SkeletonRecording) and found.name.startswith(GUESSED):
        guess = SkeletonGuess(recording)
        reduced, notes, doubts, unused = (
            guess.marker_map,
            guess.notes[1:],
            guess.doubts,
            "Joints that are not used",
        )
        comments = [
            f"Marker map of {name}, guessed by simbench: {guess.dialect}, score {guess.score:.2f} of 1; "
            f"reference posture: {guess.posture}.",
            "Read the recording with it by --map and this file's name. Neither the unit nor the vertical "
            "axis is declared here: add `unit: cm` or `up: y` if they are found wrongly.",
        ]
        lists = {"Guessed without a name or an axis that says so": guess.unsure, "Not found": guess.missing}
    else:
        reduced, notes, doubts = reduce_map(found.marker_map, recording.names), found.notes, found.doubts
        comments, lists = [f"Marker map of {name}: {found.name}, reduced to the recorded points."], {}
        unused = "Points that it does not use"
    used = points_in_map(reduced)
    lists[unused] = tuple(point for point in recording.names if point not in used)
    comments += [
        *(f"Found: {note}." for note in notes),
        *(f"Doubtful: {doubt}." for doubt in doubts),
        *(f"{what}: {', '.join(names)}." for what, names in lists.items() if names),
    ]
    head = [
        line
        for comment in comments
        for line in textwrap.wrap(
            " ".join(comment.split()),
            WIDTH,
            initial_indent="# ",
            subsequent_indent="#   ",
            break_long_words=False,
        )
    ]
    lines = []
    for key, value in _as_data(reduced).items():
        if key in SECTIONS:
            # One recipe is written without its list, and one that is another point as that point's name.
            value = {entry: recipes[0] if len(recipes) == 1 else recipes for entry, recipes in value.items()}
            for entry, recipe in value.items():
                if isinstance(recipe, dict) and set(recipe) == {"mean"} and len(recipe["mean"]) == 1:
                    value[entry] = recipe["mean"][0]
        if isinstance(value, dict):
            lines += [f"{key}:", *(f"  {_flow(entry)}: {_flow(recipe)}" for entry, recipe in value.items())]
        elif isinstance(value, list):
            lines += [f"{key}:", *(f"  - {_flow(entry)}" for entry in value)]
        else:
            lines.append(f"{key}: {_flow(value)}")
    return "\n".join([*head, *lines]) + "\n"


def reduce_map(marker_map: MarkerMap, names: Sequence[str]) -> MarkerMap:
    """Leave out the recipes of a map for which a recording lacks the points.

    `names`: names of the recording's points. Returns the map with the recipes whose points are recorded, or
    computed by recipes that stay.
    """
    data = _as_data(marker_map)
    aliased = dict(find_aliases(names, marker_map))
    while True:
        known = {*names, *aliased, *(entry for section in SECTIONS for entry in data.get(section, {}))}
        kept = {
            section: {
                entry: fitting
                for entry, recipes in data[section].items()
                if (fitting := [recipe for recipe in recipes if _texts(recipe) <= known])
            }
            for section in SECTIONS
            if section in data
        }
        if all(kept[section] == data[section] for section in kept):
            break
        data |= kept
    known = {
        *names,
        *aliased,
        *(entry for section in ("points", "joints") for entry in data.get(section, {})),
    }
    data["feet"] = [foot for foot in data.get("feet", []) if foot in known]
    data["facing"] = [pair for pair in data.get("facing", []) if known.issuperset(pair)]
    data["aliases"] = {known: [alias] for known, alias in aliased.items()}
    return MarkerMap.model_validate({key: value for key, value in data.items() if value not in ({}, [])})


def points_in_map(marker_map: MarkerMap) -> set[str]:
    """Collect all names of points and frames that a map mentions."""
    data = _as_data(marker_map)
    recipes = [list(data[section].values()) for section in SECTIONS if section in data]
    return _texts(recipes).union(marker_map.feet, *marker_map.facing, *marker_map.aliases.values())


def _as_data(marker_map: MarkerMap) -> dict[str, Any]:
    """Write a map as lists, mappings, texts and numbers, without what is not set."""
    # pydantic cannot tell the kinds of recipes apart when it writes a whole map.
    data = marker_map.model_dump(mode="json", exclude_none=True, exclude_defaults=True, exclude={*SECTIONS})
    for section in SECTIONS:
        entries = getattr(marker_map, section)
        if entries:
            data[section] = {
                name: [recipe.model_dump(mode="json", exclude_none=True) for recipe in recipes]
                for name, recipes in entries.items()
            }
    # The order of the schema.
    return {key: data[key] for key in MarkerMap.model_fields if key in data}


def _flow(value: Any) -> str:
    """Write a value as YAML in one line."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10**9
    )
    return text.removesuffix("\n").removesuffix("\n...")


def _texts(value: Any) -> set[str]:
    """Names of points and frames in a recipe, without those of a cluster, which needs three of its points."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        value = [item for key, item in value.items() if key not in ("note", "cluster")]
    return set().union(*map(_texts, value)) if isinstance(value, list) else set()


def read_recording_for_map(recording: object, source: str) -> MarkerRecording | SkeletonRecording:
    """Check that a recording is one to which marker maps apply.

    `recording`: what a reader returned; `source`: name of the recording, for the message.
    """
    if not isinstance(recording, (MarkerRecording, SkeletonRecording)):
        raise MotionError(f"{source}: its joints are a person's already; it needs no marker map")
    return recording
