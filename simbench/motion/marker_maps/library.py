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
    """Find the marker map for a recording.

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
    if requested is None:
        candidates = ready_maps()
    elif requested in ready_maps():
        candidates = {requested: ready_maps()[requested]}
    elif requested.endswith((".yaml", ".yml")):
        candidates = {requested: load_map(Path(requested))}
    else:
        raise MotionError(
            f"marker map {requested!r}: unknown; known: {', '.join(map_names())}, or the path of a .yaml file"
        )
    best: tuple[int, str] | None = None
    closest: tuple[int, int, str, list[str]] | None = None
    for name, candidate in candidates.items():
        recorded = {*names, *(known for known, _ in find_aliases(names, candidate))}
        for identifying in candidate.identified_by:
            for needed in _variants(identifying):
                lacking = [point for point in needed if point not in recorded]
                count = len(needed) - len(lacking)
                if not lacking:
                    best = max(best or (0, ""), (count, name))
                elif count and (closest is None or (-len(lacking), count) > closest[:2]):
                    closest = (-len(lacking), count, name, lacking)
    if best is not None:
        return best[1], candidates[best[1]]
    what = f"marker map {requested} does not fit" if requested else "no marker map fits its names"
    if closest is None:
        shown = _listed(sorted(names))
        reason = f": it has none of the map's points, but {shown}" if requested else f": {shown}"
    else:
        reason = f"; {closest[2]} comes closest and lacks {_listed(closest[3])}"
    raise MotionError(
        f"{source}: {what}{reason}; ready maps: {', '.join(map_names())}; declare one, or the path of your "
        "own YAML file, as the marker map (--map)"
    )


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
