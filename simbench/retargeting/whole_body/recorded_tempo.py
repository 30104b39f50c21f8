"""A free motion at the recorded tempo: amplitudes give way until limits, torques and the ZMP allow it."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.spatial import ConvexHull

from simbench.balance.inverted_pendulum import GRAVITY
from simbench.balance.standing.ground_reaction import standing_inertia, standing_torques
from simbench.balance.standing.standing import leg_columns, solve_com_ik
from simbench.balance.standing.standing_profile import planned_zmp
from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_path import AccelerationRows, PathBounds
from simbench.retargeting.arm_adaptation.acceleration_limits import estimated_accelerations
from simbench.retargeting.collision.clearance import body_shapes
from simbench.retargeting.contact.hand_plan import plan_hands
from simbench.retargeting.timing.preserve import (
    CLEARANCE,
    LIMIT_FRACTION,
    Amplitude,
    Dynamics,
    UpperBody,
    keep_height_tempo,
    keep_tempo,
    knot_samples,
    limit_ratios,
    spread_in_time,
    zmp_inertia,
)
from simbench.retargeting.whole_body.arms_and_legs import (
    WholeBodyMotion,
    WholeBodyProblem,
    at_samples,
    separate_links,
    solve_arms_and_legs,
)
from simbench.retargeting.whole_body.zmp import inertia_onset
from simbench.robot.sides import SIDES

TORQUE_FRACTION = 0.8
"""Fraction of the motors' torques that the plan of a free motion may need; balance needs the rest."""
TORQUE_RESERVE = 0.1
"""The fraction that it may need beyond what the weight needs in the same postures."""
_ZMP_MARGIN = 0.015
"""Distance of the planned ZMP from the edge of the support polygon, m: what control and soles leave."""
_MAX_ROUNDS = 10
_FIRST_INERTIA = 0.02
"""Weight λ of the ZMP's shift and of torques in the first round: of 10 cm, as much as 5 mm at the hands."""
_BUSY = 0.6
"""Fraction of its allowed torque from which on a joint's torque is limited: the others cannot exceed theirs."""
_TORQUE_USED = 0.97
"""Fraction of the allowed torque that is used: legs and sway change with the motion."""
_NEARNESS = 0.03
"""Weight of the distance from the last solution, m/rad, times the square of the round's number: torques that
change with the solution would else let it jump to and fro."""
_LEAST_USED = 0.4
"""Fraction of the allowed torque down to which that is reduced where legs and sway change with the motion."""
_REST_SHARE = 0.85
"""Fraction of the allowed torque that weight and the legs' own motion may take."""
_LEAST_SHARE = 0.05
"""Fraction of the allowed torque that is left to accelerations where weight and legs need it all."""
_GAIN = 3.0
"""Power of the excess by which the weights of inertia grow from round to round."""
_MOST_EXCESS = 3.0
"""Excess that counts at most in a round: what is beyond it tells little of how much calmer the motion must be."""
_STEP = 1.3
"""Least factor by which they grow where something is exceeded."""
_REACH = 0.15
"""Time before and after an excess over which the motion is made calmer, s."""
_SWAY_SHARE = 0.6
"""Fraction of the legs' speed limits that the pelvis' ups and downs may take; sway needs the rest."""
_MAX_LIFT = 0.5
"""Largest vertical acceleration of the pelvis, in units of gravity: soles keep their grip."""
_GAP = 0.004
"""Least distance of the robot's own links, m: what tracking leaves."""
_SEPARATIONS = 3
"""Rounds in which links that are too near are separated as in other plans: the search is a long one."""
_APART = 0.03
"""Change of a joint by which that separates links, rad, up to which they count as apart."""
_INSISTENCE, _MOST_INSISTENCE = 3.0, 30.0
"""Factor by which the weight of the links' clearance grows in a round after which they were nearer, and all of
these factors at most."""
_ON_LIMIT = 0.985
"""Fraction of a limit from which on a joint counts as on it."""
_ROUNDING = 1e-3
"""Relative excess of a limit that counts as a violation."""


class _Excess(NamedTuple):
    """Ratios to what is allowed, at T samples."""

    legs: Array
    torque: Array
    zmp: Array
    margin: float
    needed: Array
    allowed: Array


