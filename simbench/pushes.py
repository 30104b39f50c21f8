"""The pushes a scenario asks for, and which of them its robot survived."""

from collections.abc import Sequence

import xarray as xr

from simbench.runs.metrics import FELL_HEIGHT
from simbench.scenario_balance import PushSection
from simbench.scenario_schema import SimulationSection
from simbench.sim.push import Push


def pushes_end(section: PushSection) -> float:
    """Time from the end of settling until the robot has had `interval_s` after its last push, s."""
    return section.start_s + section.count * section.interval_s


def planned_pushes(section: PushSection | None, settings: SimulationSection) -> tuple[Push, ...]:
    """Lay pushes out in physics steps.

    Parameters
    ----------
    section : PushSection or None
    settings : SimulationSection

    Returns
    -------
    tuple of Push
    """
    if section is None:
        return ()

    def steps(time: float) -> int:
        return round(time / settings.timestep_s)

    return tuple(
        Push(
            impulse=section.first_ns + number * section.increment_ns,
            direction=section.direction_rad,
            start=steps(settings.settle_s + section.start_s + number * section.interval_s),
            duration=max(1, steps(section.duration_s)),
        )
        for number in range(section.count)
    )


def push_metrics(
    log: xr.Dataset, section: PushSection, pushes: Sequence[Push], timestep: float
) -> dict[str, float]:
    """Find the strongest push after which the robot still stood when the next one came, or at the end.

    Parameters
    ----------
    log : xarray.Dataset
    section : PushSection
    pushes : sequence of Push
    timestep : float
        s.

    Returns
    -------
    dict of str to float
        `push.survived_ns`, 0 if it fell at the first, and `push.survived_count`.
    """
    height = log["base_pose"].values[:, 2]
    survived = 0
    for push in pushes:
        after = log["time"].values <= push.start * timestep + section.interval_s
        if not (height[after] >= FELL_HEIGHT * height[0]).all():
            break
        survived += 1
    strongest = pushes[survived - 1].impulse if survived else 0.0
    return {"push.survived_ns": strongest, "push.survived_count": float(survived)}
