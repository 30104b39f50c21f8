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
    """How steps are damped, and which of them is the last.

    Parameters
    ----------
    first : float
        Damping of the first step.
    least : float
        Damping below which it is not reduced.
    greatest : float
        Damping at which the iteration gives up: no step, however short, reduces the cost.
    step_tolerance : float
        A step whose largest coordinate is shorter is the last one.
    gain_tolerance : float
        A step that reduces the cost by no more than this fraction of it is the last one; negative: never.
    loss_tolerance : float
        A rejected step that raises the cost by no more than this fraction of it is the last one, too; 0 or
        negative: never.
    cost_tolerance : float
        Cost below which nothing is left to do.
    """

    first: float
    least: float
    greatest: float
    step_tolerance: float
    gain_tolerance: float
    loss_tolerance: float
    cost_tolerance: float


class Progress(NamedTuple):
    """Where an iteration is.

    Parameters
    ----------
    cost : float
        Cost at the current point.
    damping : float
        Damping of the next step.
    used : int
        Steps tried.
    accepted : bool
        Whether the last step is accepted.
    finished : bool
        Whether it is the last one.
    """

    cost: float
    damping: float
    used: int
    accepted: bool
    finished: bool


@compiled_into_callers
def begin(rule: DampingRule, cost: float) -> Progress:
    """Begin an iteration.

    Parameters
    ----------
    rule : DampingRule
        How steps are damped.
    cost : float
        Cost at the start.

    Returns
    -------
    Progress
        Before the first step.
    """
    return Progress(cost, rule.first, 0, True, False)


@compiled_into_callers
def is_running(rule: DampingRule, progress: Progress, rounds: int) -> bool:
    """Check whether another step is to be tried.

    Parameters
    ----------
    rule : DampingRule
        When to stop.
    progress : Progress
        State of the iteration.
    rounds : int
        Most steps to try.

    Returns
    -------
    bool
        False at the end.
    """
    if progress.finished or progress.used >= rounds:
        return False
    return progress.damping < rule.greatest and not progress.cost < rule.cost_tolerance


@compiled_into_callers
def judge_step(rule: DampingRule, progress: Progress, new_cost: float, largest: float) -> Progress:
    """Accept or reject a step, and adapt the damping (Marquardt 1963).

    A step that does not raise the cost is accepted, and the next one damped ten times less; another is
    rejected, and tried again damped ten times more.

    Parameters
    ----------
    rule : DampingRule
        How steps are damped, and when to stop.
    progress : Progress
        Before the step.
    new_cost : float
        Cost where the step leads.
    largest : float
        Largest coordinate of the step, as an absolute value.

    Returns
    -------
    Progress
        After the step; its cost is that of the accepted point.
    """
    cost, used, settled = progress.cost, progress.used + 1, largest < rule.step_tolerance
    if new_cost <= cost:
        settled = settled or cost - new_cost <= rule.gain_tolerance * cost
        return Progress(new_cost, max(0.1 * progress.damping, rule.least), used, True, settled)
    settled = settled or new_cost - cost <= rule.loss_tolerance * cost
    return Progress(cost, 10.0 * progress.damping, used, False, settled)
