"""The motion-embedded COG Jacobian: how a supporting leg moves the COG while the limbs do what they must.

Kim, Choi, Oh & You, Real-time humanoid motion generation through motion-embedded COG Jacobian (2005).
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.sections import Assignment, Layout
from simbench.errors import BalanceError
from simbench.kinematics.compiled import compiled

Array = NDArray[np.float64]

_FASTEST = 1e3
"""Joint speed, rad/s, for 1 m/s or 1 rad/s of an end, or of COG and body, from which on a section counts as
singular: that of a knee bent by about 0.01 rad."""


@dataclass(frozen=True)
class Embedding:
    """A robot whose limbs are busy, as a linear map from what its base section may still decide.

    COG velocity ṗ_G = J_meG q̇_1 + `cog_carried`, angular velocity of the body ω_o = `body_jacobian` q̇_1 +
    `body_carried`, all in world axes, with q̇_1 the n free joint velocities: those of the base section, then
    those of the sections that are used.

    Parameters
    ----------
    free : (n,) array of int
        Columns of q̇_1 in the velocity vector.
    cog_jacobian : (3, n) array
        J_meG, m.
    cog_carried : (3,) array
        ṗ_G − ṗ_meG: what the known motions make of the COG's velocity, m/s.
    body_jacobian : (3, n) array
    body_carried : (3,) array
        What the known motions make of the body's angular velocity, rad/s.
    response : (nv, 6) array
        Velocity vector for each m/s of the COG and each rad/s of the body, the known motions zero.
    carried : (nv,) array
        Velocity vector of the known motions with COG and body's orientation at rest.
    """

    free: NDArray[np.int64]
    cog_jacobian: Array
    cog_carried: Array
    body_jacobian: Array
    body_carried: Array
    response: Array
    carried: Array


def embed(
    model: pin.Model, data: pin.Data, assignment: Assignment, joint_velocity: Array, end_velocity: Array
) -> Embedding:
    """Embed known motions into the COG Jacobian.

    With everything in world axes, p_i the place of a section's end, and [v×] the cross-product matrix: the
    twist V_1 of the body, taken at the base section's end, follows from that end's velocity ẋ_1 (zero on the
    ground) as V_1 = ẋ_1 − J_1 q̇_1. The COG moves with it and with the joints, J_Gi = R_o ᵒJ_Gi (7):
    ṗ_G = [I, −(p_G − p_1)×] V_1 + Σ_i J_Gi q̇_i.
    A C-busy section moves by q̇_i = J_i⁺ (ẋ_i − X_i1 V_1) with the generalised inverse J_i⁺ and
    X_i1 = X_i⁻¹ X_1 = [[I, −(p_i − p_1)×], [0, I]]. Together, the base section's own term being J_G1:
    J_meG = −J_v1 + [(p_G − p_1)×] J_ω1 + J_G1 + Σ_C-busy J_Gi J_i⁺ X_i1 J_1,
    ṗ_G − ṗ_meG = [I, −(p_G − p_1)×] ẋ_1 + Σ_C-busy J_Gi J_i⁺ (ẋ_i − X_i1 ẋ_1) + Σ_J-busy J_Gj q̇_j.
    An end also moves with the joints that its section hangs on, as a hand with the trunk: with the Jacobian
    J_ij of that section's joints J_ij q̇_j is taken off ẋ_i, be q̇_j known or, in a section that is used, free.

    Parameters
    ----------
    model : pinocchio.Model
        With a free-flyer root.
    data : pinocchio.Data
        After `pinocchio.jacobianCenterOfMass` at the robot's configuration.
    assignment : Assignment
    joint_velocity : (nv,) array
        Those of J-busy sections are read, rad/s.
    end_velocity : (S, 6) array
        A row for each section, linear then angular, of the frame at its end in world axes
        (LOCAL_WORLD_ALIGNED), m/s and rad/s. Those of the base section and of C-busy sections are read.

    Returns
    -------
    Embedding

    Raises
    ------
    BalanceError
        If a C-busy section is singular, such as a straight leg, or the base section with what it carries.
    """
    points = np.empty((len(assignment.frames), 3))
    for row, frame in enumerate(assignment.frames):
        points[row] = pin.updateFramePlacement(model, data, frame).translation
    layout = assignment.layout
    speeds, rows, response, carried = _embed(data.J, data.Jcom, points, layout, joint_velocity, end_velocity)
    # The base section last: nothing can be said of it while a limb is singular.
    for row in reversed(range(len(speeds))):
        if not speeds[row] < _FASTEST:
            raise BalanceError(_singular(assignment.names, row, speeds[row]))
    n = len(layout.free)
    return Embedding(layout.free, rows[:3, :n], rows[:3, n], rows[3:, :n], rows[3:, n], response, carried)


def solve(embedding: Embedding, cog_velocity: Array, body_velocity: Array) -> Array:
    """Find the velocity that moves the COG and turns the body as wanted, the known motions included.

    Where more joints are free than the six that this takes, the sum of squares of all joint velocities is
    least.

    Parameters
    ----------
    embedding : Embedding
    cog_velocity : (3,) array
        ṗ_G in the world, m/s.
    body_velocity : (3,) array
        Angular velocity of the body in world axes, rad/s.

    Returns
    -------
    (nv,) array
        As in Pinocchio: the root's linear and angular velocity in its own axes, then the joints'.
    """
    return embedding.carried + respond(embedding, cog_velocity, body_velocity)


def respond(embedding: Embedding, cog_velocity: Array, body_velocity: Array) -> Array:
    """Find the velocity that a motion of COG and body adds, given ends and J-busy joints at rest.

    It is linear: `solve` of two sums is `solve` of one plus `respond` to the other.

    Parameters
    ----------
    embedding : Embedding
    cog_velocity : (3,) array
        In the world, m/s.
    body_velocity : (3,) array
        Angular, in world axes, rad/s.

    Returns
    -------
    (nv,) array
        As of `solve`.
    """
    return embedding.response @ np.concatenate((cog_velocity, body_velocity))


def _singular(names: tuple[str, ...], row: int, speed: float) -> str:
    what = f"base section {names[0]}" if row == 0 else f"C-busy section {names[row]}"
    whose = "of COG or body takes" if row == 0 else "of its end takes"
    return (
        f"{what} is singular, as with a straight knee: 1 m/s or 1 rad/s {whose} {speed:.2g} rad/s "
        f"of its joints; allowed: below {_FASTEST:.0f} rad/s"
    )


@compiled
def _embed(
    jacobian: Array,
    cog_jacobian: Array,
    points: Array,
    layout: Layout,
    joint_velocity: Array,
    end_velocity: Array,
) -> tuple[Array, Array, Array, Array]:
    """Compute what an `Embedding` holds; first the joint speeds that tell singular sections, base first.

    Every velocity is affine in the n free ones: the last of n + 1 columns has the constant part. Loops, since
    array expressions take five times as long to compile.
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
