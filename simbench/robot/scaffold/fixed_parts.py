"""Joints of a robot with a fixed base that need not move: wheels, casters, and the fingers of its hands."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from simbench.robot.scaffold.chains import LimbChain
from simbench.robot.scaffold.collision_pairs import Pairs
from simbench.robot.scaffold.tree import RobotTree

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
