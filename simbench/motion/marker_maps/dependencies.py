"""Which recorded points a joint or a segment frame of a map needs, and which ones are missing for it."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from simbench.motion.marker_maps import schema
from simbench.motion.marker_maps.schema import MarkerMap


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
            options = [
                _join([look(k, n, (*pending, key)) for k, n in _parts(recipe)], recipe) for recipe in recipes
            ]
            # That a joint may be recorded under its own name is no marker that somebody forgot.
            named = [option for option in options if option.lacking != (name,)]
            known[key] = min(named or options, key=lambda option: len(option.lacking))
        return known[key]

    every = [look("point", name, ()) for name in joints] + [look("frame", name, ()) for name in frames]
    return Needs(
        frozenset().union(*(needs.used for needs in every)),
        tuple(dict.fromkeys(name for needs in every for name in needs.lacking)),
    )


def _parts(recipe: schema.Recipe) -> list[tuple[str, str]]:
    """Points and frames that a recipe refers to."""
    points: list[str] = []
    frames: list[str] = []
    if isinstance(recipe, schema.Mean):
        points += recipe.mean
    elif isinstance(recipe, schema.Offset):
        points += [recipe.start, *(recipe.times or ())]
        frames.append(recipe.frame)
    elif isinstance(recipe, schema.Chord):
        points += [recipe.proximal, recipe.marker, recipe.wand or recipe.distal or ""]
    elif isinstance(recipe, schema.ClusterPoint | schema.ClusterFrame):
        points += recipe.cluster
    elif isinstance(recipe, schema.Axes):
        points += [end for direction in recipe.axes.values() for end in direction if isinstance(end, str)]
    elif isinstance(recipe, schema.Limb):
        for direction in (recipe.along, recipe.thumb, recipe.lateral, recipe.bends_at):
            points += [end for end in direction or () if isinstance(end, str)]
    origin = getattr(recipe, "origin", None)
    if origin is not None:
        points.append(origin)
    return [*(("point", name) for name in points), *(("frame", name) for name in frames)]


def _join(parts: list[Needs], recipe: schema.Recipe) -> Needs:
    """Needs of a recipe from those of what it refers to."""
    used = frozenset().union(*(part.used for part in parts))
    lacking = tuple(dict.fromkeys(name for part in parts for name in part.lacking))
    if isinstance(recipe, schema.ClusterPoint | schema.ClusterFrame):
        # Three points determine the pose of a cluster.
        lacking = lacking if sum(not part.lacking for part in parts) < 3 else ()
    return Needs(used, lacking)
