"""Where and when a person's feet stood on the floor, as the robot's feet are to: from a recording."""

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import PERSON_THRESHOLDS, Flags, contact_intervals
from simbench.kinematics.rotation import wrap_angle
from simbench.motion.foot_motion import (
    find_person_contacts,
    foot_points,
    has_only_ankles,
    person_feet,
    standing_heights,
    with_heels,
)
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.legs.body import PersonBody, low_pass
from simbench.retargeting.legs.floor import leg_segments
from simbench.retargeting.legs.pivots import FootTracks, Pivot, find_pivots
from simbench.robot.sides import SIDES

_SLIDING = 0.05
"""Slide of a foot on the floor from which on it is doubtful, m."""
_SLIDING_NOTE = 0.03
"""Slide from which on it is noted, m: feet of clean recordings slide by 1 to 4 cm as they land and lift."""
_PIVOTING = 0.35
"""Turn of a foot on the floor from which on it is said, rad."""
_HIGHEST_ANKLE = 0.16
"""Height of the ankle over the floor above which its foot does not stand, m."""
_BELT_SPEED = 0.25
"""Speed of the low feet from which on they may stand on a belt, m/s."""
_BELT_PROGRESS, _BELT_SPREAD = 0.35, 0.5
"""Speed of the pelvis, and scatter of the low feet's speed, as parts of it, below which they do."""
_FREE_FALL, _FALL_BANDWIDTH = 0.6, 6.0
"""Part of gravity from which on a person falls freely, and bandwidth at which that is measured, Hz."""
_EVEN = 0.01
"""Difference of height up to which both feet are the lower one, m."""
_CARRIED_NOTE = 0.1
"""Time in which a foot stands for that alone from which on it is said, s."""
_SHORTEST = 0.08
"""Duration below which a contact or a swing is an error of its detection, s."""
_LOW_FOOT = 0.02
"""Height up to which an ankle is low for that, above its lowest tenth, and a point slides, m."""


class FootContact(NamedTuple):
    """One stay of a foot on the floor.

    Parameters
    ----------
    foot : int
        0 left, 1 right.
    landing : float
        Time at which it landed, s; minus infinity if it stood at the recording's first sample.
    lift : float
        Time at which it left the floor, s; infinity if it stood at the last sample.
    position : (2,) array
        Place of the ankle while the foot was flat, in the recording's world frame, m.
    yaw : float
        Direction from heel to toe about the vertical, rad; the heading's where neither is recorded.
    turned : bool
        Whether the foot was on the floor before as well, and turned or slid: `landing` is that of the step
        which a robot takes for it.
    """

    foot: int
    landing: float
    lift: float
    position: Array
    yaw: float
    turned: bool = False


class RecordedSteps(NamedTuple):
    """The steps of a recorded person.

    Parameters
    ----------
    contacts : tuple of FootContact
        Stays of both feet on the floor, by the time in their middle.
    flags : (T, 2) bool array
        Whether each foot is on the floor.
    leg : float
        Length of a leg from the hip to the floor, m.
    notes, doubts : tuple of str
        What was assumed, and what may be wrong, one line each.
    """

    contacts: tuple[FootContact, ...]
    flags: Flags
    leg: float
    notes: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def landings(self) -> int:
        """Number of landings in the recording, with the steps that replace turns on the floor."""
        return sum(bool(np.isfinite(contact.landing)) for contact in self.contacts)

    @property
    def turns(self) -> int:
        """Number of steps that replace turns and slides of feet on the floor."""
        return sum(contact.turned for contact in self.contacts)


class _Movement(NamedTuple):
    """How far a foot slides, m, and turns, rad, in a stay that begins at a time, s."""

    side: str
    begin: float
    slide: float
    turn: float