def keep_recorded_tempo(
    problem: WholeBodyProblem, posture: Array, calm: float = 0.0
) -> tuple[WholeBodyProblem, WholeBodyMotion, dict[str, float]]:
    """Plan a free motion at the recorded tempo.

    Trunk, arms and pelvis height each solve one problem over all samples that keeps their limits
    (`keep_tempo`, `keep_height_tempo`); then legs and sway are solved, and the speeds of the legs, all
    torques and the ZMP are examined. Where something is exceeded, inertia is given more weight around that
    moment, in the same problem: accelerations that shift the ZMP or take the torque become smaller there, and
    the pelvis moves up and down less.

    Parameters
    ----------
    problem : WholeBodyProblem
        Robot, recording, limits and settings; hands hold nothing.
    posture : (T, m) array
        Preferred posture of trunk and arms, rad.
    calm : float
        0, or how much of the motion is given up everywhere from the beginning, up to 1 (no pelvis height).

    Returns
    -------
    problem : WholeBodyProblem
        With the pelvis height that is left.
    motion : WholeBodyMotion
        The motion; `preferred` is the given posture.
    metrics : dict of str to float
        What was given up, and what is still beyond a limit: `retarget.tempo_*` and `retarget.amplitude_*`.

    Raises
    ------
    RetargetError
        If there is no motion within the limits.
    """
    upper = _upper_body(problem)
    time, wanted, stance = problem.time, (1.0 - calm) * problem.pelvis_height, problem.placement.stance
    knots, lift = knot_samples(time), _lift_limits(problem)
    amplitude = Amplitude(np.full(len(time), _FIRST_INERTIA * 1e4**calm), np.ones(len(time)))
    joints = np.tile(stance.joints, (len(time), 1))
    joints[:, problem.columns] = posture
    base, zmp = np.tile(stance.base, (len(time), 1)), np.tile(stance.target, (len(time), 1))
    hands = plan_hands(problem.robot, problem.imitation, posture, base, problem.contact)
    motion, preferred = WholeBodyMotion(base, joints, posture, hands, zmp), posture
    rows = AccelerationRows(*(np.empty((len(knots), 0, *rest)) for rest in ((len(problem.columns),), (), ())))
    insistence, best = 1.0, None
    failed: LegReachError | None = None
    usable, busy = np.full(joints.shape, _TORQUE_USED), np.zeros(joints.shape[1], dtype=bool)
    for number in range(_MAX_ROUNDS):
        inertia = zmp_inertia(upper, motion.base[knots], motion.joints[knots], amplitude.zmp[knots])
        try:
            near = motion.joints[np.ix_(knots, problem.columns)]
            nearness = _NEARNESS * number**2
            calmer, missing = keep_tempo(
                upper, time, preferred, Dynamics(near, nearness, insistence, inertia, rows)
            )
            height = keep_height_tempo(time, wanted, *(amplitude.height * each for each in lift))
        except ArithmeticError as error:
            raise RetargetError(
                f"{problem.robot.name}: no motion at the recorded tempo within the joint limits: {error}"
            ) from None
        lower = replace(problem, pelvis_height=height)
        try:
            motion = solve_arms_and_legs(lower, calmer)
        except LegReachError as error:
            failed = error
            amplitude = Amplitude(amplitude.zmp * 10.0, 0.5 * amplitude.height)
            continue
        excess = _examine(lower, motion)
        worst = max(excess.legs.max(), excess.torque.max(), excess.zmp.max())
        moved = _separate(lower, motion, knots) if number < _SEPARATIONS else np.zeros(1)
        preferred = np.clip(preferred + moved, *problem.limits)
        touching = missing > CLEARANCE - _GAP or np.abs(moved).max() > _APART
        score = (touching, max(worst, 1.0))
        if best is None or score <= best[0]:
            best = score, lower, motion, excess
        if worst <= 1.0 and not touching:
            break
        insistence = min(insistence * (_INSISTENCE if touching else 1.0), _MOST_INSISTENCE)
        busy |= excess.torque.max(axis=0) > _BUSY
        if number:
            # What is still exceeded, by curves between the knots or by legs that follow, is taken off.
            usable = np.maximum(usable / spread_in_time(time, excess.torque, _REACH), _LEAST_USED)
        slopes, rest = _torque_rows(lower, motion, excess, busy, knots)
        rows = _limit_rows(slopes, rest, usable[knots][:, busy] * excess.allowed[busy])
        taken = (np.abs(rest) / (_REST_SHARE * excess.allowed[busy])).max(axis=1, initial=0.0)
        amplitude = _calmer(time, amplitude, excess, np.interp(time, time[knots], taken))
    if best is None:
        assert failed is not None
        raise failed
    _, lower, motion, excess = best
    metrics = _measure(problem, posture, lower, motion, upper, excess)
    metrics["retarget.tempo_round_count"] = float(number + 1)
    return lower, replace(motion, preferred=posture), metrics


