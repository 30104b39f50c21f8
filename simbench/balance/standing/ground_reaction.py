"""Inverse dynamics of a robot on both feet, or on both thighs: reaction and joint torques of a motion."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.compiled import compiled
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_MOMENT_ARM = 0.05
"""Moments of the ground reaction count as forces at this lever (m), about half a sole."""


def standing_torques(
    robot: Robot,
    time: NDArray[np.float64],
    base: NDArray[np.float64],
    joints: NDArray[np.float64],
    *,
    inertia: bool,
    seated: bool = False,
) -> NDArray[np.float64]:
    """Joint torques of a motion on both feet.

    τ = RNEA(q, v, a) − Σ Jᵀf, the rotors' reflected inertia included, with the foot wrenches f that carry
    the root, Σ G f = RNEA(q, v, a)_root; of the many distributions over two feet the one with the least
    weighted norm is taken. Who sits is carried by a seat under the thighs in place of the floor under the
    feet; on the floor stands what is below the knees, which the joints do not feel.

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
    seated : bool

    Returns
    -------
    (T, n) array
        N·m.
    """
    model = _above_knees(robot) if seated else robot.model
    data = model.createData()
    carrying = "thigh" if seated else "foot"
    frames = [model.getFrameId(robot.frames[f"{side}_{carrying}"]) for side in SIDES]
    moves, both = foot_movers(model, frames), np.ones(2)
    q = np.hstack([base, joints])
    velocity = _velocity(model, time, q) if inertia else np.zeros((len(q), model.nv))
    # Both are in the moving root frame, where RNEA takes them: its acceleration is the spatial one.
    acceleration = np.gradient(velocity, time, axis=0) if inertia else velocity
    torques = np.empty_like(joints)
    for sample in range(len(joints)):
        effort = pin.rnea(model, data, q[sample], velocity[sample], acceleration[sample])
        pin.computeJointJacobians(model, data, q[sample])
        left, right = (pin.updateFramePlacement(model, data, frame).translation for frame in frames)
        torques[sample] = supported_torque(effort, data.J, left, right, moves, both)
    return torques


def _above_knees(robot: Robot) -> pin.Model:
    """Model of a robot whose legs weigh nothing below the thighs."""
    model = robot.model.copy()
    thighs = {model.frames[model.getFrameId(link)].parentJoint for link in robot.thighs}
    for joint in range(1, model.njoints):
        if thighs & set(list(model.supports[joint])[:-1]):
            model.inertias[joint] = pin.Inertia.Zero()
    return model


def foot_movers(model: pin.Model, frames: Sequence[int]) -> NDArray[np.bool_]:
    """Find which coordinates move the feet.

    Parameters
    ----------
    model : pinocchio.Model
    frames : sequence of int
        Ids of the soles' frames.

    Returns
    -------
    (len(frames), 6 + n) array of bool
    """
    moves = np.zeros((len(frames), model.nv), bool)
    for row, frame in zip(moves, frames, strict=True):
        # The first support is the universe.
        for joint in list(model.supports[model.frames[frame].parentJoint])[1:]:
            first = model.joints[joint].idx_v
            row[first : first + model.joints[joint].nv] = True
    return moves


@compiled
def supported_torque(
    effort: NDArray[np.float64],
    jacobian: NDArray[np.float64],
    left: NDArray[np.float64],
    right: NDArray[np.float64],
    moves: NDArray[np.bool_],
    shares: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Joint torques of a motion when the feet carry the root in given shares.

    τ = e − Jᵀf with the foot wrenches f of Σ G f = e_root and the least norm, weighted by the inverse of the
    shares: a foot with share 0 carries nothing. With D the weights' inverse f = D Gᵀ (G D Gᵀ)⁻¹ e_root.

    Parameters
    ----------
    effort : (6 + n,) array
        RNEA(q, v, a) without external forces.
    jacobian : (6, 6 + n) array
        Pinocchio's `data.J`, columns at the world's origin.
    left, right : (3,) array
        Where the soles' frames are, m.
    moves : (2, 6 + n) array of bool
        From `foot_movers`.
    shares : (2,) array
        Of left and right foot, 0 to 1, not both 0.

    Returns
    -------
    (n,) array
        N·m.
    """
    count = len(effort)
    at_soles = np.zeros((12, count))
    for column in range(count):
        for foot in range(2):
            if moves[foot, column]:
                place = left if foot == 0 else right
                for i in range(3):
                    j, k = (i + 1) % 3, (i + 2) % 3
                    turning = jacobian[3 + j, column] * place[k] - jacobian[3 + k, column] * place[j]
                    at_soles[6 * foot + i, column] = jacobian[i, column] + turning
                    at_soles[6 * foot + 3 + i, column] = jacobian[3 + i, column]
    ease = np.empty(12)
    for row in range(12):
        ease[row] = shares[row // 6] * (_MOMENT_ARM * _MOMENT_ARM if row % 6 > 2 else 1.0)
    # G D Gᵀ = LLᵀ beside e_root, both overwritten: first L⁻¹ e_root, then the solution.
    lower, solution = np.zeros((6, 6)), np.empty(6)
    for i in range(6):
        for j in range(i + 1):
            value = 0.0
            for row in range(12):
                value += at_soles[row, i] * ease[row] * at_soles[row, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(value) if i == j else value / lower[j, j]
        solution[i] = effort[i]
        for k in range(i):
            solution[i] -= lower[i, k] * solution[k]
        solution[i] /= lower[i, i]
    for i in range(5, -1, -1):
        for k in range(i + 1, 6):
            solution[i] -= lower[k, i] * solution[k]
        solution[i] /= lower[i, i]
    torque = effort[6:].copy()
    for row in range(12):
        force = 0.0
        for i in range(6):
            force += ease[row] * at_soles[row, i] * solution[i]
        for joint in range(count - 6):
            torque[joint] -= at_soles[row, 6 + joint] * force
    return torque


def _velocity(model: pin.Model, time: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Central differences on the configuration manifold, (T, nv)."""
    last = len(q) - 1
    before, after = np.maximum(np.arange(len(q)) - 1, 0), np.minimum(np.arange(len(q)) + 1, last)
    return np.array(
        [pin.difference(model, q[a], q[b]) / (time[b] - time[a]) for a, b in zip(before, after, strict=True)]
    )
