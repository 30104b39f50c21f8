"""Time of a control step of the balance controller: alone, and in the 1 kHz loop with cold caches."""

import tempfile
import time
from pathlib import Path

import numpy as np
from rich.table import Table

from simbench.robot.robot import load_robot
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.schema import Scenario
from simbench.sim.balance_loop import balance_run, build_standing_reference

ROBOTS = {"mahru": -0.02, "romeo": 0.0}
"""Robots, and the offset of their pelvis height from that of their posture while they step, m."""
TICKS = 2000
MARCH = "stepping.commands=[{march: 6}]"


def time_alone(name: str) -> np.ndarray:
    """Measure the times (TICKS,), s, of consecutive control steps without physics.

    The measured configuration is that of the reference.
    """
    robot = load_robot(name)
    scenario = _march(name)
    timeline = build_standing_reference(robot, scenario.robot, scenario.simulation, None, "inverse_dynamics")
    run = balance_run(robot, timeline, scenario.balance, scenario.stepping, scenario.simulation)
    whole = run.balancer.whole
    wrench = np.zeros((2, 6))
    spent = np.empty(TICKS)
    for tick in range(TICKS):
        wrench[:, 2] = 300.0 * whole.gait.contact[tick]
        wrench[:, 3] = wrench[:, 2] * whole.landing.position[:, 1]
        wrench[:, 4] = -wrench[:, 2] * (whole.landing.position[:, 0] + 0.02)
        measured = whole.configuration.copy()
        start = time.perf_counter()
        whole.tick(tick, measured, wrench)
        spent[tick] = time.perf_counter() - start
    assert whole.gave_up is None
    return spent


def _march(name: str) -> Scenario:
    """Load a scenario in which a robot steps on the spot."""
    return load_scenario("mahru_walk", [f"robot.name={name}", f"robot.height_m={ROBOTS[name]}", MARCH])


def balance_table() -> Table:
    """Tabulate the times of control steps alone and in a run, and their fraction of the 1 kHz loop."""
    table = Table("robot", "step alone, median µs", "99 %", "in the loop, median µs", "fraction of the loop")
    for name in ROBOTS:
        alone = time_alone(name)
        with tempfile.TemporaryDirectory() as folder:
            metrics = run_scenario(_march(name), Path(folder) / "run").metrics
        table.add_row(
            name,
            f"{1e6 * np.median(alone):.0f}",
            f"{1e6 * np.percentile(alone, 99):.0f}",
            f"{1e6 * metrics['timing.balance_tick_median_s']:.0f}",
            f"{100 * metrics['timing.balance_share']:.0f} %",
        )
    return table
