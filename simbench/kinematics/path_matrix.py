"""Gauss-Newton matrices of a whole motion: one block a frame."""

from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.kinematics.task_matrix import Targets, Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies


class PathEquations(NamedTuple):
    """Normal equations of a motion of T frames, each with 6 coordinates of the root and n joints."""

    # (T, 6 + n, 6 + n): JᵀJ; the coordinates are the root's translation and rotation in world axes, and the
    # joints.
    blocks: Array
    vectors: Array  # (T, 6 + n): Jᵀε.
    cost: Array  # (T,): ‖ε‖².


def make_path_equations(frames: int, joints: int) -> PathEquations:
    """Allocate what `path_matrices` writes.

    `frames`: T; `joints`: n. Returns equations with undefined values.
    """
    size = 6 + joints
    return PathEquations(np.empty((frames, size, size)), np.empty((frames, size)), np.empty(frames))


@compiled
def path_matrices(
    tree: KinematicTree,
    tasks: Tasks,
    weights: Array,
    targets: Targets,
    path: Array,
    work: Workspace,
    equations: PathEquations,
) -> None:
    """Compute JᵀJ, Jᵀε and ‖ε‖² of every frame.

    `tree`: joints of the robot; `tasks`: P points and R rotations to follow; the weights of the points are
    overwritten; `weights` (T, P): weights of the points in each frame; `targets`: targets of all frames:
    points (T, P, 3), m, and rotations (T, R, 3, 3), in the world frame; `path` (T, 7 + n): configurations:
    position (m), quaternion x y z w, joints (rad or m); `work`: overwritten; `equations`: overwritten.
    """
    n = len(tree.parent)
    joints = np.empty(n)
    for t in range(len(path)):
        for i in range(3):
            work.position[0, i] = path[t, i]
        quaternion_to_matrix(path[t, 3], path[t, 4], path[t, 5], path[t, 6], work.rotation[0])
        for k in range(n):
            joints[k] = path[t, 7 + k]
        for k in range(weights.shape[1]):
            tasks.point_weight[k] = weights[t, k]
        place_bodies(tree, joints, work.rotation, work.position)
        equations.cost[t] = gauss_newton(tree, tasks, targets.points[t], targets.rotations[t], work)
        for i in range(6 + n):
            equations.vectors[t, i] = work.vector[i]
            for j in range(i + 1):
                equations.blocks[t, i, j] = work.matrix[i, j]
                equations.blocks[t, j, i] = work.matrix[i, j]
