"""Inverse kinematics of palms on a root that compensates the arms' COG motion, and of the root itself.

With the feet on the floor, the pelvis sways against the arms: its displacement is - c(q), where c is how far
the joints take the COG horizontally, times what the pelvis must go for each metre of the COG, as the legs'
own mass goes along with it only in part. A palm is then at p(q) - c(q) from where the root would be.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.least_squares import (
    DampingRule,
    begin,
    factorise,
    is_running,
    judge_step,
    solve_box,
    substitute,
)
from simbench.kinematics.task_matrix import Tasks, Workspace, gauss_newton
from simbench.kinematics.tree import KinematicTree, place_bodies

STIFFNESS = 1e-6
# What the square of a half range off the nominal posture costs against a square metre: at the end, and where
# a path begins, so that it begins on the branch that leads from the nominal posture.
_FIRST_STIFFNESS = 1e-2
# Steps below 10⁻⁵ rad do not matter where a palm may be off by a millimetre.
_RULE = DampingRule(
    1e-6, 1e-9, 2e4, step_tolerance=1e-5, gain_tolerance=-1.0, loss_tolerance=0.0, cost_tolerance=0.0
)
# Steps of the joints after each step of the root.
_JOINT_ROUNDS = 10
_AT_LIMIT = 1e-9
# Sum of squares per pose, m², at which nothing is missing.
_NOTHING_MISSING = 1e-10


class CompensatedTree(NamedTuple):
    """Trunk and arms with points of the palms, on a root that compensates the COG motion."""

    tree: KinematicTree  # Joints of trunk and arms.
    tasks: Tasks  # P points only.
    work: Workspace  # Arrays that are overwritten, but for the root, which is upright at the origin.
    mass: Array  # (n + 1,): masses of the bodies of the tree, as fractions of the whole.
    com: Array  # (n + 1, 3): centres of mass of the bodies in their own axes, m.
    # (2,): how far the root goes, along its x and y, for each metre that it is to take the COG; 0 for a root
    # that does not sway.
    gain: Array
    reference: Array  # (2,): where the COG is in the root's axes while the root does not sway, m.


class HandPath(NamedTuple):
    """Points of the palms along their path, and what moves the root of the robot meanwhile.

    In pose k a root with the base parameters (x, y, z, heading, follow, advance) is at

        (x, y, z) + sway_k + follow (h_k,x, h_k,y, 0) + advance h_k,z (cos heading, sin heading, 0),

    h being the displacement of the hands: the root goes with them by a part of their horizontal motion, and
    forward while they rise. What it sways against the arms comes on top.
    """

    points: Array  # (K, P, 3): targets of the palms' points in the world, from `handle_path_points`, m.
    sway: Array  # (K, 3): what else balance asks of the root, m, world.
    hands: Array  # (K, 3): displacement of the hands in the world, from `hand_displacement`, m.


class PostureRange(NamedTuple):
    """Where joints may be, and where they should be as far as the palms leave a choice."""

    low: Array  # `low`, `high` (n,): bounds, rad or m, high ≥ low.
    high: Array
    nominal: Array  # (n,): nominal posture, rad or m.
    stiffness: Array  # (n,): what the square of a joint's distance from the nominal posture costs, m²/rad².


def make_posture_range(box: Array, nominal: Array, cost: float) -> PostureRange:
    """Weight the joints' distances from a nominal posture (n,) by their ranges `box` (2, n), rad or m.

    The cost is that of the square of a half range off the nominal posture, m².
    """
    low, high = np.ascontiguousarray(box)
    half = np.maximum(0.5 * (high - low), 1e-3)
    return PostureRange(low, high, np.ascontiguousarray(nominal), cost / (half * half))


@compiled
def compute_root_sway(hands: CompensatedTree) -> tuple[float, float]:
    """Compute how far bodies that are in place take the COG, times what the root goes against it.

    Returns c along the root's x and y, m; the root goes the other way.
    """
    x = y = 0.0
    rotation, position = hands.work.rotation, hands.work.position
    for k in range(len(hands.mass)):
        m = hands.mass[k]
        a, b, c = hands.com[k, 0], hands.com[k, 1], hands.com[k, 2]
        x += m * (position[k, 0] + rotation[k, 0, 0] * a + rotation[k, 0, 1] * b + rotation[k, 0, 2] * c)
        y += m * (position[k, 1] + rotation[k, 1, 0] * a + rotation[k, 1, 1] * b + rotation[k, 1, 2] * c)
    return hands.gain[0] * (x - hands.reference[0]), hands.gain[1] * (y - hands.reference[1])


@compiled
def compensated_gauss_newton(hands: CompensatedTree, points: Array, joints: Array) -> float:
    """Compute the normal equations of points on a tree whose root sways against its joints (n,), rad or m.

    The root's translation v and rotation rate ω about z are reduced by the joints' rates:
    v_root = v - C q̇ + ω (c_y, -c_x), C being the derivative of c. So the matrix A and the vector b of a root
    that does not sway become TᵀAT and Tᵀb. The rows of the root's other two rotations are not used. The
    targets (P, 3) are seen from where the root would be without swaying, m, root axes. Returned is the
    weighted sum of squares, m².
    """
    tree, work, gain, shifted = hands.tree, hands.work, hands.gain, np.empty(points.shape)
    place_bodies(tree, joints, work.rotation, work.position)
    cx, cy = compute_root_sway(hands)
    for k in range(len(points)):
        shifted[k, 0], shifted[k, 1], shifted[k, 2] = points[k, 0] + cx, points[k, 1] + cy, points[k, 2]
    cost = gauss_newton(tree, hands.tasks, shifted, np.empty((0, 3, 3)), work)
    if gain[0] == 0.0 and gain[1] == 0.0:
        return cost
    a, b, n = work.matrix, work.vector, len(tree.parent)
    slope = _com_jacobian(hands)
    total = a[0, 0]
    # The rotation about z first, the joints then.
    for j in range(n):
        a[6 + j, 5] += cy * a[6 + j, 0] - cx * a[6 + j, 1]
    a[5, 5] += 2.0 * (cy * a[5, 0] - cx * a[5, 1]) + total * (cx * cx + cy * cy)
    a[5, 0] += cy * total
    a[5, 1] -= cx * total
    b[5] += cy * b[0] - cx * b[1]
    for i in range(n):
        sx, sy = slope[0, i], slope[1, i]
        for j in range(i + 1):
            tx, ty = slope[0, j], slope[1, j]
            own, other = sx * a[6 + j, 0], sy * a[6 + j, 1]
            a[6 + i, 6 + j] += total * (sx * tx + sy * ty) - own - other - tx * a[6 + i, 0] - ty * a[6 + i, 1]
    for i in range(n):
        sx, sy = slope[0, i], slope[1, i]
        a[6 + i, 5] -= sx * a[5, 0] + sy * a[5, 1]
        a[6 + i, 0] -= total * sx
        a[6 + i, 1] -= total * sy
        b[6 + i] -= sx * b[0] + sy * b[1]
    return cost


@compiled
def _com_jacobian(hands: CompensatedTree) -> Array:
    """Compute how far each joint's rate moves the COG along x and y, times the gain (2, n)."""
    parent, work, axes = hands.tree.parent, hands.work, hands.work.axes
    n = len(parent)
    # Mass and first moment of each body with its subtree.
    moment, slope = np.empty((n + 1, 4)), np.empty((2, n))
    for k in range(n + 1):
        m = hands.mass[k]
        moment[k, 0] = m
        for i in range(3):
            com = work.position[k, i]
            for j in range(3):
                com += work.rotation[k, i, j] * hands.com[k, j]
            moment[k, 1 + i] = m * com
    for k in range(n - 1, -1, -1):
        for i in range(4):
            moment[parent[k], i] += moment[k + 1, i]
    for k in range(n):
        m, x, y, z = moment[k + 1, 0], moment[k + 1, 1], moment[k + 1, 2], moment[k + 1, 3]
        slope[0, k] = hands.gain[0] * (m * axes[k, 0] + axes[k, 4] * z - axes[k, 5] * y)
        slope[1, k] = hands.gain[1] * (m * axes[k, 1] + axes[k, 5] * x - axes[k, 3] * z)
    return slope


