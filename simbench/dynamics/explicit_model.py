"""Explicit models of arms: torques from the elements of A, B, C and g, which may be computed less often.

That of PUMA 560 ships as generated code (`puma560_explicit`), in full and abbreviated: the paper's
(Armstrong, Khatib & Burdick 1986). Elements of other arms are Pinocchio's: torques are those of a full model.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numba import njit
from numpy.typing import ArrayLike

from simbench.dynamics.arm import Arm, arm_model, for_each_state, joint_states, read_arm
from simbench.errors import DynamicsError
from simbench.kinematics.arrays import Array
from simbench.robot.dh import HayatiRow, Sigma

MOTOR = "Im"
AXES = ("x", "y", "z")


class ArmSymbols:
    """The parameters of an arm that are not zero, in the paper's notation.

    `values` by name: `m2` (kg); `x2`, `y2`, `z2`, the centre of mass in frame 2 (m; the paper's r); `Ixx2`, …
    about it (kg·m²); `a2`, `d2` (m), where a2 stands in the row of joint 3, and `l2` is the length in a
    `HayatiRow` of joint 2; `g` (m/s²). A twist α of row 2 that is no right angle comes as its cosine and
    sine, `ca2` and `sa2`; so do β (`cb2`), γ (`cg2`) and the θ of a joint that slides (`ct2`). `motors`:
    `Im1`, …, kg·m². `symmetric`: whether the last link has Ixx = Iyy, and is named so, because it is
    symmetric about its joint's axis.
    """

    def __init__(self, arm: Arm) -> None:
        values: dict[str, float] = {}
        tensor, centre, last = arm.inertia[-1], arm.centre[-1], arm.rows[-1]
        offset = last.a if isinstance(last, HayatiRow) else 0.0
        # About the axis of the last joint.
        symmetric = bool(
            tensor[0, 0] == tensor[1, 1]
            and (tensor == np.diag(np.diag(tensor))).all()
            and not centre[:2].any()
            and offset == 0.0
        )
        for i, (joint, row) in enumerate(zip(arm.table.joints, arm.rows, strict=True), start=1):
            angles = {"a": row.alpha}
            if isinstance(row, HayatiRow):
                values |= {f"l{i}": row.a, f"d{i}": row.d}
                angles["b"] = row.beta
            else:
                values |= {f"a{i - 1}": row.a, f"b{i - 1}": row.b, f"d{i}": row.d}
                angles["g"] = row.gamma
            if joint.sigma == Sigma.PRISMATIC:
                angles["t"] = row.theta
            for letter, angle in angles.items():
                for function, value in (("c", np.cos(angle)), ("s", np.sin(angle))):
                    if not isinstance(round_exact(value), int):
                        values[f"{function}{letter}{i}"] = float(value)
        for i in range(1, arm.joints + 1):
            values[f"m{i}"] = arm.mass[i - 1]
            values |= {f"{axis}{i}": arm.centre[i - 1, k] for k, axis in enumerate(AXES)}
            for j, first in enumerate(AXES):
                values |= {f"I{first}{AXES[k]}{i}": arm.inertia[i - 1, j, k] for k in range(j, 3)}
        if symmetric:
            del values[f"Iyy{arm.joints}"]
        along = np.flatnonzero(arm.gravity)
        if len(along) == 1:
            values["g"] = float(np.abs(arm.gravity).max())
        else:
            values |= {f"g{AXES[k]}": arm.gravity[k] for k in along}
        self.values = {name: float(value) for name, value in values.items() if value != 0.0}
        self.motors = {f"{MOTOR}{i}": float(value) for i, value in enumerate(arm.motor, start=1)}
        self.symmetric = symmetric

    def named(self, name: str) -> str | int:
        """Return the symbol that stands for a parameter, or 0 if the parameter is zero.

        `name`: name of the parameter in the paper's notation, such as `Iyy6`. Returns the symbol's name; the
        same as `name` but for Iyy of a symmetric last link.
        """
        if self.symmetric and name == f"Iyy{len(self.motors)}":
            name = f"Ixx{len(self.motors)}"
        return name if name in self.values else 0


@dataclass(frozen=True)
class ModelEvaluator:
    """Code of an explicit model together with one arm's numbers."""

    module: Any  # Generated class such as `puma560_explicit.Puma560Full`, or `PinocchioElements`.
    constants: Array  # (m,): constants that the code's `configuration` takes.
    joints: int


class PinocchioElements:
    """Elements of any arm by Pinocchio: A, the Christoffel symbols of the velocity products, and g."""

    def __init__(self, arm: Arm) -> None:
        self._model, n = arm_model(arm), arm.joints
        self._data = self._model.createData()
        self.ELEMENTS = range(n * n + n**3 + n)

    def _split(self, elements: Array) -> tuple[Array, Array, Array]:
        """View elements as A (n, n), the symbols by the velocity they multiply (n, n, n), and g (n,)."""
        n = self._model.nv
        inertia, symbols, gravity = np.split(elements, [n * n, n * n + n**3])
        return inertia.reshape(n, n), symbols.reshape(n, n, n), gravity

    def compute(self, constants: Array, q: Array, elements: Array) -> None:
        """Compute the elements at joint positions q (n,); there are no constants."""
        del constants
        inertia, symbols, gravity = self._split(elements)
        upper = np.triu(pin.crba(self._model, self._data, q))
        inertia[:] = upper + np.triu(upper, 1).T
        for joint, unit in enumerate(np.eye(self._model.nv)):
            symbols[joint] = pin.computeCoriolisMatrix(self._model, self._data, q, unit)
        gravity[:] = pin.computeGeneralizedGravity(self._model, self._data, q)

    def combine(self, elements: Array, v: Array, a: Array, out: Array) -> None:
        """Compute torques (n,), N·m, from elements, velocities and accelerations (n,)."""
        inertia, symbols, gravity = self._split(elements)
        out[:] = inertia @ a + np.tensordot(v, symbols, 1) @ v + gravity


def explicit_model_of(name_or_path: str | Path, *, abbreviated: bool = False) -> ModelEvaluator:
    """Find the explicit model of an arm.

    `name_or_path`: a robot that ships, or the path of a `robot.yaml`; its joints are placed by rows (`dh`);
    `abbreviated`: whether insignificant terms are left out. Returns the model with the arm's numbers. Raises
    RobotError if the robot is not an arm with such joints. Raises DynamicsError if an abbreviated model is
    asked for of an arm of another structure than `puma560`, whose numbers may differ.
    """
    from simbench.dynamics.puma560_explicit import Puma560Abbreviated, Puma560Full

    arm = read_arm(name_or_path)
    if abbreviated and arm_structure(arm) != Puma560Abbreviated.STRUCTURE:
        raise DynamicsError(f"{name_or_path}: has no abbreviated explicit model; allowed: puma560")
    if abbreviated or str(name_or_path) == "puma560":
        return make_evaluator(Puma560Abbreviated if abbreviated else Puma560Full, arm)
    return ModelEvaluator(PinocchioElements(arm), np.zeros(0), arm.joints)


def make_evaluator(code: Any, arm: Arm) -> ModelEvaluator:
    """Combine an explicit model with an arm's numbers.

    `code`: generated class, such as `puma560_explicit.Puma560Full`; `arm`: arm of the structure that the
    model was derived for; its numbers may differ.
    """
    symbols = ArmSymbols(arm)
    structure = arm_structure(arm)
    if structure != code.STRUCTURE:
        pairs = zip(structure, code.STRUCTURE, strict=False)
        other = next((pair for pair in pairs if pair[0] != pair[1]), ("more or fewer joints", "its own"))
        raise DynamicsError(f"{code.__name__}: the arm has `{other[0]}`; allowed: `{other[1]}`")
    for name in symbols.values:
        if name not in code.PARAMETERS:
            raise DynamicsError(f"{code.__name__}: the arm's {name} is not zero; derive a model of its own")
    numbers = dict.fromkeys(code.PARAMETERS, 0.0) | symbols.values | symbols.motors
    return ModelEvaluator(code, np.array(code.constants(numbers)), arm.joints)


def explicit_torques(
    model: ModelEvaluator, q: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike
) -> Array:
    """Compute the joint torques of one state or of many, without friction.

    τ = A q̈ + B [q̇q̇] + C [q̇²] + g (Armstrong 1986, eq. 1). `model`: explicit model of the arm; `q` (...,
    n) _like: joint positions, rad, or m of sliding joints; `velocity` (..., n) _like: joint velocities,
    rad/s, or m/s; `acceleration` (..., n) _like: joint accelerations, rad/s², or m/s². Returns (..., n):
    joint torques, N·m, or forces, N. Raises RobotError if an array does not have n columns.
    """
    compute, combine = compile_parts(model.module)
    elements, torque = np.zeros(len(model.module.ELEMENTS)), np.zeros(model.joints)

    def torques(q: Array, v: Array, a: Array) -> Array:
        compute(model.constants, q, elements)
        combine(elements, v, a, torque)
        return torque

    states = joint_states(model.joints, q, velocity, acceleration)
    return for_each_state(states, (model.joints,), torques)


@cache
def compile_parts(code: Any) -> tuple[Callable[..., None], Callable[..., None]]:
    """Compile the two parts of a model for one state: its elements, and the torques from them.

    `code`: that of a `ModelEvaluator`. Returns `compute`: function of constants, q (n,) and the array that
    receives the elements of A, B, C and g; `combine`: function of these elements, velocity and acceleration
    (n,) and the array (n,) that receives the torques.
    """
    if isinstance(code, PinocchioElements):
        return code.compute, code.combine
    trigonometry, configuration, torque = (
        njit(each, error_model="numpy") for each in (code.trigonometry, code.configuration, code.torque)
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


def arm_structure(arm: Arm) -> tuple[str, ...]:
    """Describe what an explicit model assumes of an arm, besides which parameters are zero.

    Returns joint types, axes and constant angles, and the direction of gravity: arms with equal descriptions
    have the same model.
    """
    described = []
    for joint, row in zip(arm.table.joints, arm.rows, strict=True):
        angles = (row.alpha, row.theta, row.beta if isinstance(row, HayatiRow) else row.gamma)
        written = " ".join(f"{angle:.9g}" for angle in angles)
        described.append(f"{type(row).__name__} {Sigma(joint.sigma).name.lower()} {written}")
    along = np.flatnonzero(arm.gravity)
    direction = "any" if len(along) > 1 else " ".join(f"{value:g}" for value in np.sign(arm.gravity))
    return (*described, f"gravity {direction}")


def round_exact(value: float) -> float:
    """Round a sine or cosine to the integer 0, 1 or −1 where only rounding errors separate them."""
    nearest = round(value)
    return nearest if abs(value - nearest) < 1e-9 else float(value)
