"""Read a recording of a walk from markers in a C3D file, and measure the gait: bones, speed, strides.

You learn what a `HumanMotion` holds: joint centres and segment frames in metres, z up, whatever the file's
format. Another recording can be given: python examples/02_read_a_recording.py my_walk.trc
"""

import sys
from pathlib import Path

import numpy as np
from scipy.signal import find_peaks

from simbench import read_motion
from simbench.motion.motion_inspection import inspect_motion
from simbench.motion.skeleton_plot import plot_recording

SOURCE = sys.argv[1] if len(sys.argv) > 1 else "sample:walk"
OUT = Path("runs")

motion = read_motion(SOURCE)
print(f"{motion.source}: {len(motion.markers)} markers, {motion.time[-1]:.1f} s at {motion.rate:g} Hz")
print("joint centres:", ", ".join(motion.joints))

# Lengths of bones, as distances between joint centres: are they a person's, and the same on both sides?
for bone, (start, end) in {"upper arm": ("shoulder", "elbow"), "forearm": ("elbow", "wrist")}.items():
    for side in ("left", "right"):
        length = np.linalg.norm(motion.joints[f"{side}_{end}"] - motion.joints[f"{side}_{start}"], axis=1)
        print(f"{side} {bone}: {np.median(length):.3f} m")

# The pelvis moves forward, and up and down twice in a stride: it is highest when a leg is upright.
pelvis = motion.joints["pelvis"]
velocity = np.gradient(pelvis[:, :2], motion.time, axis=0)
speed = np.linalg.norm(velocity, axis=1)
steady = speed > 0.8 * speed.max()
peaks, _ = find_peaks(np.where(steady, pelvis[:, 2], -np.inf), distance=int(0.3 * motion.rate))
stride = 2.0 * float(np.diff(motion.time[peaks]).mean())
print(f"walking speed {speed[steady].mean():.2f} m/s, stride time {stride:.2f} s")
print(f"stride length {stride * speed[steady].mean():.2f} m")

inspection = inspect_motion(motion)
for phase in ("icp", "tgp", "pmp"):
    interval = getattr(inspection.phases, phase)
    print(phase.upper(), "not found" if interval is None else f"{interval[0]:.2f} to {interval[1]:.2f} s")
print("warnings:", "; ".join(inspection.warnings) or "none")
OUT.mkdir(exist_ok=True)
plot_recording(inspection, OUT / "02_walk.png")
