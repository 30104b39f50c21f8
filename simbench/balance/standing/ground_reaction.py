"""Inverse dynamics of a robot on both feet, or on both thighs: reaction and joint torques of a motion."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.robot.robot import Robot
from simbench.robot.sides import SIDES

_MOMENT_ARM = 0.05
"""Moments of the ground reaction count as forces at this lever (m), about half a sole."""


def standing_torques(
    robot: Robot,
    time: Array,
    base: Array,
    joints: Array,
    *,
    inertia: bool,
    seated: bool = False,
) -> Array:
    """Compute the joint torques of a motion on both feet.

    τ = RNEA(q, v, a) − Σ Jᵀf, the rotors' reflected inertia included, with the foot wrenches f that carry the
    root, Σ G f = RNEA(q, v, a)_root; of the many distributions over two feet the one with the least weighted
    norm is taken. A seated robot is carried by a seat under the thighs instead of the floor under the feet;
    the floor carries what is below the knees, which the joints do not feel. `robot`: robot with two legs;
    `time` (T,): time of each sample, s; `base` (T, 7): pose of the root link in the world frame: position, m,
    and quaternion x, y, z, w; `joints` (T, n): joint positions in the order of `robot.joint_names`, rad;
    `inertia`: whether velocity and acceleration count; otherwise gravity alone; `seated`: whether a seat
    under the thighs carries the robot. Returns (T, n): joint torques in the order of `robot.joint_names`,
    N·m.
    """
    model, frames = carried_model(robot, seated=seated)
    data = model.createData()
    moves, both = find_moving_coordinates(model, frames), np.ones(2)
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


def carried_model(robot: Robot, *, seated: bool) -> tuple[pin.Model, list[int]]:
    """Return the model of what is carried, and the frames that carry it.

    `robot`: robot with two legs; `seated`: whether a seat under the thighs carries the robot, and the floor
    what is below the knees. Returns `model`: the robot's, without mass below the knees if it sits; `frames`:
    Pinocchio's ids of the left and right sole frames, or of the thighs.
    """
    model = _without_shanks(robot) if seated else robot.model
    carrying = "thigh" if seated else "foot"
    return model, [model.getFrameId(robot.frames[f"{side}_{carrying}"]) for side in SIDES]


def standing_inertia(
    robot: Robot, base: Array, joints: Array, columns: NDArray[np.int64], *, seated: bool = False
) -> Array:
    """Compute the torques of all joints on both feet for the acceleration of each of some joints.

    ∂τ/∂q̈ of `standing_torques`: what a motion of trunk and arms costs in every joint, the legs' that carry
    it among them, while root and legs do not accelerate. `robot`: robot with two legs; `base` (T, 7): pose of
    the root link in the world frame: position, m, and quaternion x, y, z, w; `joints` (T, n): joint positions
    in the order of `robot.joint_names`, rad; `columns` (m,) int; `seated`: whether a seat under the thighs
    carries the robot. Returns (T, n, m): torque of each joint for 1 rad/s² of each of the accelerated ones,
    kg·m².
    """
    model, frames = carried_model(robot, seated=seated)
    data = model.createData()
    moves = find_moving_coordinates(model, frames)
    torques = np.empty((*joints.shape, len(columns)))
    for sample, q in enumerate(np.hstack([base, joints])):
        # Only its upper triangle is computed.
        upper = pin.crba(model, data, q)
        inertia = np.where(np.tri(model.nv, dtype=bool), upper.T, upper)
        pin.computeJointJacobians(model, data, q)
        left, right = (pin.updateFramePlacement(model, data, frame).translation for frame in frames)
        efforts = np.ascontiguousarray(inertia[:, 6 + columns].T)
        torques[sample] = _supported_torques(efforts, data.J, left, right, moves).T
    return torques


def _without_shanks(robot: Robot) -> pin.Model:
    """Model of a robot whose legs weigh nothing below the thighs."""
    model = robot.model.copy()
    thighs = {model.frames[model.getFrameId(link)].parentJoint for link in robot.thighs}
    for joint in range(1, model.njoints):
        if thighs & set(list(model.supports[joint])[:-1]):
            model.inertias[joint] = pin.Inertia.Zero()
    return model


def find_moving_coordinates(model: pin.Model, frames: Sequence[int]) -> NDArray[np.bool_]:
    """Find which coordinates of the velocity vector move frames, such as those of the soles.

    `model`: model with n joint velocities behind the six of its root; `frames`: Pinocchio's ids of the
    frames. Returns true where a coordinate moves the frame of the row.
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
    effort: Array,
    jacobian: Array,
    left: Array,
    right: Array,
    moves: NDArray[np.bool_],
    load_fractions: Array,
) -> Array:
    """Compute the joint torques of a motion when each foot carries a given part of the root.

    τ = e − Jᵀf with the foot wrenches f of Σ G f = e_root and the least norm, weighted by the inverse of the
    load fractions: a foot with fraction 0 carries nothing. With D the weights' inverse f = D Gᵀ (G D Gᵀ)⁻¹
    e_root. `effort` (6 + n,): e = RNEA(q, v, a) without external forces, N and N·m; `jacobian` (6, 6 + n):
    Pinocchio's `data.J`: the joints' spatial Jacobian, linear then angular, at the world's origin; `left`
    (3,): position of the left sole frame in the world frame, m; `right` (3,): position of the right sole
    frame in the world frame, m; `moves` (2, 6 + n) of bool: which coordinates move the soles, from
    `find_moving_coordinates`; `load_fractions` (2,): part of the weight on the left and the right foot, 0 to
    1, not both 0. Returns (n,): joint torques, N·m.
    """
    at_soles = np.zeros((12, len(effort)))
    _write_jacobian_at(jacobian, left, moves[0], at_soles[:6])
    _write_jacobian_at(jacobian, right, moves[1], at_soles[6:])
    weight_inverse = np.empty(12)
    for row in range(12):
        weight_inverse[row] = load_fractions[row // 6] * (_MOMENT_ARM * _MOMENT_ARM if row % 6 > 2 else 1.0)
    solution = _solve_root_reaction(at_soles, weight_inverse, effort)
    torque = effort[6:].copy()
    for row in range(12):
        force = 0.0
        for i in range(6):
            force += weight_inverse[row] * at_soles[row, i] * solution[i]
        for joint in range(len(torque)):
            torque[joint] -= at_soles[row, 6 + joint] * force
    return torque


@compiled
def _supported_torques(
    efforts: Array, jacobian: Array, left: Array, right: Array, moves: NDArray[np.bool_]
) -> Array:
    """Joint torques (m, n) of m efforts (m, 6 + n), both feet carrying the same."""
    torques = np.empty((len(efforts), efforts.shape[1] - 6))
    both = np.ones(2)
    for row in range(len(efforts)):
        torques[row] = supported_torque(efforts[row], jacobian, left, right, moves, both)
    return torques


@compiled
def _write_jacobian_at(
    jacobian: Array, position: Array, moves: NDArray[np.bool_], at_position: Array
) -> None:
    """Write the Jacobian of a point, linear then angular, world axes, (6, 6 + n), where `moves` is true."""
    for column in range(jacobian.shape[1]):
        if moves[column]:
            for i in range(3):
                j, k = (i + 1) % 3, (i + 2) % 3
                turning = jacobian[3 + j, column] * position[k] - jacobian[3 + k, column] * position[j]
                at_position[i, column] = jacobian[i, column] + turning
                at_position[3 + i, column] = jacobian[3 + i, column]


@compiled
def _solve_root_reaction(at_soles: Array, weight_inverse: Array, effort: Array) -> Array:
    """Solve (G D Gᵀ) x = e_root by Cholesky's G D Gᵀ = LLᵀ."""
    # L and L⁻¹ e_root side by side; then the latter is overwritten with the solution.
    lower, solution = np.zeros((6, 6)), np.empty(6)
    for i in range(6):
        for j in range(i + 1):
            value = 0.0
            for row in range(12):
                value += at_soles[row, i] * weight_inverse[row] * at_soles[row, j]
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
    return solution


def _velocity(model: pin.Model, time: Array, q: Array) -> Array:
    """Central differences on the configuration manifold, (T, nv)."""
    last = len(q) - 1
    before, after = np.maximum(np.arange(len(q)) - 1, 0), np.minimum(np.arange(len(q)) + 1, last)
    return np.array(
        [pin.difference(model, q[a], q[b]) / (time[b] - time[a]) for a, b in zip(before, after, strict=True)]
    )
