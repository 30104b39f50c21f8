"""Drives of a robot's joints: motors, gains and friction as arrays.

They come from the robot's description; `simbench.robot.gains` chooses gains that it leaves open.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.description import Description, Drive, JointFriction
from simbench.robot.mirror import add_mirrored_entries

GRAM_SQUARE_CENTIMETRE = 1e-7  # kg·m²

Vector = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Motors:
    """Drive and PD data of the actuated joints, arrays in the order of `Robot.joint_names`."""

    # (n,): inertia of the rotors as the joints feel it, reduction squared times rotor inertia, kg·m².
    reflected_inertia: Vector
    stiffness: Vector  # `stiffness`, `damping` (n,): PD gains, N·m/rad and N·m·s/rad.
    damping: Vector
    torque_limit: Vector  # (n,): largest torque of each drive, N·m.
    # (n,): revolutions of the motor for one revolution of the joint; 0 where it is not known.
    reduction: Vector


@dataclass(frozen=True)
class Friction:
    """Joint friction, arrays in the order of `Robot.joint_names`."""

    coulomb: Vector  # (n,): coulomb friction of a moving joint, N·m.
    viscous: Vector  # (n,): viscous friction coefficient of a moving joint, N·m·s/rad.
    breakaway: Vector  # (n,): largest friction that holds a joint at rest, N·m; at least `coulomb`.


def compute_reflected_inertia(
    description: Description, joint_names: Sequence[str], where: str
) -> tuple[Vector, Vector]:
    """Compute the reductions and reflected inertia of all joints from the motors of a description.

    `description`: description of the robot; `joint_names`: names of the actuated joints; `where`: file of the
    description, for messages. Returns `reduction` (n,): revolutions of the motor for one revolution of the
    joint; zero if the description gives no motors; `inertia` (n,): reflected inertia, kg·m²; zero if the
    description gives no motors. Raises RobotError if a joint is unknown or, where some joints have a row, one
    has none.
    """
    motors = _rows(description.motors, description, joint_names, f"{where}: motors")
    if not motors:
        return np.zeros(len(joint_names)), np.zeros(len(joint_names))
    drives = [motors[name] for name in joint_names]
    return (
        np.array([drive.reduction for drive in drives]),
        np.array([_reflected_inertia(drive) for drive in drives]),
    )


def read_gains(
    gains: Mapping[str, tuple[float, float]], description: Description, joint_names: Sequence[str], where: str
) -> tuple[Vector, Vector]:
    """Read the gains of all joints from the rows of a description.

    `gains`: stiffness and damping by joint; those of the right side may be left out; `description`:
    description of the robot, which says how sides are mirrored; `joint_names`: names of the actuated joints;
    `where`: file of the description, for messages. Returns `stiffness`, `damping` (n,): PD gains, N·m/rad and
    N·m·s/rad. Raises RobotError if a joint is unknown or has no row.
    """
    rows = _rows(gains, description, joint_names, f"{where}: gains")
    table = np.array([rows[name] for name in joint_names]).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def read_friction(description: Description, joint_names: Sequence[str], where: str) -> Friction:
    """Read the friction of all joints from a description.

    `description`: description of the robot; `joint_names`: names of the actuated joints; `where`: file of the
    description, for messages. Returns friction of the joints; zero for those of which the description gives
    none. Raises RobotError if a joint is unknown.
    """
    rows = add_mirrored_entries(description.friction, description.mirror)
    require_known(rows, joint_names, "joint", f"{where}: friction")
    entries = [rows.get(name, JointFriction()) for name in joint_names]
    return Friction(
        coulomb=np.array([entry.coulomb for entry in entries]),
        viscous=np.array([entry.viscous for entry in entries]),
        breakaway=np.array([entry.breakaway for entry in entries]),
    )


def require_known(names: Iterable[str], allowed: Sequence[str], kind: str, where: str) -> None:
    """Refuse names that are not allowed.

    `names`: names to check; `kind`: kind of thing that is named, for the message; `where`: file and key, for
    the message.
    """
    for name in names:
        if name not in allowed:
            raise RobotError(f"{where}: unknown {kind} `{name}`; allowed: {', '.join(sorted(allowed))}")


def _rows(
    section: Mapping[str, T], description: Description, joint_names: Sequence[str], where: str
) -> dict[str, T]:
    """Rows of both sides, of which there must be one for every joint or none at all."""
    rows = add_mirrored_entries(section, description.mirror)
    require_known(rows, joint_names, "joint", where)
    missing = [name for name in joint_names if name not in rows]
    if rows and missing:
        raise RobotError(f"{where}: no row for {', '.join(missing)}; every joint of the URDF needs one")
    return rows


def _reflected_inertia(drive: Drive) -> float:
    """Inertia of a drive as the joint feels it, kg·m²."""
    if drive.rotor is None:
        assert drive.reflected_inertia is not None
        return drive.reflected_inertia
    return drive.reduction**2 * drive.rotor * GRAM_SQUARE_CENTIMETRE
