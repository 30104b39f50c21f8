"""Which links of a robot can touch something."""

import xml.etree.ElementTree as ET

from simbench.robot.robot import Robot


def links_with_collision_shape(robot: Robot) -> frozenset[str]:
    """List the links that have a collision shape.

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    frozenset of str
        Names of the links.
    """
    root = ET.fromstring(robot.urdf_text)
    return frozenset(
        str(link.get("name")) for link in root.iter("link") if link.find("collision") is not None
    )


def hands_without_shape(robot: Robot) -> tuple[str, ...]:
    """List the hands that cannot touch anything: a grip then engages by distance alone.

    Parameters
    ----------
    robot : Robot
        The robot.

    Returns
    -------
    tuple of str
        Roles of the hands of which neither palm nor fingers have a collision shape.
    """
    shaped = links_with_collision_shape(robot)
    return tuple(
        role for role, hand in robot.hands.items() if not shaped.intersection((hand.palm, *hand.fingers))
    )
