"""Feed-forward joint torques of the planned motion, the weight on the feet as the planned ZMP says."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.gait.gait import Gait
from simbench.balance.standing.ground_reaction import find_moving_coordinates, supported_torque
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compile_for
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES


class FeedForward:
    """Inverse dynamics of a motion that is given tick by tick.

    `load_fractions` (N, 2) is the part of the weight that the left and the right foot carry at each sample of
    the gait. `robot`: robot with two legs; `gait`: planned ZMP and feet, N samples; `feet`: Pinocchio's ids
    of the sole frames; `data`: of the motion's posture: at each tick its Jacobian `J` and the poses of the
    sole frames count.
    """

    def __init__(self, robot: Robot, gait: Gait, feet: list[int], data: pin.Data) -> None:
        self._robot, self._gait, self._model, self._data = robot, gait, robot.model, robot.model.createData()
        self._moves = find_moving_coordinates(robot.model, feet)
        self.load_fractions = foot_load_fractions(robot, gait, 0)
        self._velocity, self._acceleration = np.zeros(robot.model.nv), np.zeros(robot.model.nv)
        self._upper_velocity: Array | float = 0.0
        self._jumped = False
        left, right = (data.oMf[foot].translation for foot in feet)
        # Pinocchio's own memory, not copies: it changes with the posture.
        self._kinematics = data.J, left, right, self._moves
        effort, load = np.zeros(robot.model.nv), self.load_fractions[0]
        self._supported_torque = compile_for(supported_torque, effort, *self._kinematics, load)

    def replan(self, now: int) -> None:
        """Take up a gait whose rows have changed.

        The plan's velocity jumps to the measured one then; the torque keeps the acceleration of the tick
        before. `now`: first row of the gait that has changed.
        """
        self.load_fractions[now:] = foot_load_fractions(self._robot, self._gait, now)
        self._jumped = True

    def torque(self, now: int, configuration: Array, velocity: Array) -> Array:
        """Compute the torques at a tick.

        The acceleration is the difference of the velocities of two ticks, over the timestep. `now`: row of
        the gait; `configuration` (nq,): root pose in the world frame (m and quaternion x, y, z, w) and joint
        positions, rad: those of the posture's data; `velocity` (nv,): planned velocity until the next tick:
        the root's in its own axes, then the joints', m/s and rad/s. Returns (n,): joint torques in the order
        of `robot.joint_names`, N·m.
        """
        if not self._jumped:
            self._acceleration = (velocity - self._velocity) / self._gait.timestep
        self._jumped = False
        self._velocity[:] = velocity
        effort = pin.rnea(self._model, self._data, configuration, velocity, self._acceleration)
        return self._supported_torque(effort, *self._kinematics, self.load_fractions[now])

    def torque_of_upper_body(
        self, configuration: Array, columns: NDArray[np.int64], velocity: Array
    ) -> Array:
        """Compute the torques of joints that move beside the planned motion.

        `configuration` (nq,): root pose in the world frame (m and quaternion x, y, z, w) and joint positions,
        rad, with the actual positions of those joints; `columns` (k,) of int: their columns in the velocity
        vector; `velocity` (k,): their velocities until the next tick, rad/s. Returns (k,): joint torques,
        N·m.
        """
        moving, acceleration = self._velocity.copy(), self._acceleration.copy()
        moving[columns] = velocity
        acceleration[columns] = (velocity - self._upper_velocity) / self._gait.timestep
        self._upper_velocity = velocity
        effort = pin.rnea(self._model, self._data, configuration, moving, acceleration)
        return np.asarray(effort[columns])


def foot_load_fractions(robot: Robot, gait: Gait, start: int) -> Array:
    """Find the part of the weight that each foot carries for the planned ZMP from a row on.

    On both feet it follows the lever rule: with the ZMP p projected onto the line between the middles a and b
    of left and right sole, the right foot carries (p − a)·(b − a) / |b − a|². `robot`: robot with two legs;
    `gait`: planned ZMP and feet, N samples; `start`: first row. Returns (N - start, 2): left and right, with
    the sum 1.
    """
    centres, rows = [], slice(start, None)
    for column, side in enumerate(SIDES):
        middle = robot.soles[f"{side}_foot"][:, :2].mean(axis=0)
        yaw = gait.foot_yaw[rows, column]
        cosine, sine = np.cos(yaw), np.sin(yaw)
        rotated = np.stack(
            [cosine * middle[0] - sine * middle[1], sine * middle[0] + cosine * middle[1]], axis=1
        )
        centres.append(gait.foot_position[rows, column, :2] + rotated)
    across = centres[1] - centres[0]
    right = np.sum((gait.zmp[rows] - centres[0]) * across, axis=1) / np.sum(across**2, axis=1)
    left_stands, right_stands = gait.contact[rows].T
    right = np.where(left_stands, np.where(right_stands, right.clip(0.0, 1.0), 0.0), 1.0)
    return np.stack([1.0 - right, right], axis=1)
