"""Plan how a robot follows a person's steps, with trunk, arms and lean at the recorded tempo.

Amplitude gives way where it must.
"""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from simbench.balance.ground_reaction import planned_zmp
from simbench.balance.inverted_pendulum import GRAVITY
from simbench.balance.leg_ik import (
    Stance,
    describe_lost_motions,
    height_range,
    leg_length,
    require_sideways_sway,
    stand,
)
from simbench.balance.whole_body import WholeBodyPlan
from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion, require_both_arms
from simbench.motion.person_body import low_pass
from simbench.motion.trajectory import JointTrajectory
from simbench.options import RetargetSection
from simbench.retargeting.body_errors import RobotErrors, compare_with_person, robot_metrics
from simbench.retargeting.collision.avoidance import avoid_collisions
from simbench.retargeting.collision.clearance import ClearanceScene, body_shapes, release_legs
from simbench.retargeting.collision.interference import Interference, find_interference
from simbench.retargeting.imitation.imitation import imitation_metrics
from simbench.retargeting.imitation.limited_posture import position_limits, preferred_posture
from simbench.retargeting.imitation.scaled_model import require_human_form
from simbench.retargeting.reference.planned_steps import build_timeline, cog_heights
from simbench.retargeting.reference.reference import FollowedSteps, Timeline
from simbench.retargeting.stand.standing_plan import imitate_person
from simbench.retargeting.stand.standing_tempo import limit_torques, torque_reserve
from simbench.retargeting.steps import step_candidates
from simbench.retargeting.steps.feasible_footsteps import FootstepPlan
from simbench.retargeting.steps.recorded_person import Person, observe_person, root_rotations, seen_from_root
from simbench.retargeting.timing import preserve
from simbench.robot.robot import SEATED, Robot
from simbench.robot.sides import SIDES
from simbench.system.progress import OnProgress

# Bandwidths of the pelvis' height that are tried in turn, Hz; the first is twice the frequency of steps.
_HEIGHT_BANDWIDTHS = (3.0, 2.4, 1.9, 1.5, 1.2, 0.9, 0.7, 0.5, 0.3)
# Largest vertical acceleration of the COG, as a part of gravity: the pendulum's height is taken to be
# constant, and the soles keep their grip.
_MAX_LIFT = 0.25
# Quantile of the pelvis' heights at which the person is taken to stand upright.
_STANDING_QUANTILE = 0.9
# Fraction used of the heights that the legs allow: the rest is for steps and sway.
_HEIGHT_FRACTION = 0.7
# Largest lowering of the root as a part of its height: at 0.3 a robot counts as fallen, and legs bend further
# for long steps.
_DEEPEST_SQUAT = 0.2
# Distance of all bodies' ZMP from the edge of the soles that stand, m: what control and soles leave; and the
# least distance from the planned ZMP to the edge that counts, m.
_ZMP_MARGIN, _LEAST_ROOM = 0.015, 0.01
# Fraction of its allowed torque from which on a joint's torque is limited: others do not exceed theirs.
_BUSY = 0.6
# Most rounds in which the lean is made smaller, and in which trunk and arms are.
_LEAN_ROUNDS, _MAX_ROUNDS = 4, 6
# Factors by which what the root leans beyond the chosen steps' plan is made smaller in a round, and in the
# last one, and time before and after an excess, s.
_LESS_LEAN, _NO_LEAN, _LEAN_REACH = 0.5, 1e-3, 0.25
# Amplitude that is told when it is lost, rad.
_NOTED = 0.05


@dataclass(frozen=True)
class StepFollowingPlan:
    """Planned motion of a robot that follows a person's steps."""

    timeline: Timeline  # Reference at every physics step.
    whole: WholeBodyPlan  # Plan of the balance controller.
    trajectory: JointTrajectory  # Planned joints and base at the recording's samples.
    wanted: FootstepPlan  # The person's footsteps, scaled.
    planned: FootstepPlan  # The footsteps that the robot takes; times of the recording.
    metrics: dict[str, float]
    # Errors of the robot's arms and trunk against the person, at the samples of `trajectory`.
    errors: RobotErrors
    interferences: tuple[Interference, ...]  # Links that still penetrate each other.
    # `notes`, `doubts`: what was assumed and changed, and what the robot cannot do as the person did, one
    # line each.
    notes: tuple[str, ...]
    doubts: tuple[str, ...]
    changes: tuple[str, ...]  # Those of the doubts that are about single footsteps which were changed.


