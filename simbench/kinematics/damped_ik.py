"""Both hands' inverse kinematics with a posture in the null space and a joint-limit clamping loop."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

DAMPING = 0.003
"""λ of the damped least squares (Tomić 2018, §3.7.1)."""

ROTATION_WEIGHT = 0.15
"""What a radian of orientation error counts against a metre of position error, m/rad: where a limit leaves no
exact solution the palm is in the right place and a little turned, not the other way round."""

_MAX_STEP = 0.1


def solve_damped_ik(
    model: pin.Model,
    data: pin.Data,
    q: NDArray[np.float64],
    frames: Sequence[int],
    targets: Sequence[pin.SE3],
    posture: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    iterations: int = 1,
    tolerance: float = 1e-5,
) -> NDArray[np.float64]:
    """Move the joints of a floating-base model toward hand poses; the base stays.

    dq = J^{+λ} dX − (I − J⁺J)(q − posture) (Tomić 2018, eq. 3.16), the posture's pull limited to
    0.1 rad a joint. A joint that passes a limit is set to it and leaves the problem, which is solved again
    (Baerlocher & Boulic 2004).

    Parameters
    ----------
    model, data : pinocchio.Model, pinocchio.Data
    q : (7 + n,) array
        Start; columns 0 to 6 are the base pose.
    frames : sequence of int
        Frame ids of the hands.
    targets : sequence of pinocchio.SE3
        Desired hand poses in the world.
    posture : (n,) array
        Joint positions preferred where the hands leave a choice, rad.
    lower, upper : (n,) array
        Joint limits, rad.
    iterations : int
        Upper bound of steps.
    tolerance : float
        Stop when the norm of the hand error (m, rotations weighted) is below.

    Returns
    -------
    (7 + n,) array
    """
    q = q.copy()
    weights = np.array([1.0, 1.0, 1.0, ROTATION_WEIGHT, ROTATION_WEIGHT, ROTATION_WEIGHT])[:, None]
    for _ in range(iterations):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        error = np.concatenate(
            [_pose_error(target, data.oMf[frame]) for frame, target in zip(frames, targets, strict=True)]
        )
        jacobian = np.vstack(
            [
                weights
                * pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
                for frame in frames
            ]
        )
        # Far targets are approached in pieces: one long step would drive half the joints into their limits.
        desired = error * min(1.0, _MAX_STEP / max(float(np.abs(error).max()), 1e-12))
        free = np.ones(len(posture), dtype=bool)
        joints = q[7:].copy()
        while True:
            moved = joints.copy()
            if not free.any():
                break
            left = desired - jacobian[:, ~free] @ (joints - q[7:])[~free]
            moved[free] = q[7:][free] + _step(jacobian[:, free], left, (posture - q[7:])[free])
            beyond = free & ((moved < lower) | (moved > upper))
            if not beyond.any():
                joints = moved
                break
            joints[beyond] = np.clip(moved, lower, upper)[beyond]
            free &= ~beyond
        q[7:] = joints
        if np.linalg.norm(error) < tolerance:
            break
    return q


def _step(
    jacobian: NDArray[np.float64], error: NDArray[np.float64], drift: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Damped least-squares step plus the posture's pull in the null space."""
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    damped = right.T @ ((values / (values**2 + DAMPING**2)) * (left.T @ error))
    kept = right[values > 1e-3]
    null = np.clip(drift, -_MAX_STEP, _MAX_STEP)
    return np.asarray(damped + null - kept.T @ (kept @ null))


def _pose_error(target: pin.SE3, current: pin.SE3) -> NDArray[np.float64]:
    """Position (m) and weighted rotation from current to target, world axes."""
    turn = pin.log3(target.rotation @ current.rotation.T)
    return np.concatenate([target.translation - current.translation, ROTATION_WEIGHT * turn])
