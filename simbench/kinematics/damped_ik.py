"""Both hands' inverse kinematics with a posture in the null space and a joint-limit clamping loop."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT

DAMPING = 0.003
"""λ of the damped least squares (Tomić 2018, §3.7.1)."""

_MAX_STEP = 0.1
"""Of a hand (m, rotations weighted) or of a joint toward the posture (rad)."""


class PostureBounds(NamedTuple):
    """Posture that joints prefer, and their limits."""

    posture: Array  # (n,): joint positions preferred where the hands leave a choice, rad.
    lower: Array  # (n,): lower joint limits, rad.
    upper: Array  # (n,): upper joint limits, rad.


def solve_damped_ik(
    model: pin.Model,
    data: pin.Data,
    q: Array,
    targets: Mapping[int, pin.SE3],
    bounds: PostureBounds,
    *,
    iterations: int = 1,
    tolerance: float = 1e-5,
) -> Array:
    """Move the joints of a floating-base model toward hand poses; the base stays.

    dq = J^{+λ} dX − (I − J⁺J)(q − posture) (Tomić 2018, eq. 3.16), the posture's pull limited to
    0.1 rad a joint. A joint that passes a limit is set to it and leaves the problem, which is solved again
    (Baerlocher & Boulic 2004). That clamping, and singular values for the null space, are why it does not
    share the solver of `least_squares`.

    `model`: model with a free-flyer root; `data`: data of the model; overwritten; `q` (7 + n,): start;
    columns 0 to 6 are the base pose: position (m), quaternion x y z w; `targets`: desired poses of the hands
    in the world, by their frame ids; `bounds`: preferred posture and joint limits; `iterations`: upper bound
    of steps; `tolerance`: stop when the norm of the hand error (m, rotations weighted) is below. Returns (7 +
    n,): configuration that was reached; its base pose is that of the start.
    """
    posture, lower, upper = bounds
    q = q.copy()
    weights = np.array([1.0, 1.0, 1.0, ROTATION_WEIGHT, ROTATION_WEIGHT, ROTATION_WEIGHT])[:, None]
    for _ in range(iterations):
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        error = np.concatenate([_pose_error(target, data.oMf[frame]) for frame, target in targets.items()])
        jacobian = np.vstack(
            [
                weights
                * pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)[:, 6:]
                for frame in targets
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


def _step(jacobian: Array, error: Array, drift: Array) -> Array:
    """Damped least-squares step plus the posture's pull in the null space."""
    left, values, right = np.linalg.svd(jacobian, full_matrices=False)
    damped = right.T @ ((values / (values**2 + DAMPING**2)) * (left.T @ error))
    kept = right[values > 1e-3]
    null = np.clip(drift, -_MAX_STEP, _MAX_STEP)
    return np.asarray(damped + null - kept.T @ (kept @ null))


def _pose_error(target: pin.SE3, current: pin.SE3) -> Array:
    """Position (m) and weighted rotation from current to target, world axes."""
    rotation = pin.log3(target.rotation @ current.rotation.T)
    return np.concatenate([target.translation - current.translation, ROTATION_WEIGHT * rotation])
