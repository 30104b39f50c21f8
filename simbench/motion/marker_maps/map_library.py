"""The library of marker maps: which one fits the names of a recording, and how it spells them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from simbench.errors import MotionError, PluginError
from simbench.files.text import require_regular_file
from simbench.files.yaml_document import read_yaml
from simbench.motion.marker_maps import map_schema as schema
from simbench.motion.marker_maps.map_schema import (
    SIDE_NAMES,
    MarkerMap,
    fill_placeholders,
    has_side_placeholder,
)
from simbench.plugins.declarations import is_plugin
from simbench.plugins.entry_points import load_plugin
from simbench.resources import resource_dir
from simbench.robot.sides import SIDES


class Needs(NamedTuple):
    """Recorded points from which a joint or a frame is computed."""

    used: frozenset[str]  # Names of the points.
    # Names of the points that are not recorded, of the recipe that lacks fewest; empty if none is lacking.
    lacking: tuple[str, ...]


def find_needs(
    marker_map: MarkerMap, recorded: Collection[str], joints: Sequence[str], frames: Sequence[str] = ()
) -> Needs:
    """Find the recorded points that joints and frames need, as `RecordedBody` chooses among the recipes.

    `recorded`: names that are recorded, in the map's spelling; `joints`, `frames`: names of joints or points,
    and of segments or frames. Returns points that are used, and those that are lacking.
    """
    known: dict[tuple[str, str], Needs] = {}

    def look(kind: str, name: str, pending: tuple[tuple[str, str], ...]) -> Needs:
        key = (kind, name)
        recipes: Sequence[schema.Recipe] | None
        if kind == "point":
            recipes = marker_map.joints.get(name) or marker_map.points.get(name)
        else:
            recipes = marker_map.segments.get(name) or marker_map.frames.get(name)
        # A joint may be the recorded point with the same name.
        if recipes is None or (kind == "point" and pending[-1:] == (key,)):
            return Needs(frozenset([name]), ()) if name in recorded else Needs(frozenset(), (name,))
        if key in pending:
            return Needs(frozenset(), (name,))
        if key not in known:
            options = []
            for recipe in recipes:
                # Points and frames that the recipe refers to.
                points: list[str] = []
                if isinstance(recipe, schema.Mean):
                    points += recipe.mean
                elif isinstance(recipe, schema.Offset):
                    points += [recipe.start, *(recipe.times or ())]
                elif isinstance(recipe, schema.Chord):
                    points += [recipe.proximal, recipe.marker, recipe.wand or recipe.distal or ""]
                elif isinstance(recipe, schema.Axes):
                    points += [end for way in recipe.axes.values() for end in way if isinstance(end, str)]
                elif isinstance(recipe, schema.Limb):
                    ways = (recipe.along, recipe.thumb, recipe.lateral, recipe.bends_at)
                    points += [end for way in ways for end in way or () if isinstance(end, str)]
                clustered = list(getattr(recipe, "cluster", ()))
                origin = getattr(recipe, "origin", None)
                points += [*clustered, *([] if origin is None else [origin])]
                looked = [look("point", each, (*pending, key)) for each in points]
                if isinstance(recipe, schema.Offset):
                    looked.append(look("frame", recipe.frame, (*pending, key)))
                lacking = tuple(dict.fromkeys(each for part in looked for each in part.lacking))
                # Three points determine the pose of a cluster.
                if clustered and sum(not part.lacking for part in looked) >= 3:
                    lacking = ()
                options.append(Needs(frozenset().union(*(part.used for part in looked)), lacking))
            # That a joint may be recorded under its own name is no marker that somebody forgot.
            named = [option for option in options if option.lacking != (name,)]
            known[key] = min(named or options, key=lambda each: (len(each.lacking), -len(each.used)))
        return known[key]

    every = [*(look("point", name, ()) for name in joints), *(look("frame", name, ()) for name in frames)]
    lacking = tuple(dict.fromkeys(name for needs in every for name in needs.lacking))
    return Needs(frozenset().union(*(needs.used for needs in every)), lacking)


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
    sections = (marker_map.points, marker_map.joints, marker_map.frames, marker_map.segments)
    wanted: dict[str, None] = {}
    for name in (name for identifying in marker_map.identified_by for name in identifying):
        sides = SIDES if has_side_placeholder(name) else SIDES[:1]
        wanted.update(dict.fromkeys(fill_placeholders(name, SIDE_NAMES[side]) for side in sides))
    for recipe in (recipe for section in sections for recipes in section.values() for recipe in recipes):
        pending = list(recipe.model_dump(exclude={"note", "turns_with"}).items())
        while pending:
            key, value = pending.pop(0)
            if isinstance(value, str):
                wanted[value] = None
            elif isinstance(value, dict) and key == "cluster":
                wanted.update(dict.fromkeys(value))
            elif isinstance(value, dict):
                pending += value.items()
            elif isinstance(value, list | tuple):
                pending += [(key, item) for item in value]
    wanted.update(dict.fromkeys((*marker_map.feet, *(name for pair in marker_map.facing for name in pair))))
    known = {name for section in sections for name in section}
    return [name for name in wanted if name not in known]


def _letters(name: str) -> str:
    """Letters and digits of a name, in small letters."""
    return re.sub(r"[\W_]+", "", name).casefold()


_GROUP = "marker_maps"
# At most this many names of points are listed in an error.
LISTED = 6
# A map for many marker sets: one that is made for a set goes before it.
GENERAL = "anatomical"


def load_map(path: Path) -> MarkerMap:
    """Read a marker map. `path`: YAML file of the map."""
    require_regular_file(path, MotionError)
    try:
        return MarkerMap.model_validate(read_yaml(path, MotionError).value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"]) or "the file"
        raise MotionError(f"{path}: {key}: {first['msg']}") from error


@cache
def ready_maps() -> Mapping[str, MarkerMap]:
    """Read all marker maps that ship with simbench. Returns the maps by name."""
    paths = sorted(resource_dir("marker_maps").glob("*.yaml"), key=lambda path: path.stem)
    return {path.stem: load_map(path) for path in paths}


@cache
def _wanted_points(map_name: str) -> tuple[str, ...]:
    """Points that a shipped map mentions."""
    return tuple(list_wanted_points(ready_maps()[map_name]))


def turns_with_joints(marker_map: MarkerMap) -> bool:
    """Tell whether a map is for skeletons, whose joints have rotations.

    Returns whether a segment turns with a joint.
    """
    recipes = (recipe for options in marker_map.segments.values() for recipe in options)
    return any(getattr(recipe, "turns_with", None) is not None for recipe in recipes)


def choose_map(
    names: Collection[str], requested: str | None, source: str, skeleton: bool | None = None
) -> tuple[str, MarkerMap]:
    """Find the marker map for a recording by the names of its points.

    `names`: names of the recording's points; `requested`: name of a map that ships with simbench, or path of
    a YAML file; None chooses, of the shipped maps that fit, the one with the most identifying names, then the
    one with the most points; `source`: name of the recording in messages; `skeleton`: whether the recording
    is that of a skeleton, for which only maps whose segments turn with joints are chosen, and for markers
    only the others; None chooses among all. Returns `name`: name of the map, or its path.
    """
    fitting = list_fitting_maps(names, requested, skeleton)
    if not fitting:
        raise MotionError(f"{source}: {describe_missing_names(names, requested, skeleton)}")
    return fitting[0]


def list_fitting_maps(
    names: Collection[str], requested: str | None, skeleton: bool | None = None
) -> list[tuple[str, MarkerMap]]:
    """List the marker maps whose identifying names a recording has, those with the most names first.

    `names`: names of the recording's points; `requested`: name of a map that ships with simbench, or path of
    a YAML file; None for all shipped ones; `skeleton`: whether the recording is that of a skeleton; None if
    maps for both kinds are wanted. Returns name or path of each map, and the map. Raises MotionError unknown
    map.
    """
    counted = []
    for name, candidate, _, needs, covered in compare_maps(names, requested, skeleton):
        count = max((len(needed) for needed, lacking in needs if not lacking), default=0)
        if count:
            # A map that is made for a marker set goes before the general one.
            counted.append(((count, name != GENERAL, covered, name), candidate))
    counted.sort(key=lambda entry: entry[0], reverse=True)
    return [(key[-1], candidate) for key, candidate in counted]


def describe_missing_names(
    names: Collection[str], requested: str | None, skeleton: bool | None = None
) -> str:
    """Say which names a recording lacks for the marker map that comes closest.

    `names`: names of the recording's points; `requested`, `skeleton`: as in `list_fitting_maps`. Returns text
    for the user.
    """
    found = []
    for name, candidate, recorded, needs, covered in compare_maps(names, requested, skeleton):
        arms = [[f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")] for side in SIDES]
        for lacking in [lacking for _, lacking in needs if lacking and covered]:
            missing = min((find_needs(candidate, recorded, arm).lacking for arm in arms), key=len) or lacking
            found.append((covered, -len(missing), name, list(missing)))
    what = f"marker map {requested} does not fit" if requested else "no marker map fits its names"
    if found:
        closest = max(found, key=lambda entry: entry[:2])
        reason, listed = f"; {closest[2]} comes closest and lacks ", closest[3]
    else:
        reason, listed = ": it has none of the map's points, but " if requested else ": ", sorted(names)
    more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
    return (
        f"{what}{reason}{', '.join(name[:40] for name in listed[:LISTED])}{more}; ready maps: "
        f"{', '.join(ready_maps())}; declare one, or the path of your own YAML file, as the marker map "
        "(--map)"
    )


def compare_maps(
    names: Collection[str], requested: str | None, skeleton: bool | None
) -> Iterator[tuple[str, MarkerMap, set[str], list[tuple[list[str], list[str]]], int]]:
    """Compare the maps that a request names, one or all shipped ones, with the names of a recording.

    Yields name and map; the points of it that the recording has, under their own name or another one, and its
    other names; the sets of names that identify the map, once for both sides and once for each of them, each
    with those that the recording lacks; and how many of all points that the map mentions it has.
    """
    if requested is None:
        # A map for skeletons has segments that turn with a joint; one for markers, arms that need no joint:
        # each of their segments has a recipe that does not turn with one.
        candidates = {}
        for name, each in ready_maps().items():
            arms = [recipes for segment, recipes in each.segments.items() if segment.endswith("arm")]
            fits = turns_with_joints(each)
            if not skeleton:
                fits = all(any(getattr(r, "turns_with", None) is None for r in recipes) for recipes in arms)
            if skeleton is None or each.in_place or fits:
                candidates[name] = each
    elif requested in ready_maps():
        candidates = {requested: ready_maps()[requested]}
    elif is_plugin(_GROUP, requested, ()):
        path = load_plugin(_GROUP, requested).value
        if not isinstance(path, str | Path):
            raise PluginError(
                f"{requested}: a value of type {type(path).__name__}; allowed: the path of a marker map"
            )
        candidates = {requested: load_map(Path(path))}
    elif requested.endswith((".yaml", ".yml")):
        candidates = {requested: load_map(Path(requested))}
    else:
        raise MotionError(
            f"marker map {requested!r}: unknown; known: {', '.join(ready_maps())}, or the path of a .yaml "
            "file"
        )
    for name, candidate in candidates.items():
        recorded = {*names, *(known for known, _ in find_aliases(names, candidate))}
        sets: list[list[str]] = []
        for identifying in candidate.identified_by:
            common = [point for point in identifying if not has_side_placeholder(point)]
            left, right = (
                [fill_placeholders(point, marks) for point in identifying if has_side_placeholder(point)]
                for marks in SIDE_NAMES.values()
            )
            sets += [[*common, *left, *right], [*common, *left], [*common, *right]] if left else [common]
        needs = [(needed, [point for point in needed if point not in recorded]) for needed in sets]
        wanted = _wanted_points(name) if name in ready_maps() else list_wanted_points(candidate)
        yield name, candidate, recorded, needs, sum(point in recorded for point in wanted)


def find_aliases(names: Collection[str], marker_map: MarkerMap) -> list[tuple[str, str]]:
    """Find the points that the recording has under an alias or, of markers, in another spelling.

    `names`: names of the recording's points. Returns name of each such point in the map, and its alias in the
    recording.
    """
    found = {
        known: alias
        for known, others in marker_map.aliases.items()
        if known not in names
        for alias in reversed(others)
        if alias in names
    }
    # A skeleton's frames depend on who wrote it: its names must be the map's.
    if marker_map.in_place or turns_with_joints(marker_map):
        return list(found.items())
    aliases = {alias: known for known, others in marker_map.aliases.items() for alias in others}
    # What another point already stands for is not taken twice.
    wanted = list_wanted_points(marker_map)
    taken = {*found.values(), *(name for name in wanted if name in names)}
    searched = [name for name in (*wanted, *aliases) if name not in found]
    for point, spelled in find_spellings(names, searched).items():
        known = aliases.get(point, point)
        if known not in names and known not in found and spelled not in taken:
            found[known] = spelled
            taken.add(spelled)
    return list(found.items())
