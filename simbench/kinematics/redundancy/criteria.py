"""Criteria of human motion: each a quadratic function of the joint speeds in a state of the body."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy.body import SkillBody


@dataclass(frozen=True)
class State:
    """Where the body is before a step; r resolved coordinates, h hands.

    Parameters
    ----------
    q : (r,) array
        q(t − Δt), rad or m.
    inertia : (r, r) array
        A, of the person.
    reluctance : (r,) array
        s, by how much joints near the ends of their ranges are more reluctant; S is its diagonal matrix.
    carried, pulled : (r,) array
        S_r A_rt S_t q̇_t and A_rt (q(t − Δt) − q_erg)_t of the coordinates that move as they are told.
    habit : (r,) array
        v, the habit's speeds, from which effort counts, rad/s.
    jacobian : (6 h, r) array
        J: velocity and angular velocity of each hand, world axes.
    push : (r,) array
        ω, the gradient of det(JJᵀ), J that of the coordinates that reach (`SkillBody.reaching`).
    period : float
        Δt, s.
    gain : float
        p of the manipulability criterion.
    """

    q: Array
    inertia: Array
    reluctance: Array
    carried: Array
    pulled: Array
    habit: Array
    jacobian: Array
    push: Array
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
        """Compute φ at joint speeds (r,)."""
        return float(0.5 * speed @ self.weight @ speed + self.linear @ speed + self.constant)


Criterion = Callable[[SkillBody, State], Quadratic]
"""What a criterion is: add one's own to those of `CRITERIA`."""


def kinetic_energy(body: SkillBody, state: State) -> Quadratic:
    """½ q̇ᵀSASq̇ (Tomić 2018, eq. 4.2), but for what the told coordinates have alone."""
    return Quadratic(_scaled(state, state.inertia), state.carried)


def joint_velocity(body: SkillBody, state: State) -> Quadratic:
    """½ q̇ᵀS²q̇ (eq. 4.1)."""
    return Quadratic(np.diag(state.reluctance**2), np.zeros_like(state.q))


def ergonomy(body: SkillBody, state: State) -> Quadratic:
    """½ (q − q_erg)ᵀA(q − q_erg) with q = q(t − Δt) + Δt q̇ (eq. 4.5), S beside A where q̇ is squared."""
    away = state.q - body.ergonomic[body.resolved]
    pull = state.inertia @ away + state.pulled
    return Quadratic(
        state.period**2 * _scaled(state, state.inertia),
        state.period * pull + state.period**2 * state.carried,
        float(0.5 * away @ pull),
    )


def manipulability(body: SkillBody, state: State) -> Quadratic:
    """½ (q̇ − pω)ᵀ(q̇ − pω), ω the gradient of det(JJᵀ) (eq. 4.7, 4.8), S² where q̇ is squared."""
    push = state.gain * state.push
    return Quadratic(np.diag(state.reluctance**2), -push, float(0.5 * push @ push))


def _scaled(state: State, weight: Array) -> Array:
    return np.asarray(state.reluctance[:, None] * weight * state.reluctance)


CRITERIA: dict[str, Criterion] = {
    "energy": kinetic_energy,
    "velocity": joint_velocity,
    "ergonomy": ergonomy,
    "manipulability": manipulability,
}
"""In the order of Tomić (2018), table 4.2."""


def weighted_sum(forms: list[Quadratic], weights: Array) -> Quadratic:
    """Φ = Σ k_i φ_i (eq. 4.20)."""
    return Quadratic(
        np.tensordot(weights, np.array([form.weight for form in forms]), 1),
        weights @ np.array([form.linear for form in forms]),
        float(weights @ np.array([form.constant for form in forms])),
    )


def from_habit(objective: Quadratic, state: State) -> Quadratic:
    """Count effort from the habit's speeds v on: bᵀq̇ loses vᵀWq̇."""
    return Quadratic(objective.weight, objective.linear - objective.weight @ state.habit, objective.constant)
