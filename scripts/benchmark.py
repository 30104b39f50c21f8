"""Measure speed as ratios within one run: what control, sensing and logging add to the bare physics step.

python scripts/benchmark.py [--repeat N]
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from simbench.pipeline import run_scenario
from simbench.scenario import load_scenario


def measure(name: str, repeat: int) -> tuple[np.ndarray, np.ndarray]:
    """Run a scenario `repeat` times without video.

    Returns
    -------
    overhead : (repeat,) array
        Duration of the whole 1 kHz loop over that of its `stepSimulation` calls alone.
    pace : (repeat,) array
        Simulated time over wall time.
    """
    overhead, pace = [], []
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            metrics = run_scenario(load_scenario(name), Path(folder) / "run").metrics
        overhead.append(metrics["timing.step_overhead"])
        pace.append(metrics["timing.realtime_factor"])
    return np.array(overhead), np.array(pace)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs of each scenario")
    repeat = parser.parse_args().repeat
    table = Table("scenario", "loop / bare step, best", "median", "simulated / wall time, best")
    for name in ("drawer", "dance"):
        overhead, pace = measure(name, repeat)
        table.add_row(name, f"{overhead.min():.2f}", f"{np.median(overhead):.2f}", f"{pace.max():.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
