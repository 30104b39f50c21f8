"""The palms: frames with x along the fingers and z out of the back of the hand."""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from simbench.robot.scaffold.limb_chains import LimbChain, parts_in_name
from simbench.robot.scaffold.robot_tree import Array, RobotTree, link_placement
from simbench.robot.urdf.mesh_files import shape_points

_ALIGNED = 0.8
"""Cosine from which a direction is taken for the axis of the hand's frame next to it."""
_ROUNDING = 1e-6
"""Distance that makes no difference, m."""
_FLAT = 1.15
"""Ratio of a hand's width to its thickness from which its thin side is the back of the hand."""


@dataclass(frozen=True)
class PalmGuess:
    """Possible frames of a palm."""

    body: int  # Body of the hand.
    # Poses in the frame of the body, each with x along the fingers; they differ in the back of the hand.
    frames: tuple[pin.SE3, ...]
    sure: bool  # Whether geometry determines the back of the hand; else the posture decides.
    reason: str  # What determines fingers and back.


def find_palm(tree: RobotTree, limb: LimbChain, *, flange: bool) -> PalmGuess:
    """Find the palm's frame of an arm.

    `flange`: whether a hand without fingers is the flange of a single arm, whose face is the palm. Returns
    possible frames.
    """
    hand = limb.joints[-1]
    x_axis, along = _finger_direction(tree, limb)
    closing, opposed = _closing_direction(tree, limb, x_axis)
    if closing is not None:
        backs = [-closing, closing] if opposed else [-closing]
        back = "fingers that close toward each other" if opposed else "the side to which the fingers close"
    else:
        backs, back = _thin_sides(tree, hand, x_axis)
    origin = _origin(tree, limb, x_axis, flange=flange, opposed=opposed)
    frames = [_palm_frame(tree, hand, x_axis, z, origin, flange=flange, opposed=opposed) for z in backs]
    return PalmGuess(hand, tuple(frames), len(backs) == 1, f"x: {along}; z: {back}")


def fitting_link(tree: RobotTree, body: int, frame: pin.SE3, tolerance: float) -> str | None:
    """Find a link whose frame is a wanted one.

    `body`: body to which the link is fixed; `frame`: wanted pose in the frame of the body; `tolerance`:
    allowed distance of the origins, m. Returns name of the link; None if there is none.
    """
    for link in tree.links[body]:
        offset = frame.actInv(link_placement(tree, link))
        turned = np.arccos(np.clip((np.trace(offset.rotation) - 1.0) / 2.0, -1.0, 1.0))
        if turned < 1e-3 and np.linalg.norm(offset.translation) < tolerance:
            return link
    return None


def palm_link(tree: RobotTree, hand: int) -> str:
    """Choose the link of a hand that touches what it holds.

    `hand`: body of the hand. Returns the link with the largest collision shape; of a hand without any, the
    largest visible one.
    """
    known = {link.name: link for link in tree.urdf.links}

    def size(name: str) -> tuple[bool, float]:
        solid = [shape for shape in known[name].shapes if shape.role == "collision"]
        points = [shape_points(shape, tree.path.parent) for shape in solid or known[name].shapes]
        extents = [float(np.prod(np.ptp(each, axis=0) + 1e-4)) for each in points if each is not None]
        return bool(solid), round(max(extents, default=0.0), 12)

    return max(tree.links[hand], key=size)


