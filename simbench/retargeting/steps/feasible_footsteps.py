"""Footsteps of a recorded person, scaled to a robot, and the nearest ones that its legs can take.

Which foot, when it swings, and where it lands; how far the legs reach at a person's tempo: ahead, to the
side, and in rotation.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
import shapely
from scipy import sparse
from scipy.optimize import isotonic_regression, linprog

from simbench.balance.gait import soles_overlap, step_limits, yaw_of
from simbench.balance.leg_ik import Stance, leg_columns
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.retargeting.steps.recorded_person import SHORTEST_DOUBLE_SUPPORT, SHORTEST_SWING, FootContact
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

# Distance of two soles beside each other, m: legs and soles of a robot that gives way come nearer than
# planned.
_SOLE_CLEARANCE = 0.03
# Duration of a swing of which none was recorded whole, s: that of a person who walks.
_USUAL_SWING = 0.45
# Quantile of the distances between a person's feet that becomes the least width of the robot's: the feet of a
# fifth of the steps are pushed outward, of which with the median every second one was.
_NARROW = 0.2
# Part of a leg's range to the side that a step may use: the trunk's sway over the standing foot needs the
# rest.
_ROLL_FRACTION = 0.7
# Part of the speed at which a hip rotates the foot that a step may use; the root turns along.
_TURN_FRACTION = 0.9
# Ratio of the largest to the mean speed of a swing (`swing_feet`).
_FASTEST = 1.6
# Parts of the largest rotation of a foot towards the other one and away from it that are used: with the toes
# inward, bent knees touch.
_INWARD_FRACTION, _OUTWARD_FRACTION = 0.3, 0.8
# Part of the range of a hip's rotation that the root's rotation against a foot may use.
TWIST_FRACTION = 0.85
# Largest rotation of the root against the mean of both feet, rad; trunk joints take more of it.
MAX_TWIST = 0.5
# Largest angular acceleration of the root about the vertical, rad/s²: a body of 1.5 kg m² then needs 30 N m,
# and a sole 0.25 m long under 65 kg holds about 40 N m. Beyond, the standing foot turns on the floor.
MAX_TURN_ACCELERATION = 20.0
# Interval of the samples of the root's rotation, s.
_INTERVAL = 1.0 / 30.0
# Weight of a foot's direction while it stands against that of the root: the root shows where a person looks,
# and a foot that turns on the floor has no one direction.
_DIRECTION_WEIGHT = 0.1
# Shortest contact of a foot between two swings of its own, s.
_SHORTEST_CONTACT = 0.10
# Longest time on one foot, s: the joints give way, and the trunk drifts over the sole meanwhile.
LONGEST_SWING = 2.5
# Changes from which on they are said, s, m and rad.
_TIME_NOTE, _PLACE_NOTE, _TURN_NOTE = 0.03, 0.01, 0.05
# Part of the longest step that is used: the rest is for the COG's motion.
_REACH_FRACTION = 0.9
# Distance by which a foot is moved outward at a time until the soles do not overlap, m.
_PUSH = 0.005
# Least distance of two soles, m: feet are wider than their soles.
_FEET_APART = 0.02
# Parts of the way of a foot at which that distance is kept; it may begin nearer.
_WAY = (0.4, 0.55, 0.7, 0.85, 1.0)
# Distance that is left between the soles then, m.
_CLEAR_GROWTH = 0.01
# Sign of a distance or rotation away from the other foot, left and right.
_OUTWARD = (1.0, -1.0)


class TimedStep(NamedTuple):
    """One swing of a foot."""

    foot: int  # 0 left, 1 right.
    # `lift`, `landing`: times at which it leaves the floor and lands, s of the recording; outside of it for a
    # swing of which only a part was recorded.
    lift: float
    landing: float
    position: Array  # (2,): where the foot frame lands in the world frame, m.
    yaw: float  # Its rotation about the vertical, rad.
    recorded: bool  # Whether the person landed within the recording.


class FootstepPlan(NamedTuple):
    """Feet at the start, and all swings in the order of their time."""

    # (2, 3): where the left and the right foot frame stand before the first swing: x, y, m, and yaw, rad.
    start: Array
    steps: tuple[TimedStep, ...]
    scale: float  # Ratio of the robot's distances to the person's.
    widened: float  # Distance by which both feet together are farther apart than the person's, scaled, m.


class LegRange:
    """How far the legs reach from the stance in which the robot steps: limits that hold for both feet.

    Ahead and in rotation as `step_limits`. To the side, a leg of height h whose joints about the forward axis
    turn by α moves its foot by h tan α, the pelvis over the other foot. Of a step, relative to the foot's
    pose beside the other foot:

    `reach`: largest distance, m; `aside`: largest distance away from the other foot, across it, m; `inward`,
    `outward`: largest rotation towards the other foot and away from it, rad; `turn_rate`: largest rotation of
    a foot in a swing over the swing's duration, rad/s; `beside`: pose of the left foot in the frame of the
    right one, and of the right in that of the left, as the robot stands; `width`: how far apart the foot
    frames are to be at least, across the heading, m: as far as the robot stands, or so far that the soles
    stand beside each other with 3 cm between them: nearer, bent knees touch.
    """

    def __init__(self, robot: Robot, stance: Stance) -> None:
        self.reach, self.inward, self.outward = step_limits(robot, stance)
        model, data = robot.model, robot.model.createData()
        q = np.concatenate([stance.base, stance.joints])
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        heading = stance.soles["left"].rotation[:, 0]
        aside, rates = [], []
        for side, outward in zip(SIDES, _OUTWARD, strict=True):
            columns = leg_columns(robot, side)
            frame = model.getFrameId(robot.frames[f"{side}_foot"])
            jacobian = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            turning = jacobian[3:, model.nv - len(robot.joint_names) + columns]
            about_forward, about_vertical = heading @ turning, turning[2]
            spread, heights = [], []
            # The two joints that turn the foot most about the forward axis: the hip's and the ankle's.
            hip, ankle = sorted(np.argsort(-np.abs(about_forward))[:2].tolist())
            for joint, sign in ((hip, outward), (ankle, -outward)):
                positive = sign * about_forward[joint] > 0.0
                bound = model.upperPositionLimit if positive else model.lowerPositionLimit
                limit = bound[7 + columns[joint]]
                spread.append(abs(float(limit - q[7 + columns[joint]])))
                heights.append(data.oMi[model.getJointId(robot.groups[f"{side}_leg"][joint])].translation[2])
            aside.append(float(heights[0] - heights[1]) * np.tan(min(_ROLL_FRACTION * min(spread), 1.0)))
            yaw = int(np.abs(about_vertical).argmax())
            rates.append(float(model.velocityLimit[6 + columns[yaw]]))
        self.aside, self.turn_rate = float(min(aside)), _TURN_FRACTION * min(rates) / _FASTEST
        left, right = stance.soles["left"], stance.soles["right"]
        self.beside = (right.actInv(left), left.actInv(right))
        edges = [robot.soles[f"{side}_foot"][:, 1] for side in SIDES]
        touching = float(edges[1].max() - edges[0].min())
        self.width = max(touching + _SOLE_CLEARANCE, float(self.beside[0].translation[1]))

    @property
    def pair(self) -> tuple[float, float]:
        """Range of the outward rotation of a foot against the other one that steps use, rad."""
        return -_INWARD_FRACTION * self.inward, _OUTWARD_FRACTION * self.outward


def scale_footsteps(
    contacts: Sequence[FootContact],
    time: Array,
    heading: Array,
    scale: float,
    rotation: float,
    position: Array,
    width: float,
) -> FootstepPlan:
    """Scale a person's contacts with the floor, by time, to footsteps of a robot, whatever its legs can do.

    Places are scaled about the middle between the first two, and each foot is moved outward by the same
    distance, so that the soles of four in five steps are beside each other. The median turn-out of the
    person's feet is taken off: the robot's stand straight. A foot that is in the air at the first sample
    begins beside the other one; one that is in the air at the last sample is put down beside it.

    `time` (T,), s, and `heading` (T,), rad, are the person's; `scale` is the ratio of the robot's distances
    to the person's, `rotation` that about the vertical from the recording's world frame to the scenario's,
    rad, `position` (2,) where the middle between the feet is at the start, m, and `width` the least distance
    of the feet across the heading, m. Footsteps are in the scenario's world frame, times of the recording.
    """
    end = float(time[-1])
    middles = [0.5 * (max(each.landing, 0.0) + min(each.lift, end)) for each in contacts]
    headings = np.interp(middles, time, heading)
    outward = np.array([_OUTWARD[each.foot] for each in contacts])
    turned = np.array([each.yaw for each in contacts]) - headings
    turned -= np.median(outward * turned) * outward
    first = [next(each for each in contacts if each.foot == foot) for foot in range(2)]
    origin = 0.5 * (first[0].position + first[1].position)
    matrix = pin.utils.rotate("z", rotation)[:2, :2]
    across = np.column_stack([-np.sin(headings), np.cos(headings)])
    gaps = [
        float((b.position - a.position) @ normal) * _OUTWARD[b.foot]
        for (a, b), normal in zip(pairwise(contacts), across[1:], strict=True)
        if a.foot != b.foot
    ]
    scaled = scale * float(np.quantile(gaps, _NARROW)) if gaps else 0.0
    widened = max(width - scaled, 0.0)
    apart = scaled + widened
    targets = []
    for each, turn, angle, normal in zip(contacts, turned, headings, across, strict=True):
        place = scale * (each.position - origin) + 0.5 * widened * _OUTWARD[each.foot] * normal
        targets.append((each, position + matrix @ place, angle + turn + rotation))
    start, known = np.zeros((2, 3)), [False, False]
    # Foot, lift, landing, place and direction of all swings between a foot's contacts and at the ends.
    swings = []
    for foot in range(2):
        mine = [each for each in targets if each[0].foot == foot]
        start[foot], known[foot] = [*mine[0][1], mine[0][2]], not np.isfinite(mine[0][0].landing)
        lifts, landings = [-np.inf, *(each[0].lift for each in mine)], [each[0].landing for each in mine]
        for lift, landing, (_, there, yaw) in zip(lifts, [*landings, np.inf], [*mine, mine[-1]], strict=True):
            if lift < landing:
                swings.append((foot, lift, landing, there, yaw))
    whole = [landing - lift for _, lift, landing, _, _ in swings if np.isfinite([lift, landing]).all()]
    usual = float(np.median(whole)) if whole else _USUAL_SWING

    def beside(standing: Array, foot: int) -> Array:
        """Place (x, y, yaw) of a foot beside the one that stands."""
        aside, yaw = apart * _OUTWARD[foot], float(standing[2])
        return np.array([standing[0] - np.sin(yaw) * aside, standing[1] + np.cos(yaw) * aside, yaw])

    if known[0] != known[1]:
        other = known.index(True)
        start[1 - other] = beside(start[other], 1 - other)
    steps = []
    for foot, lift, landing, there, yaw in swings:
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
                put_down = beside(np.array([*standing[-1][1], standing[-1][2]]), foot)
                there, yaw = put_down[:2], float(put_down[2])
        steps.append(TimedStep(foot, lift, landing, there, yaw, recorded))
    steps.sort(key=lambda step: 0.5 * (step.lift + step.landing))
    return FootstepPlan(start, tuple(steps), scale, widened)


def choose_directions(
    plan: FootstepPlan, steps: Sequence[TimedStep], legs: LegRange, recorded: Array, heading: Array
) -> Array:
    """Choose the directions of all feet with which the root can turn nearest to the person.

    A linear program: the least mean of |root − heading|, and a tenth of the mean of |direction − wanted| of
    both feet over the times they stand. The root is within the range of both hips at all times, with feet
    that turn in a swing by a minimum-jerk profile; its angular acceleration is at most 20 rad/s²; the feet of
    each pair are within their range against each other, and a swing turns no faster than the hips do.

    Of the wanted footsteps `plan` the directions at the start are used; the K `steps` have the times at which
    the robot takes them. The heading (T,), rad, in the scenario's world frame and without jumps, is given at
    the recording's samples `recorded` (T,), s, from 0 on. Returns the directions of the left and the right
    foot at the start and of all steps, (2 + K,), rad.
    """
    wanted = np.array([*plan.start[:, 2], *(step.yaw for step in steps)])
    time = _INTERVAL * np.arange(max(math.ceil(recorded[-1] / _INTERVAL), 3))
    yaw = np.interp(time, recorded, heading)
    yaw += 2.0 * np.pi * np.round((wanted[:2].mean() - yaw[0]) / (2.0 * np.pi))
    count, samples = len(wanted), len(time)
    # Matrices of both feet's directions over time, of a foot's outward turn against the other one, and of the
    # turns in swings, by the 2 + K directions.
    feet, latest = np.zeros((2, samples, count)), [0, 1]
    pairs, swings = np.zeros((count - 1, count)), np.zeros((count - 2, count))
    feet[0, :, 0] = feet[1, :, 1] = 1.0
    pairs[0, :2] = [1.0, -1.0]
    for column, step in enumerate(steps, 2):
        part = minimum_jerk(time, step.lift, step.landing - step.lift)
        feet[step.foot] *= 1.0 - part[:, None]
        feet[step.foot, :, column] += part
        sign = _OUTWARD[step.foot]
        pairs[column - 1, [column, latest[1 - step.foot]]] = [sign, -sign]
        swings[column - 2, [column, latest[step.foot]]] = [1.0, -1.0]
        latest[step.foot] = column
    left, right = (sparse.csr_matrix(each) for each in feet)
    fastest = legs.turn_rate * np.array([step.landing - step.lift for step in steps])
    root, same = sparse.identity(samples, format="csr"), sparse.identity(count, format="csr")
    inward, outward = (0.5 * TWIST_FRACTION * limit for limit in (legs.inward, legs.outward))
    bend = sparse.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(samples - 2, samples))
    most = MAX_TURN_ACCELERATION * _INTERVAL**2
    # Rows A [directions, root, |root - heading|, |direction - wanted|] within bounds.
    blocks: list[tuple[list[Any], Any, Any]] = [
        ([-left, root, None, None], -outward, inward),
        ([-right, root, None, None], -inward, outward),
        ([-0.5 * (left + right), root, None, None], -MAX_TWIST, MAX_TWIST),
        ([None, bend, None, None], -most, most),
        ([None, root, -root, None], -np.inf, yaw),
        ([None, root, root, None], yaw, np.inf),
        ([same, None, None, -same], -np.inf, wanted),
        ([same, None, None, same], wanted, np.inf),
        ([sparse.csr_matrix(pairs), None, None, None], *legs.pair),
        ([sparse.csr_matrix(swings), None, None, None], -fastest, fastest),
    ]
    rows = sparse.bmat([block for block, _, _ in blocks], format="csr")
    sizes = [next(part.shape[0] for part in block if part is not None) for block, _, _ in blocks]
    low, high = (
        np.concatenate([np.broadcast_to(block[end], size) for block, size in zip(blocks, sizes, strict=True)])
        for end in (1, 2)
    )
    upper, lower = np.isfinite(high), np.isfinite(low)
    weights = _DIRECTION_WEIGHT * (feet.sum(axis=(0, 1)) + 1.0) / samples
    found = linprog(
        np.concatenate([np.zeros(count + samples), np.full(samples, 1.0 / samples), weights]),
        A_ub=sparse.vstack([rows[upper], -rows[lower]]),
        b_ub=np.concatenate([high[upper], -low[lower]]),
        bounds=(None, None),
        method="highs",
    )
    # Feet and a root that never turn are within all bounds, so that there is an optimum.
    return np.asarray(found.x[:count])


def make_feasible(
    robot: Robot, plan: FootstepPlan, legs: LegRange, parts: Sequence[float], recorded: Array, heading: Array
) -> tuple[FootstepPlan, list[tuple[float, str]]]:
    """Find the footsteps nearest to a scaled plan that a robot can take.

    Times: of all sequences in which a swing lasts at least 0.28 s and both feet stand for at least 0.1 s
    between two swings, the one with the least sum of squared changes (isotonic regression). Swings longer
    than 2.5 s are shortened at both ends. Places, step by step: the foot's rotation against the standing foot
    within the legs' range, its distance from the place beside that foot within their reach, and the soles
    apart.

    `parts` has the part of the first stance and of each step, from the place beside the other foot, that
    the robot takes: 1 for all of it. With the person's heading, as in `choose_directions`, the feet let the
    root turn. Also returns the changes by time: that of the person's landing or lift, s of the recording,
    with what was changed, by how much, and why, in one line.
    """
    steps, changes = _feasible_times(plan.steps)
    # Where hips cannot turn the feet as the person's, all are turned together: the root then turns with them.
    # A person turns on a foot that stands; the robot's is put down where the whole turn is followed best.
    start, latest = plan.start.copy(), plan.start[:, 2].tolist()
    turns = [latest[0] - latest[1]]
    for step in steps:
        turns.append(_OUTWARD[step.foot] * (step.yaw - latest[1 - step.foot]))
        latest[step.foot] = step.yaw
    low, high = legs.pair
    if min(turns) < low or max(turns) > high:
        yaws = choose_directions(plan, steps, legs, recorded, heading)
        start[:, 2] = yaws[:2]
        changes += [
            (
                step.landing,
                f"the {SIDES[step.foot]} foot points {yaw - step.yaw:+.2f} rad off: hips turn a foot by "
                f"{low:.2f} to {high:.2f} rad against the other one",
            )
            for step, yaw in zip(steps, yaws[2:], strict=True)
            if abs(yaw - step.yaw) > _TURN_NOTE
        ]
        steps = [step._replace(yaw=float(yaw)) for step, yaw in zip(steps, yaws[2:], strict=True)]
    feet = [_pose(start[0, :2], start[0, 2]), None]
    # The feet stand from the start: there is no swing past the other one.
    standing = TimedStep(1, -np.inf, 0.0, start[1, :2], start[1, 2], False)
    feet[1], _ = _feasible_place(robot, legs, standing, feet, parts[0])
    for row, foot in zip(start, feet, strict=True):
        row[:] = [*foot.translation[:2], row[2] + math.remainder(yaw_of(foot) - row[2], math.tau)]
    placed = []
    for step, part in zip(steps, parts[1:], strict=True):
        pose, reasons = _feasible_place(robot, legs, step, feet, part)
        changes += [(step.landing, f"the {SIDES[step.foot]} foot {reason}") for reason in reasons]
        yaw = step.yaw + math.remainder(yaw_of(pose) - step.yaw, math.tau)
        placed.append(step._replace(position=pose.translation[:2].copy(), yaw=yaw))
        feet[step.foot] = pose
    changes.sort(key=lambda change: change[0])
    return FootstepPlan(start, tuple(placed), plan.scale, plan.widened), changes


def _feasible_times(steps: Sequence[TimedStep]) -> tuple[list[TimedStep], list[tuple[float, str]]]:
    """Lift and land the feet one after the other, as near as possible to when the person did."""
    if not steps:
        return [], []
    changes: list[tuple[float, str]] = []
    events, gaps = [], []
    for number, step in enumerate(steps):
        lift, landing = step.lift, step.landing
        if landing - lift > LONGEST_SWING:
            middle = 0.5 * (lift + landing)
            reason = (
                f"the person stands {landing - lift:.2f} s on the {SIDES[1 - step.foot]} foot alone; the "
                f"robot {LONGEST_SWING:g} s"
            )
            changes.append((lift, reason))
            lift, landing = middle - 0.5 * LONGEST_SWING, middle + 0.5 * LONGEST_SWING
        if number:
            same = steps[number - 1].foot == step.foot
            gaps.append(_SHORTEST_CONTACT if same else SHORTEST_DOUBLE_SUPPORT)
        gaps.append(SHORTEST_SWING)
        events += [lift, landing]
    offset = np.concatenate([[0.0], np.cumsum(gaps)])
    # With the least gaps taken off, the times must only not decrease.
    times = isotonic_regression(np.array(events) - offset).x + offset
    result = []
    for number, (step, (lift, landing)) in enumerate(zip(steps, times.reshape(-1, 2).tolist(), strict=True)):
        result.append(step._replace(lift=lift, landing=landing))
        if step.landing - step.lift > LONGEST_SWING:
            continue
        side, following = SIDES[step.foot], steps[number + 1] if number + 1 < len(steps) else None
        if following is not None and following.foot != step.foot and following.lift < step.landing:
            reason = (
                f"both feet are off the floor for {step.landing - following.lift:.2f} s, as in a run or a "
                f"jump: the robot lands the {side} foot {step.landing - landing:.2f} s earlier"
            )
            changes.append((following.lift, reason))
        elif abs(landing - step.landing) > _TIME_NOTE and step.recorded:
            how = "later" if landing > step.landing else "earlier"
            reason = (
                f"the {side} foot lands {abs(landing - step.landing):.2f} s {how}: swings of at least "
                f"{SHORTEST_SWING:g} s and {SHORTEST_DOUBLE_SUPPORT:g} s on both feet"
            )
            changes.append((step.landing, reason))
    return result, changes


def _feasible_place(
    robot: Robot, legs: LegRange, step: TimedStep, feet: Sequence[pin.SE3], part: float
) -> tuple[pin.SE3, list[str]]:
    """Nearest pose to that of a step that a foot can reach beside the one that stands, and what was changed.

    A part of the step is taken; of both `feet`, one that has no pose before stands there from the start.
    """
    foot, wanted = step.foot, _pose(step.position, step.yaw)
    start, standing, outward = feet[foot], feet[1 - foot], _OUTWARD[foot]
    home = standing * legs.beside[foot]
    reasons = []
    turn = math.remainder(yaw_of(wanted) - yaw_of(home), math.tau) * outward
    allowed = part * float(np.clip(turn, *legs.pair))
    if start is not None:
        # As fast as the hips rotate, from where the foot stood.
        before = math.remainder(yaw_of(start) - yaw_of(home), math.tau) * outward
        fastest = legs.turn_rate * (step.landing - step.lift)
        allowed = float(np.clip(allowed, before - fastest, before + fastest))
    if abs(allowed - turn) > _TURN_NOTE:
        reasons.append(
            f"turns by {outward * allowed:+.2f} rad against the other one, not {outward * turn:+.2f}"
        )
    yaw = yaw_of(home) + outward * allowed
    forward, across = standing.rotation[:2, 0], standing.rotation[:2, 1] * outward
    displacement = wanted.translation[:2] - home.translation[:2]
    distance = float(np.linalg.norm(displacement))
    aside = part * min(float(displacement @ across), legs.aside)
    ahead = part * float(displacement @ forward)
    long = math.hypot(ahead, aside)
    if long > _REACH_FRACTION * legs.reach:
        ahead, aside = (_REACH_FRACTION * legs.reach / long * each for each in (ahead, aside))
    taken = math.hypot(ahead, aside)
    if distance - taken > _PLACE_NOTE:
        reasons.append(f"steps {taken:.2f} m from its place beside the other one, not {distance:.2f} m")

    def place(out: float) -> pin.SE3:
        return _pose(home.translation[:2] + ahead * forward + (aside + out) * across, yaw)

    def sole(foot: int, pose: pin.SE3) -> shapely.Polygon:
        corners = robot.soles[f"{SIDES[foot]}_foot"] @ pose.rotation.T + pose.translation
        return shapely.Polygon(corners[:, :2])

    def too_near(end: pin.SE3) -> bool:
        """Whether a sole comes over the other one, or nearer than feet may in the later part of its way."""
        begin = start or end
        if soles_overlap(robot, SIDES[foot], begin, end, standing):
            return True
        turn = math.remainder(yaw_of(end) - yaw_of(begin), math.tau)
        still = sole(1 - foot, standing)
        for along in _WAY:
            there = begin.translation + along * (end.translation - begin.translation)
            moved = _pose(there[:2], yaw_of(begin) + along * turn)
            if sole(foot, moved).distance(still) < _FEET_APART:
                return True
        return False

    out = 0.0
    while too_near(place(out)):
        out += _PUSH
        if aside + out > legs.aside:
            # Beside the other one there is room for both, at least if they do not turn against each other.
            return home, [*reasons, "is put down beside the other one: its sole would come over it"]
    if out > 0.0:
        out += _CLEAR_GROWTH
    if out > _PLACE_NOTE:
        reasons.append(f"lands {out:.2f} m farther out: its sole would come over the other one")
    return place(out), reasons


def _pose(position: Array, yaw: float) -> pin.SE3:
    """Pose of a level foot at a position (2,), m, and a yaw, rad."""
    return pin.SE3(pin.utils.rotate("z", float(yaw)), np.append(position, 0.0))
