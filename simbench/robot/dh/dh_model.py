"""Pinocchio models of Denavit-Hartenberg tables."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from simbench.errors import RobotError
from simbench.robot.dh.dh import BASE, DhJoint, DhTable, Sigma, row_end, row_placement, validate_variables


@dataclass(frozen=True)
class JointLimits:
    """Limits of a joint."""

    lower: float  # `lower`, `upper`: range of the joint variable, rad or m.
    upper: float
    velocity: float  # Largest speed, rad/s or m/s.
    effort: float  # Largest torque, N·m, or force, N.


def link_name(joint: str) -> str:
    """Name the link, and so the frame in a model, that has the frame of a joint's row.

    `joint`: name of a joint, or `base`. Returns name of its link; `base` keeps its name.
    """
    return joint if joint == BASE else f"{joint}_link"


def table_model(
    table: DhTable,
    inertias: Mapping[str, pin.Inertia] | None = None,
    limits: Mapping[str, JointLimits] | None = None,
) -> pin.Model:
    """Build the Pinocchio model of a table.

    `inertias`: inertia of the link with a joint's frame, in that frame, by joint name; other links have no
    mass; `limits`: limits by joint name; other joints are unlimited. Returns model with the joints of the
    table in depth-first order, as Pinocchio requires; for every joint, including fixed ones, it has a body
    frame named by `link_name` at the row's frame. Raises RobotError if `inertias` or `limits` name a joint
    that the table does not have.
    """
    inertias, limits = inertias or {}, limits or {}
    require_joints(inertias, (BASE, *(joint.name for joint in table.joints)), "inertias")
    require_joints(limits, table.moving, "limits")
    model = pin.Model()
    carriers: dict[str, tuple[int, pin.SE3]] = {BASE: (0, pin.SE3.Identity())}
    if BASE in inertias:
        model.appendBodyToJoint(0, inertias[BASE], pin.SE3.Identity())
    for joint in _depth_first(table):
        parent, frame = carriers[joint.parent]
        placement = frame * row_placement(joint.row)
        end = row_end(joint.row)
        if joint.sigma == Sigma.FIXED:
            carrier, at = parent, placement * end
        else:
            kind = pin.JointModelPZ() if joint.sigma == Sigma.PRISMATIC else pin.JointModelRZ()
            carrier, at = model.addJoint(parent, kind, placement, joint.name), end
            if joint.name in limits:
                _set_limits(model, carrier, limits[joint.name])
        carriers[joint.name] = (carrier, at)
        model.addFrame(pin.Frame(link_name(joint.name), carrier, 0, at, pin.FrameType.BODY))
        if joint.name in inertias:
            model.appendBodyToJoint(carrier, inertias[joint.name], at)
    return model


def model_frames(table: DhTable, model: pin.Model, variables: ArrayLike) -> dict[str, NDArray[np.float64]]:
    """Compute the frames of all joints of a table by Pinocchio's forward kinematics.

    `model`: model from `table_model`, or read from a URDF that `table_urdf` wrote; `variables` (n,) _like:
    joint variables in the order of `table.moving`, rad or m. Returns dict of str to (4, 4) array: homogeneous
    transforms in the world by joint name. Raises RobotError if the number of variables is not that of the
    moving joints.
    """
    q = pin.neutral(model)
    for name, value in zip(table.moving, validate_variables(table, variables), strict=True):
        q[model.joints[model.getJointId(name)].idx_q] = value
    data = model.createData()
    pin.framesForwardKinematics(model, data, q)
    return {
        joint.name: data.oMf[model.getFrameId(link_name(joint.name), pin.FrameType.BODY)].homogeneous
        for joint in table.joints
    }


def require_joints(given: Mapping[str, object], allowed: tuple[str, ...], where: str) -> None:
    """Refuse names that are not joints of a table.

    `given`: values by joint name; `where`: name of the argument in the error message.
    """
    for name in given:
        if name not in allowed:
            raise RobotError(f"{where}: the table has no such joint: `{name}`; allowed: {', '.join(allowed)}")


def _depth_first(table: DhTable) -> list[DhJoint]:
    """Order the joints so that every subtree is contiguous, which Pinocchio's algorithms rely on."""
    children: dict[str, list[DhJoint]] = {BASE: [], **{joint.name: [] for joint in table.joints}}
    for joint in table.joints:
        children[joint.parent].append(joint)
    ordered = []
    waiting = children[BASE][::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting += children[joint.name][::-1]
    return ordered


def _set_limits(model: pin.Model, joint: int, limits: JointLimits) -> None:
    """Write the limits of a joint to a model."""
    q, v = model.joints[joint].idx_q, model.joints[joint].idx_v
    model.lowerPositionLimit[q], model.upperPositionLimit[q] = limits.lower, limits.upper
    model.lowerVelocityLimit[v], model.upperVelocityLimit[v] = -limits.velocity, limits.velocity
    model.lowerEffortLimit[v], model.upperEffortLimit[v] = -limits.effort, limits.effort