def _finger_direction(tree: RobotTree, limb: LimbChain) -> tuple[Array, str]:
    """Direction from the wrist to the fingers in the frame of the hand's body, and what it follows from."""
    hand = limb.joints[-1]
    inverse = tree.poses[hand].inverse()
    length = np.linalg.norm(tree.poses[hand].translation - tree.poses[limb.start].translation)
    forearm = inverse.rotation @ (tree.poses[hand].translation - tree.poses[limb.middle].translation)
    if limb.fingers:
        points = tree.placed_points(list(limb.fingers))
        direction, reason = inverse.act(points.mean(axis=0)), "from the wrist to the fingers"
    else:
        origins = (_origin_of(tree, link) for link in tree.links[hand])
        points = np.vstack([*tree.shapes[hand], *tree.outlines[hand], *origins])
        direction = 0.5 * (points.min(axis=0) + points.max(axis=0))
        reason = "from the wrist to the middle of the hand"
        axis = tree.poses[hand].rotation.T @ tree.axis(hand)
        off_axis = direction - axis * float(axis @ direction)
        if (
            abs(axis @ forearm) > _ALIGNED * np.linalg.norm(forearm)
            and np.linalg.norm(off_axis) < 0.03 * length
        ):
            return axis * np.sign(axis @ forearm), "axis of the last joint, away from the elbow"
        if np.linalg.norm(off_axis) < 0.02 * length and abs(axis @ direction) > 0.005 * length:
            return axis * np.sign(axis @ direction), "axis of the last joint, out of the flange"
    if np.linalg.norm(direction) < 0.02 * length:
        direction, reason = forearm, "direction of the forearm"
    return _snap(tree, hand, direction), reason


def _origin_of(tree: RobotTree, link: str) -> Array:
    """Origin (1, 3) of a link in the frame of its body, m."""
    return link_placement(tree, link).translation[None]


def _snap(tree: RobotTree, hand: int, direction: Array) -> Array:
    """Return the unit vector along a direction, or along the axis of a frame of the hand next to it."""
    unit = direction / max(float(np.linalg.norm(direction)), 1e-9)
    frames = [np.eye(3), *(link_placement(tree, link).rotation for link in tree.links[hand])]
    axes = np.vstack(
        [frames[0].T, -frames[0].T, *(sign * frame.T for frame in frames[1:] for sign in (1, -1))]
    )
    best = axes[int(np.round(axes @ unit, 6).argmax())]
    return best.copy() if best @ unit > _ALIGNED else unit


def _closing_direction(tree: RobotTree, limb: LimbChain, x_axis: Array) -> tuple[Array | None, bool]:
    """Direction in which the fingers close in the hand's frame; whether they close toward each other."""
    hand = limb.joints[-1]
    moved = []
    open_points = [tree.poses[hand].actInv(tree.poses[joint]) for joint in limb.fingers]
    for joint, open_pose in zip(limb.fingers, open_points, strict=True):
        q = tree.rest.copy()
        low, high = tree.limits(joint)
        q[joint - 1] = q[joint - 1] + 0.3 * ((high if high > -low else low) - q[joint - 1])
        poses = tree.configured(q)
        points = tree.points[joint] if len(tree.points[joint]) else np.eye(3) * 0.01
        closed = poses[hand].actInv(poses[joint])
        step = (points @ closed.rotation.T + closed.translation).mean(axis=0)
        step -= (points @ open_pose.rotation.T + open_pose.translation).mean(axis=0)
        moved.append(step - x_axis * float(x_axis @ step))
    if not moved:
        return None, False
    steps = np.array(moved)
    total = float(np.linalg.norm(steps, axis=1).sum())
    if total < 1e-6:
        return None, False
    net = steps.sum(axis=0)
    opposed = bool(np.linalg.norm(net) < 0.3 * total)
    direction = np.linalg.svd(steps)[2][0] if opposed else net
    return _across(tree, hand, direction, x_axis), opposed


def _across(tree: RobotTree, hand: int, direction: Array, x_axis: Array) -> Array:
    """Return a unit vector at right angles to the fingers next to a direction, if possible along an axis."""
    for candidate in (_snap(tree, hand, direction), direction):
        flat = candidate - x_axis * float(x_axis @ candidate)
        length = float(np.linalg.norm(flat))
        if length > 0.7 * float(np.linalg.norm(candidate)):
            break
    return flat / max(length, 1e-9)


