"""Calibrate the dynamics of an arm from its motions alone: move it in simulation, estimate, compare.

You learn which parameters motions determine, and with what uncertainty. The arm has two joints in a
horizontal plane, driven by τ = k_p (θ* - θ) + k_v θ̇; no torque is measured. It only prints a table; other
noise of the angles, in rad, can be given: python examples/09_calibrate_an_arm.py 1e-3
"""

import sys
from dataclasses import replace

import numpy as np

from simbench import load_robot
from simbench.calibration.arm_recording import Feedback
from simbench.calibration.dynamic_calibration import calibrate_dynamics
from simbench.dynamics.arm import parameter_vector, read_arm
from simbench.sim.driven_arm import drive_arm

LAW = Feedback(position=9.5, velocity=-9.5)
TARGETS = ((1.0, -1.2), (-1.5, 0.8))  # rad, from both joints at 0
NOISE = float(sys.argv[1]) if len(sys.argv) > 1 else 1e-4  # of the angles, rad; of the velocities, rad/s

rng = np.random.default_rng(0)
robot, motions = load_robot("direct_drive_arm"), []
for target in TARGETS:
    motion = drive_arm(robot, LAW, start=(0.0, 0.0), target=target, timestep=0.002, steps=1000)
    errors = NOISE * rng.normal(size=(2, *motion.q.shape))
    motions.append(replace(motion, q=motion.q + errors[0], velocity=motion.velocity + errors[1]))

# The motors' inertia, which the arm does not have, is estimated too: it is where a k_a would show.
arm = replace(read_arm("direct_drive_arm"), motor=np.full(2, 1e-12))
found = calibrate_dynamics(arm, motions, LAW)

# Only some combinations of masses, lengths and inertias have an effect on the motion: the base parameters.
true = found.base.regroup @ parameter_vector(arm)
print(f"{'parameter, SI units':42} {'true':>9} {'found':>9} {'deviation':>10}")
for name, *numbers in zip(found.base.names, true, found.values, found.deviations, strict=True):
    print(f"{name:42} {numbers[0]:9.5f} {numbers[1]:9.5f} {numbers[2]:10.5f}")
print("torque that is left over, N·m RMS:", np.array2string(found.residual, precision=4))
print("not determined by these motions:", ", ".join(found.unidentifiable) or "none")
