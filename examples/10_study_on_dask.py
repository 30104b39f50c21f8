"""A study on a Dask cluster: one run for each combination of two keys, one row of a table for each run.

You learn to plan a sweep in Python, to run it on a cluster and to continue it: start this script again, and
finished runs are not repeated. Needs dask.distributed, pandas and pyarrow. Other keys can be varied:

    python examples/10_study_on_dask.py control.law=pd,computed_torque motion.task.amplitude_rad=0.2,0.4
"""

import sys
from pathlib import Path

import pandas as pd
from distributed import LocalCluster

from simbench.runs.execution import dask_cluster
from simbench.runs.scenario_sweep import plan_sweep, run_varied, sweep_items
from simbench.runs.study import run_study, study_key

SCENARIO = "puma560_sweep"
VARY = sys.argv[1:] or ["control.law=pd,computed_torque", "motion.task.speed_rad_s=0.5,1.0"]

items = sweep_items(plan_sweep(SCENARIO, VARY))
folder = Path("runs") / f"10_study-{study_key(run_varied, items)}"  # other arguments, another folder

# A cluster in this process, with two threads: every run is a process of its own, on any cluster.
with (
    LocalCluster(n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None) as cluster,
    dask_cluster(cluster.scheduler_address) as execute,
):
    rows = run_study(run_varied, items, folder, execute=execute)

print(f"{len(rows)} runs, {sum(bool(row.error) for row in rows)} failed: {folder}")
table = pd.read_parquet(folder / "table.parquet")
varied = [text.partition("=")[0] for text in VARY]
print(table[[*varied, "tracking.rms_rad", "limits.speed_ratio", "checks_hold"]].to_string(index=False))
