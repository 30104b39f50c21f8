"""A serial arm: Denavit-Hartenberg table, inertial parameters of its links, motors and friction."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pinocchio as pin

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.description import Description
from simbench.robot.dh import BASE, DhJoint, DhRow, DhTable, HayatiRow, Sigma, table_model
from simbench.robot.robot import describe_robot, load_robot
from simbench.robot.robot_sources import find_robot

STANDARD_GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True)
class Arm:
    """A serial arm with its inertial parameters.

    Raises RobotError if the table is not a chain of moving joints, or an array has another shape.
    """

    table: DhTable  # Denavit-Hartenberg table: a chain of joints, all of them moving.
    mass: Array  # (n,): mass of each link, kg.
    # (n, 3): centre of mass in the frame of the link's row, m. A `HayatiRow` has its frame at the link's far
    # end.
    centre: Array
    inertia: Array  # (n, 3, 3): about the centre of mass, in the row's axes, kg·m².
    # (n,): reflected inertia of each motor and drive at its joint, kg·m²: it is on the diagonal of A and
    # nowhere else.
    motor: Array
    viscous: Array  # (n,): viscous friction of each joint, N·m·s/rad.
    coulomb: Array  # (n,): coulomb friction of each moving joint, N·m.
    gravity: Array  # (3,): gravitational acceleration in the base's axes, m/s².

    def __post_init__(self) -> None:
        before = BASE
        for joint in self.table.joints:
            where = f"arm, joint `{joint.name}`"
            if joint.parent != before:
                raise RobotError(f"{where}: hangs on `{joint.parent}`; allowed in a chain: `{before}`")
            if joint.sigma == Sigma.FIXED:
                raise RobotError(
                    f"{where}: is fixed; allowed: joints that move, its link joined to the one before"
                )
            before = joint.name
        n = len(self.table.joints)
        shapes = {"mass": (n,), "centre": (n, 3), "inertia": (n, 3, 3), "gravity": (3,)}
        shapes |= {name: (n,) for name in ("motor", "viscous", "coulomb")}
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise RobotError(f"arm, {name}: shape {getattr(self, name).shape}; allowed: {shape}")

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.table.joints)

    @property
    def rows(self) -> tuple[DhRow | HayatiRow, ...]:
        """DhRow of the Denavit-Hartenberg table of each joint."""
        return tuple(joint.row for joint in self.table.joints)


def read_arm(name_or_path: str | Path) -> Arm:
    """Read an arm's Denavit-Hartenberg table and inertial parameters from its `robot.yaml`.

    `name_or_path`: name of a robot, such as `puma560`, or the path of a `robot.yaml`. Returns the arm in
    standard gravity, the base's z axis up. Raises RobotError if the robot cannot be loaded, or is not a chain
    of joints placed by rows (`dh`).
    """
    robot, file = load_robot(name_or_path), find_robot(name_or_path)
    file, description = describe_robot(file)
    source = file.path
    names = robot.joint_names
    rows = [_row(description, name, str(source)) for name in names]
    children = [description.joints[name].child for name in names]
    joints = []
    for name, row in zip(names, rows, strict=True):
        carrier = description.joints[name].parent
        # Whatever the root link is called, it is the table's base.
        parent = names[children.index(carrier)] if carrier in children else BASE
        joints.append(DhJoint(name, parent, row))
    links = [description.links[child] for child in children]
    return Arm(
        table=DhTable(tuple(joints)),
        mass=np.array([link.mass for link in links]),
        centre=np.array([link.cog for link in links]),
        inertia=np.array([_tensor(*link.inertia) for link in links]),
        motor=robot.motors.reflected_inertia,
        viscous=robot.friction.viscous,
        coulomb=robot.friction.coulomb,
        gravity=STANDARD_GRAVITY,
    )


def arm_model(arm: Arm) -> pin.Model:
    """Build the arm's Pinocchio model, with its motors (`armature`) and without friction.

    Returns one joint for each row of the table.
    """
    inertias = {
        joint.name: pin.Inertia(mass, centre, inertia)
        for joint, mass, centre, inertia in zip(
            arm.table.joints, arm.mass, arm.centre, arm.inertia, strict=True
        )
    }
    model = table_model(arm.table, inertias)
    model.armature[:] = arm.motor
    model.gravity.linear = arm.gravity
    return model


def _row(description: Description, name: str, where: str) -> DhRow:
    joint = description.joints.get(name)
    if joint is None or joint.dh is None:
        raise RobotError(
            f"{where}: joints.{name}: has no row; allowed in an arm by its table: joints with `dh`"
        )
    return joint.dh


def _tensor(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> Array:
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