def plan_step_following(
    robot: Robot, motion: HumanMotion, options: step_candidates.StepFollowingOptions, on_progress: OnProgress
) -> StepFollowingPlan:
    """Plan how a robot on free feet follows a person's steps, turns, squats and sway at the recorded tempo.

    Footsteps are the person's, scaled by the ratio of the legs' lengths or less, so that nine of ten are
    within reach, and made feasible one by one. The ZMP goes from sole to sole, the COG is that of the linear
    inverted pendulum for it, corrected for the bodies' angular momentum (`follow_ideally`). The root turns
    and leans with the person's trunk, and trunk joints and arms follow the person relative to it. If the legs
    cannot follow, steps are planned shorter.

    The recording is resampled. It is a `MotionError` if arms or hips were not recorded, and a `RetargetError`
    if the feet were not, the person is not on level ground and on their feet, the robot's legs cannot make
    such steps, or steps were changed and `retarget.steps_strict` is set.
    """
    require_human_form(robot)
    require_both_arms(motion)
    section, retarget = options.section, options.retarget
    if section.posture == SEATED:
        raise RetargetError("retarget.physics: steps: the robot sits; allowed: standing postures")
    on_progress("imitate", 0, 1)
    person = observe_person(motion)
    motion = person.motion
    stance = stand(robot, (0.0, 0.0), 0.0, section.posture, section.height_m or 0.0)
    require_sideways_sway(robot, stance)
    seen = seen_from_root(motion, person.body.pelvis, root_rotations(person.body))
    body, _, joints, _ = follow_upper_body(robot, seen, retarget, stance)
    on_progress("imitate", 1, 1)
    # The COG follows the pelvis' ups and downs, scaled by the legs' lengths, as far as the robot's legs
    # allow. They are smoothed so that its acceleration is bounded by a quarter of gravity.
    standing = float(cog_heights(robot, np.concatenate([stance.base, stance.joints])[None])[0])
    raised, scale = person.body.pelvis[:, 2], retarget.pelvis_height_follow * leg_length(robot) / person.leg
    ends = height_range(robot, section.posture)
    low, high = (_HEIGHT_FRACTION * (end - (section.height_m or 0.0)) for end in ends)
    low = max(low, -_DEEPEST_SQUAT * float(stance.base[2]))
    for bandwidth in _HEIGHT_BANDWIDTHS:
        moved = low_pass(raised, bandwidth, motion.rate) - np.quantile(raised, _STANDING_QUANTILE)
        limit = np.maximum(np.abs(np.where(moved < 0.0, low, high)), 1e-9)
        heights = np.asarray(standing + limit * np.tanh(scale * moved / limit))
        lift = np.abs(np.gradient(np.gradient(heights, motion.time), motion.time)).max()
        if lift <= _MAX_LIFT * GRAVITY:
            break
    chosen = step_candidates.choose_steps(robot, person, options, joints, heights, on_progress)
    on_progress("transfer", 0, 1)
    best, metrics, given_up = keep_recorded_tempo(robot, person, options, stance, body, heights, chosen)
    step_candidates.require_followed(robot, person, best)
    on_progress("transfer", 1, 1)
    changes = [f"at {time:.2f} s {reason}" for time, reason in best.changes]
    if retarget.steps_strict and (changes or best.followed.doubts):
        raise RetargetError(
            f"retarget.steps_strict: {motion.source}: {[*changes, *best.followed.doubts][0]}; allowed: steps "
            f"that {robot.name} can take as the person did"
        )
    setting, wanted, planned = best.setting, best.wanted, best.planned
    # The steps with which the person landed within the recording, beside those planned, for the measures of a
    # run.
    pairs = sorted(zip(wanted.steps, planned.steps, strict=True), key=lambda pair: pair[0].landing)
    pairs = [pair for pair in pairs if pair[0].recorded and pair[0].landing <= setting.duration]
    feet = np.array([step.foot for step, _ in pairs], dtype=np.int64)
    landings = np.array(
        [[(step.landing, *step.position, step.yaw) for step in pair] for pair in pairs], dtype=float
    ).reshape(-1, 2, 4)
    when, where, yaw = landings[..., 0], landings[..., 1:3], landings[..., 3]
    person_steps, planned_steps = ((when[:, k], where[:, k], yaw[:, k]) for k in (0, 1))
    whole = best.followed.plan
    followed = FollowedSteps(feet, *person_steps, *planned_steps, section.heading_rad)
    timeline = build_timeline(setting, best.steps, whole, best.followed.path, options.feedforward)
    path = step_candidates.path_at_samples(best)
    path[:, 7 + body.columns] = setting.trajectory.q[:, body.columns]
    trajectory = JointTrajectory(setting.trajectory.time, path[:, 7:], robot.joint_names, path[:, :7])
    errors = compare_with_person(robot, trajectory, motion, heading=section.heading_rad)
    interferences = find_interference(robot, trajectory, ())
    recorded = sum(step.recorded for step in planned.steps)
    notes = [
        *person.notes,
        f"{recorded} steps of the person are followed, distances {wanted.scale:.3f} times the person's, feet "
        f"{wanted.widened:.3f} m farther apart",
    ]
    if len(planned.steps) > recorded:
        notes.append("the person is in the air at the recording's end: the robot puts the foot down after it")
    if lost := describe_lost_motions(robot, stance):
        notes.append(lost)
    if best.lowered > 0.0:
        notes.append(f"the COG is planned {best.lowered:.3f} m lower: level feet need bent knees")
    if best.lean < 1.0:
        notes.append(
            f"{best.lean:.2f} of the trunk's twist against the feet is followed: the hips need their range "
            "for the steps"
        )
    metrics |= {
        "retarget.slow_down": 1.0,
        "retarget.duration_s": setting.duration,
        "retarget.interference_count": float(len(interferences)),
        **robot_metrics(robot, trajectory, errors, retarget.joint_limit_margin_rad),
        "follow.person_step_count": float(np.isfinite([each.landing for each in person.contacts]).sum()),
        "follow.step_count": float(recorded),
        "follow.floor_turn_count": float(sum(each.turned for each in person.contacts)),
        "follow.changed_step_count": float(len(changes)),
        "follow.scale": wanted.scale,
        "follow.widened_m": wanted.widened,
        "follow.lowered_m": best.lowered,
    }
    doubts = *person.doubts, *changes, *best.followed.doubts
    timeline, said = replace(timeline, steps=followed), (tuple(notes + given_up), doubts, tuple(changes))
    return StepFollowingPlan(
        timeline, whole, trajectory, wanted, planned, metrics, errors, interferences, *said
    )


