"""Recursive Newton-Euler inverse dynamics of a serial arm in modified Denavit-Hartenberg form.

Luh, Walker & Paul (1980) in the frames of Craig (Introduction to Robotics, eq. 6.45-6.53): velocities and
accelerations outwards, forces and moments inwards. Written out in components, so that the same lines take
numbers, arrays of many states, and numbers that count what is done with them.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from simbench.dynamics.arm import Arm
from simbench.dynamics.components import (
    ZERO_VECTOR,
    Rotation,
    Scalar,
    Vector,
    add,
    apply,
    cross,
    exact_zero,
    product,
    round_exact,
    scale,
    sparse,
    transpose,
)
from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.dh import DhRow, HayatiRow, Sigma


def inverse_dynamics(arm: Arm, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
    """Compute the joint torques of a motion, with motors and the friction of moving joints.

    τ = A(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q) + D q̇ + f_c sgn q̇ (Armstrong 1986, eq. 1; Ohtsuki). The
    friction of a joint at rest takes whatever value holds it, up to breakaway, and is left out. `q` (..., n)
    _like: joint positions, rad, or m of sliding joints; `velocity` (..., n) _like: joint velocities, rad/s,
    or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s². Returns (..., n): joint
    torques, N·m, or forces, N. Raises RobotError if an array does not have n columns.
    """
    angle, rate, change = joint_states(arm.joints, q, velocity, acceleration)
    columns = ([state[..., i] for i in range(arm.joints)] for state in (angle, rate, change))
    torque = np.stack(np.broadcast_arrays(*link_torques(arm, *columns), angle[..., 0])[:-1], axis=-1)
    return torque + arm.motor * change + arm.viscous * rate + arm.coulomb * np.sign(rate)


def joint_states(
    joints: int, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> tuple[Array, Array, Array]:
    """Check positions, velocities and accelerations and broadcast them to one shape.

    `joints`: number of joints n; `q` (..., n) _like: joint positions, rad, or m; `velocity` (..., n) _like:
    joint velocities, rad/s, or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s².
    Returns tuple of three (..., n) arrays: the same, broadcast.
    """
    states = []
    for name, given in (("q", q), ("velocity", velocity), ("acceleration", acceleration)):
        state = np.asarray(given, dtype=float)
        if state.ndim == 0 or state.shape[-1] != joints:
            raise RobotError(f"{name} of shape {state.shape}; allowed: (..., {joints})")
        states.append(state)
    first, second, third = np.broadcast_arrays(*states)
    return first, second, third


def link_torques(
    arm: Arm,
    q: Sequence[Scalar],
    velocity: Sequence[Scalar],
    acceleration: Sequence[Scalar],
) -> list[Scalar]:
    """Compute the torques that the links alone need, by the recursion of Newton and Euler.

    `arm`: arm whose table, masses and gravity are used; motors and friction are not; `q`, `velocity`,
    `acceleration`: state of the joints: numbers, arrays, or any objects that add, multiply and have a sine
    (`numpy.sin`). Returns joint torques, N·m, or forces, N.
    """
    slides = [joint.sigma == Sigma.PRISMATIC for joint in arm.table.joints]
    rotations, offsets, ends = zip(*map(_joint_frame, arm.rows, slides, q), strict=True)
    steps = [add(offset, end) for offset, end in zip(offsets, (ZERO_VECTOR, *ends), strict=False)]
    angular_velocity, angular_acceleration = ZERO_VECTOR, ZERO_VECTOR
    # An upward acceleration of the base has the effect of gravity.
    linear_acceleration = sparse(-arm.gravity)
    forces, moments = [], []
    for i in range(arm.joints):
        back, rate, change = transpose(rotations[i]), velocity[i], acceleration[i]
        a = add(
            linear_acceleration, _rotational_acceleration(angular_velocity, angular_acceleration, steps[i])
        )
        a, w, dw = apply(back, a), apply(back, angular_velocity), apply(back, angular_acceleration)
        if slides[i]:
            a = (a[0] + 2 * w[1] * rate, a[1] - 2 * w[0] * rate, a[2] + change)
        else:
            dw = (dw[0] + w[1] * rate, dw[1] - w[0] * rate, dw[2] + change)
            w = (w[0], w[1], w[2] + rate)
        linear_acceleration, angular_velocity, angular_acceleration = a, w, dw
        centre = add(sparse(arm.centre[i]), ends[i])
        force = scale(exact_zero(arm.mass[i]), add(a, _rotational_acceleration(w, dw, centre)))
        inertia: Rotation = tuple(sparse(row) for row in arm.inertia[i])  # type: ignore[assignment]
        moment = add(apply(inertia, dw), cross(w, apply(inertia, w)))
        forces.append(force)
        moments.append(add(moment, cross(centre, force)))
    torques: list[Scalar] = []
    force, moment = ZERO_VECTOR, ZERO_VECTOR
    for i in reversed(range(arm.joints)):
        force, moment = add(forces[i], force), add(moments[i], moment)
        torques.insert(0, force[2] if slides[i] else moment[2])
        # From this joint's frame to the previous joint's.
        force = apply(rotations[i], force)
        moment = add(apply(rotations[i], moment), cross(steps[i], force))
    return torques


def dynamics_terms(arm: Arm, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Compute A, B, C and g separately, by the recursion with unit velocities and accelerations.

    The paper checked its explicit model in this way. The motors' inertia is on the diagonal of A. `q` (...,
    n) _like: joint positions, rad, or m. Returns `inertia` (..., n, n): A, kg·m²; `coriolis`: B, for the
    products q̇_i q̇_j, i < j, in the order of `velocity_products`; `centrifugal` (..., n, n): C, for the
    squares q̇_j²; `gravity` (..., n): g, N·m.
    """
    q = np.asarray(q, dtype=float)
    n, rest = arm.joints, np.zeros_like(q)
    unit = np.eye(n)

    def torque(velocity: Array, acceleration: Array) -> Array:
        columns = ([q[..., i] for i in range(n)], list(velocity), list(acceleration))
        return np.stack(np.broadcast_arrays(*link_torques(arm, *columns), q[..., 0])[:-1], axis=-1)

    none = np.zeros(n)
    gravity = torque(none, none) + rest
    inertia = np.stack([torque(none, each) - gravity for each in unit], axis=-1) + np.diag(arm.motor)
    squares = [torque(each, none) - gravity for each in unit]
    products = [
        torque(unit[i] + unit[j], none) - squares[i] - squares[j] - gravity for i, j in velocity_products(n)
    ]
    coriolis = np.stack(products, axis=-1) if products else np.zeros((*q.shape, 0))
    return inertia, coriolis, np.stack(squares, axis=-1), gravity


