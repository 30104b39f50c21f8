"""Modified Denavit-Hartenberg tables: rows, frames of a tree of joints, and Pinocchio models."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array

BASE = "base"


class Sigma(IntEnum):
    """Type of joint: the joint variable is added to theta, to d, or there is none."""

    REVOLUTE = 0
    PRISMATIC = 1
    FIXED = 2


@dataclass(frozen=True)
class DhRow:
    """Parameters of a joint after Khalil and Kleinfinger; the parameters gamma and b are 0 along a chain.

    T = Rot_z(gamma) Trans_z(b) Rot_x(alpha) Trans_x(a) Rot_z(theta) Trans_z(d), angles in rad, lengths in m
    (Khalil & Kleinfinger, ICRA 1986). Without gamma and b it is Craig's form. The origin of the frame is on
    the joint axis.
    """

    # It is also a section of robot.yaml, whose keys have a description each.
    __pydantic_config__: ClassVar[Mapping[str, object]] = {
        "use_attribute_docstrings": True,
        "extra": "forbid",
        "allow_inf_nan": False,
    }
    gamma: float = 0.0
    """Angle from the parent's x axis to the common normal of the axes, about the parent's z axis."""
    b: float = 0.0
    """Distance from the parent's x axis to the common normal, along the parent's z axis."""
    alpha: float = 0.0
    """Angle between the joint axes about their common normal."""
    a: float = 0.0
    """Distance between the joint axes along their common normal."""
    theta: float = 0.0
    """Angle about the joint's z axis at zero joint variable."""
    d: float = 0.0
    """Distance along the joint's z axis at zero joint variable."""


@dataclass(frozen=True)
class HayatiRow:
    """Parameters of a joint after Hayati, for axes that are nearly parallel to the previous one.

    T = Rot_y(beta) Rot_x(alpha) Trans_z(d) Rot_z(theta) Trans_x(a), angles in rad, lengths in m (Hayati &
    Mirmirani, J. Robotic Systems 2(4), 1985). The length a comes after the rotation theta: the origin of the
    frame is at the far end of the link, not on the joint axis. Between parallel axes d can be shifted freely
    from joint to joint, so beta takes its place. Raises RobotError if both beta and d are given.
    """

    alpha: float = 0.0  # `alpha`, `beta`: angles of the joint axis about the parent's x and y axes, rad.
    beta: float = 0.0
    d: float = 0.0  # Distance along the joint's z axis, m; 0 where beta is used.
    theta: float = 0.0  # Angle about the joint's z axis at zero joint variable, rad.
    a: float = 0.0  # Length of the link along the rotated x axis, m.

    def __post_init__(self) -> None:
        if self.beta != 0.0 and self.d != 0.0:
            raise RobotError(
                f"Hayati row: d {self.d:g} m together with beta {self.beta:g} rad; with beta, d must be 0"
            )


@dataclass(frozen=True)
class DhJoint:
    """One named joint of a table."""

    name: str
    parent: str  # Name of the joint in whose frame the row is given, or `base`.
    row: DhRow | HayatiRow  # Parameters of the joint.
    sigma: Sigma = Sigma.REVOLUTE  # Type of the joint.


@dataclass(frozen=True)
class DhTable:
    """A tree of joints, each after its parent.

    Raises RobotError if a name occurs twice, a parent is unknown or comes later, sigma is not 0, 1 or 2, or a
    prismatic joint has a beta.
    """

    joints: tuple[DhJoint, ...]  # The joints, parents before children.

    def __post_init__(self) -> None:
        names = [joint.name for joint in self.joints]
        known = [BASE]
        for joint in self.joints:
            where = f"Denavit-Hartenberg table, joint `{joint.name}`"
            if joint.name in known:
                raise RobotError(
                    f"{where}: the name occurs twice; every joint needs its own, other than `{BASE}`"
                )
            if joint.parent not in known:
                problem = "comes after it" if joint.parent in names else "is unknown"
                raise RobotError(f"{where}: parent `{joint.parent}` {problem}; allowed: {', '.join(known)}")
            if joint.sigma not in tuple(Sigma):
                raise RobotError(
                    f"{where}: sigma {joint.sigma}; allowed: 0 (revolute), 1 (prismatic), 2 (fixed)"
                )
            if joint.sigma == Sigma.PRISMATIC and isinstance(joint.row, HayatiRow) and joint.row.beta != 0.0:
                raise RobotError(
                    f"{where}: a prismatic joint moves along d, which must be 0 where beta is used"
                )
            known.append(joint.name)

    @property
    def moving(self) -> tuple[str, ...]:
        """Names of the revolute and prismatic joints, in the order of the joint variables."""
        return tuple(joint.name for joint in self.joints if joint.sigma != Sigma.FIXED)


def row_placement(row: DhRow | HayatiRow) -> pin.SE3:
    """Compute the placement of a joint in its parent's frame at zero joint variable; the joint's axis is z.

    `row`: parameters of the joint. Returns placement of the joint: for a `DhRow` T itself, because
    Rot_z(theta) and Trans_z(d) commute; for a `HayatiRow` T without the length a, which is `row_end`.
    """
    if isinstance(row, HayatiRow):
        tilt = pin.SE3(pin.utils.rotate("y", row.beta) @ pin.utils.rotate("x", row.alpha), np.zeros(3))
        return tilt * _screw_z(row.theta, row.d)
    length = pin.SE3(pin.utils.rotate("x", row.alpha), np.array([row.a, 0.0, 0.0]))
    return _screw_z(row.gamma, row.b) * length * _screw_z(row.theta, row.d)


