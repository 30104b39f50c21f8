"""What a recording shows of a person whose steps a robot follows: floor, body, and contacts of the feet.

A robot's feet stand still. Where a person's foot turns or slides on the floor by much, the robot takes a
step.
"""

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.foot_contact import PERSON_THRESHOLDS, Flags, contact_intervals, point_speeds
from simbench.kinematics.rotation import wrap_angle
from simbench.motion.human_motion import HumanMotion
from simbench.motion.person_body import (
    PersonBody,
    find_person_contacts,
    foot_points,
    has_only_ankles,
    leg_segments,
    low_pass,
    person_feet,
    standing_heights,
    with_heels,
)
from simbench.robot.sides import SIDES

# Largest lean of the robot's root forward or back and to a side, rad; waist joints take the rest. To a side,
# the hips' range is small, and steps need it.
_MAX_PITCH, _MAX_ROLL = 0.4, 0.12
# Speeds below which a foot may stand, and above which it swings, so that the other one carries, m/s.
_STANDING_SPEED, _SWINGING_SPEED = 0.25, 0.6
# Time for which a foot must stand to say where the floor is, s: at the top of a jump both feet are slow for
# less.
_STAY = 0.15
# Height above the floor from which on a person who stands is on a step, m: a stair is 0.15 to 0.2 m high, and
# markers of one foot differ by a few centimetres.
_STEP_HEIGHT = 0.10
# Range of the heights at which feet stand up to which they are on one plane, m.
_UNEVEN = 0.04
# Part of the heights at both ends that does not count.
_OUTLIERS = 0.02
# Largest tilt of a recording's floor, a slope: 5 degrees. Stairs have 25 to 40.
_LARGEST_TILT = 0.09
# Height over z = 0 from which on feet float, or sink, m: joints and markers of feet that stand on it are up
# to 4 cm away from where they are expected.
_FLOATING = 0.04
# Height of the lowest joint over z = 0 from which on it is noted, m.
_NOTED = 0.02
# Height of the ankle over the floor by the length of thigh and shank (Drillis and Contini 1966: 0.039 by
# 0.491 of the stature).
_ANKLE = 0.079
# Height of the pelvis above the lower ankle as a part of the leg's length below which nobody is on their
# feet: in the deepest squat, the hips on the heels, it is a quarter.
_LOW_PELVIS = 0.2
# Slide of a foot on the floor from which on it is doubtful, and from which on it is noted, m: feet of clean
# recordings slide by 1 to 4 cm as they land and lift.
_SLIDING, _SLIDING_NOTE = 0.05, 0.03
# Turn of a foot on the floor from which on it is said, rad.
_PIVOTING = 0.35
# Height of the ankle over the floor above which its foot does not stand, m.
_HIGHEST_ANKLE = 0.16
# Speed of the low feet from which on they may stand on a belt, m/s; speed of the pelvis, and scatter of the
# low feet's speed, as parts of it, below which they do.
_BELT_SPEED, _BELT_PROGRESS, _BELT_SPREAD = 0.25, 0.35, 0.5
# Part of gravity from which on a person falls freely, and bandwidth at which that is measured, Hz.
_FREE_FALL, _FALL_BANDWIDTH = 0.6, 6.0
# Difference of height up to which both feet are the lower one, m.
_EVEN = 0.01
# Time in which a foot stands for that alone from which on it is said, s.
_CARRIED_NOTE = 0.1
# Duration below which a contact or a swing is an error of its detection, s.
_SHORTEST = 0.08
# Height up to which an ankle is low for that, above its lowest tenth, and a point slides, m.
_LOW_FOOT = 0.02
# Shortest swing, s: within it a foot rises, moves and sinks at speeds that a leg's joints have.
SHORTEST_SWING = 0.28
# Shortest time on both feet between two swings, s: the ZMP moves from sole to sole in it.
SHORTEST_DOUBLE_SUPPORT = 0.1
# Duration of a step that replaces a foot's turn on the floor, s: the foot hardly moves.
PIVOT_SWING = 0.34
# Shortest time in which both feet stand and a robot can take such a step, s.
_WINDOW = SHORTEST_SWING + 2.0 * SHORTEST_DOUBLE_SUPPORT
# Interval of the times that are tried, s.
_GRID = 0.05
# Least time between two such steps of one foot, s, and between those of both feet.
_APART, _OTHER_APART = 0.6, PIVOT_SWING + SHORTEST_DOUBLE_SUPPORT
# Slide that counts as much as a turn of 1 rad, m.
_SLIDE_RADIUS = 0.4
# Cost of a step, rad² s: that of standing for 1 s half 0.35 rad to the left, half to the right of it.
_PENALTY = 0.03
# Turn for which a step is taken, rad.
_LEAST_TURN = 0.35


