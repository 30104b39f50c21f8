"""Pairs of links that can collide, from random configurations; joints that need not move."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.collision_geometry import build_convex_geometry, count_near, set_collision_pairs
from simbench.robot.scaffold.limb_chains import LimbChain
from simbench.robot.scaffold.robot_tree import Array, RobotTree

FEW, MANY = 300, 2000
"""Numbers of random configurations for all pairs, and for those that touch in none of the first."""
CLEARANCE = 0.004
"""Distance, m, below which links are said to touch in a posture: simulated joints give way a little."""
ALWAYS = 0.9
"""Fraction of the configurations from which two links always touch."""

NEAR, OFTEN = 3, 0.05
"""Links at most so many joints apart that touch in more than this fraction overlap by construction: convex
hulls of links around a joint fill its hollows."""

_WRIST = 0.1
"""Distance between the joints of two links of a chain with one link between them, as a part of the robot's
size, below which they belong to one joint of several axes, such as a wrist: limits keep them apart."""

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class CollisionModel:
    """Convex shapes of a robot, and the pairs that collide in some random configurations."""

    model: pin.Model  # Kinematic model.
    # Shapes, with the pairs that collide in some but not in all random configurations.
    geometry: pin.GeometryModel
    links: tuple[str, ...]
    bodies: tuple[int, ...]


def sample_collisions(
    tree: RobotTree, together: Iterable[frozenset[int]], mirrored: Iterable[tuple[int, int, float]] = ()
) -> CollisionModel:
    """Find the pairs of shapes that collide in some random configurations but not always.

    Convex hulls of the collision shapes are tested in random configurations within the joint limits. Links of
    one body, of neighbouring bodies, and of one hand are no pairs. `together`: groups of bodies that are not
    tested against each other; `mirrored`: left and right joints, and the sign with which the right one
    mirrors the left one.
    """
    try:
        geometry = build_convex_geometry(tree.model, tree.text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(
            f"{tree.urdf.name}: a collision mesh has no convex hull: {' '.join(str(error).split())[:200]}"
        ) from error
    links = tuple(shape.name.rsplit("_", 1)[0] for shape in geometry.geometryObjects)
    bodies = tuple(int(shape.parentJoint) for shape in geometry.geometryObjects)
    groups = [frozenset(group) for group in together]
    for first, second in combinations(range(len(links)), 2):
        if _may_collide(tree, bodies[first], bodies[second], groups):
            geometry.addCollisionPair(pin.CollisionPair(first, second))
    few, many = _random_configurations(tree, list(mirrored))
    rates = count_near(tree.model, geometry, few, 0.0) / len(few)
    pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    never = [pair for pair, rate in zip(pairs, rates, strict=True) if rate == 0.0]
    set_collision_pairs(geometry, never)
    # What touches seldom is looked for in many more configurations.
    seldom = [
        pair for pair, hits in zip(never, count_near(tree.model, geometry, many, 0.0), strict=True) if hits
    ]
    often = [
        pair
        for pair, rate in zip(pairs, rates, strict=True)
        if 0.0 < rate < (OFTEN if _steps_apart(tree, bodies[pair[0]], bodies[pair[1]]) <= NEAR else ALWAYS)
    ]
    set_collision_pairs(geometry, sorted([*often, *seldom]))
    return CollisionModel(tree.model, geometry, links, bodies)


def touching_bodies(
    collisions: CollisionModel, q: Array, clearance: float = CLEARANCE
) -> set[tuple[int, int]]:
    """List the pairs of bodies of which shapes come near each other in a configuration.

    `q` (n,): positions of all joints; `clearance`: distance that counts as near, m.
    """
    hits = count_near(collisions.model, collisions.geometry, q[None], clearance)
    return {
        (collisions.bodies[pair.first], collisions.bodies[pair.second])
        for pair, hit in zip(collisions.geometry.collisionPairs, hits, strict=True)
        if hit
    }


def link_pairs(collisions: CollisionModel, postures: Iterable[Array]) -> Pairs:
    """List the pairs of links that can collide and do not touch in named postures.

    `collisions`: shapes and pairs; `postures` iterable of (n,) array: postures in which what touches is meant
    to touch. Returns names of links, each pair once, in the order of the URDF.
    """
    touching = sum(
        (count_near(collisions.model, collisions.geometry, q[None], CLEARANCE) for q in postures), start=0.0
    )
    touching = np.broadcast_to(touching, len(collisions.geometry.collisionPairs))
    names = [
        (collisions.links[p.first], collisions.links[p.second]) for p in collisions.geometry.collisionPairs
    ]
    touched = {pair for pair, touch in zip(names, touching, strict=True) if touch}
    return tuple(pair for pair in dict.fromkeys(names) if pair not in touched)


def group_pairs(pairs: Pairs) -> list[tuple[list[str], list[str]]]:
    """Write pairs as groups: each link of the first list with each of the second.

    Returns links with the same partners are in one group; every pair occurs once.
    """
    partners: dict[str, list[str]] = defaultdict(list)
    for first, second in pairs:
        partners[first].append(second)
    groups: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for first, seconds in partners.items():
        groups[tuple(seconds)].append(first)
    return [(firsts, list(seconds)) for seconds, firsts in groups.items()]


def _random_configurations(tree: RobotTree, mirrored: list[tuple[int, int, float]]) -> tuple[Array, Array]:
    """Draw a few and many configurations (N, n) within the joint limits; the same for the same robot.

    In half of the many, the right side mirrors the left one: only there hands meet often.
    """
    limits = np.array([tree.limits(joint) for joint in range(1, tree.model.njoints)])
    random = np.random.default_rng(0)
    shares = random.uniform(0.0, 1.0, (FEW + MANY, len(limits)))
    configurations = limits[:, 0] + shares * (limits[:, 1] - limits[:, 0])
    for left, right, sign in mirrored:
        wanted = sign * configurations[FEW::2, left - 1]
        configurations[FEW::2, right - 1] = np.clip(wanted, *limits[right - 1])
    return configurations[:FEW], configurations[FEW:]


def _steps_apart(tree: RobotTree, a: int, b: int) -> int:
    """Count the joints between two bodies."""
    above, below = set(tree.model.supports[a]), set(tree.model.supports[b])
    return len(above ^ below)


def _may_collide(tree: RobotTree, a: int, b: int, groups: list[frozenset[int]]) -> bool:
    """Tell whether two bodies are neither the same, nor neighbours, nor in one group, nor of one wrist."""
    if a == b or any(a in group and b in group for group in groups):
        return False
    if a in (0, b) and b in tree.children[a]:
        return False
    upper, lower = sorted((a, b), key=lambda body: len(tree.model.supports[body]))
    parent = int(tree.model.parents[lower])
    if parent == upper:
        return False
    if not parent or not upper or int(tree.model.parents[parent]) != upper:
        return True
    distance = np.linalg.norm(tree.poses[lower].translation - tree.poses[upper].translation)
    return bool(distance > _WRIST * tree.size)


_HELD_RADIUS = 0.0125
"""Distance of a sliding finger from where it is closed, m: half the thickness of what hands hold."""


@dataclass(frozen=True)
class FixedParts:
    """Joints that are fixed, and what becomes of the links."""

    positions: dict[str, float]  # Position of each joint that is fixed, rad or m.
    carriers: dict[str, str]
    joints: dict[str, str]  # For each link, the joint that moves it; empty for links that nothing moves.

    def merged(self, pairs: Iterable[tuple[str, str]]) -> Pairs:
        """Name the links that are left in pairs of links, and leave out pairs that no joint moves apart.

        Returns pairs of the links that are left, each once.
        """
        named = ((self.carriers[a], self.carriers[b]) for a, b in pairs)
        return tuple(dict.fromkeys((a, b) for a, b in named if self.joints[a] != self.joints[b]))


def find_fixed_parts(tree: RobotTree, arms: tuple[LimbChain, ...], moving: Collection[str]) -> FixedParts:
    """Fix the joints that belong to no trunk, arm or head.

    Joints stay at zero, or at their limit nearest to it. A sliding finger stays 12.5 mm from where it meets
    the other, so that a bar fits between them. Returns the joints, and what becomes of the links.
    """
    names = tree.model.names
    positions = {
        names[joint]: float(tree.rest[joint - 1])
        for joint in range(1, tree.model.njoints)
        if names[joint] not in moving
    }
    for arm in arms:
        positions |= {
            names[joint]: _finger_position(tree, joint, arm)
            for joint in arm.fingers
            if names[joint] in positions and not tree.is_rotation(joint)
        }
    above = {joint.child: joint for joint in tree.urdf.joints}
    carriers, joints = {}, {}
    for link in tree.urdf.links:
        name = link.name
        while name in above and above[name].name in positions:
            name = above[name].parent
        carriers[link.name] = name
        while name in above and (above[name].kind == "fixed" or above[name].name in positions):
            name = above[name].parent
        joints[link.name] = above[name].name if name in above else ""
    return FixedParts(positions, carriers, joints)


def _finger_position(tree: RobotTree, joint: int, arm: LimbChain) -> float:
    """Position of a sliding finger at which the hand is open as far as a bar is thick."""
    lower, upper = tree.limits(joint)
    centres = [
        tree.poses[each].act(np.mean(tree.points[each], axis=0) if len(tree.points[each]) else np.zeros(3))
        for each in arm.fingers
    ]
    middle = np.mean(centres, axis=0)
    place = centres[arm.fingers.index(joint)]
    outward = float((place - middle) @ tree.axis(joint))
    opened = min(_HELD_RADIUS, upper - lower)
    return float(lower + opened if outward >= 0.0 else upper - opened)
