"""Retarget a BVH file to ROMEO: measure how well it follows the person, and find what limits it.

You learn to read the errors of an imitation and the use of each joint, and to write a trajectory for your own
robot's controller. Another recording can be given: python examples/03_bvh_onto_romeo.py my_recording.bvh
"""

import sys
from pathlib import Path

import numpy as np

from simbench import retarget_motion
from simbench.motion.trajectory_files.joint_order import joint_units, joint_uses
from simbench.motion.trajectory_files.native import write_trajectory
from simbench.retargeting.body_errors import summarise_errors
from simbench.retargeting.imitation.imitation import imitation_errors, summarise
from simbench.runs.plots.retargeting_plot import draw_retargeting

SOURCE = sys.argv[1] if len(sys.argv) > 1 else "sample:wave"
OUT = Path("runs")

made = retarget_motion(SOURCE, "romeo", physics="stand", free=True)
print(f"{made.motion.source}, {made.motion.time[-1]:.1f} s, onto {made.robot.name}")

# The robot, inside its limits, against the person: directions of its bones, and where its wrists are.
UNITS = {"m": (1000.0, "mm"), "rad": (np.degrees(1.0), "degrees"), "": (100.0, "% of the arm")}
for summary in summarise_errors(made.plan.errors):
    scale, unit = UNITS[summary.unit]
    mean, largest = scale * summary.mean, scale * summary.maximum
    print(f"robot's {summary.quantity:16} mean {mean:6.2f}  max {largest:6.2f} {unit}")

# A model of ROMEO with the person's lengths, without limits, against the recording: was the file understood?
errors = imitation_errors(made.plan.imitation, made.motion)
for summary in summarise(errors):
    scale, unit = (1000.0, "mm") if summary.unit == "m" else (np.degrees(1.0), "degrees")
    print(
        f"{summary.quantity:22} mean {scale * summary.mean:6.2f}  max {scale * summary.maximum:6.2f} {unit}"
    )

# The joints against their limits: at the tempo of the person, amplitude gives way where a joint is too slow.
trajectory = made.plan.trajectory
print(f"slowed down by {made.plan.metrics['retarget.slow_down']:.2f}: {trajectory.time[-1]:.1f} s")
uses = [use for use in joint_uses(made.robot, trajectory) if use.highest > use.lowest]
fastest = max(uses, key=lambda use: use.speed / use.speed_limit)
nearest = min(uses, key=lambda use: use.clearance)
print(f"fastest joint: {fastest.name}, {fastest.speed / fastest.speed_limit:.0%} of its limit")
print(f"joint nearest to a limit: {nearest.name}, {np.degrees(nearest.clearance):.1f} degrees")

OUT.mkdir(exist_ok=True)
write_trajectory(trajectory, OUT / "03_romeo.csv", joint_units(made.robot), {})
draw_retargeting(made, errors, OUT / "03_romeo.png")
