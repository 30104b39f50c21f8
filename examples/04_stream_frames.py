"""Imitate a person frame by frame, as frames arrive from a motion-capture system, and time each call.

You learn the streaming interface: calibrate once, then give each frame's points and orientations to
`follow_frames`, which keeps ROMEO's joint limits. Another recording can be given as an argument.
"""

import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench import calibrate, follow_frames, imitation_targets, load_robot, read_motion, start_imitation

SOURCE = sys.argv[1] if len(sys.argv) > 1 else "sample:wave"
OUT = Path("runs/04_joints.csv")

motion = read_motion(SOURCE)
actor = calibrate(
    load_robot("romeo"), motion
)  # ROMEO's skeleton at the person's size, from the first posture
stream = start_imitation(actor, motion, limited=True)
points, orientations = imitation_targets(actor, motion, stream.weights)

follow_frames(stream, points[:1], orientations[:1])  # compiles
configurations, durations = [], []
for sample in range(len(motion.time)):
    begin = time.perf_counter()
    q, cost = follow_frames(stream, points[sample, None], orientations[sample, None])
    durations.append(time.perf_counter() - begin)
    configurations.append(q[0])

# Distance of the model's wrists from the recorded ones, by forward kinematics with Pinocchio.
model, data, errors = actor.model, actor.model.createData(), []
for sample, q in enumerate(configurations):
    pin.forwardKinematics(model, data, q)
    pin.updateFramePlacements(model, data)
    for side in ("left", "right"):
        wrist = data.oMf[actor.joints[f"{side}_wrist"]].translation
        errors.append(np.linalg.norm(wrist - motion.joints[f"{side}_wrist"][sample]))
print(f"{len(configurations)} frames of {model.nq} coordinates")
print(f"wrist error: mean {1000 * np.mean(errors):.2f} mm, maximum {1000 * np.max(errors):.2f} mm")
print(f"time per frame: median {1e6 * np.median(durations):.0f} µs of {1e6 / motion.rate:.0f} µs")
OUT.parent.mkdir(exist_ok=True)
np.savetxt(OUT, np.column_stack([motion.time, configurations]), delimiter=",", fmt="%.6f")
