"""Ways to follow a person's steps: feet, ZMP, root, COG and legs in time, and how the best one is chosen."""

import math
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from scipy.spatial.transform import Rotation

from simbench.balance.inverted_pendulum import GRAVITY, natural_frequency
from simbench.balance.leg_ik import height_range, leg_columns, leg_length, stand
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.derivatives import minimum_jerk
from simbench.kinematics.foot_contact import contact_intervals
from simbench.kinematics.rotation import continuous_quaternions
from simbench.motion.person_body import low_pass
from simbench.motion.trajectory import JointTrajectory, sample_trajectory
from simbench.options import RetargetSection, RobotSection, SimulationSection
from simbench.retargeting.collision.clearance import convex_shapes
from simbench.retargeting.reference import planned_steps
from simbench.retargeting.steps.feasible_footsteps import (
    MAX_TURN_ACCELERATION,
    MAX_TWIST,
    TWIST_FRACTION,
    FootstepPlan,
    LegRange,
    make_feasible,
    scale_footsteps,
)
from simbench.retargeting.steps.recorded_person import Person, root_rotations
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES
from simbench.system.progress import OnProgress

# Part of a swing's time at each of its ends, in which the foot only rises or sinks.
_VERTICAL_FRACTION = 0.05
# Part of the rest at each of its ends, in which the foot gets to its speed: the fastest is then 1.6 times the
# mean, with minimum jerk and the fractions of `plan_gait` 2.3 times, at about the same acceleration.
_RAMP = 0.3
# Longest time in which the ZMP moves from one sole to the next, s: a person's double support takes 0.1 to
# 0.3.
_TRANSFER_TIME = 0.4
# Bandwidth of the person's weight between their feet, Hz: above is the noise of accelerations.
_SWAY_BANDWIDTH = 2.0
# Part of half a sole's length by which the ZMP moves to either side of its middle while the robot steps over
# it, as the person's rolls from heel to toe; the balance controller needs the rest. The same as a part of the
# distance from the other foot's last place to its next one.
_ROLL_FRACTION, _ROLL_STEP = 0.25, 0.15
# Least part of the weight on a foot that lands and lifts again while the other one stays: one that carries
# less bounces.
_LEAST_LOAD = 0.35
# Height of a swinging foot midway as a part of the leg's length, as of planned steps.
_LIFT = 0.04
# Part of the legs' speed limits that a plan is to leave: in a run, feedback adds to the speeds.
_SPEED_RESERVE = 0.05
# Least distance of the legs from each other, m; interval at which it is checked, s; and what counts as the
# excess over a limit where they are nearer.
_LEG_CLEARANCE, _CHECKED, _TOUCHING = 0.005, 0.03, 0.2
# Time between the beginning of the lead-in and the first move of the ZMP, s.
_PREPARATION = 0.2
# Bandwidths of the root's rotation about the vertical that are tried in turn, Hz.
_TURN_BANDWIDTHS = (4.0, 3.0, 2.4, 1.9, 1.5, 1.2, 0.9, 0.7)
# Most rounds in which all steps are shortened, and single ones; and the rounds of the first that are taken
# whether they help or not.
_SCALE_ROUNDS, _STEP_ROUNDS, _FIRST_ROUNDS = 6, 6, 3
# Least and largest factor by which the scale is reduced in a round, and the power of the excess for it.
_SCALING, _EASING = (0.7, 0.9), 0.75
# Part of the excess over limits that shorter steps may leave to go on: else single ones are shortened, which
# costs their places, while the scale costs none.
_STUCK = 0.8
# Excess that needs no shorter steps.
_NEGLIGIBLE = 0.02
# Excess of the legs over a position limit, rad, or a speed limit, as a part of it, above which a plan is
# refused: a robot that cannot follow by more falls.
_TOLERATED = 0.1
# Factor by which single steps are shorter, and time before and after a swing that counts as its step, s.
_SHORTER, _AROUND = 0.75, 0.1
# Quantile of the steps' lengths that the scale brings within reach; longer ones are shortened.
_LONG_STEP = 0.9
# Least part of the largest scale, and RMS distance by which steps may have to be moved, m, before the scale
# is reduced for it: distances shrink, the width of the feet does not.
_LEAST_SCALE, _MOVED = 0.4, 0.04
# Part of the longest step that they may use.
_REACH = 0.85
# Height of the pelvis above the posture's as a part of the leg's length, for which reach is computed.
_BENT = -0.04


