"""A robot that keeps a posture, standing on its feet."""

import numpy as np
import pinocchio as pin

from simbench.balance.controller.sections import limb_sections
from simbench.balance.standing.ground_reaction import standing_torques
from simbench.balance.standing.standing import stand
from simbench.options import PushSection, RobotSection, SimulationSection, end_of_pushes
from simbench.retargeting.reference.reference import Reference, Timeline
from simbench.robot.robot import Robot


def still_timeline(
    robot: Robot,
    place: RobotSection,
    settings: SimulationSection,
    push: PushSection | None,
    feedforward: str,
) -> Timeline:
    """Build the reference of standing in a posture, until the last push is over.

    Parameters
    ----------
    robot : Robot
        With two legs.
    place : RobotSection
    settings : SimulationSection
    push : PushSection or None
    feedforward : str
        As in `ControlSection`.

    Returns
    -------
    Timeline

    Raises
    ------
    BalanceError
        If the robot has no two legs.
    RobotError, RetargetError
        As `stand`.
    """
    limb_sections(robot)
    stance = stand(robot, place.position_m, place.heading_rad, place.posture, place.height_m)
    end = settings.settle_s + settings.hold_s + (end_of_pushes(push) if push else 0.0)
    steps = max(1, round(end / settings.timestep_s))
    torque = np.zeros((1, len(stance.joints)))
    if feedforward != "none":
        torque = standing_torques(robot, np.zeros(1), stance.base[None], stance.joints[None], inertia=False)
    rest = np.zeros((steps, len(stance.joints)))
    reference = Reference(
        position=np.tile(stance.joints, (steps, 1)),
        velocity=rest,
        feedforward=np.tile(torque, (steps, 1)),
        acceleration=rest.copy(),
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
