"""Limbs: similar chains of joints on one body, whether they are legs or arms, and their parts."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.robot.limb_bend import bend_place, find_bend
from simbench.robot.scaffold.robot_tree import Array, RobotTree

Side = Literal["left", "right"]

_SIDES: dict[str, Side] = {
    **dict.fromkeys(("left", "l", "lf", "lh", "fl", "hl", "rl", "bl", "lft"), "left"),
    **dict.fromkeys(("right", "r", "rf", "rh", "fr", "hr", "rr", "br", "rgt"), "right"),
}
_PARTS = {
    "leg": ("leg", "hip", "knee", "ankle", "foot", "feet", "thigh", "shin", "shank", "calf", "toe", "sole"),
    "arm": ("arm", "shoulder", "elbow", "wrist", "forearm", "upperarm", "clavicle", "shldr"),
    "head": ("head", "neck", "skull", "gaze"),
    "trunk": ("torso", "trunk", "waist", "chest", "spine", "body", "abdomen", "back"),
    "grip": ("gripper", "finger", "fingers", "thumb", "jaw", "knuckle", "grip", "claw"),
    "hand": ("hand", "palm", "flange", "tool", "tcp", "ee", "effector"),
    "sole": ("sole",),
    "wheel": ("wheel", "caster", "castor"),
}
_WORDS = {word: part for part, words in _PARTS.items() for word in words}
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")


def words_of(name: str) -> tuple[str, ...]:
    """Split a name into lower-case words, at capitals, digits and other signs.

    `name`: name of a link or joint. Returns the words; a side that is written before a word without a sign,
    as in `LLEG`, is a word of its own.
    """
    found: list[str] = []
    for word in _WORD.findall(name):
        lower = word.lower()
        if lower[:1] in "lr" and lower not in _WORDS and lower[1:] in _WORDS:
            found += [lower[0], lower[1:]]
        else:
            found.append(lower)
    return tuple(found)


def side_in_name(name: str) -> Side | None:
    """Find the side that a name says.

    `name`: name of a link or joint. Returns `left`, `right`; None if it says none, or both.
    """
    sides = {_SIDES[word] for word in words_of(name) if word in _SIDES}
    return sides.pop() if len(sides) == 1 else None


def parts_in_name(name: str) -> frozenset[str]:
    """Find the parts of a body that a name says.

    `name`: name of a link or joint. Returns of `leg`, `arm`, `head`, `trunk`, `grip`, `hand`, `wheel`.
    """
    return frozenset(_WORDS[word] for word in words_of(name) if word in _WORDS)


# Least length of a limb, as a fraction of the robot's size: eyes, fingers and casters are shorter.
_LEAST_REACH = 0.2
_ALIKE = 0.06  # Largest difference of two similar limbs, as a fraction of their length.
_COMMON = 4  # Number of steps between joints that limbs with different hands have in common.
# Distance from the lowest point of the robot that counts as on the floor, as a fraction of its size.
_FLOOR = 0.06


class Limbs:
    """Limbs of a robot, by their first joints, from the lowest points of shapes and joints.

    Limbs are groups of chains on the same body with the same number of joints, the same lengths and about the
    same masses. Legs reach the lowest point of the robot in its zero configuration; arms do not.

    `legs`: two legs of a biped, in any order, empty if it is none; `arms`: two arms in any order, or one,
    empty if there are none; `feet_count`: number of limbs that reach the floor; `leg_reason`, `arm_reason`:
    how legs and arms were told apart; `clusters`: number of groups of similar chains; `sure`: whether names
    and geometry agree.
    """

    def __init__(self, tree: RobotTree) -> None:
        """Find the legs and arms of a robot."""
        groups = _similar_groups(tree)
        # The limbs of a group on the floor end at the height of the robot's lowest point, and no body does.
        limbs = {body for group in groups for joint in group for body in tree.subtree(joint)}
        bodies = [body for body in range(len(tree.poses)) if body not in limbs]
        ground = _lowest(tree, list(range(len(tree.poses)))) + _FLOOR * tree.size
        clear = not bodies or _lowest(tree, bodies) >= ground
        on_floor = [
            group
            for group in groups
            if clear and all(_lowest(tree, tree.subtree(joint)) < ground for joint in group)
        ]
        count = sum(map(len, on_floor))
        legs: tuple[int, ...] = ()
        arms: tuple[int, ...] = ()
        pairs = [group for group in groups if len(group) == 2]
        leg_reason = "similar chains on one body that reach the lowest point of the robot"
        arm_reason, sure = "similar chains on one body that do not reach the lowest point of the robot", True
        if count == 2:
            # The lowest pair of limbs may be hanging arms of a robot without legs.
            pair, alone = on_floor[0], len(pairs) == 1
            high = alone and _attachment(tree, pair) > 0.2 * tree.size
            leg_names, arm_names, _ = _count_names(tree, pair)
            is_arm, sure = high, not alone
            if leg_names != arm_names:
                is_arm, sure = alone and arm_names > leg_names, (arm_names > leg_names) == high
            if is_arm:
                arms, count = pair, 0
                arm_reason = "similar chains on one body that begin high above the root link"
            else:
                legs = pair
        if not arms and len(on_floor) == 2 and count == 4 and all(len(group) == 2 for group in on_floor):
            # Legs, and arms that reach down, by the height at which they begin; or four legs.
            low, top = sorted(on_floor, key=lambda pair: _attachment(tree, pair))
            sure = _attachment(tree, top) - _attachment(tree, low) >= 0.15 * tree.size
            if sure:
                legs, arms, count = low, top, 2
                leg_names, arm_names, _ = _count_names(tree, top)
                sure = arm_names >= leg_names
                leg_reason = "of two pairs of chains that reach down, the lower on the trunk"
                arm_reason = "of two pairs of chains that reach down, the higher on the trunk"
        above = [pair for pair in pairs if pair not in on_floor]
        if not arms and above:
            arms = max(above, key=lambda pair: _reach(tree, pair[0]))
        if not arms and not legs and (count > 2 or not groups):
            arm_reason = "the longest chain of joints; no second one is like it"
            grouped = {joint for group in groups for joint in group}
            roots = [joint for joint in tree.children[0] if joint not in grouped and _depth(tree, joint) >= 2]
            if roots:
                first = max(roots, key=lambda joint: (_depth(tree, joint), _reach(tree, joint)))
                chain = _deepest_chain(tree, first)
                for joint, below in pairwise(chain[: len(chain) // 2 + 1]):
                    # A lift, or a body that carries a head as well, is the trunk.
                    others = [
                        each for each in tree.children[joint] if each != below and _depth(tree, each) > 1
                    ]
                    if others or not tree.is_rotation(joint):
                        first = below
                arms = (first,)
                leg_names, arm_names, grip_names = _count_names(tree, arms)
                sure = max(leg_names, grip_names) <= arm_names
                sure = sure and sides_in_names(tree, tree.subtree(first)) != {"left"}
        self.legs, self.arms, self.feet_count, self.sure = legs, arms, count, sure
        self.leg_reason, self.arm_reason, self.clusters = leg_reason, arm_reason, len(groups)


def find_limbs(tree: RobotTree) -> Limbs:
    """Find the legs and arms of a robot, from its joints alone where shapes hide its feet."""
    found, by_joints = Limbs(tree), Limbs(tree.skeleton())
    # Shapes of the root may be placeholders that reach below the feet.
    return by_joints if by_joints.legs and by_joints.arms and not found.feet_count else found


def lone_leg(tree: RobotTree, limbs: Limbs) -> list[int]:
    """List the joints of a chain that reaches the floor beside the arms of a robot without legs."""
    taken = {body for arm in limbs.arms for body in (*tree.subtree(arm), *tree.model.supports[arm])}
    ground = _lowest(tree, list(range(len(tree.poses)))) + _FLOOR * tree.size
    for joint in range(1, tree.model.njoints):
        if joint not in taken and _depth(tree, joint) >= 3 and _lowest(tree, tree.subtree(joint)) < ground:
            return _deepest_chain(tree, joint)
    return []


def sides_in_names(tree: RobotTree, joints: Sequence[int]) -> set[Side]:
    """Collect the sides that the names of joints say."""
    return {side for joint in joints if (side := side_in_name(tree.model.names[joint])) is not None}


def _deepest_chain(tree: RobotTree, first: int) -> list[int]:
    """List the joints from a first one on, at each branching into the subtree with the largest reach."""
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
    points = tree.points[joint]
    own = float(np.linalg.norm(points, axis=1).max()) if len(points) else 0.0
    below = [tree.distance(joint, child) + _reach(tree, child) for child in tree.children[joint]]
    return max([own, *below])


def _similar_groups(tree: RobotTree) -> list[tuple[int, ...]]:
    """List groups of two or more similar limbs; nothing in a limb is one itself."""
    groups: list[tuple[int, ...]] = []
    bodies = [0]
    for body in bodies:
        grouped: list[list[int]] = []
        for joint in tree.children[body]:
            if _depth(tree, joint) < 2 or _reach(tree, joint) < _LEAST_REACH * tree.size:
                continue
            home = next((group for group in grouped if _are_alike(tree, group[0], joint)), None)
            if home is None:
                grouped.append([joint])
            else:
                home.append(joint)
        found = [tuple(group) for group in grouped if len(group) > 1]
        groups += found
        bodies += [joint for joint in tree.children[body] if not any(joint in group for group in found)]
    return groups


def _are_alike(tree: RobotTree, a: int, b: int) -> bool:
    """Tell whether the chains that begin with two joints have the same lengths and about the same masses.

    Long chains may end in different hands.
    """
    depths = _depth(tree, a), _depth(tree, b)
    same = len(tree.subtree(a)) == len(tree.subtree(b)) and depths[0] == depths[1]
    if not same and min(depths) <= _COMMON:
        return False
    steps = []
    for joint in (a, b):
        origins = np.array([tree.poses[each].translation for each in _deepest_chain(tree, joint)])
        steps.append(np.linalg.norm(np.diff(origins, axis=0), axis=1)[: None if same else _COMMON])
    difference = np.abs(steps[0] - steps[1]).max(initial=0.0)
    masses = [tree.mass[tree.subtree(joint)].sum() for joint in (a, b)]
    alike = difference <= _ALIKE * max(_reach(tree, a), _reach(tree, b))
    return bool(alike and min(masses) >= (0.6 if same else 0.4) * max(masses))


def _lowest(tree: RobotTree, bodies: list[int]) -> float:
    """Height of the lowest point of bodies in the root link's frame, m."""
    return float(tree.placed_points(bodies)[:, 2].min())


