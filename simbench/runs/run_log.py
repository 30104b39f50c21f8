"""The log of a simulation that was prepared from a scenario."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simbench.robot.robot import Robot
from simbench.runs.log_builder import make_log, with_balance
from simbench.runs.preparation import Preparation
from simbench.runs.trajectory_log import with_trajectory
from simbench.sim.recorder import Recorder

if TYPE_CHECKING:
    import xarray as xr


def make_run_log(prepared: Preparation, robot: Robot) -> Callable[[Recorder], xr.Dataset]:
    """Make the function that builds a log of samples.

    `prepared`: what is simulated; `robot`: the robot in the simulation. Returns builds the log of what a
    recorder holds.
    """
    course, followed, balanced = prepared.course, prepared.followed, prepared.balanced
    settings, sitting_on = prepared.scenario.simulation, prepared.seat.name if prepared.seat else ""

    def make(recorder: Recorder) -> xr.Dataset:
        log = make_log(
            robot,
            recorder,
            prepared.timeline,
            prepared.mechanisms,
            course.asked,
            course.strokes,
            settings.settle_s,
            sitting_on,
        )
        log = with_balance(log, balanced.balancer) if balanced else log
        return with_trajectory(log, followed.tracked, settings.timestep_s) if followed else log

    return make