def _separate(problem: WholeBodyProblem, motion: WholeBodyMotion, knots: NDArray[np.int64]) -> Array:
    """How trunk and arms (T, m) would have to move for the robot's own links to be apart, rad."""
    clear = separate_links(*at_samples(problem, motion, knots), ()).joints - motion.joints[knots]
    time = problem.time
    return np.asarray(make_interp_spline(time[knots], clear[:, problem.columns], k=1)(time))


def _torque_rows(
    problem: WholeBodyProblem,
    motion: WholeBodyMotion,
    excess: _Excess,
    busy: NDArray[np.bool_],
    knots: NDArray[np.int64],
) -> tuple[Array, Array]:
    """Torques of busy joints as functions of the accelerations of trunk and arms, around a motion.

    Slopes (K, r, m), kg·m², and the torques (K, r) without these accelerations: of weight, velocities, and
    the legs' own motion, N·m.
    """
    seated = problem.placement.stance.seated
    slopes = standing_inertia(
        problem.robot, motion.base[knots], motion.joints[knots], problem.columns, seated=seated
    )[:, busy]
    upper = motion.joints[:, problem.columns]
    acceleration = np.gradient(np.gradient(upper, problem.time, axis=0), problem.time, axis=0)[knots]
    return slopes, excess.needed[knots][:, busy] - (slopes @ acceleration[:, :, None])[:, :, 0]


def _limit_rows(slopes: Array, rest: Array, most: Array) -> AccelerationRows:
    """Limit torques (K, r) to ±most, N·m; without accelerations all limits hold."""
    least = _LEAST_SHARE * most
    return AccelerationRows(slopes, np.minimum(-most - rest, -least), np.maximum(most - rest, least))


def _upper_body(problem: WholeBodyProblem) -> UpperBody:
    """Limits of trunk and arms."""
    robot = problem.robot
    names = [robot.joint_names[column] for column in problem.columns]
    bounds = PathBounds(
        *problem.limits,
        LIMIT_FRACTION * problem.speed_limit[problem.columns],
        LIMIT_FRACTION * estimated_accelerations(robot, names),
    )
    shapes = body_shapes(robot, problem.placement.stance.joints)
    return UpperBody(robot, problem.imitation.actor, shapes, problem.columns, bounds)


def _leg_columns(problem: WholeBodyProblem) -> Array:
    """Columns of both legs' joints."""
    return np.concatenate([leg_columns(problem.robot, side) for side in SIDES])


def _lift_limits(problem: WholeBodyProblem) -> tuple[Array, Array]:
    """Vertical speed, m/s, and acceleration, m/s², of the pelvis that legs and torques allow (T,) each."""
    robot, stance, height = problem.robot, problem.placement.stance, problem.pelvis_height
    low, high = min(float(height.min()), 0.0), max(float(height.max()), 0.0)
    if stance.seated or high - low < 1e-6:
        return np.ones(len(height)), np.full(len(height), _MAX_LIFT * GRAVITY)
    heights = np.linspace(low, high, 24)
    still = np.tile(stance.joints, (len(heights), 1))
    base, joints = solve_com_ik(robot, stance, still, height=heights)
    legs = _leg_columns(problem)
    slope = np.abs(CubicSpline(heights, joints[:, legs]).derivative()(heights))
    speed = (_SWAY_SHARE * problem.speed_limit[legs] / np.maximum(slope, 1e-9)).min(axis=1)
    torque = standing_torques(robot, heights - low, base, joints, inertia=False)[:, legs]
    share = (np.abs(torque) / robot.motors.torque_limit[legs]).max(axis=1)
    # The legs' torques grow with the force that they carry.
    left = (np.maximum(TORQUE_FRACTION, share + TORQUE_RESERVE) - share) / np.maximum(share, 1e-3)
    acceleration = GRAVITY * np.minimum(_MAX_LIFT, left)
    return np.interp(height, heights, speed), np.interp(height, heights, acceleration)


def allowed_torque(problem: WholeBodyProblem, time: Array, base: Array, joints: Array) -> Array:
    """Fractions of the motors' torques (n,) that a motion may need: more where its weight alone needs much."""
    seated = problem.placement.stance.seated
    still = standing_torques(problem.robot, time, base, joints, inertia=False, seated=seated)
    share = np.abs(still).max(axis=0) / problem.robot.motors.torque_limit
    return np.maximum(TORQUE_FRACTION, share + TORQUE_RESERVE)