def _count_names(tree: RobotTree, joints: tuple[int, ...]) -> list[int]:
    """How many names in the subtrees of joints speak of a leg, of an arm, and of a grip."""
    names = [
        name
        for joint in joints
        for body in tree.subtree(joint)
        for name in (tree.model.names[body], *tree.links[body])
    ]
    return [sum(part in parts_in_name(name) for name in names) for part in ("leg", "arm", "grip")]


def _attachment(tree: RobotTree, joints: tuple[int, ...]) -> float:
    """Mean height of the first joints of limbs in the root link's frame, m."""
    return float(np.mean([tree.poses[joint].translation[2] for joint in joints]))


# Length of a finger, as a fraction of its arm's, beyond which it is none; of fingers that are light, or
# coupled to others, beyond which they are none.
_FINGER, _LIGHT_FINGER = 0.3, 0.5
_LIGHT = 0.05  # Mass of what is beyond the hand, as a fraction of the arm's, up to which it is light.
# Travel of a joint to the one side, as a fraction of that to the other, below which it opens and closes.
_ONE_SIDED = 0.2
# A single last joint that opens and closes is a grip from this number of joints on: others may be elbows.
_LEAST_JOINTS = 6
_MOST_JOINTS = 7  # Shoulder, elbow and wrist of an arm need no more: a further light joint is a grip.


