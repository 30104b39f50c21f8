"""The place of a root and the postures along a path, found together where they miss the least."""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import factorise, solve_box, substitute
from simbench.kinematics.compiled import compiled
from simbench.kinematics.task_matrix import Tasks, Workspace
from simbench.kinematics.tree import KinematicTree
from simbench.retargeting.placement.com_compensation import ComCompensation
from simbench.retargeting.placement.posture_ik import PULL, solve_posture_ik

_JOINT_ROUNDS = 10
"""Steps of the joints after each step of the root."""
_AT_LIMIT = 1e-9
_LARGEST_DAMPING = 1e5
_LEAST_GAIN = 1e-6
"""Share of what is missing below which a step is the last."""
_NOTHING = 1e-10
"""Sum of squares per pose, m², at which nothing is missing."""


@compiled
def optimise_base_pose(
    tree: KinematicTree,
    tasks: Tasks,
    counter: ComCompensation,
    points: Array,
    sway: Array,
    hands: Array,
    low: Array,
    high: Array,
    rest: Array,
    lowest: Array,
    highest: Array,
    work: Workspace,
    rounds: int,
    place: Array,
    path: Array,
) -> float:
    """Move a root, and the joints in all poses with it, to where the points miss their places the least.

    Gauss-Newton steps of the six numbers of the place; in each pose the joints that are not at a limit go
    with it, which leaves of the normal equations Σ (A_pp − A_pq A_qq⁻¹ A_qp) dp = Σ (b_p − A_pq A_qq⁻¹ b_q).
    After each step the joints of every pose are brought to their own minimum, inside their limits.

    Parameters
    ----------
    tree : KinematicTree
    tasks : Tasks
        Points only.
    counter : ComCompensation
    points, sway, hands : (K, P, 3), (K, 3), (K, 3) array
        Of a `HandPath`.
    low, high : (n,) array
        Of the joints, rad or m.
    rest : (n,) array
        What the joints stay near, as in `reach_path`.
    lowest, highest : (6,) array
        Of the place; equal where it is to stay.
    work : Workspace
    rounds : int
        Most steps of the place.
    place : (6,) array
        As in `HandPath`: where to begin; overwritten.
    path : (K, n) array
        The joints in every pose, where to begin; overwritten.

    Returns
    -------
    float
        Sum of the squares of what the points miss, m², weighted.
    """
    count, n = path.shape
    pull = np.empty(n)
    for i in range(n):
        half = max(0.5 * (high[i] - low[i]), 1e-3)
        pull[i] = PULL / (half * half)
    aims, tried_path, tried = np.empty(points.shape[1:]), np.empty(path.shape), np.empty(6)
    follow = np.zeros((count, n, 6))
    matrix, vector, damped = np.zeros((6, 6)), np.zeros(6), np.empty((6, 6))
    least, most = np.empty(6), np.empty(6)
    damping, cost = 1e-3, 0.0
    # A constant as an argument would be a type of its own, and `descend_near` compiled once more.
    most_rounds = np.int64(_JOINT_ROUNDS)
    # Steps of a tenth of a radian, of some centimetres and of a part of the hands' way weigh the same.
    scale = np.array([1.0, 1.0, 1.0, 0.1, 0.03, 0.03])
    for t in range(count):
        _aim(points[t], sway[t], hands[t], place, aims)
        cost += solve_posture_ik(
            tree, tasks, counter, aims, low, high, rest, pull, path[t], work, most_rounds
        )
        _reduce(work, path[t], low, high, pull, rest, hands[t], place, matrix, vector, follow[t])
    for _ in range(rounds):
        if cost < _NOTHING * count:
            break
        for i in range(6):
            for j in range(6):
                damped[i, j] = matrix[i, j]
            damped[i, i] += damping * count * scale[i]
            least[i], most[i] = lowest[i] - place[i], highest[i] - place[i]
        step = solve_box(damped, vector, least, most)
        new_matrix, new_vector = np.zeros((6, 6)), np.zeros(6)
        new_follow = np.empty(follow.shape)
        for i in range(6):
            tried[i] = place[i] + step[i]
        new_cost = 0.0
        for t in range(count):
            for i in range(n):
                x = path[t, i]
                for j in range(6):
                    x += follow[t, i, j] * step[j]
                tried_path[t, i] = min(max(x, low[i]), high[i])
            _aim(points[t], sway[t], hands[t], tried, aims)
            new_cost += solve_posture_ik(
                tree, tasks, counter, aims, low, high, rest, pull, tried_path[t], work, most_rounds
            )
            _reduce(
                work,
                tried_path[t],
                low,
                high,
                pull,
                rest,
                hands[t],
                tried,
                new_matrix,
                new_vector,
                new_follow[t],
            )
        if new_cost < cost:
            gain = cost - new_cost
            cost, matrix, vector, follow = new_cost, new_matrix, new_vector, new_follow
            # What an assignment of whole arrays says when they do not fit would take seconds to compile.
            for i in range(6):
                place[i] = tried[i]
            for t in range(count):
                for i in range(n):
                    path[t, i] = tried_path[t, i]
            damping = max(0.1 * damping, 1e-9)
            if gain < _LEAST_GAIN * cost:
                break
        else:
            damping *= 10.0
            if damping > _LARGEST_DAMPING:
                break
    return cost


