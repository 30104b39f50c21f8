"""What every motion of a robot with a fixed base needs: where it stands, its posture, its torques."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import ScenarioError
from simbench.options import RobotSection
from simbench.robot.robot import Robot


def base_pose(position: tuple[float, float], heading: float) -> NDArray[np.float64]:
    """Pose (7,) of the root link on the floor: x, y, z (m), quaternion x, y, z, w."""
    place = pin.SE3(pin.utils.rotate("z", heading), np.array([*position, 0.0]))
    return np.asarray(pin.SE3ToXYZQUAT(place))


def rest_posture(robot: Robot, place: RobotSection) -> NDArray[np.float64]:
    """Take the posture (n,), rad, in which a robot with a fixed base starts.

    Raises
    ------
    ScenarioError
        If it has no such posture, or is to stand higher than on the floor.
    """
    if place.posture not in robot.postures:
        raise ScenarioError(
            f"robot.posture: {robot.name} has no posture {place.posture!r}; "
            f"allowed: {', '.join(robot.postures)}"
        )
    if place.height_m != 0.0:
        raise ScenarioError(
            f"robot.height_m: {robot.name} stands on the floor; allowed: 0, got {place.height_m:g}"
        )
    return robot.postures[place.posture]


def planned_torques(
    robot: Robot,
    position: NDArray[np.float64],
    velocity: NDArray[np.float64],
    acceleration: NDArray[np.float64],
    feedforward: str,
) -> NDArray[np.float64]:
    """Compute the feed-forward along a path: none, weight, or inverse dynamics; without friction.

    Parameters
    ----------
    robot : Robot
    position, velocity, acceleration : (N, n) array
        rad, rad/s, rad/s².
    feedforward : str
        As in `ControlSection`.

    Returns
    -------
    (N, n) array
        N·m.
    """
    model, data = robot.model, robot.model.createData()
    torques = np.zeros_like(position)
    if feedforward == "gravity":
        for step, q in enumerate(position):
            torques[step] = pin.computeGeneralizedGravity(model, data, q)
    elif feedforward == "inverse_dynamics":
        for step, state in enumerate(zip(position, velocity, acceleration, strict=True)):
            torques[step] = pin.rnea(model, data, *state)
    return torques
