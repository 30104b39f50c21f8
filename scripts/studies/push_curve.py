"""Find the strongest push that a standing robot survives in each direction.

python scripts/studies/push_curve.py [--robot NAME ...] [--directions N] [--resolution J] [--jobs N]
    [--strategy NAME ...] [--picture OUT.png] [--set KEY=VALUE]...

For each direction, robot and balance strategy this finds the largest impulse on the pelvis, applied in 0.1 s,
after which the robot stands still within 4 s. The strategies are: the plan alone (stiff joints), COG-ZMP
control, and control with recovery steps. The impulse is doubled from 10 N·s until the robot does not come to
rest, then bisected down to the resolution; smaller impulses than a survived one are assumed to be survived.
"""

import argparse
import math
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich.console import Console
from rich.table import Table

from simbench.cli.console import progress_bars
from simbench.errors import SimbenchError
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario

STRATEGIES = {
    "plan alone": ("balance.control=false",),
    "control": ("balance.control=true", "balance.recovery=none"),
    "control and steps": ("balance.control=true", "balance.recovery=step"),
}
SCENARIO = """
name: push_curve
robot: {{name: {robot}}}
motion: {{source: "joints:still"}}
simulation: {{settle_s: 0.3, hold_s: 0.1}}
push: {{first_ns: {impulse}, direction_rad: {direction}, start_s: 0.2, interval_s: 4.0}}
"""
_FIRST = 10.0
"""First impulse of a search, N·s."""


def survives(robot: str, impulse: float, direction: float, overrides: Sequence[str]) -> bool:
    """Push a robot once, and test whether it stands still afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "push_curve.yaml"
        path.write_text(SCENARIO.format(robot=robot, impulse=impulse, direction=direction))
        result = run_scenario(load_scenario(str(path), list(overrides)), Path(folder) / "run")
    # A run whose physics diverged has none.
    return math.isfinite(result.metrics.get("push.rest_s", math.nan))


def largest_survived(robot: str, direction: float, overrides: Sequence[str], resolution: float) -> float:
    """Find by bisection the largest impulse, N·s, that a robot survives."""
    low, high = 0.0, _FIRST
    while survives(robot, high, direction, overrides):
        low, high = high, 2.0 * high
    while high - low > resolution:
        middle = 0.5 * (low + high)
        if survives(robot, middle, direction, overrides):
            low = middle
        else:
            high = middle
    return low


def draw(curves: dict[tuple[str, str], list[float]], directions: Sequence[float], path: Path) -> None:
    """Draw a curve for each robot and strategy; forward is up, left is left."""
    robots = list(dict.fromkeys(robot for robot, _ in curves))
    figure, axes = plt.subplots(
        1, len(robots), figsize=(5 * len(robots), 5), subplot_kw={"projection": "polar"}, squeeze=False
    )
    for axis, robot in zip(axes[0], robots, strict=True):
        axis.set_theta_zero_location("N")
        axis.set_title(f"{robot}: largest impulse survived, N·s")
        for strategy in dict.fromkeys(strategy for _, strategy in curves):
            radii = curves[robot, strategy]
            axis.plot([*directions, directions[0]], [*radii, radii[0]], marker="o", label=strategy)
    axes[0][-1].legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> int:
    """Print a table of impulses; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--robot", action="append", metavar="NAME", help="mahru and romeo by default")
    parser.add_argument("--directions", type=int, default=8, metavar="N")
    parser.add_argument("--resolution", type=float, default=0.5, metavar="J", help="N·s")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="simultaneous runs")
    parser.add_argument("--strategy", action="append", choices=STRATEGIES, help="all three by default")
    parser.add_argument("--picture", "--plot", type=Path, metavar="OUT.png")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides")
    given = parser.parse_args()
    if given.directions < 1 or given.jobs < 1 or not given.resolution > 0.0:
        parser.error("--directions, --jobs and --resolution must be positive")
    robots = given.robot or ["mahru", "romeo"]
    strategies = given.strategy or list(STRATEGIES)
    directions = [math.tau * k / given.directions for k in range(given.directions)]
    # Inherited by the processes of the runs; each has one core.
    os.environ["OMP_NUM_THREADS"] = "1"
    tasks = [
        (robot, strategy, direction)
        for robot in robots
        for strategy in strategies
        for direction in directions
    ]
    found: dict[tuple[str, str, float], float] = {}
    console = Console()
    with progress_bars(Console(stderr=True)) as on_progress, ProcessPoolExecutor(given.jobs) as pool:
        waiting = {
            pool.submit(
                largest_survived,
                robot,
                direction,
                (*STRATEGIES[strategy], *given.overrides),
                given.resolution,
            ): (robot, strategy, direction)
            for robot, strategy, direction in tasks
        }
        try:
            for number, done in enumerate(as_completed(waiting), 1):
                robot, strategy, direction = waiting[done]
                impulse = done.result()
                found[robot, strategy, direction] = impulse
                console.print(f"{robot}, {strategy}, {math.degrees(direction):.0f}°: {impulse:.1f} N·s")
                on_progress("directions", number, len(tasks))
        except SimbenchError as error:
            print(f"error: {error}", file=sys.stderr)
            return 2
        finally:
            pool.shutdown(cancel_futures=True)
    curves = {
        (robot, strategy): [found[robot, strategy, direction] for direction in directions]
        for robot in robots
        for strategy in strategies
    }
    table = Table("robot", "N·s", *(f"{math.degrees(direction):.0f}°" for direction in directions), "mean")
    for (robot, strategy), radii in curves.items():
        table.add_row(robot, strategy, *(f"{radius:.1f}" for radius in radii), f"{np.mean(radii):.1f}")
    console.print(table)
    if given.picture:
        draw(curves, directions, given.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