def _thin_sides(tree: RobotTree, hand: int, x_axis: Array) -> tuple[list[Array], str]:
    """Directions in which the back of a hand without fingers may look: across its thin side, else any."""
    first = _across(tree, hand, _perpendicular(tree, hand, x_axis), x_axis)
    second = np.cross(x_axis, first)
    points = np.vstack([np.empty((0, 3)), *tree.shapes[hand], *tree.outlines[hand]])
    if len(points) > 3:
        # A wrist is round; the hand beyond it is flat.
        points = points[points @ x_axis > np.mean([(points @ x_axis).min(), (points @ x_axis).max()])]
        a, b = (float(np.ptp(points @ axis)) for axis in (first, second))
        if max(a, b) > _FLAT * min(a, b):
            thin = first if a < b else second
            return [thin, -thin], "thin side of the hand"
    return [first, second, -first, -second], "any side: the hand is as wide as thick"


def _perpendicular(tree: RobotTree, hand: int, x_axis: Array) -> Array:
    """Return the axis of the hand's own frame that is most nearly at right angles to the fingers."""
    axes = np.eye(3)
    return axes[int(np.abs(axes @ x_axis).argmin())]


def _origin(tree: RobotTree, limb: LimbChain, x_axis: Array, *, flange: bool, opposed: bool) -> Array:
    """Centre of the palm, in the frame of the hand's body, before it is moved to the surface, m."""
    hand = limb.joints[-1]
    inverse = tree.poses[hand].inverse()
    if opposed:
        points = tree.placed_points(_jaw_tips(tree, limb, inverse.rotation.T @ x_axis))
        points = points @ inverse.rotation.T + inverse.translation
        return 0.5 * (points.min(axis=0) + points.max(axis=0))
    if not tree.shapes[hand]:
        ends = np.vstack([_origin_of(tree, link) for link in tree.links[hand]])
        return x_axis * float((ends @ x_axis).max())
    if flange and not limb.fingers:
        ends = np.vstack([tree.points[hand], *(_origin_of(tree, link) for link in tree.links[hand])])
        return x_axis * float((ends @ x_axis).max())
    palm = _palm_shape(tree, hand)
    return 0.5 * (palm.min(axis=0) + palm.max(axis=0))


def _jaw_tips(tree: RobotTree, limb: LimbChain, outward: Array) -> list[int]:
    """Bodies at the ends of jaws, between which things are held: the last links beyond the jaws' middle."""
    ends = [joint for joint in limb.fingers if not set(tree.children[joint]) & set(limb.fingers)]
    reach = {
        joint: _middle(tree.placed_points([joint]) @ outward) for joint in ends if len(tree.points[joint])
    }
    middle = _middle(tree.placed_points(list(limb.fingers)) @ outward)
    return [joint for joint, own in reach.items() if own > middle - _ROUNDING] or list(limb.fingers)


def _middle(values: Array) -> float:
    """Middle between the least and the largest value."""
    return 0.5 * float(values.min() + values.max())


def _palm_shape(tree: RobotTree, hand: int) -> Array:
    """Corners of the largest shape of the hand, in the frame of its body, m."""
    return max(
        (*tree.shapes[hand], *tree.outlines[hand]),
        key=lambda shape: float(np.prod(np.ptp(shape, axis=0) + 1e-4)),
    )


def _palm_frame(
    tree: RobotTree, hand: int, x_axis: Array, z_axis: Array, origin: Array, *, flange: bool, opposed: bool
) -> pin.SE3:
    """Frame of a palm; its origin lies on the palm's surface unless it is a flange or between jaws."""
    rotation = np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis])
    for link in () if opposed else tree.links[hand]:
        own = link_placement(tree, link)
        named = parts_in_name(link) & {"hand", "grip"}
        far = float(own.translation @ x_axis) > 0.8 * float(origin @ x_axis) and not flange
        if named and far and np.abs(own.rotation.T @ rotation).max(axis=0).min() > 0.9999:
            return pin.SE3(rotation, own.translation.copy())
    if flange or opposed or not tree.shapes[hand]:
        return pin.SE3(rotation, origin)
    heights = _palm_shape(tree, hand) @ z_axis
    return pin.SE3(rotation, origin + z_axis * (float(heights.min()) - float(origin @ z_axis)))
