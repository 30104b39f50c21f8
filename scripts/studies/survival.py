"""Does a robot stay up when its masses and the floor's friction differ from those that its plan assumes?

python scripts/studies/survival.py [SCENARIO ...] [--seeds N] [--jobs N] [--mass F] [--friction F]
                           [--set KEY=VALUE]...

Runs each scenario with the seeds 0 to N - 1, links' masses drawn from 1 ± mass and the floor's friction from
1 ± friction, and counts the runs that did not fall and those whose checks hold. The seed also drives a
virtual actor's motion, so that such a scenario has another performance each time; a recorded motion stays the
same. An error that ends a run is printed, and the run counts as neither survived nor holding its checks.
Nothing is kept but the table; `simbench sweep --vary seed=...` runs the same as a study that can be resumed.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from simbench.cli.console import progress_bars
from simbench.errors import SimbenchError
from simbench.runs.execution import JobResult, run_isolated
from simbench.runs.scenario.schema import Scenario
from simbench.runs.scenario_sweep import CHECKS_HOLD, plan_sweep, run_varied


@dataclass(frozen=True)
class Outcome:
    """Outcome of one run; `inside` is its `zmp.inside_fraction`, NaN where there is none."""

    scenario: str
    seed: int
    survived: bool
    checks_held: bool
    inside: float
    error: str = ""


def run_seeds(
    runs: Sequence[Scenario], jobs: int, on_progress: Callable[[str, int, int], None]
) -> list[Outcome]:
    """Run scenarios whose seed varies, each run in a process of its own, and keep only the outcomes."""
    outcomes: dict[int, Outcome] = {}
    with closing(run_isolated(run_varied, [(scenario, None) for scenario in runs], jobs)) as results:
        for index, result in results:
            outcomes[index] = _outcome(runs[index].name, runs[index].seed, result)
            on_progress("runs", len(outcomes), len(runs))
    return [outcomes[index] for index in range(len(runs))]


def _outcome(scenario: str, seed: int, result: JobResult) -> Outcome:
    if result.error:
        return Outcome(scenario, seed, False, False, float("nan"), result.error)
    inside = result.value.get("zmp.inside_fraction")
    return Outcome(
        scenario,
        seed,
        survived=not result.value.get("fell", False),
        checks_held=result.value[CHECKS_HOLD],
        inside=float("nan") if inside is None else inside,
    )


def survival_table(outcomes: Sequence[Outcome]) -> Table:
    """Count outcomes in a row for each scenario, whose worst seed fell or has the least ZMP inside."""
    table = Table("scenario", "survived", "checks held", "ZMP inside, least", "mean", "worst seed")
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
        seeds = f"seed=0..{given.seeds - 1}"
        runs = [run for scenario in given.scenarios for run in plan_sweep(scenario, [seeds], overrides)[3]]
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    with progress_bars(Console(stderr=True)) as on_progress:
        outcomes = run_seeds(runs, given.jobs, on_progress)
    for outcome in outcomes:
        if outcome.error:
            print(f"{outcome.scenario}, seed {outcome.seed}: {outcome.error}", file=sys.stderr)
    Console().print(survival_table(outcomes))
    return 0


if __name__ == "__main__":
    sys.exit(main())
