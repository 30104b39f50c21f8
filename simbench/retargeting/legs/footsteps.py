"""Footsteps of a recorded person, scaled to a robot: which foot, when it swings, and where it lands."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.retargeting.legs.contacts import FootContact
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

SOLE_CLEARANCE = 0.03
"""Distance of two soles beside each other, m: legs and soles of a robot that gives way come nearer than
planned."""
_USUAL_SWING = 0.45
"""Duration of a swing of which none was recorded whole, s: that of a person who walks."""
_NARROW = 0.2
"""Quantile of the distances between a person's feet that becomes the least width of the robot's: the feet of
a fifth of the steps are pushed outward, of which with the median every second one was."""


class TimedStep(NamedTuple):
    """One swing of a foot.

    Parameters
    ----------
    foot : int
        0 left, 1 right.
    lift, landing : float
        Times at which it leaves the floor and lands, s of the recording; outside of it for a swing of which
        only a part was recorded.
    position : (2,) array
        Where the foot frame lands in the world frame, m.
    yaw : float
        Its rotation about the vertical, rad.
    recorded : bool
        Whether the person landed within the recording.
    """

    foot: int
    lift: float
    landing: float
    position: Array
    yaw: float
    recorded: bool


class FootstepPlan(NamedTuple):
    """Feet at the start, and all swings in the order of their time.

    Parameters
    ----------
    start : (2, 3) array
        Where the left and the right foot frame stand before the first swing: x, y, m, and yaw, rad.
    steps : tuple of TimedStep
        Swings.
    scale : float
        Ratio of the robot's distances to the person's.
    widened : float
        Distance by which both feet together are farther apart than the person's, scaled, m.
    """

    start: Array
    steps: tuple[TimedStep, ...]
    scale: float
    widened: float


class FootstepFrame(NamedTuple):
    """How a person's floor becomes the robot's.

    Parameters
    ----------
    scale : float
        Ratio of the robot's distances to the person's.
    heading : float
        Rotation about the vertical from the recording's world frame to the scenario's, rad.
    position : (2,) array
        Where the middle between the feet is at the start, m.
    width : float
        Least distance of the feet across the heading (`least_width`), m.
    """

    scale: float
    heading: float
    position: Array
    width: float


def scale_footsteps(
    contacts: Sequence[FootContact], time: Array, heading: Array, frame: FootstepFrame
) -> FootstepPlan:
    """Scale a person's contacts with the floor to footsteps of a robot, whatever its legs can do.

    Places are scaled about the middle between the first two, and each foot is moved outward by the same
    distance, so that the soles of four in five steps are beside each other. The median turn-out of the
    person's feet is taken off: the robot's stand straight. A foot that is in the air at the first sample
    begins beside the other one; one that is in the air at the last sample is put down beside it.

    Parameters
    ----------
    contacts : sequence of FootContact
        The person's contacts, by time.
    time : (T,) array
        Times of the recording's samples, s.
    heading : (T,) array
        The person's heading, rad.
    frame : FootstepFrame
        Scale, place and direction.

    Returns
    -------
    FootstepPlan
        Footsteps in the scenario's world frame, times of the recording.
    """
    end = float(time[-1])
    outward = [1.0, -1.0]
    middles = [0.5 * (max(each.landing, 0.0) + min(each.lift, end)) for each in contacts]
    headings = np.interp(middles, time, heading)
    turned = np.array([each.yaw for each in contacts]) - headings
    turned -= np.median([outward[each.foot] * turn for each, turn in zip(contacts, turned, strict=True)]) * (
        np.array([outward[each.foot] for each in contacts])
    )
    first = [next(each for each in contacts if each.foot == foot) for foot in range(2)]
    origin = 0.5 * (first[0].position + first[1].position)
    rotation = pin.utils.rotate("z", frame.heading)[:2, :2]
    across = np.column_stack([-np.sin(headings), np.cos(headings)])
    gaps = [
        float((b.position - a.position) @ normal) * outward[b.foot]
        for (a, b), normal in zip(pairwise(contacts), across[1:], strict=True)
        if a.foot != b.foot
    ]
    width = frame.scale * float(np.quantile(gaps, _NARROW)) if gaps else 0.0
    widened = max(frame.width - width, 0.0)
    targets = []
    for each, turn, angle, normal in zip(contacts, turned, headings, across, strict=True):
        place = frame.scale * (each.position - origin) + 0.5 * widened * outward[each.foot] * normal
        targets.append((each, frame.position + rotation @ place, angle + turn + frame.heading))
    swings = _swings(targets)
    usual = _usual_swing(swings)
    start = np.zeros((2, 3))
    known = [False, False]
    for foot in range(2):
        contact, position, yaw = next(each for each in targets if each[0].foot == foot)
        known[foot] = not np.isfinite(contact.landing)
        start[foot] = [*position, yaw]
    if known[0] != known[1]:
        other = known.index(True)
        start[1 - other] = _beside(start[other], 1 - other, width + widened)
    steps = []
    for foot, lift, landing, position, yaw in swings:
        if not np.isfinite(lift):
            # The person was in the air at the first sample: with both feet, nothing carried them.
            if not any(known):
                continue
            lift = min(landing - usual, 0.0)
        recorded = bool(np.isfinite(landing))
        if not recorded:
            landing = max(lift + usual, end)
            standing = [each for each in targets if each[0].foot != foot and not np.isfinite(each[0].lift)]
            if standing:
                place = _beside(np.array([*standing[-1][1], standing[-1][2]]), foot, width + widened)
                position, yaw = place[:2], float(place[2])
        steps.append(TimedStep(foot, lift, landing, position, yaw, recorded))
    steps.sort(key=lambda step: 0.5 * (step.lift + step.landing))
    return FootstepPlan(start, tuple(steps), frame.scale, widened)


def least_width(robot: Robot, beside: pin.SE3) -> float:
    """Compute how far apart the foot frames are to be at least, across the heading.

    Parameters
    ----------
    robot : Robot
        Robot with two soles.
    beside : pinocchio.SE3
        Pose of the left foot in the frame of the right one, as the robot stands.

    Returns
    -------
    float
        As far as the robot stands, or so far that the soles stand beside each other with 3 cm between them,
        m:
        nearer, bent knees touch.
    """
    left, right = (robot.soles[f"{side}_foot"][:, 1] for side in SIDES)
    return max(float(right.max() - left.min()) + SOLE_CLEARANCE, float(beside.translation[1]))


def _swings(
    targets: list[tuple[FootContact, Array, float]],
) -> list[tuple[int, float, float, Array, float]]:
    """Foot, lift, landing, place and direction of all swings between a foot's contacts and at the ends."""
    swings = []
    for foot in range(2):
        mine = [each for each in targets if each[0].foot == foot]
        if np.isfinite(mine[0][0].landing):
            swings.append((foot, -np.inf, mine[0][0].landing, mine[0][1], mine[0][2]))
        for (before, _, _), (after, position, yaw) in pairwise(mine):
            swings.append((foot, before.lift, after.landing, position, yaw))
        if np.isfinite(mine[-1][0].lift):
            swings.append((foot, mine[-1][0].lift, np.inf, mine[-1][1], mine[-1][2]))
    return swings


def _usual_swing(swings: list[tuple[int, float, float, Array, float]]) -> float:
    """Median duration of the swings that were recorded whole, s."""
    known = [landing - lift for _, lift, landing, _, _ in swings if np.isfinite([lift, landing]).all()]
    return float(np.median(known)) if known else _USUAL_SWING


def _beside(standing: Array, foot: int, width: float) -> Array:
    """Place (x, y, yaw) of a foot beside the one that stands, at a distance across it, m."""
    apart = width * (1.0 if foot == 0 else -1.0)
    yaw = float(standing[2])
    return np.array([standing[0] - np.sin(yaw) * apart, standing[1] + np.cos(yaw) * apart, yaw])
