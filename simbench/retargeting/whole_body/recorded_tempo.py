"""A free motion at the recorded tempo: amplitudes give way until limits, torques and the ZMP allow it."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import make_interp_spline
from scipy.ndimage import gaussian_filter1d

from simbench.errors import LegReachError, RetargetError
from simbench.kinematics.arrays import Array
from simbench.kinematics.bounded_path import AccelerationRows
from simbench.retargeting.collision.clearance import ClearanceScene, body_shapes
from simbench.retargeting.contact.hand_plan import plan_hands
from simbench.retargeting.timing.preserve import (
    CLEARANCE,
    ROUNDING,
    Amplitude,
    Dynamics,
    UpperBody,
    keep_height_tempo,
    keep_tempo,
    knot_samples,
    measure_limit_use,
    spread_in_time,
    tempo_bounds,
    zmp_inertia,
)
from simbench.retargeting.whole_body.arms_and_legs import (
    BALANCE_ROUNDS,
    WholeBodyMotion,
    WholeBodyProblem,
    at_samples,
    separate_links,
    solve_arms_and_legs,
)
from simbench.retargeting.whole_body.tempo_checks import (
    Excess,
    both_legs,
    examine,
    lift_limits,
    limit_torques,
    split_torques,
)

_MAX_ROUNDS = 10
_SHOWN_ROUNDS = 2 * BALANCE_ROUNDS
"""Rounds that progress is shown in, as for plans of other timings: seldom are there more."""
_FIRST_INERTIA, _CALMEST_INERTIA = 0.02, 200.0
"""Weight λ of the ZMP's shift in the first round (a shift of 10 cm costs as much as 5 mm at the hands), and
of a motion that is given up everywhere."""
_LEG_REACH_GAIN = 10.0
"""Factor on that weight, and half of it on the pelvis' limits, where the legs cannot balance a round."""
_BUSY = 0.6
"""Fraction of its allowed torque from which on a joint's torque is limited: others do not exceed theirs."""
_TORQUE_USED, _LEAST_USED = 0.97, 0.4
"""Fraction of the allowed torque that is used, and down to which it is reduced where the torque exceeds it
nevertheless: curves between the knots, and legs and sway that change with the motion."""
_NEARNESS = 0.03
"""Weight of the distance from the last solution, m/rad, times the square of the round's number: torques that
change with the solution would else let it jump to and fro."""
_REST_SHARE = 0.85
"""Fraction of the allowed torque that weight and the legs' own motion may take."""
_GAIN = 3.0
"""Power of the excess by which the weights of inertia grow from round to round."""
_MOST_EXCESS = 3.0
"""Excess that counts at most in a round: what is beyond it does not tell how much calmer a motion must be."""
_STEP = 1.3
"""Least factor by which they grow where something is exceeded."""
_REACH = 0.15
"""Time before and after an excess over which the motion is made calmer, s."""
_SMOOTH_AFTER, _SMOOTHING = 3, 0.06
"""Rounds after which the preferred posture is smoothed where something is still exceeded, and the Gaussian's
standard deviation, s: torques of centrifugal forces are not linear in accelerations."""
_GAP = 0.004
"""Least distance of the robot's own links, m: what tracking leaves."""
_SEPARATIONS = 3
"""Rounds in which links that are too near are separated as in other plans: the search is a long one."""
_APART = 0.03
"""Change of a joint by which that separates links, rad, up to which they count as apart."""
_INSISTENCE, _MOST_INSISTENCE = 3.0, 30.0
"""Factor by which the weight of the links' clearance grows in a round after which they were nearer, and the
largest product of these factors."""
_WORTH_SAYING = math.radians(3.0)
"""Loss of amplitude of a joint, rad, from which on it is said."""


class RecordedTempo(NamedTuple):
    """A free motion at the recorded tempo.

    Parameters
    ----------
    problem : WholeBodyProblem
        With the pelvis height that is left.
    motion : WholeBodyMotion
        The motion; `preferred` is the given posture.
    metrics : dict of str to float
        What was given up, and what is still beyond a limit: `retarget.tempo_*` and `retarget.amplitude_*`.
    notes : tuple of str
        The same in words, a line each.
    """

    problem: WholeBodyProblem
    motion: WholeBodyMotion
    metrics: dict[str, float]
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Round:
    """What a round of planning starts from."""

    number: int
    motion: WholeBodyMotion
    preferred: Array
    insistence: float
    amplitude: Amplitude
    usable: Array
    busy: NDArray[np.bool_]
    rows: AccelerationRows


@dataclass(frozen=True)
class _Attempt:
    """What a round found."""

    problem: WholeBodyProblem
    motion: WholeBodyMotion
    excess: Excess
    separation: Array
    touching: bool

    @property
    def score(self) -> tuple[bool, float]:
        """Smaller is better; limits that hold are not counted."""
        return self.touching, max(float(self.excess.worst.max()), 1.0)


