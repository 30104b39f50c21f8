"""Choose the footsteps of a robot that follows a person's: their scale, and single ones that are shorter."""

from collections.abc import Callable

import numpy as np

from simbench.balance.standing.pelvis_height import leg_length
from simbench.balance.standing.standing import Stance, height_range, stand
from simbench.errors import LegReachError, RetargetError
from simbench.options import RobotSection
from simbench.retargeting.legs.body import root_rotations
from simbench.retargeting.legs.candidate import StepCandidate, plan_candidate
from simbench.retargeting.legs.feasible_steps import make_feasible
from simbench.retargeting.legs.foot_directions import Heading
from simbench.retargeting.legs.footsteps import FootstepFrame, FootstepPlan, least_width, scale_footsteps
from simbench.retargeting.legs.leg_range import LegRange, find_leg_range
from simbench.retargeting.legs.task import BodyMotion, Person, StepFollowingOptions
from simbench.robot.robot import Robot

OnProgress = Callable[[str, int, int], None]

_SCALE_ROUNDS, _STEP_ROUNDS, _FIRST_ROUNDS = 6, 6, 3
"""Most rounds in which all steps are shortened, and single ones; and the rounds of the first that are taken
whether they help or not."""
_SCALING, _EASING = (0.7, 0.9), 0.75
"""Least and largest factor by which the scale is reduced in a round, and the power of the excess for it."""
_STUCK = 0.8
"""Part of the excess over limits that shorter steps may leave to go on: else single ones are shortened, which
costs their places, while the scale costs none."""
_NEGLIGIBLE = 0.02
"""Excess that needs no shorter steps."""
_TOLERATED = 0.1
"""Excess of the legs over a position limit, rad, or a speed limit, as a part of it, above which a plan is
refused: a robot that cannot follow by more falls."""
_SHORTER, _AROUND = 0.75, 0.1
"""Factor by which they are, and time before and after a swing that counts as its step, s."""
_LONG_STEP = 0.9
"""Quantile of the steps' lengths that the scale brings within reach; longer ones are shortened."""
_LEAST_SCALE, _MOVED = 0.4, 0.04
"""Least part of the largest scale, and RMS distance by which steps may have to be moved, m, before the scale
is reduced for it: distances shrink, the width of the feet does not."""
_REACH = 0.85
"""Part of the longest step that they may use."""
_BENT = -0.04
"""Height of the pelvis above the posture's as a part of the leg's length, for which reach is computed."""


def choose_steps(
    robot: Robot,
    person: Person,
    options: StepFollowingOptions,
    body: BodyMotion,
    on_progress: OnProgress,
) -> tuple[StepCandidate, LegRange]:
    """Plan with ever shorter steps until the legs can follow; single steps that they cannot are shortened.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    person : Person
        The recording.
    options : StepFollowingOptions
        Sections of the scenario.
    body : BodyMotion
        Trunk and arms, and what is asked of the root.
    on_progress : callable (stage, done, total)
        Called as planning proceeds.

    Returns
    -------
    candidate : StepCandidate
        The plan; its arms may touch the legs.
    legs : LegRange
        Range of the legs.

    Raises
    ------
    RetargetError
        If the robot's legs cannot make such steps.
    """
    legs = find_leg_range(robot, _bent_stance(robot, options.section))
    scale = _largest_scale(robot, person, options, legs)
    best: StepCandidate | None = None
    shortened: list[float] = []
    lean, before = 1.0, np.inf
    unreached: LegReachError | None = None
    for number in range(_SCALE_ROUNDS + _STEP_ROUNDS):
        on_progress("steps", number, _SCALE_ROUNDS + _STEP_ROUNDS)
        wanted = _scaled(robot, person, options, legs, scale)
        shortened = shortened or [1.0] * (len(wanted.steps) + 1)
        feasible = make_feasible(robot, wanted, legs, shortened, _heading(person, options))
        single = lean < 1.0
        lowered = best.lowered if single and best is not None else None
        try:
            candidate = plan_candidate(robot, person, options, body, (wanted, feasible, legs), lowered)
        except LegReachError as error:
            # It cannot stand with its feet so far apart at the beginning or the end.
            scale, unreached = _SCALING[0] * scale, error
            continue
        if best is None or _badness(candidate) < _badness(best):
            best = candidate
        failing = _failing_steps(candidate)
        if candidate.followed.excess.max() <= _NEGLIGIBLE or not wanted.steps:
            best = candidate
            break
        beyond = float(candidate.followed.excess.sum())
        stuck, before = number >= _FIRST_ROUNDS and beyond > _STUCK * before, beyond
        if single or number >= _SCALE_ROUNDS or stuck:
            # What shorter steps did not help keeps its place.
            scale = best.wanted.scale
            lean *= _SHORTER
            body = body._replace(rotation=root_rotations(person.body, lean), lean=lean)
            shortened = [
                part * (_SHORTER if fails else 1.0) for part, fails in zip(shortened, failing, strict=True)
            ]
        else:
            excess = float(np.quantile(candidate.followed.excess[candidate.followed.excess > 0.0], 0.9))
            scale *= float(np.clip((1.0 + excess) ** -_EASING, *_SCALING))
    on_progress("steps", 1, 1)
    if best is None:
        assert unreached is not None
        raise unreached
    require_followed(robot, person, best)
    return best, legs