class StepFollowingOptions(NamedTuple):
    """Sections of a scenario that decide how a robot follows a person's steps."""

    section: RobotSection  # Place, heading and posture of the robot.
    retarget: RetargetSection  # Method, margins, and whether unlike steps are refused.
    settings: SimulationSection  # Physics step, and times to settle, lead in and hold.
    rate: float  # Rate of the balance controller, Hz.
    feedforward: str  # Feed-forward torque, as in `ControlSection`.


class StepCandidate(NamedTuple):
    """Footsteps at one scale, and the legs' motion that follows them."""

    legs: LegRange
    wanted: FootstepPlan  # The person's footsteps, scaled.
    planned: FootstepPlan  # The nearest that the robot can take.
    # Times of the person at which they differ, s, and how, as from `make_feasible`.
    changes: list[tuple[float, str]]
    setting: (
        planned_steps.TrajectoryTask
    )  # Trunk and arms, the root's orientation, and the scenario's sections.
    steps: planned_steps.PlannedSteps  # Feet, ZMP and everything else in time.
    lowered: float  # Distance by which the COG is lowered for the legs, m.
    followed: planned_steps.FollowedPlan  # The legs' motion, and how far it is beyond their limits.
    lean: float  # Part of the person's lean that is followed.


def choose_steps(
    robot: Robot,
    person: Person,
    options: StepFollowingOptions,
    joints: Array,
    heights: Array,
    on_progress: OnProgress,
) -> StepCandidate:
    """Plan with ever shorter steps until the legs can follow; single steps that they cannot are shortened.

    Trunk and arms move as in `joints` (T, n), rad, and may touch the legs; the COG is `heights` (T,), m,
    high. It is a `RetargetError` if the robot's legs cannot make such steps.
    """
    section, length = options.section, leg_length(robot)
    low, high = height_range(robot, section.posture)
    height = section.height_m or 0.0
    # Knees are so bent that the robot can step, as far as its legs allow.
    bent = min(height, float(np.clip(height + _BENT * length, 0.9 * low, high)))
    legs = LegRange(robot, stand(robot, (0.0, 0.0), 0.0, section.posture, bent))
    # Ratio of the legs' lengths, or less, so that most steps are in reach beside the other foot.
    contacts, lengths = person.contacts, []
    for number, contact in enumerate(contacts[1:], 1):
        other = next((each for each in contacts[number - 1 :: -1] if each.foot != contact.foot), None)
        if other is not None:
            yaw = float(np.interp(max(contact.landing, 0.0), person.motion.time, person.body.heading))
            forward = np.array([np.cos(yaw), np.sin(yaw)])
            lengths.append(abs(float((contact.position - other.position) @ forward)))
    longest = float(np.quantile(lengths, _LONG_STEP)) if lengths else 0.0
    scale = largest = min(length / person.leg, _REACH * legs.reach / max(longest, 1e-6))

    def place_footsteps() -> tuple[FootstepPlan, FootstepPlan, list[tuple[float, str]]]:
        """Scale the person's footsteps, place them in the scenario, and make them feasible."""
        time, heading, turn = person.motion.time, person.body.heading, section.heading_rad
        position = np.array(section.position_m, dtype=float)
        wanted = scale_footsteps(contacts, time, heading, scale, turn, position, legs.width)
        parts = shortened or [1.0] * (len(wanted.steps) + 1)
        return wanted, *make_feasible(robot, wanted, legs, parts, time - time[0], heading + turn)

    shortened: list[float] = []
    while scale > _LEAST_SCALE * largest:
        wanted, planned, _ = place_footsteps()
        moved = [
            float(np.linalg.norm(after.position - before.position))
            for before, after in zip(wanted.steps, planned.steps, strict=True)
        ]
        if not moved or np.sqrt(np.mean(np.square(moved))) <= _MOVED:
            break
        scale *= _SCALING[1]
    best: StepCandidate | None = None
    least: tuple[bool, float] = (True, np.inf)
    lean, before = 1.0, np.inf
    unreached: LegReachError | None = None
    for number in range(_SCALE_ROUNDS + _STEP_ROUNDS):
        on_progress("steps", number, _SCALE_ROUNDS + _STEP_ROUNDS)
        footsteps = place_footsteps()
        single, rotation = lean < 1.0, root_rotations(person.body, lean)
        lowered = best.lowered if single and best is not None else None
        try:
            candidate = plan_candidate(
                robot, person, options, legs, footsteps, joints, rotation, heights, lean, lowered
            )
        except LegReachError as error:
            # It cannot stand with its feet so far apart at the beginning or the end.
            scale, unreached = _SCALING[0] * scale, error
            continue
        excess, beyond = candidate.followed.excess, float(candidate.followed.excess.sum())
        # Plans in which a leg becomes straight lose balance.
        badness = bool(excess[-1] >= 1.0), beyond
        if best is None or badness < least:
            best, least = candidate, badness
        if excess.max() <= _NEGLIGIBLE or not candidate.wanted.steps:
            best = candidate
            break
        stuck, before = number >= _FIRST_ROUNDS and beyond > _STUCK * before, beyond
        if single or number >= _SCALE_ROUNDS or stuck:
            # What shorter steps did not help keeps its place.
            scale = best.wanted.scale
            lean *= _SHORTER
            tick, start, steps = candidate.setting.tick, candidate.steps.start, candidate.planned.steps
            # The first is the stance before the steps.
            first_lift = min((step.lift for step in steps), default=0.0)
            spans = [slice(max(round((start + first_lift - _AROUND) / tick), 1))]
            for step in steps:
                begin, end = ((start + at) / tick for at in (step.lift - _AROUND, step.landing + _AROUND))
                spans.append(slice(max(round(begin), 0), round(end) + 1))
            shortened = [
                part * (_SHORTER if (excess[span] > _NEGLIGIBLE).any() else 1.0)
                for part, span in zip(shortened or [1.0] * len(spans), spans, strict=True)
            ]
        else:
            usual = float(np.quantile(excess[excess > 0.0], 0.9))
            scale *= float(np.clip((1.0 + usual) ** -_EASING, *_SCALING))
    on_progress("steps", 1, 1)
    if best is None:
        assert unreached is not None
        raise unreached
    require_followed(robot, person, best)
    return best


