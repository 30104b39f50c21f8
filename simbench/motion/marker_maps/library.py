"""The marker maps there are, and the one that fits a recording."""

from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

import yaml
from pydantic import ValidationError

from simbench.errors import MotionError
from simbench.motion.marker_maps.schema import MarkerMap, for_side, sided
from simbench.resources import resource_dir
from simbench.robot.sides import SIDES

# Names of lacking points an error lists at most.
LISTED = 6


def map_names() -> list[str]:
    """Names of the ready marker maps, sorted."""
    return sorted(path.stem for path in resource_dir("marker_maps").glob("*.yaml"))


def load_map(path: Path) -> MarkerMap:
    """Read a marker map.

    Parameters
    ----------
    path : pathlib.Path
        Of a YAML file.

    Returns
    -------
    MarkerMap

    Raises
    ------
    MotionError
        Unreadable file, malformed YAML, unknown or missing keys: the message names file and key.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        return MarkerMap.model_validate(data)
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise MotionError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = ".".join(str(step) for step in first["loc"]) or "the file"
        raise MotionError(f"{path}: {key}: {first['msg']}") from error


@cache
def ready_maps() -> Mapping[str, MarkerMap]:
    """All ready marker maps by name."""
    return {name: load_map(resource_dir("marker_maps") / f"{name}.yaml") for name in map_names()}


def choose_map(names: Collection[str], wanted: str | None, source: str) -> tuple[str, MarkerMap]:
    """Find the marker map for a recording.

    Parameters
    ----------
    names : collection of str
        Of the recording's points.
    wanted : str or None
        A ready map's name, or the path of a YAML file; None takes the ready map of which most names are
        there.
    source : str
        Where the recording is from, for messages.

    Returns
    -------
    name : str
    marker_map : MarkerMap

    Raises
    ------
    MotionError
        Unknown map, or points lack: the message lists them.
    """
    if wanted is None:
        candidates = ready_maps()
    elif wanted in ready_maps():
        candidates = {wanted: ready_maps()[wanted]}
    elif wanted.endswith((".yaml", ".yml")):
        candidates = {wanted: load_map(Path(wanted))}
    else:
        raise MotionError(
            f"marker map {wanted!r}: unknown; known: {', '.join(map_names())}, or the path of a .yaml file"
        )
    best: tuple[int, str] | None = None
    closest: tuple[int, int, str, list[str]] | None = None
    for name, candidate in candidates.items():
        there = {*names, *(known for known, _ in renamed(names, candidate))}
        for identifying in candidate.identified_by:
            for needed in _variants(identifying):
                lacking = [point for point in needed if point not in there]
                count = len(needed) - len(lacking)
                if not lacking:
                    best = max(best or (0, ""), (count, name))
                elif count and (closest is None or (-len(lacking), count) > closest[:2]):
                    closest = (-len(lacking), count, name, lacking)
    if best is not None:
        return best[1], candidates[best[1]]
    what = f"marker map {wanted} does not fit" if wanted else "no marker map fits its names"
    if closest is None:
        shown = _listed(sorted(names))
        reason = f": it has none of the map's points, but {shown}" if wanted else f": {shown}"
    else:
        reason = f"; {closest[2]} comes closest and lacks {_listed(closest[3])}"
    raise MotionError(
        f"{source}: {what}{reason}; ready maps: {', '.join(map_names())}; declare one, or the path of your "
        "own YAML file, as the marker map (--map)"
    )


def renamed(names: Collection[str], marker_map: MarkerMap) -> list[tuple[str, str]]:
    """Pairs of a point's name in the map and the alias under which the recording has it."""
    return [
        (known, alias)
        for known, others in marker_map.aliases.items()
        if known not in names
        for alias in others[:]
        if alias in names
    ]


def _variants(identifying: list[str]) -> list[list[str]]:
    """Write out the names for both sides, and for either of them."""
    common = [name for name in identifying if not sided(name)]
    arms = {side: [for_side(name, side) for name in identifying if sided(name)] for side in SIDES}
    if not arms["left"]:
        return [common]
    return [[*common, *arms["left"], *arms["right"]], *([*common, *arms[side]] for side in SIDES)]


def _listed(names: list[str]) -> str:
    short = [name[:40] for name in names[:LISTED]]
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(short)}{more}"
