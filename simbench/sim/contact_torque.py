"""The joint torque of contacts that nobody told the controller about, read off the last step's motion."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.sim.state import RobotState
from simbench.sim.vectors import Vector
from simbench.sim.world import RobotBody


class ContactTorque:
    """What the joints felt in the last step beside the torques and forces that we know of."""

    def __init__(self, body: RobotBody) -> None:
        robot = body.robot
        self._model, self._rate = robot.model.copy(), 1.0 / body.world.timestep
        self._model.armature = np.zeros(robot.model.nv)
        self._data = self._model.createData()
        self._joints = slice(robot.root_v, None)
        self._q, self._v = np.zeros(robot.model.nq), np.zeros(robot.model.nv)
        self._started = False
        self._acceleration = np.zeros(robot.model.nv)
        self._floating, self._com = robot.floating, body.root_inertial[0]
        self._root = [0.0] * 15
        self._torque = np.zeros(len(robot.joint_names))
        legs = {joint for role in robot.feet for joint in _supports(robot.model, robot.frames[role])}
        names = [robot.joint_names.index(robot.model.names[joint]) for joint in legs]
        self._standing = np.array(names, dtype=int)

    def of_last_step(
        self, state: RobotState, forces: pin.StdVec_Force, received: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Compute the joint torque of unknown contacts in the step that led to `state`; remember `state`.

        Parameters
        ----------
        state : RobotState
        forces : pinocchio.StdVec_Force
            Known external forces of the last step, in the frames of their joints.
        received : (n,) array
            Joint torques of the last step, N·m.

        Returns
        -------
        (n,) array
            N·m; zero before the first step, and in the legs, whose contact with the ground is told otherwise.
        """
        torque, acceleration = self._torque, self._acceleration
        np.subtract(state.v, self._v, out=acceleration)
        acceleration *= self._rate
        if self._floating:
            acceleration[:6] = _root_acceleration(self._root, state.root, self._com, self._rate)
            self._root[:] = state.root
        if self._started:
            needed = pin.rnea(self._model, self._data, self._q, self._v, acceleration, forces)
            np.subtract(needed[self._joints], received, out=torque)
            torque[self._standing] = 0.0
        self._q[:], self._v[:], self._started = state.q, state.v, True
        return torque


def _supports(model: pin.Model, frame: str) -> list[int]:
    """Joints of one degree of freedom between the root and a frame."""
    joint = model.frames[model.getFrameId(frame)].parentJoint
    return [parent for parent in model.supports[joint] if parent and model.joints[parent].nv == 1]


def _root_acceleration(
    before: Sequence[float], now: Sequence[float], com: Vector, rate: float
) -> tuple[float, ...]:
    """Compute the spatial acceleration of a free root in a step, in the root frame as it was before.

    With the velocity v of the centre of mass, which is what Bullet integrates, c its place relative to the
    root frame, ω and α the angular velocity and acceleration, all in world axes before the step:
    a = v̇ − α × c − ω × v, and α. In plain floats, like all that a step handles one by one.

    Parameters
    ----------
    before, now : (15,) floats
        `RobotState.root` at both ends of the step.
    com : (3,) floats
        Centre of mass in the root frame, m.
    rate : float
        1 / time step, Hz.

    Returns
    -------
    (6,) floats
        m/s², rad/s².
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8, vx, vy, vz, wx, wy, wz = before
    ax, ay, az = (now[9] - vx) * rate, (now[10] - vy) * rate, (now[11] - vz) * rate
    bx, by, bz = (now[12] - wx) * rate, (now[13] - wy) * rate, (now[14] - wz) * rate
    x, y, z = com
    cx, cy, cz = r0 * x + r1 * y + r2 * z, r3 * x + r4 * y + r5 * z, r6 * x + r7 * y + r8 * z
    ax -= by * cz - bz * cy + wy * vz - wz * vy
    ay -= bz * cx - bx * cz + wz * vx - wx * vz
    az -= bx * cy - by * cx + wx * vy - wy * vx
    return (
        r0 * ax + r3 * ay + r6 * az,
        r1 * ax + r4 * ay + r7 * az,
        r2 * ax + r5 * ay + r8 * az,
        r0 * bx + r3 * by + r6 * bz,
        r1 * bx + r4 * by + r7 * bz,
        r2 * bx + r5 * by + r8 * bz,
    )
