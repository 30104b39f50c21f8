"""Compare the control laws of PUMA 560 in every scenario that it ships with; the gallery shows the result.

python scripts/studies/puma560_laws.py [--jobs N] [--out docs/gallery/results/puma560_laws.json]
"""

import argparse
import json
import os
import tempfile
from contextlib import closing
from pathlib import Path

from simbench.errors import RunError
from simbench.runs.execution import run_isolated
from simbench.runs.isolated_runs import run_once
from simbench.runs.metric_catalogue import Metric
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import list_scenarios

LAWS = {
    "PD alone": ("control.law=pd", "control.feedforward=none"),
    "PD + gravity": ("control.law=pd", "control.feedforward=gravity"),
    "PD + inverse dynamics": ("control.law=pd", "control.feedforward=inverse_dynamics"),
    "computed torque": ("control.law=computed_torque",),
}
METRICS = ("tracking.rms_rad", "hands.rms_m")
DIGITS = 6
"""Significant digits of a value in the file, as in a baseline."""


def main() -> None:
    """Run every scenario with every law, and write the errors."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, metavar="N")
    parser.add_argument("--out", type=Path, default=Path("docs/gallery/results/puma560_laws.json"))
    options = parser.parse_args()
    names = [name for name in list_scenarios() if load_scenario(name).robot.name == "puma560"]
    pairs = [(name, law) for name in names for law in LAWS]
    results: dict[str, dict[str, dict[str, Metric]]] = {name: {law: {} for law in LAWS} for name in names}
    with tempfile.TemporaryDirectory() as folder:
        work = [
            (load_scenario(name, LAWS[law]), Path(folder) / str(number))
            for number, (name, law) in enumerate(pairs)
        ]
        with closing(run_isolated(run_once, work, options.jobs)) as finished:
            for index, result in finished:
                name, law = pairs[index]
                if result.error:
                    raise RunError(f"{name}, {law}: {result.error}")
                metrics, _ = result.value
                results[name][law] = {
                    key: float(f"{metrics[key]:.{DIGITS}g}") for key in METRICS if key in metrics
                }
                print(f"{name}, {law}: {results[name][law]}", flush=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
