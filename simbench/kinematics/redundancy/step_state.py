"""State of a step of equation 4.23, shared by its compiled and its dense form; light to import."""

from typing import NamedTuple

from simbench.kinematics.arrays import Array


class StepState(NamedTuple):
    """What the four criteria look at in one step; r resolved coordinates."""

    # (r, r): inertia matrix A, kg·m²; its lower triangle and the columns of `ergonomic_offset` count.
    inertia: Array
    stiffness: Array  # (r,): s, by how much joints near the ends of their ranges are stiffer.
    habit_step: Array  # (r,): v, displacement towards the habitual posture in one step, rad or m.
    # (r,): W_rt m_t: what the displacements of the prescribed coordinates add to effort.
    effort_coupling: Array
    ergonomic_coupling: Array  # (r,): k_erg Δt² A_rt (q(t − Δt) − q_erg)_t of the prescribed coordinates.
    ergonomic_offset: Array  # (r,): q(t − Δt) − q_erg, rad or m.
    gradient: Array  # (r,): ω, the gradient of det(JJᵀ).
