"""Imitate a person frame by frame, as frames arrive from a motion-capture system, and time each call.

You learn the streaming interface: make an `ImitationStream` from a recording of the person, then give the
joints and segments of each frame to `follow`. Another recording and another robot can be given as arguments.
"""

import sys
import time
from pathlib import Path

import numpy as np

import simbench
from simbench.retargeting.body_errors import compare_with_person, summarise_errors

SOURCE = sys.argv[1] if len(sys.argv) > 1 else "deepmimic:humanoid3d_walk"
ROBOT = sys.argv[2] if len(sys.argv) > 2 else "mahru"
OUT = Path("runs/04_joints.csv")

person = simbench.read_motion(SOURCE)
stream = simbench.ImitationStream(ROBOT, person)

bases, joints, durations = [], [], []
for sample, moment in enumerate(person.time):
    # What a motion-capture system sends for one frame.
    points = {name: track[sample] for name, track in person.joints.items()}
    poses = {name: track[sample] for name, track in person.segments.items()}
    begin = time.perf_counter()
    base, posture = stream.follow(moment, points, poses)
    durations.append(time.perf_counter() - begin)
    bases.append(base)
    joints.append(posture)

trajectory = simbench.JointTrajectory(
    person.time, np.array(joints), stream.robot.joint_names, np.array(bases)
)
print(f"{len(joints)} frames of {len(posture)} joints and a free root")
for error in summarise_errors(compare_with_person(stream.robot, trajectory, person)):
    if error.unit == "rad":
        print(
            f"{error.quantity}: mean {np.degrees(error.mean):.1f}°, maximum {np.degrees(error.maximum):.1f}°"
        )
print(f"time per frame: median {1e3 * np.median(durations):.1f} ms of {1e3 / person.rate:.1f} ms")
OUT.parent.mkdir(exist_ok=True)
np.savetxt(OUT, np.column_stack([person.time, bases, joints]), delimiter=",", fmt="%.6f")
