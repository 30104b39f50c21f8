"""Left, right and forward; pelvis, trunk and head, and the links that stand for them."""

from dataclasses import dataclass

import numpy as np

from simbench.robot.scaffold.limb_chains import LimbChain, flexion_displacement, parts_in_name, side_in_name
from simbench.robot.scaffold.robot_tree import Array, RobotTree, link_placement

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


@dataclass(frozen=True)
class BodyRoles:
    """Bodies between the limbs."""

    pelvis: int | None  # Body that carries the legs.
    trunk: int  # Body that carries the arms; the pelvis, or the root, of a robot without arms.
    trunk_joints: tuple[int, ...]  # Joints between them, or between root and trunk.
    head: int | None
    head_link: str | None
    neck_joints: tuple[int, ...]  # Joints between trunk and head.


def find_body_roles(
    tree: RobotTree, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], left: Array
) -> BodyRoles:
    """Find pelvis, trunk and head.

    `legs`, `arms`: limbs; each may be empty; `left` (3,): left in the root link's frame. Returns bodies and
    joints.
    """
    parents = tree.model.parents
    pelvis = int(parents[legs[0].joints[0]]) if legs else None
    trunk = int(parents[arms[0].joints[0]]) if arms else (pelvis or 0)
    from_pelvis = list(tree.model.supports[pelvis or 0])
    from_trunk = list(tree.model.supports[trunk])
    joints = tuple(
        int(j) for j in (*reversed(from_pelvis), *from_trunk) if (j in from_pelvis) != (j in from_trunk) and j
    )
    if len(arms) == 1:
        return BodyRoles(pelvis, trunk, joints, None, None, ())
    head, link, neck = _find_head(tree, trunk, legs, arms, left)
    return BodyRoles(pelvis, trunk, joints, head, link, neck)


def main_link(tree: RobotTree, body: int) -> str:
    """Choose the link that stands for a body: the heaviest, of equal ones the first with a shape.

    Returns name of a link.
    """
    known = {link.name: link for link in tree.urdf.links}
    return max(
        tree.links[body],
        key=lambda name: (
            round(known[name].mass, 9),
            bool(known[name].shapes),
            -tree.links[body].index(name),
        ),
    )


def joint_link(tree: RobotTree, joint: int) -> str:
    """Choose the link whose origin is that of the joint. Returns name of the joint's child link."""
    names = {each.name: each.child for each in tree.urdf.joints}
    return names[tree.model.names[joint]]


def elbow_link(tree: RobotTree, arm: LimbChain) -> str:
    """Choose the link of an arm's elbow.

    Returns link of the first joint whose origin is at the elbow: a joint that turns the forearm may precede
    the one that bends it.
    """
    elbow = tree.poses[arm.middle].translation
    length = float(np.linalg.norm(tree.poses[arm.joints[-1]].translation - tree.poses[arm.start].translation))
    after = arm.joints[arm.joints.index(arm.start) + 1 :]
    near = [j for j in after if np.linalg.norm(tree.poses[j].translation - elbow) < 0.01 * length]
    return joint_link(tree, (near or [arm.middle])[0])


def _find_head(
    tree: RobotTree, trunk: int, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], left: Array
) -> tuple[int | None, str | None, tuple[int, ...]]:
    """Body, link and joints of the head: what reaches highest above the shoulders, near the middle."""
    shoulders = [tree.poses[arm.start].translation for arm in arms]
    if not shoulders:
        return None, None, ()
    middle = np.mean(shoulders, axis=0)
    width = 0.5 * max(float(np.ptp([point @ left for point in shoulders])), 1e-3)
    limbs = {limb.joints[0] for limb in (*legs, *arms)}
    best: tuple[float, tuple[int, ...]] = (-np.inf, ())
    for joint in tree.children[trunk]:
        if joint in limbs:
            continue
        points = tree.placed_points(tree.subtree(joint))
        named = any(
            "head" in parts_in_name(name)
            for body in tree.subtree(joint)
            for name in (tree.model.names[body], *tree.links[body])
        )
        top = float(points[:, 2].max()) - float(middle[2])
        near = abs(float((points.mean(axis=0) - middle) @ left)) < width
        if near and (top > 0.0 or named):
            best = max(best, (top + (10.0 if named else 0.0), _neck(tree, joint)))
    if best[1]:
        body = best[1][-1]
        return body, main_link(tree, body), best[1]
    return _fixed_head(tree, trunk, float(middle[2]))


def _neck(tree: RobotTree, joint: int) -> tuple[int, ...]:
    """Joints from the trunk to the head: up to the body behind which only eyes and the like follow."""
    chain = [joint]
    while tree.children[chain[-1]]:
        heaviest = max(
            tree.children[chain[-1]], key=lambda child: float(tree.mass[tree.subtree(child)].sum())
        )
        below = float(tree.mass[tree.subtree(heaviest)].sum())
        if below < 0.35 * float(tree.mass[chain[-1]]):
            break
        chain.append(heaviest)
    return tuple(chain)


def _fixed_head(
    tree: RobotTree, trunk: int, shoulders: float
) -> tuple[int | None, str | None, tuple[int, ...]]:
    """Find a link fixed to the trunk whose name says that it is the head, or whose frame is highest."""
    heights = {
        link: float((tree.poses[trunk] * link_placement(tree, link)).translation[2])
        for link in tree.links[trunk]
    }
    known = {link.name: link for link in tree.urdf.links}
    named = [link for link in tree.links[trunk] if "head" in parts_in_name(link)]
    with_shape = [link for link in named if known[link].shapes]
    if named:
        return trunk, (with_shape or named)[0], ()
    above = [link for link, height in heights.items() if height > shoulders and known[link].shapes]
    return (trunk, max(above, key=heights.__getitem__), ()) if above else (None, None, ())
