"""Follow targets over time, a bounded step or a bounded minimum a frame."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled
from simbench.kinematics.descent import Bounds, advance, descend, place, step
from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix
from simbench.kinematics.task_matrix import Tasks, Workspace
from simbench.kinematics.tree import KinematicTree

_LONGEST_STEP = 0.3
"""Of any coordinate, rad or m: a longer one leaves the neighbourhood where Jacobians tell the truth."""
_ROUNDS = 10


@compiled
def follow(
    tree: KinematicTree,
    tasks: Tasks,
    points: Array,
    turns: Array,
    bounds: Bounds,
    q: Array,
    work: Workspace,
    rounds: int,
    hold: float,
    path: Array,
    cost: Array,
) -> None:
    """Follow targets frame by frame, each from where the last one ended.

    One step a frame loses the way near a singularity, where it may be half a turn long: nobody looks back
    whether it brought anything. Where it would be longer than 0.3 rad or m, ten times what motion at 100 Hz
    asks for, `descend` takes its place, which goes back where an error grew.

    Parameters
    ----------
    tree, tasks, bounds, work
        As in `step`.
    points, turns : (T, P, 3), (T, R, 3, 3) array
    q : (7 + n,) array
        Configuration before the first frame: position, quaternion x y z w, joints. Changed in place to the
        last frame's.
    rounds : int
        0: one Gauss-Newton step a frame, and `descend` with at most ten only where that step is long. Else
        `descend` with at most so many. It holds to the frame before.
    hold : float
        Of `descend`.
    path : (T, 7 + n) array
        Overwritten: the configuration in every frame, its quaternion continuous in sign.
    cost : (T,) array
        Overwritten: ‖ε‖² in every frame; with `rounds` 0 before its step.
    """
    n = len(tree.parent)
    # A constant as an argument would be a type of its own, and `descend` compiled twice.
    most = rounds if rounds > 0 else _ROUNDS
    joints, rotation, position = np.empty(n), np.empty((3, 3)), np.empty(3)
    for k in range(n):
        joints[k] = q[7 + k]
    for i in range(3):
        position[i] = q[i]
    quaternion_to_matrix(q[3], q[4], q[5], q[6], rotation)
    for t in range(len(points)):
        if rounds == 0:
            place(tree, joints, rotation, position, work)
            change, cost[t] = step(tree, tasks, points[t], turns[t], bounds, joints, work, 1.0)
            longest = 0.0
            for i in range(len(change)):
                longest = max(longest, abs(change[i]))
            if longest <= _LONGEST_STEP:
                advance(change, bounds, joints, rotation, position)
            else:
                descend(
                    tree, tasks, points[t], turns[t], bounds, joints, rotation, position, work, most, hold
                )
        else:
            cost[t], _ = descend(
                tree, tasks, points[t], turns[t], bounds, joints, rotation, position, work, most, hold
            )
        for k in range(n):
            q[7 + k] = joints[k]
        for i in range(3):
            q[i] = position[i]
        x, y, z, w = matrix_to_quaternion(rotation)
        sign = 1.0 if x * q[3] + y * q[4] + z * q[5] + w * q[6] >= 0.0 else -1.0
        q[3], q[4], q[5], q[6] = sign * x, sign * y, sign * z, sign * w
        # So that frames one by one give the same bits as all at once.
        quaternion_to_matrix(q[3], q[4], q[5], q[6], rotation)
        for i in range(7 + n):
            path[t, i] = q[i]