@compiled
def _aim(points: Array, sway: Array, hands: Array, place: Array, aims: Array) -> None:
    """Write points in the axes of a root."""
    c, s = np.cos(place[3]), np.sin(place[3])
    ahead = place[5] * hands[2]
    x0 = place[0] + sway[0] + place[4] * hands[0] + c * ahead
    y0 = place[1] + sway[1] + place[4] * hands[1] + s * ahead
    z0 = place[2] + sway[2]
    for k in range(len(points)):
        x, y = points[k, 0] - x0, points[k, 1] - y0
        aims[k, 0], aims[k, 1], aims[k, 2] = c * x + s * y, c * y - s * x, points[k, 2] - z0


@compiled
def _reduce(
    work: Workspace,
    joints: Array,
    low: Array,
    high: Array,
    pull: Array,
    rest: Array,
    hands: Array,
    place: Array,
    matrix: Array,
    vector: Array,
    follow: Array,
) -> None:
    """Add what a pose says of the place, its joints going along; `follow` is how far they do (n, 6)."""
    n = len(joints)
    c, s = np.cos(place[3]), np.sin(place[3])
    free = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        slope = work.vector[6 + i] + pull[i] * (rest[i] - joints[i])
        held = (joints[i] <= low[i] + _AT_LIMIT and slope < 0.0) or (
            joints[i] >= high[i] - _AT_LIMIT and slope > 0.0
        )
        if not held:
            free[count] = i
            count += 1
    # How the six numbers move the root: along x, y and z of the world, and about z.
    ahead = place[5] * hands[2]
    moves = np.zeros((4, 6))
    for i in range(4):
        moves[i, i] = 1.0
    moves[0, 3], moves[1, 3] = -s * ahead, c * ahead
    moves[0, 4], moves[1, 4] = hands[0], hands[1]
    moves[0, 5], moves[1, 5] = c * hands[2], s * hands[2]
    # The root's rows in world axes: x and y turned, z, and the turn about z.
    rows, right = np.empty((4, n)), np.empty((5, count))
    for j in range(n):
        a, b = work.matrix[6 + j, 0], work.matrix[6 + j, 1]
        rows[0, j], rows[1, j] = c * a - s * b, s * a + c * b
        rows[2, j], rows[3, j] = work.matrix[6 + j, 2], work.matrix[6 + j, 5]
    inner = np.empty((count, count))
    for a in range(count):
        i = free[a]
        for b in range(a + 1):
            j = free[b]
            inner[a, b] = work.matrix[6 + i, 6 + j]
        inner[a, a] += pull[i]
        for j in range(4):
            right[j, a] = rows[j, i]
        right[4, a] = work.vector[6 + i] + pull[i] * (rest[i] - joints[i])
    # NumPy's solver in here would take longer to compile than all else.
    factorise(inner, count)
    for j in range(5):
        substitute(inner, right[j], count)
    m = work.matrix
    own = np.zeros((4, 4))
    own[0, 0] = own[1, 1] = own[2, 2] = m[0, 0]
    own[3, 3] = m[5, 5]
    own[3, 0] = own[0, 3] = c * m[5, 0] - s * m[5, 1]
    own[3, 1] = own[1, 3] = s * m[5, 0] + c * m[5, 1]
    pulls = np.empty(4)
    pulls[0] = c * work.vector[0] - s * work.vector[1]
    pulls[1] = s * work.vector[0] + c * work.vector[1]
    pulls[2], pulls[3] = work.vector[2], work.vector[5]
    for i in range(4):
        for a in range(count):
            pulls[i] -= rows[i, free[a]] * right[4, a]
            for j in range(4):
                own[i, j] -= rows[i, free[a]] * right[j, a]
    for j in range(6):
        for i in range(n):
            follow[i, j] = 0.0
        for a in range(count):
            for i in range(4):
                follow[free[a], j] -= right[i, a] * moves[i, j]
        for i in range(4):
            vector[j] += moves[i, j] * pulls[i]
    for i in range(4):
        for j in range(4):
            for a in range(6):
                for b in range(6):
                    matrix[a, b] += moves[i, a] * own[i, j] * moves[j, b]