def velocity_products(joints: int) -> list[tuple[int, int]]:
    """List the pairs i < j of [q̇q̇] in the paper's order: 12, 13, …, 1n, 23 and so on.

    `joints`: number of joints n. Returns pairs, counted from 0.
    """
    return [(i, j) for i in range(joints) for j in range(i + 1, joints)]


def _joint_frame(row: DhRow | HayatiRow, slides: bool, variable: Scalar) -> tuple[Rotation, Vector, Vector]:
    """Compute axes and origin of a joint's frame in the previous one, and the row's frame on the link."""
    angle, along = (row.theta, row.d + variable) if slides else (row.theta + variable, exact_zero(row.d))
    c, s = np.cos(angle), np.sin(angle)
    if slides:
        c, s = round_exact(c), round_exact(s)
    ca, sa = round_exact(np.cos(row.alpha)), round_exact(np.sin(row.alpha))
    spin: Rotation = ((c, -s, 0), (s * ca, c * ca, -sa), (s * sa, c * sa, ca))
    offset: Vector = (0, -sa * along, ca * along)
    if isinstance(row, HayatiRow):
        cb, sb = round_exact(np.cos(row.beta)), round_exact(np.sin(row.beta))
        outer: Rotation = ((cb, 0, sb), (0, 1, 0), (-sb, 0, cb))
        return product(outer, spin), apply(outer, offset), sparse([row.a, 0.0, 0.0])
    cg, sg = round_exact(np.cos(row.gamma)), round_exact(np.sin(row.gamma))
    outer = ((cg, -sg, 0), (sg, cg, 0), (0, 0, 1))
    step = apply(outer, (exact_zero(row.a), offset[1], offset[2]))
    return product(outer, spin), add(step, (0, 0, exact_zero(row.b))), ZERO_VECTOR


def _rotational_acceleration(w: Vector, dw: Vector, lever: Vector) -> Vector:
    """Compute the acceleration of a point of a rotating body relative to the body's origin."""
    return add(cross(dw, lever), cross(w, cross(w, lever)))
