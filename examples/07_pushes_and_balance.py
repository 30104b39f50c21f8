"""Push ROMEO with and without balance control, and compare with the linear inverted pendulum.

You learn to set up pushes and to read COG, forces and support from the log. Arguments override values of the
scenario `push`: python examples/07_pushes_and_balance.py push.first_ns=14
"""

import sys
from pathlib import Path

import numpy as np

from simbench import load_scenario, open_run, run_scenario
from simbench.runs.video import render_strip

PUSH = ["push.first_ns=18", "push.count=1", "push.interval_s=3", *sys.argv[1:]]
OUT = Path("runs/07_push")

for control in (True, False):
    run = OUT / ("controlled" if control else "plan_alone")
    scenario = load_scenario("push", [*PUSH, f"balance.control={str(control).lower()}"])
    result = run_scenario(scenario, run)
    log = open_run(run)
    print(f"{run.name}: {'falls' if result.metrics['fell'] else 'stands'}")

    # Impulse and momentum along x until the push ends: what the push gave, and what the ground took of it.
    pushed = log.push_wrench.sel(axis6="fx")
    end = float(log.time[pushed > 0.0][-1]) + 0.01
    until = log.sel(time=slice(None, end))
    ground = until.foot_wrench.sel(axis6="fx").sum("foot").integrate("time")
    momentum = log.attrs["mass_kg"] * float(until.cog_velocity.sel(xyz="x")[-1])
    print(f"  push {float(pushed.integrate('time')):.2f} N·s, ground {float(ground):.2f} N·s")
    print(f"  momentum after the push {momentum:.2f} kg m/s")

    # The point over which an inverted pendulum of this speed comes to rest: x + v sqrt(z / g).
    x, _, z = until.cog.values[-1]
    capture = x + momentum / log.attrs["mass_kg"] * np.sqrt(z / log.attrs["gravity_m_s2"])
    toes = float(until.support_polygon.sel(xy="x")[-1].max())
    print(f"  capture point {1000 * (toes - capture):.0f} mm behind the toes")
    moments = np.clip([end - 0.1, end, end + 0.6, end + 1.2], 0.0, float(log.time[-1]))
    render_strip(run, OUT / f"{run.name}.png", moments, width=240, height=300)
