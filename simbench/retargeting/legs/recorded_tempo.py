"""Trunk, arms and lean of a robot that steps, at the recorded tempo: amplitude gives way where it must."""

from typing import NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.balance.standing.standing import Stance
from simbench.kinematics.arrays import Array
from simbench.retargeting.collision.avoidance import avoid_collisions
from simbench.retargeting.collision.clearance import ClearanceScene, release_legs
from simbench.retargeting.legs.body import PersonBody, root_rotations, seen_from_root
from simbench.retargeting.legs.candidate import StepCandidate, path_at_samples, plan_candidate
from simbench.retargeting.legs.dynamics import StepExcess, busy_joints, examine_steps, torque_rows
from simbench.retargeting.legs.leg_range import LegRange
from simbench.retargeting.legs.task import BodyMotion, Person, StepFollowingOptions
from simbench.retargeting.legs.upper_body import (
    FIRST_INERTIA,
    FollowedUpperBody,
    follow_upper_body,
    keep_clock,
    no_torque_limits,
)
from simbench.retargeting.timing.preserve import (
    CLEARANCE,
    ROUNDING,
    Dynamics,
    knot_samples,
    measure_limit_use,
    spread_in_time,
    zmp_inertia,
)
from simbench.robot.robot import Robot

_LEAN_ROUNDS, _MAX_ROUNDS = 4, 6
"""Most rounds in which the lean is made smaller, and in which trunk and arms are."""
_LESS_LEAN, _NO_LEAN, _LEAN_REACH = 0.5, 1e-3, 0.25
"""Factors by which what the root leans beyond the chosen steps' plan is made smaller in a round, and in the
last one, and time before and after an excess, s."""
_GAIN, _MOST_EXCESS, _STEP, _REACH = 3.0, 3.0, 1.3, 0.15
"""Power of the excess by which inertia gets more weight from round to round, the largest excess that counts,
the least such factor, and time before and after an excess over which it applies, s."""
_TORQUE_USED, _LEAST_USED = 0.97, 0.4
"""Fraction of the allowed torque that is used, and down to which it is reduced where it is exceeded."""
_NEARNESS = 0.03
"""Weight of the distance from the last solution, m/rad, times the round's number squared: torques and legs
change with the solution."""
_GAP, _INSISTENCE, _MOST_INSISTENCE = 0.004, 3.0, 30.0
"""Least distance of the robot's own links, m; the factor on their clearance's weight in a round after which
they were nearer; and the largest product of these factors."""
_SEPARATIONS = 3
"""Rounds in which links that are too near are separated before limits count: deep in each other they do not
say where they are clear."""
_NOTED = 0.05
"""Amplitude that is told when it is lost, rad."""


class KeptTempo(NamedTuple):
    """The motion at the recorded tempo, and what gave way.

    Parameters
    ----------
    candidate : StepCandidate
        The plan.
    upper : FollowedUpperBody
        Trunk and arms.
    metrics : dict of str to float
        Metrics `retarget.tempo_*` and `retarget.amplitude_*`.
    notes : tuple of str
        What gave way, one line each.
    """

    candidate: StepCandidate
    upper: FollowedUpperBody
    metrics: dict[str, float]
    notes: tuple[str, ...]


class _Setting(NamedTuple):
    """What all rounds have in common."""

    robot: Robot
    person: Person
    options: StepFollowingOptions
    stance: Stance
    chosen: StepCandidate
    legs: LegRange

    def plan(self, body: BodyMotion) -> StepCandidate:
        """Let the legs take the chosen steps under another motion of root, trunk and arms."""
        best = self.chosen
        footsteps = (best.wanted, best.feasible, self.legs)
        return plan_candidate(self.robot, self.person, self.options, body, footsteps, best.lowered)

    @property
    def tolerated(self) -> float:
        """Excess of the legs that the chosen steps have anyhow."""
        return float(self.chosen.followed.excess.max()) + ROUNDING


class _Round(NamedTuple):
    """What trunk and arms start a round from."""

    candidate: StepCandidate
    excess: StepExcess
    wanted: Array
    near: Array
    inertia: Array
    usable: Array
    insistence: float


