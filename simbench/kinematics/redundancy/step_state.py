"""State of a step of equation 4.23, shared by its compiled and its dense form; light to import."""

from typing import NamedTuple

from simbench.kinematics.arrays import Array


class StepState(NamedTuple):
    """What the four criteria look at in one step; r resolved coordinates.

    Parameters
    ----------
    inertia : (r, r) array
        Inertia matrix A, kg·m²; its lower triangle and the columns of `ergonomic_offset` count.
    stiffness : (r,) array
        s, by how much joints near the ends of their ranges are stiffer.
    habit_step : (r,) array
        v, displacement towards the habitual posture in one step, rad or m.
    effort_coupling : (r,) array
        W_rt m_t: what the displacements of the prescribed coordinates add to effort.
    ergonomic_coupling : (r,) array
        k_erg Δt² A_rt (q(t − Δt) − q_erg)_t of the prescribed coordinates.
    ergonomic_offset : (r,) array
        q(t − Δt) − q_erg, rad or m.
    gradient : (r,) array
        ω, the gradient of det(JJᵀ).
    """

    inertia: Array
    stiffness: Array
    habit_step: Array
    effort_coupling: Array
    ergonomic_coupling: Array
    ergonomic_offset: Array
    gradient: Array
