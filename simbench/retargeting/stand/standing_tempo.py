"""The tempo of a standing motion: stretched locally, or the recorded one, at which amplitudes give way."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.ndimage import gaussian_filter1d
from scipy.spatial import ConvexHull

from simbench.balance.ground_reaction import ground_wrench, planned_zmp, standing_inertia, standing_torques
from simbench.balance.inverted_pendulum import GRAVITY
from simbench.balance.leg_ik import leg_columns, solve_com_ik
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.path_solver import AccelerationRows, PathBounds
from simbench.retargeting.collision.clearance import ClearanceScene, body_shapes
from simbench.retargeting.stand import arms_and_legs
from simbench.retargeting.timing import preserve, stretch
from simbench.robot.sides import SIDES

_MAX_ROUNDS = 10
# Rounds that progress is shown in, as for plans of other timings: seldom are there more.
_SHOWN_ROUNDS = 2 * arms_and_legs.BALANCE_ROUNDS
# Weight λ of the ZMP's shift in a motion that is given up everywhere.
_CALMEST_INERTIA = 200.0
# Factor on that weight, and half of it on the pelvis' limits, where the legs cannot balance a round.
_LEG_REACH_GAIN = 10.0
# Fraction of its allowed torque from which on a joint's torque is limited: others do not exceed theirs.
_BUSY = 0.6
# Fraction of the allowed torque that weight and the legs' own motion may take.
_REST_SHARE = 0.85
# Rounds after which the preferred posture is smoothed where something is still exceeded, and the Gaussian's
# standard deviation, s: torques of centrifugal forces are not linear in accelerations.
_SMOOTH_AFTER, _SMOOTHING = 3, 0.06
# Rounds in which links that are too near are separated as in other plans: the search is a long one.
_SEPARATIONS = 3
# Change of a joint by which that separates links, rad, up to which they count as apart.
_APART = 0.03
# Loss of amplitude of a joint, rad, from which on it is said.
_WORTH_SAYING = math.radians(3.0)
# Distance of the planned ZMP from the edge of the support polygon, m: what control and soles leave.
_ZMP_MARGIN = 0.015
# Moment about the vertical that both soles hold, as a part of the weight, m: soles of 0.25 m, 0.2 m apart and
# with a friction of 0.8, turn at 0.14 m.
_TWIST_ARM = 0.1
# Standard deviation of the Gaussian, s, between what the sway of the pelvis can cancel and what is too fast
# for it.
_SLOW_SWAY = 0.1
# Fraction of a support polygon's width that may be used however narrow it is.
_LEAST_ROOM = 0.2
# Fraction of the allowed torque that is left to accelerations where weight and legs need it all.
_LEAST_SHARE = 0.05
# Fraction of the legs' speed limits that the pelvis' ups and downs may take; sway needs the rest.
_SWAY_SHARE = 0.6
# Largest vertical acceleration of the pelvis, in units of gravity: soles keep their grip.
_MAX_LIFT = 0.5
# Number of pelvis heights at which the legs are solved, and a range, m, in which they do not change.
_HEIGHTS, _SAME_HEIGHT = 24, 1e-6


def keep_recorded_tempo(
    problem: arms_and_legs.WholeBodyProblem, posture: Array, calm: float
) -> tuple[arms_and_legs.WholeBodyProblem, arms_and_legs.WholeBodyMotion, dict[str, float], list[str]]:
    """Plan a free motion at the recorded tempo: amplitudes give way until limits, torques and ZMP allow it.

    Trunk, arms and pelvis height each solve one problem over all samples that keeps their limits
    (`keep_tempo`, `keep_height_tempo`); then legs and sway are solved, and the speeds of the legs, all
    torques and the ZMP are examined. Where something is exceeded, inertia is given more weight around that
    moment, in the same problem: accelerations that shift the ZMP or take the torque become smaller there, and
    the pelvis moves up and down less.

    The preferred `posture` is (T, m), rad; `calm` is 0, or how much of the motion is given up everywhere from
    the beginning, up to 1 (no pelvis height). Returns the problem with the pelvis height that is left, the
    motion, whose `preferred` is the given posture, and what was given up and is still beyond a limit, as
    metrics `retarget.tempo_*` and `retarget.amplitude_*`, and in words. It is a `RetargetError` if there is
    no motion within the limits.
    """
    robot, time, stance, columns = problem.robot, problem.imitation.time, problem.stance, problem.columns
    knots, legs = preserve.knot_samples(time), np.concatenate([leg_columns(robot, side) for side in SIDES])
    bounds = preserve.tempo_bounds(robot, columns, problem.limits, problem.speed_limit[columns])
    # Begin with the preferred posture on legs at rest, no torque limited.
    base, joints = np.tile(stance.base, (len(time), 1)), np.tile(stance.joints, (len(time), 1))
    joints[:, columns] = preferred = posture
    # The root's pose does not matter: there is nothing beside the robot.
    scene = ClearanceScene(body_shapes(robot, stance.joints), base)
    upper = preserve.UpperBody(robot, problem.imitation.actor, scene, columns, bounds)
    fastest, lift = _lift_limits(problem, legs)
    # A round goes through all stages of a plan: only the rounds are shown.
    quiet = replace(problem, pelvis_height=(1.0 - calm) * problem.pelvis_height, on_progress=lambda *_: None)
    inertia = np.full(len(time), preserve.FIRST_INERTIA * (_CALMEST_INERTIA / preserve.FIRST_INERTIA) ** calm)
    height_share, insistence = np.ones(len(time)), 1.0
    usable, busy = np.full(joints.shape, preserve.TORQUE_USED), np.zeros(joints.shape[1], dtype=bool)
    rows: AccelerationRows | None = None
    best, failed = None, None
    for number in range(_MAX_ROUNDS):
        problem.on_progress("transfer", min(1 + number, _SHOWN_ROUNDS - 1), _SHOWN_ROUNDS)
        near, path = joints[:, columns], np.hstack([base, joints])
        arms, touching = preserve.keep_tempo(
            upper, time, preferred, near, inertia, path, rows, number, insistence
        )
        try:
            height = preserve.keep_height_tempo(
                time, quiet.pelvis_height, height_share * fastest, height_share * lift
            )
        except ArithmeticError as error:
            raise RetargetError(f"{robot.name}: no motion at the recorded tempo: {error}") from None
        lower, separated = replace(quiet, pelvis_height=height), None
        try:
            motion = arms_and_legs.solve_arms_and_legs(lower, arms)
            if number < _SEPARATIONS:
                separated = arms_and_legs.separate_links(
                    lower.at_samples(knots), motion.base[knots], motion.joints[knots], ()
                )
        except LegReachError as error:
            failed, inertia, height_share = error, _LEG_REACH_GAIN * inertia, 0.5 * height_share
            continue
        base, joints = motion.base, motion.joints
        # How trunk and arms would have to move for the robot's own links to be apart, rad.
        apart = np.zeros_like(arms)
        if separated is not None:
            moved = (separated.joints - joints[knots])[:, columns]
            apart = np.asarray(make_interp_spline(time[knots], moved, k=1)(time))
        touching |= float(np.abs(apart).max()) > _APART
        ratios, margin, needed, allowed = _examine(problem, motion, legs)
        leg_speed, torque, zmp = ratios
        worst = np.maximum(np.maximum(leg_speed, zmp), torque.max(axis=1))
        # Smaller is better; limits that hold are not counted.
        score = touching, max(float(worst.max()), 1.0)
        if best is None or score <= best[0]:
            best = score, lower, motion, ratios, margin
        if score == (False, 1.0):
            break
        # Limit the torques around what was found: split them into what accelerations of trunk and arms take
        # of them, by the derivatives `slopes`, kg·m², and the rest.
        busy = busy | (torque.max(axis=0) > _BUSY)
        if number:
            usable = preserve.leave_torque(time, usable, torque)
        slopes = standing_inertia(robot, base[knots], joints[knots], columns, seated=stance.seated)[:, busy]
        acceleration = np.gradient(np.gradient(joints[:, columns], time, axis=0), time, axis=0)[knots]
        # Torques without these accelerations: of weight, velocities, and the legs' own motion, N·m.
        rest = needed[knots][:, busy] - (slopes @ acceleration[:, :, None])[:, :, 0]
        rows = limit_torques(slopes, rest, usable[knots][:, busy] * allowed[busy])
        # Of the legs only: what weight and velocities take of an arm's torque has other remedies.
        taken = np.abs(rest) / (_REST_SHARE * allowed[busy])
        taken = taken[:, np.isin(np.flatnonzero(busy), legs)].max(axis=1, initial=0.0)
        preferred = np.clip(preferred + apart, *problem.limits)
        if number >= _SMOOTH_AFTER:
            # Only around the samples at which something is exceeded: velocities fall, too.
            samples = _SMOOTHING * ((len(time) - 1) / (time[-1] - time[0]))
            smooth = gaussian_filter1d(preferred, samples, axis=0, mode="nearest")
            around = preserve.spread_in_time(time, np.where(worst > 1.0, math.e, 1.0), preserve.REACH)
            preferred = preferred + np.minimum(np.log(around), 1.0)[:, None] * (smooth - preferred)
        insistence = preserve.insist(insistence, touching)
        # Give inertia more weight around the moments at which legs or ZMP exceed what is allowed. Legs whose
        # own motion takes too much of the torque count, too: it follows the pelvis' height and the sway.
        taken = np.where(torque.max(axis=1) > 1.0, np.interp(time, time[knots], taken), 0.0)
        slow = np.maximum(leg_speed, taken)
        inertia = preserve.give_inertia_weight(time, inertia, np.maximum(zmp, slow))
        height_share = height_share / preserve.spread_in_time(
            time, np.minimum(slow, preserve.MOST_EXCESS), preserve.REACH
        )
    if best is None:
        assert failed is not None
        raise failed
    _, lower, motion, ratios, margin = best
    metrics, notes = _describe_losses(problem, posture, lower, motion, ratios, margin, bounds)
    metrics["retarget.tempo_round_count"] = float(number + 1)
    if calm:
        notes.insert(
            0, f"all of the motion was made calmer beforehand: {calm:.0%} of the pelvis' height left out"
        )
    found = replace(lower, on_progress=problem.on_progress)
    return found, replace(motion, preferred=posture), metrics, notes


def _describe_losses(
    problem: arms_and_legs.WholeBodyProblem,
    posture: Array,
    lower: arms_and_legs.WholeBodyProblem,
    motion: arms_and_legs.WholeBodyMotion,
    ratios: tuple[Array, Array, Array],
    margin: float,
    bounds: PathBounds,
) -> tuple[dict[str, float], list[str]]:
    """Measure what gave way and what is still beyond a limit in spite of it, as metrics and in words.

    `ratios` and `margin` are from `_examine`, `bounds` those of trunk and arms.
    """
    joints, notes = motion.joints[:, problem.columns], []
    (leg_speed, torque, zmp), most = ratios, 1.0 + preserve.ROUNDING
    others = np.maximum(leg_speed, zmp)
    used, lost = preserve.measure_limit_use(
        problem.imitation.time, joints, posture, bounds, torque, others, leg_speed
    )
    fraction = used["retarget.tempo_violation_fraction"]
    metrics = {} if np.isinf(margin) else {"retarget.tempo_zmp_margin_m": margin}
    metrics |= used
    away = np.abs(problem.pelvis_height - lower.pelvis_height)
    metrics["retarget.amplitude_lost_height_m"] = float(away.max())
    sample, joint = np.unravel_index(int(lost.argmax()), lost.shape)
    if lost[sample, joint] > _WORTH_SAYING:
        name = problem.robot.joint_names[problem.columns[joint]]
        notes.append(
            f"the recorded tempo costs trunk and arms {np.degrees(lost.mean()):.1f}° on average, most "
            f"{name}: {np.degrees(lost[sample, joint]):.0f}° at {problem.imitation.time[sample]:.2f} s"
        )
    if fraction > 0.0:
        largest = {kind: used[f"retarget.tempo_{kind}_ratio"] for kind in ("speed", "acceleration", "torque")}
        parts = [f"{kind} {ratio:.2f} times" for kind, ratio in largest.items() if ratio > most]
        if zmp.max() > most and margin < _ZMP_MARGIN:
            side = "outside" if margin < 0.0 else "inside"
            parts.append(f"ZMP {1000.0 * abs(margin):.0f} mm {side} the soles' edge")
        elif zmp.max() > most:
            parts.append(f"moment about the vertical {zmp.max():.2f} times what the soles hold")
        notes.append(
            f"{fraction:.1%} of the samples are beyond what the robot may use at the recorded tempo "
            f"({', '.join(parts)}): retarget.timing uniform slows it instead"
        )
    return metrics, notes


def _examine(
    problem: arms_and_legs.WholeBodyProblem, motion: arms_and_legs.WholeBodyMotion, legs: NDArray[np.int64]
) -> tuple[tuple[Array, Array, Array], float, Array, Array]:
    """Compare the legs' speeds, all torques and the ZMP with what is allowed, sample by sample.

    Returns ratios that exceed 1 where something is exceeded: of the fastest leg joint's speed (T,), of all
    joints' torques (T, n), and of the ZMP's distance from the middle of the soles or the moment about the
    vertical that they hold, whichever is more (T,); the ZMP's least distance from the edge of the support
    polygon, m, infinite where nothing is known; the torques that are needed (T, n) and allowed (n,), N·m.

    Of a seated robot only the torques count; without embedding legs do not react to the upper body, and its
    ZMP does not count.
    """
    robot, time, stance = problem.robot, problem.imitation.time, problem.stance
    base, joints = motion.base, motion.joints
    torque, still = (
        standing_torques(robot, time, base, joints, inertia=inertia, seated=stance.seated)
        for inertia in (True, False)
    )
    limit = robot.motors.torque_limit
    allowed = limit * torque_reserve(np.abs(still).max(axis=0) / limit)
    speed = zmp_ratio = np.zeros(len(time))
    margin = np.inf
    if not stance.seated:
        anywhere = np.full(len(legs), np.inf)
        bounds = PathBounds(-anywhere, anywhere, problem.speed_limit[legs], anywhere)
        speed = preserve.limit_ratios(time, joints[:, legs], bounds)[0].max(axis=1)
    if problem.embedding:
        # At both ends without what the sway of leads, planned later, takes away. That sway is slow; what is
        # faster stays, and what is in a direction in which the pelvis does not.
        zmp, _ = planned_zmp(robot, time, base, joints, None, arms_and_legs.inertia_onset(time))
        wrench, _ = ground_wrench(robot, time, base, joints)
        left = np.stack([-wrench[:, 4], wrench[:, 3]], axis=1) / wrench[:, 2:3] - zmp
        samples = _SLOW_SWAY * ((len(time) - 1) / (time[-1] - time[0]))
        slow = gaussian_filter1d(left, samples, axis=0, mode="nearest")
        zmp = zmp + left - (slow if problem.sway is None else slow @ problem.sway)
        # Outward normals of the support polygon's edges, (E, 2), and their distances from its middle, m.
        corners = [stance.soles[side].act(corner) for side in SIDES for corner in robot.soles[f"{side}_foot"]]
        edges = ConvexHull(np.array(corners)[:, :2] - stance.target).equations
        room, inside = -edges[:, 2], edges[:, :2] @ (zmp - stance.target).T
        # The soles turn on the floor before the ZMP leaves them.
        middle = np.append(stance.target, 0.0)
        moment = wrench[:, 5] - np.cross(middle, wrench[:, :3])[:, 2]
        zmp_ratio = np.maximum(
            (inside / np.maximum(room - _ZMP_MARGIN, _LEAST_ROOM * room)[:, None]).max(axis=0),
            np.abs(moment) / (_TWIST_ARM * wrench[:, 2]),
        )
        margin = float((room[:, None] - inside).min())
    return (speed, np.abs(torque) / allowed, zmp_ratio), margin, torque, allowed


def _lift_limits(problem: arms_and_legs.WholeBodyProblem, legs: NDArray[np.int64]) -> tuple[Array, Array]:
    """Find the vertical speed, m/s, and acceleration, m/s², of the pelvis (T,) that the legs allow.

    Their speeds and torques limit it.
    """
    robot, stance, height = problem.robot, problem.stance, problem.pelvis_height
    low, high = min(float(height.min()), 0.0), max(float(height.max()), 0.0)
    if stance.seated or high - low < _SAME_HEIGHT:
        return np.ones(len(height)), np.full(len(height), _MAX_LIFT * GRAVITY)
    heights = np.linspace(low, high, _HEIGHTS)
    base, joints = solve_com_ik(robot, stance, np.tile(stance.joints, (len(heights), 1)), height=heights)
    slope = np.abs(CubicSpline(heights, joints[:, legs]).derivative()(heights))
    speed = (_SWAY_SHARE * problem.speed_limit[legs] / np.maximum(slope, 1e-9)).min(axis=1)
    torque = standing_torques(robot, heights - low, base, joints, inertia=False)[:, legs]
    share = (np.abs(torque) / robot.motors.torque_limit[legs]).max(axis=1)
    # The legs' torques grow with the force that they carry.
    left = (torque_reserve(share) - share) / np.maximum(share, 1e-3)
    acceleration = GRAVITY * np.minimum(_MAX_LIFT, left)
    return np.interp(height, heights, speed), np.interp(height, heights, acceleration)


def limit_torques(slopes: Array, rest: Array, most: Array) -> AccelerationRows:
    """Limit torques that are linear in accelerations; without accelerations all limits hold.

    They are `slopes` (K, r, m), kg·m², times the accelerations, and `rest` (K, r), N·m; the largest that are
    allowed are `most` (K, r), N·m. The result is for `solve_bounded_path`.
    """
    least = _LEAST_SHARE * most
    return AccelerationRows(slopes, np.minimum(-most - rest, -least), np.maximum(most - rest, least))


def torque_reserve(still: Array) -> Array:
    """Find the torques that a motion may need: more where its weight alone needs much, `still`.

    Both are (..., n), fractions of the motors' torques.
    """
    return np.maximum(stretch.TORQUE_FRACTION, still + stretch.TORQUE_RESERVE)