def _examine(problem: WholeBodyProblem, motion: WholeBodyMotion) -> _Excess:
    """Compare the legs' speeds, all torques and the ZMP with what is allowed, sample by sample."""
    robot, time, stance = problem.robot, problem.time, problem.placement.stance
    torque = standing_torques(robot, time, motion.base, motion.joints, inertia=True, seated=stance.seated)
    allowed = allowed_torque(problem, time, motion.base, motion.joints) * robot.motors.torque_limit
    ratio = np.abs(torque) / allowed
    if stance.seated:
        none = np.zeros(len(time))
        return _Excess(none, ratio, none, np.inf, torque, allowed)
    legs = _leg_columns(problem)
    bounds = PathBounds(*problem.limits, problem.speed_limit[legs], np.full(len(legs), np.inf))
    speed, _ = limit_ratios(time, motion.joints[:, legs], bounds)
    # At both ends the sway of leads, which is planned later, takes part.
    zmp, _ = planned_zmp(robot, time, motion.base, motion.joints, None, inertia_onset(time))
    normals, room = _support(problem)
    inside = normals @ (zmp - stance.target).T
    return _Excess(
        speed.max(axis=1),
        ratio,
        (inside / np.maximum(room - _ZMP_MARGIN, 0.2 * room)[:, None]).max(axis=0),
        float((room[:, None] - inside).min()),
        torque,
        allowed,
    )


def _support(problem: WholeBodyProblem) -> tuple[Array, Array]:
    """Edges of the support polygon: outward normals (E, 2), and their distances from the stance's middle, m."""
    stance, robot = problem.placement.stance, problem.robot
    corners = [stance.soles[side].act(corner) for side in SIDES for corner in robot.soles[f"{side}_foot"]]
    hull = ConvexHull(np.array(corners)[:, :2] - stance.target)
    return hull.equations[:, :2], -hull.equations[:, 2]


def _calmer(time: Array, amplitude: Amplitude, excess: _Excess, taken: Array) -> Amplitude:
    """Give inertia more weight around the moments at which legs or ZMP exceed what is allowed.

    So do legs whose own motion takes (T,) too much of the torque: it follows the pelvis' height and the sway.
    """
    legs = np.maximum(excess.legs, np.where(excess.torque.max(axis=1) > 1.0, taken, 0.0))
    body = np.minimum(np.maximum(excess.zmp, legs), _MOST_EXCESS)
    worse = spread_in_time(time, np.where(body > 1.0, np.maximum(body**_GAIN, _STEP), 1.0), _REACH)
    less = spread_in_time(time, np.minimum(legs, _MOST_EXCESS), _REACH)
    return Amplitude(amplitude.zmp * worse, amplitude.height / less)


def _measure(
    problem: WholeBodyProblem,
    posture: Array,
    lower: WholeBodyProblem,
    motion: WholeBodyMotion,
    upper: UpperBody,
    excess: _Excess,
) -> dict[str, float]:
    """Metrics of what gave way and of what is left."""
    joints = motion.joints[:, problem.columns]
    speed, acceleration = limit_ratios(problem.time, joints, upper.bounds)
    on_limit = (speed > _ON_LIMIT) | (acceleration > _ON_LIMIT)
    lost = np.abs(joints - posture)
    speed, acceleration = LIMIT_FRACTION * speed, LIMIT_FRACTION * acceleration
    beyond = np.maximum(speed, acceleration).max(axis=1) > 1.0 + _ROUNDING
    beyond |= np.maximum(excess.legs, np.maximum(excess.zmp, excess.torque.max(axis=1))) > 1.0 + _ROUNDING
    return {
        "retarget.tempo_limited_fraction": float(on_limit.mean()),
        "retarget.tempo_speed_ratio": float(max(speed.max(), excess.legs.max())),
        "retarget.tempo_acceleration_ratio": float(acceleration.max()),
        "retarget.tempo_torque_ratio": float(excess.torque.max()),
        "retarget.tempo_zmp_margin_m": excess.margin,
        "retarget.tempo_violation_fraction": float(beyond.mean()),
        "retarget.amplitude_lost_mean_rad": float(lost.mean()),
        "retarget.amplitude_lost_max_rad": float(lost.max()),
        "retarget.amplitude_lost_height_m": float(np.abs(problem.pelvis_height - lower.pelvis_height).max()),
    }
