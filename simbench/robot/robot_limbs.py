"""What a robot's limbs can do: joints that imitate a person, grips, accelerations, links that touch."""

import xml.etree.ElementTree as ET
from collections.abc import Collection, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.robot.robot import GRIP_MARGIN, Robot
from simbench.robot.urdf.elements import UrdfTree
from simbench.robot.urdf.source import reduce_model


def upper_body(robot: Robot) -> pin.Model:
    """Reduce a robot's model to trunk and arms on a floating base: the coordinates that imitate a person.

    Legs, head and grips are locked at zero and become part of the links that carry them.
    """
    return reduce_model(robot.model, upper_body_locks(robot), pin.neutral(robot.model))


def upper_body_locks(robot: Robot) -> list[int]:
    """List the joints that do not imitate a person: legs, head and grips.

    Returns indices of these joints in the robot's model.
    """
    keep = {
        "universe",
        "root_joint",
        *robot.groups.get("trunk", ()),
        *robot.groups["left_arm"],
        *robot.groups["right_arm"],
    }
    return [robot.model.getJointId(name) for name in robot.model.names if name not in keep]


def grip_range(robot: Robot, joint: str) -> tuple[float, float]:
    """Find the positions of a grip joint with the hand open and closed.

    `joint`: name of the joint. Returns `opened`, `closed`: the position nearest to 0 that the joint can
    reach, and the limit that is farther from 0, rad; both inside the limits by a margin. Of a joint that
    another moves, where that one takes it.
    """
    coupling = robot.couplings.get(joint)
    if coupling is not None:
        opened, closed = grip_range(robot, coupling.joint)
        return (
            coupling.multiplier * opened + coupling.offset,
            coupling.multiplier * closed + coupling.offset,
        )
    column = robot.root_q + robot.joint_names.index(joint)
    lower = float(robot.model.lowerPositionLimit[column]) + GRIP_MARGIN
    upper = float(robot.model.upperPositionLimit[column]) - GRIP_MARGIN
    return float(np.clip(0.0, lower, upper)), upper if upper > -lower else lower


def close_hands(robot: Robot, joints: NDArray[np.float64], sides: Collection[str]) -> NDArray[np.float64]:
    """Set the grip joints of hands in postures to closed.

    `joints` (..., n): postures: positions of all joints, rad; `sides`: sides of the hands to close, of `left`
    and `right`; a robot may lack a hand. Returns (..., n): the postures with closed hands, rad.
    """
    closed = joints.copy()
    for side in sides:
        hand = robot.hands.get(f"{side}_hand")
        for joint in hand.joints if hand else ():
            closed[..., robot.joint_names.index(joint)] = grip_range(robot, joint)[1]
    return closed


# Number of postures in which gravity and inertia are taken; the worst of them counts.
_POSTURES = 256
# Fraction of a motor's torque left for acceleration, where gravity leaves less in the worst posture.
_LEAST_FRACTION = 0.1
# Time from rest to full speed, s: what is quicker is decided by gears and control, not by torque and inertia.
_SHORTEST_START = 0.02


def estimated_accelerations(robot: Robot, names: Sequence[str]) -> Array:
    """Estimate acceleration limits (n,) of joints from their motors, rad/s², for data sheets do not give any.

    (τ_max − max |g|) / max J over 256 postures of the joint's limb, spread evenly between its limits, the
    rest of the robot in its first posture; g is the torque of gravity with the root upright, J the inertia
    about the joint's axis of all that it moves, rotor included. What neighbours' accelerations cost is left
    out, so this is a measure of scale, not a guarantee of torque. No less than a tenth of the torque is
    counted, and no more than reaches the speed limit in 20 ms. A joint without a torque limit has none.
    """
    # Its import takes a third of a second of CPU time.
    from scipy.stats.qmc import Halton

    model, data = robot.model, robot.model.createData()
    limits: dict[str, float] = {}
    for name in names:
        if name in limits:
            continue
        limb = next((group for group in robot.groups.values() if name in group), (name,))
        columns = np.array([robot.joint_names.index(joint) for joint in limb], dtype=np.int64)
        in_q, in_v = robot.root_q + columns, robot.root_v + columns
        lower, upper = model.lowerPositionLimit[in_q], model.upperPositionLimit[in_q]
        q = pin.neutral(model)
        q[robot.root_q :] = next(iter(robot.postures.values()), q[robot.root_q :])
        inertia, weight = np.zeros(len(limb)), np.zeros(len(limb))
        for fraction in Halton(len(limb), scramble=False).random(_POSTURES):
            q[in_q] = lower + fraction * (upper - lower)
            inertia = np.maximum(inertia, np.diag(pin.crba(model, data, q))[in_v])
            weight = np.maximum(weight, np.abs(pin.computeGeneralizedGravity(model, data, q)[in_v]))
        torque = np.asarray(model.effortLimit)[in_v]
        left = np.maximum(torque - weight, _LEAST_FRACTION * torque)
        found = np.minimum(left / inertia, model.velocityLimit[in_v] / _SHORTEST_START)
        limits |= dict(zip(limb, np.where((torque > 0) & np.isfinite(found), found, np.inf), strict=True))
    return np.array([limits[name] for name in names], dtype=np.float64)


