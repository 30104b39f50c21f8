"""Left, right and forward: votes of geometry, joint limits and names."""

from dataclasses import dataclass

import numpy as np

from simbench.robot.scaffold.limb_chains import LimbChain, flexion_displacement, side_in_name
from simbench.robot.scaffold.robot_tree import Array, RobotTree

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Orientation:
    """Directions of the robot's body in the root link's frame."""

    forward: Array  # `forward`, `left` (3,): unit vectors.
    left: Array
    evidence: tuple[str, ...]  # What spoke for this direction.
    against: tuple[str, ...]  # What spoke against it.
    names_opposed: bool  # Whether names say left for what lies on the right.
    sure: bool  # Whether the evidence clearly outweighs the opposition.


def find_orientation(
    tree: RobotTree, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...]
) -> Orientation:
    """Find where the robot's front and left are.

    The line from one side to the other joins similar limbs. Which of its ends is left follows from the
    direction forward, which has a vote of each: toes longer than heels, knees that bend backward, elbows that
    bend forward, the x axis of the root link, and the names of the sides. `legs`, `arms`: two legs and two
    arms in any order; each may be empty. Returns forward and left in the root link's frame, horizontal and at
    right angles.
    """
    pairs = [pair for pair in (legs, arms) if len(pair) == 2]
    if not pairs:
        return Orientation(
            np.array([1.0, 0, 0]), np.array([0, 1.0, 0]), ("x axis of the root",), (), False, True
        )
    lateral = np.zeros(3)
    for pair in pairs:
        apart = _separation(tree, pair)
        lateral += apart if apart @ lateral >= 0 else -apart
    lateral[2] = 0.0
    lateral /= max(float(np.linalg.norm(lateral)), 1e-9)
    lateral = _snap(lateral)
    ahead = np.cross(lateral, UP)
    votes = _votes(tree, legs, arms, ahead, lateral)
    total = sum(weight for weight, _ in votes)
    sign = 1.0 if total >= 0 else -1.0
    names = sum(weight for weight, text in votes if text == _NAMES)
    return Orientation(
        forward=sign * ahead + 0.0,
        left=sign * lateral + 0.0,
        evidence=tuple(text for weight, text in votes if weight * sign > 0),
        against=tuple(text for weight, text in votes if weight * sign < 0),
        names_opposed=names * sign < 0,
        sure=abs(total) >= 0.4 * sum(abs(weight) for weight, _ in votes),
    )


_NAMES = "names of the sides"


def _snap(direction: Array) -> Array:
    """Return the axis of the root link next to a direction, if it is within 3 degrees."""
    axis = np.eye(3)[int(np.abs(direction).argmax())] * np.sign(direction[np.abs(direction).argmax()])
    return axis if axis @ direction > np.cos(np.radians(3.0)) else direction


def _separation(tree: RobotTree, pair: tuple[LimbChain, ...]) -> Array:
    """Mean horizontal vector from the joints of the second limb to those of the first, m."""
    first, second = (np.array([tree.poses[joint].translation for joint in limb.joints]) for limb in pair)
    count = min(len(first), len(second))
    apart = (first[:count] - second[:count]).mean(axis=0)
    start = first[0] - second[0]
    apart = start if np.linalg.norm(start[:2]) > 0.5 * np.linalg.norm(apart[:2]) else apart
    return np.array([apart[0], apart[1], 0.0])


def _votes(
    tree: RobotTree,
    legs: tuple[LimbChain, ...],
    arms: tuple[LimbChain, ...],
    ahead: Array,
    lateral: Array,
) -> list[tuple[float, str]]:
    """Weights of the evidence, positive for `ahead` as forward, and what each is."""
    votes = [(float(ahead[0]), "x axis of the root link")]
    toes = [_toe(tree, limb) @ ahead for limb in legs]
    if toes and min(map(abs, toes)) > 0.1 and len(set(np.sign(toes))) == 1:
        votes.append((2.0 * float(np.sign(toes[0])), "toes longer than heels"))
    for limbs, weight, text in ((legs, -1.5, "bending of the knees"), (arms, 1.0, "bending of the elbows")):
        hanging = [limb for limb in limbs if len(limb.joints) > 2 and _hangs(tree, limb)]
        moved = [flexion_displacement(tree, limb) @ ahead for limb in hanging]
        if moved and min(map(abs, moved)) > 0.1 and len(set(np.sign(moved))) == 1:
            votes.append((weight * float(np.sign(moved[0])), text))
    said = _named_sides(tree, (*legs, *arms), lateral)
    if said:
        votes.append((3.0 * np.sign(said), _NAMES))
    return votes


def _hangs(tree: RobotTree, limb: LimbChain) -> bool:
    """Tell whether the upper half of a limb points down, so that it is known where it bends to."""
    upper = tree.poses[limb.middle].translation - tree.poses[limb.start].translation
    return bool(-upper[2] > 0.8 * np.linalg.norm(upper))


def _toe(tree: RobotTree, limb: LimbChain) -> Array:
    """Horizontal offset of the middle of a foot from its joint, as a fraction of the foot's length."""
    end = limb.joints[-1]
    points = tree.placed_points(tree.subtree(end))
    low = points[points[:, 2] < points[:, 2].min() + 0.3 * np.ptp(points[:, 2]) + 1e-6]
    middle = 0.5 * (low.min(axis=0) + low.max(axis=0)) - tree.poses[end].translation
    return np.array([middle[0], middle[1], 0.0]) / max(float(np.ptp(low[:, :2], axis=0).max()), 1e-6)


def _named_sides(tree: RobotTree, limbs: tuple[LimbChain, ...], lateral: Array) -> int:
    """How many names say left for what lies along `lateral`, less those that say it for the other side."""
    score = 0
    for limb in limbs:
        middle = np.mean([tree.poses[joint].translation for joint in limb.joints], axis=0)
        others = [np.mean([tree.poses[j].translation for j in each.joints], axis=0) for each in limbs]
        side = float(np.sign((middle - np.mean(others, axis=0)) @ lateral))
        for joint in limb.joints:
            said = side_in_name(tree.model.names[joint])
            score += int(side) * {"left": 1, "right": -1, None: 0}[said]
    return score
