"""What the iterations of Bullet's constraint solver cost, and what changes with fewer or more of them.

python scripts/studies/solver_iterations.py [SCENARIO ...] [--iterations N ...]

Each scenario is run with each number of iterations. The table shows the time of a bare `stepSimulation`, and
how many metrics are outside their baselines' tolerance, worse and better, with those that are most of their
tolerance away.
"""

import argparse
import math
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from simbench.errors import SimbenchError
from simbench.runs.baseline import Verdict, compare
from simbench.runs.isolated_runs import run_once
from simbench.runs.regression import find_cases
from simbench.sim.bullet import bullet_world as world

_USUAL = ("drawer", "valves", "canoe_paddles", "steering_wheel", "dance", "mahru_walk")
_NAMED = 3
"""Number of metrics that are named."""


def study(names: list[str], iterations: list[int]) -> Table:
    """Run scenarios with several numbers of solver iterations, and compare them with their baselines."""
    columns = ("scenario", "iterations", "bare step, µs", "worse", "better", "furthest, in tolerances")
    table = Table(*columns)
    for case in find_cases(names):
        baseline = case.baseline or {}
        for count in iterations:
            world.SOLVER_ITERATIONS = count
            with tempfile.TemporaryDirectory() as folder:
                metrics, _ = run_once(case.scenario, Path(folder) / "run")
            verdicts = [each for each in compare(baseline, metrics) if each.outcome != "new"]
            furthest = sorted(verdicts, key=distance, reverse=True)[:_NAMED]
            seconds = float(metrics["timing.realtime_factor"] or math.nan)
            overhead = float(metrics["timing.step_overhead"] or math.nan)
            step = case.scenario.simulation.timestep_s / seconds / overhead
            table.add_row(
                case.scenario.name,
                str(count),
                f"{1e6 * step:.0f}",
                str(sum(each.failed for each in verdicts)),
                str(sum(each.outcome == "better" for each in verdicts)),
                ", ".join(f"{each.name} {distance(each):.1f}" for each in furthest if distance(each) > 1.0),
            )
        table.add_section()
    return table


def distance(verdict: Verdict) -> float:
    """Measure how far a metric is from its baseline, in tolerances; infinite where it is another kind."""
    if isinstance(verdict.was, int | float) and isinstance(verdict.now, int | float):
        change = abs(float(verdict.now) - float(verdict.was))
        if verdict.tolerance:
            return change / verdict.tolerance
        return math.inf if change else 0.0
    return 0.0 if verdict.outcome == "holds" else math.inf


def main() -> int:
    """Run the study and print its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO", default=_USUAL)
    parser.add_argument("--iterations", nargs="+", type=int, metavar="N", default=[100, 50, 30, 20, 10])
    options = parser.parse_args()
    try:
        Console(width=160).print(study(list(options.scenarios), options.iterations))
    except SimbenchError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