def require_followed(robot: Robot, person: Person, candidate: StepCandidate) -> None:
    """Refuse steps with legs beyond a limit of position or speed by more than 0.1 (rad, or a part of it)."""
    if candidate.followed.excess.max(initial=0.0) > _TOLERATED:
        reasons = [*candidate.followed.doubts, *(reason for _, reason in candidate.changes)]
        raise RetargetError(
            f"retarget.physics: steps: {robot.name} cannot follow {person.motion.source}: "
            f"{'; '.join(reasons[:2])}; allowed: stand"
        )


def plan_candidate(
    robot: Robot,
    person: Person,
    options: StepFollowingOptions,
    legs: LegRange,
    footsteps: tuple[FootstepPlan, FootstepPlan, list[tuple[float, str]]],
    joints: Array,
    rotation: Rotation,
    heights: Array,
    lean: float,
    lowered: float | None,
) -> StepCandidate:
    """Plan feet, ZMP, root and COG of footsteps, with rest before and after, and let the legs follow.

    `footsteps` are the person's, scaled, those that the robot takes, and what was changed. At the recording's
    T samples, `joints` (T, n) are those of trunk and arms, rad, `rotation` the orientation of the root that
    the person's heading and lean ask for, in the recording's world frame, and `heights` (T,) that of the COG,
    m. `lean` is the part of the person's lean that is followed; `lowered` is the distance by which the COG is
    lowered, m, None for as far as the legs need. It is a `RetargetError` if the robot cannot stand where it
    begins or ends.
    """
    wanted, plan, changes = footsteps
    settings, length, time = options.settings, leg_length(robot), person.motion.time - person.motion.time[0]
    feet = swing_feet(plan, time, 0.0)
    # The root turns as the person, as far as the legs allow against the feet, which may have gone round.
    turn, pitch, roll = rotation.as_euler("ZYX").T
    (left, right), middle = feet.yaw.T, feet.yaw.mean(axis=1)
    turn = np.unwrap(turn) + options.section.heading_rad
    turn += 2.0 * np.pi * np.round((middle[0] - turn[0]) / (2.0 * np.pi))
    inward, outward = (0.5 * TWIST_FRACTION * limit for limit in (legs.inward, legs.outward))
    low = np.maximum(left - outward, right - inward)
    high = np.minimum(left + inward, right + outward)
    turn = np.where(low < high, np.clip(turn, low, high), 0.5 * (low + high))
    turn = middle + lean * np.clip(turn - middle, -MAX_TWIST, MAX_TWIST)
    # It is smoothed so that the soles' friction gives the moment for it.
    for bandwidth in _TURN_BANDWIDTHS:
        smooth = low_pass(turn, bandwidth, person.motion.rate)
        fastest = np.abs(np.gradient(np.gradient(smooth))).max() * person.motion.rate**2
        if fastest <= MAX_TURN_ACCELERATION:
            break
    turned = Rotation.from_euler("ZYX", np.column_stack([smooth, pitch, roll]))
    quaternion = continuous_quaternions(turned.as_quat())
    base = np.column_stack([feet.position.mean(axis=1)[:, :2], heights, quaternion])
    every = round(1.0 / (settings.timestep_s * options.rate))
    trajectory = JointTrajectory(time, joints, robot.joint_names, base)
    setting = planned_steps.TrajectoryTask(robot, trajectory, options.section, settings, every)
    tick, duration = setting.tick, setting.duration
    values, last = np.column_stack([joints, quaternion, heights]), [plan.start[foot] for foot in range(2)]
    for step in plan.steps:
        last[step.foot] = np.array([*step.position, step.yaw])
    first_lift = min([0.0, *(step.lift for step in plan.steps)])
    last_landing = max([duration, *(step.landing for step in plan.steps)])
    ends, omega = [plan.start, np.array(last)], natural_frequency(float(values[:, -1].mean()))
    spare = [-first_lift + _TRANSFER_TIME + _PREPARATION, last_landing - duration + _TRANSFER_TIME]
    sampled, rest, (lead, _) = planned_steps.plan_leads(setting, values, ends, omega, spare)
    start = settings.settle_s + lead
    clock: Array = tick * np.arange(len(sampled.clock) // every + 1, dtype=np.float64) - start
    feet = swing_feet(plan, clock, _LIFT * length)
    weight = np.interp(clock, time, weight_between_feet(person, time))
    moving, rests = (minimum_jerk(clock, at, _TRANSFER_TIME) for at in (-_TRANSFER_TIME, duration))
    zmp = plan_zmp(robot, feet, clock, 0.5 + moving * (1.0 - rests) * (weight - 0.5))
    steps = planned_steps.PlannedSteps(start, sampled, feet, zmp, rest)
    if lowered is None:
        lowered, followed = planned_steps.follow_ideally(
            robot, partial(planned_steps.make_whole_plan, setting, steps), length
        )
    else:
        followed = planned_steps.FollowedPlan(robot, planned_steps.make_whole_plan(setting, steps, lowered))
    if followed.excess[-1] < 1.0:
        # Speeds of the legs near their limits count as beyond: in a run, feedback adds to them.
        columns = np.concatenate([leg_columns(robot, side) for side in SIDES])
        speed = np.abs(np.diff(followed.path[:, 7 + columns], axis=0)) / tick
        ratio = np.append((speed / robot.model.velocityLimit[6 + columns]).max(axis=1), 0.0)
        followed.excess = np.maximum(followed.excess, ratio - 1.0 + _SPEED_RESERVE)
    _count_leg_contact(robot, followed, tick)
    return StepCandidate(legs, wanted, plan, changes, setting, steps, lowered, followed, lean)


def path_at_samples(best: StepCandidate) -> Array:
    """Take the planned configurations (T, 7 + n) at the recording's samples, between ticks at some rates."""
    path = best.followed.path
    ticks: Array = best.setting.tick * np.arange(len(path), dtype=np.float64)
    whole = JointTrajectory(ticks, path[:, 7:], best.setting.robot.joint_names, path[:, :7])
    found = sample_trajectory(whole, best.steps.start + best.setting.trajectory.time)
    assert found.base is not None
    return np.hstack([found.base, found.q])


def _count_leg_contact(robot: Robot, followed: planned_steps.FollowedPlan, tick: float) -> None:
    """Count legs that touch each other as beyond what they can do: convex hulls of the links of both legs."""
    model, geometry = robot.model, convex_shapes(robot).copy()
    sides = []
    for side in SIDES:
        moved = {model.getJointId(name) for name in robot.groups[f"{side}_leg"]}
        shapes = enumerate(geometry.geometryObjects)
        sides.append([number for number, each in shapes if moved & set(model.supports[each.parentJoint])])
    geometry.removeAllCollisionPairs()
    for left, right in product(*sides):
        geometry.addCollisionPair(pin.CollisionPair(left, right))
    if not len(geometry.collisionPairs):
        return
    count = len(followed.path)
    rows = np.unique(np.append(np.arange(0, count, max(round(_CHECKED / tick), 1)), count - 1))
    data, placed = model.createData(), geometry.createData()
    apart = np.empty(len(rows))
    for sample, q in enumerate(followed.path[rows]):
        pin.updateGeometryPlacements(model, data, geometry, placed, q)
        pin.computeDistances(geometry, placed)
        apart[sample] = min(result.min_distance for result in placed.distanceResults)
    if apart.min() >= _LEG_CLEARANCE:
        return
    near = np.interp(np.arange(count), rows, (apart < _LEG_CLEARANCE).astype(float)) >= 0.5
    when = rows[int(apart.argmin())] * tick
    followed.doubts.append(f"the legs would touch each other at {when:.2f} s of the run")
    followed.excess = np.maximum(followed.excess, _TOUCHING * near)


def swing_feet(plan: FootstepPlan, clock: Array, lift: float) -> planned_steps.FootPlan:
    """Sample the feet of footsteps at times (N,), s of the recording.

    Feet are level on the floor where they stand; midway, a swinging one is `lift`, m, high. A foot rises and
    sinks as z = lift (1 − cos 2πs) / 2 in the phase s of its swing. In between it moves horizontally and
    turns at a constant speed, which it reaches and leaves as a cosine: at the tempo of a person who walks,
    the speed of the leg's joints is what limits the length of a step.
    """
    count, fastest = len(clock), 1.0 / (1.0 - _RAMP)
    position, yaw = np.zeros((count, 2, 3)), np.empty((count, 2))
    in_swing = np.full((count, 2), np.nan)
    position[:, :, :2], yaw[:] = plan.start[:, :2], plan.start[:, 2]
    place = plan.start.copy()

    def ramp(part: Array) -> Array:
        """Way in the first part of the ramp, as a fraction of the whole."""
        angle = np.pi * np.clip(part / _RAMP, 0.0, 1.0)
        return 0.5 * fastest * _RAMP * (angle - np.sin(angle)) / np.pi

    for step in plan.steps:
        foot = step.foot
        phase = (clock - step.lift) / (step.landing - step.lift)
        along = np.clip((phase - _VERTICAL_FRACTION) / (1.0 - 2.0 * _VERTICAL_FRACTION), 0.0, 1.0)
        constant = fastest * (np.clip(along, _RAMP, 1.0 - _RAMP) - _RAMP)
        progress = ramp(along) + constant + 0.5 * fastest * _RAMP - ramp(1.0 - along)
        turn = math.remainder(step.yaw - place[foot, 2], math.tau)
        position[:, foot, :2] += progress[:, None] * (step.position - place[foot, :2])
        yaw[:, foot] += progress * turn
        swinging = (phase > 1e-9) & (phase < 1.0 - 1e-9)
        position[swinging, foot, 2] = 0.5 * lift * (1.0 - np.cos(2.0 * np.pi * phase[swinging]))
        in_swing[swinging, foot] = phase[swinging]
        place[foot] = [*step.position, place[foot, 2] + turn]
    return planned_steps.FootPlan(position, yaw, np.isnan(in_swing), in_swing, len(plan.steps))


def weight_between_feet(person: Person, time: Array) -> Array:
    """Estimate where between both feet a person's ZMP is, while both stand.

    The ZMP of the inverted pendulum, p = c − c̈ z / g, on the line between the ankles at times (T,), s: 0 over
    the right one, 1 over the left; 0.5 where not both feet stand.
    """
    cog = low_pass(person.body.cog, _SWAY_BANDWIDTH, (len(time) - 1) / (time[-1] - time[0]))
    acceleration = np.gradient(np.gradient(cog[:, :2], time, axis=0), time, axis=0)
    zmp = cog[:, :2] - acceleration * cog[:, 2:] / GRAVITY
    places = np.full((len(time), 2, 2), np.nan)
    for contact in person.contacts:
        places[(time >= contact.landing) & (time <= contact.lift), contact.foot] = contact.position
    line = places[:, 0] - places[:, 1]
    along = np.sum((zmp - places[:, 1]) * line, axis=1) / np.maximum(np.sum(line**2, axis=1), 1e-6)
    return np.clip(np.nan_to_num(along, nan=0.5), 0.0, 1.0)


def plan_zmp(robot: Robot, feet: planned_steps.FootPlan, clock: Array, weight: Array) -> Array:
    """Plan the ZMP (N, 2) of planned feet in the world frame, m, in the soles' support polygon.

    On one foot it moves over the middle of the sole from back to front, as far as the step is long. From sole
    to sole it moves by minimum jerk, in the whole double support or, in a long one, in 0.4 s at its ends;
    between, it is where the person's weight is: `weight` (N,) is the part of the way from the right to the
    left sole. `clock` (N,) is the time of the samples, s.
    """
    middles = np.empty((len(clock), 2, 2))
    for foot, side in enumerate(SIDES):
        corners = robot.soles[f"{side}_foot"][:, :2]
        x, y = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        cos, sin = np.cos(feet.yaw[:, foot]), np.sin(feet.yaw[:, foot])
        centre = np.column_stack([cos * x - sin * y, sin * x + cos * y])
        middles[:, foot] = feet.position[:, foot, :2] + centre
    line = middles[:, 0] - middles[:, 1]
    between = middles[:, 1] + weight[:, None] * line
    loaded = middles[:, 1] + np.clip(weight, _LEAST_LOAD, 1.0 - _LEAST_LOAD)[:, None] * line
    zmp = between.copy()
    intervals = contact_intervals(np.asarray(feet.contact.sum(axis=1) == 1)).tolist()
    for first, last in intervals:
        # Contacts of one foot that follow each other without double support are planned one by one.
        foot = int(feet.contact[first].argmax())
        length = float(np.ptp(robot.soles[f"{SIDES[foot]}_foot"][:, 0]))
        forward = pin.utils.rotate("z", float(feet.yaw[first, foot]))[:2, 0]
        ends = feet.position[[max(first - 1, 0), min(last + 1, len(clock) - 1)], 1 - foot, :2]
        most = 0.5 * _ROLL_FRACTION * length
        part = float(np.clip(_ROLL_STEP * float((ends[1] - ends[0]) @ forward), -most, most))
        progress = np.linspace(-1.0, 1.0, last - first + 1)
        zmp[first : last + 1] = middles[first, foot] + part * progress[:, None] * forward
    edges = [-1, *(edge for first, last in intervals for edge in (first, last)), len(clock)]
    double = [(edges[k] + 1, edges[k + 1] - 1) for k in range(0, len(edges), 2)] if intervals else []
    for first, last in double:
        if last < first:
            continue
        inside = clock[first : last + 1]
        begin, duration = float(inside[0]), float(inside[-1] - inside[0])
        before = zmp[first - 1] if first > 0 else None
        after = zmp[last + 1] if last + 1 < len(clock) else None
        passing = before is not None and after is not None
        returns = passing and bool((feet.contact[first - 1] == feet.contact[last + 1]).all())
        via = (loaded if returns else between)[first : last + 1]
        if before is not None and after is not None and duration <= 2.0 * _TRANSFER_TIME:
            path = before + minimum_jerk(inside, begin, max(duration, 1e-6))[:, None] * (after - before)
            if returns:
                # A foot that lands and lifts again while the other one stays bounces if it carries nothing.
                rise = max(0.5 * min(duration, _TRANSFER_TIME), 1e-6)
                there = minimum_jerk(inside, begin, rise)
                there = there - minimum_jerk(inside, float(inside[-1]) - rise, rise)
                part = duration / (2.0 * _TRANSFER_TIME)
                path += part * there[:, None] * (via - path)
        else:
            path, part = via.copy(), min(_TRANSFER_TIME, duration)
            if before is not None:
                path += (1.0 - minimum_jerk(inside, begin, part))[:, None] * (before - path)
            if after is not None:
                path += minimum_jerk(inside, float(inside[-1]) - part, part)[:, None] * (after - path)
        zmp[first : last + 1] = path
    return planned_steps.nearest_supported(robot, zmp, feet)
