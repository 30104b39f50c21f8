"""Kernels of the balance controller: pose errors of soles, trunk and COG in, joint velocities out.

The motion-embedded COG Jacobian tells how a supporting leg moves the COG while the limbs follow their tasks
(Kim, Choi, Oh & You, Real-time humanoid motion generation through motion-embedded COG Jacobian, 2005): all
joint velocities as a function of the free ones. Loops throughout: array expressions take five times as long
to compile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.balance.inverted_pendulum import CogZmpGains, commanded_velocity
from simbench.balance.sections import SOLE_TOLERANCE, SectionColumns
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.rotation import matrix_to_quaternion, quaternion_to_matrix

# Joint speed, rad/s, for 1 m/s or 1 rad/s of an end, or of COG and body, from which on a section counts as
# singular: that of a knee bent by about 0.01 rad.
MAX_JOINT_SPEED = 1e3
# The same for legs of fewer than six joints, whose soles and trunk are next to singular wherever both are
# level: what needs more is given up.
MAX_SHORT_LEG_SPEED = 20.0


@compiled
def compute_embedded_motion(
    jacobian: Array,
    cog_jacobian: Array,
    points: Array,
    columns: SectionColumns,
    joint_velocity: Array,
    end_velocity: Array,
) -> tuple[Array, Array, Array, Array]:
    """Embed known motions into the COG Jacobian (Kim, Choi, Oh & You 2005).

    With everything in world axes, p_i the position of a section's end, and [v×] the cross-product matrix: the
    twist V_1 of the body, taken at the base section's end, follows from that end's velocity ẋ_1 (zero on the
    ground) as V_1 = ẋ_1 − J_1 q̇_1. The COG moves with it and with the joints, J_Gi = R_o ᵒJ_Gi (7): ṗ_G =
    [I, −(p_G − p_1)×] V_1 + Σ_i J_Gi q̇_i. A C-busy section moves by q̇_i = J_i⁺ (ẋ_i − X_i1 V_1) with the
    generalised inverse J_i⁺ and X_i1 = X_i⁻¹ X_1 = [[I, −(p_i − p_1)×], [0, I]]. Together, the base section's
    own term being J_G1: J_meG = −J_v1 + [(p_G − p_1)×] J_ω1 + J_G1 + Σ_C-busy J_Gi J_i⁺ X_i1 J_1, ṗ_G − ṗ_meG
    = [I, −(p_G − p_1)×] ẋ_1 + Σ_C-busy J_Gi J_i⁺ (ẋ_i − X_i1 ẋ_1) + Σ_J-busy J_Gj q̇_j. An end also moves
    with the joints that its section hangs on, as a hand with the trunk: with the Jacobian J_ij of that
    section's joints J_ij q̇_j is subtracted from ẋ_i, whether q̇_j is known or, in a section that is used,
    free. Where more than six joints are free, the sum of squares of all joint velocities is least.

    Every velocity is affine in the n free ones: the last of n + 1 columns has the constant part. `jacobian`
    (6, nv): Pinocchio's `data.J`: the joints' spatial Jacobian, linear then angular, at the world's origin;
    `cog_jacobian` (3, nv): Pinocchio's `data.Jcom`: Jacobian of the COG, m; `points` (1 + C, 3): positions of
    the ends of the base section and of the C-busy ones in the world frame, m; `columns`: columns of the
    velocity vector by what is known of them; `joint_velocity` (nv,): velocities of the J-busy joints; the
    others are not read, rad/s; `end_velocity` (S, 6): linear (m/s) and angular velocity (rad/s) of the
    sections' ends, world axes; those of the base section and of the C-busy ones are read. Returns
    `joint_speeds` (1 + C,): joint speed for 1 m/s or 1 rad/s, of COG and body by the free joints, and of each
    C-busy end by its section's joints; large or not finite where a section is singular, rad/s; `rows` (6, n +
    1): velocity of the COG, then angular velocity of the body, world axes; the last column is the constant
    part, m/s and rad/s; `response` (nv, 6): velocity vector for 1 m/s or 1 rad/s of each of those six, the
    known motions zero; `carried` (nv,): velocity vector of the known motions with those six zero, m/s and
    rad/s.
    """
    n = len(columns.free)
    joint_speeds = np.zeros(len(points))
    nv = jacobian.shape[1]
    # Velocity vector as a function of the free velocities where that is known beforehand.
    motion = np.zeros((nv, n + 1))
    for k in range(n):
        motion[columns.free[k], k] = 1.0
    for column in columns.given:
        motion[column, n] = joint_velocity[column]
    # Columns of the spatial Jacobian taken at a point, row by row; the root's are a body's twist.
    at_base = np.empty((nv, 6))
    for column in range(nv):
        for i in range(6):
            at_base[column, i] = jacobian[i, column]
        _shift(at_base[column], points[0])
    # The body's twist at the base section's end.
    body = np.zeros((n + 1, 6))
    _add_chain_twist(at_base, columns.moves[0], motion, -1.0, body)
    for i in range(6):
        body[n, i] += end_velocity[columns.ends[0], i]
    offset = np.empty(3)
    for limb in range(1, len(points)):
        for i in range(3):
            offset[i] = points[limb, i] - points[0, i]
        joint_speeds[limb] = _solve_limb(at_base, columns, limb, offset, body, end_velocity, motion)
    _write_root(at_base, body, motion)
    rows = np.zeros((6, n + 1))
    for column in range(len(motion)):
        for k in range(n + 1):
            for i in range(3):
                rows[i, k] += cog_jacobian[i, column] * motion[column, k]
    for k in range(n + 1):
        for i in range(3, 6):
            rows[i, k] = body[k, i]
    joint_speeds[0], response, carried = _solve_least_motion(rows, motion)
    return joint_speeds, rows, response, carried


@compiled
def solve_in_priority_order(
    jacobian: Array,
    cog_jacobian: Array,
    points: Array,
    columns: SectionColumns,
    joint_velocity: Array,
    end_velocity: Array,
) -> tuple[float, Array, Array]:
    """Solve the tasks of legs with fewer than six joints, the later ones as far as the earlier ones allow.

    Strict task priority (Siciliano & Slotine 1991): both soles, the trunk's orientation, the COG's horizontal
    velocity, its height. Unknown are the root's twist and the velocities of the joints that are not known. Of
    a task A x = b, with N the null space of those before it, x ← x + (A N)⁺ (b − A x): what the legs cannot
    do is missed by the least squares. Directions that need more than `MAX_SHORT_LEG_SPEED` do not count as
    possible; of the height, which straight knees take away, those that need more than `MAX_JOINT_SPEED`.
    Arguments as for `compute_embedded_motion`. Returns the largest velocity of a sole that is missed, m/s or
    rad/s, and `response` (nv, 6) and `carried` (nv,) as `compute_embedded_motion`.
    """
    unknown = np.concatenate((np.arange(6), columns.free, columns.busy))
    rows, right = _stack_tasks(jacobian, cog_jacobian, points, columns, unknown, joint_velocity, end_velocity)
    soles, width = 6 * len(points), len(unknown)
    left, solution = rows.copy(), np.zeros((width, 7))
    for first, last in ((0, soles), (soles, soles + 3), (soles + 3, soles + 5), (soles + 5, soles + 6)):
        for row in range(first, last):
            for k in range(width):
                for m in range(7):
                    right[row, m] -= rows[row, k] * solution[k, m]
        least = 1.0 / (MAX_JOINT_SPEED if first == soles + 5 else MAX_SHORT_LEG_SPEED)
        _solve_task(left, first, last, least, right, solution)
    missed = 0.0
    for row in range(soles):
        for k in range(width):
            right[row, 6] -= rows[row, k] * solution[k, 6]
        missed = max(missed, abs(right[row, 6]))
    response, carried = np.zeros((jacobian.shape[1], 6)), joint_velocity.copy()
    for k in range(width):
        for i in range(6):
            response[unknown[k], i] = solution[k, i]
        carried[unknown[k]] = solution[k, 6]
    return missed, response, carried


@compiled
def _stack_tasks(
    jacobian: Array,
    cog_jacobian: Array,
    points: Array,
    columns: SectionColumns,
    unknown: NDArray[np.int64],
    joint_velocity: Array,
    end_velocity: Array,
) -> tuple[Array, Array]:
    """Stack the tasks A x = b of soles, trunk's orientation and COG, and b as a function of what is wanted.

    `unknown` (u,): columns of the unknown velocities, the root's first. Returns A (6 E + 6, u), and b (6 E +
    6, 7): for 1 m/s or 1 rad/s of the COG and the trunk, and a last column with the known motions.
    """
    soles, width = 6 * len(points), len(unknown)
    rows, right = np.zeros((soles + 6, width)), np.zeros((soles + 6, 7))
    twist = np.empty(6)
    for end in range(len(points)):
        for i in range(6):
            right[6 * end + i, 6] = end_velocity[columns.ends[end], i]
        for column in range(6, jacobian.shape[1]):
            if columns.moves[end, column] and joint_velocity[column] != 0.0:
                for i in range(6):
                    twist[i] = jacobian[i, column]
                _shift(twist, points[end])
                for i in range(6):
                    right[6 * end + i, 6] -= twist[i] * joint_velocity[column]
        for k in range(width):
            if k < 6 or columns.moves[end, unknown[k]]:
                for i in range(6):
                    twist[i] = jacobian[i, unknown[k]]
                _shift(twist, points[end])
                for i in range(6):
                    rows[6 * end + i, k] = twist[i]
    for i in range(3):
        right[soles + i, 3 + i] = right[soles + 3 + i, i] = 1.0
        for column in columns.given:
            right[soles + 3 + i, 6] -= cog_jacobian[i, column] * joint_velocity[column]
        for k in range(width):
            rows[soles + 3 + i, k] = cog_jacobian[i, unknown[k]]
        for k in range(6):
            rows[soles + i, k] = jacobian[3 + i, k]
    return rows, right


@compiled
def _solve_task(left: Array, first: int, last: int, least: float, missing: Array, solution: Array) -> None:
    """Add (A N)⁺ (b − A x) to the solution, and take what it uses from the null space of the later tasks.

    The range of (A N)ᵀ comes from Gram and Schmidt, longest row first, as long as a row is longer than
    `least`: with Q its orthonormal basis, (A N)⁺ = Qᵀ (A N Qᵀ)⁺. `left` (r, u): A N of all tasks, of which
    the rows from `first` to `last` are this one's; `missing` (r, 7): b − A x; `solution` (u, 7): x.
    """
    width, count = left.shape[1], last - first
    remaining, basis, rank = left[first:last].copy(), np.empty((count, width)), 0
    for _ in range(count):
        longest, square = 0, 0.0
        for i in range(count):
            length = 0.0
            for k in range(width):
                length += remaining[i, k] * remaining[i, k]
            if length > square:
                longest, square = i, length
        if square < least * least:
            break
        for k in range(width):
            basis[rank, k] = remaining[longest, k] / np.sqrt(square)
        _remove_direction(remaining, basis[rank])
        rank += 1
    across = np.zeros((rank, count))
    for j in range(rank):
        for i in range(count):
            for k in range(width):
                across[j, i] += basis[j, k] * left[first + i, k]
    _, inverse = _right_inverse(across)
    for j in range(rank):
        for m in range(missing.shape[1]):
            step = 0.0
            for i in range(count):
                step += inverse[i, j] * missing[first + i, m]
            for k in range(width):
                solution[k, m] += basis[j, k] * step
        _remove_direction(left[last:], basis[j])


@compiled
def _remove_direction(rows: Array, direction: Array) -> None:
    """Subtract from each row its part along a unit vector, twice for accuracy, in place."""
    for i in range(2 * len(rows)):
        along, row = 0.0, i // 2
        for k in range(len(direction)):
            along += direction[k] * rows[row, k]
        for k in range(len(direction)):
            rows[row, k] -= along * direction[k]


@compiled
def singular_section(joint_speeds: Array) -> int:
    """Find a section that is singular.

    The base section comes last: nothing can be said of it while a limb is singular. `joint_speeds` (1 + C,):
    those of `compute_embedded_motion`, rad/s. Returns row of `joint_speeds`, or -1 if no section is singular.
    """
    for row in range(len(joint_speeds) - 1, -1, -1):
        if not joint_speeds[row] < MAX_JOINT_SPEED:
            return row
    return -1


@compiled
def _solve_limb(
    at_base: Array,
    columns: SectionColumns,
    limb: int,
    offset: Array,
    body: Array,
    end_velocity: Array,
    motion: Array,
) -> float:
    """Write a C-busy section's joint velocities q̇_i = J_i⁺ (ẋ_i − X_i1 V_1); return the norm of J_i⁺."""
    first, width = columns.start[limb - 1], columns.start[limb] - columns.start[limb - 1]
    # The twist of the end without the section's joints; their rows of `motion` are still zero.
    twist = body.copy()
    _add_chain_twist(at_base, columns.moves[limb], motion, 1.0, twist)
    for k in range(len(twist)):
        _shift(twist[k], offset)
    end_jacobian = np.empty((6, width))
    column_at_end = np.empty(6)
    for k in range(width):
        for i in range(6):
            column_at_end[i] = at_base[columns.busy[first + k], i]
        _shift(column_at_end, offset)
        for i in range(6):
            end_jacobian[i, k] = column_at_end[i]
    norm, inverse = _right_inverse(end_jacobian)
    last = len(twist) - 1
    for k in range(width):
        for i in range(6):
            motion[columns.busy[first + k], last] += inverse[k, i] * end_velocity[columns.ends[limb], i]
            for m in range(last + 1):
                motion[columns.busy[first + k], m] -= inverse[k, i] * twist[m, i]
    return norm


