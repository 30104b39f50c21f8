"""The camera of a scenario that does not place it: as far away as the robot is tall, and as it goes."""

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
_BESIDE, _ABOVE = 0.5, 0.85
"""Half of the width and of the height that such a robot needs in the picture, m."""
_TRAVEL = 0.3
"""Way of the root up to which the camera is that of a robot that stays, m."""


def fit_camera(
    robot: Robot, posture: Array | None, section: CameraSection, path: Array | None = None
) -> CameraSection:
    """Complete the camera of a scenario by what the robot's height and its way decide.

    `posture` (n,) or None: joint positions in which a robot with legs stands, rad; None for zero positions;
    `path` (T, 2): where the root will be, m, if it is known before: all of it is in the picture. Returns the
    section with target and distance.
    """
    scale = _scale(robot, posture) if robot.floating else 1.0
    middle, distance = scale * np.array(_TARGET), scale * _DISTANCE
    if path is not None and np.ptp(path, axis=0).max() > _TRAVEL:
        middle[:2], distance = _see_whole(path, section, scale)
    target = (
        tuple(round(float(value), 3) for value in middle) if section.target_m is None else section.target_m
    )
    distance = round(float(distance), 3) if section.distance_m is None else section.distance_m
    return section.model_copy(update={"target_m": target, "distance_m": distance})


def _scale(robot: Robot, posture: Array | None) -> float:
    """Compute the height of a standing robot as a multiple of a person's; 1 for one of a similar height."""
    model, data = robot.model, robot.model.createData()
    joints = np.zeros(len(robot.joint_names)) if posture is None else posture
    pin.framesForwardKinematics(model, data, np.concatenate([pin.neutral(model)[: robot.root_q], joints]))
    heights = [frame.translation[2] for frame in data.oMf]
    scale = float(max(heights) - min(heights)) / _TALL
    return 1.0 if 1.0 / _ALIKE < scale < _ALIKE or scale <= 0.0 else scale


def _see_whole(path: Array, section: CameraSection, scale: float) -> tuple[Array, float]:
    """Aim at the middle of a way (T, 2) from so far that the robot is in the picture all along it."""
    yaw, pitch = np.radians([section.yaw_deg, section.pitch_deg])
    axes = np.array([[np.cos(yaw), np.sin(yaw)], [-np.sin(yaw), np.cos(yaw)]])
    # Across the picture, and away from the camera.
    seen = path @ axes.T
    low, high = seen.min(axis=0), seen.max(axis=0)
    across, away = 0.5 * (high - low)
    vertical = np.tan(0.5 * np.radians(section.fov_deg))
    needed = max(
        scale * _DISTANCE,
        (across + scale * _BESIDE) / (vertical * section.width / section.height),
        (away * abs(np.sin(pitch)) + scale * _ABOVE) / vertical,
    )
    return 0.5 * (low + high) @ axes, float(away + needed)
