"""Errors of the physics engines against closed forms, side by side, as the time step shrinks.

python scripts/studies/closed_forms.py [--engines NAME ...] [--steps SECONDS ...] [--out FILE.json]

Runs every scene of `closed_form_scenes`: free fall, a block that slides to rest and one
that lands obliquely, a pendulum, a spinning body, the inertia of a body on two wires, and loads a little
below and above what friction holds.
"""

import argparse
import json
from pathlib import Path

from closed_form_scenes import SCENES
from rich.console import Console
from rich.table import Table

from simbench.sim.engine import ENGINES


def main() -> None:
    """Print a table with a row for each quantity."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--engines", nargs="+", default=sorted(ENGINES), metavar="NAME", choices=sorted(ENGINES)
    )
    parser.add_argument(
        "--steps", nargs="+", type=float, default=[2e-3, 1e-3, 5e-4, 2.5e-4], metavar="SECONDS"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE.json", help="also write the table for the page on engines"
    )
    given = parser.parse_args()
    heads = ["quantity", "closed form"]
    heads += [f"{engine}, {1e3 * step:g} ms" for engine in given.engines for step in given.steps]
    rows: dict[str, list[str]] = {}
    for scene in SCENES.values():
        for engine in given.engines:
            for step in given.steps:
                for result in scene(engine, step):
                    row = rows.setdefault(result.quantity, [f"{result.expected:.6g} {result.unit}".strip()])
                    row.append(f"{result.error:.1e}")
    if given.out is not None:
        content = {"heads": heads, "rows": [[quantity, *cells] for quantity, cells in rows.items()]}
        given.out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    table = Table(*heads, box=None)
    for quantity, cells in rows.items():
        table.add_row(quantity, *cells)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
