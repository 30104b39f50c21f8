"""The joints of a limb: where the upper and the lower half meet, where the hand begins, and its fingers."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from simbench.robot.scaffold.limbs import deepest_chain
from simbench.robot.scaffold.names import parts_in_name
from simbench.robot.scaffold.tree import Array, RobotTree

_FINGER = 0.3
"""Length of a finger, as a fraction of its arm's, beyond which it is none."""
_ONE_SIDED = 0.2
"""Travel of a joint to the one side, as a fraction of that to the other, below which it opens and closes."""
_LEAST_JOINTS = 6
"""A single last joint that opens and closes is a grip from this number of joints on: others may be elbows."""


@dataclass(frozen=True)
class LimbChain:
    """An arm or a leg."""

    # Its joints from the trunk to hand or foot; the last one moves hand or foot as a whole.
    joints: tuple[int, ...]
    middle: int  # Joint of the elbow or the knee.
    start: int  # Joint whose origin is at the shoulder or the hip.
    fingers: tuple[int, ...] = ()  # Joints beyond the hand.


def find_chain(tree: RobotTree, first: int, *, arm: bool, turret: bool = False) -> LimbChain:
    """Divide the chain of an arm or a leg into its parts.

    `first`: first joint of the limb; `arm`: whether it is an arm, which may have fingers; `turret`: whether a
    first vertical joint belongs to a column below the shoulder, as in most single arms.
    """
    joints = deepest_chain(tree, first)
    if arm:
        joints = _without_fingers(tree, joints)
    fingers = [body for body in tree.subtree(joints[-1]) if body not in joints] if arm else []
    middle = _most_flexing(tree, joints)
    start = _limb_start(tree, joints, middle, turret)
    return LimbChain(tuple(joints), middle, start, tuple(fingers))


def flexion_displacement(tree: RobotTree, limb: LimbChain) -> Array:
    """Compute where the end of a limb goes when its elbow or knee bends from straight.

    Returns (3,): displacement of the wrist or ankle from the line of the straight limb, in the frame of the
    root link with the limb hanging, as a fraction of the lower half's length.
    """
    straight, bent = bending_range(tree, limb)
    q = tree.rest.copy()
    ends = []
    for value in (straight, straight + np.clip(bent - straight, -0.5, 0.5)):
        q[limb.middle - 1] = value
        poses = tree.configured(q)
        ends.append(poses[limb.joints[-1]].translation - poses[limb.middle].translation)
    length = max(float(np.linalg.norm(ends[0])), 1e-6)
    return (ends[1] - ends[0]) / length


def bending_range(tree: RobotTree, limb: LimbChain) -> tuple[float, float]:
    """Find the positions of an elbow or knee at which the limb is straightest and most bent.

    Returns `straight`, `bent`: positions of the joint, rad; bent is the limit that is farther from straight.
    """
    values, lengths = _sweep(tree, limb.joints, limb.middle, tree.rest)
    straight = float(values[int(np.argmax(lengths))])
    low, high = float(values[0]), float(values[-1])
    return straight, (high if high - straight >= straight - low else low)


def _sweep(tree: RobotTree, joints: tuple[int, ...], joint: int, q: Array) -> tuple[Array, Array]:
    """Positions of a joint between its limits, and the distances of the limb's ends for each of them, m."""
    low, high = tree.limits(joint)
    values = np.linspace(low, high, 41)
    lengths = []
    moved = q.copy()
    for value in values:
        moved[joint - 1] = value
        poses = tree.configured(moved)
        lengths.append(np.linalg.norm(poses[joints[-1]].translation - poses[joints[0]].translation))
    return values, np.array(lengths)


def _most_flexing(tree: RobotTree, joints: list[int]) -> int:
    """Find the elbow or knee: the joint that changes the distance of the limb's ends most."""
    if len(joints) < 3:
        return joints[-1]
    centre = np.array([0.5 * sum(tree.limits(joint)) for joint in range(1, tree.model.njoints)])
    change = [
        sum(float(np.ptp(_sweep(tree, tuple(joints), joint, q)[1])) for q in (tree.rest, centre))
        for joint in joints[1:-1]
    ]
    return joints[1 + int(np.argmax(np.round(change, 6)))]


def _limb_start(tree: RobotTree, joints: list[int], middle: int, turret: bool) -> int:
    """Find the joint at the shoulder or hip: behind the last gap between the axes before the middle."""
    before = joints[: joints.index(middle)]
    if not before:
        return joints[0]
    if turret and len(before) > 1 and abs(tree.axis(before[0])[2]) > 0.9:
        before = before[1:]
    end = tree.poses[middle].translation
    point = tree.poses[before[0]].translation
    start = before[0]
    for joint in before[1:]:
        origin, axis = tree.poses[joint].translation, tree.axis(joint)
        nearest = origin + axis * float(axis @ (point - origin))
        gap = float(np.linalg.norm(nearest - point))
        if gap > 0.2 * float(np.linalg.norm(end - nearest)):
            start, point = joint, nearest
    return start


def _without_fingers(tree: RobotTree, joints: list[int]) -> list[int]:
    """List the joints of an arm up to the one that moves the hand as a whole."""
    length = sum(
        float(np.linalg.norm(tree.poses[b].translation - tree.poses[a].translation))
        for a, b in pairwise(joints)
    )
    kept = [joints[0]]
    for joint in joints[1:]:
        rest = length - sum(
            float(np.linalg.norm(tree.poses[b].translation - tree.poses[a].translation))
            for a, b in pairwise(kept)
        )
        siblings = [each for each in tree.children[kept[-1]] if each != joint]
        if _is_finger(tree, joint, siblings, rest < _FINGER * length):
            return kept
        kept.append(joint)
    if len(kept) >= _LEAST_JOINTS and _opens_and_closes(tree, kept[-1]):
        return kept[:-1]
    return kept


def _is_finger(tree: RobotTree, joint: int, siblings: list[int], near_end: bool) -> bool:
    """Tell whether a joint of an arm's chain moves a finger."""
    named = parts_in_name(tree.model.names[joint]) | parts_in_name(tree.links[joint][0])
    if near_end and (siblings or not tree.is_rotation(joint)):
        return True
    return near_end and "grip" in named and "arm" not in named and _opens_and_closes(tree, joint)


def _opens_and_closes(tree: RobotTree, joint: int) -> bool:
    """Tell whether a joint moves from zero to one side only, as a gripper does."""
    low, high = tree.limits(joint)
    short, long = sorted((abs(low), abs(high)))
    return low <= 1e-3 and high >= -1e-3 and short <= _ONE_SIDED * long and not tree.children[joint]
