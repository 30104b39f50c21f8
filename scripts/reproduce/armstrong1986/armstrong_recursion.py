"""Newton-Euler recursion of a serial arm in modified Denavit-Hartenberg form, with its operations counted.

Luh, Walker & Paul (1980) in the frames of Craig (Introduction to Robotics, eq. 6.45-6.53): velocities and
accelerations outwards, forces and moments inwards. Written out in components, so that the same lines take
numbers, arrays of many states, polynomials, and numbers that count what is done with them. A component that
is always zero is the integer 0, so that operations on it are not counted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from simbench.dynamics.arm import Arm, joint_states
from simbench.dynamics.explicit_model import ModelEvaluator, round_exact
from simbench.kinematics.arrays import Array
from simbench.robot.dh import DhRow, HayatiRow, Sigma

Scalar = Any
"""A number, an array of numbers, a polynomial, or a number that counts."""
Vector = tuple[Scalar, Scalar, Scalar]
Rotation = tuple[Vector, Vector, Vector]

ZERO_VECTOR: Vector = (0, 0, 0)


def exact_zero(value: float) -> Scalar:
    """Return a number, a zero as the integer 0.

    `value`: any number. Returns the integer 0, or the value itself.
    """
    return 0 if value == 0.0 else float(value)


def sparse(values: ArrayLike) -> Vector:
    """Return a vector with its zeros as the integer 0.

    `values` (3,) _like: components. Returns the same components.
    """
    x, y, z = map(exact_zero, np.asarray(values, dtype=float))
    return x, y, z


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b. `a`, `b`: vectors in the same axes."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def scale(factor: Scalar, a: Vector) -> Vector:
    """Multiply a vector by a scalar. Returns factor · a."""
    return factor * a[0], factor * a[1], factor * a[2]


def dot(a: Vector, b: Vector) -> Scalar:
    """Return a · b. `a`, `b`: vectors in the same axes."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b. `a`, `b`: vectors in the same axes."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def transpose(matrix: Rotation) -> Rotation:
    """Transpose a matrix. `matrix`: matrix by its rows."""
    x, y, z = zip(*matrix, strict=True)
    return x, y, z


def apply(matrix: Rotation, a: Vector) -> Vector:
    """Multiply a vector by a matrix. `matrix`: matrix by its rows. Returns matrix · a."""
    return dot(matrix[0], a), dot(matrix[1], a), dot(matrix[2], a)


def product(left: Rotation, right: Rotation) -> Rotation:
    """Multiply two matrices.

    `left`: left factor by its rows; `right`: right factor by its rows. Returns left · right.
    """
    columns = transpose(right)
    x, y, z = (tuple(dot(row, column) for column in columns) for row in left)
    return x, y, z


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


def link_torques(
    arm: Arm, q: Sequence[Scalar], velocity: Sequence[Scalar], acceleration: Sequence[Scalar]
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
    positions = [q[..., i] for i in range(arm.joints)]
    inertia, *others = _separate_terms(lambda *state: link_torques(arm, positions, *state), q)
    return inertia + np.diag(arm.motor), *others


def explicit_terms(model: ModelEvaluator, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Compute A, B, C and g of an explicit model, arranged as by `dynamics_terms`."""
    q = np.asarray(q, dtype=float)
    code = model.module
    elements = code.configuration(model.constants, code.trigonometry(np.moveaxis(q, -1, 0)))
    return _separate_terms(lambda *state: code.torque(elements, *state), q)


def many_torques(model: ModelEvaluator, q: Array, velocity: Array, acceleration: Array) -> Array:
    """Compute the torques (states, n) of many states by NumPy alone, without friction, N·m."""
    code = model.module
    elements = code.configuration(model.constants, code.trigonometry(q.T))
    return np.array(np.broadcast_arrays(*code.torque(elements, velocity.T, acceleration.T))).T


def _separate_terms(
    torques: Callable[[Sequence[float], Sequence[float]], Sequence[Scalar]], q: Array
) -> tuple[Array, Array, Array, Array]:
    """Separate A, B, C and g of the torques of velocities and accelerations at positions q (..., n)."""
    unit, none = np.eye(q.shape[-1]), np.zeros(q.shape[-1])

    def torque(velocity: Array, acceleration: Array) -> Array:
        each = torques(list(velocity), list(acceleration))
        return np.stack(np.broadcast_arrays(*each, q[..., 0])[:-1], axis=-1)

    gravity = torque(none, none) + np.zeros_like(q)
    inertia = np.stack([torque(none, each) - gravity for each in unit], axis=-1)
    squares = [torque(each, none) - gravity for each in unit]
    products = [
        torque(unit[i] + unit[j], none) - squares[i] - squares[j] - gravity
        for i, j in velocity_products(len(unit))
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


class Operations(NamedTuple):
    """Numbers of arithmetic operations."""

    multiplications: int
    additions: int  # Number of additions and subtractions.

    @property
    def total(self) -> int:
        """Multiplications and additions together."""
        return self.multiplications + self.additions


@dataclass
class Tally:
    """Running count of operations."""

    multiplications: int = 0  # Number of multiplications.
    additions: int = 0  # Number of additions and subtractions.


class Counted:
    """A number without a value that counts the operations applied to it.

    As in the paper, these are not counted: sines and cosines, changes of sign, operations on constants alone,
    and those that constants of 0, 1 or −1 make unnecessary. `tally`: counters that the number increments.
    """

    def __init__(self, tally: Tally) -> None:
        self._tally = tally

    def cos(self) -> "Counted":
        """Stand for a cosine; `numpy.cos` asks for it."""
        return Counted(self._tally)

    sin = cos

    def __neg__(self) -> "Counted":
        return self

    def __add__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and other == 0:
            return self
        self._tally.additions += 1
        return Counted(self._tally)

    __radd__ = __sub__ = __rsub__ = __add__

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, (int, float)) and other in (-1, 0, 1):
            return self if other else 0
        self._tally.multiplications += 1
        return Counted(self._tally)

    __rmul__ = __mul__


def count_operations(function: Callable[..., Any], *sizes: int) -> Operations:
    """Count the operations of a function by running it on counting numbers.

    `function`: function of sequences of numbers; `*sizes`: length of each of its arguments. Returns
    operations of one call.
    """
    tally = Tally()
    arguments: list[Sequence[Counted]] = [[Counted(tally) for _ in range(size)] for size in sizes]
    function(*arguments)
    return Operations(tally.multiplications, tally.additions)


def count_newton_euler(arm: Arm) -> Operations:
    """Count the operations of the recursion for one state of an arm's links, without motors and friction.

    `arm`: the arm; its zero parameters cause no operations. Returns operations of one evaluation.
    """
    n = arm.joints
    return count_operations(lambda *state: link_torques(arm, *state), n, n, n)
