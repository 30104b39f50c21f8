"""The paper's arm, two links in a plane, in closed form and compiled: as the model, and as a real arm may be.

`animate_model` integrates the model that the paper calibrates; `record_real` an arm that is not the model:
elastic joints, and friction that depends on the speed (Stribeck) and on the direction of motion. Both are
driven by a feedback law. Parameters are the base parameters in the order of `tables.TRUE`, followed by the
inertia of joint 2's drive.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.calibration.arm_recording import ArmMotion, Feedback
from simbench.kinematics.compiled import compiled

Array = NDArray[np.float64]

LENGTH = 0.25
"""Length of link 1, m."""
DRIVE = 6
"""Index of the inertia of joint 2's drive in nine base parameters."""


def base_of(values: Array) -> Array:
    """Arrange eight or nine base parameters as the kernels take them, the drive's inertia last."""
    if len(values) == DRIVE + 2:
        return np.append(values, 0.0)
    return np.append(np.delete(values, DRIVE), values[DRIVE])


def gains_of(law: Feedback) -> Array:
    """Arrange a law's gains as the kernels take them."""
    return np.array([law.position, law.velocity, law.acceleration])


@compiled
def solve_planar(p: Array, added: Array, q: Array, v: Array, torque: Array, out: Array) -> None:
    """Compute accelerations from torques, M(q) q̈ + h(q, q̇) = τ (Ohtsuki, §4), rad/s².

    `p` (9,): base parameters; `added` (2,): inertia added to each joint, kg·m².
    """
    c, s = np.cos(q[1]), np.sin(q[1])
    couple = LENGTH * (p[4] * c - p[5] * s)
    change = -LENGTH * (p[4] * s + p[5] * c)
    m11, m12, m22 = p[0] + p[3] + 2.0 * couple + added[0], p[3] + couple, p[3] + p[8] + added[1]
    t1 = torque[0] - change * (2.0 * v[0] + v[1]) * v[1]
    t2 = torque[1] + change * v[0] * v[0]
    determinant = m11 * m22 - m12 * m12
    out[0] = (m22 * t1 - m12 * t2) / determinant
    out[1] = (m11 * t2 - m12 * t1) / determinant


@compiled
def _model_acceleration(p: Array, gains: Array, target: Array, q: Array, v: Array, out: Array) -> None:
    torque, added = np.empty(2), np.full(2, -gains[2])
    torque[0] = gains[0] * (target[0] - q[0]) + (gains[1] - p[1]) * v[0] - p[2] * np.sign(v[0])
    torque[1] = gains[0] * (target[1] - q[1]) + (gains[1] - p[6]) * v[1] - p[7] * np.sign(v[1])
    solve_planar(p, added, q, v, torque, out)


@compiled
def animate_model(
    p: Array, gains: Array, start: Array, target: Array, step: float, steps: int, euler: bool
) -> tuple[Array, Array]:
    """Integrate the model from rest; returns q and q̇ (steps + 1, k, 2) of k motions, rad and rad/s.

    Classical Runge-Kutta on position and velocity together; with `euler` the paper's scheme (§7): Runge-Kutta
    for the velocity at a fixed position, and Euler's method for the position with the new velocity.
    """
    count = len(start)
    q, v = np.empty((steps + 1, count, 2)), np.zeros((steps + 1, count, 2))
    a1, a2, a3, a4 = np.empty(2), np.empty(2), np.empty(2), np.empty(2)
    move = 0.0 if euler else step
    for k in range(count):
        q[0, k] = start[k]
        for i in range(steps):
            x, u = q[i, k], v[i, k]
            _model_acceleration(p, gains, target[k], x, u, a1)
            u2 = u + 0.5 * step * a1
            _model_acceleration(p, gains, target[k], x + 0.5 * move * u, u2, a2)
            u3 = u + 0.5 * step * a2
            _model_acceleration(p, gains, target[k], x + 0.5 * move * u2, u3, a3)
            u4 = u + step * a3
            _model_acceleration(p, gains, target[k], x + move * u3, u4, a4)
            v[i + 1, k] = u + step / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            q[i + 1, k] = x + (step * v[i + 1, k] if euler else step / 6.0 * (u + 2.0 * u2 + 2.0 * u3 + u4))
    return q, v


def animate(
    values: Array, law: Feedback, start: Array, target: Array, step: float, steps: int, euler: bool = False
) -> tuple[Array, Array]:
    """Integrate the arm with eight or nine base parameters under a law; returns as `animate_model`."""
    return animate_model(base_of(values), gains_of(law), start, target, step, steps, euler)


