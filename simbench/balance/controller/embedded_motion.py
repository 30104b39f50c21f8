"""The kernel of the motion-embedded COG Jacobian: all joint velocities as a function of the free ones.

Loops throughout: array expressions take five times as long to compile.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.balance.controller.sections import SectionColumns
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

MAX_JOINT_SPEED = 1e3
"""Joint speed, rad/s, for 1 m/s or 1 rad/s of an end, or of COG and body, from which on a section counts as
singular: that of a knee bent by about 0.01 rad."""


class EmbeddedMotion(NamedTuple):
    """Velocities of a robot with known motions, affine in the n free joint velocities."""

    # (1 + C,): joint speed for 1 m/s or 1 rad/s, of COG and body by the free joints, and of each C-busy end
    # by its section's joints; large or not finite where a section is singular, rad/s.
    joint_speeds: Array
    # (6, n + 1): velocity of the COG, then angular velocity of the body, world axes; the last column is the
    # constant part, m/s and rad/s.
    rows: Array
    # (nv, 6): velocity vector for 1 m/s or 1 rad/s of each of those six, the known motions zero.
    response: Array
    carried: Array  # (nv,): velocity vector of the known motions with those six zero, m/s and rad/s.


@compiled
def compute_embedded_motion(
    jacobian: Array,
    cog_jacobian: Array,
    points: Array,
    columns: SectionColumns,
    joint_velocity: Array,
    end_velocity: Array,
) -> EmbeddedMotion:
    """Embed known motions into the motion of a robot; the equations are in `cog_jacobian.embed`.

    Every velocity is affine in the n free ones: the last of n + 1 columns has the constant part. `jacobian`
    (6, nv): Pinocchio's `data.J`: the joints' spatial Jacobian, linear then angular, at the world's origin;
    `cog_jacobian` (3, nv): Pinocchio's `data.Jcom`: Jacobian of the COG, m; `points` (1 + C, 3): positions of
    the ends of the base section and of the C-busy ones in the world frame, m; `columns`: columns of the
    velocity vector by what is known of them; `joint_velocity` (nv,): velocities of the J-busy joints; the
    others are not read, rad/s; `end_velocity` (S, 6): linear (m/s) and angular velocity (rad/s) of the
    sections' ends, world axes; those of the base section and of the C-busy ones are read. Returns task rows,
    response and carried velocities, and how close the sections are to a singularity.
    """
    n = len(columns.free)
    joint_speeds = np.zeros(len(points))
    motion = _known_and_free(jacobian.shape[1], columns, joint_velocity)
    at_base = _columns_at(jacobian, points[0])
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
    return EmbeddedMotion(joint_speeds, rows, response, carried)


@compiled
def singular_section(joint_speeds: Array) -> int:
    """Find a section that is singular.

    The base section comes last: nothing can be said of it while a limb is singular. `joint_speeds` (1 + C,):
    joint speeds of the embedded motion, as in `EmbeddedMotion`, rad/s. Returns row of `joint_speeds`, or -1
    if no section is singular.
    """
    for row in range(len(joint_speeds) - 1, -1, -1):
        if not joint_speeds[row] < MAX_JOINT_SPEED:
            return row
    return -1


@compiled
def _known_and_free(nv: int, columns: SectionColumns, joint_velocity: Array) -> Array:
    """Velocity vector as a function of the free velocities, (nv, n + 1), where that is known beforehand."""
    n = len(columns.free)
    motion = np.zeros((nv, n + 1))
    for k in range(n):
        motion[columns.free[k], k] = 1.0
    for column in columns.given:
        motion[column, n] = joint_velocity[column]
    return motion


@compiled
def _columns_at(jacobian: Array, point: Array) -> Array:
    """Columns of a spatial Jacobian taken at a point, (nv, 6), row by row; the root's are a body's twist."""
    nv = jacobian.shape[1]
    at_point = np.empty((nv, 6))
    for column in range(nv):
        for i in range(6):
            at_point[column, i] = jacobian[i, column]
        _shift(at_point[column], point)
    return at_point


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
    n = rows.shape[1] - 1
    lower = _factorise_motion(motion)
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
def _factorise_motion(motion: Array) -> Array:
    """Rows of (L, cᵀ), (n + 1, n): NᵀN = LLᵀ, c = L⁻¹ Nᵀ w, motion = (N, w) without the rows of the root."""
    nv, n = len(motion), motion.shape[1] - 1
    lower = np.zeros((n + 1, n))
    for i in range(n + 1):
        for j in range(min(i + 1, n)):
            value = 0.0
            for row in range(6, nv):
                value += motion[row, i] * motion[row, j]
            for k in range(j):
                value -= lower[i, k] * lower[j, k]
            lower[i, j] = np.sqrt(value) if i == j else value / lower[j, j]
    return lower


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
