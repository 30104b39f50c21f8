"""Pairs of links that can collide, from random configurations; joints that need not move."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import combinations

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.collision_geometry import build_convex_geometry, count_near, set_collision_pairs
from simbench.robot.scaffold.limb_chains import LimbChain
from simbench.robot.scaffold.robot_tree import Array, RobotTree

# Numbers of random configurations for all pairs, and for those that touch in none of the first.
FEW, MANY = 300, 2000
# Distance, m, below which links are said to touch in a posture: simulated joints give way a little.
CLEARANCE = 0.004
ALWAYS = 0.9  # Fraction of the configurations from which two links always touch.

# Links at most so many joints apart that touch in more than this fraction overlap by construction: convex
# hulls of links around a joint fill its hollows.
NEAR, OFTEN = 3, 0.05

# Distance between the joints of two links of a chain with one link between them, as a part of the robot's
# size, below which they belong to one joint of several axes, such as a wrist: limits keep them apart.
_WRIST = 0.1
# Distance of a sliding finger from where it is closed, m: half the thickness of what hands hold.
_HELD_RADIUS = 0.0125

Pairs = tuple[tuple[str, str], ...]


def sample_collisions(
    tree: RobotTree, together: Collection[frozenset[int]], mirrored: Iterable[tuple[int, int, float]] = ()
) -> pin.GeometryModel:
    """Find the pairs of shapes that collide in some random configurations but not always.

    Convex hulls of the collision shapes are tested in random configurations within the joint limits, the same
    for the same robot. Links of one body, of neighbouring bodies, and of one hand are no pairs. `together`:
    groups of bodies that are not tested against each other; `mirrored`: left and right joints, and the sign
    with which the right one mirrors the left one.
    """
    try:
        geometry = build_convex_geometry(tree.model, tree.text)
    except (ValueError, RuntimeError) as error:
        raise RobotError(
            f"{tree.urdf.name}: a collision mesh has no convex hull: {' '.join(str(error).split())[:200]}"
        ) from error
    bodies = [int(shape.parentJoint) for shape in geometry.geometryObjects]
    for first, second in combinations(range(len(bodies)), 2):
        a, b = bodies[first], bodies[second]
        if a == b or any(a in group and b in group for group in together):
            continue
        upper, lower = sorted((a, b), key=lambda body: len(tree.model.supports[body]))
        parent = int(tree.model.parents[lower])
        if parent == upper:
            continue
        between = parent and upper and int(tree.model.parents[parent]) == upper
        if not between or tree.distance(upper, lower) > _WRIST * tree.size:
            geometry.addCollisionPair(pin.CollisionPair(first, second))
    limits = np.array([tree.limits(joint) for joint in range(1, tree.model.njoints)])
    shares = np.random.default_rng(0).uniform(0.0, 1.0, (FEW + MANY, len(limits)))
    configurations = limits[:, 0] + shares * (limits[:, 1] - limits[:, 0])
    # In half of the many, the right side mirrors the left one: only there hands meet often.
    for left, right, sign in mirrored:
        wanted = sign * configurations[FEW::2, left - 1]
        configurations[FEW::2, right - 1] = np.clip(wanted, *limits[right - 1])
    rates = count_near(tree.model, geometry, configurations[:FEW], 0.0) / FEW
    pairs = [(pair.first, pair.second) for pair in geometry.collisionPairs]
    never = [pair for pair, rate in zip(pairs, rates, strict=True) if rate == 0.0]
    set_collision_pairs(geometry, never)
    # What touches seldom is looked for in many more configurations.
    hits = count_near(tree.model, geometry, configurations[FEW:], 0.0)
    found = [pair for pair, hit in zip(never, hits, strict=True) if hit]
    links = [shape.name.rsplit("_", 1)[0] for shape in geometry.geometryObjects]
    overlapping = set()
    for pair, rate in zip(pairs, rates, strict=True):
        # Joints above the one body and not above the other lie between them.
        above, below = (set(tree.model.supports[bodies[shape]]) for shape in pair)
        if rate >= (OFTEN if len(above ^ below) <= NEAR else ALWAYS):
            overlapping.add(frozenset((links[pair[0]], links[pair[1]])))
        elif rate > 0.0:
            found.append(pair)
    # The engines know pairs of links: where one of a link's shapes overlaps by construction, none is a pair.
    found = [(a, b) for a, b in found if frozenset((links[a], links[b])) not in overlapping]
    set_collision_pairs(geometry, sorted(found))
    return geometry


def touching_bodies(
    tree: RobotTree, collisions: pin.GeometryModel, q: Array, clearance: float = CLEARANCE
) -> set[tuple[int, int]]:
    """List the pairs of bodies of which shapes come near each other in a configuration.

    `collisions`: shapes and pairs; `q` (n,): positions of all joints; `clearance`: distance that counts as
    near, m.
    """
    shapes = collisions.geometryObjects
    hits = count_near(tree.model, collisions, q[None], clearance)
    return {
        (int(shapes[pair.first].parentJoint), int(shapes[pair.second].parentJoint))
        for pair, hit in zip(collisions.collisionPairs, hits, strict=True)
        if hit
    }


def link_pairs(tree: RobotTree, collisions: pin.GeometryModel, postures: Iterable[Array]) -> Pairs:
    """List the pairs of links that can collide and do not touch in named postures.

    `collisions`: shapes and pairs; `postures` iterable of (n,) array: postures in which what touches is meant
    to touch. Returns names of links, each pair once, in the order of the URDF.
    """
    touching = count_near(tree.model, collisions, np.array([*postures]), CLEARANCE)
    links = [shape.name.rsplit("_", 1)[0] for shape in collisions.geometryObjects]
    names = [(links[pair.first], links[pair.second]) for pair in collisions.collisionPairs]
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


def find_fixed_parts(
    tree: RobotTree, arms: tuple[LimbChain, ...], moving: Collection[str]
) -> tuple[dict[str, float], dict[str, str], dict[str, str]]:
    """Fix the joints of a robot with a fixed base that belong to no trunk, arm or head: wheels, fingers.

    Joints stay at zero, or at their limit nearest to it. A sliding finger stays 12.5 mm from where it meets
    the other, so that a bar fits between them. Returns the position of each joint that is fixed, rad or m;
    for each link the link of which it becomes part, and the joint that moves it, empty if none does.
    """
    names = tree.model.names
    positions = {
        names[joint]: float(tree.rest[joint - 1])
        for joint in range(1, tree.model.njoints)
        if names[joint] not in moving
    }
    for arm in arms:
        centres = {
            each: tree.poses[each].act(
                np.mean(tree.points[each], axis=0) if len(tree.points[each]) else np.zeros(3)
            )
            for each in arm.fingers
        }
        for joint in arm.fingers:
            if names[joint] in positions and not tree.is_rotation(joint):
                # The hand is open as far as a bar is thick.
                lower, upper = tree.limits(joint)
                middle = np.mean([*centres.values()], axis=0)
                outward = float((centres[joint] - middle) @ tree.axis(joint))
                opened = min(_HELD_RADIUS, upper - lower)
                positions[names[joint]] = float(lower + opened if outward >= 0.0 else upper - opened)
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
    return positions, carriers, joints