def keep_recorded_tempo(
    robot: Robot,
    person: Person,
    options: StepFollowingOptions,
    stance: Stance,
    body: BodyMotion,
    chosen: tuple[StepCandidate, LegRange],
) -> KeptTempo:
    """Follow the person's trunk and arms over the chosen steps, as far as joints, motors and soles allow.

    First the root leans as the person's trunk, less around moments at which the legs could not follow. Then
    trunk and arms imitate the person as seen from that root: one bounded problem over all samples
    (`keep_tempo`), clear of the moving legs. The legs follow, and they, the ZMP of all bodies and the torques
    of trunk and arms are examined. Around moments at which something is exceeded, accelerations that shift
    the ZMP get more weight, and torques smaller limits.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    person : Person
        The recording, T samples.
    options : StepFollowingOptions
        Sections of the scenario.
    stance : Stance
        How the robot stands.
    body : BodyMotion
        Trunk and arms with which the steps were chosen, and the COG's height.
    chosen : (StepCandidate, LegRange)
        The chosen steps, and the range of the legs.

    Returns
    -------
    KeptTempo
        The motion, and what gave way.

    Raises
    ------
    RetargetError
        If there is no motion of trunk and arms within the limits.
    """
    setting = _Setting(robot, person, options, stance, *chosen)
    body, candidate = _lean_as_person(setting, body)
    assert candidate.setting.trajectory.base is not None
    turned = Rotation.from_quat(candidate.setting.trajectory.base[:, 3:])
    rotation = Rotation.from_euler("z", -options.section.heading_rad) * turned
    seen = seen_from_root(person.motion, person.body.pelvis, rotation)
    upper = follow_upper_body(robot, seen, options.retarget, stance)
    time, knots = person.motion.time, knot_samples(person.motion.time)
    excess = examine_steps(robot, upper.body, candidate)
    apart = _separate(setting, upper, candidate)
    state = _Round(
        candidate,
        excess,
        np.clip(upper.preferred + apart, upper.body.bounds.lower, upper.body.bounds.upper),
        (upper.joints[:, upper.columns] + apart)[knots],
        np.full(len(time), FIRST_INERTIA),
        np.full(apart.shape, _TORQUE_USED),
        1.0,
    )
    best: tuple[tuple[bool, float, float], StepCandidate, FollowedUpperBody, StepExcess] | None = None
    for number in range(_MAX_ROUNDS):
        upper, missing = _solve(setting, upper, state, number)
        candidate = setting.plan(body._replace(upper=upper))
        excess = examine_steps(robot, upper.body, candidate)
        touching = missing > CLEARANCE - _GAP
        beyond = max(float(excess.legs.max()) - setting.tolerated, 0.0)
        score = touching, beyond, max(float(excess.worst.max()), 1.0)
        if best is None or score < best[0]:
            best = score, candidate, upper, excess
        if score == (False, 0.0, 1.0):
            break
        state = _next_round(
            time, setting, upper, state._replace(candidate=candidate, excess=excess), touching
        )
    assert best is not None
    _, candidate, upper, excess = best
    metrics = _measure(time, upper, excess)
    metrics["retarget.tempo_round_count"] = float(number + 1)
    notes = (*_lean_notes(person.body, rotation), *_amplitude_notes(robot, upper))
    return KeptTempo(candidate, upper, metrics, notes)


def _lean_as_person(setting: _Setting, body: BodyMotion) -> tuple[BodyMotion, StepCandidate]:
    """Lean the root as far as the person's trunk, and less where the legs cannot follow."""
    person, chosen = setting.person.body, setting.chosen
    time = setting.person.motion.time
    least = root_rotations(person, chosen.lean).as_euler("ZYX")
    wanted = np.column_stack([person.heading, person.pitch, person.roll])
    share = np.ones(len(time))
    body = body._replace(lean=chosen.lean)
    outside = np.maximum(examine_steps(setting.robot, body.upper.body, chosen).zmp, 1.0)
    for number in range(_LEAN_ROUNDS):
        angles = np.column_stack([person.heading, least[:, 1:] + share[:, None] * (wanted - least)[:, 1:]])
        body = body._replace(rotation=Rotation.from_euler("ZYX", angles))
        candidate = setting.plan(body)
        excess = examine_steps(setting.robot, body.upper.body, candidate)
        failing = (excess.legs > setting.tolerated) | (excess.zmp > outside)
        if not failing.any():
            return body, candidate
        less = _NO_LEAN if number == _LEAN_ROUNDS - 2 else _LESS_LEAN
        share = share / spread_in_time(time, np.where(failing, 1.0 / less, 1.0), _LEAN_REACH)
    return body._replace(rotation=root_rotations(person, chosen.lean)), chosen