@compiled
def _posture_cost(hands: CompensatedTree, points: Array, posture: PostureRange, joints: Array) -> float:
    """Compute the normal equations, and the cost with that of the distance from the nominal posture, m²."""
    missed, cost = compensated_gauss_newton(hands, points, joints), 0.0
    for i in range(len(joints)):
        cost += posture.stiffness[i] * (joints[i] - posture.nominal[i]) ** 2
    return missed + cost


@compiled_entry(
    "hands.tree.parent (n), hands.tasks.point_body (P), points (P, 3), posture.nominal (n), joints (n)"
)
def solve_posture_ik(
    hands: CompensatedTree, points: Array, posture: PostureRange, joints: Array, rounds: int
) -> float:
    """Bring joints to where points miss their targets the least, by Levenberg-Marquardt.

    The workspace is left with the bodies in place and the normal equations there. The targets (P, 3) are seen
    from where the root would be without swaying, root axes, m. The joints (n,), rad or m, begin inside the
    bounds and are overwritten with the solution. Returned is the cost, m².
    """
    n, work, trial = len(joints), hands.work, np.empty(len(joints))
    low, high, nominal, stiffness = posture.low, posture.high, posture.nominal, posture.stiffness
    matrix, vector, lowest, highest = np.empty((n, n)), np.empty(n), np.empty(n), np.empty(n)
    progress = begin(_RULE, _posture_cost(hands, points, posture, joints))
    while is_running(_RULE, progress, rounds):
        for i in range(n):
            for j in range(i + 1):
                matrix[i, j] = work.matrix[6 + i, 6 + j]
            matrix[i, i] += stiffness[i] + progress.damping
            vector[i] = work.vector[6 + i] + stiffness[i] * (nominal[i] - joints[i])
            lowest[i], highest[i] = low[i] - joints[i], high[i] - joints[i]
        change = solve_box(matrix, vector, lowest, highest)
        largest = 0.0
        for i in range(n):
            trial[i] = min(max(joints[i] + change[i], low[i]), high[i])
            largest = max(largest, abs(change[i]))
        cost = _posture_cost(hands, points, posture, trial)
        progress = judge_step(_RULE, progress, cost, largest)
        if progress.accepted:
            for i in range(n):
                joints[i] = trial[i]
        else:
            # The caller goes on with the bodies and the normal equations, too.
            _posture_cost(hands, points, posture, joints)
    return progress.cost


