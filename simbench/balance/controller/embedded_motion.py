"""Compiled code of the motion-embedded COG Jacobian: a robot's velocity by what its base section may decide.

Loops throughout: array expressions take five times as long to compile.
"""

import numpy as np
from numpy.typing import NDArray

from simbench.balance.controller.sections import Layout
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled

FASTEST = 1e3
"""Joint speed, rad/s, for 1 m/s or 1 rad/s of an end, or of COG and body, from which on a section counts as
singular: that of a knee bent by about 0.01 rad."""


@compiled
def embedded_motion(
    jacobian: Array,
    cog_jacobian: Array,
    points: Array,
    layout: Layout,
    joint_velocity: Array,
    end_velocity: Array,
) -> tuple[Array, Array, Array, Array]:
    """Embed known motions into the motion of a robot; the equations are in `cog_jacobian.embed`.

    Every velocity is affine in the n free ones: the last of n + 1 columns has the constant part.

    Parameters
    ----------
    jacobian, cog_jacobian : (6, nv), (3, nv) array
        Pinocchio's `data.J`, columns at the world's origin, and `data.Jcom`.
    points : (1 + C, 3) array
        Where the ends of the base section and of the C-busy ones are, m.
    layout : Layout
    joint_velocity : (nv,) array
        rad/s.
    end_velocity : (S, 6) array
        m/s and rad/s.

    Returns
    -------
    speeds : (1 + C,) array
        Joint speed for 1 m/s or 1 rad/s, of COG and body by the free joints, and of each C-busy end by its
        own; large or not finite where it is singular.
    rows : (6, n + 1) array
        Velocity of the COG, then of the body's orientation.
    response : (nv, 6) array
        Velocity vector for each of those six, the known motions zero.
    carried : (nv,) array
        Velocity vector of the known motions with those six zero.
    """
    nv, n = jacobian.shape[1], len(layout.free)
    speeds = np.zeros(len(points))
    motion = np.zeros((nv, n + 1))
    for k in range(n):
        motion[layout.free[k], k] = 1.0
    for column in layout.given:
        motion[column, n] = joint_velocity[column]
    # Row by row the columns taken at the base section's end; there the root's are the body's twist.
    at_base = np.empty((nv, 6))
    for column in range(nv):
        for i in range(6):
            at_base[column, i] = jacobian[i, column]
        _shift(at_base[column], points[0])

    body = np.zeros((n + 1, 6))
    _carry(at_base, layout.moves[0], motion, -1.0, body)
    for i in range(6):
        body[n, i] += end_velocity[layout.ends[0], i]
    offset = np.empty(3)
    for limb in range(1, len(points)):
        first, width = layout.start[limb - 1], layout.start[limb] - layout.start[limb - 1]
        for i in range(3):
            offset[i] = points[limb, i] - points[0, i]
        # What the end does by itself; the limb's own rows of `motion` are still zero.
        twist = body.copy()
        _carry(at_base, layout.moves[limb], motion, 1.0, twist)
        for k in range(n + 1):
            _shift(twist[k], offset)
        own = np.empty((6, width))
        column_at_end = np.empty(6)
        for k in range(width):
            for i in range(6):
                column_at_end[i] = at_base[layout.busy[first + k], i]
            _shift(column_at_end, offset)
            for i in range(6):
                own[i, k] = column_at_end[i]
        speeds[limb], inverse = _right_inverse(own)
        for k in range(width):
            for i in range(6):
                motion[layout.busy[first + k], n] += inverse[k, i] * end_velocity[layout.ends[limb], i]
                for m in range(n + 1):
                    motion[layout.busy[first + k], m] -= inverse[k, i] * twist[m, i]

    _root(at_base, body, motion)
    rows = np.zeros((6, n + 1))
    for column in range(nv):
        for k in range(n + 1):
            for i in range(3):
                rows[i, k] += cog_jacobian[i, column] * motion[column, k]
    for k in range(n + 1):
        for i in range(3, 6):
            rows[i, k] = body[k, i]
    speeds[0], response, carried = _least_motion(rows, motion)
    return speeds, rows, response, carried


@compiled
def singular_section(speeds: Array) -> int:
    """Find the row of `speeds` that is singular, or -1.

    The base section comes last: nothing can be said of it while a limb is singular.
    """
    for row in range(len(speeds) - 1, -1, -1):
        if not speeds[row] < FASTEST:
            return row
    return -1


@compiled
def _shift(twist: Array, offset: Array) -> None:
    """Take a twist, linear then angular, at a point `offset` away from where it is given, in place."""
    twist[0] += twist[4] * offset[2] - twist[5] * offset[1]
    twist[1] += twist[5] * offset[0] - twist[3] * offset[2]
    twist[2] += twist[3] * offset[1] - twist[4] * offset[0]


@compiled
def _carry(at_base: Array, moves: NDArray[np.bool_], motion: Array, sign: float, twist: Array) -> None:
    """Add the twist that the joints marked in `moves` give their end, relative to the body, times a sign."""
    for column in range(len(moves)):
        if moves[column]:
            for k in range(len(twist)):
                rate = sign * motion[column, k]
                if rate != 0.0:
                    for i in range(6):
                        twist[k, i] += at_base[column, i] * rate


@compiled
def _root(at_base: Array, body: Array, motion: Array) -> None:
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
def _least_motion(rows: Array, motion: Array) -> tuple[float, Array, Array]:
    """Solve rows · (y, 1) = b for the free velocities y with the least ‖N y + w‖², all joint velocities.

    With NᵀN = LLᵀ, z = Lᵀ y and c = L⁻¹ Nᵀ w the optimality (KKT) conditions ask for the shortest z + c with
    (A L⁻ᵀ) z = b − k, where rows = (A, k). Returned are the velocities for each b, and those for b = 0.
    """
    nv, n = len(motion), rows.shape[1] - 1
    # Rows of (L, cᵀ) from those of (NᵀN, wᵀN), then of A L⁻ᵀ.
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
    for k in range(n - 1, -1, -1):
        for i in range(7):
            for j in range(k + 1, n):
                free[k, i] -= lower[j, k] * free[j, i]
            free[k, i] /= lower[k, k]
    response, carried = np.zeros((nv, 6)), np.empty(nv)
    for row in range(nv):
        carried[row] = motion[row, n]
        for k in range(n):
            if motion[row, k] != 0.0:
                carried[row] += motion[row, k] * free[k, 6]
                for i in range(6):
                    response[row, i] += motion[row, k] * free[k, i]
    return speed, response, carried
