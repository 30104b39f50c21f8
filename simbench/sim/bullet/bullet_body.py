"""PyBullet, quiet on the terminal; and its bodies: poses, velocities and forces of links, and contacts."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simbench.robot.native_output import quiet_native_output
from simbench.sim.engine import BodyHandle, Contact, LinkHandle
from simbench.sim.vectors import Motion, Vector

with quiet_native_output():
    import pybullet as bullet

__all__ = ["ROOT", "BulletBody", "BulletContacts", "bullet", "link_handles"]


ROOT = LinkHandle(-1)  # Bullet's index of every body's root link.


class BulletBody:
    """A body in one of Bullet's worlds."""

    client: int  # PyBullet's client id.
    handle: BodyHandle  # PyBullet's body id.
    links: Mapping[str, LinkHandle]  # Link name to Bullet's index (root: -1).

    def link_motions(self, links: Sequence[LinkHandle]) -> list[Motion]:
        """Compute the poses and velocities of links for the present joint positions.

        `links`: links of this body; the root only alone (`[-1]`). Returns one for each link, in world axes.
        """
        if links == [-1]:
            # Bullet knows the root's motion as that of its centre of mass and principal axes.
            client = self.client
            com, rotation = bullet.getBasePositionAndOrientation(self.handle, physicsClientId=client)
            inertial = bullet.getDynamicsInfo(self.handle, -1, physicsClientId=client)[3:5]
            frame = bullet.multiplyTransforms(com, rotation, *bullet.invertTransform(*inertial))
            linear, angular = bullet.getBaseVelocity(self.handle, physicsClientId=client)
            return [(com, frame[0], frame[1], linear, angular)]
        states = bullet.getLinkStates(
            self.handle, links, computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=self.client
        )
        return [(state[0], *state[4:8]) for state in states]

    def apply_force(self, link: LinkHandle, force: Vector, point: Vector) -> None:
        """Apply a force to a link during the next step.

        `link`: link that the force acts on; `force` (3,): force, world axes, N; `point` (3,): point of
        application, world frame, m.
        """
        bullet.applyExternalForce(
            self.handle, link, force, point, bullet.WORLD_FRAME, physicsClientId=self.client
        )

    def apply_wrench(self, link: LinkHandle, force: Vector, torque: Vector, point: Vector) -> None:
        """Apply a force and a torque to a link during the next step.

        Bullet takes the lever of an external force about where it last computed the link to be: a step ago,
        unless `link_motions` asked for the link in between. `link`: link that the wrench acts on; `force`,
        `torque` (3,): force (N) and torque (N·m), world axes; `point` (3,): point of application of the
        force, world frame, m.
        """
        handle, client = self.handle, self.client
        bullet.applyExternalForce(handle, link, force, point, bullet.WORLD_FRAME, physicsClientId=client)
        bullet.applyExternalTorque(handle, link, torque, bullet.WORLD_FRAME, physicsClientId=client)


def link_handles(client: int, body: BodyHandle) -> dict[str, LinkHandle]:
    """List the links of a body but for its root.

    `client`: PyBullet's client id; `body`: PyBullet's body id. Returns {str: LinkHandle}: link name to
    Bullet's index.
    """
    count = bullet.getNumJoints(body, physicsClientId=client)
    infos = [bullet.getJointInfo(body, index, physicsClientId=client) for index in range(count)]
    return {info[12].decode(): LinkHandle(info[0]) for info in infos}


class BulletContacts:
    """All contact points of a world's last step.

    Asked for those of a body, Bullet names it first and turns the normal round where it was second, but not
    the friction. Asked for all, it tells everything as the first feels it. `client`: PyBullet's client id of
    the world.
    """

    __slots__ = ("_points",)

    def __init__(self, client: int) -> None:
        self._points: tuple[tuple[Any, ...], ...] = bullet.getContactPoints(physicsClientId=client)

    def on(self, body: BodyHandle) -> Iterator[Contact]:
        """Iterate over the contacts of a body.

        `body`: body that feels the contacts. Yields A contact of the body with itself appears once, as one of
        its two links feels it.
        """
        # One pattern, nothing called: all that a robot touches is read here hundreds of times a second.
        for _, first, second, link, other_link, at_first, at_second, (nx, ny, nz), distance, normal, along, (
            sx,
            sy,
            sz,
        ), across, (tx, ty, tz) in self._points:
            x = normal * nx + along * sx + across * tx
            y = normal * ny + along * sy + across * ty
            z = normal * nz + along * sz + across * tz
            if first == body:
                yield link, second, other_link, at_first, distance, normal, (x, y, z)
            elif second == body:
                yield other_link, first, link, at_second, distance, normal, (-x, -y, -z)
