"""One step of redundancy resolution with NumPy: equation 4.23 of Tomić (2018) as it is printed.

Virtual actors move by this form. The same formula is compiled in `objective` and `step`, with Cholesky
factors, for the many thousand laws that inverse optimal control tries. Both agree to rounding, which tests
check. Recordings of virtual actors keep this form because a session is named by its seed and must be the same
to the bit: the compiled one moves their joints by up to 7e-15 rad, which the search for the robot's base
placement amplifies to 1e-4 rad in its plan.
"""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy.step_state import StepState

_TWIST_CROSS = np.array([pin.Motion(unit).action.ravel() for unit in np.eye(6)])
"""Row a: the matrix of the cross product (of twists) with the a-th unit twist."""


class DenseStep(NamedTuple):
    """Solution of one step."""

    step: Array  # (r,): displacements m, rad or m.
    # (r, R): weighted pseudo-inverse of the Jacobian for the joints within their bounds; 0 in the rows of
    # others.
    pseudo_inverse: Array


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
) -> DenseStep | None:
    """Find the displacements with the least ½ mᵀWm − wᵀm of those with J m = e, inside bounds.

    m = K(Jᵀ(JKJᵀ)⁻¹(e − JKw) + w) with K = W⁻¹ (Tomić 2018, equation 4.23). Displacements beyond their bound
    are set to it and the rest is solved again (Baerlocher & Boulic 2004); a joint once locked stays so.
    `weight` (r, r): W, symmetric and positive definite; `linear_term` (r,); `jacobian` (R, r); `error` (R,):
    e, m and rad; `lower`, `upper` (r,): bounds of m, rad or m. Returns none if too few joints are within
    their bounds, or J is singular.
    """
    locked, step = np.zeros(len(linear_term), bool), np.zeros(len(linear_term))
    while len(linear_term) - np.count_nonzero(locked) >= len(error):
        gain = _invert_free(weight, locked)
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
            return DenseStep(step, pseudo_inverse)
        locked |= beyond
    return None


def _invert_free(weight: Array, locked: NDArray[np.bool_]) -> Array:
    """Inverse of a symmetric matrix with the locked rows and columns zero."""
    gain: Array = np.zeros_like(weight)
    free = np.flatnonzero(~locked)
    gain[free[:, None], free] = np.linalg.inv(weight[free[:, None], free])
    return gain


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
    `kinematics.manipulability` has the same compiled. `twists` (2, 6, n): how each hand moves with the
    joints, parents before children: linear velocity at the world's origin, then angular velocity; 0 for a
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