def keep_recorded_tempo(problem: WholeBodyProblem, posture: Array, calm: float = 0.0) -> RecordedTempo:
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
    RecordedTempo
        The motion, and what it costs.

    Raises
    ------
    RetargetError
        If there is no motion within the limits.
    """
    upper, lift = _upper_body(problem), lift_limits(problem)
    # A round goes through all stages of a plan: only the rounds are shown.
    quiet = replace(problem, pelvis_height=(1.0 - calm) * problem.pelvis_height, on_progress=lambda *_: None)
    state, best = _first_round(problem, posture, calm), None
    failed: LegReachError | None = None
    while state.number < _MAX_ROUNDS:
        problem.on_progress("transfer", min(1 + state.number, _SHOWN_ROUNDS - 1), _SHOWN_ROUNDS)
        try:
            attempt = _attempt(quiet, upper, lift, state)
        except LegReachError as error:
            failed = error
            amplitude = Amplitude(_LEG_REACH_GAIN * state.amplitude.zmp, 0.5 * state.amplitude.height)
            state = replace(state, number=state.number + 1, amplitude=amplitude)
            continue
        if best is None or attempt.score <= best.score:
            best = attempt
        state = _next_round(attempt, state)
        if attempt.score == (False, 1.0):
            break
    if best is None:
        assert failed is not None
        raise failed
    metrics = _measure(problem, posture, best.problem, best.motion, upper, best.excess)
    metrics["retarget.tempo_round_count"] = float(state.number)
    calmer = f"all of the motion was made calmer beforehand: {calm:.0%} of the pelvis' height left out"
    notes = [calmer] if calm else []
    notes += _amplitude_notes(problem, posture, best.motion)
    notes += _violation_notes(metrics, best.excess)
    found = replace(best.problem, on_progress=problem.on_progress)
    return RecordedTempo(found, replace(best.motion, preferred=posture), metrics, tuple(notes))


def _amplitude_notes(problem: WholeBodyProblem, posture: Array, motion: WholeBodyMotion) -> Iterator[str]:
    """Say which joint of trunk and arms lost most amplitude, and when."""
    lost = np.abs(motion.joints[:, problem.columns] - posture)
    sample, joint = np.unravel_index(int(lost.argmax()), lost.shape)
    if lost[sample, joint] > _WORTH_SAYING:
        name = problem.robot.joint_names[problem.columns[joint]]
        yield (
            f"the recorded tempo costs trunk and arms {np.degrees(lost.mean()):.1f}° on average, most "
            f"{name}: {np.degrees(lost[sample, joint]):.0f}° at {problem.time[sample]:.2f} s"
        )


def _violation_notes(metrics: Mapping[str, float], excess: Excess) -> Iterator[str]:
    """Say what is beyond a limit in spite of what was given up."""
    fraction = metrics["retarget.tempo_violation_fraction"]
    if fraction == 0.0:
        return
    kinds = ("speed", "acceleration", "torque")
    ratios = {kind: metrics[f"retarget.tempo_{kind}_ratio"] for kind in kinds}
    beyond = [f"{kind} {ratio:.2f} times" for kind, ratio in ratios.items() if ratio > 1.0 + ROUNDING]
    if excess.zmp.max() > 1.0 + ROUNDING:
        side = "outside" if excess.margin < 0.0 else "inside"
        beyond.append(f"ZMP {1000.0 * abs(excess.margin):.0f} mm {side} the soles' edge")
    yield (
        f"{fraction:.1%} of the samples are beyond what the robot may use at the recorded tempo "
        f"({', '.join(beyond)}): retarget.timing uniform slows it instead"
    )


def _first_round(problem: WholeBodyProblem, posture: Array, calm: float) -> _Round:
    """Begin with the preferred posture on legs at rest, no torque limited."""
    time, stance = problem.time, problem.placement.stance
    joints = np.tile(stance.joints, (len(time), 1))
    joints[:, problem.columns] = posture
    base, zmp = np.tile(stance.base, (len(time), 1)), np.tile(stance.target, (len(time), 1))
    hands = plan_hands(problem.robot, problem.imitation, posture, base, problem.contact)
    knots, joint_count = len(knot_samples(time)), joints.shape[1]
    inertia = _FIRST_INERTIA * (_CALMEST_INERTIA / _FIRST_INERTIA) ** calm
    none = np.empty((knots, 0))
    return _Round(
        0,
        WholeBodyMotion(base, joints, posture, hands, zmp),
        posture,
        1.0,
        Amplitude(np.full(len(time), inertia), np.ones(len(time))),
        np.full(joints.shape, _TORQUE_USED),
        np.zeros(joint_count, dtype=bool),
        AccelerationRows(np.empty((knots, 0, len(problem.columns))), none, none),
    )


def _attempt(
    problem: WholeBodyProblem, upper: UpperBody, lift: tuple[Array, Array], state: _Round
) -> _Attempt:
    """Solve trunk, arms and pelvis height, then legs and sway, and examine the motion."""
    time, motion = problem.time, state.motion
    knots = knot_samples(time)
    weight = state.amplitude.zmp[knots]
    dynamics = Dynamics(
        motion.joints[np.ix_(knots, problem.columns)],
        _NEARNESS * state.number**2,
        state.insistence,
        zmp_inertia(upper, motion.base[knots], motion.joints[knots], weight),
        state.rows,
    )
    allowed = [state.amplitude.height * each for each in lift]
    try:
        arms, missing = keep_tempo(upper, time, state.preferred, dynamics)
        height = keep_height_tempo(time, problem.pelvis_height, *allowed)
    except ArithmeticError as error:
        raise RetargetError(f"{problem.robot.name}: no motion at the recorded tempo: {error}") from None
    lower = replace(problem, pelvis_height=height)
    motion = solve_arms_and_legs(lower, arms)
    apart = np.zeros_like(arms)
    if state.number < _SEPARATIONS:
        apart = _separate(lower, motion, knots)
    touching = missing > CLEARANCE - _GAP or float(np.abs(apart).max()) > _APART
    return _Attempt(lower, motion, examine(lower, motion), apart, touching)


def _next_round(attempt: _Attempt, state: _Round) -> _Round:
    """Limit the torques around what was found, and make the motion calmer where something is exceeded."""
    problem, excess = attempt.problem, attempt.excess
    time, usable = problem.time, state.usable
    knots, busy = knot_samples(time), state.busy | (excess.torque.max(axis=0) > _BUSY)
    if state.number:
        usable = np.maximum(usable / spread_in_time(time, excess.torque, _REACH), _LEAST_USED)
    slopes, rest = split_torques(problem, attempt.motion, excess, busy, knots)
    # Of the legs only: what weight and velocities take of an arm's torque has other remedies.
    legs = np.isin(np.flatnonzero(busy), both_legs(problem))
    taken = (np.abs(rest) / (_REST_SHARE * excess.allowed[busy]))[:, legs].max(axis=1, initial=0.0)
    preferred = np.clip(state.preferred + attempt.separation, *problem.limits)
    if state.number >= _SMOOTH_AFTER:
        preferred = _smooth_locally(time, preferred, excess.worst)
    insistence = state.insistence * (_INSISTENCE if attempt.touching else 1.0)
    return _Round(
        state.number + 1,
        attempt.motion,
        preferred,
        min(insistence, _MOST_INSISTENCE),
        _calmer(time, state.amplitude, excess, np.interp(time, time[knots], taken)),
        usable,
        busy,
        limit_torques(slopes, rest, usable[knots][:, busy] * excess.allowed[busy]),
    )


def _smooth_locally(time: Array, posture: Array, worst: Array) -> Array:
    """Smooth a posture (T, m) around the samples at which something is exceeded: velocities fall, too."""
    samples = (len(time) - 1) / (time[-1] - time[0])
    smooth = gaussian_filter1d(posture, _SMOOTHING * samples, axis=0, mode="nearest")
    share = np.minimum(np.log(spread_in_time(time, np.where(worst > 1.0, math.e, 1.0), _REACH)), 1.0)
    return np.asarray(posture + share[:, None] * (smooth - posture))


def _separate(problem: WholeBodyProblem, motion: WholeBodyMotion, knots: NDArray[np.int64]) -> Array:
    """Find how trunk and arms (T, m) would have to move for the robot's own links to be apart, rad."""
    clear = separate_links(*at_samples(problem, motion, knots), ()).joints - motion.joints[knots]
    time = problem.time
    return np.asarray(make_interp_spline(time[knots], clear[:, problem.columns], k=1)(time))


