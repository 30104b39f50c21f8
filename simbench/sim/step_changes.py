"""Steps near those that were asked for: smaller, slower, faster, or with another height of the pelvis."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from simbench.balance.leg_ik import height_range
from simbench.errors import BalanceError, RetargetError
from simbench.options import BalanceSection, RobotSection, SimulationSection, SteppingSection
from simbench.robot.robot import Robot
from simbench.sim.balance_loop import BalancedRun, balance_run, build_standing_reference
from simbench.sim.starting_pose import fit_steps

# Parts of the sizes, multiples of the durations, parts of the pelvis' travel, and parts of half the sole's
# width by which the ZMP lies further inward, that are tried in turn.
_SMALLER, _SLOWER, _FASTER = (0.9, 0.75, 0.5), (1.25, 1.6), (0.8, 0.64)
_HEIGHTS, _INWARD = (0.25, 0.5, 0.9), (0.25, 0.5)
# The key of the size that each command uses.
SIZES = {"forward_m": "step_length_m", "sideways_m": "step_width_m", "turn_rad": "step_turn_rad"}


class StepChange(NamedTuple):
    """Steps that differ from those that were asked for."""

    kind: str  # What differs, such as `slower steps`; a change of one size alone is called by its key.
    section: RobotSection
    stepping: SteppingSection

    def options(self, section: RobotSection, stepping: SteppingSection) -> tuple[str, ...]:
        """List as `KEY=VALUE` what has other values in the sections that were asked for."""
        pairs = (("robot", section, self.section), ("stepping", stepping, self.stepping))
        return tuple(
            f"{name}.{key}={getattr(new, key):g}"
            for name, old, new in pairs
            for key in type(new).model_fields
            if getattr(new, key) != getattr(old, key)
        )

    def plan(
        self, robot: Robot, balance: BalanceSection, settings: SimulationSection
    ) -> "tuple[StepChange, BalancedRun] | None":
        """Plan the steps of a robot that is at rest otherwise, and fit what is open of them.

        None if its legs cannot make them.
        """
        try:
            place, steps = fit_steps(robot, self.section, balance, self.stepping, settings)
            timeline = build_standing_reference(robot, place, settings, None, "none")
            run = balance_run(robot, timeline, balance, steps, settings)
            return self._replace(section=place, stepping=steps), run
        except (BalanceError, RetargetError):
            return None


def step_changes(robot: Robot, section: RobotSection, stepping: SteppingSection) -> Iterator[StepChange]:
    """Change steps, one thing after another, each little at first; what is open stays open.

    A pelvis that is higher or lower than the legs allow, which nothing else would mend, is moved to what they
    allow in all changes. `robot`: robot with two legs; `section`: base placement and posture; `stepping`:
    commands and steps.
    """
    low, high = height_range(robot, section.posture)
    given = section.height_m or 0.0
    height = inward(min(max(given, low), high))
    if not low <= given <= high:
        section = section.model_copy(update={"height_m": height})
        yield StepChange("pelvis height", section, stepping)

    def change(kind: str, **values: float) -> StepChange:
        return StepChange(kind, section, stepping.model_copy(update=values))

    def scaled(part: float, *keys: str) -> dict[str, float]:
        return {key: float(f"{part * float(getattr(stepping, key)):.3g}") for key in keys}

    sizes = [
        size
        for command, size in SIZES.items()
        if any(getattr(each, command) is not None for each in stepping.commands)
        and getattr(stepping, size) is not None
    ]
    for size in sizes:
        for part in _SMALLER:
            yield change(size, **scaled(part, size))
    for part in _SMALLER if sizes else ():
        yield change("smaller steps", **scaled(part, *sizes))
    for kind, factors in (("slower steps", _SLOWER), ("faster steps", _FASTER)):
        for factor in factors:
            yield change(kind, **scaled(factor, "single_support_s", "double_support_s"))
    # A height that is open is searched for with all other changes.
    limits = () if section.height_m is None else (("lower pelvis", low), ("higher pelvis", high))
    for kind, limit in limits:
        for part in _HEIGHTS:
            moved = section.model_copy(update={"height_m": inward(height + part * (limit - height))})
            yield StepChange(kind, moved, stepping)
    width = float(np.mean([0.5 * np.ptp(corners[:, 1]) for corners in robot.soles.values()]))
    for part in _INWARD:
        yield change("ZMP further inward", zmp_inset_m=float(f"{stepping.zmp_inset_m + part * width:.2g}"))


def describe_feasible_steps(
    robot: Robot,
    section: RobotSection,
    balance: BalanceSection,
    stepping: SteppingSection,
    settings: SimulationSection,
) -> str:
    """Name options with which a robot's legs can make a scenario's steps, the first that are found.

    The steps are planned as written. `section`, `balance`, `stepping`, `settings`: the scenario's sections.
    Returns the end of an error's line; empty if there are none.
    """
    for change in step_changes(robot, section, stepping):
        if change.plan(robot, balance, settings) is not None:
            break
    else:
        sizes = dict.fromkeys((*SIZES.values(), "lift_m"))
        free = (section.model_copy(update={"height_m": None}), stepping.model_copy(update=sizes))
        try:
            change = StepChange("", *fit_steps(robot, free[0], balance, free[1], settings))
        except (BalanceError, RetargetError):
            return ""
    options = " ".join(f"--set {option}" for option in change.options(section, stepping))
    return f"; its legs can make the steps with {options}"


def inward(height: float) -> float:
    """Round a height of the pelvis toward the posture's, to a tenth of a millimetre, m."""
    return float(np.trunc(height * 1e4 + np.sign(height) * 1e-6)) / 1e4 + 0.0
