"""How much does each scenario amplify a difference as small as rounding, and when?

python scripts/studies/amplification.py [SCENARIO ...] [--engines NAME,...] [--jobs N] [--json FILE]
    [--table FILE]

Runs each scenario, by default every shipped one, once as it is and once with a difference of 1e-12 in each
part of the way from a recording to a motion:

recording   joint centres and segments, m and rad; from here on also the plan differs;
state       the robot's place and heading at the start, m and rad;
controller  the demand of the control law at every step, as a fraction;
engine      masses, inertias and the floor's friction, as a fraction.

The amplification at a time is the greatest difference of joint positions and base, rad, m and parts of a
quaternion, over 1e-12. That of the plan compares the planned joint positions. Exit status 1 if a run fails.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import simbench.sim.loop as loop
from simbench.cli.console import progress_bars
from simbench.motion.trajectory import ROUNDING
from simbench.runs.execution import run_isolated
from simbench.runs.log import open_run
from simbench.runs.regression import perturb_scenario
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

KINDS = ("as it is", "recording", "state", "controller", "engine")
PARTS = ("plan", *KINDS[1:])
SAMPLES = ("joint_position", "base_pose")


def disturb_controller(seed: int) -> None:
    """Let every controller that is made from now on in this process demand a little more or less."""
    make = loop.make_controller
    draw = np.random.default_rng(seed)

    def make_disturbed(*arguments: Any) -> Any:
        controller = make(*arguments)
        exact = controller.demand

        def demand(*reference: Any) -> Any:
            rows = exact(*reference)
            return rows * (1.0 + ROUNDING * draw.standard_normal(rows.shape))

        controller.demand = demand
        return controller

    loop.make_controller = make_disturbed


def run_disturbed(name: str, overrides: Sequence[str], kind: str, folder: Path) -> dict[str, Any]:
    """Run a scenario with one kind of difference; return its times, positions and planned positions."""
    from simbench.runs.pipeline import run_scenario

    scenario = load_scenario(name, list(overrides))
    moved = perturb_scenario(scenario, 1)
    if kind == "recording":
        scenario = scenario.model_copy(update={"variation": moved.variation})
    elif kind == "state":
        scenario = scenario.model_copy(update={"robot": moved.robot})
    elif kind == "controller":
        disturb_controller(1)
    elif kind == "engine":
        fractions = {"mass_fraction": ROUNDING, "friction_fraction": ROUNDING}
        variation = scenario.variation.model_copy(update=fractions)
        scenario = scenario.model_copy(update={"variation": variation})
    run_scenario(scenario, folder, on_progress=False)
    log = open_run(folder)
    count = log.sizes["time"]
    positions = np.concatenate([log[each].values.reshape(count, -1) for each in SAMPLES], axis=1)
    return {
        "time": log["time"].values.tolist(),
        "positions": positions.tolist(),
        "planned": log["joint_reference"].values.reshape(count, -1).tolist(),
        "names": [*log["joint"].values.astype(str).tolist(), *(f"base {k}" for k in range(7))],
    }


def measure(
    names: Sequence[str], engines: Sequence[str], jobs: int
) -> tuple[list[dict[str, Any]], list[str]]:
    """Run the scenarios in the engines; return a row of curves for each, the worst first, and failures."""
    rows, failures = [], []
    cases = [(name, engine) for engine in engines for name in names]
    with tempfile.TemporaryDirectory(dir="/dev/shm") as temporary:
        work = [
            (
                name,
                [f"simulation.engine={engine}"],
                kind,
                Path(temporary) / str(number) / kind.replace(" ", "_"),
            )
            for number, (name, engine) in enumerate(cases)
            for kind in KINDS
        ]
        results: dict[int, dict[str, Any]] = {}
        with (
            progress_bars(Console(stderr=True)) as on_progress,
            closing(run_isolated(run_disturbed, work, jobs)) as finished,
        ):
            for done, (index, result) in enumerate(finished, 1):
                on_progress("runs", done, len(work))
                if result.error:
                    failures.append(f"{cases[index // len(KINDS)]}, {work[index][2]}: {result.error}")
                else:
                    results[index] = result.value
    for number, (name, engine) in enumerate(cases):
        found = [results.get(number * len(KINDS) + kind) for kind in range(len(KINDS))]
        exact = found[0]
        if exact is None:
            continue
        row: dict[str, Any] = {"scenario": name, "in": engine, "time": exact["time"]}
        for kind, other in zip(KINDS[1:], found[1:], strict=True):
            if other is None:
                continue
            shared = min(len(exact["time"]), len(other["time"]))
            off = np.abs(np.subtract(exact["positions"][:shared], other["positions"][:shared])) / ROUNDING
            row[kind] = np.nanmax(off, axis=1).tolist()
            row[f"{kind}: joint"] = exact["names"][int(np.nanmax(off, axis=0).argmax())]
            if kind == "recording":
                planned = np.abs(np.subtract(exact["planned"][:shared], other["planned"][:shared]))
                row["plan"] = (np.nanmax(planned, axis=1) / ROUNDING).tolist()
        rows.append(row)
    rows.sort(key=lambda each: -max(max(each.get(kind, [0.0])) for kind in PARTS))
    return rows, failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scenarios and print the amplification of each, the worst first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--engines", default="bullet,mujoco", metavar="NAME,...")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the curves")
    parser.add_argument("--table", type=Path, metavar="FILE", help="write the table for the documentation")
    given = parser.parse_args(arguments)
    rows, failures = measure(given.scenarios or list_scenarios(), given.engines.split(","), given.jobs)
    heads = ["scenario", "engine", *PARTS, "over 1000 from", "where"]
    lines = []
    for row in rows:
        time = np.array(row["time"])
        curves = {part: np.array(row[part]) for part in PARTS if part in row}
        worst = max(curves, key=lambda part: curves[part].max())
        over = [time[: len(curve)][curve > 1e3][0] for curve in curves.values() if (curve > 1e3).any()]
        start = f"{min(over):.2f} s" if over else ""
        peaks = [f"{curves[part].max():.1e}" if part in curves else "" for part in PARTS]
        joint = str(row.get(f"{'recording' if worst == 'plan' else worst}: joint", ""))
        lines.append([row["scenario"], row["in"], *peaks, start, joint if over else ""])
    if given.json:
        given.json.write_text(json.dumps(rows))
    if given.table:
        given.table.write_text(json.dumps({"heads": heads, "rows": lines}, indent=1) + "\n")
    table = Table(*heads, box=None)
    for line in lines:
        table.add_row(*line)
    Console(width=200).print(table)
    for line in failures:
        print(line)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