class FootContact(NamedTuple):
    """One stay of a foot on the floor."""

    foot: int  # 0 left, 1 right.
    landing: float  # Time at which it landed, s; minus infinity if it stood at the recording's first sample.
    lift: float  # Time at which it left the floor, s; infinity if it stood at the last sample.
    position: Array  # (2,): place of the ankle while the foot was flat, in the recording's world frame, m.
    yaw: float  # Direction from heel to toe about the vertical, rad; the heading's where neither is recorded.
    # Whether the foot was on the floor before as well, and turned or slid: `landing` is that of the step
    # which a robot takes for it.
    turned: bool = False


class Person(NamedTuple):
    """What was found out about the person."""

    motion: HumanMotion  # The recording over a level floor, T samples.
    body: PersonBody  # Heading, lean and centre of gravity.
    contacts: tuple[FootContact, ...]  # Stays of both feet on the floor, by the time in their middle.
    leg: float  # Length of a leg from the hip to the floor, m.
    notes: tuple[str, ...]  # `notes`, `doubts`: what was assumed, and what may be wrong, one line each.
    doubts: tuple[str, ...]


def observe_person(motion: HumanMotion) -> Person:
    """Find out about a person, recorded with arms and hips, what a robot needs to follow their steps.

    On a treadmill, where low feet move against the heading and the pelvis does not, the belt's speed is taken
    off for the contacts, and each foot steps on the spot. It is a `MotionError` if the heading is not
    recorded, and a `RetargetError` if legs or feet are not, a foot never stands, the person climbs stairs, or
    is not on their feet: who lies, rolls or stands on their hands is refused.
    """
    needed = [f"{side}_{joint}" for joint in ("hip", "knee", "ankle") for side in SIDES]
    absent = [name for name in needed if name not in motion.joints]
    if absent:
        raise RetargetError(
            f"retarget.physics: steps: {motion.source}: the recording lacks {', '.join(absent)}; "
            "allowed: stand"
        )
    body = PersonBody(motion)
    height = body.pelvis[:, 2] - np.min([motion.joints[f"{side}_ankle"][:, 2] for side in SIDES], axis=0)
    down = (height < _LOW_PELVIS * leg_segments(motion)) | (body.up[:, 2] < 0.0)
    if down.any():
        frame = int(down.argmax())
        what = f"the pelvis is {height[frame]:.2f} m above the ankles"
        if body.up[frame, 2] < 0.0:
            what = "the shoulders are below the pelvis"
        raise RetargetError(
            f"retarget.physics: steps: {motion.source}: the person is not on their feet at "
            f"{motion.time[frame]:.2f} s, {what}; allowed: stand, or another part of it (motion.start_s, "
            "motion.end_s)"
        )
    motion, notes, doubts = on_level_floor(motion)
    body = PersonBody(motion)
    feet = still = with_heels(motion)
    # Velocity (2,) of a treadmill's belt, m/s, if the feet stand on one.
    velocity = []
    for side in SIDES:
        track = feet.joints[f"{side}_ankle"]
        low = track[:, 2] < np.quantile(track[:, 2], 0.1) + _LOW_FOOT
        velocity.append(low_pass(np.gradient(track[:, :2], feet.time, axis=0), 5.0, feet.rate)[low])
    low_speed = np.concatenate(velocity)
    belt = np.asarray(np.median(low_speed, axis=0))
    speed = float(np.linalg.norm(belt))
    progress = np.linalg.norm(body.pelvis[-1, :2] - body.pelvis[0, :2]) / feet.time[-1]
    scatter = float(np.median(np.linalg.norm(low_speed - belt, axis=1)))
    stands = speed >= _BELT_SPEED and progress <= _BELT_PROGRESS * speed and scatter <= _BELT_SPREAD * speed
    if stands:
        # A person who walks on a belt walks over the floor.
        shift = motion.time[:, None] * np.append(belt, 0.0)
        still = replace(feet, joints={name: points - shift for name, points in feet.joints.items()})
        doubts.append(
            f"the feet slide back at {np.linalg.norm(belt):.2f} m/s while they stand, and the pelvis stays: "
            "taken for a treadmill; the robot steps on the spot"
        )
    leg = leg_segments(feet) + min(max(standing_heights(feet)["left_ankle"], 0.0), _HIGHEST_ANKLE)
    if has_only_ankles(feet):
        notes.append("only ankles are recorded of the feet: the feet point where the pelvis does")
    touching = find_person_contacts(still)
    flags, carried = _carrying(feet, body, touching)
    if carried > _CARRIED_NOTE:
        doubts.append(
            f"the feet slide or float for {carried:.2f} s while they must carry the person, who does not "
            "fall: the lower one is taken to stand"
        )
    contacts, pivots, slides = _find_stays(feet, still, body, flags, touching)
    if pivots:
        when = ", ".join(f"{SIDES[foot]} at {landing:.2f} s" for foot, _, landing in pivots)
        notes.append(f"feet that turn or slide on the floor take {len(pivots)} steps of their own: {when}")
    for number, verb, unit, allowed in ((0, "slide", "m", _SLIDING), (1, "turn", "rad", _PIVOTING)):
        sizes = [each[0][number] for each in slides]
        count = sum(size > allowed for size in sizes)
        if count:
            _, begin, side = slides[int(np.argmax(sizes))]
            doubts.append(
                f"feet {verb} on the floor in {count} of {len(sizes)} stays, the {side} one at {begin:.2f} s "
                f"by {max(sizes):.2f} {unit}; each is taken to stand still"
            )
    furthest = max((each[0][0] for each in slides), default=0.0)
    if _SLIDING_NOTE < furthest <= _SLIDING:
        notes.append(f"feet slide on the floor by up to {furthest:.3f} m; each is taken to stand still")
    if {contact.foot for contact in contacts} != {0, 1}:
        raise RetargetError(
            f"retarget.physics: steps: {motion.source}: a foot never stands on the floor; allowed: stand"
        )
    if stands:
        # Each foot stands where it does on average.
        places = [[each.position for each in contacts if each.foot == foot] for foot in (0, 1)]
        left, right = np.mean(places[0], axis=0), np.mean(places[1], axis=0)
        middle, across = 0.5 * (left + right), left - right
        contacts = [each._replace(position=middle + (0.5, -0.5)[each.foot] * across) for each in contacts]
    end = float(motion.time[-1])
    contacts.sort(key=lambda each: 0.5 * (max(each.landing, 0.0) + min(each.lift, end)))
    return Person(motion, body, tuple(contacts), leg, tuple(notes), tuple(doubts))