@compiled_entry("hands.tree.parent (n), points (K, P, 3), hands.tasks.point_body (P), posture.nominal (n)")
def solve_path_ik(
    hands: CompensatedTree, points: Array, posture: PostureRange, rounds: int, give_up: float
) -> tuple[Array, Array]:
    """Follow points pose by pose, each from where the last one ended; the root sways about the origin.

    In every pose least is

        Σ w² ‖p − p(q)‖² + 10⁻⁶ Σ ((q − nominal) / half range)²,   low ≤ q ≤ high.

    The second term makes the posture a function of the pose alone, so that closed paths close. The targets
    (K, P, 3) are seen from where the root would be without swaying, root axes, m. The nominal posture is
    where to begin, too; the stiffness is for a half range to cost 1. The first pose may take six times as
    many rounds as the others. With a point farther than `give_up`, m, from its target the path is not
    followed any further. Returned are the joints in every pose (K, n), rad or m, and where the points are
    then (K, P, 3), m, in the same axes; infinite after giving up.
    """
    low, high, nominal = posture.low, posture.high, posture.nominal
    tasks, work, n = hands.tasks, hands.work, len(nominal)
    joints, path, found = np.empty(n), np.empty((len(points), n)), np.empty(points.shape)
    for i in range(n):
        joints[i] = min(max(nominal[i], low[i]), high[i])
    cost = _FIRST_STIFFNESS
    while cost > 1.5 * STIFFNESS:
        stiffer = PostureRange(low, high, nominal, cost * posture.stiffness)
        solve_posture_ik(hands, points[0], stiffer, joints, rounds)
        cost *= 0.1
    near = PostureRange(low, high, nominal, STIFFNESS * posture.stiffness)
    lost = False
    for t in range(len(points)):
        if not lost:
            solve_posture_ik(hands, points[t], near, joints, 2 * rounds if t == 0 else rounds)
        for i in range(n):
            path[t, i] = joints[i]
        sway_x, sway_y = compute_root_sway(hands)
        sway = (sway_x, sway_y, 0.0)
        for k in range(len(tasks.point_body)):
            body, square = tasks.point_body[k], 0.0
            for i in range(3):
                x = work.position[body, i] - sway[i]
                for j in range(3):
                    x += work.rotation[body, i, j] * tasks.point[k, j]
                found[t, k, i] = np.inf if lost else x
                square += (x - points[t, k, i]) ** 2
            lost = lost or square > give_up * give_up
    return path, found


