"""Evaluate an explicit model: torques of one state or of many, and A, B, C and g."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from simbench.dynamics.arm import Arm
from simbench.dynamics.arm_symbols import arm_structure, arm_symbols
from simbench.dynamics.newton_euler import joint_states, velocity_products
from simbench.dynamics.sine_cosine import sines_and_cosines
from simbench.errors import DynamicsError
from simbench.kinematics.arrays import Array

BLOCK = 256
"""States evaluated at once: their intermediate results fit into the processor's cache."""


@dataclass(frozen=True)
class ModelEvaluator:
    """Code of an explicit model together with one arm's numbers."""

    module: ModuleType  # Model's module, written by `model_module`.
    constants: Array  # (m,): constants that the module's `configuration` takes.
    joints: int


def make_evaluator(module: ModuleType, arm: Arm) -> ModelEvaluator:
    """Combine an explicit model with an arm's numbers.

    `module`: model's module, such as `simbench.dynamics.generated.puma560_full`; `arm`: arm of the structure
    that the model was derived for; its numbers may differ. Returns argument of `explicit_torques` and
    `explicit_terms`.
    """
    symbols = arm_symbols(arm)
    structure = arm_structure(arm)
    if structure != module.STRUCTURE:
        pairs = zip(structure, module.STRUCTURE, strict=False)
        other = next((pair for pair in pairs if pair[0] != pair[1]), ("more or fewer joints", "its own"))
        raise DynamicsError(f"{module.__name__}: the arm has `{other[0]}`; allowed: `{other[1]}`")
    for name in symbols.values:
        if name not in module.PARAMETERS:
            raise DynamicsError(f"{module.__name__}: the arm's {name} is not zero; derive a model of its own")
    numbers = dict.fromkeys(module.PARAMETERS, 0.0) | symbols.values
    constants = module.constants(module.lumped_constants(numbers) | symbols.motors)
    return ModelEvaluator(module, np.array(constants), arm.joints)