def _carrying(motion: HumanMotion, body: PersonBody, touching: dict[str, Flags]) -> tuple[Flags, float]:
    """Find which feet stand (T, 2), and for how long only because something must carry the person, s.

    While neither foot touches the floor and the centre of gravity does not fall freely, the lower foot
    stands. Then short interruptions of a contact are closed, and short contacts dropped.
    """
    time = motion.time
    contact = np.stack([touching[side].any(axis=1) for side in SIDES], axis=1)
    height = low_pass(body.cog[:, 2], _FALL_BANDWIDTH, motion.rate)
    falling = np.gradient(np.gradient(height, time), time) < -_FREE_FALL * GRAVITY
    carrying = ~contact.any(axis=1) & ~falling
    above = _foot_heights(motion)
    contact |= carrying[:, None] & (above < above.min(axis=1, keepdims=True) + _EVEN)
    for foot in range(2):
        for value in (False, True):
            for first, last in contact_intervals(np.asarray(contact[:, foot] == value)):
                if first > 0 and last < len(time) - 1 and time[last + 1] - time[first] < _SHORTEST:
                    contact[first : last + 1, foot] = not value
    return contact, float(carrying.mean() * time[-1])


def _find_stays(
    feet: HumanMotion, still: HumanMotion, body: PersonBody, flags: Flags, touching: dict[str, Flags]
) -> tuple[list[FootContact], list[tuple[int, float, float]], list[tuple[tuple[float, float], float, str]]]:
    """Find the stays of both feet on the floor, of a recording and the same without the belt's speed.

    Place and direction of a foot are the medians over the time in which it is flat. While a foot steps for a
    pivot it is off the floor. Also returns the pivots, as `find_pivots`, none on a belt; and for each stay
    how far the foot slides, m, and turns, rad, when it begins, s, and the side. At each sample a foot slides
    as its least moved touching point does, so that one that rolls or turns about a point does not slide.
    """
    time, floor, tracks = feet.time, standing_heights(still), person_feet(still)
    ankles = {side: feet.joints[f"{side}_ankle"][:, :2] for side in SIDES}
    directions, away = {}, {}
    for side in SIDES:
        away[side], toe = np.zeros(len(time)), feet.joints.get(f"{side}_toe")
        if toe is not None:
            along = toe - feet.joints.get(f"{side}_heel", feet.joints[f"{side}_ankle"])
            directions[side] = np.arctan2(along[:, 1], along[:, 0])
            away[side] = np.asarray(wrap_angle(directions[side] - body.heading))
    pivots: list[tuple[int, float, float]] = []
    if still is feet:
        yaw = np.stack([body.heading + away[side] for side in SIDES], axis=1)
        pivots = find_pivots(time, np.stack([ankles[side] for side in SIDES], axis=1), yaw, flags)
    contacts, slides = [], []
    for foot, side in enumerate(SIDES):
        points = tracks[side]
        low = points[..., 2] < np.array([floor[name] for name in foot_points(still, side)]) + _LOW_FOOT
        moves = np.diff(points[..., :2], axis=0)
        lengths = np.linalg.norm(moves, axis=-1)
        # Faster, it is in a short interruption of the contact; higher, it is an ankle while the toe stands.
        slowly = lengths * still.rate < PERSON_THRESHOLDS.lift_speed
        touched = touching[side]
        both = touched[1:] & touched[:-1] & slowly & low[1:] & low[:-1]
        least = np.where(both, lengths, np.inf).argmin(axis=1)
        moved = np.take_along_axis(moves, least[:, None, None], axis=1)[:, 0]
        moved = moved * both.any(axis=1, keepdims=True)
        # A stay is cut where the foot pivots.
        cuts = {
            int(np.searchsorted(time, 0.5 * (lift + landing))): (lift, landing)
            for each, lift, landing in pivots
            if each == foot
        }
        edges = [
            pair
            for first, last in contact_intervals(flags[:, foot]).tolist()
            for pair in pairwise([first, *(cut for cut in cuts if first < cut <= last), last + 1])
        ]
        for first, end in edges:
            flat, ankle = touched[first:end].all(axis=1), touched[first:end, 0]
            used = flat if flat.any() else ankle if ankle.any() else np.ones(end - first, bool)
            rows = np.arange(first, end)[used]
            landing = cuts[first][1] if first in cuts else float(time[first]) if first else -np.inf
            lift = cuts[end][0] if end in cuts else float(time[end - 1]) if end < len(time) else np.inf
            place = np.median(ankles[side][rows], axis=0)
            toward = float(np.median(body.heading[rows])) + float(np.median(away[side][rows]))
            contacts.append(FootContact(foot, landing, lift, place, toward, first in cuts))
            # Slide and turn are those in which the robot's foot does not step for a pivot.
            begin, last = first, end - 1
            for lift, landing in cuts.values():
                if lift < time[begin] <= landing:
                    begin = int(np.searchsorted(time, landing))
                if lift <= time[last] < landing:
                    last = int(np.searchsorted(time, lift, side="right")) - 1
            if begin >= last:
                begin, last = first, end - 1
            path = np.vstack([np.zeros((1, 2)), np.cumsum(moved[begin:last], axis=0)])
            turn = float(np.ptp(np.unwrap(directions[side][begin : last + 1]))) if side in directions else 0.0
            slide = float(np.linalg.norm(np.ptp(path, axis=0)))
            slides.append(((slide, turn), float(time[begin]), side))
    return contacts, pivots, slides