@compiled_entry(
    "hands.tree.parent (n), hands.tasks.point_body (P), hand_path.points (K, P, 3), posture.nominal (n), "
    "bounds (2, 6), base (6), path (K, n)"
)
def optimise_base_pose(
    hands: CompensatedTree,
    hand_path: HandPath,
    posture: PostureRange,
    bounds: Array,
    rounds: int,
    base: Array,
    path: Array,
) -> tuple[Array, Array]:
    """Move a root, and the joints in all poses with it, to where the points miss their targets the least.

    Gauss-Newton steps of the six base parameters; in each pose the joints that are not at a limit go with
    them, which leaves of the normal equations Σ (A_pp − A_pq A_qq⁻¹ A_qp) dp = Σ (b_p − A_pq A_qq⁻¹ b_q).
    After each step the joints of every pose are brought to their own minimum, inside their limits. Returned
    are base parameters (6,), as in `HandPath`, and joints in every pose (K, n), rad or m; given are those to
    begin with. `bounds` (2, 6) are the least and greatest base parameters, equal where the root is to stay;
    the joints stay near the nominal posture as in `solve_path_ik`.
    """
    count, n = path.shape
    # A step that gains less than a millionth of what is missing is the last, however long it is.
    rule = DampingRule(1e-3, 1e-9, 2e5, 0.0, 1e-6, 0.0, _NOTHING_MISSING * count)
    # Steps of a tenth of a radian, of some centimetres and of a part of the hands' motion weigh the same.
    scale = np.array([1.0, 1.0, 1.0, 0.1, 0.03, 0.03])
    low, high, path = np.empty(6), np.empty(6), path.copy()
    cost, matrix, vector, rates = _reduce_path(hands, hand_path, posture, base, path)
    progress = begin(rule, cost)
    while is_running(rule, progress, rounds):
        damped = matrix.copy()
        for i in range(6):
            damped[i, i] += progress.damping * count * scale[i]
            low[i], high[i] = bounds[0, i] - base[i], bounds[1, i] - base[i]
        step = solve_box(damped, vector, low, high)
        trial, trial_path = np.empty(6), np.empty((count, n))
        for i in range(6):
            trial[i] = base[i] + step[i]
        for t in range(count):
            for i in range(n):
                x = path[t, i]
                for j in range(6):
                    x += rates[t, i, j] * step[j]
                trial_path[t, i] = min(max(x, posture.low[i]), posture.high[i])
        cost, trial_matrix, trial_vector, trial_rates = _reduce_path(
            hands, hand_path, posture, trial, trial_path
        )
        progress = judge_step(rule, progress, cost, np.inf)
        if progress.accepted:
            matrix, vector, rates = trial_matrix, trial_vector, trial_rates
            base, path = trial, trial_path
    return base, path