def find_recorded_steps(motion: HumanMotion, body: PersonBody) -> RecordedSteps:
    """Find where and when a person's feet stood.

    On a treadmill, where low feet move against the heading and the pelvis does not, the belt's speed is taken
    off for the contacts, and each foot steps on the spot.

    Parameters
    ----------
    motion : HumanMotion
        The recording over a level floor (`on_level_floor`), with hips, knees and ankles.
    body : PersonBody
        Heading and pelvis at its samples.

    Returns
    -------
    RecordedSteps
        Contacts, with notes about sliding and turning feet.

    Raises
    ------
    RetargetError
        If a foot never stands.
    """
    motion = with_heels(motion)
    notes: list[str] = []
    doubts: list[str] = []
    belt = _belt_velocity(motion, body)
    still = motion
    if belt is not None:
        still = _without_belt(motion, belt)
        doubts.append(
            f"the feet slide back at {np.linalg.norm(belt):.2f} m/s while they stand, and the pelvis "
            f"stays: taken "
            "for a treadmill; the robot steps on the spot"
        )
    floor = standing_heights(motion)
    leg = leg_segments(motion) + min(max(floor["left_ankle"], 0.0), _HIGHEST_ANKLE)
    if has_only_ankles(motion):
        notes.append("only ankles are recorded of the feet: the feet point where the pelvis does")
    touching = find_person_contacts(still)
    flags, carried = _carrying(motion, body, floor, touching)
    if carried > _CARRIED_NOTE:
        doubts.append(
            f"the feet slide or float for {carried:.2f} s while they must carry the person, who does "
            f"not fall: the "
            "lower one is taken to stand"
        )
    pivots = find_pivots(_foot_tracks(still, body, flags)) if belt is None else ()
    contacts: list[FootContact] = []
    movements: list[_Movement] = []
    for foot, side in enumerate(SIDES):
        mine = [each for each in pivots if each.foot == foot]
        for first, last in _stays(motion.time, flags[:, foot], mine):
            rows = touching[side][first : last + 1]
            contacts.append(_contact(motion, body, foot, (first, last), rows))
            begin, end = _standing_rows(motion.time, (first, last), mine)
            movements.append(_movement(still, side, (begin, end), touching[side][begin : end + 1]))
    contacts = _with_pivots(contacts, pivots)
    if pivots:
        notes.append(_pivot_note(pivots))
    doubts += _describe_movements(movements)
    furthest = max((each.slide for each in movements), default=0.0)
    if _SLIDING_NOTE < furthest <= _SLIDING:
        notes.append(f"feet slide on the floor by up to {furthest:.3f} m; each is taken to stand still")
    if {contact.foot for contact in contacts} != {0, 1}:
        raise RetargetError(
            f"retarget.physics: steps: {motion.source}: a foot never stands on the floor; allowed: stand"
        )
    if belt is not None:
        contacts = _on_the_spot(contacts)
    contacts.sort(key=lambda each: _middle(each, float(motion.time[-1])))
    return RecordedSteps(tuple(contacts), flags, leg, tuple(notes), tuple(doubts))


def _carrying(
    motion: HumanMotion, body: PersonBody, floor: dict[str, float], touching: dict[str, Flags]
) -> tuple[Flags, float]:
    """Which feet stand (T, 2), and for how long only because something must carry the person, s.

    While neither foot touches the floor and the centre of gravity does not fall freely, the lower foot
    stands.
    """
    contact = np.stack([touching[side].any(axis=1) for side in SIDES], axis=1)
    height = low_pass(body.cog[:, 2], _FALL_BANDWIDTH, motion.rate)
    falling = np.gradient(np.gradient(height, motion.time), motion.time) < -_FREE_FALL * GRAVITY
    clearance = [
        (points[..., 2] - np.array([floor[name] for name in foot_points(motion, side)])).min(axis=1)
        for side, points in person_feet(motion).items()
    ]
    carrying = ~contact.any(axis=1) & ~falling
    above = np.stack(clearance, axis=1)
    contact |= carrying[:, None] & (above < above.min(axis=1, keepdims=True) + _EVEN)
    for foot in range(2):
        contact[:, foot] = _without_short(motion.time, contact[:, foot])
    return contact, float(carrying.mean() * motion.time[-1])


def _without_short(time: Array, contact: Flags) -> Flags:
    """Close short interruptions of a contact, then drop short contacts."""
    result = contact.copy()
    for value in (False, True):
        for first, last in contact_intervals(np.asarray(result == value)):
            inside = first > 0 and last < len(result) - 1
            if inside and time[last + 1] - time[first] < _SHORTEST:
                result[first : last + 1] = not value
    return result


def _middle(contact: FootContact, end: float) -> float:
    """Time in the middle of a contact, within the recording, s."""
    return 0.5 * (max(contact.landing, 0.0) + min(contact.lift, end))


