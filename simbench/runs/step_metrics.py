"""Metrics of commanded steps: how far the robot ended from where its commands lead, and steps not taken."""

import math
from collections.abc import Mapping, Sequence

from simbench.options import StepCommand, SteppingSection


def commanded_displacement(commands: Sequence[StepCommand]) -> tuple[float, float, float]:
    """Compute where commands lead, each in the frame where the one before ends.

    `commands`: commands of the section `stepping`, one after another. Returns `forward`: distance along the
    initial heading, m; `left`: distance to the left of the initial heading, m; `rotation`: rotation to the
    left, rad; whole turns are counted.
    """
    forward = left = heading = 0.0
    for command in commands:
        ahead, aside = command.forward_m or 0.0, command.sideways_m or 0.0
        forward += math.cos(heading) * ahead - math.sin(heading) * aside
        left += math.sin(heading) * ahead + math.cos(heading) * aside
        heading += command.turn_rad or 0.0
    return forward, left, heading


def step_metrics(
    metrics: Mapping[str, float | bool], section: SteppingSection, planned: int
) -> dict[str, float]:
    """Compare the displacement of the robot with its commands, and the steps taken with those planned.

    `metrics`: metrics from `run_metrics`: `base.forward_m`, `base.left_m`, `base.turn_rad` and `steps.count`;
    `section`: section `stepping` of the scenario; `planned`: number of planned steps. Returns
    `base.forward_error_m`, `base.left_error_m` and `base.turn_error_rad`: absolute difference of the
    displacement and rotation of the root from those commanded; `steps.missed_count`: number of planned steps
    that were not taken.
    """
    forward, left, rotation = commanded_displacement(section.commands)
    return {
        "base.forward_error_m": abs(metrics["base.forward_m"] - forward),
        "base.left_error_m": abs(metrics["base.left_m"] - left),
        "base.turn_error_rad": abs(metrics["base.turn_rad"] - rotation),
        "steps.missed_count": max(0.0, planned - metrics["steps.count"]),
    }