def find_pivots(time: Array, position: Array, yaw: Array, flags: Flags) -> list[tuple[int, float, float]]:
    """Choose the steps that replace turns and slides of feet on the floor.

    A robot's foot stands still, so that it can follow only between two stays, while the other foot stands.
    For each stay, the times are those of the piecewise constant pose with the least sum of squared
    differences, and a constant cost of each step (dynamic programming). Those that turn the foot by less
    than 0.35 rad, or slide it by less than 0.14 m, are left out.

    At T samples with times (T,), s, `position` (T, 2, 2) has the places of the left and the right ankle, m,
    `yaw` (T, 2) the direction of each foot, rad, without jumps, and `flags` (T, 2) whether each is on the
    floor. Returns by time the foot, 0 left or 1 right, and when the robot's foot is to leave the floor and to
    land, s.
    """
    stays = [(foot, *each) for foot in range(2) for each in contact_intervals(flags[:, foot]).tolist()]
    features = np.concatenate([yaw[..., None], position / _SLIDE_RADIUS], axis=2)
    turns = [float(np.ptp(yaw[first : last + 1, foot])) for foot, first, last in stays]
    taken: list[tuple[int, float]] = []
    for number in np.argsort(-np.array(turns), kind="stable").tolist():
        foot, first, last = stays[number]
        others = np.array([when for other, when in taken if other != foot])
        # Samples of the stay at which the middle of a step fits into a time on both feet.
        rows: set[int] = set()
        for begin, end in contact_intervals(np.asarray(flags.all(axis=1))):
            low = max(time[begin] + 0.5 * _WINDOW if begin else -np.inf, time[first])
            high = min(time[end] - 0.5 * _WINDOW if end < len(time) - 1 else np.inf, time[last])
            if low <= high:
                tried = np.linspace(low, high, int((high - low) / _GRID) + 1)
                rows.update(np.searchsorted(time, tried).tolist())
        candidates = [
            row - first
            for row in sorted(rows)
            if first < row < last and (not len(others) or np.abs(others - time[row]).min() >= _OTHER_APART)
        ]
        stay = slice(first, last + 1)
        cuts = _best_cuts(time[stay], features[stay, foot], candidates)
        taken += [(foot, float(time[first + cut])) for cut in cuts]
    half = 0.5 * PIVOT_SWING
    return [(foot, when - half, when + half) for foot, when in sorted(taken, key=lambda each: each[1])]


