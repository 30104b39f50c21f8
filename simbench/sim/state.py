"""Read a robot's state out of Bullet in Pinocchio's coordinates."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simbench.sim.vectors import difference, product, rotated
from simbench.sim.world import RobotBody, bullet


@dataclass(frozen=True)
class RobotState:
    """Configuration and velocity in Pinocchio's conventions.

    Parameters
    ----------
    q : (7 + n,) array
        Root position (m, world), root quaternion x, y, z, w, joint positions (rad).
    v : (6 + n,) array
        Root linear (m/s) and angular velocity (rad/s) in the root frame, joint velocities (rad/s).
        A robot with a fixed root has the joints' alone, in both.
    root : (15,) array
        Of a free root: rotation matrix by rows, then linear (m/s) and angular velocity (rad/s) of the root's
        centre of mass in world axes, as Bullet integrates them.
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]
    root: NDArray[np.float64] = field(default_factory=lambda: np.zeros(15))


def empty_state(body: RobotBody, *shape: int) -> RobotState:
    """Buffers for `read_state`: of one state, or of many with q (*shape, 7 + n) and v (*shape, 6 + n)."""
    model = body.robot.model
    return RobotState(np.zeros((*shape, model.nq)), np.zeros((*shape, model.nv)))


def root_pose(body: RobotBody) -> NDArray[np.float64]:
    """Pose of the root link in the world: x, y, z (m), quaternion x, y, z, w; (7,)."""
    com, turned = bullet.getBasePositionAndOrientation(body.body, physicsClientId=body.world.client)
    quaternion = product(turned, body.inertial_turn)
    return np.array([*difference(com, rotated(quaternion, body.root_inertial[0])), *quaternion])


def read_state(body: RobotBody, state: RobotState) -> None:
    """Copy the state of a robot into `state`.

    Of a free root Bullet reports pose and velocity of the centre of mass, with its inertial frame's axes;
    with R, p the pose of the root frame, c its centre of mass, v_c and ω the world velocities:
    v = Rᵀ(v_c − ω × R c), ω_root = Rᵀ ω.

    Parameters
    ----------
    body : RobotBody
    state : RobotState
        Overwritten.
    """
    client = body.world.client
    states = bullet.getJointStates(body.body, body.joints, physicsClientId=client)
    positions, speeds = [joint[0] for joint in states], [joint[1] for joint in states]
    if not body.robot.floating:
        state.q[:], state.v[:] = positions, speeds
        return
    (x, y, z), turned = bullet.getBasePositionAndOrientation(body.body, physicsClientId=client)
    (vx, vy, vz), (wx, wy, wz) = bullet.getBaseVelocity(body.body, physicsClientId=client)
    # Not Bullet's multiplyTransforms, which is in single precision.
    quaternion = product(turned, body.inertial_turn)
    r = bullet.getMatrixFromQuaternion(quaternion)
    state.root[:] = *r, vx, vy, vz, wx, wy, wz
    ax, ay, az = body.root_inertial[0]
    cx = r[0] * ax + r[1] * ay + r[2] * az
    cy = r[3] * ax + r[4] * ay + r[5] * az
    cz = r[6] * ax + r[7] * ay + r[8] * az
    vx -= wy * cz - wz * cy
    vy -= wz * cx - wx * cz
    vz -= wx * cy - wy * cx
    state.q[:] = (x - cx, y - cy, z - cz, *quaternion, *positions)
    state.v[:] = (
        r[0] * vx + r[3] * vy + r[6] * vz,
        r[1] * vx + r[4] * vy + r[7] * vz,
        r[2] * vx + r[5] * vy + r[8] * vz,
        r[0] * wx + r[3] * wy + r[6] * wz,
        r[1] * wx + r[4] * wy + r[7] * wz,
        r[2] * wx + r[5] * wy + r[8] * wz,
        *speeds,
    )
