"""Joints that bring points to their places along a path, inside a box, and as near a rest as that lets."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import solve_box
from simbench.kinematics.compiled import compiled
from simbench.kinematics.descent import place
from simbench.kinematics.task_matrix import Tasks, Workspace
from simbench.kinematics.tree import KinematicTree
from simbench.retargeting.placement.com_compensation import ComCompensation, swayed, swaying_gauss_newton

PULL = 1e-6
_STRONGEST_PULL = 1e-2
"""What the square of a half range off the rest costs against a square metre: at the end, and where a path
begins, so that it begins on the branch that leads from the rest."""
_SETTLED_STEP = 1e-5
_LARGEST_DAMPING = 1e4


@compiled
def solve_path_ik(
    tree: KinematicTree,
    tasks: Tasks,
    counter: ComCompensation,
    points: Array,
    low: Array,
    high: Array,
    rest: Array,
    work: Workspace,
    rounds: int,
    give_up: float,
    path: Array,
    found: Array,
) -> None:
    """Follow points pose by pose, each from where the last one ended; the root sways about the origin.

    In every pose least is

        Σ w² ‖p − p(q)‖² + 10⁻⁶ Σ ((q − rest) / half range)²,   low ≤ q ≤ high.

    The second term makes the posture a function of the pose alone, so that closed paths close.

    Parameters
    ----------
    tree : KinematicTree
    tasks : Tasks
        Points only.
    counter : ComCompensation
    points : (K, P, 3) array
        From where the root would be without swaying, root axes, m.
    low, high : (n,) array
        rad or m, low ≤ high.
    rest : (n,) array
        Where to begin, and what to stay near; rad or m.
    work : Workspace
    rounds : int
        Most steps a pose; the first one may take six times as many.
    give_up : float
        Distance of a point from its place, m, beyond which the path is not followed any further.
    path : (K, n) array
        Overwritten: the joints in every pose.
    found : (K, P, 3) array
        Overwritten: where the points are then, likewise; infinite after giving up.
    """
    n = len(rest)
    joints, pull = np.empty(n), np.empty(n)
    for i in range(n):
        joints[i] = min(max(rest[i], low[i]), high[i])
        half = max(0.5 * (high[i] - low[i]), 1e-3)
        pull[i] = 1.0 / (half * half)
    rate = _STRONGEST_PULL
    while rate > 1.5 * PULL:
        solve_posture_ik(tree, tasks, counter, points[0], low, high, rest, rate * pull, joints, work, rounds)
        rate *= 0.1
    lost = False
    for t in range(len(points)):
        if not lost:
            extra = 2 * rounds if t == 0 else rounds
            solve_posture_ik(
                tree, tasks, counter, points[t], low, high, rest, PULL * pull, joints, work, extra
            )
        for i in range(n):
            path[t, i] = joints[i]
        sway_x, sway_y = swayed(counter, work)
        sway = (sway_x, sway_y, 0.0)
        for k in range(len(tasks.point_body)):
            body = tasks.point_body[k]
            square = 0.0
            for i in range(3):
                x = work.position[body, i] - sway[i]
                for j in range(3):
                    x += work.rotation[body, i, j] * tasks.point[k, j]
                found[t, k, i] = np.inf if lost else x
                square += (x - points[t, k, i]) ** 2
            if not lost and square > give_up * give_up:
                lost = True


def weak_pull(box: Array) -> Array:
    """Compute what the square of a joint's distance from its rest costs along a path (n,)."""
    return np.asarray(PULL / np.maximum(0.5 * (box[1] - box[0]), 1e-3) ** 2)


@compiled
def solve_posture_ik(
    tree: KinematicTree,
    tasks: Tasks,
    counter: ComCompensation,
    points: Array,
    low: Array,
    high: Array,
    rest: Array,
    pull: Array,
    joints: Array,
    work: Workspace,
    rounds: int,
) -> float:
    """Bring joints to where points miss their places the least, by Levenberg-Marquardt.

    Parameters
    ----------
    tree : KinematicTree
    tasks : Tasks
        Points only.
    counter : ComCompensation
    points : (P, 3) array
        From where the root would be without swaying, root axes, m.
    low, high, rest : (n,) array
        rad or m.
    pull : (n,) array
        What the square of a joint's distance from its rest costs.
    joints : (n,) array
        Where to begin; overwritten.
    work : Workspace
        Left with the bodies in place and the normal equations there.
    rounds : int
        Most steps.

    Returns
    -------
    float
        The cost, m².
    """
    n = len(joints)
    moved = np.empty(points.shape)
    upright, origin = np.eye(3), np.zeros(3)
    matrix, vector = np.empty((n, n)), np.empty(n)
    lowest, highest, tried = np.empty(n), np.empty(n), np.empty(n)
    damping = 1e-6
    place(tree, joints, upright, origin, work)
    cost = swaying_gauss_newton(tree, tasks, counter, points, moved, work) + _off_rest(joints, rest, pull)
    for _ in range(rounds):
        for i in range(n):
            for j in range(i + 1):
                matrix[i, j] = work.matrix[6 + i, 6 + j]
            matrix[i, i] += pull[i] + damping
            vector[i] = work.vector[6 + i] + pull[i] * (rest[i] - joints[i])
            lowest[i], highest[i] = low[i] - joints[i], high[i] - joints[i]
        change = solve_box(matrix, vector, lowest, highest)
        largest = 0.0
        for i in range(n):
            tried[i] = min(max(joints[i] + change[i], low[i]), high[i])
            largest = max(largest, abs(change[i]))
        place(tree, tried, upright, origin, work)
        new_cost = swaying_gauss_newton(tree, tasks, counter, points, moved, work) + _off_rest(
            tried, rest, pull
        )
        if new_cost <= cost:
            for i in range(n):
                joints[i] = tried[i]
            cost = new_cost
            damping = max(0.1 * damping, 1e-9)
        else:
            damping *= 10.0
            place(tree, joints, upright, origin, work)
            swaying_gauss_newton(tree, tasks, counter, points, moved, work)
        if largest < _SETTLED_STEP or damping > _LARGEST_DAMPING:
            break
    return cost


@compiled
def _off_rest(joints: Array, rest: Array, pull: Array) -> float:
    total = 0.0
    for i in range(len(joints)):
        total += pull[i] * (joints[i] - rest[i]) ** 2
    return total
