"""The palms: frames with x along the fingers and z out of the back of the hand."""

import numpy as np
import pinocchio as pin

from simbench.robot.scaffold.limb_chains import LimbChain, parts_in_name
from simbench.robot.scaffold.robot_tree import Array, RobotTree
from simbench.robot.urdf.mesh_files import shape_points

_ALIGNED = 0.8  # Cosine from which a direction is taken for the axis of the hand's frame next to it.
_ROUNDING = 1e-6  # Distance that makes no difference, m.
_FLAT = 1.15  # Ratio of a hand's width to its thickness from which its thin side is the back of the hand.


def find_palm(tree: RobotTree, limb: LimbChain, *, flange: bool) -> tuple[list[pin.SE3], bool, str]:
    """Find the palm's frame of an arm.

    `flange`: whether a hand without fingers is the flange of a single arm, whose face is the palm. Returns
    possible poses in the frame of the hand's body, each with x along the fingers, which differ in the back of
    the hand; whether geometry determines that, or else the posture decides; and what determines both.
    """
    hand = limb.joints[-1]
    x_axis, along = _finger_direction(tree, limb)
    closing, opposed = _closing_direction(tree, limb, x_axis)
    shapes = [*tree.shapes[hand], *tree.outlines[hand]]
    if not limb.wrist:
        # Hand and forearm are one: what lies beyond the wrist.
        beyond = [shape[shape @ x_axis > limb.end @ x_axis] for shape in shapes]
        shapes = [shape for shape in beyond if len(shape) > 3]
    if closing is not None:
        backs = [-closing, closing] if opposed else [-closing]
        back = "fingers that close toward each other" if opposed else "the side to which the fingers close"
    else:
        # Along the axis of the hand's own frame that is most nearly at right angles to the fingers.
        first = _across(tree, hand, np.eye(3)[int(np.abs(x_axis).argmin())], x_axis)
        second = np.cross(x_axis, first)
        backs, back = [first, second, -first, -second], "any side: the hand is as wide as thick"
        points = np.vstack([np.empty((0, 3)), *shapes])
        if len(points) > 3:
            # A wrist is round; the hand beyond it is flat.
            points = points[points @ x_axis >= _middle(points @ x_axis)]
            a, b = (float(np.ptp(points @ axis)) for axis in (first, second))
            if max(a, b) > _FLAT * min(a, b):
                thin = first if a < b else second
                backs, back = [thin, -thin], "thin side of the hand"
    # Centre of the palm, in the frame of the hand's body, before it is moved to the surface, m.
    inverse = tree.poses[hand].inverse()
    palm = max(shapes, key=lambda shape: float(np.prod(np.ptp(shape, axis=0) + 1e-4)), default=None)
    ends = [tree.placement(link).translation[None] for link in tree.links[hand]]
    if opposed:
        # Between the ends of jaws, where things are held: the last links beyond the jaws' middle.
        outward = inverse.rotation.T @ x_axis
        last = [joint for joint in limb.fingers if not set(tree.children[joint]) & set(limb.fingers)]
        middle = _middle(tree.placed_points(limb.fingers) @ outward)
        tips = [
            joint
            for joint in last
            if len(tree.points[joint]) and _middle(tree.placed_points([joint]) @ outward) > middle - _ROUNDING
        ]
        points = tree.placed_points(tips or limb.fingers)
        points = points @ inverse.rotation.T + inverse.translation
        origin = 0.5 * (points.min(axis=0) + points.max(axis=0))
    elif palm is None and not limb.wrist:
        origin = limb.end
    elif not tree.shapes[hand] or palm is None:
        origin = x_axis * float((np.vstack(ends) @ x_axis).max())
    elif flange and not limb.fingers:
        origin = x_axis * float((np.vstack([tree.points[hand], *ends]) @ x_axis).max())
    else:
        origin = 0.5 * (palm.min(axis=0) + palm.max(axis=0))
    frames = []
    for z_axis in backs:
        rotation = np.column_stack([x_axis, np.cross(z_axis, x_axis), z_axis])
        placed = _named_origin(tree, hand, rotation, origin) if not opposed and not flange else None
        if placed is None and not (flange or opposed or not tree.shapes[hand] or palm is None):
            # It lies on the palm's surface unless it is a flange or between jaws.
            placed = origin + z_axis * (float((palm @ z_axis).min()) - float(origin @ z_axis))
        frames.append(pin.SE3(rotation, origin if placed is None else placed))
    return frames, len(backs) == 1, f"x: {along}; z: {back}"


