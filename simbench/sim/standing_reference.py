"""The reference of a robot that stands in a posture, and waits for pushes."""

import numpy as np
import pinocchio as pin
from scipy.interpolate import PPoly

from simbench.balance.ground_reaction import standing_torques
from simbench.balance.leg_ik import stand
from simbench.balance.sections import limb_sections
from simbench.options import PushSection, RobotSection, SimulationSection, end_of_pushes
from simbench.retargeting.reference.reference import Reference, Timeline, sample_motion
from simbench.robot.robot import Robot


def build_standing_reference(
    robot: Robot,
    section: RobotSection,
    settings: SimulationSection,
    push: PushSection | None,
    feedforward: str,
) -> Timeline:
    """Build the constant reference of a robot that stands in a posture, until the last push is over.

    Feed-forward torques are those of standing still, or `none`.
    """
    limb_sections(robot)
    stance = stand(robot, section.position_m, section.heading_rad, section.posture, section.height_m or 0.0)
    duration = end_of_pushes(push) if push else 0.0
    # A constant joint curve: the motion consists of waiting for the pushes.
    sampled = sample_motion(PPoly(stance.joints[None, None], [0.0, 1.0]), settings, duration)
    steps, joints = len(sampled.clock), stance.joints
    torque = np.zeros((1, len(joints)))
    if feedforward != "none":
        torque = standing_torques(robot, np.zeros(1), stance.base[None], joints[None], inertia=False)
    grip = np.zeros((steps, len(robot.hands)), dtype=bool)
    torque = np.tile(torque, (steps, 1))
    reference = Reference(sampled.position, sampled.velocity, torque, sampled.acceleration, grip)
    cog = pin.centerOfMass(robot.model, robot.model.createData(), np.concatenate([stance.base, joints]))
    times = np.array([settings.settle_s, settings.settle_s + settings.hold_s + duration])
    base_path, zmp, cog = (np.tile(each, (steps, 1)) for each in (stance.base, stance.target, cog))
    still = np.zeros((steps, 3))
    return Timeline(reference, stance.base, settings.settle_s, times, None, base_path, zmp, cog, still)
