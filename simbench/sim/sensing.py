"""Contacts: foot wrenches, touching points, and every contact of the robot as an event."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simbench.robot.robot import Robot
from simbench.sim.engine import BodyHandle, Contacts, LinkHandle, RobotBody
from simbench.sim.state import Signal
from simbench.sim.vectors import Vector

TOUCH_DISTANCE = 1e-3  # Points closer than this (m) to the floor count for the support polygon.

# Points at which an engine lets a shape stand on the floor, but for a sphere's one; most points of a foot.
_POINTS_PER_SHAPE, _MOST_POINTS = 4, 32
_NO_POINT = (math.nan, math.nan)


@dataclass
class ContactEvent:
    """A contact between two links, from first to last sample that saw it."""

    first: str  # `first`, `second`: `body/link` of either side; the first is the robot's.
    second: str
    # `start`, `end`: first and last time, s; while a contact lasts, the end is the time of the last sample.
    start: float
    end: float
    peak_force: float  # Largest sum of normal forces at a sample, N.


def count_foot_points(robot: Robot) -> int:
    """Count the points at which a foot can stand on the floor: those of the foot with the most shapes."""
    count, model = _POINTS_PER_SHAPE, robot.model
    links = ET.fromstring(robot.urdf_text).findall("link")
    for role in robot.feet:
        foot = model.frames[model.getFrameId(robot.frames[role])].parentJoint
        shapes = [
            shape
            for link in links
            if model.frames[model.getFrameId(link.get("name", ""))].parentJoint == foot
            for shape in link.iterfind("collision/geometry/*")
        ]
        count = max(count, sum(1 if shape.tag == "sphere" else _POINTS_PER_SHAPE for shape in shapes))
    return min(count, _MOST_POINTS)


class ContactSensor:
    """Reads the contacts of one robot: their sums in the last step, and the open events.

    `names`: names of the other bodies of the world and of their links. `sample` overwrites `foot_wrench`
    (F, 6), force (N) and moment about the world's origin (N·m) of the floor on each foot; `foot_points`
    (F, P, 2), touching points of each foot on the floor, m, NaN where there are fewer; and `other_wrench`
    (6,), sum of all other contact forces on the robot from outside (N), and their moment about the world's
    origin (N·m).
    """

    def __init__(
        self, body: RobotBody, names: Mapping[BodyHandle, tuple[str, Mapping[LinkHandle, str]]]
    ) -> None:
        self.body, self.names = body, names
        feet = len(body.robot.feet)
        self.foot_wrench, self.other_wrench = np.zeros((feet, 6)), np.zeros(6)
        self.foot_points = np.full((feet, count_foot_points(body.robot), 2), np.nan)
        self.events: list[ContactEvent] = []  # All contacts so far, in the order of their beginning.
        self._open: dict[tuple[BodyHandle, LinkHandle, LinkHandle], ContactEvent] = {}
        robot, model = body.robot, body.robot.model
        self._feet: dict[LinkHandle, int] = {}
        for row, role in enumerate(robot.feet):
            joint = model.frames[model.getFrameId(robot.frames[role])].parentJoint
            # Every link that fixed joints attach to the last joint of the ankle belongs to the foot.
            for name, link in self.body.links.items():
                if model.existFrame(name) and model.frames[model.getFrameId(name)].parentJoint == joint:
                    self._feet[link] = row
        self._link_names = {link: f"{robot.name}/{name}" for name, link in self.body.links.items()}

    def sample(self, time: float, contacts: Contacts) -> None:
        """Sum up the contacts of the last step, at the end of which it is `time`, s; update the events."""
        wrenches = self.foot_wrench
        feet = len(wrenches)
        # Each foot, then everything else: collected in lists, which beat small arrays.
        points: list[list[Vector]] = [[] for _ in range(feet)]
        totals = [[0.0] * 6 for _ in range(feet + 1)]
        pairs: dict[tuple[BodyHandle, LinkHandle, LinkHandle], float] = {}
        robot, floor = self.body.handle, self.body.world.floor
        row_of = self._feet
        for link, other, other_link, position, distance, normal, force in contacts.on(robot):
            row = row_of.get(link, feet) if other == floor else feet
            if row < feet and distance < TOUCH_DISTANCE:
                points[row].append(position)
            if normal <= 0.0:
                continue
            key = (other, link, other_link)
            pairs[key] = pairs.get(key, 0.0) + normal
            if other != robot:
                _add(totals[row], position, force)
        self.other_wrench[:] = totals.pop()
        if feet:
            wrenches[:] = totals
            # x and y of as many points as are logged; NaN where there are fewer.
            most = self.foot_points.shape[1]
            self.foot_points[:] = [
                ([(x, y) for x, y, _ in each] + [_NO_POINT] * most)[:most] for each in points
            ]
        # Close the events of links that are apart, open or prolong those of links in contact.
        for key in [key for key in self._open if key not in pairs]:
            del self._open[key]
        for key, load in pairs.items():
            event = self._open.get(key)
            if event is None:
                body, link, other_link = key
                first = self._link_names[link]
                if body == robot:
                    second = self._link_names[other_link]
                else:
                    # The body alone if the link has no name.
                    second, links = self.names[body]
                    second = f"{second}/{links[other_link]}" if other_link in links else second
                event = ContactEvent(first, second, time, time, load)
                self._open[key] = event
                self.events.append(event)
            event.end = time
            event.peak_force = max(event.peak_force, load)


# What is logged of a robot's contacts.
CONTACT_SIGNALS: tuple[Signal[ContactSensor], ...] = (
    Signal(
        "foot_wrench",
        ("foot", "axis6"),
        "N, N m about the world origin",
        "Wrench of the floor on each foot.",
        lambda sensor: sensor.foot_wrench,
    ),
    Signal(
        "foot_points",
        ("foot", "point", "xy"),
        "m",
        "Touching points of each foot on the floor; NaN where there are fewer.",
        lambda sensor: sensor.foot_points,
        fill=np.nan,
    ),
    Signal(
        "other_wrench",
        ("axis6",),
        "N, N m about the world origin",
        "Wrench on the robot of everything but the floor under its feet: contacts, grips and pushes. The "
        "samples are of the contacts; grips and pushes are added after the run.",
        lambda sensor: sensor.other_wrench,
    ),
)


def contact_wrench(contacts: Contacts, body: BodyHandle, other: BodyHandle) -> list[float]:
    """Sum up the contact forces on one body from another.

    `contacts`: all contacts of a step; `body`: body that the forces act on; `other`: body that exerts them.
    Returns force (N) and moment about the world's origin (N·m).
    """
    total = [0.0] * 6
    for _, touched, _, position, _, _, force in contacts.on(body):
        if touched == other:
            _add(total, position, force)
    return total


def _add(total: list[float], position: Vector, force: Vector) -> None:
    """Add the force of a contact and its moment about the world's origin."""
    px, py, pz = position
    fx, fy, fz = force
    total[0] += fx
    total[1] += fy
    total[2] += fz
    total[3] += py * fz - pz * fy
    total[4] += pz * fx - px * fz
    total[5] += px * fy - py * fx