def _best_cuts(time: Array, values: Array, candidates: list[int]) -> list[int]:
    """Choose the samples, of candidates, at which to cut a track (N, 3) into the most constant pieces."""
    if not candidates:
        return []
    weights = np.gradient(time)
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(weights[:, None] * values, axis=0)])
    squares = np.concatenate([[0.0], np.cumsum(weights * np.sum(values**2, axis=1))])
    totals = np.concatenate([[0.0], np.cumsum(weights)])
    ends = [0, *candidates, len(time)]
    best, before = [0.0], [0]
    for number, end in enumerate(ends[1:], 1):
        options = []
        for earlier, begin in enumerate(ends[:number]):
            if earlier == 0 or end == len(time) or time[end] - time[begin] >= _APART:
                total = sums[end] - sums[begin]
                differences = squares[end] - squares[begin] - total @ total / (totals[end] - totals[begin])
                options.append(best[earlier] + float(differences) + _PENALTY)
        before.append(int(np.argmin(options)))
        best.append(options[before[-1]])
    cuts: list[int] = []
    number = before[-1]
    while number > 0:
        cuts.insert(0, ends[number])
        number = before[number]
    while cuts:
        edges = [0, *cuts, len(time)]
        means = [(sums[end] - sums[begin]) / (totals[end] - totals[begin]) for begin, end in pairwise(edges)]
        changes = np.linalg.norm(np.diff(means, axis=0), axis=1)
        if changes.min() >= _LEAST_TURN:
            break
        del cuts[int(changes.argmin())]
    return cuts