@compiled
def _shift(twist: Array, offset: Array) -> None:
    """Take a twist, linear then angular, at a point `offset` away from where it is given, in place."""
    twist[0] += twist[4] * offset[2] - twist[5] * offset[1]
    twist[1] += twist[5] * offset[0] - twist[3] * offset[2]
    twist[2] += twist[3] * offset[1] - twist[4] * offset[0]


@compiled
def _add_chain_twist(
    at_base: Array, moves: NDArray[np.bool_], motion: Array, sign: float, twist: Array
) -> None:
    """Add the twist that the joints marked in `moves` give their end, relative to the body, times a sign."""
    for column in range(len(moves)):
        if moves[column]:
            for k in range(len(twist)):
                rate = sign * motion[column, k]
                if rate != 0.0:
                    for i in range(6):
                        twist[k, i] += at_base[column, i] * rate


@compiled
def _write_root(at_base: Array, body: Array, motion: Array) -> None:
    """Write the root's velocity in its own axes into `motion`, from the twist of the body in world axes."""
    for k in range(len(body)):
        # The root's columns are [[R, p × R], [0, R]].
        for i in range(3):
            motion[3 + i, k] = 0.0
            for j in range(3):
                motion[3 + i, k] += at_base[3 + i, 3 + j] * body[k, 3 + j]
        for j in range(3):
            linear = body[k, j]
            for m in range(3):
                linear -= at_base[3 + m, j] * motion[3 + m, k]
            for i in range(3):
                motion[i, k] += at_base[i, j] * linear


