"""Steps that a robot's legs can make: their length, width, turn and lift, and the height of the pelvis.

What a scenario leaves open follows from the length of the legs; where the legs cannot make such steps,
because a joint would leave its range or become too fast, or a leg would have to be straight, the pelvis is
lowered first, then the steps are shortened.
"""

from collections.abc import Iterator

import numpy as np

from simbench.balance.leg_ik import leg_length, pelvis_heights
from simbench.errors import BalanceError, RetargetError
from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.robot.robot import Robot
from simbench.sim.balance_loop import balance_run
from simbench.sim.standing_reference import build_standing_reference

_LENGTH, _WIDTH, _LIFT, _TURN = 0.26, 0.13, 0.04, 0.3
"""Of a step that the legs are not too short for: length, width and lift as parts of the leg's length; rad."""
_SHORTER = (1.0, 0.8, 0.64, 0.5, 0.4, 0.3)
"""Parts of those steps that are tried in turn; of the lift, the square root."""
_RESERVE = 0.05
"""Part of each joint's range and speed limit that the plan leaves to the balance controller."""


def fit_steps(
    robot: Robot,
    section: RobotSection,
    balance: BalanceSection,
    stepping: SteppingSection,
    settings: SimulationSection,
) -> tuple[RobotSection, SteppingSection]:
    """Choose what a scenario leaves open of the steps and of the pelvis' height.

    `robot`: robot with two legs; `section`: base placement and posture; `stepping`: commands, durations, and
    what is given of the steps; `settings`: physics step, and times to settle and hold. Returns `section`: the
    same with the pelvis' height; `stepping`: the same with length, width, turn and lift of the steps. What
    was given is unchanged. Raises BalanceError if the legs can make no such steps: what hinders the ones that
    come nearest to what was asked. Raises RetargetError if the posture does not stand.
    """
    first: BalanceError | None = None
    candidates = list(_candidates(robot, section, stepping))
    if candidates == [(section, stepping)]:
        # Whether the legs can make the steps is found when they are planned.
        return section, stepping
    # Without a reserve where there is none to be had.
    for reserve in (_RESERVE, 0.0):
        first = None
        for place, steps in candidates:
            try:
                timeline = build_standing_reference(robot, place, settings, None, "none")
                balance_run(robot, timeline, balance, steps, settings, reserve=reserve)
            except BalanceError as error:
                first = first or error
            except RetargetError:
                # The legs do not allow this height, nor a lower one.
                if not place.height_m:
                    raise
            else:
                return place, steps
    assert first is not None
    raise first


def _candidates(
    robot: Robot, section: RobotSection, stepping: SteppingSection
) -> Iterator[tuple[RobotSection, SteppingSection]]:
    """Fill what is open, from the longest steps with the highest pelvis on."""
    length = leg_length(robot)
    heights = pelvis_heights(robot, section.height_m)
    usual = {"step_length_m": _LENGTH * length, "step_width_m": _WIDTH * length, "step_turn_rad": _TURN}
    open_keys = [key for key in usual if getattr(stepping, key) is None]
    lift = stepping.lift_m if stepping.lift_m is not None else _LIFT * length
    for part in _SHORTER if open_keys else (1.0,):
        shorter = {key: float(f"{part * usual[key]:.3g}") for key in open_keys}
        lower = lift if stepping.lift_m is not None else float(f"{np.sqrt(part) * lift:.3g}")
        steps = stepping.model_copy(update={**shorter, "lift_m": lower})
        for height in heights:
            yield section.model_copy(update={"height_m": height}), steps