def _separate(setting: _Setting, upper: FollowedUpperBody, candidate: StepCandidate) -> Array:
    """Find how trunk and arms (T, m) would have to move to be clear of the legs and of each other, rad."""
    path, bounds = path_at_samples(candidate), upper.body.bounds
    shapes, legs = release_legs(setting.robot, upper.shapes, path[:, :7], path[:, 7:])
    arms = upper.joints[:, upper.columns]
    limits = np.stack([bounds.lower, bounds.upper])
    time, base = setting.person.motion.time, path[:, :7]
    return avoid_collisions(shapes, time, arms, base, limits, CLEARANCE, {}, legs)[0] - arms


def _solve(
    setting: _Setting, upper: FollowedUpperBody, state: _Round, number: int
) -> tuple[FollowedUpperBody, float]:
    """Solve trunk and arms over the legs' last motion; also the largest deficit of the links' clearance."""
    time = setting.person.motion.time
    knots = knot_samples(time)
    path = path_at_samples(state.candidate)
    shapes, legs = release_legs(setting.robot, upper.shapes, path[:, :7], path[:, 7:])
    body = upper.body._replace(scene=ClearanceScene(shapes, path[:, :7], legs))
    busy = busy_joints(state.excess)
    # Before the first round, torques are those of another posture.
    torque = (
        torque_rows(state.excess, knots, busy, state.usable)
        if number
        else no_torque_limits(len(knots), len(upper.columns))
    )
    inertia = zmp_inertia(body, path[knots, :7], path[knots, 7:], state.inertia[knots])
    dynamics = Dynamics(state.near, _NEARNESS * number**2, state.insistence, inertia, torque)
    arms, missing = keep_clock(body, time, state.wanted, dynamics)
    return upper.with_arms(arms), missing


def _next_round(
    time: Array, setting: _Setting, upper: FollowedUpperBody, state: _Round, touching: bool
) -> _Round:
    """Make trunk and arms calmer where something is exceeded."""
    excess = state.excess
    zmp = np.where(excess.calm < excess.zmp, excess.zmp, 0.0)
    legs = np.where(excess.legs > setting.tolerated, _MOST_EXCESS, 0.0)
    ratio = np.minimum(np.maximum(zmp, legs), _MOST_EXCESS)
    worse = spread_in_time(time, np.where(ratio > 1.0, np.maximum(ratio**_GAIN, _STEP), 1.0), _REACH)
    usable = np.maximum(state.usable / spread_in_time(time, excess.torque, _REACH), _LEAST_USED)
    return state._replace(
        near=upper.joints[np.ix_(knot_samples(time), upper.columns)],
        inertia=state.inertia * worse,
        usable=usable,
        insistence=min(state.insistence * (_INSISTENCE if touching else 1.0), _MOST_INSISTENCE),
    )


def _measure(time: Array, upper: FollowedUpperBody, excess: StepExcess) -> dict[str, float]:
    """Measure what gave way, and what is still beyond a limit."""
    use = measure_limit_use(time, upper.joints[:, upper.columns], upper.preferred, upper.body.bounds)
    beyond = use.beyond | (excess.worst > 1.0 + ROUNDING)
    return {
        "retarget.tempo_zmp_margin_m": excess.margin,
        "retarget.tempo_limited_fraction": use.limited,
        "retarget.tempo_speed_ratio": float(use.speed.max()),
        "retarget.tempo_acceleration_ratio": float(use.acceleration.max()),
        "retarget.tempo_torque_ratio": float(excess.torque.max()),
        "retarget.tempo_violation_fraction": float(beyond.mean()),
        "retarget.amplitude_lost_mean_rad": float(use.lost.mean()),
        "retarget.amplitude_lost_max_rad": float(use.lost.max()),
    }


def _lean_notes(person: PersonBody, rotation: Rotation) -> list[str]:
    """Say how much of the trunk's lean the root does not follow."""
    lean = rotation.as_euler("ZYX")[:, 1:]
    lost = np.abs(lean - np.column_stack([person.pitch, person.roll])).max(axis=0)
    if lost.max() <= _NOTED:
        return []
    return [
        f"the trunk leans up to {lost[0]:.2f} rad less forward or back and {lost[1]:.2f} rad less to a side "
        "than the person's: the hips need their range for the steps"
    ]


def _amplitude_notes(robot: Robot, upper: FollowedUpperBody) -> list[str]:
    """Say which joints lose how much of the person's amplitude."""
    lost = np.abs(upper.joints[:, upper.columns] - upper.preferred).max(axis=0)
    worst = int(lost.argmax())
    count = int((lost > _NOTED).sum())
    if not count:
        return []
    return [
        f"{count} joints of trunk and arms give up amplitude, {robot.joint_names[upper.columns[worst]]} the "
        f"most, {lost[worst]:.2f} rad at its worst moment: the person is faster than they are, or arms would "
        "touch the body"
    ]