def explicit_torques(
    model: ModelEvaluator, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> Array:
    """Compute the joint torques of one state or of many, without friction.

    τ = A q̈ + B [q̇q̇] + C [q̇²] + g (Armstrong 1986, eq. 1). `model`: explicit model of the arm; `q` (...,
    n) _like: joint positions, rad, or m of sliding joints; `velocity` (..., n) _like: joint velocities,
    rad/s, or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s². Returns (..., n):
    joint torques, N·m, or forces, N. Raises RobotError if an array does not have n columns.
    """
    states = [np.ascontiguousarray(each) for each in joint_states(model.joints, q, velocity, acceleration)]
    out = np.empty_like(states[0])
    rows = [each.reshape(-1, model.joints) for each in states]
    compile_torques(model.module)[1](model.constants, *rows, out.reshape(-1, model.joints))
    return out


@cache
def compile_torques(module: ModuleType) -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile a model for one state and for many.

    `module`: model's module, written by `model_module`. Returns `one`: function of constants, q, velocity,
    acceleration (n,) and the array (n,) that receives the torques; `many`: the same with (states, n). States
    are evaluated in blocks, sine by sine and then element by element, which lets the processor evaluate
    several at once.
    """
    # Inlined, or the loop over states is not vectorised.
    functions = tuple(
        njit(each, error_model="numpy", inline="always")
        for each in (module.trigonometry, module.configuration, module.torque)
    )
    angles = np.zeros((len(module.TRIGONOMETRY), len(module.MOTORS)))
    for row, (joints, _) in enumerate(module.TRIGONOMETRY):
        angles[row, list(joints)] = 1.0
    offsets = np.array([offset for _, offset in module.TRIGONOMETRY])
    slides = np.array(module.SLIDES, dtype=np.int64)
    return _compile_one(functions), _compile_many(functions, angles, offsets, slides)


def _compile_one(functions: tuple[Callable[..., Any], ...]) -> Callable[..., None]:
    """Compile the evaluation of one state from a model's three functions."""
    trigonometry, configuration, torque = functions

    @njit(error_model="numpy")
    def one(k: Array, q: Array, v: Array, a: Array, out: Array) -> None:
        torques = torque(configuration(k, trigonometry(q)), v, a)
        for i, each in enumerate(torques):
            out[i] = each

    return one


def _compile_many(
    functions: tuple[Callable[..., Any], ...], angles: Array, offsets: Array, slides: NDArray[np.int64]
) -> Callable[..., None]:
    """Compile the evaluation of many states; angles (a, n) tells which joints each of the angles adds."""
    _, configuration, torque = functions
    columns = 2 * len(offsets) + len(slides)

    @njit(error_model="numpy")
    def many(k: Array, q: Array, v: Array, a: Array, out: Array) -> None:
        s, angle = np.empty((columns, BLOCK)), np.empty(BLOCK)
        for start in range(0, len(q), BLOCK):
            count = min(BLOCK, len(q) - start)
            for row in range(len(offsets)):
                angle[:] = offsets[row]
                for joint in range(q.shape[1]):
                    if angles[row, joint]:
                        for i in range(count):
                            angle[i] += q[start + i, joint]
                sines_and_cosines(angle, s[2 * row], s[2 * row + 1], count)
            for row in range(len(slides)):
                for i in range(count):
                    s[2 * len(offsets) + row, i] = q[start + i, slides[row]]
            for i in range(count):
                torques = torque(configuration(k, s[:, i]), v[start + i], a[start + i])
                for j, each in enumerate(torques):
                    out[start + i, j] = each

    return many


@cache
def compile_parts(module: ModuleType) -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile the two parts of a model for one state: its elements, and the torques from them.

    `module`: model's module, written by `model_module`. Returns `compute`: function of constants, q (n,) and
    the array that receives the elements of A, B, C and g; `combine`: function of these elements, velocity and
    acceleration (n,) and the array (n,) that receives the torques.
    """
    trigonometry, configuration, torque = (
        njit(each, error_model="numpy") for each in (module.trigonometry, module.configuration, module.torque)
    )

    @njit(error_model="numpy")
    def compute(k: Array, q: Array, elements: Array) -> None:
        for i, each in enumerate(configuration(k, trigonometry(q))):
            elements[i] = each

    @njit(error_model="numpy")
    def combine(elements: Array, v: Array, a: Array, out: Array) -> None:
        for i, each in enumerate(torque(elements, v, a)):
            out[i] = each

    return compute, combine


def explicit_terms(model: ModelEvaluator, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Compute A, B, C and g of an explicit model, as `newton_euler.dynamics_terms` does by the recursion.

    `model`: explicit model of the arm; `q` (..., n) _like: joint positions, rad, or m of sliding joints.
    Returns `inertia` (..., n, n): A, kg·m²; `coriolis`: B, for the products q̇_i q̇_j, i < j, in the order of
    `velocity_products`; `centrifugal` (..., n, n): C, for the squares q̇_j²; `gravity` (..., n): g, N·m.
    """
    q = np.asarray(q, dtype=float)
    n, pairs = model.joints, velocity_products(model.joints)
    elements: Any = model.module.configuration(
        model.constants, model.module.trigonometry(np.moveaxis(q, -1, 0))
    )
    inertia, centrifugal = np.zeros((*q.shape, n)), np.zeros((*q.shape, n))
    coriolis, gravity = np.zeros((*q.shape, len(pairs))), np.zeros(q.shape)
    for entry, (index, factor) in model.module.PLACES.items():
        value, (first, *rest) = factor * elements[index], (number - 1 for number in entry)
        if not rest:
            gravity[..., first] = value
        elif len(rest) == 1:
            inertia[..., first, rest[0]] = inertia[..., rest[0], first] = value
        elif rest[0] == rest[1]:
            centrifugal[..., first, rest[0]] = value
        else:
            coriolis[..., first, pairs.index((rest[0], rest[1]))] = value
    return inertia, coriolis, centrifugal, gravity
