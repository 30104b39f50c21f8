"""Levenberg-Marquardt inside bounds: damping and stopping of all nonlinear least-squares problems.

Every such problem is solved by the same loop, with its own residuals and normal equations:

    progress = begin(rule, cost)
    while is_running(rule, progress, rounds):
        # Solve (A + damping D) dx = b inside the bounds (`solve_box`), D the problem's.
        # Compute the cost, A and b at x + dx.
        progress = judge_step(rule, progress, new_cost, largest)
        # Accepted: go there. Else: back to A and b at x.

A common loop that takes the problem's functions as arguments would be one place less: but numba cannot keep
the machine code of what hands functions to functions, and every process would compile it again.
"""

from typing import NamedTuple

from simbench.kinematics.compiled import compiled_into_callers


class DampingRule(NamedTuple):
    """How steps are damped, and which of them is the last."""

    first: float
    least: float  # Damping below which it is not reduced.
    greatest: float  # Damping at which the iteration gives up: no step, however short, reduces the cost.
    step_tolerance: float  # A step whose largest coordinate is shorter is the last one.
    # A step that reduces the cost by no more than this fraction of it is the last one; negative: never.
    gain_tolerance: float
    # A rejected step that raises the cost by no more than this fraction of it is the last one, too; 0 or
    # negative: never.
    loss_tolerance: float
    cost_tolerance: float  # Cost below which nothing is left to do.


class Progress(NamedTuple):
    """Where an iteration is."""

    cost: float  # Cost at the current point.
    damping: float  # Damping of the next step.
    used: int  # Steps tried.
    accepted: bool  # Whether the last step is accepted.
    finished: bool  # Whether it is the last one.


@compiled_into_callers
def begin(rule: DampingRule, cost: float) -> Progress:
    """Begin an iteration.

    `rule`: how steps are damped; `cost`: cost at the start. Returns before the first step.
    """
    return Progress(cost, rule.first, 0, True, False)


@compiled_into_callers
def is_running(rule: DampingRule, progress: Progress, rounds: int) -> bool:
    """Check whether another step is to be tried.

    `rule`: when to stop; `progress`: state of the iteration; `rounds`: most steps to try. Returns false at
    the end.
    """
    if progress.finished or progress.used >= rounds:
        return False
    return progress.damping < rule.greatest and not progress.cost < rule.cost_tolerance


@compiled_into_callers
def judge_step(rule: DampingRule, progress: Progress, new_cost: float, largest: float) -> Progress:
    """Accept or reject a step, and adapt the damping (Marquardt 1963).

    A step that does not raise the cost is accepted, and the next one damped ten times less; another is
    rejected, and tried again damped ten times more. `rule`: how steps are damped, and when to stop;
    `progress`: before the step; `new_cost`: cost where the step leads; `largest`: largest coordinate of the
    step, as an absolute value. Returns after the step; its cost is that of the accepted point.
    """
    cost, used, settled = progress.cost, progress.used + 1, largest < rule.step_tolerance
    if new_cost <= cost:
        settled = settled or cost - new_cost <= rule.gain_tolerance * cost
        return Progress(new_cost, max(0.1 * progress.damping, rule.least), used, True, settled)
    settled = settled or new_cost - cost <= rule.loss_tolerance * cost
    return Progress(cost, 10.0 * progress.damping, used, False, settled)