def _movement(motion: HumanMotion, side: str, interval: tuple[int, int], touching: Flags) -> _Movement:
    """Measure how far a foot slides, and how far it turns, while it stands.

    At each sample a foot slides as its least moved touching point does, so that one that rolls or turns about
    a point does not slide.
    """
    first, last = interval
    floor = standing_heights(motion)
    points = person_feet(motion)[side][first : last + 1]
    low = points[..., 2] < np.array([floor[name] for name in foot_points(motion, side)]) + _LOW_FOOT
    steps = np.diff(points[..., :2], axis=0)
    lengths = np.linalg.norm(steps, axis=-1)
    # Faster, it is in a short interruption of the contact; higher, it is an ankle while the toe stands.
    slowly = lengths * motion.rate < PERSON_THRESHOLDS.lift_speed
    both = touching[1:] & touching[:-1] & slowly & low[1:] & low[:-1]
    least = np.where(both, lengths, np.inf).argmin(axis=1)
    pivot = np.take_along_axis(steps, least[:, None, None], axis=1)[:, 0] * both.any(axis=1, keepdims=True)
    path = np.vstack([np.zeros((1, 2)), np.cumsum(pivot, axis=0)])
    direction = _directions(motion, side)
    turn = 0.0 if direction is None else float(np.ptp(np.unwrap(direction[first : last + 1])))
    return _Movement(side, float(motion.time[first]), float(np.linalg.norm(np.ptp(path, axis=0))), turn)


def _describe_movements(movements: list[_Movement]) -> list[str]:
    """Say in how many stays feet slide and turn, and how far in the worst one."""
    found = []
    for verb, unit, sizes, allowed in (
        ("slide", "m", [each.slide for each in movements], _SLIDING),
        ("turn", "rad", [each.turn for each in movements], _PIVOTING),
    ):
        count = sum(size > allowed for size in sizes)
        if count:
            worst = movements[int(np.argmax(sizes))]
            found.append(
                f"feet {verb} on the floor in {count} of {len(sizes)} stays, the {worst.side} one at "
                f"{worst.begin:.2f} s by {max(sizes):.2f} {unit}; each is taken to stand still"
            )
    return found


def _foot_tracks(motion: HumanMotion, body: PersonBody, flags: Flags) -> FootTracks:
    """Place and direction of both feet at all samples."""
    position = np.stack([motion.joints[f"{side}_ankle"][:, :2] for side in SIDES], axis=1)
    yaw = np.stack([_unwrapped_directions(motion, body, side) for side in SIDES], axis=1)
    return FootTracks(motion.time, position, yaw, flags)


def _unwrapped_directions(motion: HumanMotion, body: PersonBody, side: str) -> Array:
    """Direction (T,) of a foot, within half a turn of the heading, rad; the heading without a toe."""
    direction = _directions(motion, side)
    if direction is None:
        return body.heading
    away = wrap_angle(direction - body.heading)
    return np.asarray(body.heading + away)


def _stays(time: Array, flags: Flags, pivots: list[Pivot]) -> list[tuple[int, int]]:
    """First and last samples of the stays of a foot, cut where it pivots."""
    cuts = [int(np.searchsorted(time, 0.5 * (each.lift + each.landing))) for each in pivots]
    found = []
    for first, last in contact_intervals(flags):
        edges = [int(first), *(cut for cut in cuts if first < cut <= last), int(last) + 1]
        found += [(begin, end - 1) for begin, end in pairwise(edges)]
    return found


def _standing_rows(time: Array, stay: tuple[int, int], pivots: list[Pivot]) -> tuple[int, int]:
    """First and last samples of a stay at which the robot's foot does not step for the pivots at its ends."""
    first, last = stay
    for pivot in pivots:
        if pivot.lift < time[first] <= pivot.landing:
            first = int(np.searchsorted(time, pivot.landing))
        if pivot.lift <= time[last] < pivot.landing:
            last = int(np.searchsorted(time, pivot.lift, side="right")) - 1
    return (first, last) if first < last else stay


