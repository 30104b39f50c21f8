"""Joint torques of the planned motion, with the feet carrying what the planned ZMP says."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.gait.gait import Gait
from simbench.balance.standing.ground_reaction import foot_movers, supported_torque
from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot


class FeedForward:
    """Inverse dynamics of a motion that is given tick by tick.

    Parameters
    ----------
    robot : Robot
    gait : Gait
    feet : [left, right] of int
        Ids of the soles' frames.
    """

    def __init__(self, robot: Robot, gait: Gait, feet: list[int]) -> None:
        self._robot, self._gait, self._model, self._data = robot, gait, robot.model, robot.model.createData()
        self._movers = foot_movers(robot.model, feet)
        self.shares = foot_shares(robot, gait, 0)
        self._velocity, self._acceleration = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
        self._arms_velocity: Array | float = 0.0
        self._jumped = False

    def replan(self, now: int) -> None:
        """Take the gait to be another one from a row on.

        The plan's velocity jumps to the measured one then; what it goes on with does not.
        """
        self.shares[now:] = foot_shares(self._robot, self._gait, now)
        self._jumped = True

    def torque(
        self, now: int, configuration: Array, velocity: Array, jacobian: Array, left: Array, right: Array
    ) -> Array:
        """Compute the torques at a tick.

        Parameters
        ----------
        now : int
            Row of the gait.
        configuration : (nq,) array
        velocity : (nv,) array
            Planned until the next tick.
        jacobian : (6, nv) array
            Pinocchio's `data.J` there.
        left, right : (3,) array
            Where the soles' frames are, m.

        Returns
        -------
        (n,) array
            N·m.
        """
        if not self._jumped:
            self._acceleration = (velocity - self._velocity) / self._gait.timestep
        self._jumped = False
        self._velocity[:] = velocity
        effort = pin.rnea(self._model, self._data, configuration, velocity, self._acceleration)
        return supported_torque(effort, jacobian, left, right, self._movers, self.shares[now])

    def torque_of_arms(self, configuration: Array, columns: NDArray[np.int64], velocity: Array) -> Array:
        """Compute the torques of joints that move beside the planned motion.

        Parameters
        ----------
        configuration : (nq,) array
            With those joints where they are.
        columns : (k,) array of int
            Of the velocity vector.
        velocity : (k,) array
            rad/s.

        Returns
        -------
        (k,) array
            N·m.
        """
        moving, acceleration = self._velocity.copy(), self._acceleration.copy()
        moving[columns] = velocity
        acceleration[columns] = (velocity - self._arms_velocity) / self._gait.timestep
        self._arms_velocity = velocity
        effort = pin.rnea(self._model, self._data, configuration, moving, acceleration)
        return np.asarray(effort[columns])


def foot_shares(robot: Robot, gait: Gait, start: int) -> Array:
    """Find the part of the weight that each foot carries for the planned ZMP from a row on.

    Parameters
    ----------
    robot : Robot
    gait : Gait
        N samples.
    start : int

    Returns
    -------
    (N - start, 2) array
        Left and right, with the sum 1.
    """
    places, rows = [], slice(start, None)
    for column, side in enumerate(("left", "right")):
        middle = robot.soles[f"{side}_foot"][:, :2].mean(axis=0)
        yaw = gait.foot_yaw[rows, column]
        cosine, sine = np.cos(yaw), np.sin(yaw)
        turned = np.stack(
            [cosine * middle[0] - sine * middle[1], sine * middle[0] + cosine * middle[1]], axis=1
        )
        places.append(gait.foot_position[rows, column, :2] + turned)
    across = places[1] - places[0]
    right = np.sum((gait.zmp[rows] - places[0]) * across, axis=1) / np.sum(across**2, axis=1)
    left_stands, right_stands = gait.contact[rows].T
    right = np.where(left_stands, np.where(right_stands, right.clip(0.0, 1.0), 0.0), 1.0)
    return np.stack([1.0 - right, right], axis=1)
