"""Where links are and how they move, as Bullet has them now, in plain floats."""

from collections.abc import Sequence

from simbench.sim.fixtures.fixture import Fixture
from simbench.sim.vectors import Quaternion, Vector, rotated, total
from simbench.sim.world import RobotBody, bullet

Motion = tuple[Vector, Vector, Quaternion, Vector, Vector]
"""Of a link, world axes: centre of mass (m), origin (m) and turn (quaternion x, y, z, w) of its frame,
velocity of the centre of mass (m/s), angular velocity (rad/s). Plain: compiled functions take it at once."""


def link_motions(body: RobotBody | Fixture, links: Sequence[int]) -> list[Motion]:
    """Motion of links, by Bullet's indices, or of the root alone (`[-1]`), as the joints are now."""
    client = body.world.client
    if links == [-1]:
        return [_root_motion(body)]
    states = bullet.getLinkStates(
        body.body, links, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client
    )
    return [(state[0], *state[4:8]) for state in states]


def _root_motion(body: RobotBody | Fixture) -> Motion:
    """Motion of a body's root, which Bullet knows as that of its centre of mass and principal axes."""
    client = body.world.client
    com, turn = bullet.getBasePositionAndOrientation(body.body, physicsClientId=client)
    inertial = bullet.getDynamicsInfo(body.body, -1, physicsClientId=client)[3:5]
    frame = bullet.multiplyTransforms(com, turn, *bullet.invertTransform(*inertial))
    linear, angular = bullet.getBaseVelocity(body.body, physicsClientId=client)
    return com, frame[0], frame[1], linear, angular


def placed(link: Motion, place: Vector) -> Vector:
    """Where a place in a link's frame is in the world, m."""
    return total(link[1], rotated(link[2], place))