def links_with_collision_shape(robot: Robot) -> frozenset[str]:
    """List the links that have a collision shape. Returns names of the links."""
    root = ET.fromstring(robot.urdf_text)
    return frozenset(
        str(link.get("name")) for link in root.iter("link") if link.find("collision") is not None
    )


_FEW_SHAPES = 0.9  # Part of the mass with collision shapes below which it is said.


def describe_bare_mass(robot: Robot) -> str:
    """Say which part of a robot's mass has collision shapes, and what has none; empty from 90 % on."""
    model = robot.model
    carriers = {
        model.frames[model.getFrameId(link, pin.FrameType.BODY)].parentJoint
        for link in links_with_collision_shape(robot)
    }
    mass = np.array([inertia.mass for inertia in model.inertias])
    solid = float(mass[sorted(carriers)].sum()) / float(mass.sum())
    if solid >= _FEW_SHAPES:
        return ""
    # Each body by its first link.
    links = {
        frame.parentJoint: frame.name for frame in reversed(model.frames) if frame.type == pin.FrameType.BODY
    }
    bare = [links[joint] for joint in sorted(links) if mass[joint] and joint not in carriers]
    more = f" and {len(bare) - 3} more" if len(bare) > 3 else ""
    return (
        f"contact.self_count: {100 * solid:.0f} % of the mass of {robot.name} has collision shapes; the rest "
        f"touches nothing: {', '.join(bare[:3])}{more}"
    )


def hand_links(robot: Robot, role: str, *, fingers: bool = True) -> tuple[str, ...]:
    """List the links of a hand: those that are rigidly one with its palm, and its fingers.

    `role`: role of the hand, `left_hand` or `right_hand`; `fingers`: whether the links that the hand lists as
    fingers are wanted too. Returns names of the links: that of the palm first, then those with a shape that
    are fixed to it beyond, then the fingers.
    """
    hand, model = robot.hands[role], robot.model
    palm = model.getFrameId(hand.palm)
    shaped = links_with_collision_shape(robot)
    beyond = []
    for frame in model.frames:
        known = frame.name in shaped and frame.name not in (hand.palm, *hand.fingers)
        if known and frame.parentJoint == model.frames[palm].parentJoint:
            parent = frame.parentFrame
            while parent not in (0, palm) and model.frames[parent].parentJoint == frame.parentJoint:
                parent = model.frames[parent].parentFrame
            beyond += [frame.name] if parent == palm else []
    return (hand.palm, *beyond, *(hand.fingers if fingers else ()))


def hands_without_shape(robot: Robot) -> tuple[str, ...]:
    """List the hands that cannot touch anything: a grip then engages by distance alone.

    Returns roles of the hands of which neither palm nor fingers have a collision shape.
    """
    shaped = links_with_collision_shape(robot)
    return tuple(
        role for role, hand in robot.hands.items() if not shaped.intersection((hand.palm, *hand.fingers))
    )


def sole_gaps(robot: Robot) -> dict[str, float | None]:
    """Measure how far the collision shapes of each foot are above or below its sole.

    Returns by role of the foot: height of the lowest point of its shapes above the sole's plane, m, negative
    below; None for a foot without collision shapes.
    """
    # It imports trimesh, which takes a third of a second.
    from simbench.robot.urdf.mesh_files import shape_points

    model = robot.model
    links = UrdfTree(ET.fromstring(robot.urdf_text)).links
    gaps: dict[str, float | None] = {}
    for role in robot.soles:
        sole = model.frames[model.getFrameId(robot.frames[role])]
        heights = []
        for link in links:
            frame = model.frames[model.getFrameId(link.name)]
            if frame.parentJoint != sole.parentJoint:
                continue
            placed = sole.placement.actInv(frame.placement)
            for shape in link.shapes:
                points = shape_points(shape, robot.urdf.parent) if shape.role == "collision" else None
                if points is not None:
                    heights.append(float((points @ placed.rotation[2] + placed.translation[2]).min()))
        gaps[role] = min(heights) if heights else None
    return gaps
