"""The laws of single criteria (Tomić 2018, §4.2.4) and the weighted law without bounds, in closed form."""

import numpy as np

from simbench.errors import SkillError
from simbench.kinematics.arrays import Array
from simbench.kinematics.redundancy_body import SkillBody
from simbench.kinematics.redundancy_criteria import BodyState, Quadratic, manipulability
from simbench.kinematics.redundancy_step import StepProblem, make_step_factors, solve_step


def velocity_law(state: BodyState, twist: Array) -> Array:
    """Compute J⁺Ẋ, the law of least joint velocity (Tomić 2018, §4.2.4).

    `state`: state before the step; `twist` (6 h,): velocities Ẋ of the hands, m/s and rad/s, world axes.
    Returns (r,): joint speeds, rad/s or m/s.
    """
    return np.asarray(np.linalg.pinv(state.jacobian) @ twist)


def energy_law(state: BodyState, twist: Array) -> Array:
    """Compute J_A⁺Ẋ with J_A⁺ = A⁻¹Jᵀ(JA⁻¹Jᵀ)⁻¹, the law of least kinetic energy (§4.2.4).

    `state`: state before the step; `twist` (6 h,): velocities Ẋ of the hands, m/s and rad/s, world axes.
    Returns (r,): joint speeds, rad/s or m/s.
    """
    return np.asarray(_invert_by_inertia(state) @ twist)


def ergonomics_law(body: SkillBody, state: BodyState, twist: Array) -> Array:
    """Compute J_A⁺Ẋ − (1/Δt)(I − J_A⁺J)(q(t − Δt) − q_erg), the law of ergonomics (§4.2.4).

    `body`: gives the ergonomic posture q_erg; `state`: state before the step; `twist` (6 h,): velocities Ẋ of
    the hands, m/s and rad/s, world axes. Returns (r,): joint speeds, rad/s or m/s.
    """
    inverse = _invert_by_inertia(state)
    away = (state.q - body.ergonomic[body.resolved]) / state.period
    return np.asarray(inverse @ (twist + state.jacobian @ away) - away)


def manipulability_law(body: SkillBody, state: BodyState, twist: Array) -> Array:
    """Compute J⁺Ẋ + β(I − J⁺J)ω with β = p, the law of manipulability (§4.2.4).

    `body`: body that moves; `state`: state before the step; `twist` (6 h,): velocities Ẋ of the hands, m/s
    and rad/s, world axes. Returns (r,): joint speeds, rad/s or m/s.
    """
    push = -manipulability(body, state).linear
    inverse = np.linalg.pinv(state.jacobian)
    return np.asarray(inverse @ (twist - state.jacobian @ push) + push)


def weighted_law(objective: Quadratic, jacobian: Array, twist: Array) -> Array:
    """Find the joint speeds with the least Φ of those that move the hands as asked (eq. 4.23).

    q̇ = K(Jᵀ(JKJᵀ)⁻¹(Ẋ + JKb) − b), K = W⁻¹. `objective`: Φ, from `compute_weighted_sum`; `jacobian` (6 h,
    r): J: velocity and angular velocity of each hand per unit of joint speed, world axes; `twist` (6 h,):
    velocities Ẋ of the hands, m/s and rad/s, world axes. Returns (r,): joint speeds, rad/s or m/s.
    """
    rows, size = jacobian.shape
    unbounded, speed = np.full(size, np.inf), np.zeros(size)
    problem = StepProblem(
        weight=np.ascontiguousarray(objective.weight),
        linear_term=-objective.linear,
        columns=np.ascontiguousarray(jacobian.T),
        error=np.ascontiguousarray(twist),
        lower=-unbounded,
        upper=unbounded,
    )
    locked = np.zeros(size, dtype=np.bool_)
    if not solve_step(problem, np.inf, False, locked, speed, make_step_factors(size, rows)):
        raise SkillError("the weighted law has no solution: its weight matrix or the Jacobian is singular")
    return speed


def _invert_by_inertia(state: BodyState) -> Array:
    """Pseudo-inverse J_A⁺ (r, 6 h) of the Jacobian, weighted by the inertia matrix."""
    spread = np.linalg.solve(state.inertia, state.jacobian.T)
    return np.asarray(spread @ np.linalg.inv(state.jacobian @ spread))