def follow_upper_body(
    robot: Robot, motion: HumanMotion, settings: RetargetSection, stance: Stance
) -> tuple[preserve.UpperBody, Array, Array, dict[str, float]]:
    """Imitate a person with trunk and arms, at the recorded tempo and within all limits of these joints.

    The whole motion is one bounded problem (`keep_tempo`): where the person is too fast, amplitude gives way.
    The recording (T samples) is seen from the robot's root (`seen_from_root`), and the legs are as in the
    stance. It is a `RetargetError` if the scenario has criteria for hands that hold something, or there is no
    motion within the limits.

    Returns trunk and arms with their limits; their positions (T, m) that imitate the person inside the limits
    of position alone, rad; the positions of all joints of the robot (T, n), rad, those of legs and head as at
    rest; and the metrics `imitation.*`.
    """
    if settings.weights is not None:
        raise RetargetError("retarget.weights: hands hold nothing with retarget.physics: steps")
    imitation, shapes = imitate_person(robot, motion, settings), body_shapes(robot, stance.joints)
    preferred = preferred_posture(robot, motion, imitation, settings, shapes)
    columns = np.array([robot.joint_names.index(name) for name in imitation.actor.model.names[2:]])
    speed = np.asarray(robot.model.velocityLimit)[6 + columns] * settings.speed_limit_fraction
    bounds = preserve.tempo_bounds(robot, columns, position_limits(imitation, settings), speed)
    path = np.tile(np.concatenate([stance.base, stance.joints]), (len(motion.time), 1))
    body = preserve.UpperBody(robot, imitation.actor, ClearanceScene(shapes, path[:, :7]), columns, bounds)
    path[:, 7 + columns] = preferred
    weight = np.full(len(motion.time), preserve.FIRST_INERTIA)
    path[:, 7 + columns], *_ = preserve.keep_tempo(body, motion.time, preferred, preferred, weight, path)
    return body, preferred, path[:, 7:].copy(), imitation_metrics(imitation, motion)


