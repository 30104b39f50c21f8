"""Whether the legs can follow a plan of a trajectory: the COG is lowered as far as that takes."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from simbench.balance.controller.whole_body import WholeBodyController, WholeBodyPlan
from simbench.balance.gait.cog_correction import correct_cog
from simbench.balance.inverted_pendulum import CogZmpGains
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot

_GAINS = CogZmpGains(cog=10.0, zmp=0.0)
"""Keeps the COG on its profile; nothing is measured."""
_CORRECTIONS = 2
"""Corrections of the COG: each leaves about a tenth of the ZMP's error."""
_HELPS = 0.8
"""Part of the excess that lowering may leave to go on: joints that turn sideways do not gain by it."""
_LOWERED = (0.0, 0.01, 0.02, 0.035, 0.05, 0.075, 0.1, 0.15)
"""Distances by which the COG is lowered in turn, as parts of the leg's length."""


class FollowedPlan(NamedTuple):
    """A plan and the legs' motion that follows it.

    Parameters
    ----------
    plan : WholeBodyPlan
        The plan with its COG corrected.
    path : (N, 7 + n) array
        Configurations at its samples.
    doubts : tuple of str
        Limits that the legs would exceed, one line each.
    excess : (N,) array
        How far the legs are beyond their limits at each sample: rad beyond a position limit, or a speed's
        part beyond its limit; 0 within them. 1 from where a leg became straight.
    """

    plan: WholeBodyPlan
    path: Array
    doubts: tuple[str, ...]
    excess: Array


class _Excess(NamedTuple):
    """How far a plan is from what the legs can do; 0 and 1 or less are feasible."""

    lost: float
    """Part of the ticks after a leg became straight."""
    position: float
    """Largest excess over a position limit, rad."""
    speed: float
    """Largest ratio of a speed to its limit."""
    lines: tuple[str, ...]
    samples: Array
    """The larger of the two at each sample, (N,); 1 from where a leg became straight."""


def follow_ideally(
    robot: Robot, make_plan: Callable[[float], WholeBodyPlan], leg: float
) -> tuple[float, FollowedPlan]:
    """Run the balance controller without a simulator, lowering the COG until the legs can follow.

    Level feet need a lower COG than feet that roll over heel and toe, and the controller bent knees.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    make_plan : callable (distance) -> WholeBodyPlan
        Makes the plan with the COG lowered by a distance, m.
    leg : float
        Length of the leg, m.

    Returns
    -------
    lowered : float
        Distance by which the COG is lowered, m.
    followed : FollowedPlan
        The first plan inside all limits; if there is none, the nearest to them that was found.
    """
    best: tuple[tuple[float, float], float, FollowedPlan] | None = None
    for part in _LOWERED:
        plan, path, excess = _follow_corrected(robot, make_plan(part * leg))
        score = (excess.lost, max(excess.position, 0.0) + max(excess.speed - 1.0, 0.0))
        if best is None or score < best[0]:
            helps = best is None or excess.lost < best[0][0] or score[1] < _HELPS * best[0][1]
            best = score, part * leg, FollowedPlan(plan, path, excess.lines, excess.samples)
        else:
            helps = False
        if score == (0.0, 0.0) or (excess.lost == 0.0 and not helps):
            break
    assert best is not None
    return best[1], best[2]


def follow_lowered(robot: Robot, plan: WholeBodyPlan) -> FollowedPlan:
    """Run the balance controller without a simulator, with the COG as high as planned, and correct the COG.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    plan : WholeBodyPlan
        The plan.

    Returns
    -------
    FollowedPlan
        The plan with its COG corrected, and the legs' motion.
    """
    plan, path, excess = _follow_corrected(robot, plan)
    return FollowedPlan(plan, path, excess.lines, excess.samples)


def _follow_corrected(robot: Robot, plan: WholeBodyPlan) -> tuple[WholeBodyPlan, Array, _Excess]:
    """Run a plan, and correct its COG for the bodies' angular momentum."""
    path, excess = _follow(robot, plan)
    for _ in range(_CORRECTIONS):
        if excess.lost > 0.0:
            break
        height = float(plan.cog_height.mean())
        plan = replace(plan, gait=correct_cog(robot, plan.gait, path, height))
        path, excess = _follow(robot, plan)
    return plan, path, excess


def _follow(robot: Robot, plan: WholeBodyPlan) -> tuple[Array, _Excess]:
    """Run all ticks of a plan with ideal measurements."""
    whole = WholeBodyController(robot, plan, _GAINS)
    model, legs, count = robot.model, whole.legs, len(plan.gait.zmp)
    path, speed = np.empty((count, model.nq)), np.zeros((count, len(legs)))
    path[0] = whole.configuration
    for tick in range(count - 1):
        whole.tick(tick, None, None)
        path[tick + 1] = whole.configuration
        speed[tick] = np.abs(whole.velocity[6 + legs])
    q, timestep = path[:, 7 + legs], plan.gait.timestep
    excess = np.maximum(model.lowerPositionLimit[7 + legs] - q, q - model.upperPositionLimit[7 + legs])
    ratio = speed / model.velocityLimit[6 + legs]
    names = [robot.joint_names[leg] for leg in legs]
    lines, lost = [], 0.0
    if whole.gave_up is not None:
        lost = 1.0 - whole.gave_up / count
        lines.append(
            f"a leg would have to be straight from {whole.gave_up * timestep:.2f} s of the run on: steps are "
            "too long for level soles, or it stands too high; the balance controller gives up there"
        )
    for values, allowed, words in (
        (excess, 0.0, "{:.3f} rad beyond its position limit"),
        (ratio, 1.0, "{:.2f} times as fast as its limit"),
    ):
        # Next to a straight leg, joints and speeds are no motion's.
        if not lost and values.max() > allowed:
            tick, joint = divmod(int(values.argmax()), len(legs))
            lines.append(
                f"to follow, {names[joint]} would be {words.format(values.max())} at "
                f"{tick * timestep:.2f} s of the run"
            )
    samples = np.maximum(excess.max(axis=1), ratio.max(axis=1) - 1.0).clip(0.0)
    if whole.gave_up is not None:
        samples[whole.gave_up :] = 1.0
    return path, _Excess(lost, float(excess.max()), float(ratio.max()), tuple(lines), samples)
