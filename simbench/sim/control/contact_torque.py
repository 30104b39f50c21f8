"""The joint torque of contacts that are unknown to the controller, estimated from the last step's motion."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.sim.engine import RobotBody
from simbench.sim.state import RobotState


class ContactTorque:
    """Estimates the joint torque of the last step beside the known torques and forces.

    `body`: robot whose motion is observed; `held`: links that stand on something: the joints that carry them
    are left out.
    """

    def __init__(self, body: RobotBody, held: Sequence[str]) -> None:
        robot = body.robot
        self._model, self._rate = robot.model.copy(), 1.0 / body.world.timestep
        if not body.has_armature:
            self._model.armature = np.zeros(robot.model.nv)
        self._data = self._model.createData()
        self._q, self._v = np.zeros(robot.model.nq), np.zeros(robot.model.nv)
        self._started = False
        self._acceleration = np.zeros(robot.model.nv)
        self._root, self._point = np.zeros(15 if robot.floating else 0), np.array(body.root_motion.point)
        self._turns_in_root = body.root_motion.turns_in_root
        self._torque = np.zeros(len(robot.joint_names))
        legs = {joint for link in held for joint in _supports(robot.model, link)}
        names = [robot.joint_names.index(robot.model.names[joint]) for joint in legs]
        self._standing = np.array(names, dtype=int)

    def of_last_step(self, state: RobotState, forces: pin.StdVec_Force, received: Array) -> Array:
        """Compute the joint torque of unknown contacts in the step that led to `state`; remember `state`.

        `state`: state at the end of the step; `forces`: known external forces of the last step, in the frames
        of their joints; `received` (n,): joint torques of the last step, N·m. Returns (n,): joint torque,
        N·m; zero before the first step, and in the joints that carry the held links.
        """
        torque, acceleration = self._torque, self._acceleration
        if self._started:
            _acceleration(
                *(self._v, state.v, self._root, state.root),
                *(self._point, self._turns_in_root, self._rate, acceleration),
            )
            needed = pin.rnea(self._model, self._data, self._q, self._v, acceleration, forces)
            _unknown(needed, received, self._standing, torque)
        self._q[:], self._v[:], self._started = state.q, state.v, True
        if len(self._root):
            self._root[:] = state.root
        return torque


def _supports(model: pin.Model, frame: str) -> list[int]:
    """Joints of one degree of freedom between the root and a frame."""
    joint = model.frames[model.getFrameId(frame)].parentJoint
    return [parent for parent in model.supports[joint] if parent and model.joints[parent].nv == 1]


@compiled
def _unknown(needed: Array, received: Array, standing: NDArray[np.int64], torque: Array) -> None:
    """Write needed minus received joint torque, N·m, (n,); zero for the joints that stand."""
    root = len(needed) - len(torque)
    for i in range(len(torque)):
        torque[i] = needed[root + i] - received[i]
    for i in standing:
        torque[i] = 0.0


@compiled
def _acceleration(
    before: Array,
    now: Array,
    root: Array,
    root_now: Array,
    point: Array,
    turns_in_root: bool,
    rate: float,
    acceleration: Array,
) -> None:
    """Compute the accelerations that made the last step, a free root's in its frame as it was before.

    With the velocity v of the point of the root link that the engine integrates, c its position relative to
    the root frame, ω and α the angular velocity and acceleration, all in world axes before the step: a = v̇ −
    α × c − ω × v, and α. `before`, `now` (nv,): velocities at both ends of the step, `RobotState.v`; `root`,
    `root_now` (15,): `RobotState.root` at both ends; `root` is empty for a fixed root; `point` (3,): that
    point in the root frame, m; `turns_in_root`: whether the engine integrates the angular velocity in the
    root's axes; `rate`: 1 / time step, Hz; `acceleration` (nv,): overwritten: m/s², rad/s².
    """
    for i in range(len(now)):
        acceleration[i] = (now[i] - before[i]) * rate
    if len(root) == 0:
        return
    wx, wy, wz = root[12], root[13], root[14]
    # One by one: for differences of arrays numba also compiles what formats the errors of their shapes.
    ax, ay = (root_now[9] - root[9]) * rate, (root_now[10] - root[10]) * rate
    az = (root_now[11] - root[11]) * rate
    bx, by = (root_now[12] - root[12]) * rate, (root_now[13] - root[13]) * rate
    bz = (root_now[14] - root[14]) * rate
    if turns_in_root:
        tx, ty, tz = acceleration[3], acceleration[4], acceleration[5]
        bx = root[0] * tx + root[1] * ty + root[2] * tz
        by = root[3] * tx + root[4] * ty + root[5] * tz
        bz = root[6] * tx + root[7] * ty + root[8] * tz
    cx = root[0] * point[0] + root[1] * point[1] + root[2] * point[2]
    cy = root[3] * point[0] + root[4] * point[1] + root[5] * point[2]
    cz = root[6] * point[0] + root[7] * point[1] + root[8] * point[2]
    ax -= by * cz - bz * cy + wy * root[11] - wz * root[10]
    ay -= bz * cx - bx * cz + wz * root[9] - wx * root[11]
    az -= bx * cy - by * cx + wx * root[10] - wy * root[9]
    for i in range(3):
        acceleration[i] = root[i] * ax + root[3 + i] * ay + root[6 + i] * az
        acceleration[3 + i] = root[i] * bx + root[3 + i] * by + root[6 + i] * bz