def row_end(row: DhRow | HayatiRow) -> pin.SE3:
    """Compute the placement of a row's frame in the frame of its joint.

    `row`: parameters of the joint. Returns translation by the length a of a `HayatiRow`, the identity for a
    `DhRow`.
    """
    return pin.SE3(np.eye(3), np.array([row.a if isinstance(row, HayatiRow) else 0.0, 0.0, 0.0]))


def table_frames(table: DhTable, variables: ArrayLike) -> dict[str, Array]:
    """Compute the frames of all joints in the base by the matrices of the table.

    `variables` (..., n) _like: joint variables in the order of `table.moving`, rad or m. Returns dict of str
    to (..., 4, 4) array: homogeneous transforms by joint name, and the identity for `base`. Raises RobotError
    if the number of variables is not that of the moving joints.
    """
    q = np.asarray(variables, dtype=float)
    if q.ndim == 0 or q.shape[-1] != len(table.moving):
        raise RobotError(
            f"joint variables of shape {q.shape}; allowed: (..., {len(table.moving)}), one for each of "
            f"{', '.join(table.moving)}"
        )
    frames: dict[str, Array] = {BASE: np.broadcast_to(np.eye(4), (*q.shape[:-1], 4, 4))}
    values: Mapping[str, Array] = {name: q[..., index] for index, name in enumerate(table.moving)}
    for joint in table.joints:
        frame = frames[joint.parent] @ row_placement(joint.row).homogeneous
        if joint.sigma != Sigma.FIXED:
            value = values[joint.name]
            motion = np.zeros((*value.shape, 4, 4))
            motion[...] = np.eye(4)
            if joint.sigma == Sigma.PRISMATIC:
                motion[..., 2, 3] = value
            else:
                motion[..., 0, 0] = motion[..., 1, 1] = np.cos(value)
                motion[..., 1, 0] = np.sin(value)
                motion[..., 0, 1] = -np.sin(value)
            frame = frame @ motion
        frames[joint.name] = frame @ row_end(joint.row).homogeneous
    return frames


def _screw_z(angle: float, length: float) -> pin.SE3:
    """Rotation about z by an angle, rad, and translation along z, m."""
    return pin.SE3(pin.utils.rotate("z", angle), np.array([0.0, 0.0, length]))


# Limits of a joint: `lower`, `upper`, rad or m; `velocity`, rad/s or m/s; `effort`, N·m or N.
JointLimits = Mapping[str, float]


def link_name(joint: str) -> str:
    """Name the link, and so the frame in a model, that has the frame of a joint's row.

    `joint`: name of a joint, or `base`. Returns name of its link; `base` keeps its name.
    """
    return joint if joint == BASE else f"{joint}_link"


def table_model(table: DhTable, inertias: Mapping[str, pin.Inertia] | None = None) -> pin.Model:
    """Build the Pinocchio model of a table.

    `inertias`: inertia of the link with a joint's frame, in that frame, by joint name; other links have no
    mass. Returns model with the joints of the table in depth-first order, as Pinocchio requires; they are
    unlimited; for every joint, including fixed ones, it has a body frame named by `link_name` at the row's
    frame. Raises RobotError if `inertias` name a joint that the table does not have.
    """
    inertias = inertias or {}
    require_joints(inertias, (BASE, *(joint.name for joint in table.joints)), "inertias")
    model = pin.Model()
    carriers: dict[str, tuple[int, pin.SE3]] = {BASE: (0, pin.SE3.Identity())}
    if BASE in inertias:
        model.appendBodyToJoint(0, inertias[BASE], pin.SE3.Identity())
    # Every subtree is contiguous, which Pinocchio's algorithms rely on.
    waiting = [joint for joint in table.joints if joint.parent == BASE][::-1]
    while waiting:
        joint = waiting.pop()
        waiting += [each for each in table.joints if each.parent == joint.name][::-1]
        parent, frame = carriers[joint.parent]
        placement = frame * row_placement(joint.row)
        end = row_end(joint.row)
        if joint.sigma == Sigma.FIXED:
            carrier, at = parent, placement * end
        else:
            kind = pin.JointModelPZ() if joint.sigma == Sigma.PRISMATIC else pin.JointModelRZ()
            carrier, at = model.addJoint(parent, kind, placement, joint.name), end
        carriers[joint.name] = (carrier, at)
        model.addFrame(pin.Frame(link_name(joint.name), carrier, 0, at, pin.FrameType.BODY))
        if joint.name in inertias:
            model.appendBodyToJoint(carrier, inertias[joint.name], at)
    return model


def require_joints(given: Mapping[str, object], allowed: tuple[str, ...], where: str) -> None:
    """Refuse names that are not joints of a table.

    `given`: values by joint name; `where`: name of the argument in the error message.
    """
    for name in given:
        if name not in allowed:
            raise RobotError(f"{where}: the table has no such joint: `{name}`; allowed: {', '.join(allowed)}")
