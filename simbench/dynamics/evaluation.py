"""Evaluate an explicit model: torques of one state or of many, and A, B, C and g."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from simbench.dynamics.arm import Arm
from simbench.dynamics.arm_symbols import arm_structure, arm_symbols
from simbench.dynamics.newton_euler import joint_states, velocity_products
from simbench.dynamics.sine_cosine import sines_and_cosines
from simbench.errors import DynamicsError
from simbench.kinematics.arrays import Array

BLOCK = 256
"""States at once: what is kept of them fits into the cache."""


@dataclass(frozen=True)
class Evaluation:
    """A model's code with an arm's numbers.

    Parameters
    ----------
    module : module
        Written by `model_module`.
    constants : (m,) array
        What its `configuration` takes.
    joints : int
    """

    module: ModuleType
    constants: Array
    joints: int


def evaluation(module: ModuleType, arm: Arm) -> Evaluation:
    """Put an arm's numbers into a model.

    Parameters
    ----------
    module : module
        Such as `simbench.dynamics.generated.puma560_full`.
    arm : Arm
        Of the structure that the model was derived for; its numbers may be others.

    Returns
    -------
    Evaluation

    Raises
    ------
    DynamicsError
        If the arm has other joints, or something that is zero in the model.
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
    return Evaluation(module, np.array(constants), arm.joints)


def explicit_torques(model: Evaluation, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike) -> Array:
    """Compute torques of one state or of many, without friction.

    τ = A q̈ + B [q̇q̇] + C [q̇²] + g (Armstrong 1986, eq. 1).

    Parameters
    ----------
    model : Evaluation
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
    states = [np.ascontiguousarray(each) for each in joint_states(model.joints, q, velocity, acceleration)]
    out = np.empty_like(states[0])
    rows = [each.reshape(-1, model.joints) for each in states]
    compiled_torques(model.module)[1](model.constants, *rows, out.reshape(-1, model.joints))
    return out


@cache
def compiled_torques(module: ModuleType) -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile a model for one state and for many.

    Parameters
    ----------
    module : module

    Returns
    -------
    one : callable
        Of constants, q, velocity, acceleration (n,) and the array (n,) that the torques go to.
    many : callable
        The same with (states, n). States are taken in blocks, sine by sine and then element by element,
        which lets several go through the processor at once.
    """
    # Inlined, or the loop over states is not vectorised.
    trigonometry, configuration, torque = (
        njit(each, error_model="numpy", inline="always")
        for each in (module.trigonometry, module.configuration, module.torque)
    )
    angles = np.zeros((len(module.TRIGONOMETRY), len(module.MOTORS)))
    for row, (joints, _) in enumerate(module.TRIGONOMETRY):
        angles[row, list(joints)] = 1.0
    offsets = np.array([offset for _, offset in module.TRIGONOMETRY])
    slides = np.array(module.SLIDES, dtype=np.int64)
    columns = 2 * len(offsets) + len(slides)

    @njit(error_model="numpy")
    def one(k: Array, q: Array, v: Array, a: Array, out: Array) -> None:
        torques = torque(configuration(k, trigonometry(q)), v, a)
        for i, each in enumerate(torques):
            out[i] = each

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

    return one, many


@cache
def compiled_parts(module: ModuleType) -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile the two parts of a model, for one state.

    Parameters
    ----------
    module : module

    Returns
    -------
    compute : callable
        Of constants, q and the array that the elements of A, B, C and g go to.
    combine : callable
        Of these elements, velocity, acceleration (n,) and the array (n,) that the torques go to.
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


def explicit_terms(model: Evaluation, q: ArrayLike) -> tuple[Array, Array, Array, Array]:
    """Compute A, B, C and g, as `newton_euler.dynamics_terms` does by the recursion.

    Parameters
    ----------
    model : Evaluation
    q : (..., n) array_like

    Returns
    -------
    A (..., n, n), B (..., n, n (n − 1) / 2), C (..., n, n), g (..., n)
    """
    q = np.asarray(q, dtype=float)
    n, pairs = model.joints, velocity_products(model.joints)
    elements: Any = model.module.configuration(
        model.constants, model.module.trigonometry(np.moveaxis(q, -1, 0))
    )
    inertia, centrifugal = np.zeros((*q.shape, n)), np.zeros((*q.shape, n))
    coriolis, gravity = np.zeros((*q.shape, len(pairs))), np.zeros(q.shape)
    for place, (index, factor) in model.module.PLACES.items():
        value, (first, *rest) = factor * elements[index], (number - 1 for number in place)
        if not rest:
            gravity[..., first] = value
        elif len(rest) == 1:
            inertia[..., first, rest[0]] = inertia[..., rest[0], first] = value
        elif rest[0] == rest[1]:
            centrifugal[..., first, rest[0]] = value
        else:
            coriolis[..., first, pairs.index((rest[0], rest[1]))] = value
    return inertia, coriolis, centrifugal, gravity