def _examine_steps(
    robot: Robot, body: preserve.UpperBody, candidate: step_candidates.StepCandidate
) -> tuple[Array, Array, Array, float, Array, tuple[Array, Array, Array]]:
    """Compare legs, ZMP and the torques of trunk and arms with what is allowed at the recording's T samples.

    Returns how far the legs are beyond their limits (T,), as `FollowedPlan.excess`: 0 within them; then
    ratios that exceed 1 where something is exceeded: of the distance of all bodies' ZMP from the planned one,
    to the edge of the soles that stand (T,), and the same where it would be smaller if trunk and arms did not
    accelerate, 0 elsewhere; the least distance of all bodies' ZMP from that edge, m, negative outside; and
    the ratio of the torques of trunk and arms (T, m). Last are these torques' derivatives by the
    accelerations of trunk and arms (T, m, m), kg·m², the torques without these (T, m), and those that may be
    used (m,), N·m.
    """
    time, path = candidate.setting.trajectory.time, step_candidates.path_at_samples(candidate)
    model, data, columns, count = robot.model, robot.model.createData(), 6 + body.columns, len(time)
    # Generalised velocities and accelerations by central differences.
    ends = [(max(k - 1, 0), min(k + 1, count - 1)) for k in range(count)]
    velocity = np.array([pin.difference(model, path[a], path[b]) / (time[b] - time[a]) for a, b in ends])
    acceleration = np.gradient(velocity, time, axis=0)
    moved = acceleration[:, columns]
    zmp = planned_zmp(robot, time, path[:, :7], path[:, 7:])[0]
    calm = zmp + (preserve.zmp_shifts(body, path)[:, :2] @ moved[:, :, None])[:, :, 0]
    gait = candidate.followed.plan.gait
    ticks = np.rint((candidate.steps.start + time) / candidate.setting.tick).astype(int)
    ticks = np.clip(ticks, 0, len(gait.zmp) - 1)
    # Largest excess of the legs in the time around each sample; leads count for the ends.
    legs, excess, middles = np.zeros(count), candidate.followed.excess, (ticks[1:] + ticks[:-1] + 1) // 2
    np.maximum.at(legs, np.searchsorted(middles, np.arange(len(excess)), side="right"), excess)
    # Ratios of both ZMPs' distances from the planned one, and the first one's least margin.
    ratios, margin = np.zeros((2, count)), np.inf
    for sample, tick in enumerate(ticks):
        standing = np.flatnonzero(gait.contact[tick])
        if not len(standing):
            continue
        corners = []
        for foot in standing:
            cos, sin = np.cos(gait.foot_yaw[tick, foot]), np.sin(gait.foot_yaw[tick, foot])
            sole = robot.soles[f"{SIDES[foot]}_foot"][:, :2] @ np.array([[cos, -sin], [sin, cos]]).T
            corners.append(sole + gait.foot_position[tick, foot, :2])
        hull = ConvexHull(np.vstack(corners)).equations
        room = np.maximum(-hull[:, 2] - hull[:, :2] @ gait.zmp[tick] - _ZMP_MARGIN, _LEAST_ROOM)
        for number, point in enumerate((zmp[sample], calm[sample])):
            ratios[number, sample] = (hull[:, :2] @ (point - gait.zmp[tick]) / room).max()
        margin = min(margin, float(-(hull[:, :2] @ zmp[sample] + hull[:, 2]).max()))
    # Torques of trunk and arms, those of weight alone, and their derivatives by accelerations.
    torque, still = np.empty((2, count, len(columns)))
    slopes = np.empty((count, len(columns), len(columns)))
    for k, q in enumerate(path):
        torque[k] = pin.rnea(model, data, q, velocity[k], acceleration[k])[columns]
        still[k] = pin.computeGeneralizedGravity(model, data, q)[columns]
        inertia = np.triu(pin.crba(model, data, q))
        slopes[k] = (inertia + np.triu(inertia, 1).T)[np.ix_(columns, columns)]
    limit = np.asarray(robot.motors.torque_limit)[body.columns]
    limit = np.where(limit > 0.0, limit, np.inf)
    allowed = limit * torque_reserve(np.abs(still).max(axis=0) / limit)
    reducible = np.where(ratios[1] < ratios[0], ratios[0], 0.0)
    parts = slopes, torque - (slopes @ moved[:, :, None])[:, :, 0], allowed
    return legs, ratios[0], reducible, margin, np.abs(torque) / allowed, parts