@dataclass(frozen=True)
class RealArm:
    """What a real arm has and the model lacks."""

    coulomb: tuple[float, float] = (0.0, 0.0)
    """Friction of each joint in fast motion, N·m, instead of that among the base parameters."""
    breakaway: float = 1.0
    """Friction at rest over that in fast motion."""
    stribeck: float = 0.1
    """Speed over which the one falls to the other, rad/s."""
    uneven: float = 0.0
    """Fraction by which friction is greater in one direction, and smaller in the other."""
    creep: float = 1e-4
    """Speed below which friction falls to zero, rad/s: a joint that sticks creeps by as little."""
    resonance: float = 0.0
    """Frequency of each joint's drive against its held link, Hz; 0: rigid joints."""


ROTOR = np.array([0.10, 0.05])
"""Inertia of the motors' rotors, which the elastic joints separate from the links, kg·m²."""
SPRING_DAMPING = 0.02
"""Damping ratio of the elastic joints."""


@compiled
def _real_change(p: Array, gains: Array, real: Array, target: Array, state: Array, out: Array) -> None:
    """Compute the rates of link angles, link speeds, rotor angles and rotor speeds, rows of (4, 2) arrays.

    `real` (10,): friction of both joints, breakaway ratio, Stribeck speed, unevenness, stiffness (2),
    N·m/rad, and damping (2), N·m·s/rad, of the joints, and the speed of creeping; without stiffness the
    rotors are part of the links.
    """
    elastic = real[5] > 0.0
    row = 2 if elastic else 0
    torque = np.empty(2)
    for j in range(2):
        x, u = state[row, j], state[row + 1, j]
        falling = np.exp(-((u / real[3]) ** 2))
        friction = real[j] * (1.0 + (real[2] - 1.0) * falling) * np.tanh(u / real[9])
        friction *= 1.0 + real[4] * np.sign(u)
        torque[j] = gains[0] * (target[j] - x) + gains[1] * u - p[1 if j == 0 else 6] * u - friction
    out[0], out[2] = state[1], state[3]
    if elastic:
        for j in range(2):
            twist = real[5 + j] * (state[2, j] - state[0, j]) + real[7 + j] * (state[3, j] - state[1, j])
            out[3, j] = (torque[j] - twist) / (ROTOR[j] - gains[2])
            torque[j] = twist
        solve_planar(p, -ROTOR, state[0], state[1], torque, out[1])
    else:
        solve_planar(p, np.full(2, -gains[2]), state[0], state[1], torque, out[1])


@compiled
def _integrate_real(
    p: Array, gains: Array, real: Array, start: Array, target: Array, step: float, every: int, samples: int
) -> Array:
    """Integrate by Runge-Kutta; returns q, q̇ and q̈ of the links (3, k, samples, 2), each `every` steps."""
    seen = np.empty((3, len(start), samples, 2))
    state, k1, k2, k3, k4 = np.zeros((5, 4, 2))
    for k in range(len(start)):
        state[:] = 0.0
        state[0], state[2] = start[k], start[k]
        for i in range(samples):
            for inner in range(every):
                _real_change(p, gains, real, target[k], state, k1)
                if inner == 0:
                    seen[0, k, i], seen[1, k, i], seen[2, k, i] = state[0], state[1], k1[1]
                _real_change(p, gains, real, target[k], state + 0.5 * step * k1, k2)
                _real_change(p, gains, real, target[k], state + 0.5 * step * k2, k3)
                _real_change(p, gains, real, target[k], state + step * k3, k4)
                state += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return seen


def record_real(
    values: Array,
    arm: RealArm,
    law: Feedback,
    start: Array,
    target: Array,
    rate: float,
    every: int,
    samples: int,
) -> list[ArmMotion]:
    """Record motions (k) of a real arm from rest, the links' angles as their sensors see them.

    `values`: base parameters of the links and their viscous friction; `rate`: of the integration, Hz, of
    which each `every`-th step is a sample.
    """
    stiffness = ROTOR * (2.0 * np.pi * arm.resonance) ** 2
    damping = 2.0 * SPRING_DAMPING * np.sqrt(stiffness * ROTOR)
    real = np.array([*arm.coulomb, arm.breakaway, arm.stribeck, arm.uneven, *stiffness, *damping, arm.creep])
    seen = _integrate_real(base_of(values), gains_of(law), real, start, target, 1.0 / rate, every, samples)
    goals = (np.broadcast_to(each, (samples, 2)) for each in target)
    return [ArmMotion(rate / every, *seen[:, k], goal) for k, goal in enumerate(goals)]
