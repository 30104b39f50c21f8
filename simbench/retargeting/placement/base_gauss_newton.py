"""The pose of a root and the postures along a path, found together where the palms miss the least."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.box import factorise, solve_box, substitute
from simbench.kinematics.compiled import compiled
from simbench.kinematics.least_squares import DampingRule, begin, is_running, judge_step
from simbench.kinematics.task_matrix import Workspace
from simbench.retargeting.placement.com_compensation import CompensatedTree
from simbench.retargeting.placement.hand_path import HandPath
from simbench.retargeting.placement.posture_ik import PostureRange, solve_posture_ik

_JOINT_ROUNDS = 10
"""Steps of the joints after each step of the root."""
_AT_LIMIT = 1e-9
_NOTHING_MISSING = 1e-10
"""Sum of squares per pose, m², at which nothing is missing."""
# A step that gains less than a millionth of what is missing is the last, however long it is.
_FIRST_DAMPING, _LEAST_DAMPING, _GREATEST_DAMPING, _GAIN_TOLERANCE = 1e-3, 1e-9, 2e5, 1e-6


class BaseRange(NamedTuple):
    """Where the root may be.

    Parameters
    ----------
    low : (6,) array
        Least base parameters, as in `HandPath`.
    high : (6,) array
        Greatest base parameters; equal to the least where the root is to stay.
    """

    low: Array
    high: Array


class _NormalEquations(NamedTuple):
    """Of the six base parameters; and how far the joints go for each of them, in every pose (K, n, 6)."""

    matrix: Array
    vector: Array
    joint_rates: Array


@compiled
def optimise_base_pose(
    hands: CompensatedTree,
    hand_path: HandPath,
    posture: PostureRange,
    base_range: BaseRange,
    rounds: int,
    base: Array,
    path: Array,
) -> float:
    """Move a root, and the joints in all poses with it, to where the points miss their targets the least.

    Gauss-Newton steps of the six base parameters; in each pose the joints that are not at a limit go with
    them, which leaves of the normal equations Σ (A_pp − A_pq A_qq⁻¹ A_qp) dp = Σ (b_p − A_pq A_qq⁻¹ b_q).
    After each step the joints of every pose are brought to their own minimum, inside their limits.

    Parameters
    ----------
    hands : CompensatedTree
        Trunk and arms; the workspace is overwritten.
    hand_path : HandPath
        Target positions of the palms in K poses.
    posture : PostureRange
        Joint limits, and the nominal posture near which the joints stay, as in `solve_path_ik`.
    base_range : BaseRange
        Bounds of the base pose.
    rounds : int
        Most steps of the base parameters.
    base : (6,) array
        Base parameters to begin with, as in `HandPath`; overwritten with the solution.
    path : (K, n) array
        Joints in every pose to begin with, rad or m; overwritten with the solution.

    Returns
    -------
    float
        Sum of the squares of what the points miss, m², weighted.
    """
    count, n = path.shape
    rule = DampingRule(
        _FIRST_DAMPING,
        _LEAST_DAMPING,
        _GREATEST_DAMPING,
        0.0,
        _GAIN_TOLERANCE,
        0.0,
        _NOTHING_MISSING * count,
    )
    trial, trial_path = base.copy(), path.copy()
    equations, trial_equations = _make_equations(count, n), _make_equations(count, n)
    cost = _reduce_path(hands, hand_path, posture, base, path, equations)
    progress = begin(rule, cost)
    while is_running(rule, progress, rounds):
        step = _solve_step(equations, base_range, base, progress.damping * count)
        for i in range(6):
            trial[i] = base[i] + step[i]
        for t in range(count):
            for i in range(n):
                x = path[t, i]
                for j in range(6):
                    x += equations.joint_rates[t, i, j] * step[j]
                trial_path[t, i] = min(max(x, posture.low[i]), posture.high[i])
        cost = _reduce_path(hands, hand_path, posture, trial, trial_path, trial_equations)
        progress = judge_step(rule, progress, cost, np.inf)
        if progress.accepted:
            equations, trial_equations = trial_equations, equations
            # What an assignment of whole arrays says when they do not fit would take seconds to compile.
            for i in range(6):
                base[i] = trial[i]
            for t in range(count):
                for i in range(n):
                    path[t, i] = trial_path[t, i]
    return progress.cost


@compiled
def _make_equations(count: int, n: int) -> _NormalEquations:
    """Allocate the normal equations of K poses of n joints."""
    return _NormalEquations(np.zeros((6, 6)), np.zeros(6), np.zeros((count, n, 6)))


@compiled
def _solve_step(equations: _NormalEquations, base_range: BaseRange, base: Array, damping: float) -> Array:
    """Solve the damped normal equations of the base parameters inside their range."""
    matrix, low, high = np.empty((6, 6)), np.empty(6), np.empty(6)
    # Steps of a tenth of a radian, of some centimetres and of a part of the hands' motion weigh the same.
    scale = np.array([1.0, 1.0, 1.0, 0.1, 0.03, 0.03])
    for i in range(6):
        for j in range(6):
            matrix[i, j] = equations.matrix[i, j]
        matrix[i, i] += damping * scale[i]
        low[i], high[i] = base_range.low[i] - base[i], base_range.high[i] - base[i]
    return solve_box(matrix, equations.vector, low, high)


@compiled
def _reduce_path(
    hands: CompensatedTree,
    hand_path: HandPath,
    posture: PostureRange,
    base: Array,
    path: Array,
    equations: _NormalEquations,
) -> float:
    """Bring the joints of every pose to their minimum; add up what is missing and the normal equations."""
    # A constant as an argument would be a type of its own, and `solve_posture_ik` compiled once more.
    rounds = np.int64(_JOINT_ROUNDS)
    points = np.empty(hand_path.points.shape[1:])
    for i in range(6):
        equations.vector[i] = 0.0
        for j in range(6):
            equations.matrix[i, j] = 0.0
    cost = 0.0
    for t in range(len(path)):
        _write_points(hand_path, t, base, points)
        cost += solve_posture_ik(hands, points, posture, path[t], rounds)
        free = _find_free_joints(hands.work, path[t], posture)
        moves = _root_motion(base, hand_path.hands[t])
        _add_pose(hands.work, path[t], posture, free, base[3], moves, equations, t)
    return cost


@compiled
def _write_points(hand_path: HandPath, t: int, base: Array, points: Array) -> None:
    """Write the points of a pose in the axes of a root."""
    sway, hands = hand_path.sway[t], hand_path.hands[t]
    c, s = np.cos(base[3]), np.sin(base[3])
    ahead = base[5] * hands[2]
    x0 = base[0] + sway[0] + base[4] * hands[0] + c * ahead
    y0 = base[1] + sway[1] + base[4] * hands[1] + s * ahead
    z0 = base[2] + sway[2]
    for k in range(len(points)):
        x, y = hand_path.points[t, k, 0] - x0, hand_path.points[t, k, 1] - y0
        points[k, 0], points[k, 1], points[k, 2] = (
            c * x + s * y,
            c * y - s * x,
            hand_path.points[t, k, 2] - z0,
        )


@compiled
def _find_free_joints(work: Workspace, joints: Array, posture: PostureRange) -> NDArray[np.int64]:
    """Find the joints that are not at a limit at which the cost would have them."""
    free = np.empty(len(joints), np.int64)
    count = 0
    for i in range(len(joints)):
        slope = work.vector[6 + i] + posture.stiffness[i] * (posture.nominal[i] - joints[i])
        held = (joints[i] <= posture.low[i] + _AT_LIMIT and slope < 0.0) or (
            joints[i] >= posture.high[i] - _AT_LIMIT and slope > 0.0
        )
        if not held:
            free[count] = i
            count += 1
    return free[:count]


@compiled
def _root_motion(base: Array, hands: Array) -> Array:
    """Compute how the base parameters move the root (4, 6): along x, y and z of the world, and about z."""
    c, s = np.cos(base[3]), np.sin(base[3])
    ahead = base[5] * hands[2]
    moves = np.zeros((4, 6))
    for i in range(4):
        moves[i, i] = 1.0
    moves[0, 3], moves[1, 3] = -s * ahead, c * ahead
    moves[0, 4], moves[1, 4] = hands[0], hands[1]
    moves[0, 5], moves[1, 5] = c * hands[2], s * hands[2]
    return moves


@compiled
def _add_pose(
    work: Workspace,
    joints: Array,
    posture: PostureRange,
    free: NDArray[np.int64],
    heading: float,
    moves: Array,
    equations: _NormalEquations,
    t: int,
) -> None:
    """Add the normal equations of a pose, its free joints eliminated, and write how far those go along."""
    root_matrix, root_vector, rows = _root_equations(work, heading)
    count = len(free)
    right = _solve_free_joints(work, joints, posture, free, rows)
    for i in range(4):
        for a in range(count):
            root_vector[i] -= rows[i, free[a]] * right[4, a]
            for j in range(4):
                root_matrix[i, j] -= rows[i, free[a]] * right[j, a]
    rates = equations.joint_rates[t]
    for j in range(6):
        for i in range(len(joints)):
            rates[i, j] = 0.0
        for a in range(count):
            for i in range(4):
                rates[free[a], j] -= right[i, a] * moves[i, j]
        for i in range(4):
            equations.vector[j] += moves[i, j] * root_vector[i]
    _add_congruent(moves, root_matrix, equations.matrix)


@compiled
def _root_equations(work: Workspace, heading: float) -> tuple[Array, Array, Array]:
    """Take the root's normal equations in world axes: along x, y and z, and about z; and the joints' rows."""
    c, s = np.cos(heading), np.sin(heading)
    m, n = work.matrix, len(work.vector) - 6
    rows = np.empty((4, n))
    for j in range(n):
        a, b = m[6 + j, 0], m[6 + j, 1]
        rows[0, j], rows[1, j] = c * a - s * b, s * a + c * b
        rows[2, j], rows[3, j] = m[6 + j, 2], m[6 + j, 5]
    matrix = np.zeros((4, 4))
    matrix[0, 0] = matrix[1, 1] = matrix[2, 2] = m[0, 0]
    matrix[3, 3] = m[5, 5]
    matrix[3, 0] = matrix[0, 3] = c * m[5, 0] - s * m[5, 1]
    matrix[3, 1] = matrix[1, 3] = s * m[5, 0] + c * m[5, 1]
    vector = np.empty(4)
    vector[0] = c * work.vector[0] - s * work.vector[1]
    vector[1] = s * work.vector[0] + c * work.vector[1]
    vector[2], vector[3] = work.vector[2], work.vector[5]
    return matrix, vector, rows


@compiled
def _solve_free_joints(
    work: Workspace, joints: Array, posture: PostureRange, free: NDArray[np.int64], rows: Array
) -> Array:
    """Compute A_qq⁻¹ A_qp for the four motions of the root, and A_qq⁻¹ b_q: rows (5, free joints)."""
    count = len(free)
    inner, right = np.empty((count, count)), np.empty((5, count))
    for a in range(count):
        i = free[a]
        for b in range(a + 1):
            inner[a, b] = work.matrix[6 + i, 6 + free[b]]
        inner[a, a] += posture.stiffness[i]
        for j in range(4):
            right[j, a] = rows[j, i]
        right[4, a] = work.vector[6 + i] + posture.stiffness[i] * (posture.nominal[i] - joints[i])
    # NumPy's solver in here would take longer to compile than all else.
    factorise(inner, count)
    for j in range(5):
        substitute(inner, right[j], count)
    return right


@compiled
def _add_congruent(moves: Array, inner: Array, matrix: Array) -> None:
    """Add movesᵀ inner moves to a matrix."""
    for i in range(4):
        for j in range(4):
            for a in range(6):
                for b in range(6):
                    matrix[a, b] += moves[i, a] * inner[i, j] * moves[j, b]
