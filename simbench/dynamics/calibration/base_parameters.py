"""Which combinations of an arm's parameters its torques depend on: the base parameters."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.dynamics.arm import Arm
from simbench.dynamics.calibration.regressor import parameter_names, torque_regressor
from simbench.kinematics.arrays import Array
from simbench.robot.dh.dh import Sigma

_STATES = 200
_DEPENDENT = 1e-9
"""Of the greatest column: what rounding leaves of one that depends on those before it."""


@dataclass(frozen=True)
class BaseParameters:
    """The base parameters of an arm.

    Parameters
    ----------
    names : tuple of str, length b
        As sums of `parameter_names`, such as `joint1.izz + 0.0625 joint2.m`.
    columns : (b,) int array
        Of the regressor, one for each.
    regroup : (b, p) array
        They are `regroup @ parameters`.
    """

    names: tuple[str, ...]
    columns: NDArray[np.int64]
    regroup: Array


def base_parameters(arm: Arm) -> BaseParameters:
    """Find the base parameters of an arm by QR of its regressor in random states (Gautier 1991).

    Column by column from the base: one that depends on those before it is grouped with them.

    Parameters
    ----------
    arm : Arm
        Its table and gravity.

    Returns
    -------
    BaseParameters
    """
    rng, n = np.random.default_rng(0), arm.joints
    turns = np.array([joint.sigma == Sigma.REVOLUTE for joint in arm.table.joints])
    q = rng.uniform(-1.0, 1.0, (_STATES, n)) * np.where(turns, np.pi, 1.0)
    velocity, acceleration = rng.normal(size=(2, _STATES, n))
    names = parameter_names(arm)
    matrix = torque_regressor(arm, q, velocity, acceleration).reshape(-1, len(names))
    pivots = np.abs(np.diag(np.linalg.qr(matrix, mode="r")))
    independent = pivots > _DEPENDENT * pivots.max()
    columns = np.flatnonzero(independent)
    shares = np.asarray(np.linalg.lstsq(matrix[:, columns], matrix, rcond=None)[0], dtype=np.float64)
    shares[np.abs(shares) < _DEPENDENT] = 0.0
    return BaseParameters(tuple(_sum(row, names) for row in shares), columns, shares)


def _sum(shares: Array, names: tuple[str, ...]) -> str:
    """Write a sum, such as `a + 0.5 b - c`."""
    text = ""
    for share, name in zip(shares, names, strict=True):
        if share != 0.0:
            size = f"{abs(share):.4g}"
            sign = " - " if share < 0.0 else " + "
            text += (sign if text or share < 0.0 else "") + ("" if size == "1" else f"{size} ") + name
    return text.strip()
