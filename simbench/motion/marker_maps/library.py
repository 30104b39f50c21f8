"""The library of marker maps, and the choice of the one that fits a recording."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from pydantic import ValidationError

from simbench.errors import MotionError
from simbench.files.documents.yaml_document import read_yaml
from simbench.files.input_files import require_regular_file
from simbench.motion.marker_maps.schema import MarkerMap, fill_side, has_side_placeholder
from simbench.resources import resource_dir
from simbench.robot.sides import SIDES

# At most this many names of points are listed in an error.
LISTED = 6


def map_names() -> list[str]:
    """List the marker maps that ship with simbench.

    Returns
    -------
    list of str
        Their names, sorted.
    """
    return sorted(path.stem for path in resource_dir("marker_maps").glob("*.yaml"))


def load_map(path: Path) -> MarkerMap:
    """Read a marker map.

    Parameters
    ----------
    path : pathlib.Path
        YAML file of the map.

    Returns
    -------
    MarkerMap
        The map.

    Raises
    ------
    MotionError
        Unreadable file, malformed YAML, unknown or missing keys: the message names file and key.
    """
    require_regular_file(path, MotionError)
    try:
        return MarkerMap.model_validate(read_yaml(path, MotionError).value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"]) or "the file"
        raise MotionError(f"{path}: {key}: {first['msg']}") from error


@cache
def ready_maps() -> Mapping[str, MarkerMap]:
    """Read all marker maps that ship with simbench.

    Returns
    -------
    mapping of str to MarkerMap
        The maps by name.
    """
    return {name: load_map(resource_dir("marker_maps") / f"{name}.yaml") for name in map_names()}


def choose_map(names: Collection[str], requested: str | None, source: str) -> tuple[str, MarkerMap]:
    """Find the marker map for a recording by the names of its points.

    Parameters
    ----------
    names : collection of str
        Names of the recording's points.
    requested : str or None
        Name of a map that ships with simbench, or path of a YAML file; None chooses, of the shipped maps that
        fit, the one with the most identifying names.
    source : str
        Name of the recording in messages.

    Returns
    -------
    name : str
        Name of the map, or its path.
    marker_map : MarkerMap
        The map.

    Raises
    ------
    MotionError
        Unknown map, or points are missing: the message lists them.
    """
    fitting = list_fitting_maps(names, requested)
    if not fitting:
        raise MotionError(f"{source}: {describe_missing_names(names, requested)}")
    return fitting[0]


def list_fitting_maps(names: Collection[str], requested: str | None) -> list[tuple[str, MarkerMap]]:
    """List the marker maps whose identifying names a recording has, those with the most names first.

    Parameters
    ----------
    names : collection of str
        Names of the recording's points.
    requested : str or None
        Name of a map that ships with simbench, or path of a YAML file; None for all shipped ones.

    Returns
    -------
    list of (str, MarkerMap)
        Name or path of each map, and the map.

    Raises
    ------
    MotionError
        Unknown map.
    """
    counted = [
        (count, name, candidate)
        for name, candidate in _candidates(requested).items()
        for count in [
            max((len(needed) for needed, lacking in _needs(names, candidate) if not lacking), default=0)
        ]
        if count
    ]
    counted.sort(key=lambda entry: entry[:2], reverse=True)
    return [(name, candidate) for _, name, candidate in counted]


def describe_missing_names(names: Collection[str], requested: str | None) -> str:
    """Say which names a recording lacks for the marker map that comes closest.

    Parameters
    ----------
    names : collection of str
        Names of the recording's points.
    requested : str or None
        As in `list_fitting_maps`.

    Returns
    -------
    str
        Text for the user.
    """
    found = [
        (-len(lacking), len(needed) - len(lacking), name, lacking)
        for name, candidate in _candidates(requested).items()
        for needed, lacking in _needs(names, candidate)
        if lacking and len(lacking) < len(needed)
    ]
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


def _candidates(requested: str | None) -> Mapping[str, MarkerMap]:
    """Return the maps that a request names: one, or all shipped ones."""
    if requested is None:
        return ready_maps()
    if requested in ready_maps():
        return {requested: ready_maps()[requested]}
    if requested.endswith((".yaml", ".yml")):
        return {requested: load_map(Path(requested))}
    raise MotionError(
        f"marker map {requested!r}: unknown; known: {', '.join(map_names())}, or the path of a .yaml file"
    )


def _needs(names: Collection[str], candidate: MarkerMap) -> list[tuple[list[str], list[str]]]:
    """List the sets of names that identify a map, each with those that a recording lacks."""
    recorded = {*names, *(known for known, _ in find_aliases(names, candidate))}
    return [
        (needed, [point for point in needed if point not in recorded])
        for identifying in candidate.identified_by
        for needed in _variants(identifying)
    ]


def find_aliases(names: Collection[str], marker_map: MarkerMap) -> list[tuple[str, str]]:
    """Find the points that the recording has under an alias.

    Parameters
    ----------
    names : collection of str
        Names of the recording's points.
    marker_map : MarkerMap
        The map, with its aliases.

    Returns
    -------
    list of (str, str)
        Name of each such point in the map, and its alias in the recording.
    """
    return [
        (known, alias)
        for known, others in marker_map.aliases.items()
        if known not in names
        for alias in others[:]
        if alias in names
    ]


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
