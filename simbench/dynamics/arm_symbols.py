"""Names and values of an arm's parameters: lengths, masses, centres, inertias, motors, gravity."""

from dataclasses import dataclass

import numpy as np

from simbench.dynamics.arm import Arm
from simbench.dynamics.components import round_exact
from simbench.robot.dh import HayatiRow, Sigma

MOTOR = "Im"
AXES = ("x", "y", "z")


@dataclass(frozen=True)
class ArmSymbols:
    """The parameters that are not zero, in the paper's notation."""

    # by name: `m2` (kg); `x2`, `y2`, `z2`, the centre of mass in frame 2 (m; the paper's r); `Ixx2`, … about
    # it (kg·m²); `a2`, `d2` (m), where a2 stands in the row of joint 3, and `l2` is the length in a
    # `HayatiRow` of joint 2; `g` (m/s²). A twist α of row 2 that is no right angle comes as its cosine and
    # sine, `ca2` and `sa2`; so do β (`cb2`), γ (`cg2`) and the θ of a joint that slides (`ct2`).
    values: dict[str, float]
    motors: dict[str, float]  # `Im1`, …, kg·m².
    # Whether the last link has Ixx = Iyy, and is named so, because it is symmetric about its joint's axis.
    symmetric: bool

    def named(self, name: str) -> str | int:
        """Return the symbol that stands for a parameter, or 0 if the parameter is zero.

        `name`: name of the parameter in the paper's notation, such as `Iyy6`. Returns the symbol's name; the
        same as `name` but for Iyy of a symmetric last link.
        """
        if self.symmetric and name == f"Iyy{len(self.motors)}":
            name = f"Ixx{len(self.motors)}"
        return name if name in self.values else 0


def arm_symbols(arm: Arm) -> ArmSymbols:
    """Name the non-zero parameters of an arm in the paper's notation. Returns values by symbol."""
    values: dict[str, float] = {}
    symmetric = _is_last_link_symmetric(arm)
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
    return ArmSymbols(
        values={name: float(value) for name, value in values.items() if value != 0.0},
        motors={f"{MOTOR}{i}": float(value) for i, value in enumerate(arm.motor, start=1)},
        symmetric=symmetric,
    )


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


def _is_last_link_symmetric(arm: Arm) -> bool:
    """Tell whether the last link's mass distribution is symmetric about its joint's axis."""
    tensor, centre = arm.inertia[-1], arm.centre[-1]
    offset = arm.rows[-1].a if isinstance(arm.rows[-1], HayatiRow) else 0.0
    products = np.abs(tensor - np.diag(np.diag(tensor))).max()
    return bool(tensor[0, 0] == tensor[1, 1] and products == 0.0 and not centre[:2].any() and offset == 0.0)
