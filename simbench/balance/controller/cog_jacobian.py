"""The motion-embedded COG Jacobian: how a supporting leg moves the COG while the limbs follow their tasks.

Kim, Choi, Oh & You, Real-time humanoid motion generation through motion-embedded COG Jacobian (2005).
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.balance.controller.embedded_motion import (
    MAX_JOINT_SPEED,
    compute_embedded_motion,
    singular_section,
)
from simbench.balance.controller.sections import Assignment
from simbench.errors import BalanceError
from simbench.kinematics.arrays import Array


@dataclass(frozen=True)
class Embedding:
    """Velocities of a robot with known limb motions, as affine functions of the free joint velocities.

    COG velocity ṗ_G = J_meG q̇_1 + `cog_carried`, angular velocity of the body ω_o = `body_jacobian` q̇_1 +
    `body_carried`, all in world axes, with q̇_1 the n free joint velocities: those of the base section, then
    those of the sections that are used.
    """

    free: NDArray[np.int64]  # (n,) of int: columns of q̇_1 in the velocity vector.
    cog_jacobian: Array  # (3, n): motion-embedded COG Jacobian J_meG, m.
    cog_carried: Array  # (3,): ṗ_G − ṗ_meG: part of the COG's velocity that the known motions cause, m/s.
    body_jacobian: Array  # (3, n): Jacobian of the body's orientation.
    body_carried: Array  # (3,): part of the body's angular velocity that the known motions cause, rad/s.
    # (nv, 6): velocity vector for each m/s of the COG and each rad/s of the body, the known motions zero.
    response: Array
    # (nv,): velocity vector of the known motions with COG and body's orientation at rest, m/s and rad/s.
    carried: Array


def embed(
    model: pin.Model, data: pin.Data, assignment: Assignment, joint_velocity: Array, end_velocity: Array
) -> Embedding:
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
    free. `model`: model with a free-flyer root. `data`: its data after `pinocchio.jacobianCenterOfMass` at
    the robot's configuration. `assignment`: sections and their roles. `joint_velocity` (nv,): joint
    velocities; those of J-busy sections are read, rad/s. `end_velocity` (S, 6): A row for each section:
    velocity of the frame at its end, linear then angular, in world axes (LOCAL_WORLD_ALIGNED), m/s and rad/s.
    Those of the base section and of C-busy sections are read. Returns COG and body's orientation as functions
    of the free joint velocities, and the solution for given ones.
    """
    points = np.empty((len(assignment.frames), 3))
    for row, frame in enumerate(assignment.frames):
        points[row] = pin.updateFramePlacement(model, data, frame).translation
    columns = assignment.columns
    embedded = compute_embedded_motion(data.J, data.Jcom, points, columns, joint_velocity, end_velocity)
    row = singular_section(embedded.joint_speeds)
    if row >= 0:
        raise BalanceError(_singular(assignment.names, row, embedded.joint_speeds[row]))
    cog_rows, body_rows, n = embedded.rows[:3], embedded.rows[3:], len(columns.free)
    return Embedding(
        free=columns.free,
        cog_jacobian=cog_rows[:, :n],
        cog_carried=cog_rows[:, n],
        body_jacobian=body_rows[:, :n],
        body_carried=body_rows[:, n],
        response=embedded.response,
        carried=embedded.carried,
    )


def solve(embedding: Embedding, cog_velocity: Array, body_velocity: Array) -> Array:
    """Find the velocity with a given motion of COG and body, the known motions included.

    Where more than the six joints that this takes are free, the sum of squares of all joint velocities is
    least. `embedding`: the robot with its known motions; `cog_velocity` (3,): ṗ_G, velocity of the COG in the
    world frame, m/s; `body_velocity` (3,): angular velocity of the body in world axes, rad/s. Returns (nv,):
    as in Pinocchio: the root's linear and angular velocity in its own axes, then the joints', m/s and rad/s.
    """
    return embedding.carried + respond(embedding, cog_velocity, body_velocity)


def respond(embedding: Embedding, cog_velocity: Array, body_velocity: Array) -> Array:
    """Find the velocity that a motion of COG and body adds, given ends and J-busy joints at rest.

    It is linear: `solve` of two sums is `solve` of one plus `respond` to the other. `embedding`: the robot
    with its known motions; `cog_velocity` (3,): velocity of the COG in the world frame, m/s; `body_velocity`
    (3,): angular velocity of the body in world axes, rad/s. Returns (nv,): the root's linear and angular
    velocity in its own axes, then the joints', m/s and rad/s.
    """
    return embedding.response @ np.concatenate((cog_velocity, body_velocity))


def _singular(names: tuple[str, ...], row: int, speed: float) -> str:
    """Say which section is singular, and by how much."""
    what = f"base section {names[0]}" if row == 0 else f"C-busy section {names[row]}"
    whose = "of COG or body takes" if row == 0 else "of its end takes"
    return (
        f"{what} is singular, as with a straight knee: 1 m/s or 1 rad/s {whose} {speed:.2g} rad/s "
        f"of its joints; allowed: below {MAX_JOINT_SPEED:.0f} rad/s"
    )
