"""The camera of a scenario that does not place it: as far away as the robot is tall."""

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.options import CameraSection
from simbench.robot.robot import Robot

_TALL = 1.3
"""Height of the highest frame of a robot as tall as a person above its soles, m."""
_ALIKE = 1.25
"""Largest ratio of heights at which robots get the same camera."""
_TARGET, _DISTANCE = (0.1, 0.0, 0.75), 2.2
"""Target and distance of the camera for a robot as tall as a person, or with a fixed base, m."""


def fit_camera(robot: Robot, posture: Array | None, section: CameraSection) -> CameraSection:
    """Complete the camera of a scenario by what the robot's height decides.

    Parameters
    ----------
    robot : Robot
        Robot of the scenario.
    posture : (n,) array or None
        Joint positions in which a robot with legs stands, rad; None for zero positions.
    section : CameraSection
        Section `camera` of the scenario.

    Returns
    -------
    CameraSection
        The section with target and distance.
    """
    scale = _scale(robot, posture) if robot.floating else 1.0
    target = (
        tuple(round(scale * value, 3) for value in _TARGET) if section.target_m is None else section.target_m
    )
    distance = round(scale * _DISTANCE, 3) if section.distance_m is None else section.distance_m
    return section.model_copy(update={"target_m": target, "distance_m": distance})


def _scale(robot: Robot, posture: Array | None) -> float:
    """Compute the height of a standing robot as a multiple of a person's; 1 for one of a similar height."""
    model, data = robot.model, robot.model.createData()
    joints = np.zeros(len(robot.joint_names)) if posture is None else posture
    pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[: robot.root_q], joints]))
    heights = [frame.translation[2] for frame in data.oMf]
    scale = float(max(heights) - min(heights)) / _TALL
    return 1.0 if 1.0 / _ALIKE < scale < _ALIKE or scale <= 0.0 else scale
