"""How high the root link of a robot with a fixed base is above the floor."""

from simbench.errors import ScenarioError
from simbench.options import RobotSection
from simbench.robot.robot import Robot


def base_height(robot: Robot, section: RobotSection) -> float:
    """Say how high the root link of a robot with a fixed base is above the floor.

    Parameters
    ----------
    robot : Robot
        Robot with a fixed base.
    section : RobotSection
        May say it.

    Returns
    -------
    float
        Height, m.

    Raises
    ------
    ScenarioError
        If it is below the floor.
    """
    if section.height_m is None:
        return robot.base_height
    if section.height_m < 0.0:
        raise ScenarioError(
            f"robot.height_m: {robot.name} has a fixed base, which is not below the floor; allowed: from 0, "
            f"got {section.height_m:g}"
        )
    return section.height_m
