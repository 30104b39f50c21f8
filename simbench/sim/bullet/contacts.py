"""Bullet's contact points as forces on a body."""

from collections.abc import Iterator
from typing import Any

from simbench.sim.bullet.client import bullet
from simbench.sim.engine import BodyHandle, Contact


class BulletContacts:
    """All contact points of a world's last step.

    Asked for those of a body, Bullet names it first and turns the normal round where it was second, but not
    the friction. Asked for all, it tells everything as the first feels it.

    Parameters
    ----------
    client : int
        PyBullet's client id of the world.
    """

    __slots__ = ("_points",)

    def __init__(self, client: int) -> None:
        self._points: tuple[tuple[Any, ...], ...] = bullet.getContactPoints(physicsClientId=client)

    def on(self, body: BodyHandle) -> Iterator[Contact]:
        """Iterate over the contacts of a body.

        Parameters
        ----------
        body : BodyHandle
            Body that feels the contacts.

        Yields
        ------
        Contact
            A contact of the body with itself appears once, as one of its two links feels it.
        """
        for point in self._points:
            first, second = point[1:3]
            if body not in (first, second):
                continue
            normal, along, across = point[9], point[10], point[12]
            n, s, t = point[7], point[11], point[13]
            x = normal * n[0] + along * s[0] + across * t[0]
            y = normal * n[1] + along * s[1] + across * t[1]
            z = normal * n[2] + along * s[2] + across * t[2]
            if first == body:
                yield Contact(point[3], second, point[4], point[5], point[8], normal, (x, y, z))
            else:
                yield Contact(point[4], first, point[3], point[6], point[8], normal, (-x, -y, -z))