def _with_pivots(contacts: list[FootContact], pivots: tuple[Pivot, ...]) -> list[FootContact]:
    """Let a foot that pivots be off the floor for the duration of the step."""
    result = list(contacts)
    for pivot in pivots:
        middle = 0.5 * (pivot.lift + pivot.landing)
        mine = [number for number, each in enumerate(contacts) if each.foot == pivot.foot]
        after = min(mine, key=lambda number: abs(contacts[number].landing - middle))
        result[after] = result[after]._replace(landing=pivot.landing, turned=True)
        result[after - 1] = result[after - 1]._replace(lift=pivot.lift)
    return result


def _pivot_note(pivots: tuple[Pivot, ...]) -> str:
    """Say which steps replace turns of feet on the floor."""
    when = ", ".join(f"{SIDES[each.foot]} at {each.landing:.2f} s" for each in pivots)
    return f"feet that turn or slide on the floor take {len(pivots)} steps of their own: {when}"


def _directions(motion: HumanMotion, side: str) -> Array | None:
    """Direction (T,) from heel or ankle to toe, rad; None without a toe."""
    toe = motion.joints.get(f"{side}_toe")
    if toe is None:
        return None
    heel = motion.joints.get(f"{side}_heel", motion.joints[f"{side}_ankle"])
    return np.asarray(np.arctan2(toe[:, 1] - heel[:, 1], toe[:, 0] - heel[:, 0]))


def _contact(
    motion: HumanMotion, body: PersonBody, foot: int, interval: tuple[int, int], touching: Flags
) -> FootContact:
    """Place and direction of a foot during a contact: the medians over the time in which it is flat."""
    side, (first, last) = SIDES[foot], interval
    names = foot_points(motion, side)
    ankle = touching[:, names.index(f"{side}_ankle")]
    flat = touching.all(axis=1)
    used = flat if flat.any() else ankle if ankle.any() else np.ones(len(touching), bool)
    rows = np.arange(first, last + 1)[used]
    position = np.median(motion.joints[f"{side}_ankle"][rows, :2], axis=0)
    heading = body.heading[rows]
    yaw = float(np.median(heading))
    direction = _directions(motion, side)
    if direction is not None:
        yaw += float(np.median(wrap_angle(direction[rows] - heading)))
    return FootContact(
        foot,
        -np.inf if first == 0 else float(motion.time[first]),
        np.inf if last == len(motion.time) - 1 else float(motion.time[last]),
        position,
        yaw,
    )


def _belt_velocity(motion: HumanMotion, body: PersonBody) -> Array | None:
    """Velocity (2,) of a treadmill's belt, m/s; None if the feet do not stand on one."""
    velocity = []
    for side in SIDES:
        track = motion.joints[f"{side}_ankle"]
        low = track[:, 2] < np.quantile(track[:, 2], 0.1) + _LOW_FOOT
        speed = low_pass(np.gradient(track[:, :2], motion.time, axis=0), 5.0, motion.rate)
        velocity.append(speed[low])
    low_speed = np.concatenate(velocity)
    belt = np.asarray(np.median(low_speed, axis=0))
    belt_speed = float(np.linalg.norm(belt))
    progress = np.linalg.norm(body.pelvis[-1, :2] - body.pelvis[0, :2]) / motion.time[-1]
    scatter = float(np.median(np.linalg.norm(low_speed - belt, axis=1)))
    if (
        belt_speed < _BELT_SPEED
        or progress > _BELT_PROGRESS * belt_speed
        or scatter > _BELT_SPREAD * belt_speed
    ):
        return None
    return belt


def _without_belt(motion: HumanMotion, belt: Array) -> HumanMotion:
    """Let a person who walks on a belt walk over the floor."""
    shift = np.zeros((len(motion.time), 3))
    shift[:, :2] = motion.time[:, None] * belt
    joints = {name: points - shift for name, points in motion.joints.items()}
    return replace(motion, joints=joints)


def _on_the_spot(contacts: list[FootContact]) -> list[FootContact]:
    """Let each foot stand where it does on average."""
    spots = [
        np.mean([each.position for each in contacts if each.foot == foot], axis=0)
        for foot in range(len(SIDES))
    ]
    middle = 0.5 * (spots[0] + spots[1])
    across = spots[0] - spots[1]
    return [
        each._replace(position=middle + (0.5 if each.foot == 0 else -0.5) * across, yaw=each.yaw)
        for each in contacts
    ]