@dataclass(frozen=True)
class Correction:
    """What is known of the limbs of one side, and need not be guessed; empty where it must be."""

    elbow: str = ""  # Joint that bends the arm.
    wrist: str = ""  # Joint at the wrist.
    hand: str = ""  # Last joint of the arm, which moves the hand as a whole; what follows are fingers.
    palm: str = ""  # Link whose frame is the palm's: x along the fingers, z out of the back of the hand.
    sole: str = ""  # Link that is the sole: its shapes, or its frame, z upward.


_NOTHING = Correction()


class LimbChain:
    """An arm or a leg, divided into its parts.

    `joints`: its joints from the trunk to hand or foot, without those that it cannot move by itself; the last
    one moves hand or foot as a whole; `first`: joint on the trunk, whether it is one of them; `middle`:
    joint of the elbow or the knee; `start`: joint whose origin is at the shoulder or the hip; `end` (3,):
    wrist or ankle in the frame of the last body, m; `wrist`: joint there, mostly the last one, 0 where no
    joint follows the elbow; `fingers`: joints beyond the hand; `lengths`: of upper and lower bone, m; `said`:
    what need not be guessed.
    """

    def __init__(
        self, tree: RobotTree, first: int, *, arm: bool, turret: bool = False, said: Correction = _NOTHING
    ) -> None:
        """Divide the chain that begins with a first joint.

        `arm`: whether it is an arm, which may have fingers; `turret`: whether a first vertical joint belongs
        to a column below the shoulder, as in most single arms; `said`: what is known of it.
        """
        self.said, below = said, tree.subtree(first)
        joints = _without_fingers(tree, _deepest_chain(tree, first)) if arm else _deepest_chain(tree, first)
        if arm and said.hand:
            palm = _named_joint(tree, below, "hand", said.hand)
            joints = [int(joint) for joint in tree.model.supports[palm] if joint in below]
        known = _named_joint(tree, joints, "elbow", said.elbow) if arm and said.elbow else None
        wrist = _named_joint(tree, joints, "wrist", said.wrist) if arm and said.wrist else None
        self.joints, self.first = tuple(joints), joints[0]
        beyond = [body for body in tree.subtree(joints[-1]) if body not in joints] if arm else []
        self.fingers = tuple(beyond)
        origins = np.array([tree.poses[joint].translation for joint in joints])
        axes = np.array([tree.axis(joint) * tree.is_rotation(joint) for joint in joints])
        # Where the last body ends, away from its joint: fingertips, or the tip of the foot.
        last = tree.placed_points([joints[-1], *self.fingers])
        outward = 0.5 * (last.min(axis=0) + last.max(axis=0)) - origins[-1]
        outward /= max(float(np.linalg.norm(outward)), 1e-9)
        tip = origins[-1] + outward * float(((last - origins[-1]) @ outward).max())
        self.wrist = joints[-1] if wrist is None else wrist
        ends = [origins[-1], tip] if wrist is None else [tree.poses[wrist].translation]
        limits = np.array([tree.limits(joint) for joint in joints])
        bend = find_bend(origins, axes, limits, ends, None if known is None else joints.index(known))
        self.middle, self.end, self.lengths = joints[-1], np.zeros(3), (0.0, 0.0)
        if bend is not None:
            self.middle, end = joints[bend.joint], ends[0]
            place = bend_place(origins[bend.joint], axes[bend.joint], bend.root, ends[bend.end])
            upper = float(np.linalg.norm(place - bend.root))
            if bend.end == 1:
                # No wrist: hand and forearm are one, of which the forearm is as long as the upper arm.
                whole = tip - place
                end = place + whole * min(1.0, upper / max(float(np.linalg.norm(whole)), 1e-9))
                self.wrist = 0
            if self.wrist != joints[-1]:
                self.end = tree.poses[joints[-1]].actInv(end)
            self.lengths = upper, float(np.linalg.norm(end - place))
        # Behind the last gap between the axes before the middle.
        before = joints[: joints.index(self.middle)] or joints[:1]
        if turret and len(before) > 1 and abs(tree.axis(before[0])[2]) > 0.9:
            before = before[1:]
        elbow = tree.poses[self.middle].translation
        self.start, point = before[0], tree.poses[before[0]].translation
        for joint in before[1:]:
            origin, axis = tree.poses[joint].translation, tree.axis(joint)
            nearest = origin + axis * float(axis @ (point - origin))
            gap = float(np.linalg.norm(nearest - point))
            if gap > 0.2 * float(np.linalg.norm(elbow - nearest)):
                self.start, point = joint, nearest
        self.joints = (*(joint for joint in joints[:-1] if joint not in tree.shared), joints[-1])

    def end_point(self, poses: Sequence[pin.SE3]) -> Array:
        """Place wrist or ankle (3,) in the root link's frame, m. `poses`: poses of all bodies."""
        return np.asarray(poses[self.joints[-1]].act(self.end))

    def flexion_displacement(self, tree: RobotTree) -> Array:
        """Compute where the end of the limb goes when its elbow or knee bends from straight.

        Returns (3,): displacement of the wrist or ankle from the line of the straight limb, in the frame of
        the root link with the limb hanging, as a fraction of the lower half's length.
        """
        straight, bent = self.bending_range(tree)
        q = tree.rest.copy()
        ends = []
        for value in (straight, straight + np.clip(bent - straight, -0.5, 0.5)):
            q[self.middle - 1] = value
            poses = tree.configured(q)
            ends.append(self.end_point(poses) - poses[self.middle].translation)
        length = max(float(np.linalg.norm(ends[0])), 1e-6)
        return (ends[1] - ends[0]) / length

    def bending_range(self, tree: RobotTree) -> tuple[float, float]:
        """Find the positions of the elbow or knee at which the limb is straightest and most bent.

        Returns `straight`, `bent`: positions of the joint, rad; bent is the limit that is farther from
        straight.
        """
        values, lengths = self._sweep(tree, self.middle, tree.rest)
        straight = float(values[int(np.argmax(lengths))])
        low, high = float(values[0]), float(values[-1])
        return straight, (high if high - straight >= straight - low else low)

    def _sweep(self, tree: RobotTree, joint: int, q: Array) -> tuple[Array, Array]:
        """Positions of a joint between its limits, and the distance of the limb's ends for each, m."""
        values = np.linspace(*tree.limits(joint), 41)
        lengths = []
        moved = q.copy()
        for value in values:
            moved[joint - 1] = value
            poses = tree.configured(moved)
            ends = self.end_point(poses) - poses[self.joints[0]].translation
            lengths.append(np.linalg.norm(ends))
        return values, np.array(lengths)