def root_rotations(body: PersonBody, part: float = 1.0) -> Rotation:
    """Choose the T orientations of the robot's root that a person's heading and a part of their lean ask for.

    They are in the recording's world frame. The lean is bounded smoothly to 0.4 rad forward and 0.12 rad to a
    side.
    """
    pitch = part * _MAX_PITCH * np.tanh(body.pitch / _MAX_PITCH)
    roll = part * _MAX_ROLL * np.tanh(body.roll / _MAX_ROLL)
    return Rotation.from_euler("ZYX", np.column_stack([body.heading, pitch, roll]))


def seen_from_root(motion: HumanMotion, pelvis: Array, rotation: Rotation) -> HumanMotion:
    """Express a recording in axes that turn and lean with the robot's root, the pelvis above the origin.

    The recording is turned about `pelvis` (T, 3), m, by the inverse of the root's T orientations. What is
    left is what trunk and arms do relative to the root, as if the person stood upright and looked along x.
    """
    back = rotation.inv()
    height = pelvis * [0.0, 0.0, 1.0]

    def turned(points: Array) -> Array:
        return np.asarray(back.apply(points - pelvis) + height)

    segments = {}
    for name, frames in motion.segments.items():
        segments[name] = frames.copy()
        segments[name][:, :3, 3] = turned(frames[:, :3, 3])
        segments[name][:, :3, :3] = back.as_matrix() @ frames[:, :3, :3]
    return replace(
        motion,
        joints={name: turned(points) for name, points in motion.joints.items()},
        segments=segments,
        markers={name: turned(points) for name, points in motion.markers.items()},
    )


