"""Rotors that Bullet counts as inertia of the links which they turn.

Bullet has no reflected rotor inertia (armature); the joint control delivers it as a joint torque, which it
predicts (`sim.control.joint_controller`). Where a contact stops a link within a step, such a torque comes too
late, and the contact meets the link alone: the foot of a geared leg, a twentieth of its rotors, would be hit
away, and chatter on the floor. So in Bullet the links of the legs carry the rotors of their own joints:
inertia I_r a aᵀ about the joint's axis a, of which contacts feel all. What this adds beyond an armature,
I_r (a · ω) instead of I_r q̇ as the momentum, the joint control cancels.
"""

import xml.etree.ElementTree as ET
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from simbench.kinematics.arrays import Array
from simbench.robot.robot import Robot


def rotor_tensors(robot: Robot) -> dict[int, Array]:
    """Compute the inertia that Bullet adds to the links of the legs.

    `robot`: robot whose motors have reflected inertia. Returns dict of int to (3, 3) array: by joint of the
    model, the inertia I_r a aᵀ of its rotor, kg·m², in the axes of the link that the joint carries; turning
    joints between the root and a foot that have reflected inertia.
    """
    model, tensors = robot.model, {}
    feet = [model.frames[model.getFrameId(robot.frames[role])].parentJoint for role in robot.feet]
    for joint in sorted({joint for foot in feet for joint in model.supports[foot]}):
        if not joint or model.joints[joint].nv != 1:
            continue
        motion = model.joints[joint].createData()
        model.joints[joint].calc(motion, np.zeros(model.nq))
        axis = np.asarray(motion.S).ravel()[3:]
        inertia = robot.motors.reflected_inertia[robot.joint_names.index(model.names[joint])]
        if inertia > 0.0 and axis.any():
            tensors[joint] = inertia * np.outer(axis, axis)
    return tensors


def add_rotors(urdf: str, tensors: Mapping[str, Array]) -> str:
    """Add inertia to links of a URDF.

    Their inertia is written in principal axes: Bullet refuses products of inertia of a link that, as a rotor
    makes it, no rigid body could have. `urdf`: text of the URDF; `tensors` mapping of str to (3, 3) array: by
    joint, what is added to the inertia of the link that it carries, in that link's axes, kg·m². Returns text
    of the URDF with these links changed.
    """
    robot = ET.fromstring(urdf)
    links = {str(link.get("name")): link for link in robot.findall("link")}
    for joint in robot.findall("joint"):
        child = joint.find("child")
        inertial = None if child is None else links[str(child.get("link"))].find("inertial")
        if inertial is not None and joint.get("name") in tensors:
            _add_inertia(inertial, tensors[str(joint.get("name"))])
    return ET.tostring(robot, encoding="unicode")


def _add_inertia(inertial: ET.Element, tensor: Array) -> None:
    """Add a tensor in the link's axes to an element `<inertial>`, which gets principal axes."""
    origin = inertial.find("origin")
    if origin is None:
        origin = ET.SubElement(inertial, "origin", xyz="0 0 0")
    angles = np.array([float(value) for value in origin.get("rpy", "0 0 0").split()])
    axes = pin.rpy.rpyToMatrix(angles)
    element = inertial.find("inertia")
    assert element is not None
    xx, xy, xz, yy, yz, zz = (
        float(element.get(name, "0")) for name in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    )
    own = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    moments, principal = np.linalg.eigh(own + axes.T @ tensor @ axes)
    if np.linalg.det(principal) < 0.0:
        principal[:, 0] *= -1.0
    rpy = pin.rpy.matrixToRpy(axes @ principal)
    origin.set("rpy", " ".join(repr(float(angle)) for angle in rpy))
    for name, moment in zip(("ixx", "iyy", "izz"), moments, strict=True):
        element.set(name, repr(float(moment)))
    for name in ("ixy", "ixz", "iyz"):
        element.set(name, "0")