def _named_joint(tree: RobotTree, joints: Sequence[int], key: str, name: str) -> int:
    """Find a joint of a limb by the name that a correction says."""
    names = [tree.model.names[joint] for joint in joints]
    if name not in names:
        raise RobotError(f"{tree.path}: {key} {name}: no joint of this limb; allowed: {', '.join(names)}")
    return joints[names.index(name)]


def _without_fingers(tree: RobotTree, joints: list[int]) -> list[int]:
    """List the joints of an arm up to the one that moves the hand as a whole."""
    length = sum(tree.distance(a, b) for a, b in pairwise(joints))
    weight = float(tree.mass[tree.subtree(joints[0])].sum())
    kept = [joints[0]]
    for joint in joints[1:]:
        rest = length - sum(tree.distance(a, b) for a, b in pairwise(kept))
        beyond = [each for child in tree.children[kept[-1]] for each in tree.subtree(child)]
        light = float(tree.mass[beyond].sum()) <= _LIGHT * weight
        several = len(tree.children[kept[-1]]) > 1
        coupled = {tree.model.names[child] for child in tree.children[kept[-1]]} & {
            name for follower, (leader, *_) in tree.couplings.items() for name in (follower, leader)
        }
        named = parts_in_name(tree.model.names[joint]) | parts_in_name(tree.links[joint][0])
        grip = "grip" in named and "arm" not in named and not tree.children[joint]
        further = light and len(kept) >= _MOST_JOINTS
        if rest < _FINGER * length and (several or not tree.is_rotation(joint) or grip or further):
            return kept
        if rest < _LIGHT_FINGER * length and ((several and light) or coupled):
            return kept
        kept.append(joint)
    if len(kept) >= _LEAST_JOINTS and _opens_and_closes(tree, kept[-1]):
        return kept[:-1]
    return kept


def _opens_and_closes(tree: RobotTree, joint: int) -> bool:
    """Tell whether a joint moves from zero to one side only, as a gripper does."""
    low, high = tree.limits(joint)
    short, long = sorted((abs(low), abs(high)))
    return low <= 1e-3 and high >= -1e-3 and short <= _ONE_SIDED * long and not tree.children[joint]
