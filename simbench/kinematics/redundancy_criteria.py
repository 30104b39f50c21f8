"""Redundancy resolution as printed (Tomić 2018): the criteria of human motion, and one step of equation 4.23.

Each criterion is a quadratic function of the joint speeds in a state of the body; they are open to criteria
of one's own. `redundancy_law` has the weighted sum of the thesis's four in compiled form.

Virtual actors move by the step with NumPy. The same formula is compiled in `redundancy_law` and
`redundancy_step`, with Cholesky factors, for the many thousand laws that inverse optimal control tries. Both
agree to rounding, which tests check. Recordings of virtual actors keep this form because a session is named
by its seed and must be the same to the bit: the compiled one moves their joints by up to 7e-15 rad, which the
search for the robot's base placement amplifies to 1e-4 rad in its plan. Light to import.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pinocchio as pin

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


# Row a: the matrix of the cross product (of twists) with the a-th unit twist.
_TWIST_CROSS = np.array([pin.Motion(unit).action.ravel() for unit in np.eye(6)])


def compute_objective(weights: Array, period: float, gain: float, state: StepState) -> tuple[Array, Array]:
    """Compute W = K⁻¹ and w = −Δt b of equation 4.23, as `objective.set_objective` does.

    `weights` (4,): k of energy, velocity, ergonomy, manipulability; `period`: Δt, s; `gain`: p of the
    manipulability criterion; `state`: what the criteria look at; arrays of a criterion without weight are not
    read. Returns `weight` (r, r): W: the cost of displacements; `linear_term` (r,): w: its solution K w is
    where free hands would go.
    """
    energy, velocity, ergonomy, manipulability = weights.tolist()
    weight = (energy + ergonomy * period**2) * state.inertia
    weight.flat[:: len(state.stiffness) + 1] += velocity + manipulability
    weight *= state.stiffness[:, None] * state.stiffness
    linear_term = weight @ state.habit_step
    linear_term -= state.effort_coupling
    if ergonomy:
        linear_term -= ergonomy * period**2 * (state.inertia @ state.ergonomic_offset)
        linear_term -= state.ergonomic_coupling
    if manipulability:
        linear_term += manipulability * gain * period * state.gradient
    return weight, linear_term


def solve_dense_step(
    weight: Array, linear_term: Array, jacobian: Array, error: Array, lower: Array, upper: Array
) -> tuple[Array, Array] | None:
    """Find the displacements with the least ½ mᵀWm − wᵀm of those with J m = e, inside bounds.

    m = K(Jᵀ(JKJᵀ)⁻¹(e − JKw) + w) with K = W⁻¹ (Tomić 2018, equation 4.23). Displacements beyond their bound
    are set to it and the rest is solved again (Baerlocher & Boulic 2004); a joint once locked stays so.
    `weight` (r, r): W, symmetric and positive definite; `linear_term` (r,); `jacobian` (R, r); `error` (R,):
    e, m and rad; `lower`, `upper` (r,): bounds of m, rad or m. Returns the displacements m (r,), rad or
    m, and the weighted pseudo-inverse (r, R) of J for the joints within their bounds, 0 in the rows of
    others; None if too few joints are within their bounds, or J is singular.
    """
    locked, step = np.zeros(len(linear_term), bool), np.zeros(len(linear_term))
    while len(linear_term) - np.count_nonzero(locked) >= len(error):
        # Inverse with the locked rows and columns zero.
        gain = np.zeros_like(weight)
        free = np.flatnonzero(~locked)
        gain[free[:, None], free] = np.linalg.inv(weight[free[:, None], free])
        spread = gain @ jacobian.T
        try:
            pseudo_inverse = spread @ np.linalg.inv(jacobian @ spread)
        except np.linalg.LinAlgError:
            return None
        bound = np.where(locked, np.clip(step, lower, upper), 0.0)
        free_step = bound + gain @ (linear_term - weight @ bound)
        step = free_step + pseudo_inverse @ (error - jacobian @ free_step)
        beyond = ((step < lower) | (step > upper)) & ~locked
        if not beyond.any():
            return step, pseudo_inverse
        locked |= beyond
    return None


def joint_limit_stiffness(
    q: Array, lower: Array, upper: Array, free_fraction: float, stiffening: float
) -> Array:
    """Compute how stiff joints are near the ends of their ranges, as `anatomy` does.

    `q` (n,): joint angles, rad; `lower`, `upper` (n,): ranges of the joints, rad; `free_fraction`: middle
    fraction of a range in which a joint moves freely; `stiffening`: how much stiffer a joint is beyond it.
    Returns (n,): s: speeds count s times; 1 in the middle of a range.
    """
    near = np.abs(2.0 * q - lower - upper) / (upper - lower)
    stiffness: Array = 1.0 + stiffening * np.maximum(near - free_fraction, 0.0) ** 2
    return stiffness


def compute_manipulability_gradient(twists: Array) -> Array:
    """Compute the gradient of det(JJᵀ) of two hands: ω_i = 2 det(JJᵀ) tr[(JJᵀ)⁻¹ ∂J/∂q_i Jᵀ], eq. 4.8.

    In world coordinates a joint turns the axes of those beyond it: ∂J_j/∂q_i = J_i × J_j (the cross product
    of twists) if i comes before j, else 0; and the determinant does not depend on the point of reference.
    `manipulability_gradient` has the same compiled. `twists` (2, 6, n): how each hand moves with the joints,
    parents before children: linear velocity at the world's origin, then angular velocity; 0 for a
    joint that does not move the hand. Returns (n,): ω, per rad.
    """
    jacobian = twists.reshape(12, -1)
    gram = jacobian @ jacobian.T
    dual = np.linalg.solve(gram, jacobian).reshape(twists.shape)
    # Σ_j dual_j · (J_i x J_j) for j after i is linear in J_i and in the sums over the later j of J_j dual_jᵀ;
    # where a joint does not move a hand, its twist there is zero.
    pairs = (dual[:, :, None] * twists[:, None]).reshape(2, 36, -1)
    later = pairs.sum(axis=-1, keepdims=True) - np.cumsum(pairs, axis=-1)
    change = (twists * (_TWIST_CROSS @ later)).sum(axis=(0, 1))
    return np.asarray(2.0 * np.linalg.det(gram) * change)
