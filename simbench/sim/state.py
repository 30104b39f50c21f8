"""Read a robot's state out of Bullet in Pinocchio's coordinates."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.sim.world import RobotBody, bullet


@dataclass(frozen=True)
class RobotState:
    """Configuration and velocity in the conventions of Pinocchio's free-flyer models.

    Parameters
    ----------
    q : (7 + n,) array
        Root position (m, world), root quaternion x, y, z, w, joint positions (rad).
    v : (6 + n,) array
        Root linear (m/s) and angular velocity (rad/s) in the root frame, joint velocities (rad/s).
    """

    q: NDArray[np.float64]
    v: NDArray[np.float64]


def empty_state(body: RobotBody, *shape: int) -> RobotState:
    """Buffers for `read_state`: of one state, or of many with q (*shape, 7 + n) and v (*shape, 6 + n)."""
    count = len(body.joints)
    return RobotState(np.zeros((*shape, 7 + count)), np.zeros((*shape, 6 + count)))


def read_state(body: RobotBody, state: RobotState) -> None:
    """Copy the state of a floating robot into `state`.

    Bullet reports pose and velocity of the root's centre of mass, with its inertial frame's axes;
    with R, p the pose of the root frame, c its centre of mass, v_c and ω the world velocities:
    v = Rᵀ(v_c − ω × R c), ω_root = Rᵀ ω.

    Parameters
    ----------
    body : RobotBody
    state : RobotState
        Overwritten.
    """
    client = body.world.client
    com, turned = bullet.getBasePositionAndOrientation(body.body, physicsClientId=client)
    (vx, vy, vz), (wx, wy, wz) = bullet.getBaseVelocity(body.body, physicsClientId=client)
    position, quaternion = bullet.multiplyTransforms(com, turned, *body.inertial_root)
    cx, cy, cz = com[0] - position[0], com[1] - position[1], com[2] - position[2]
    vx -= wy * cz - wz * cy
    vy -= wz * cx - wx * cz
    vz -= wx * cy - wy * cx
    r = bullet.getMatrixFromQuaternion(quaternion)
    states = bullet.getJointStates(body.body, body.joints, physicsClientId=client)
    positions, speeds, _, _ = zip(*states, strict=True)
    state.q[:] = (*position, *quaternion, *positions)
    state.v[:] = (
        r[0] * vx + r[3] * vy + r[6] * vz,
        r[1] * vx + r[4] * vy + r[7] * vz,
        r[2] * vx + r[5] * vy + r[8] * vz,
        r[0] * wx + r[3] * wy + r[6] * wz,
        r[1] * wx + r[4] * wy + r[7] * wz,
        r[2] * wx + r[5] * wy + r[8] * wz,
        *speeds,
    )
