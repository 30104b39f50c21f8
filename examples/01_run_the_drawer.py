"""Run a shipped scenario: ROMEO opens and closes a drawer. Read its metrics, its checks and its log.

You learn what `load_scenario`, `run_scenario` and `open_run` give. Arguments override values of the scenario:

    python examples/01_run_the_drawer.py motion.task.repetitions=1 fixtures.0.mass_kg=5
"""

import sys
from pathlib import Path

from simbench import load_scenario, open_run, run_scenario
from simbench.runs.video import render_strip

OUT = Path("runs/01_drawer")

scenario = load_scenario("drawer", sys.argv[1:])
result = run_scenario(scenario, OUT)

print(f"{scenario.robot.name} pulls {scenario.fixtures[0].mass_kg:g} kg")
for name in (
    "drawer.travel_ratio",
    "hands.rms_m",
    "tracking.rms_rad",
    "zmp.min_margin_m",
    "grip.max_force_n",
):
    print(f"{name:24} {result.metrics[name]:.4g}")
failed = [check.name for check in result.checks if not check.passed]
print(f"{len(result.checks)} checks, failed: {', '.join(failed) or 'none'}")

# The log is an xarray.Dataset: every variable has named dimensions and a unit.
log = open_run(OUT)
error = abs(log.joint_position - log.joint_reference).max("time")
print("largest joint errors, rad:", error.to_series().nlargest(3).round(4).to_dict())
travel, person = log.drawer_travel, log.drawer_travel_actor
print(f"the drawer is between {float(travel.min()):.3f} and {float(travel.max()):.3f} m open")
print(f"largest difference from the person's drawer: {1000 * float(abs(travel - person).max()):.1f} mm")

# Three moments: arms forward, drawer pulled furthest, end.
moments = [0.0, float(travel.idxmax()), float(log.time[-1])]
render_strip(OUT, OUT.with_suffix(".png"), moments, width=320, height=300, columns=3)
