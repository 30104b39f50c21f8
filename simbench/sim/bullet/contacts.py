"""Bullet's contact points as forces on a body."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from simbench.sim.bullet.client import bullet
from simbench.sim.engine import BodyHandle, Contact

_make = partial(tuple.__new__, Contact)
"""Makes a contact from a tuple, in two thirds of the time."""


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
            _, first, second, link, other_link, at_first, at_second, *rest = point
            (nx, ny, nz), distance, normal, along, (sx, sy, sz), across, (tx, ty, tz) = rest
            if first == body:
                x = normal * nx + along * sx + across * tx
                y = normal * ny + along * sy + across * ty
                z = normal * nz + along * sz + across * tz
                yield _make((link, second, other_link, at_first, distance, normal, (x, y, z)))
            elif second == body:
                x = normal * nx + along * sx + across * tx
                y = normal * ny + along * sy + across * ty
                z = normal * nz + along * sz + across * tz
                yield _make((other_link, first, link, at_second, distance, normal, (-x, -y, -z)))
