"""Roles of bodies: pelvis, trunk, head, and the links that stand for them."""

from dataclasses import dataclass

import numpy as np

from simbench.robot.scaffold.chains import LimbChain
from simbench.robot.scaffold.names import parts_in_name
from simbench.robot.scaffold.tree import Array, RobotTree, link_placement


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
