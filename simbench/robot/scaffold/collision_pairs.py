"""Pairs of links that can collide, from random configurations."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pinocchio as pin

from simbench.robot.native_output import quiet_native_output
from simbench.robot.scaffold.tree import Array, RobotTree

SAMPLES = 400
"""Number of random configurations."""
ALWAYS = 0.9
"""Fraction of the configurations from which two links always touch."""

Pairs = tuple[tuple[str, str], ...]


def find_collision_pairs(
    tree: RobotTree, postures: Iterable[Array], together: Iterable[frozenset[int]]
) -> Pairs:
    """Find the pairs of links that collide in some configurations, but neither always nor in named postures.

    Convex hulls of the collision shapes are tested in random configurations within the joint limits. Links of
    one body, of neighbouring bodies, and of one hand are no pairs.

    Parameters
    ----------
    tree : RobotTree
        The robot.
    postures : iterable of (n,) array
        Postures in which what touches is meant to touch.
    together : iterable of frozenset of int
        Groups of bodies that are not tested against each other.

    Returns
    -------
    tuple of (str, str)
        Names of links, in the order of the URDF.
    """
    model = tree.model
    geometry = convex_geometry(tree)
    links = [shape.name.rsplit("_", 1)[0] for shape in geometry.geometryObjects]
    bodies = [int(shape.parentJoint) for shape in geometry.geometryObjects]
    groups = [frozenset(group) for group in together]
    for first, second in combinations(range(len(links)), 2):
        if _may_collide(tree, bodies[first], bodies[second], groups):
            geometry.addCollisionPair(pin.CollisionPair(first, second))
    if not len(geometry.collisionPairs):
        return ()
    named = list(postures)
    hits = _count_hits(model, geometry, _random_configurations(tree))
    touching = _count_hits(model, geometry, np.array(named)) if named else np.zeros_like(hits)
    collides: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for pair, hit, touch in zip(geometry.collisionPairs, hits, touching, strict=True):
        names = links[pair.first], links[pair.second]
        collides[names][0] = max(collides[names][0], float(hit) / SAMPLES)
        collides[names][1] += float(touch)
    return tuple(names for names, (rate, touch) in collides.items() if 0.0 < rate < ALWAYS and not touch)


def group_pairs(pairs: Pairs) -> list[tuple[list[str], list[str]]]:
    """Write pairs as groups: each link of the first list with each of the second.

    Parameters
    ----------
    pairs : tuple of (str, str)
        Pairs of links.

    Returns
    -------
    list of (list of str, list of str)
        Links with the same partners are in one group; every pair occurs once.
    """
    partners: dict[str, list[str]] = defaultdict(list)
    for first, second in pairs:
        partners[first].append(second)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for first, seconds in partners.items():
        groups[tuple(seconds)].append(first)
    return [(firsts, list(seconds)) for seconds, firsts in groups.items()]


def convex_geometry(tree: RobotTree) -> pin.GeometryModel:
    """Build the collision shapes of a robot as convex shapes.

    Parameters
    ----------
    tree : RobotTree
        The robot.

    Returns
    -------
    pinocchio.GeometryModel
        Shapes without pairs; meshes are replaced by their convex hulls.
    """
    with quiet_native_output():
        geometry = pin.buildGeomFromUrdfString(tree.model, tree.text, pin.GeometryType.COLLISION)
        for shape in geometry.geometryObjects:
            if hasattr(shape.geometry, "buildConvexRepresentation"):
                shape.geometry.buildConvexRepresentation(False)
                shape.geometry = shape.geometry.convex
    return geometry


def touching_pairs(tree: RobotTree, q: Array, pairs: Pairs) -> Pairs:
    """List the pairs of links that touch in a configuration.

    Parameters
    ----------
    tree : RobotTree
        The robot.
    q : (n,) array
        Positions of all joints.
    pairs : tuple of (str, str)
        Pairs to test.

    Returns
    -------
    tuple of (str, str)
        Those of the pairs that touch.
    """
    geometry = convex_geometry(tree)
    links = [shape.name.rsplit("_", 1)[0] for shape in geometry.geometryObjects]
    wanted = {frozenset(pair) for pair in pairs}
    for first, second in combinations(range(len(links)), 2):
        if frozenset((links[first], links[second])) in wanted:
            geometry.addCollisionPair(pin.CollisionPair(first, second))
    hits = _count_hits(tree.model, geometry, q[None]) if len(geometry.collisionPairs) else []
    return tuple(
        (links[pair.first], links[pair.second])
        for pair, hit in zip(geometry.collisionPairs, hits, strict=True)
        if hit
    )


def _random_configurations(tree: RobotTree) -> Array:
    """Configurations (SAMPLES, n) within the joint limits; the same for the same robot."""
    limits = np.array([tree.limits(joint) for joint in range(1, tree.model.njoints)])
    random = np.random.default_rng(0)
    return limits[:, 0] + random.uniform(0.0, 1.0, (SAMPLES, len(limits))) * (limits[:, 1] - limits[:, 0])


def _count_hits(model: pin.Model, geometry: pin.GeometryModel, configurations: Array) -> Array:
    """In how many configurations each pair collides."""
    data, placed = model.createData(), geometry.createData()
    hits = np.zeros(len(geometry.collisionPairs))
    for q in configurations:
        pin.computeCollisions(model, data, geometry, placed, q, False)
        hits += [result.isCollision() for result in placed.collisionResults]
    return hits


def _may_collide(tree: RobotTree, a: int, b: int, groups: list[frozenset[int]]) -> bool:
    """Tell whether two bodies are neither the same, nor neighbours, nor in one group."""
    if a == b or any(a in group and b in group for group in groups):
        return False
    if a in (0, b) and b in tree.children[a]:
        return False
    parents = tree.model.parents
    return not (int(parents[a]) == b or int(parents[b]) == a)
