"""The library of marker maps, and the choice of the one that fits a recording."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from simbench.errors import MotionError, PluginError
from simbench.files.text import require_regular_file
from simbench.files.yaml_document import read_yaml
from simbench.motion.marker_maps.dependencies import find_needs
from simbench.motion.marker_maps.schema import MarkerMap, fill_side, has_side_placeholder
from simbench.motion.marker_maps.spelling import find_spellings, list_wanted_points
from simbench.plugins.declarations import is_plugin
from simbench.plugins.loading import load_plugin
from simbench.resources import resource_dir
from simbench.robot.sides import SIDES

_GROUP = "marker_maps"
# At most this many names of points are listed in an error.
LISTED = 6
# A map for many marker sets: one that is made for a set goes before it.
GENERAL = "anatomical"


def map_names() -> list[str]:
    """List the marker maps that ship with simbench. Returns their names, sorted."""
    return sorted(path.stem for path in resource_dir("marker_maps").glob("*.yaml"))


def load_map(path: Path) -> MarkerMap:
    """Read a marker map. `path`: YAML file of the map."""
    require_regular_file(path, MotionError)
    try:
        return MarkerMap.model_validate(read_yaml(path, MotionError).value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"]) or "the file"
        raise MotionError(f"{path}: {key}: {first['msg']}") from error


def _map_file(reference: str) -> Path:
    """Find the file of a plug-in's marker map: the plug-in is its path."""
    path = load_plugin(_GROUP, reference).value
    if not isinstance(path, str | Path):
        raise PluginError(
            f"{reference}: a value of type {type(path).__name__}; allowed: the path of a marker map"
        )
    return Path(path)


@cache
def ready_maps() -> Mapping[str, MarkerMap]:
    """Read all marker maps that ship with simbench. Returns the maps by name."""
    return {name: load_map(resource_dir("marker_maps") / f"{name}.yaml") for name in map_names()}


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


def _fits_kind(marker_map: MarkerMap, skeleton: bool | None) -> bool:
    """Tell whether a map is for the kind of recording: markers, or a skeleton; None takes both.

    A map for skeletons has segments that turn with a joint; one for markers has arms that need no joint.
    """
    if skeleton is None or marker_map.in_place:
        return True
    recipes = [options for name, options in marker_map.segments.items() if name.endswith("arm")]
    if skeleton:
        return turns_with_joints(marker_map)
    return not any(
        all(getattr(recipe, "turns_with", None) is not None for recipe in options) for options in recipes
    )


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
    for name, candidate in _candidates(requested, skeleton).items():
        needs, covered = _needs(names, name, candidate)
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

    `names`: names of the recording's points; `requested`: as in `list_fitting_maps`; `skeleton`: as in
    `list_fitting_maps`. Returns text for the user.
    """
    found = []
    for name, candidate in _candidates(requested, skeleton).items():
        needs, covered = _needs(names, name, candidate)
        for _, lacking in needs:
            if lacking and covered:
                missing = _lacking_for_an_arm(candidate, _recorded(names, candidate)) or lacking
                found.append((covered, -len(missing), name, missing))
    what = f"marker map {requested} does not fit" if requested else "no marker map fits its names"
    if not found:
        shown = _listed(sorted(names))
        reason = f": it has none of the map's points, but {shown}" if requested else f": {shown}"
    else:
        closest = max(found, key=lambda entry: entry[:2])
        reason = f"; {closest[2]} comes closest and lacks {_listed(closest[3])}"
    return (
        f"{what}{reason}; ready maps: {', '.join(map_names())}; declare one, or the path of your "
        "own YAML file, as the marker map (--map)"
    )


def _candidates(requested: str | None, skeleton: bool | None) -> Mapping[str, MarkerMap]:
    """Return the maps that a request names: one, or all shipped ones."""
    if requested is None:
        return {name: each for name, each in ready_maps().items() if _fits_kind(each, skeleton)}
    if requested in ready_maps():
        return {requested: ready_maps()[requested]}
    if is_plugin(_GROUP, requested, ()):
        return {requested: load_map(_map_file(requested))}
    if requested.endswith((".yaml", ".yml")):
        return {requested: load_map(Path(requested))}
    raise MotionError(
        f"marker map {requested!r}: unknown; known: {', '.join(map_names())}, or the path of a .yaml file"
    )


def _recorded(names: Collection[str], candidate: MarkerMap) -> set[str]:
    """Points of a map that a recording has, under their own name or another one, and its other names."""
    return {*names, *(known for known, _ in find_aliases(names, candidate))}


def _needs(
    names: Collection[str], map_name: str, candidate: MarkerMap
) -> tuple[list[tuple[list[str], list[str]]], int]:
    """List the sets of names that identify a map, each with those that a recording lacks.

    Also return how many of all points that the map mentions the recording has.
    """
    recorded = _recorded(names, candidate)
    wanted = _wanted_points(map_name) if map_name in ready_maps() else list_wanted_points(candidate)
    needs = [
        (needed, [point for point in needed if point not in recorded])
        for identifying in candidate.identified_by
        for needed in _variants(identifying)
    ]
    return needs, sum(point in recorded for point in wanted)


def _lacking_for_an_arm(marker_map: MarkerMap, recorded: Collection[str]) -> list[str]:
    """Points that are missing for the arm that lacks fewest."""
    arms = [
        find_needs(marker_map, recorded, [f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")])
        for side in SIDES
    ]
    return list(min(arms, key=lambda arm: len(arm.lacking)).lacking)


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


def _variants(identifying: list[str]) -> list[list[str]]:
    """Fill the placeholders of identifying names: once for both sides, and once for each of them."""
    common = [name for name in identifying if not has_side_placeholder(name)]
    arms = {
        side: [fill_side(name, side) for name in identifying if has_side_placeholder(name)] for side in SIDES
    }
    if not arms["left"]:
        return [common]
    return [[*common, *arms["left"], *arms["right"]], *([*common, *arms[side]] for side in SIDES)]


def _listed(names: list[str]) -> str:
    """List names for a message, shortened."""
    short = [name[:40] for name in names[:LISTED]]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(short)}{more}"
