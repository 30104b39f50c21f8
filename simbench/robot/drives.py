"""Drives of a robot's joints: motors, gains and friction as arrays, from its description."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.description import Description, Drive, JointFriction
from simbench.robot.mirror import both_sides

GRAM_SQUARE_CENTIMETRE = 1e-7  # kg·m²

Vector = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Motors:
    """Drive and PD data of the actuated joints, arrays in the order of `Robot.joint_names`.

    Parameters
    ----------
    reflected_inertia : (n,) array
        Reduction squared times rotor inertia, kg·m².
    stiffness, damping : (n,) array
        PD gains, N·m/rad and N·m·s/rad.
    torque_limit : (n,) array
        N·m.
    reduction : (n,) array
        Turns of the motor per turn of the joint; 0 where it is not known.
    """

    reflected_inertia: Vector
    stiffness: Vector
    damping: Vector
    torque_limit: Vector
    reduction: Vector


@dataclass(frozen=True)
class Friction:
    """Joint friction, arrays in the order of `Robot.joint_names`.

    Parameters
    ----------
    coulomb : (n,) array
        While the joint moves, N·m.
    viscous : (n,) array
        While the joint moves, per speed, N·m·s/rad.
    breakaway : (n,) array
        The most that holds a joint at rest, N·m; at least `coulomb`.
    """

    coulomb: Vector
    viscous: Vector
    breakaway: Vector


def drive_inertia(description: Description, joint_names: Sequence[str], where: str) -> tuple[Vector, Vector]:
    """Reductions and reflected inertia (kg·m²) of all joints; zero if the description gives no motors.

    Raises
    ------
    RobotError
        If a joint is unknown or, where some have a row, has none.
    """
    motors = _rows(description.motors, description, joint_names, f"{where}: motors")
    if not motors:
        return np.zeros(len(joint_names)), np.zeros(len(joint_names))
    drives = [motors[name] for name in joint_names]
    return (
        np.array([drive.reduction for drive in drives]),
        np.array([_reflected_inertia(drive) for drive in drives]),
    )


def given_gains(
    gains: Mapping[str, tuple[float, float]], description: Description, joint_names: Sequence[str], where: str
) -> tuple[Vector, Vector]:
    """Stiffness and damping of all joints from the rows of a description.

    Raises
    ------
    RobotError
        If a joint is unknown or has no row.
    """
    rows = _rows(gains, description, joint_names, f"{where}: gains")
    table = np.array([rows[name] for name in joint_names]).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def joint_friction(description: Description, joint_names: Sequence[str], where: str) -> Friction:
    """Friction of all joints; none where the description gives none.

    Raises
    ------
    RobotError
        If a joint is unknown.
    """
    rows = both_sides(description.friction, description.mirror)
    require(rows, joint_names, "joint", f"{where}: friction")
    entries = [rows.get(name, JointFriction()) for name in joint_names]
    return Friction(
        coulomb=np.array([entry.coulomb for entry in entries]),
        viscous=np.array([entry.viscous for entry in entries]),
        breakaway=np.array([entry.breakaway for entry in entries]),
    )


def require(names: Iterable[str], allowed: Sequence[str], kind: str, where: str) -> None:
    """Refuse the first name that is not allowed.

    Raises
    ------
    RobotError
    """
    for name in names:
        if name not in allowed:
            raise RobotError(f"{where}: unknown {kind} `{name}`; allowed: {', '.join(sorted(allowed))}")


def _rows(
    section: Mapping[str, T], description: Description, joint_names: Sequence[str], where: str
) -> dict[str, T]:
    rows = both_sides(section, description.mirror)
    require(rows, joint_names, "joint", where)
    missing = [name for name in joint_names if name not in rows]
    if rows and missing:
        raise RobotError(f"{where}: no row for {', '.join(missing)}; every joint of the URDF needs one")
    return rows


def _reflected_inertia(drive: Drive) -> float:
    if drive.rotor is None:
        assert drive.reflected_inertia is not None
        return drive.reflected_inertia
    return drive.reduction**2 * drive.rotor * GRAM_SQUARE_CENTIMETRE