@compiled
def _reduce_path(
    hands: CompensatedTree, hand_path: HandPath, posture: PostureRange, base: Array, path: Array
) -> tuple[float, Array, Array, Array]:
    """Bring the joints of every pose to their minimum; add up the cost and the base's normal equations.

    Returns cost, m², matrix (6, 6), vector (6,), and how far the joints go for each of the base parameters in
    every pose (K, n, 6).
    """
    # A constant as an argument would be a type of its own, and `solve_posture_ik` compiled once more.
    rounds = np.int64(_JOINT_ROUNDS)
    cost, matrix, vector = 0.0, np.zeros((6, 6)), np.zeros(6)
    rates = np.zeros((path.shape[0], path.shape[1], 6))
    points = np.empty(hand_path.points.shape[1:])
    c, s = np.cos(base[3]), np.sin(base[3])
    for t in range(len(path)):
        sway, moved = hand_path.sway[t], hand_path.hands[t]
        ahead = base[5] * moved[2]
        x0 = base[0] + sway[0] + base[4] * moved[0] + c * ahead
        y0 = base[1] + sway[1] + base[4] * moved[1] + s * ahead
        z0 = base[2] + sway[2]
        for k in range(len(points)):
            x, y = hand_path.points[t, k, 0] - x0, hand_path.points[t, k, 1] - y0
            points[k, 0], points[k, 1] = c * x + s * y, c * y - s * x
            points[k, 2] = hand_path.points[t, k, 2] - z0
        cost += solve_posture_ik(hands, points, posture, path[t], rounds)
        free, right, root_matrix, root_vector = _eliminate_joints(hands.work, path[t], posture, base[3])
        # How the base parameters move the root: along x, y and z of the world, and about z.
        moves = np.eye(4, 6)
        moves[0, 3], moves[1, 3] = -s * ahead, c * ahead
        moves[0, 4], moves[1, 4] = moved[0], moved[1]
        moves[0, 5], moves[1, 5] = c * moved[2], s * moved[2]
        for j in range(6):
            for a in range(len(free)):
                for i in range(4):
                    rates[t, free[a], j] -= right[i, a] * moves[i, j]
            for i in range(4):
                vector[j] += moves[i, j] * root_vector[i]
        for i in range(4):
            for j in range(4):
                for a in range(6):
                    for b in range(6):
                        matrix[a, b] += moves[i, a] * root_matrix[i, j] * moves[j, b]
    return cost, matrix, vector, rates


@compiled
def _eliminate_joints(
    work: Workspace, joints: Array, posture: PostureRange, heading: float
) -> tuple[NDArray[np.int64], Array, Array, Array]:
    """Eliminate a pose's free joints from the root's normal equations: along x, y, z of the world, about z.

    Returns the joints that are not at a limit at which the cost would have them; A_qq⁻¹ A_qp for the four
    motions of the root, and A_qq⁻¹ b_q: rows (5, free joints); the root's matrix (4, 4) and vector (4,).
    """
    c, s = np.cos(heading), np.sin(heading)
    m, v, n, stiffness = work.matrix, work.vector, len(joints), posture.stiffness
    rows, slope, free, count = np.empty((4, n)), np.empty(n), np.empty(n, np.int64), 0
    for i in range(n):
        a, b = m[6 + i, 0], m[6 + i, 1]
        rows[0, i], rows[1, i] = c * a - s * b, s * a + c * b
        rows[2, i], rows[3, i] = m[6 + i, 2], m[6 + i, 5]
        slope[i] = v[6 + i] + stiffness[i] * (posture.nominal[i] - joints[i])
        at_low = joints[i] <= posture.low[i] + _AT_LIMIT and slope[i] < 0.0
        if not (at_low or (joints[i] >= posture.high[i] - _AT_LIMIT and slope[i] > 0.0)):
            free[count] = i
            count += 1
    inner, right = np.empty((count, count)), np.empty((5, count))
    for a in range(count):
        i = free[a]
        for b in range(a + 1):
            inner[a, b] = m[6 + i, 6 + free[b]]
        inner[a, a] += stiffness[i]
        for j in range(4):
            right[j, a] = rows[j, i]
        right[4, a] = slope[i]
    # NumPy's solver in here would take longer to compile than all else.
    factorise(inner, count)
    for j in range(5):
        substitute(inner, right[j], count)
    matrix = np.zeros((4, 4))
    matrix[0, 0] = matrix[1, 1] = matrix[2, 2] = m[0, 0]
    matrix[3, 3] = m[5, 5]
    matrix[3, 0] = matrix[0, 3] = c * m[5, 0] - s * m[5, 1]
    matrix[3, 1] = matrix[1, 3] = s * m[5, 0] + c * m[5, 1]
    vector = np.array([c * v[0] - s * v[1], s * v[0] + c * v[1], v[2], v[5]])
    for i in range(4):
        for a in range(count):
            vector[i] -= rows[i, free[a]] * right[4, a]
            for j in range(4):
                matrix[i, j] -= rows[i, free[a]] * right[j, a]
    return free[:count], right, matrix, vector
