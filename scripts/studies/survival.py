"""Test whether a robot keeps its balance if its masses and the floor's friction differ from the planned ones.

python scripts/studies/survival.py [SCENARIO ...] [--seeds N] [--jobs N] [--mass F] [--friction F]
                           [--set KEY=VALUE]...

Runs each scenario with the seeds 0 to N - 1. Factors on the links' masses are drawn from 1 ± mass, the factor
on the floor's friction from 1 ± friction. Counts the runs that did not fall, and those whose checks hold. The
seed also drives the motion of a virtual actor, so that such a scenario gets a different performance each
time; a recorded motion stays the same. A run that ends in an error is reported, and counts neither as
survived nor as having held its checks.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from simbench.cli.console import progress_bars
from simbench.errors import SimbenchError
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run; `inside` is its `zmp.inside_fraction`, NaN if it has none."""

    scenario: str
    seed: int
    survived: bool
    checks_held: bool
    inside: float
    error: str = ""


def run_seed(scenario: str, seed: int, overrides: Sequence[str]) -> Outcome:
    """Run a scenario once; its run directory is deleted."""
    resolved = load_scenario(scenario, [*overrides, f"seed={seed}"])
    with tempfile.TemporaryDirectory() as folder:
        result = run_scenario(resolved, Path(folder) / "run")
    return Outcome(
        scenario,
        seed,
        survived=not result.metrics.get("fell", False),
        checks_held=all(check.passed for check in result.checks),
        inside=result.metrics.get("zmp.inside_fraction", float("nan")),
    )


def run_isolated(scenario: str, seed: int, overrides: Sequence[str]) -> Outcome:
    """Run a scenario once in a separate process, so that a crash affects only that run."""
    try:
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
            return process.submit(run_seed, scenario, seed, overrides).result()
    except Exception as error:
        # Any error is the outcome of this run; the others continue.
        line = " ".join(f"{type(error).__name__}: {error}".split())
        return Outcome(scenario, seed, False, False, float("nan"), line)


def survival_table(outcomes: Sequence[Outcome]) -> Table:
    """Tabulate each scenario; its worst seed is one that fell, else the one with the lowest ZMP fraction."""
    table = Table("scenario", "survived", "checks held", "ZMP inside, minimum", "mean", "worst seed")
    for scenario in dict.fromkeys(outcome.scenario for outcome in outcomes):
        runs = [outcome for outcome in outcomes if outcome.scenario == scenario]
        inside = np.array([run.inside for run in runs if not np.isnan(run.inside)])
        worst = min(runs, key=lambda run: (run.survived, np.nan_to_num(run.inside, nan=-1.0), run.seed))
        table.add_row(
            scenario,
            f"{sum(run.survived for run in runs)} of {len(runs)}",
            f"{sum(run.checks_held for run in runs)} of {len(runs)}",
            f"{inside.min():.4f}" if len(inside) else "",
            f"{inside.mean():.4f}" if len(inside) else "",
            str(worst.seed),
        )
    return table


def main() -> int:
    """Print the errors and the table; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", default=["dance", "drawer"], metavar="SCENARIO")
    parser.add_argument("--seeds", type=int, default=20, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="simultaneous runs")
    parser.add_argument("--mass", type=float, default=0.1, metavar="F")
    parser.add_argument("--friction", type=float, default=0.2, metavar="F")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="overrides")
    given = parser.parse_args()
    if given.seeds < 1 or given.jobs < 1:
        parser.error("--seeds and --jobs must be at least 1")
    overrides = [
        *given.overrides,
        f"variation.mass_fraction={given.mass}",
        f"variation.friction_fraction={given.friction}",
    ]
    try:
        for scenario in given.scenarios:
            load_scenario(scenario, overrides)
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    # Inherited by the processes of the runs; each has one core.
    os.environ["OMP_NUM_THREADS"] = "1"
    runs = [(scenario, seed) for scenario in given.scenarios for seed in range(given.seeds)]
    with progress_bars(Console(stderr=True)) as on_progress, ThreadPoolExecutor(given.jobs) as threads:
        waiting = [threads.submit(run_isolated, scenario, seed, overrides) for scenario, seed in runs]
        try:
            for number, _ in enumerate(as_completed(waiting), 1):
                on_progress("runs", number, len(runs))
        finally:
            # An interruption ends the running processes; waiting runs must not start.
            threads.shutdown(cancel_futures=True)
    outcomes = [run.result() for run in waiting]
    for outcome in outcomes:
        if outcome.error:
            print(f"{outcome.scenario}, seed {outcome.seed}: {outcome.error}", file=sys.stderr)
    Console().print(survival_table(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
