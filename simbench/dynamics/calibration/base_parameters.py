"""Base parameters: the combinations of an arm's parameters that its torques depend on."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.dynamics.arm import Arm
from simbench.dynamics.calibration.regressor import parameter_names, torque_regressor
from simbench.kinematics.arrays import Array
from simbench.robot.dh import Sigma

_STATES = 200
"""Random states in which the regressor is evaluated."""
_DEPENDENT = 1e-9
"""Rounding residual of a dependent column, as a fraction of the greatest one."""


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of an arm."""

    names: tuple[str, ...]  # as sums of `parameter_names`, such as `joint1.izz + 0.0625 joint2.m`.
    columns: NDArray[np.int64]  # (b,) int: column of the regressor that each base parameter multiplies.
    regroup: Array  # (b, p): matrix that maps an arm's full parameter vector to its base parameters.


def find_base_parameters(arm: Arm) -> BaseParameters:
    """Find the base parameters of an arm by QR of its regressor in random states (Gautier 1991).

    Column by column from the base: a column that depends on earlier ones is grouped with them. `arm`: arm
    whose table and gravity are used; its masses are not. Returns independent columns of the regressor and how
    the others are grouped with them.
    """
    rng, n = np.random.default_rng(0), arm.joints
    revolute = np.array([joint.sigma == Sigma.REVOLUTE for joint in arm.table.joints])
    q = rng.uniform(-1.0, 1.0, (_STATES, n)) * np.where(revolute, np.pi, 1.0)
    velocity, acceleration = rng.normal(size=(2, _STATES, n))
    names = parameter_names(arm)
    matrix = torque_regressor(arm, q, velocity, acceleration).reshape(-1, len(names))
    pivots = np.abs(np.diag(np.linalg.qr(matrix, mode="r")))
    independent = pivots > _DEPENDENT * pivots.max()
    columns = np.flatnonzero(independent)
    regroup = np.asarray(np.linalg.lstsq(matrix[:, columns], matrix, rcond=None)[0], dtype=np.float64)
    regroup[np.abs(regroup) < _DEPENDENT] = 0.0
    return BaseParameters(tuple(_format_sum(row, names) for row in regroup), columns, regroup)


def _format_sum(factors: Array, names: tuple[str, ...]) -> str:
    """Write a sum, such as `a + 0.5 b - c`."""
    text = ""
    for factor, name in zip(factors, names, strict=True):
        if factor != 0.0:
            size = f"{abs(factor):.4g}"
            sign = " - " if factor < 0.0 else " + "
            text += (sign if text or factor < 0.0 else "") + ("" if size == "1" else f"{size} ") + name
    return text.strip()
