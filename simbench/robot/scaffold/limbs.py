"""Limbs: similar chains of joints on one body, and whether they are legs or arms."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from simbench.robot.scaffold.names import parts_in_name
from simbench.robot.scaffold.tree import Array, RobotTree

_LEAST_REACH = 0.2
"""Least length of a limb, as a fraction of the robot's size: eyes, fingers and casters are shorter."""
_ALIKE = 0.06
"""Largest difference of two similar limbs, as a fraction of their length."""
_COMMON = 4
"""Number of steps between joints that limbs with different hands have in common."""
_FLOOR = 0.06
"""Distance from the lowest point of the robot that counts as on the floor, as a fraction of its size."""


@dataclass(frozen=True)
class Limbs:
    """Limbs of a robot, by their first joints."""

    legs: tuple[int, ...]  # Two legs of a biped, in any order; empty if it is none.
    arms: tuple[int, ...]  # Two arms in any order, or one; empty if there are none.
    feet_count: int  # Number of limbs that reach the floor.
    leg_reason: str  # `leg_reason`, `arm_reason`: how legs and arms were told apart.
    arm_reason: str
    clusters: int  # Number of groups of similar chains.
    sure: bool  # Whether names and geometry agree.


def find_limbs(tree: RobotTree) -> Limbs:
    """Find the legs and arms of a robot.

    Limbs are groups of chains on the same body with the same number of joints, the same lengths and about the
    same masses. Legs reach the lowest point of the robot in its zero configuration; arms do not. Returns
    first joints of legs and arms.
    """
    found = _find_limbs(tree)
    skeleton = replace(tree, shapes=tuple(() for _ in tree.shapes))
    by_joints = _find_limbs(skeleton)
    # Shapes of the root may be placeholders that reach below the feet.
    return by_joints if by_joints.legs and by_joints.arms and not found.feet_count else found


def _find_limbs(tree: RobotTree) -> Limbs:
    """Find legs and arms from the lowest points of shapes and joints."""
    groups = _similar_groups(tree)
    on_floor = [group for group in groups if _reaches_floor(tree, group, groups)]
    count = sum(map(len, on_floor))
    legs: tuple[int, ...] = ()
    arms: tuple[int, ...] = ()
    pairs = [group for group in groups if len(group) == 2]
    leg_reason = "similar chains on one body that reach the lowest point of the robot"
    arm_reason, sure = "similar chains on one body that do not reach the lowest point of the robot", True
    if count == 2:
        pair = on_floor[0]
        is_arm, sure = _looks_like_arms(tree, pair, len(pairs) == 1)
        if is_arm:
            arms, count = pair, 0
            arm_reason = "similar chains on one body that begin high above the root link"
        else:
            legs = pair
    if not arms and len(on_floor) == 2 and count == 4 and all(len(group) == 2 for group in on_floor):
        legs, arms, sure = _hanging_arms(tree, on_floor)
        if legs:
            count, leg_reason = 2, "of two pairs of chains that reach down, the lower on the trunk"
            arm_reason = "of two pairs of chains that reach down, the higher on the trunk"
    above = [pair for pair in pairs if pair not in on_floor]
    if not arms and above:
        arms = max(above, key=lambda pair: _reach(tree, pair[0]))
    if not arms and not legs and (count > 2 or not groups):
        arms = _longest_chain(tree, {joint for group in groups for joint in group})
        arm_reason = "the longest chain of joints; no second one is like it"
    return Limbs(legs, arms, count, leg_reason, arm_reason, len(groups), sure)


def deepest_chain(tree: RobotTree, first: int) -> list[int]:
    """List the joints of the longest chain that begins with a joint.

    Returns joints from the first on, at each branching into the subtree with the largest reach.
    """
    chain = [first]
    while tree.children[chain[-1]]:
        chain.append(
            max(tree.children[chain[-1]], key=lambda child: (_depth(tree, child), _reach(tree, child)))
        )
    return chain


def _depth(tree: RobotTree, joint: int) -> int:
    """Count the joints of the longest chain that begins with a joint."""
    return 1 + max((_depth(tree, child) for child in tree.children[joint]), default=0)


def _reach(tree: RobotTree, joint: int) -> float:
    """Length of the longest chain from a joint to the end of its last body, m."""
    origin = tree.poses[joint].translation
    points = tree.points[joint]
    own = float(np.linalg.norm(points, axis=1).max()) if len(points) else 0.0
    below = [
        float(np.linalg.norm(tree.poses[child].translation - origin)) + _reach(tree, child)
        for child in tree.children[joint]
    ]
    return max([own, *below])


def _steps(tree: RobotTree, first: int) -> Array:
    """Distances between the joints of the longest chain from a joint on, m."""
    origins = np.array([tree.poses[joint].translation for joint in deepest_chain(tree, first)])
    return np.linalg.norm(np.diff(origins, axis=0), axis=1)