def on_level_floor(motion: HumanMotion) -> tuple[HumanMotion, list[str], list[str]]:
    """Put a person, recorded with hips, knees and ankles, on a level floor at z = 0.

    Heights that drift at a constant speed, or a floor that is tilted by up to 5 degrees, are taken off if the
    feet stand on such a plane and not on a level one; of both, the one that leaves less is taken, and none
    that leaves more than half of the heights' differences. Then feet that float or sink by more than 4 cm are
    put on the floor. Otherwise the recording is returned as it is. Feet that carry the person at heights that
    differ by more than 10 cm and are on no such plane, as on stairs, a step or a slope, are refused.

    Also returns what was assumed, and what may be wrong, one line each.
    """
    doubts: list[str] = []
    # The samples at which one foot carries: it stands while the other one swings or stands higher; where its
    # ankle is then, and how much higher its lowest joint is than where it usually stands.
    above = _foot_heights(motion)
    points = person_feet(motion).values()
    speed = np.stack([point_speeds(motion.time, each).min(axis=1) for each in points], axis=1)
    slow, other = speed < _STANDING_SPEED, np.s_[:, ::-1]
    carries = slow & ((speed[other] > _SWINGING_SPEED) | (slow[other] & (above <= above[other])))
    for foot in range(2):
        for first, last in contact_intervals(carries[:, foot]):
            if motion.time[last] - motion.time[first] < _STAY:
                carries[first : last + 1, foot] = False
    row, side = np.nonzero(carries)
    ankles = np.stack([motion.joints[f"{name}_ankle"][:, :2] for name in SIDES], axis=1)
    time, places, heights = motion.time[row], ankles[row, side], above[row, side]
    upward = np.array([0.0, 0.0, 1.0])
    uneven = _spread(heights)
    if uneven > _UNEVEN:
        fits = []
        for known in (places, time[:, None]):
            centred, wanted = known - known.mean(axis=0), heights - heights.mean()
            solution = np.linalg.lstsq(centred, wanted, rcond=1e-3)[0]
            fits.append((_spread(wanted - centred @ solution), solution))
        (beside_tilt, slope), (beside_drift, speed) = fits
        drifts = beside_drift <= beside_tilt
        fitted = min(beside_tilt, beside_drift) <= min(_UNEVEN, 0.5 * _spread(heights - heights.mean()))
        if fitted and (drifts or np.linalg.norm(slope) <= _LARGEST_TILT):
            feet = np.mean([motion.joints[f"{side}_ankle"][:, :2] for side in SIDES], axis=0)
            if drifts:
                slope = np.zeros(2)
                what = f"the heights drift by {speed[0] * motion.time[-1]:+.2f} m in {motion.time[-1]:.1f} s"
            else:
                speed = np.zeros(1)
                angle = np.degrees(np.arctan(np.linalg.norm(slope)))
                rise = np.ptp(feet @ slope)
                what = f"the recording's floor is tilted by {angle:.1f} degrees, {rise:.2f} m along the way"
            doubts.append(f"{what}: taken off, the robot's floor is level")
            joints = {}
            for name, track in motion.joints.items():
                # Nothing is taken off where the person begins.
                above = (track[:, :2] - feet[0]) @ slope + speed[0] * motion.time
                joints[name] = track - above[:, None] * upward
            motion = replace(motion, joints=joints)
        elif uneven > _STEP_HEIGHT:
            from_start = np.abs(heights - heights[0])
            raise RetargetError(
                f"retarget.physics: steps: {motion.source}: the person stands at heights that differ by "
                f"{uneven:.2f} m, {from_start.max():.2f} m from the first at "
                f"{time[from_start.argmax()]:.2f} s: stairs, a step or a slope; allowed: a level floor"
            )
        else:
            doubts.append(
                f"the feet stand at heights that differ by {uneven:.2f} m; the floor is taken to be level"
            )
    # The floor is where what is nearest to it stands.
    standing, ankle = standing_heights(motion), _ANKLE * leg_segments(motion)
    over = [height - (ankle if name.endswith("_ankle") else 0.0) for name, height in standing.items()]
    offset, lowest = max(min(over), 0.0) + min(max(over), 0.0), min(standing.values())
    if abs(offset) > _FLOATING:
        how, where = ("float: they stand", "above") if offset > 0.0 else ("sink: they are", "below")
        doubts.append(
            f"the feet {how} {abs(offset):.2f} m {where} the recording's floor; it is taken to be there"
        )
        lowered = {name: track - offset * upward for name, track in motion.joints.items()}
        return replace(motion, joints=lowered), [], doubts
    note = f"the feet's lowest joint stands {lowest:.3f} m above z = 0, which is taken for the floor"
    return motion, [note] if abs(lowest) > _NOTED else [], doubts


def _foot_heights(motion: HumanMotion) -> Array:
    """How much higher the lowest joint of each foot is than where it usually stands (T, 2), m."""
    floor, feet = standing_heights(motion), person_feet(motion)
    standing = {side: np.array([floor[name] for name in foot_points(motion, side)]) for side in SIDES}
    return np.stack([(feet[side][..., 2] - standing[side]).min(axis=1) for side in SIDES], axis=1)


def _spread(heights: Array) -> float:
    """Range of heights without the outermost ones, m."""
    return float(np.ptp(np.quantile(heights, [_OUTLIERS, 1.0 - _OUTLIERS]))) if len(heights) else 0.0
