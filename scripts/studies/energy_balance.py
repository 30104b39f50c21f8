"""The energy balance of scenarios in both engines: works summed up at every physics step, and what is left.

python scripts/studies/energy_balance.py [--scenarios NAME ...] [--engines NAME ...] [--timestep SECONDS]
    [--out FILE.json]

With half the time step the residual, an error of the integration, halves. Scenarios are drawer, mahru_walk,
g1_walk and puma560_valves by default. --out writes the table of docs/concepts/simulation.md.
"""

import argparse
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from simbench.runs.metrics import WORKS
from simbench.runs.pipeline import run_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.sim.engine import ENGINES

SCENARIOS = ("drawer", "mahru_walk", "g1_walk", "puma560_valves")
HEADS = [
    "scenario",
    "engine",
    *(f"{name.replace('_', ', ')}, J" for name in WORKS),
    "largest residual / absolute work",
]


def balance_row(name: str, engine: str, metrics: Mapping[str, Any]) -> list[str]:
    """Write a row of the table: works and residual at the end, J, and the largest residual as a fraction."""
    works = [f"{metrics[f'energy.{each}_j']:.4g}" for each in WORKS]
    return [name, engine, *works, f"{100.0 * metrics['energy.residual_fraction']:.4f} %"]


def main() -> None:
    """Run the scenarios and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenarios", nargs="+", default=SCENARIOS, metavar="NAME")
    parser.add_argument(
        "--engines", nargs="+", default=sorted(ENGINES), metavar="NAME", choices=sorted(ENGINES)
    )
    parser.add_argument("--timestep", type=float, default=1e-3, metavar="SECONDS")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="also write the table for the docs")
    given = parser.parse_args()
    table, rows = Table(*HEADS, box=None), []
    for name in given.scenarios:
        for engine in given.engines:
            settings = [f"simulation.engine={engine}", f"simulation.timestep_s={given.timestep}"]
            with tempfile.TemporaryDirectory() as folder:
                metrics = run_scenario(load_scenario(name, settings), Path(folder) / "run").metrics
            rows.append(balance_row(name, engine, metrics))
            table.add_row(*rows[-1])
    if given.out is not None:
        content = {"heads": HEADS, "rows": rows}
        given.out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    Console(width=220).print(table)


if __name__ == "__main__":
    main()
