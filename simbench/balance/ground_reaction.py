"""Inverse dynamics of a robot that stands on both feet: ground reaction and joint torques of a motion."""

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.robot import Robot

SIDES = ("left", "right")

_MOMENT_ARM = 0.05
"""Moments of the ground reaction count as forces at this lever (m), about half a sole."""
_EASE = np.array([1.0, 1.0, 1.0, _MOMENT_ARM**2, _MOMENT_ARM**2, _MOMENT_ARM**2])


def standing_torques(
    robot: Robot,
    time: NDArray[np.float64],
    base: NDArray[np.float64],
    joints: NDArray[np.float64],
    *,
    inertia: bool,
) -> NDArray[np.float64]:
    """Joint torques of a motion on both feet.

    τ = RNEA(q, v, a) − Σ Jᵀf, the rotors' reflected inertia included, with the foot wrenches f that carry
    the root, Σ G f = RNEA(q, v, a)_root; of the many distributions over two feet the one with the least
    weighted norm is taken.

    Parameters
    ----------
    robot : Robot
    time : (T,) array
        s.
    base : (T, 7) array
        Pose of the root link.
    joints : (T, n) array
        rad.
    inertia : bool
        Whether velocity and acceleration count; otherwise gravity alone.

    Returns
    -------
    (T, n) array
        N·m.
    """
    model, data = robot.model, robot.model.createData()
    frames = [model.getFrameId(robot.frames[f"{side}_foot"]) for side in SIDES]
    both = np.ones(2)
    q = np.hstack([base, joints])
    velocity = _velocity(model, time, q) if inertia else np.zeros((len(q), model.nv))
    # Both are in the moving root frame, where RNEA takes them: its acceleration is the spatial one.
    acceleration = np.gradient(velocity, time, axis=0) if inertia else velocity
    torques = np.empty_like(joints)
    for sample in range(len(joints)):
        effort = pin.rnea(model, data, q[sample], velocity[sample], acceleration[sample])
        pin.computeJointJacobians(model, data, q[sample])
        pin.updateFramePlacements(model, data)
        jacobian = np.vstack(
            [
                pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
                for frame in frames
            ]
        )
        torques[sample] = supported_torque(effort, jacobian, both)
    return torques


def supported_torque(
    effort: NDArray[np.float64], jacobian: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Joint torques of a motion when the feet carry the root in given shares.

    τ = e − Jᵀf with the foot wrenches f of Σ G f = e_root and the least norm, weighted by the inverse of the
    shares: a foot with share 0 carries nothing.

    Parameters
    ----------
    effort : (6 + n,) array
        RNEA(q, v, a) without external forces.
    jacobian : (12, 6 + n) array
        Of both soles, left and right, in world axes.
    shares : (2,) array
        0 to 1, not both 0.

    Returns
    -------
    (n,) array
        N·m.
    """
    ease = (shares[:, None] * _EASE).ravel()
    root = jacobian[:, :6].T
    wrench = ease * (root.T @ np.linalg.solve((root * ease) @ root.T, effort[:6]))
    torque: NDArray[np.float64] = (effort - jacobian.T @ wrench)[6:]
    return torque


def _velocity(model: pin.Model, time: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Central differences on the configuration manifold, (T, nv)."""
    last = len(q) - 1
    before, after = np.maximum(np.arange(len(q)) - 1, 0), np.minimum(np.arange(len(q)) + 1, last)
    return np.array(
        [pin.difference(model, q[a], q[b]) / (time[b] - time[a]) for a, b in zip(before, after, strict=True)]
    )