def require_followed(robot: Robot, person: Person, candidate: StepCandidate) -> None:
    """Refuse steps that the legs cannot follow.

    Parameters
    ----------
    robot : Robot
        The robot.
    person : Person
        The recording.
    candidate : StepCandidate
        The plan.

    Raises
    ------
    RetargetError
        If legs are beyond a limit of position or speed by more than 0.1 (rad, or a part of it).
    """
    if candidate.followed.excess.max(initial=0.0) > _TOLERATED:
        reasons = [*candidate.followed.doubts, *(change.reason for change in candidate.feasible.changes)]
        why = "; ".join(reasons[:2])
        raise RetargetError(
            f"retarget.physics: steps: {robot.name} cannot follow {person.motion.source}: {why}; "
            "allowed: stand"
        )


def _failing_steps(candidate: StepCandidate) -> list[bool]:
    """Tell in which steps the legs are beyond their limits; the first is the stance before them."""
    excess, tick, start = candidate.followed.excess, candidate.setting.tick, candidate.steps.start
    steps = candidate.feasible.plan.steps
    first_lift = min((step.lift for step in steps), default=0.0)
    failing = [bool((excess[: max(round((start + first_lift - _AROUND) / tick), 1)] > _NEGLIGIBLE).any())]
    for step in steps:
        first, last = (round((start + when) / tick) for when in (step.lift - _AROUND, step.landing + _AROUND))
        failing.append(bool((excess[max(first, 0) : last + 1] > _NEGLIGIBLE).any()))
    return failing


def _loses_balance(candidate: StepCandidate) -> bool:
    """Tell whether a leg becomes straight."""
    return bool(candidate.followed.excess[-1] >= 1.0)


def _badness(candidate: StepCandidate) -> tuple[bool, float]:
    """Order plans: those that lose balance last, then by how far they are beyond limits."""
    return _loses_balance(candidate), float(candidate.followed.excess.sum())


def _bent_stance(robot: Robot, section: RobotSection) -> Stance:
    """Stance with knees so bent that the robot can step, as far as its legs allow."""
    low, high = height_range(robot, section.posture)
    height = section.height_m or 0.0
    lower = float(np.clip(height + _BENT * leg_length(robot), 0.9 * low, high))
    return stand(robot, (0.0, 0.0), 0.0, section.posture, min(height, lower))


def _heading(person: Person, options: StepFollowingOptions) -> Heading:
    """Where the person looks, in the scenario's world frame."""
    return Heading(
        person.motion.time - person.motion.time[0], person.body.heading + options.section.heading_rad
    )


def _scaled(
    robot: Robot, person: Person, options: StepFollowingOptions, legs: LegRange, scale: float
) -> FootstepPlan:
    """Scale the person's footsteps, and place them in the scenario."""
    section = options.section
    position = np.array(section.position_m, dtype=float)
    frame = FootstepFrame(scale, section.heading_rad, position, least_width(robot, legs.beside[0]))
    return scale_footsteps(person.recorded.contacts, person.motion.time, person.body.heading, frame)


def _largest_scale(robot: Robot, person: Person, options: StepFollowingOptions, limits: LegRange) -> float:
    """Ratio of the legs' lengths, or less, so that most steps are in reach beside the other foot."""
    ratio = leg_length(robot) / person.recorded.leg
    contacts = person.recorded.contacts
    lengths = []
    for number, contact in enumerate(contacts[1:], 1):
        other = next((each for each in contacts[number - 1 :: -1] if each.foot != contact.foot), None)
        if other is not None:
            heading = float(np.interp(max(contact.landing, 0.0), person.motion.time, person.body.heading))
            forward = np.array([np.cos(heading), np.sin(heading)])
            lengths.append(abs(float((contact.position - other.position) @ forward)))
    longest = float(np.quantile(lengths, _LONG_STEP)) if lengths else 0.0
    scale = largest = min(ratio, _REACH * limits.reach / max(longest, 1e-6))
    while scale > _LEAST_SCALE * largest:
        wanted = _scaled(robot, person, options, limits, scale)
        planned = make_feasible(
            robot, wanted, limits, [1.0] * (len(wanted.steps) + 1), _heading(person, options)
        ).plan
        moved = [
            float(np.linalg.norm(after.position - before.position))
            for before, after in zip(wanted.steps, planned.steps, strict=True)
        ]
        if not moved or np.sqrt(np.mean(np.square(moved))) <= _MOVED:
            break
        scale *= _SCALING[1]
    return scale