def _upper_body(problem: WholeBodyProblem) -> UpperBody:
    """Collect trunk and arms with their limits."""
    robot = problem.robot
    bounds = tempo_bounds(
        robot,
        problem.columns,
        (problem.limits[0], problem.limits[1]),
        problem.speed_limit[problem.columns],
    )
    # The root's pose does not matter: there is nothing beside the robot.
    scene = ClearanceScene(
        body_shapes(robot, problem.placement.stance.joints),
        np.tile(problem.placement.stance.base, (len(problem.time), 1)),
    )
    return UpperBody(robot, problem.imitation.actor, scene, problem.columns, bounds)


def _calmer(time: Array, amplitude: Amplitude, excess: Excess, taken: Array) -> Amplitude:
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
    excess: Excess,
) -> dict[str, float]:
    """Measure what gave way, and what is still beyond a limit."""
    use = measure_limit_use(problem.time, motion.joints[:, problem.columns], posture, upper.bounds)
    beyond = use.beyond | (excess.worst > 1.0 + ROUNDING)
    known = {} if np.isinf(excess.margin) else {"retarget.tempo_zmp_margin_m": excess.margin}
    return {
        **known,
        "retarget.tempo_limited_fraction": use.limited,
        "retarget.tempo_speed_ratio": float(max(use.speed.max(), excess.legs.max())),
        "retarget.tempo_acceleration_ratio": float(use.acceleration.max()),
        "retarget.tempo_torque_ratio": float(excess.torque.max()),
        "retarget.tempo_violation_fraction": float(beyond.mean()),
        "retarget.amplitude_lost_mean_rad": float(use.lost.mean()),
        "retarget.amplitude_lost_max_rad": float(use.lost.max()),
        "retarget.amplitude_lost_height_m": float(np.abs(problem.pelvis_height - lower.pelvis_height).max()),
    }
