"""How much does each scenario amplify a difference as small as rounding, and when?

python scripts/studies/amplification.py [SCENARIO ...] [--engine NAME] [--jobs N] [--json FILE]

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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the scenarios and print the amplification of each, the worst first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--engine", default="bullet", metavar="NAME")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the curves")
    given = parser.parse_args(arguments)
    overrides = [f"simulation.engine={given.engine}"]
    names = given.scenarios or list_scenarios()
    rows, failures = [], []
    with tempfile.TemporaryDirectory(dir="/dev/shm") as temporary:
        work = [
            (name, overrides, kind, Path(temporary) / f"{name}-{kind}".replace(" ", "-"))
            for name in names
            for kind in KINDS
        ]
        results: dict[tuple[str, str], dict[str, Any]] = {}
        with (
            progress_bars(Console(stderr=True)) as on_progress,
            closing(run_isolated(run_disturbed, work, given.jobs)) as finished,
        ):
            for done, (index, result) in enumerate(finished, 1):
                on_progress("runs", done, len(work))
                name, _, kind, _ = work[index]
                if result.error:
                    failures.append(f"{name}, {kind}: {result.error}")
                else:
                    results[name, kind] = result.value
    for name in names:
        exact = results.get((name, KINDS[0]))
        if exact is None:
            continue
        row: dict[str, Any] = {"scenario": name, "time": exact["time"]}
        for kind in KINDS[1:]:
            if (name, kind) not in results:
                continue
            other = results[name, kind]
            shared = min(len(exact["time"]), len(other["time"]))
            off = (
                np.abs(np.array(exact["positions"][:shared]) - np.array(other["positions"][:shared]))
                / ROUNDING
            )
            row[kind] = np.nanmax(off, axis=1).tolist()
            row[f"{kind}: joint"] = exact["names"][int(np.nanmax(off, axis=0).argmax())]
            if kind == "recording":
                planned = np.abs(np.array(exact["planned"][:shared]) - np.array(other["planned"][:shared]))
                row["plan"] = (np.nanmax(planned, axis=1) / ROUNDING).tolist()
        rows.append(row)
    rows.sort(key=lambda each: -max(max(each.get(kind, [0.0])) for kind in KINDS[1:]))
    table = Table("scenario", "plan", *KINDS[1:], "over 1e3 from", "worst", box=None)
    for row in rows:
        time = np.array(row["time"])
        curves = {kind: np.array(row[kind]) for kind in ("plan", *KINDS[1:]) if kind in row}
        peaks = [f"{curve.max():.1e}" for curve in curves.values()]
        over = [
            f"{kind} {time[: len(curve)][curve > 1e3][0]:.2f}"
            for kind, curve in curves.items()
            if (curve > 1e3).any()
        ]
        worst = max(curves, key=lambda kind: curves[kind].max())
        table.add_row(row["scenario"], *peaks, ", ".join(over), str(row.get(f"{worst}: joint", "")))
    Console(width=200).print(table)
    for line in failures:
        print(line)
    if given.json:
        given.json.write_text(json.dumps(rows))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