def _are_alike(tree: RobotTree, a: int, b: int) -> bool:
    """Tell whether the chains that begin with two joints have the same lengths and about the same masses.

    Long chains may end in different hands.
    """
    depths = _depth(tree, a), _depth(tree, b)
    same = len(tree.subtree(a)) == len(tree.subtree(b)) and depths[0] == depths[1]
    if not same and min(depths) <= _COMMON:
        return False
    reach = max(_reach(tree, a), _reach(tree, b))
    first, second = (_steps(tree, joint)[: None if same else _COMMON] for joint in (a, b))
    masses = [tree.mass[tree.subtree(joint)].sum() for joint in (a, b)]
    lightest = 0.6 if same else 0.4
    alike = np.abs(first - second).max(initial=0.0) <= _ALIKE * reach
    return bool(alike and min(masses) >= lightest * max(masses))


def _similar_groups(tree: RobotTree) -> list[tuple[int, ...]]:
    """List groups of two or more similar limbs; nothing in a limb is one itself."""
    size = tree.size
    groups: list[tuple[int, ...]] = []
    bodies = [0]
    for body in bodies:
        limbs = [
            joint
            for joint in tree.children[body]
            if _depth(tree, joint) >= 2 and _reach(tree, joint) >= _LEAST_REACH * size
        ]
        grouped: list[list[int]] = []
        for joint in limbs:
            home = next((group for group in grouped if _are_alike(tree, group[0], joint)), None)
            if home is None:
                grouped.append([joint])
            else:
                home.append(joint)
        found = [tuple(group) for group in grouped if len(group) > 1]
        groups += found
        bodies += [joint for joint in tree.children[body] if not any(joint in group for group in found)]
    return groups


def _lowest(tree: RobotTree, bodies: list[int]) -> float:
    """Height of the lowest point of bodies in the root link's frame, m."""
    return float(tree.placed_points(bodies)[:, 2].min())


def _reaches_floor(tree: RobotTree, group: tuple[int, ...], groups: list[tuple[int, ...]]) -> bool:
    """Tell whether all limbs of a group end at the height of the robot's lowest point, and no body does."""
    limbs = {body for each in groups for joint in each for body in tree.subtree(joint)}
    bodies = [body for body in range(len(tree.poses)) if body not in limbs]
    floor = _lowest(tree, list(range(len(tree.poses))))
    reach = _FLOOR * tree.size
    if bodies and _lowest(tree, bodies) < floor + reach:
        return False
    return all(_lowest(tree, tree.subtree(joint)) < floor + reach for joint in group)


def _named(tree: RobotTree, joints: tuple[int, ...]) -> dict[str, int]:
    """How many names in the subtrees of joints speak of a leg or of an arm."""
    names = [
        name
        for joint in joints
        for body in tree.subtree(joint)
        for name in (tree.model.names[body], *tree.links[body])
    ]
    return {part: sum(part in parts_in_name(name) for name in names) for part in ("leg", "arm")}


def _attachment(tree: RobotTree, joints: tuple[int, ...]) -> float:
    """Mean height of the first joints of limbs in the root link's frame, m."""
    return float(np.mean([tree.poses[joint].translation[2] for joint in joints]))


def _looks_like_arms(tree: RobotTree, pair: tuple[int, ...], alone: bool) -> tuple[bool, bool]:
    """Tell whether the lowest pair of limbs are hanging arms of a robot without legs, and how sure it is."""
    high = alone and _attachment(tree, pair) > 0.2 * tree.size
    named = _named(tree, pair)
    if named["leg"] == named["arm"]:
        return high, not alone
    by_name = named["arm"] > named["leg"]
    return (by_name if alone else False), by_name == high


def _hanging_arms(
    tree: RobotTree, pairs: list[tuple[int, ...]]
) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    """Tell legs from arms that reach down by the height at which they begin; empty for four legs."""
    low, high = sorted(pairs, key=lambda pair: _attachment(tree, pair))
    if _attachment(tree, high) - _attachment(tree, low) < 0.15 * tree.size:
        return (), (), False
    return low, high, _named(tree, high)["arm"] >= _named(tree, high)["leg"]


def _longest_chain(tree: RobotTree, limbs: set[int]) -> tuple[int, ...]:
    """First joint of the arm of a robot with a single one; empty if no chain has two joints."""
    roots = [joint for joint in tree.children[0] if joint not in limbs and _depth(tree, joint) >= 2]
    if not roots:
        return ()
    first = max(roots, key=lambda joint: (_depth(tree, joint), _reach(tree, joint)))
    chain = deepest_chain(tree, first)
    for joint, below in pairwise(chain[: len(chain) // 2 + 1]):
        # A lift, or a body that carries a head as well, is the trunk.
        others = [child for child in tree.children[joint] if child != below and _depth(tree, child) > 1]
        if others or not tree.is_rotation(joint):
            first = below
    return (first,)
