"""A study on a Dask cluster: one run for each combination of two keys, one row of a table for each run.

You learn to plan a sweep in Python, to run it on a cluster, and to continue one that was interrupted: start
this script again, and finished runs are not repeated. Needs dask.distributed and, for the table, pyarrow and
pandas. Arguments override values of the scenario.
"""

import sys
from pathlib import Path

import pandas as pd
from distributed import LocalCluster

from simbench.runs.execution.dask import dask_cluster
from simbench.runs.study.study import run_study
from simbench.runs.study.sweep import plan_sweep, run_varied, sweep_items

SCENARIO = "puma560_sweep"
VARY = ["control.law=pd,computed_torque", "motion.task.speed_rad_s=0.5,1.0"]
OUT = Path("runs/10_study")


def main() -> None:
    """Run the study and print its table."""
    items = sweep_items(plan_sweep(SCENARIO, VARY, sys.argv[1:]))
    # In the place of a LocalCluster, give `dask_cluster` the address of your scheduler.
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        dask_cluster(cluster.scheduler_address) as execute,
    ):
        rows = run_study(run_varied, items, OUT, execute=execute)
    print(f"{len(rows)} runs, {sum(bool(row.error) for row in rows)} failed")
    table = pd.read_parquet(OUT / "table.parquet")
    columns = [text.split("=")[0] for text in VARY]
    print(table[[*columns, "tracking.rms_rad", "limits.speed_ratio", "checks_hold"]].to_string(index=False))


# Dask starts its workers by importing this script.
if __name__ == "__main__":
    main()
