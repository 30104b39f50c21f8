"""Bullet's contact points as forces on a body."""

from collections.abc import Iterator
from typing import Any

from simbench.sim.bullet.client import bullet
from simbench.sim.engine import BodyHandle, Contact


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
        for (
            _,
            first,
            second,
            link,
            other_link,
            at_first,
            at_second,
            (nx, ny, nz),
            distance,
            normal,
            along,
            (sx, sy, sz),
            across,
            (tx, ty, tz),
        ) in self._points:
            x = normal * nx + along * sx + across * tx
            y = normal * ny + along * sy + across * ty
            z = normal * nz + along * sz + across * tz
            if first == body:
                yield link, second, other_link, at_first, distance, normal, (x, y, z)
            elif second == body:
                yield other_link, first, link, at_second, distance, normal, (-x, -y, -z)