def _named_origin(tree: RobotTree, hand: int, rotation: Array, origin: Array) -> Array | None:
    """Origin of a link at the hand's end that is named as the hand and has the palm's axes."""
    x_axis = rotation[:, 0]
    for link in tree.links[hand]:
        own = tree.placement(link)
        named = parts_in_name(link) & {"hand", "grip"}
        far = float(own.translation @ x_axis) > 0.8 * float(origin @ x_axis)
        if named and far and np.abs(own.rotation.T @ rotation).max(axis=0).min() > 0.9999:
            return own.translation.copy()
    return None


def palm_link(tree: RobotTree, hand: int) -> str:
    """Choose the link of a hand that touches what it holds.

    `hand`: body of the hand. Returns the link with the largest collision shape; of a hand without any, the
    largest visible one.
    """

    def size(name: str) -> tuple[bool, float]:
        solid = [shape for shape in tree.link[name].shapes if shape.role == "collision"]
        points = [shape_points(shape, tree.path.parent) for shape in solid or tree.link[name].shapes]
        extents = [float(np.prod(np.ptp(each, axis=0) + 1e-4)) for each in points if each is not None]
        return bool(solid), round(max(extents, default=0.0), 12)

    return max(tree.links[hand], key=size)


def _finger_direction(tree: RobotTree, limb: LimbChain) -> tuple[Array, str]:
    """Direction from the wrist to the fingers in the frame of the hand's body, and what it follows from."""
    hand = limb.joints[-1]
    inverse = tree.poses[hand].inverse()
    length = tree.distance(limb.start, hand)
    forearm = inverse.rotation @ (limb.end_point(tree.poses) - tree.poses[limb.middle].translation)
    if not limb.wrist:
        return _snap(tree, hand, forearm), "direction of the forearm, with which the hand is one"
    if limb.fingers:
        points = tree.placed_points(limb.fingers)
        direction, reason = inverse.act(points.mean(axis=0)), "from the wrist to the fingers"
    else:
        origins = (tree.placement(link).translation[None] for link in tree.links[hand])
        points = np.vstack([*tree.shapes[hand], *tree.outlines[hand], *origins])
        direction = 0.5 * (points.min(axis=0) + points.max(axis=0))
        reason = "from the wrist to the middle of the hand"
        axis = tree.poses[hand].rotation.T @ tree.axis(hand)
        off_axis = np.linalg.norm(direction - axis * float(axis @ direction))
        if abs(axis @ forearm) > _ALIGNED * np.linalg.norm(forearm) and off_axis < 0.03 * length:
            return axis * np.sign(axis @ forearm), "axis of the last joint, away from the elbow"
        if off_axis < 0.02 * length and abs(axis @ direction) > 0.005 * length:
            return axis * np.sign(axis @ direction), "axis of the last joint, out of the flange"
    if np.linalg.norm(direction) < 0.02 * length:
        direction, reason = forearm, "direction of the forearm"
    return _snap(tree, hand, direction), reason


def _snap(tree: RobotTree, hand: int, direction: Array) -> Array:
    """Return the unit vector along a direction, or along the axis of a frame of the hand next to it."""
    unit = direction / max(float(np.linalg.norm(direction)), 1e-9)
    frames = [np.eye(3), *(tree.placement(link).rotation for link in tree.links[hand])]
    axes = np.vstack([sign * frame.T for frame in frames for sign in (1, -1)])
    best = axes[int(np.round(axes @ unit, 6).argmax())]
    return best.copy() if best @ unit > _ALIGNED else unit


def _closing_direction(tree: RobotTree, limb: LimbChain, x_axis: Array) -> tuple[Array | None, bool]:
    """Direction in which the fingers close in the hand's frame; whether they close toward each other."""
    hand = limb.joints[-1]
    moved = []
    for joint in limb.fingers:
        opened = tree.poses[hand].actInv(tree.poses[joint])
        q = tree.rest.copy()
        low, high = tree.limits(joint)
        q[joint - 1] = q[joint - 1] + 0.3 * ((high if high > -low else low) - q[joint - 1])
        poses = tree.configured(q)
        points = tree.points[joint] if len(tree.points[joint]) else np.eye(3) * 0.01
        closed = poses[hand].actInv(poses[joint])
        step = (points @ closed.rotation.T + closed.translation).mean(axis=0)
        step -= (points @ opened.rotation.T + opened.translation).mean(axis=0)
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


def _middle(values: Array) -> float:
    """Middle between the least and the largest value."""
    return 0.5 * float(values.min() + values.max())
