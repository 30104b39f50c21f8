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
    NOTHING,
    Rotation,
    Scalar,
    Vector,
    add,
    apply,
    cross,
    exact,
    exact_zero,
    product,
    scaled,
    sparse,
    transposed,
)
from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.dh.dh import DhRow, HayatiRow, Sigma


def inverse_dynamics(arm: Arm, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
    """Compute the joint torques of a motion, motors and friction of moving joints included.

    τ = A(q) q̈ + B(q) [q̇q̇] + C(q) [q̇²] + g(q) + D q̇ + f_c sgn q̇ (Armstrong 1986, eq. 1; Ohtsuki). At rest a
    joint's friction is whatever holds it, up to its breakaway: it is left out.

    Parameters
    ----------
    arm : Arm
    q, velocity, acceleration : (..., n) array_like
        rad, rad/s, rad/s²; m for joints that slide.

    Returns
    -------
    (..., n) array
        N·m, or N.

    Raises
    ------
    RobotError
        If an array does not have n columns.
    """
    angle, rate, change = joint_states(arm.joints, q, velocity, acceleration)
    columns = ([state[..., i] for i in range(arm.joints)] for state in (angle, rate, change))
    torque = np.stack(np.broadcast_arrays(*link_torques(arm, *columns), angle[..., 0])[:-1], axis=-1)
    return torque + arm.motor * change + arm.viscous * rate + arm.coulomb * np.sign(rate)


def joint_states(
    joints: int, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> tuple[Array, Array, Array]:
    """Bring positions, velocities and accelerations to one shape (..., n).

    Raises
    ------
    RobotError
        If an array does not have n columns.
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
    """Compute the torques that the links alone need, by the recursion.

    Parameters
    ----------
    arm : Arm
    q, velocity, acceleration : sequence of n scalars
        Of anything that adds, multiplies and has a sine (`numpy.sin`).

    Returns
    -------
    list of n scalars
        N·m, or N.
    """
    slides = [joint.sigma == Sigma.PRISMATIC for joint in arm.table.joints]
    rotations, own_steps, ends = zip(*map(_place, arm.rows, slides, q), strict=True)
    steps = [add(step, end) for step, end in zip(own_steps, (NOTHING, *ends), strict=False)]
    turn, turning = NOTHING, NOTHING
    # A base that accelerates upwards stands for gravity.
    lift = sparse(-arm.gravity)
    forces, moments = [], []
    for i in range(arm.joints):
        back, rate, change = transposed(rotations[i]), velocity[i], acceleration[i]
        lift = apply(back, add(lift, _swing(turn, turning, steps[i])))
        turn, turning = apply(back, turn), apply(back, turning)
        if slides[i]:
            lift = (lift[0] + 2 * turn[1] * rate, lift[1] - 2 * turn[0] * rate, lift[2] + change)
        else:
            turning = (turning[0] + turn[1] * rate, turning[1] - turn[0] * rate, turning[2] + change)
            turn = (turn[0], turn[1], turn[2] + rate)
        centre = add(sparse(arm.centre[i]), ends[i])
        force = scaled(exact_zero(arm.mass[i]), add(lift, _swing(turn, turning, centre)))
        inertia: Rotation = tuple(sparse(row) for row in arm.inertia[i])  # type: ignore[assignment]
        moment = add(apply(inertia, turning), cross(turn, apply(inertia, turn)))
        forces.append(force)
        moments.append(add(moment, cross(centre, force)))
    torques: list[Scalar] = []
    force, moment = NOTHING, NOTHING
    for i in reversed(range(arm.joints)):
        force, moment = add(forces[i], force), add(moments[i], moment)
        torques.insert(0, force[2] if slides[i] else moment[2])
        # From this joint's frame to that of the one before.
        force = apply(rotations[i], force)
        moment = add(apply(rotations[i], moment), cross(steps[i], force))
    return torques


def dynamics_terms(arm: Arm, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Compute A, B, C and g one by one, by the recursion with single velocities and accelerations.

    As the paper checked its explicit model. The motors are on the diagonal of A.

    Parameters
    ----------
    arm : Arm
    q : (..., n) array_like
        rad, or m.

    Returns
    -------
    inertia : (..., n, n) array
        A, kg·m².
    coriolis : (..., n, n (n − 1) / 2) array
        B, of the products q̇_i q̇_j, i < j, in the order of `velocity_products`.
    centrifugal : (..., n, n) array
        C, of the squares.
    gravity : (..., n) array
        g, N·m.
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
    """List the pairs i < j of [q̇q̇], in the paper's order: 12, 13, …, 1n, 23 and so on."""
    return [(i, j) for i in range(joints) for j in range(i + 1, joints)]


def _place(row: DhRow | HayatiRow, slides: bool, variable: Scalar) -> tuple[Rotation, Vector, Vector]:
    """Place a joint's frame in the one before, and the row's frame on the link."""
    angle, along = (row.theta, row.d + variable) if slides else (row.theta + variable, exact_zero(row.d))
    c, s = np.cos(angle), np.sin(angle)
    if slides:
        c, s = exact(c), exact(s)
    ca, sa = exact(np.cos(row.alpha)), exact(np.sin(row.alpha))
    spin: Rotation = ((c, -s, 0), (s * ca, c * ca, -sa), (s * sa, c * sa, ca))
    offset: Vector = (0, -sa * along, ca * along)
    if isinstance(row, HayatiRow):
        cb, sb = exact(np.cos(row.beta)), exact(np.sin(row.beta))
        outer: Rotation = ((cb, 0, sb), (0, 1, 0), (-sb, 0, cb))
        return product(outer, spin), apply(outer, offset), sparse([row.a, 0.0, 0.0])
    cg, sg = exact(np.cos(row.gamma)), exact(np.sin(row.gamma))
    outer = ((cg, -sg, 0), (sg, cg, 0), (0, 0, 1))
    step = apply(outer, (exact_zero(row.a), offset[1], offset[2]))
    return product(outer, spin), add(step, (0, 0, exact_zero(row.b))), NOTHING


def _swing(turn: Vector, turning: Vector, lever: Vector) -> Vector:
    """Acceleration of a point of a turning body beside that of the body's origin."""
    return add(cross(turning, lever), cross(turn, cross(turn, lever)))