def keep_recorded_tempo(
    robot: Robot,
    person: Person,
    options: step_candidates.StepFollowingOptions,
    stance: Stance,
    body: preserve.UpperBody,
    heights: Array,
    chosen: step_candidates.StepCandidate,
) -> tuple[step_candidates.StepCandidate, dict[str, float], list[str]]:
    """Follow the person's trunk and arms over the chosen steps, as far as joints, motors and soles allow.

    First the root leans as the person's trunk, less around moments at which the legs could not follow. Then
    trunk and arms imitate the person as seen from that root: one bounded problem over all samples
    (`keep_tempo`), clear of the moving legs. The legs follow, and they, the ZMP of all bodies and the torques
    of trunk and arms are examined. Around moments at which something is exceeded, accelerations that shift
    the ZMP get more weight, and torques smaller limits.

    The steps were chosen with `body`, and with the COG `heights` (T,), m, high. It is a `RetargetError` if
    there is no motion of trunk and arms within the limits. Returns the plan, metrics `imitation.*`,
    `retarget.tempo_*` and `retarget.amplitude_*`, and what gave way, one line each.
    """
    time, measured = person.motion.time, person.body
    # The chosen steps have this excess of the legs anyhow.
    tolerated = float(chosen.followed.excess.max()) + preserve.ROUNDING

    def replan(joints: Array, rotation: Rotation) -> step_candidates.StepCandidate:
        """Let the legs take the chosen steps under another motion of root, trunk and arms."""
        footsteps = chosen.wanted, chosen.planned, chosen.changes
        root = rotation, heights, chosen.lean, chosen.lowered
        return step_candidates.plan_candidate(robot, person, options, chosen.legs, footsteps, joints, *root)

    least = root_rotations(measured, chosen.lean)
    lean, full = least.as_euler("ZYX")[:, 1:], np.column_stack([measured.pitch, measured.roll])
    share, outside = np.ones(len(time)), np.maximum(_examine_steps(robot, body, chosen)[1], 1.0)
    for number in range(_LEAN_ROUNDS):
        angles = np.column_stack([measured.heading, lean + share[:, None] * (full - lean)])
        rotation = Rotation.from_euler("ZYX", angles)
        candidate = replan(chosen.setting.trajectory.q, rotation)
        legs, zmp, _, _, ratio, parts = _examine_steps(robot, body, candidate)
        failing = (legs > tolerated) | (zmp > outside)
        if not failing.any():
            break
        less = _NO_LEAN if number == _LEAN_ROUNDS - 2 else _LESS_LEAN
        share = share / preserve.spread_in_time(time, np.where(failing, 1.0 / less, 1.0), _LEAN_REACH)
    else:
        rotation, candidate = least, chosen
    assert candidate.setting.trajectory.base is not None
    turned = Rotation.from_quat(candidate.setting.trajectory.base[:, 3:])
    root = Rotation.from_euler("z", -options.section.heading_rad) * turned
    seen = seen_from_root(person.motion, measured.pelvis, root)
    body, preferred, joints, metrics = follow_upper_body(robot, seen, options.retarget, stance)
    bounds, shapes = body.bounds, body_shapes(robot, stance.joints)
    knots, inertia = preserve.knot_samples(time), np.full(len(time), preserve.FIRST_INERTIA)
    usable, insistence, best = np.full_like(preferred, preserve.TORQUE_USED), 1.0, None
    for number in range(_MAX_ROUNDS):
        path = step_candidates.path_at_samples(candidate)
        released, moving = release_legs(robot, shapes, path[:, :7], path[:, 7:])
        torque = None
        if number == 0:
            # Links that are too near are separated before limits count: deep in each other they do not say
            # where they are clear. Torques are still those of another posture.
            arms, limits = joints[:, body.columns], np.stack([bounds.lower, bounds.upper])
            clear, *_ = avoid_collisions(
                released, time, arms, path[:, :7], limits, preserve.CLEARANCE, {}, moving
            )
            wanted = np.clip(preferred + (clear - arms), bounds.lower, bounds.upper)
            arms = arms + (clear - arms)
        else:
            busy, (slopes, rest, allowed) = ratio.max(axis=0) > _BUSY, parts
            most = (usable * allowed)[knots][:, busy]
            torque = limit_torques(slopes[knots][:, busy], rest[knots][:, busy], most)
        body = body._replace(scene=ClearanceScene(released, path[:, :7], moving))
        arms, touching = preserve.keep_tempo(
            body, time, wanted, arms, inertia, path, torque, number, insistence
        )
        joints = joints.copy()
        joints[:, body.columns] = arms
        candidate = replan(joints, rotation)
        legs, _, reducible, margin, ratio, parts = _examine_steps(robot, body, candidate)
        beyond = max(float(legs.max()) - tolerated, 0.0)
        # The largest ratio that trunk and arms can make smaller counts.
        score = touching, beyond, max(float(reducible.max()), float(ratio.max(initial=0.0)), 1.0)
        if best is None or score < best[0]:
            best = score, candidate, arms, (ratio, reducible), margin
        if score == (False, 0.0, 1.0):
            break
        # Trunk and arms are made calmer where something is exceeded.
        beyond_legs = np.where(legs > tolerated, preserve.MOST_EXCESS, 0.0)
        inertia = preserve.give_inertia_weight(time, inertia, np.maximum(reducible, beyond_legs))
        usable, insistence = preserve.leave_torque(time, usable, ratio), preserve.insist(insistence, touching)
    assert best is not None
    _, candidate, arms, exceeded, margin = best
    used, given_up = preserve.measure_limit_use(time, arms, preferred, bounds, *exceeded)
    rounds = {"retarget.tempo_zmp_margin_m": margin, "retarget.tempo_round_count": float(number + 1)}
    metrics |= rounds | used
    notes = []
    lost = np.abs(root.as_euler("ZYX")[:, 1:] - full).max(axis=0)
    if lost.max() > _NOTED:
        notes.append(
            f"the trunk leans up to {lost[0]:.2f} rad less forward or back and {lost[1]:.2f} rad less to a "
            "side than the person's: the hips need their range for the steps"
        )
    lost = given_up.max(axis=0)
    count, worst = int((lost > _NOTED).sum()), int(lost.argmax())
    if count:
        notes.append(
            f"{count} joints of trunk and arms give up amplitude, "
            f"{robot.joint_names[body.columns[worst]]} the most, {lost[worst]:.2f} rad at its worst moment: "
            "the person is faster than they are, or arms would touch the body"
        )
    return candidate, metrics, notes
