"""The criteria of human motion, as printed (Tomić 2018), and what they look at.

Each criterion is a quadratic function of the joint speeds in a state of the body; they are open to criteria
of one's own. `redundancy_law` has the weighted sum of the thesis's four in compiled form. Light to import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array

if TYPE_CHECKING:
    from simbench.kinematics.redundancy_body import SkillBody


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


@dataclass(frozen=True)
class BodyState:
    """What criteria know of the body before a step; r resolved coordinates, h hands.

    Parameters
    ----------
    q : (r,) array
        q(t − Δt), rad or m.
    inertia : (r, r) array
        Inertia matrix A, kg·m².
    stiffness : (r,) array
        s, by how much joints near the ends of their ranges are stiffer; S is its diagonal matrix.
    effort_coupling, ergonomic_coupling : (r,) array
        S_r A_rt S_t q̇_t and A_rt (q(t − Δt) − q_erg)_t of the prescribed coordinates t.
    habit_speed : (r,) array
        v, the speeds at which a person returns to a habitual posture, from which effort counts, rad/s.
    jacobian : (6 h, r) array
        J: velocity and angular velocity of each hand per unit of joint speed, world axes.
    gradient : (r,) array
        ω, the gradient of det(JJᵀ), J that of the coordinates `SkillBody.manipulating`.
    period : float
        Δt, s.
    gain : float
        p of the manipulability criterion.
    """

    q: Array
    inertia: Array
    stiffness: Array
    effort_coupling: Array
    ergonomic_coupling: Array
    habit_speed: Array
    jacobian: Array
    gradient: Array
    period: float
    gain: float


@dataclass(frozen=True)
class Quadratic:
    """The function φ(q̇) = ½ q̇ᵀWq̇ + bᵀq̇ + c.

    Parameters
    ----------
    weight : (r, r) array
        W, symmetric, positive semidefinite.
    linear : (r,) array
        b.
    constant : float
        c.
    """

    weight: Array
    linear: Array
    constant: float = 0.0

    def __call__(self, speed: Array) -> float:
        """Compute φ. `speed` (r,): joint speeds q̇, rad/s or m/s. Returns φ(q̇)."""
        return float(0.5 * speed @ self.weight @ speed + self.linear @ speed + self.constant)


# A criterion computes its quadratic function in a state of a body: add one's own to those of `CRITERIA`.
Criterion = Callable[["SkillBody", BodyState], Quadratic]


def kinetic_energy(body: SkillBody, state: BodyState) -> Quadratic:
    """Compute ½ q̇ᵀSASq̇ (Tomić 2018, eq. 4.2), without the energy of the prescribed coordinates alone.

    Parameters
    ----------
    body : SkillBody
        Body that moves.
    state : BodyState
        Its state before the step.

    Returns
    -------
    Quadratic
        φ of the speeds of the resolved coordinates.
    """
    return Quadratic(_stiffen(state, state.inertia), state.effort_coupling)


def joint_velocity(body: SkillBody, state: BodyState) -> Quadratic:
    """Compute ½ q̇ᵀS²q̇ (eq. 4.1).

    `body`: body that moves; `state`: its state before the step. Returns φ of the speeds of the resolved
    coordinates.
    """
    return Quadratic(np.diag(state.stiffness**2), np.zeros_like(state.q))


def ergonomics(body: SkillBody, state: BodyState) -> Quadratic:
    """Compute ½ (q − q_erg)ᵀA(q − q_erg) with q = q(t − Δt) + Δt q̇ (eq. 4.5), S beside A where q̇ is squared.

    `body`: body that moves; its ergonomic posture is q_erg; `state`: its state before the step. Returns φ of
    the speeds of the resolved coordinates.
    """
    offset = state.q - body.ergonomic[body.resolved]
    pull = state.inertia @ offset + state.ergonomic_coupling
    return Quadratic(
        state.period**2 * _stiffen(state, state.inertia),
        state.period * pull + state.period**2 * state.effort_coupling,
        float(0.5 * offset @ pull),
    )


def manipulability(body: SkillBody, state: BodyState) -> Quadratic:
    """Compute ½ (q̇ − pω)ᵀ(q̇ − pω), ω the gradient of det(JJᵀ) (eq. 4.7, 4.8), S² where q̇ is squared.

    `body`: body that moves; `state`: its state before the step. Returns φ of the speeds of the resolved
    coordinates.
    """
    push = state.gain * state.gradient
    return Quadratic(np.diag(state.stiffness**2), -push, float(0.5 * push @ push))


def _stiffen(state: BodyState, weight: Array) -> Array:
    """Multiply a matrix by S from both sides."""
    return np.asarray(state.stiffness[:, None] * weight * state.stiffness)


# In the order of Tomić (2018), table 4.2.
CRITERIA: dict[str, Criterion] = {
    "energy": kinetic_energy,
    "velocity": joint_velocity,
    "ergonomy": ergonomics,
    "manipulability": manipulability,
}


def compute_weighted_sum(forms: list[Quadratic], weights: Array) -> Quadratic:
    """Add up criteria: Φ = Σ k_i φ_i (eq. 4.20). `forms`: the c criteria φ_i; `weights` (c,)."""
    return Quadratic(
        np.tensordot(weights, np.array([form.weight for form in forms]), 1),
        weights @ np.array([form.linear for form in forms]),
        float(weights @ np.array([form.constant for form in forms])),
    )


def shift_to_habit(objective: Quadratic, state: BodyState) -> Quadratic:
    """Count effort from the habitual speeds v on instead of from rest: bᵀq̇ loses vᵀWq̇.

    `objective`: Φ; `state`: holds v. Returns Φ with the linear term that belongs to v.
    """
    linear = objective.linear - objective.weight @ state.habit_speed
    return Quadratic(objective.weight, linear, objective.constant)
