"""The reference of a robot that keeps a posture, standing on its feet."""

import numpy as np
import pinocchio as pin
from scipy.interpolate import PPoly

from simbench.balance.controller.sections import limb_sections
from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.standing import stand
from simbench.options import PushSection, RobotSection, SimulationSection, end_of_pushes
from simbench.retargeting.reference.assembly import sample_motion
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.robot.robot import Robot


def build_standing_reference(
    robot: Robot,
    section: RobotSection,
    settings: SimulationSection,
    push: PushSection | None,
    feedforward: str,
) -> Timeline:
    """Build the reference of standing in a posture, until the last push is over.

    Parameters
    ----------
    robot : Robot
        Robot with two legs.
    section : RobotSection
        Base placement and posture.
    settings : SimulationSection
        Physics step, and times to settle and hold.
    push : PushSection or None
        Pushes on the robot, which prolong the reference.
    feedforward : str
        Feed-forward torque: `none`, or anything else for that of standing still, as in `ControlSection`.

    Returns
    -------
    Timeline
        Constant reference of joints, base, ZMP and COG.

    Raises
    ------
    BalanceError
        If the robot has no two legs.
    RobotError, RetargetError
        As `stand`.
    """
    limb_sections(robot)
    stance = stand(robot, section.position_m, section.heading_rad, section.posture, section.height_m or 0.0)
    duration = end_of_pushes(push) if push else 0.0
    end = settings.settle_s + settings.hold_s + duration
    # A constant joint curve: the motion consists of waiting for the pushes.
    curve = PPoly(stance.joints[None, None], [0.0, 1.0])
    sampled = sample_motion(curve, settings, duration)
    steps = len(sampled.clock)
    torque = np.zeros((1, len(stance.joints)))
    if feedforward != "none":
        torque = standing_torques(robot, np.zeros(1), stance.base[None], stance.joints[None], inertia=False)
    reference = Reference(
        position=sampled.position,
        velocity=sampled.velocity,
        feedforward=np.tile(torque, (steps, 1)),
        acceleration=sampled.acceleration,
        grip=np.zeros((steps, len(robot.hands)), dtype=bool),
    )
    cog = pin.centerOfMass(
        robot.model, robot.model.createData(), np.concatenate([stance.base, stance.joints])
    )
    return Timeline(
        reference,
        stance.base,
        settings.settle_s,
        np.array([settings.settle_s, end]),
        base_path=np.tile(stance.base, (steps, 1)),
        zmp=np.tile(stance.target, (steps, 1)),
        cog=np.tile(cog, (steps, 1)),
        cog_velocity=np.zeros((steps, 3)),
    )
