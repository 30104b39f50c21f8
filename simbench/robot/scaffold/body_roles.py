"""Left, right and forward; pelvis, trunk and head, and the links that stand for them."""

from dataclasses import dataclass

import numpy as np

from simbench.robot.scaffold.limb_chains import LimbChain, parts_in_name, side_in_name
from simbench.robot.scaffold.robot_tree import Array, RobotTree

UP = np.array([0.0, 0.0, 1.0])
_NAMES = "names of the sides"


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
        # Mean horizontal vector from the joints of the second limb to those of the first, m.
        first, second = (np.array([tree.poses[joint].translation for joint in limb.joints]) for limb in pair)
        count = min(len(first), len(second))
        apart = (first[:count] - second[:count]).mean(axis=0)
        start = first[0] - second[0]
        apart = start if np.linalg.norm(start[:2]) > 0.5 * np.linalg.norm(apart[:2]) else apart
        apart = np.array([apart[0], apart[1], 0.0])
        lateral += apart if apart @ lateral >= 0 else -apart
    lateral[2] = 0.0
    lateral /= max(float(np.linalg.norm(lateral)), 1e-9)
    # The axis of the root link next to it, if it is within 3 degrees.
    largest = np.abs(lateral).argmax()
    axis = np.eye(3)[int(largest)] * np.sign(lateral[largest])
    lateral = axis if axis @ lateral > np.cos(np.radians(3.0)) else lateral
    ahead = np.cross(lateral, UP)
    # Weights of the evidence, positive for `ahead` as forward, and what each is.
    votes = [(float(ahead[0]), "x axis of the root link")]
    toes = []
    for leg in legs:
        # Horizontal offset of the middle of the foot from its joint, as a fraction of the foot's length.
        end = leg.joints[-1]
        points = tree.placed_points(tree.subtree(end))
        low = points[points[:, 2] < points[:, 2].min() + 0.3 * np.ptp(points[:, 2]) + 1e-6]
        middle = 0.5 * (low.min(axis=0) + low.max(axis=0)) - tree.poses[end].translation
        length = max(float(np.ptp(low[:, :2], axis=0).max()), 1e-6)
        toes.append(np.array([middle[0], middle[1], 0.0]) / length @ ahead)
    if toes and min(map(abs, toes)) > 0.1 and len(set(np.sign(toes))) == 1:
        votes.append((2.0 * float(np.sign(toes[0])), "toes longer than heels"))
    for limbs, weight, text in ((legs, -1.5, "bending of the knees"), (arms, 1.0, "bending of the elbows")):
        moved = []
        for limb in limbs:
            upper = tree.poses[limb.middle].translation - tree.poses[limb.start].translation
            # It is known where a limb bends to if its upper half points down.
            if len(limb.joints) > 2 and -upper[2] > 0.8 * np.linalg.norm(upper):
                moved.append(limb.flexion_displacement(tree) @ ahead)
        if moved and min(map(abs, moved)) > 0.1 and len(set(np.sign(moved))) == 1:
            votes.append((weight * float(np.sign(moved[0])), text))
    # How many names say left for what lies along `lateral`, less those that say it for the other side.
    said = 0
    middles = [
        np.mean([tree.poses[joint].translation for joint in limb.joints], axis=0) for limb in (*legs, *arms)
    ]
    for limb, middle in zip((*legs, *arms), middles, strict=True):
        side = int(np.sign((middle - np.mean(middles, axis=0)) @ lateral))
        for joint in limb.joints:
            said += side * {"left": 1, "right": -1, None: 0}[side_in_name(tree.model.names[joint])]
    if said:
        votes.append((3.0 * np.sign(said), _NAMES))
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


@dataclass(frozen=True)
class BodyRoles:
    """Bodies between the limbs."""

    pelvis: int | None  # Body that carries the legs.
    trunk: int  # Body that carries the arms; the pelvis, or the root, of a robot without arms.
    trunk_joints: tuple[int, ...]  # Joints between them, or between root and trunk.
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
    pelvis = int(parents[legs[0].first]) if legs else None
    trunk = int(parents[arms[0].first]) if arms else (pelvis or 0)
    from_pelvis = list(tree.model.supports[pelvis or 0])
    from_trunk = list(tree.model.supports[trunk])
    joints = tuple(
        int(j) for j in (*reversed(from_pelvis), *from_trunk) if (j in from_pelvis) != (j in from_trunk) and j
    )
    if len(arms) != 2:
        return BodyRoles(pelvis, trunk, joints, None, ())
    link, neck = _find_head(tree, trunk, legs, arms, left)
    return BodyRoles(pelvis, trunk, joints, link, neck)


def main_link(tree: RobotTree, body: int) -> str:
    """Choose the link that stands for a body: the heaviest, of equal ones the first with a shape.

    Returns name of a link.
    """
    return max(
        tree.links[body],
        key=lambda name: (
            round(tree.link[name].mass, 9),
            bool(tree.link[name].shapes),
            -tree.links[body].index(name),
        ),
    )


def elbow_link(tree: RobotTree, arm: LimbChain) -> str:
    """Choose the link of an arm's elbow.

    Returns link of the first joint whose origin is at the elbow: a joint that turns the forearm may precede
    the one that bends it.
    """
    length = tree.distance(arm.start, arm.joints[-1])
    after = [joint for joint in arm.joints if joint > arm.start]
    near = [joint for joint in after if tree.distance(arm.middle, joint) < 0.01 * length]
    return tree.joint_link((near or [arm.middle])[0])


def _find_head(
    tree: RobotTree, trunk: int, legs: tuple[LimbChain, ...], arms: tuple[LimbChain, ...], left: Array
) -> tuple[str | None, tuple[int, ...]]:
    """Link and joints of the head: what reaches highest above the shoulders, near the middle.

    If nothing moves there, a link fixed to the trunk whose name says that it is the head, or whose frame is
    highest.
    """
    shoulders = [tree.poses[arm.start].translation for arm in arms]
    middle = np.mean(shoulders, axis=0)
    width = 0.5 * max(float(np.ptp([point @ left for point in shoulders])), 1e-3)
    limbs = {limb.first for limb in (*legs, *arms)}
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
            # Up to the body behind which only eyes and the like follow.
            chain = [joint]
            while tree.children[chain[-1]]:
                below = [
                    (float(tree.mass[tree.subtree(child)].sum()), child) for child in tree.children[chain[-1]]
                ]
                mass, heaviest = max(below, key=lambda each: each[0])
                if mass < 0.35 * float(tree.mass[chain[-1]]):
                    break
                chain.append(heaviest)
            best = max(best, (top + (10.0 if named else 0.0), tuple(chain)))
    if best[1]:
        return main_link(tree, best[1][-1]), best[1]
    heights = {
        link: float((tree.poses[trunk] * tree.placement(link)).translation[2]) for link in tree.links[trunk]
    }
    named_links = [link for link in tree.links[trunk] if "head" in parts_in_name(link)]
    with_shape = [link for link in named_links if tree.link[link].shapes]
    if named_links:
        return (with_shape or named_links)[0], ()
    above = [link for link, height in heights.items() if height > float(middle[2]) and tree.link[link].shapes]
    return (max(above, key=heights.__getitem__) if above else None), ()
