"""Contacts: foot wrenches, touching points, and every contact of the robot as an event."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.sim.vectors import Vector
from simbench.sim.world import RobotBody, World, bullet

TOUCH_DISTANCE = 1e-3
"""Points closer than this (m) to the floor count for the support polygon."""

POINTS_PER_FOOT = 4


class Contact(NamedTuple):
    """A contact point of the last step, as one body feels it.

    Parameters
    ----------
    link, other, other_link : int
        Its link, the other body and that body's link, by Bullet's ids.
    place : (3,) floats
        On the body, m.
    distance : float
        m; negative where they are in each other.
    normal : float
        Normal force, N.
    force : (3,) floats
        On the body, N.
    """

    link: int
    other: int
    other_link: int
    place: Vector
    distance: float
    normal: float
    force: Vector


Contacts = Sequence[tuple[Any, ...]]
"""Bullet's contact points of a step."""


def read_contacts(world: World) -> Contacts:
    """Ask Bullet for all contacts of the last step."""
    # Asked for those of a body, Bullet names it first and turns the normal round where it was second, but
    # not the friction. Asked for all, it tells everything as the first feels it.
    contacts: Contacts = bullet.getContactPoints(physicsClientId=world.client)
    return contacts


def contacts_on(contacts: Contacts, body: int) -> Iterator[Contact]:
    """Pick the contacts on a body.

    Parameters
    ----------
    contacts : Contacts
        What `read_contacts` gave.
    body : int
        Bullet's id.

    Yields
    ------
    Contact
        With the body itself: as one of its two links feels it.
    """
    for contact in contacts:
        first, second = contact[1:3]
        if body not in (first, second):
            continue
        normal, along, across = contact[9], contact[10], contact[12]
        n, s, t = contact[7], contact[11], contact[13]
        x = normal * n[0] + along * s[0] + across * t[0]
        y = normal * n[1] + along * s[1] + across * t[1]
        z = normal * n[2] + along * s[2] + across * t[2]
        if first == body:
            yield Contact(contact[3], second, contact[4], contact[5], contact[8], normal, (x, y, z))
        else:
            yield Contact(contact[4], first, contact[3], contact[6], contact[8], normal, (-x, -y, -z))


@dataclass
class ContactEvent:
    """A contact between two links, from first to last sample that saw it.

    Parameters
    ----------
    first, second : str
        `body/link` of either side; the first is the robot's.
    start, end : float
        s; a contact that lasts has the time of the last sample as its end.
    peak_force : float
        Largest sum of normal forces at a sample, N.
    """

    first: str
    second: str
    start: float
    end: float
    peak_force: float


@dataclass
class ContactSensor:
    """Reads Bullet's contacts of one robot; holds the open events.

    Parameters
    ----------
    body : RobotBody
    names : mapping of int to (str, {link index: link name})
        The other bodies of the world.
    """

    body: RobotBody
    names: Mapping[int, tuple[str, Mapping[int, str]]]
    events: list[ContactEvent] = field(default_factory=list)
    _open: dict[tuple[int, int, int], ContactEvent] = field(default_factory=dict)

    def __post_init__(self) -> None:
        robot = self.body.robot
        model = robot.model
        self._feet = {}
        for row, role in enumerate(robot.feet):
            joint = model.frames[model.getFrameId(robot.frames[role])].parentJoint
            # Every Bullet link that hangs on the ankle's last joint by fixed joints belongs to the foot.
            for name, link in self.body.links.items():
                if model.existFrame(name) and model.frames[model.getFrameId(name)].parentJoint == joint:
                    self._feet[link] = row
        self._own = {link: name for name, link in self.body.links.items()}

    def sample(
        self,
        time: float,
        contacts: Contacts,
        wrenches: NDArray[np.float64],
        points: NDArray[np.float64],
        others: NDArray[np.float64],
    ) -> None:
        """Sum up the contacts of the last step.

        Parameters
        ----------
        time : float
            s.
        contacts : Contacts
            What `read_contacts` gave.
        wrenches : (F, 6) array
            Overwritten: force (N) and moment about the world origin (N·m) of the floor on each foot.
        points : (F, 4, 2) array
            Overwritten: touching points of each foot on the floor, m; NaN where there are fewer.
        others : (6,) array
            Overwritten: sum of all other contact forces on the robot from outside, and their moment.
        """
        points[:] = np.nan
        feet = len(wrenches)
        count = [0] * feet
        # Each foot, then everything else: added up in lists, which beat small arrays.
        sums = [[0.0] * 6 for _ in range(feet + 1)]
        pairs: dict[tuple[int, int, int], float] = {}
        own, floor = self.body.body, self.body.world.floor
        for contact in contacts_on(contacts, own):
            second, link, place, normal = contact.other, contact.link, contact.place, contact.normal
            if second == floor and link in self._feet:
                row = self._feet[link]
                if contact.distance < TOUCH_DISTANCE and count[row] < POINTS_PER_FOOT:
                    points[row, count[row]] = place[:2]
                    count[row] += 1
            if normal <= 0.0:
                continue
            key = (second, link, contact.other_link)
            pairs[key] = pairs.get(key, 0.0) + normal
            if second == own:
                continue
            _add(sums[self._feet[link] if second == floor and link in self._feet else feet], contact)
        others[:] = sums.pop()
        if feet:
            wrenches[:] = sums
        self._update_events(time, pairs)

    def _update_events(self, time: float, pairs: Mapping[tuple[int, int, int], float]) -> None:
        for key in [key for key in self._open if key not in pairs]:
            del self._open[key]
        for key, force in pairs.items():
            event = self._open.get(key)
            if event is None:
                event = ContactEvent(self._own_name(key[1]), self._name(key[0], key[2]), time, time, force)
                self._open[key] = event
                self.events.append(event)
            event.end = time
            event.peak_force = max(event.peak_force, force)

    def _own_name(self, link: int) -> str:
        return f"{self.body.robot.name}/{self._own[link]}"

    def _name(self, body: int, link: int) -> str:
        if body == self.body.body:
            return self._own_name(link)
        name, links = self.names[body]
        return f"{name}/{links[link]}" if link in links else name


def contact_wrench(contacts: Contacts, body: int, other: int) -> list[float]:
    """Sum up the contact forces on one body from another.

    Parameters
    ----------
    contacts : Contacts
        What `read_contacts` gave.
    body, other : int
        Bullet's ids.

    Returns
    -------
    list of 6 float
        Force (N) and moment about the world's origin (N·m).
    """
    total = [0.0] * 6
    for contact in contacts_on(contacts, body):
        if contact.other == other:
            _add(total, contact)
    return total


def _add(total: list[float], contact: Contact) -> None:
    """Add the force of a contact and its moment about the world's origin."""
    fx, fy, fz = contact.force
    px, py, pz = contact.place
    total[0] += fx
    total[1] += fy
    total[2] += fz
    total[3] += py * fz - pz * fy
    total[4] += pz * fx - px * fz
    total[5] += px * fy - py * fx