@compiled
def _right_inverse(matrix: Array) -> tuple[float, Array]:
    """Norm (Frobenius) and values of the generalised inverse of a matrix with independent rows.

    If they are not, neither is finite, or is as large as rounding lets it be. With matrix = L Q, the rows of
    Q orthonormal by Gram and Schmidt, twice for accuracy, the inverse is Qᵀ L⁻¹.
    """
    count, width = matrix.shape
    lower, rows = np.zeros((count, count)), matrix.copy()
    for i in range(count):
        for _ in range(2):
            for j in range(i):
                along = 0.0
                for k in range(width):
                    along += rows[j, k] * rows[i, k]
                lower[i, j] += along
                for k in range(width):
                    rows[i, k] -= along * rows[j, k]
        square = 0.0
        for k in range(width):
            square += rows[i, k] * rows[i, k]
        lower[i, i] = np.sqrt(square)
        for k in range(width):
            rows[i, k] /= lower[i, i]
    inverse, total = np.empty((width, count)), 0.0
    for k in range(width):
        for j in range(count - 1, -1, -1):
            value = rows[j, k]
            for i in range(j + 1, count):
                value -= inverse[k, i] * lower[i, j]
            inverse[k, j] = value / lower[j, j]
            total += inverse[k, j] * inverse[k, j]
    return np.sqrt(total), inverse


