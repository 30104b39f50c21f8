"""Where links are and how they move, as Bullet has them now, in plain floats."""

from collections.abc import Sequence
from typing import NamedTuple

from simbench.sim.fixtures.fixture import Fixture
from simbench.sim.vectors import Quaternion, Vector, rotated, total
from simbench.sim.world import RobotBody, bullet


class LinkMotion(NamedTuple):
    """Where a link is and how it moves, world axes.

    Parameters
    ----------
    com : (3,) floats
        Centre of mass, m.
    position : (3,) floats
        Origin of the link's frame, m.
    quaternion : (4,) floats
        Of the link's frame, x, y, z, w.
    linear : (3,) floats
        Velocity of the centre of mass, m/s.
    angular : (3,) floats
        rad/s.
    """

    com: Vector
    position: Vector
    quaternion: Quaternion
    linear: Vector
    angular: Vector


def link_motions(body: RobotBody | Fixture, links: Sequence[int]) -> list[LinkMotion]:
    """Motion of links, by Bullet's indices, or of the root alone (`[-1]`), as the joints are now."""
    client = body.world.client
    if links == [-1]:
        return [_root_motion(body)]
    states = bullet.getLinkStates(
        body.body, links, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
    )
    return [LinkMotion(state[0], *state[4:8]) for state in states]


def _root_motion(body: RobotBody | Fixture) -> LinkMotion:
    """Motion of a body's root, which Bullet knows as that of its centre of mass and principal axes."""
    client = body.world.client
    com, turn = bullet.getBasePositionAndOrientation(body.body, physicsClientId=client)
    inertial = bullet.getDynamicsInfo(body.body, -1, physicsClientId=client)[3:5]
    frame = bullet.multiplyTransforms(com, turn, *bullet.invertTransform(*inertial))
    linear, angular = bullet.getBaseVelocity(body.body, physicsClientId=client)
    return LinkMotion(com, frame[0], frame[1], linear, angular)


def placed(link: LinkMotion, place: Vector) -> Vector:
    """Where a place in a link's frame is in the world, m."""
    return total(link.position, rotated(link.quaternion, place))
