"""Bring your own robot: a URDF and a robot.yaml. Check its numbers, then compare four controllers on it.

You learn to load a robot, to use its Pinocchio model, and to run a scenario on it. Write the example arm
first: `simbench samples .` Arguments override values of the scenario `puma560_sweep`:

    python examples/05_bring_your_urdf.py motion.task.amplitude_rad=0.3
"""

import sys
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench import load_robot, load_scenario, run_scenario

ROBOT = "my_arm/robot.yaml"
CONTROLLERS = {
    "PD alone": ("control.law=pd", "control.feedforward=none"),
    "PD and gravity": ("control.law=pd", "control.feedforward=gravity"),
    "PD and inverse dynamics": ("control.law=pd", "control.feedforward=inverse_dynamics"),
    "computed torque": ("control.law=computed_torque",),
}

robot = load_robot(ROBOT)
print(f"{robot.name}: {len(robot.joint_names)} joints, {pin.computeTotalMass(robot.model):.1f} kg move")
upright = pin.computeGeneralizedGravity(robot.model, robot.model.createData(), pin.neutral(robot.model))
print("gravity torques with all joints at zero, N·m:", np.round(upright, 2) + 0.0)

for name, control in CONTROLLERS.items():
    out = Path("runs/05_my_arm") / name.replace(" ", "_")
    scenario = load_scenario("puma560_sweep", [f"robot.name={ROBOT}", *control, *sys.argv[1:]])
    metrics = run_scenario(scenario, out).metrics
    error, torque = metrics["tracking.rms_rad"], metrics["limits.torque_ratio"]
    print(f"{name:24} tracking {1000 * error:6.3f} mrad RMS, torque at most {torque:.0%} of its limit")