@compiled
def _solve_least_motion(rows: Array, motion: Array) -> tuple[float, Array, Array]:
    """Solve rows · (y, 1) = b for the free velocities y with the least ‖N y + w‖², all joint velocities.

    With NᵀN = LLᵀ, z = Lᵀ y and c = L⁻¹ Nᵀ w the optimality (KKT) conditions ask for the shortest z + c with
    (A L⁻ᵀ) z = b − k, where rows = (A, k). Returned are the norm of (A L⁻ᵀ)⁺, the velocities for each b, and
    those for b = 0.
    """
    nv, n = len(motion), rows.shape[1] - 1
    # Rows of (L, cᵀ): NᵀN = LLᵀ, c = L⁻¹ Nᵀ w, motion = (N, w) without the rows of the root.
    lower = np.zeros((n + 1, n))
    for i in range(n + 1):
        for j in range(min(i + 1, n)):
            value = 0.0
            for row in range(6, nv):
                value += motion[row, i] * motion[row, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(value) if i == j else value / lower[j, j]
    scaled = np.empty((6, n))
    for i in range(6):
        for j in range(n):
            value = rows[i, j]
            for k in range(j):
                value -= scaled[i, k] * lower[j, k]
            scaled[i, j] = value / lower[j, j]
    speed, inverse = _right_inverse(scaled)
    free = np.empty((n, 7))
    for k in range(n):
        free[k, 6] = -lower[n, k]
    for i in range(6):
        missing = -rows[i, n]
        for k in range(n):
            missing += scaled[i, k] * lower[n, k]
        for k in range(n):
            free[k, i] = inverse[k, i]
            free[k, 6] += inverse[k, i] * missing
    _solve_transposed(lower, free)
    response, carried = _expand_free(motion, free)
    return speed, response, carried


@compiled
def _solve_transposed(lower: Array, values: Array) -> None:
    """Overwrite the columns z of `values` by L⁻ᵀ z."""
    for k in range(len(values) - 1, -1, -1):
        for i in range(values.shape[1]):
            for j in range(k + 1, len(values)):
                values[k, i] -= lower[j, k] * values[j, i]
            values[k, i] /= lower[k, k]


@compiled
def _expand_free(motion: Array, free: Array) -> tuple[Array, Array]:
    """Velocity vectors for the free velocities, one for each of six columns, and with the known motions."""
    nv, n = len(motion), len(free)
    response, carried = np.zeros((nv, 6)), np.empty(nv)
    for row in range(nv):
        carried[row] = motion[row, n]
        for k in range(n):
            if motion[row, k] != 0.0:
                carried[row] += motion[row, k] * free[k, 6]
                for i in range(6):
                    response[row, i] += motion[row, k] * free[k, i]
    return response, carried


class TickInputs(NamedTuple):
    """What `solve_reference_motion` reads in a tick, of a plan of N samples.

    It is built once: the arrays are written in place from tick to tick. Rows of what is measured that are
    still to come do not count.
    """

    # Kinematics of the reference posture, all in the world frame. (6, nv): Pinocchio's `data.J`: the joints'
    # spatial Jacobian, linear then angular, at the world's origin.
    jacobian: Array
    cog_jacobian: Array  # (3, nv): Pinocchio's `data.Jcom`: Jacobian of the COG, m.
    reference_cog: Array  # (3,): position of the COG, m.
    trunk_rotation: Array  # (3, 3): rotation of the root link.
    left_rotation: Array  # (3, 3): rotation of the left sole frame.
    left_position: Array  # (3,): position of the left sole frame, m.
    right_rotation: Array  # (3, 3): rotation of the right sole frame.
    right_position: Array  # (3,): position of the right sole frame, m.
    # (2, 3): target positions of the left and the right sole frame at the start of the tick, world frame, m.
    previous_position: Array
    position: Array  # (2, 3): target positions of the left and the right sole frame at its end, m.
    yaw: Array  # (2,): target rotation of the soles about the vertical, rad; both lie flat.
    rate: float  # Samples per second, 1/s.
    joints: Array  # (N, n): planned joint positions, rad.
    embedded: bool  # Whether the velocity of J-busy joints is known; otherwise they are taken to rest.
    cog_height: Array  # (N,): planned height of the COG above the floor, m.
    cog: Array  # (N, 2): planned horizontal position of the COG in the world frame, m.
    cog_velocity: Array  # (N, 2): planned horizontal velocity of the COG, m/s.
    zmp: Array  # (N, 2): planned ZMP on the floor in the world frame, m.
    measured_cog: Array  # (N, 2): horizontal position of the COG in the world frame, m.
    measured_zmp: Array  # (N, 2): ZMP on the floor in the world frame, m.
    gains: CogZmpGains  # Gains of the COG-ZMP control, 1/s.
    # One leg is the base section, the other one is C-busy, all other joints are J-busy.
    columns: SectionColumns


@compiled_entry(
    "configuration (q), trunk (4), inputs.jacobian (6, v), inputs.cog_jacobian (3, v), "
    "inputs.columns.moves (e, v), inputs.joints (N, j), inputs.cog (N, 2), inputs.zmp (N, 2), "
    "inputs.measured_cog (N, 2), inputs.measured_zmp (N, 2), planned (v), commanded (v)"
)
def solve_reference_motion(
    now: int,
    then: int,
    feedback_rate: float,
    configuration: Array,
    trunk: Array,
    inputs: TickInputs,
    planned: Array,
    commanded: Array,
) -> bool:
    """Find the velocities of all joints in a tick of the balance loop.

    Soles and trunk follow `pose_error_twists`, the COG's height z follows ż = feedback_rate (z_then − z) +
    (rate − feedback_rate) (z_then − z_now), and J-busy joints reach their planned positions at the tick's
    end. The COG's horizontal velocity is that of the plan in one solution, and that of `commanded_velocity`
    in the other. `compute_embedded_motion` gives the joint velocities, `solve_in_priority_order` those of
    legs with fewer than six joints. `now`: sample of the plan at the start of the tick; `then`: sample of the
    plan at its end; `feedback_rate`: proportional gain on the pose error, 1/s; `configuration` (nq,):
    configuration of the reference: pose of the root link in the world frame (m and quaternion x, y, z, w),
    then joint positions, rad; `trunk` (4,): target orientation of the root link at the end of the tick,
    quaternion x, y, z, w; `inputs`: kinematics, targets of the soles, plan and measurement; `planned` (nv,):
    overwritten: velocity of the plan: the root's in its own axes, then the joints', m/s and rad/s;
    `commanded` (nv,): overwritten: the same with the feedback of COG and ZMP. Returns false, with nothing
    overwritten, if a leg is singular or cannot move its sole as planned.
    """
    columns = inputs.columns
    sole_twists, task = np.zeros((2, 6)), np.zeros(6)
    pose_error_twists(feedback_rate, inputs, trunk, sole_twists, task[3:])
    height = inputs.cog_height
    task[0], task[1] = inputs.cog_velocity[now, 0], inputs.cog_velocity[now, 1]
    task[2] = feedback_rate * (height[then] - inputs.reference_cog[2]) + (inputs.rate - feedback_rate) * (
        height[then] - height[now]
    )
    points, known = np.empty((2, 3)), np.zeros(inputs.jacobian.shape[1])
    for row in range(2):
        for i in range(3):
            left_first = columns.ends[row] == 0
            points[row, i] = inputs.left_position[i] if left_first else inputs.right_position[i]
    for column in columns.given:
        if inputs.embedded:
            known[column] = inputs.rate * (inputs.joints[then, column - 6] - configuration[column + 1])
    if columns.short:
        missed, response, carried = solve_in_priority_order(
            inputs.jacobian, inputs.cog_jacobian, points, columns, known, sole_twists
        )
        if missed > SOLE_TOLERANCE * inputs.rate:
            return False
    else:
        joint_speeds, _, response, carried = compute_embedded_motion(
            inputs.jacobian, inputs.cog_jacobian, points, columns, known, sole_twists
        )
        if singular_section(joint_speeds) >= 0:
            return False
    command = commanded_velocity(
        inputs.gains,
        inputs.cog_velocity[now],
        inputs.cog[now],
        inputs.zmp[now],
        inputs.measured_cog[now],
        inputs.measured_zmp[now],
    )
    # Carried + response · task, and the same with the COG's commanded horizontal velocity.
    along, across = command[0] - task[0], command[1] - task[1]
    for row in range(len(carried)):
        gain = response[row]
        planned[row] = carried[row] + (
            gain[0] * task[0]
            + gain[1] * task[1]
            + gain[2] * task[2]
            + gain[3] * task[3]
            + gain[4] * task[4]
            + gain[5] * task[5]
        )
        commanded[row] = planned[row] + gain[0] * along + gain[1] * across
    return True


@compiled
def pose_error_twists(
    feedback_rate: float, inputs: TickInputs, trunk: Array, sole_twists: Array, trunk_velocity: Array
) -> None:
    """Write the pose-error twists of the soles and the trunk, the task velocities of the balance controller.

    With the target x_d,now → x_d,then of the tick, v = feedback_rate (x_d,then − x) + (rate − feedback_rate)
    (x_d,then − x_d,now): the target's own velocity and a proportional feedback of the error. Orientations are
    fed back only: ω = feedback_rate log(R_d Rᵀ). `feedback_rate`: proportional gain on the pose error, 1/s;
    equal to the rate of the ticks, the error is gone at the tick's end; `inputs`: poses of the soles and
    those that they have to reach; `trunk` (4,): orientation that the root link has to reach, quaternion
    x, y, z, w; `sole_twists` (2, 6): overwritten: linear (m/s) and angular velocity (rad/s) of the left and
    the right sole frame, world axes; `trunk_velocity` (3,): overwritten: angular velocity of the root link,
    world axes, rad/s.
    """
    rate, target = inputs.rate, np.zeros((3, 3))
    target[2, 2] = 1.0
    for foot in range(2):
        position = inputs.left_position if foot == 0 else inputs.right_position
        target[0, 0] = target[1, 1] = np.cos(inputs.yaw[foot])
        target[1, 0] = np.sin(inputs.yaw[foot])
        target[0, 1] = -target[1, 0]
        for i in range(3):
            displacement = inputs.position[foot, i] - inputs.previous_position[foot, i]
            error = inputs.position[foot, i] - position[i]
            sole_twists[foot, i] = feedback_rate * error + (rate - feedback_rate) * displacement
        rotation = inputs.left_rotation if foot == 0 else inputs.right_rotation
        _rotation_error(target, rotation, feedback_rate, sole_twists[foot, 3:])
    quaternion_to_matrix(trunk[0], trunk[1], trunk[2], trunk[3], target)
    _rotation_error(target, inputs.trunk_rotation, feedback_rate, trunk_velocity)


@compiled
def _rotation_error(target: Array, rotation: Array, rate: float, velocity: Array) -> None:
    """Write rate · log(target · rotationᵀ), the angular velocity in world axes that reduces the error."""
    error = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            for k in range(3):
                error[i, j] += target[i, k] * rotation[j, k]
    x, y, z, w = matrix_to_quaternion(error)
    sine = np.sqrt(x * x + y * y + z * z)
    # Of the two quaternions of a rotation the one of the smaller angle; 2 is the limit at a small angle.
    scale = 2.0 * np.arctan2(sine, abs(w)) / sine if sine > 0.0 else 2.0
    scale = -rate * scale if w < 0.0 else rate * scale
    velocity[0], velocity[1], velocity[2] = scale * x, scale * y, scale * z
