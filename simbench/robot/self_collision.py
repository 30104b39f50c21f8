"""Pairs of links that can collide, derived where a description lists none."""

import hashlib
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import combinations
from pathlib import Path

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.files.json_document import parse_json
from simbench.files.storage import write_whole
from simbench.resources import user_cache_dir
from simbench.robot.convex_geometry import build_convex_geometry, count_near, set_collision_pairs

Vector = NDArray[np.float64]
Pairs = tuple[tuple[str, str], ...]

_FIRST, _ALL = 20, 2000
"""Numbers of configurations in which all pairs, and those not yet seen near each other, are examined."""
_NEAR = 0.03
"""Distance from which two links count as near each other, m."""
_ALWAYS = 0.5
"""Fraction of the first configurations from which two links count as always near: hulls that overlap."""
_LARGEST_RANGE = np.pi
"""Range from which joints without limits are drawn, rad or m."""


_RULE = 1
"""Number of the rule; a change of it makes kept pairs obsolete."""


def find_collision_pairs(
    model: pin.Model, urdf_text: str, postures: Sequence[Vector], hands: Sequence[frozenset[str]], where: str
) -> Pairs:
    """Find the pairs of links that can collide, kept from the last time or derived.

    They are kept in the user's cache folder by the content that they follow from: with large meshes they take
    a second or two. Returns names of links, each pair once. Raises RobotError if a collision mesh has no
    convex hull.
    """
    folder = user_cache_dir()
    if folder is None:
        return derive_collision_pairs(model, urdf_text, postures, hands, where)
    path = folder / "simbench" / "collision_pairs" / f"{_content_key(urdf_text, postures, hands)}.json"
    with suppress(OSError, ValueError, TypeError, RobotError):
        kept = parse_json(path.read_text(encoding="utf-8"), str(path), RobotError)
        return tuple((str(first), str(second)) for first, second in kept)
    pairs = derive_collision_pairs(model, urdf_text, postures, hands, where)
    # A folder that cannot be written costs time, not the run.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, json.dumps(pairs))
    return pairs


def _content_key(urdf_text: str, postures: Sequence[Vector], hands: Sequence[frozenset[str]]) -> str:
    """Compute a key of everything that the pairs follow from, mesh files by size and time of change."""
    meshes = []
    for name in sorted(set(re.findall(r'filename="([^"]+)"', urdf_text))):
        with suppress(OSError):
            status = Path(name).stat()
            meshes.append((name, status.st_size, status.st_mtime_ns))
    content = (
        *(_RULE, pin.__version__, np.__version__, urdf_text, meshes),
        *([posture.tolist() for posture in postures], [sorted(hand) for hand in hands]),
    )
    return hashlib.sha256(repr(content).encode()).hexdigest()


def derive_collision_pairs(
    model: pin.Model, urdf_text: str, postures: Sequence[Vector], hands: Sequence[frozenset[str]], where: str
) -> Pairs:
    """Derive the pairs of links that can collide from random configurations within the joint limits.

    Left out are links that no joint or one joint alone moves against each other, links of one hand, links
    that touch in a named posture or nearly always, and links that never come nearer than 30 mm. Meshes count
    as their convex hulls, as in the simulation. The configurations are the same for the same robot.
    `urdf_text`: its URDF, with meshes by absolute path; `postures` sequence of (nq,) array: configurations in
    which links touch by design, if at all; `where`: file and key, for messages. Returns names of links, each
    pair once. Raises RobotError if a collision mesh has no convex hull.
    """
    geometry = _convex_geometry(model, urdf_text, where)
    shapes = geometry.geometryObjects
    links = [shape.name.rpartition("_")[0] for shape in shapes]
    pairs = [
        (first, second)
        for first, second in combinations(range(len(shapes)), 2)
        if _moves_freely(model, shapes[first].parentJoint, shapes[second].parentJoint)
        and not any(links[first] in hand and links[second] in hand for hand in hands)
    ]
    touching = set(_near(model, geometry, pairs, postures, 0.0))
    pairs = [pair for pair in pairs if pair not in touching]
    configurations = _random_configurations(model)
    counts = _near(model, geometry, pairs, configurations[:_FIRST], _NEAR)
    always = {pair for pair in counts if counts[pair] >= _ALWAYS * _FIRST}
    found = set(counts) - always
    unseen = [pair for pair in pairs if pair not in counts]
    for begin in range(_FIRST, _ALL, _FIRST):
        more = _near(model, geometry, unseen, configurations[begin : begin + _FIRST], _NEAR)
        found |= set(more)
        unseen = [pair for pair in unseen if pair not in more]
    off = {frozenset((links[a], links[b])) for a, b in touching | always}
    named = dict.fromkeys((links[a], links[b]) for a, b in sorted(found))
    return tuple(pair for pair in named if frozenset(pair) not in off)


def _convex_geometry(model: pin.Model, urdf_text: str, where: str) -> pin.GeometryModel:
    """Build the collision shapes of a robot; meshes are replaced by their convex hulls."""
    try:
        return build_convex_geometry(model, urdf_text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(
            f"{where}: cannot be derived, because a collision mesh has no convex hull: "
            f"{' '.join(str(error).split())[:200]}; list the pairs, or [] for none"
        ) from error


def _moves_freely(model: pin.Model, first: int, second: int) -> bool:
    """Return whether more than one joint moves two bodies against each other."""
    return first != second and model.parents[first] != second and model.parents[second] != first


def _random_configurations(model: pin.Model) -> Vector:
    """Draw configurations (N, nq) within the joint limits, with the root at rest."""
    lower = np.maximum(model.lowerPositionLimit, -_LARGEST_RANGE)
    upper = np.maximum(lower, np.minimum(model.upperPositionLimit, _LARGEST_RANGE))
    drawn = np.random.default_rng(0).uniform(lower, upper, (_ALL, model.nq))
    root = 7 if model.njoints > 1 and model.joints[1].nv == 6 else 0
    drawn[:, :root] = pin.neutral(model)[:root]
    return np.array([pin.normalize(model, each) for each in drawn])


def _near(
    model: pin.Model,
    geometry: pin.GeometryModel,
    pairs: Sequence[tuple[int, int]],
    configurations: Sequence[Vector] | Vector,
    margin: float,
) -> dict[tuple[int, int], int]:
    """Count the configurations in which pairs of shapes are within `margin`, m; others are left out."""
    set_collision_pairs(geometry, pairs)
    counts = count_near(model, geometry, np.asarray(configurations), margin)
    return {pair: int(count) for pair, count in zip(pairs, counts, strict=True) if count}
