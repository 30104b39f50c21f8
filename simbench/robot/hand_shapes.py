"""Which links of a robot can touch something."""

import xml.etree.ElementTree as ET

from simbench.robot.robot import Robot


def links_with_collision_shape(robot: Robot) -> frozenset[str]:
    """List the links that have a collision shape. Returns names of the links."""
    root = ET.fromstring(robot.urdf_text)
    return frozenset(
        str(link.get("name")) for link in root.iter("link") if link.find("collision") is not None
    )


def palm_links(robot: Robot, role: str) -> tuple[str, ...]:
    """List the links that are rigidly one with a palm: the palm's, and those with a shape fixed to it beyond.

    `role`: role of the hand, `left_hand` or `right_hand`. Returns names of the links, that of the palm first.
    Links that the hand lists as fingers are none of them.
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
    return (hand.palm, *beyond)


def hand_links(robot: Robot, role: str) -> tuple[str, ...]:
    """List the links of a hand: those of its palm, and its fingers.

    `role`: role of the hand, `left_hand` or `right_hand`. Returns names of the links.
    """
    return (*palm_links(robot, role), *robot.hands[role].fingers)


def hands_without_shape(robot: Robot) -> tuple[str, ...]:
    """List the hands that cannot touch anything: a grip then engages by distance alone.

    Returns roles of the hands of which neither palm nor fingers have a collision shape.
    """
    shaped = links_with_collision_shape(robot)
    return tuple(
        role for role, hand in robot.hands.items() if not shaped.intersection((hand.palm, *hand.fingers))
    )
