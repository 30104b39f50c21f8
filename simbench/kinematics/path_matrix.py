"""Gauss-Newton matrices of a whole motion: one block a frame."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.rotation import quaternion_to_matrix
from simbench.kinematics.task_matrix import Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies


@compiled
def path_matrices(
    tree: KinematicTree,
    tasks: Tasks,
    weights: Array,
    points: Array,
    turns: Array,
    path: Array,
    work: Workspace,
    blocks: Array,
    vectors: Array,
    cost: Array,
) -> None:
    """Compute JᵀJ, Jᵀε and ‖ε‖² of every frame.

    Parameters
    ----------
    tree, tasks, work
        As in `gauss_newton`; the tasks' point weights are overwritten.
    weights : (T, P) array
        Of the points, frame by frame.
    points, turns : (T, P, 3), (T, R, 3, 3) array
        Targets, world.
    path : (T, 7 + n) array
        Configurations: position, quaternion, joints.
    blocks : (T, 6 + n, 6 + n) array
        Overwritten: the root's translation and turn in world axes, the joints.
    vectors : (T, 6 + n) array
        Overwritten.
    cost : (T,) array
        Overwritten.
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
        cost[t] = gauss_newton(tree, tasks, points[t], turns[t], work)
        for i in range(6 + n):
            vectors[t, i] = work.vector[i]
            for j in range(i + 1):
                blocks[t, i, j] = work.matrix[i, j]
                blocks[t, j, i] = work.matrix[i, j]
