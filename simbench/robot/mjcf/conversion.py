"""Conversion of the robot in an MJCF file, as MuJoCo compiles it, to an equivalent URDF.

What URDF has no words for (armature, gains, keyframes, contact exclusions, notes) is in an element `<mjcf>`.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.robot.mjcf.actuators import joint_armature, joint_gains, torque_limit
from simbench.robot.mjcf.model import Names, RobotPart, compile_mjcf, find_robot_part, list_left_out, listed
from simbench.robot.mjcf.shapes import add_shapes, exact_text, pose

_UNLIMITED_VELOCITY = 1e4  # MJCF has no limits of speed; this large one stands for none, rad/s or m/s.
_UNLIMITED_EFFORT = 1e6  # Limit of a joint whose actuators have none, N·m or N.
_HINGE, _SLIDE, _BALL = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("HINGE", "SLIDE", "BALL")
)


def convert_mjcf(path: Path, folder: Path) -> tuple[str, dict[str, str]]:
    """Convert the robot in an MJCF file to an equivalent URDF.

    Joints keep their names, their order and the zero of their coordinates. The frame of a link is that of its
    body, moved to the anchor of the body's last joint. A body with several joints becomes a chain of links
    without mass, a ball joint three revolute joints about x, y and z. `folder`: where meshes that have no
    file of their own will be written. Returns `text`: the URDF, with meshes by absolute path; `meshes`:
    content of files to write to `folder`, by name. Raises RobotError if MuJoCo refuses the file, or nothing
    in it moves.
    """
    model, spec, notes = compile_mjcf(path)
    part = find_robot_part(model, path)
    names = Names(model)
    name = "_".join(spec.modelname.split()).replace("/", "_")
    robot = ET.Element("robot", name=name if name and name != "MuJoCo_Model" else path.stem)
    extension = ET.Element("mjcf", floating=str(part.floating).lower())
    meshes: dict[str, str] = {}
    # Link of each body, and the body's frame in the frame of the link.
    links: dict[int, tuple[str, pin.SE3]] = {}
    if part.world_link:
        links[0] = names.unique("world"), pin.SE3.Identity()
        ET.SubElement(robot, "link", name=links[0][0])
    free, balls = [], []
    for body in part.bodies:
        parent = int(model.body_parentid[body])
        link = names.body(body)
        if parent not in links:
            # The root link; its pose in the scene is not the robot's.
            links[body] = link, pin.SE3.Identity()
        else:
            carrier, frame = links[parent]
            frame = frame * pose(model.body_pos[body], model.body_quat[body])
            first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
            steps = [
                step
                for joint in range(first, first + count)
                for step in _elementary_joints(model, names, joint)
            ]
            balls += [names.joint(j) for j in range(first, first + count) if model.jnt_type[j] == _BALL]
            if not steps:
                _add_joint(robot, names.unique(f"{link}_fixed"), "fixed", carrier, link, frame)
                frame = pin.SE3.Identity()
            for number, (joint, joint_name, axis, anchor, zero) in enumerate(steps, start=1):
                child = link
                if number < len(steps):
                    child = names.unique(f"{link}_{joint_name}")
                    ET.SubElement(robot, "link", name=child)
                before = frame * pin.SE3(np.eye(3), anchor) * zero
                limits = _limits(model, joint)
                effort = torque_limit(model, joint)
                if effort is None:
                    free.append(joint_name)
                kind = "prismatic" if model.jnt_type[joint] == _SLIDE else "revolute"
                kind = "continuous" if kind == "revolute" and limits is None else kind
                element = _add_joint(robot, joint_name, kind, carrier, child, before)
                ET.SubElement(element, "axis", xyz=exact_text(axis))
                limit = {} if limits is None else {"lower": limits[0], "upper": limits[1]}
                limit |= {"effort": effort or _UNLIMITED_EFFORT, "velocity": _UNLIMITED_VELOCITY}
                ET.SubElement(element, "limit", {key: exact_text([value]) for key, value in limit.items()})
                _add_mimic(model, names, joint, element)
                dof = int(model.jnt_dofadr[joint])
                values = {
                    "armature": joint_armature(model, joint),
                    "damping": float(model.dof_damping[dof]),
                    "frictionloss": float(model.dof_frictionloss[dof]),
                }
                gains = joint_gains(model, joint)
                if gains is not None:
                    values |= {"kp": gains[0], "kv": gains[1]}
                texts = {key: exact_text([value]) for key, value in values.items()}
                ET.SubElement(extension, "joint", {"name": joint_name, **texts})
                carrier, frame = child, pin.SE3(np.eye(3), -anchor)
            links[body] = link, frame
        placement = links[body][1]
        element = ET.SubElement(robot, "link", name=link)
        inertia = placement.act(_inertia(model, body))
        if inertia.mass > 0.0 or inertia.inertia.any():
            inertial = ET.SubElement(element, "inertial")
            ET.SubElement(inertial, "origin", xyz=exact_text(inertia.lever), rpy="0 0 0")
            ET.SubElement(inertial, "mass", value=exact_text([inertia.mass]))
            i = inertia.inertia
            entries = {"ixx": i[0, 0], "iyy": i[1, 1], "izz": i[2, 2]}
            entries |= {"ixy": i[0, 1], "ixz": i[0, 2], "iyz": i[1, 2]}
            ET.SubElement(inertial, "inertia", {key: exact_text([value]) for key, value in entries.items()})
        notes += add_shapes(element, model, spec, body, placement, folder, meshes)
    if free and model.nu:
        notes.append(f"joints {listed(free)}: no actuator limits their torque; taken as unlimited")
    elif free:
        notes.append("joints: the file has no actuators; their torque is taken as unlimited")
    notes.append("joints: MJCF has no limits of speed; taken as unlimited")
    if balls:
        notes.append(f"joints {listed(balls)}: ball joints; three revolute joints about x, y and z instead")
    _add_excludes(model, names, part, extension)
    notes += _add_postures(model, names, part, extension, balls=bool(balls))
    notes += list_left_out(model, names, part)
    for note in notes:
        ET.SubElement(extension, "note").text = note
    robot.append(extension)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode") + "\n", meshes


def _elementary_joints(
    model: Any, names: Names, joint: int
) -> Iterator[tuple[int, str, NDArray[np.float64], NDArray[np.float64], pin.SE3]]:
    """Split a joint of MuJoCo into joints of one degree of freedom.

    Yields number and name of the joint, axis and anchor in the frame of the body (m), and the displacement at
    the coordinate zero: a body is placed where its joints have the coordinates `qpos0`.
    """
    kind, anchor, name = model.jnt_type[joint], np.array(model.jnt_pos[joint]), names.joint(joint)
    axis, reference = np.array(model.jnt_axis[joint]), float(model.qpos0[model.jnt_qposadr[joint]])
    if kind == _HINGE:
        yield joint, name, axis, anchor, pin.SE3(pin.exp3(-reference * axis), np.zeros(3))
    elif kind == _SLIDE:
        yield joint, name, axis, np.zeros(3), pin.SE3(np.eye(3), -reference * axis)
    elif kind == _BALL:
        for letter, unit in zip("xyz", np.eye(3), strict=True):
            yield joint, names.unique(f"{name}_{letter}"), unit, anchor, pin.SE3.Identity()


def _limits(model: Any, joint: int) -> tuple[float, float] | None:
    """Read the limits of a joint, rad or m; of each axis of a ball joint. None if there are none."""
    if not model.jnt_limited[joint]:
        return None
    low, high = map(float, model.jnt_range[joint])
    return (-high, high) if model.jnt_type[joint] == _BALL else (low, high)


def _add_mimic(model: Any, names: Names, joint: int, element: ET.Element) -> None:
    """Add `<mimic>` to a joint that an equality makes follow another one: q - q0 = a0 + a1 (p - p0)."""
    for number in range(model.neq):
        follows = model.eq_type[number] == mujoco.mjtEq.mjEQ_JOINT and model.eq_obj1id[number] == joint
        leader = int(model.eq_obj2id[number])
        if follows and leader >= 0 and model.eq_active0[number] and not model.eq_data[number, 2:5].any():
            offset, slope = map(float, model.eq_data[number, :2])
            zero, of_leader = (model.qpos0[model.jnt_qposadr[each]] for each in (joint, leader))
            values = {
                "multiplier": exact_text([slope]),
                "offset": exact_text([offset + zero - slope * of_leader]),
            }
            ET.SubElement(element, "mimic", {"joint": names.joint(leader), **values})
            return


def _add_excludes(model: Any, names: Names, part: RobotPart, extension: ET.Element) -> None:
    """Add the pairs of links whose contacts the file excludes."""
    for signature in model.exclude_signature:
        pair = int(signature) >> 16, int(signature) & 0xFFFF
        if all(body in part.bodies for body in pair):
            first, second = map(names.body, pair)
            ET.SubElement(extension, "exclude", link1=first, link2=second)


def _add_postures(
    model: Any, names: Names, part: RobotPart, extension: ET.Element, *, balls: bool
) -> Iterator[str]:
    """Add the keyframes as postures; yield a line for each that is none within the joints' limits."""
    joints = [j for j in range(model.njnt) if model.jnt_bodyid[j] in part.bodies]
    joints = [j for j in joints if model.jnt_type[j] in (_HINGE, _SLIDE)]
    for number in range(model.nkey):
        name = model.key(number).name or f"key{number}"
        q = {joint: float(model.key_qpos[number, model.jnt_qposadr[joint]]) for joint in joints}
        outside = [
            names.joint(joint)
            for joint, value in q.items()
            if not (low := _limits(model, joint) or (-1e4, 1e4))[0] - 1e-6 <= value <= low[1] + 1e-6
        ]
        if outside or balls:
            why = "positions of ball joints" if balls else f"{listed(outside)} outside the limits"
            yield f"keyframe `{name}`: {why}; left out"
            continue
        posture = ET.SubElement(extension, "posture", name=name)
        for joint, value in q.items():
            ET.SubElement(posture, "joint", name=names.joint(joint), position=exact_text([value]))


def _inertia(model: Any, body: int) -> pin.Inertia:
    """Inertia of a body in its frame."""
    rotation = pose(np.zeros(3), model.body_iquat[body]).rotation
    tensor = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
    inertia = pin.Inertia.Zero()
    inertia.mass, inertia.lever = float(model.body_mass[body]), np.array(model.body_ipos[body])
    inertia.inertia = 0.5 * (tensor + tensor.T)
    return inertia


def _add_joint(
    robot: ET.Element, name: str, kind: str, parent: str, child: str, frame: pin.SE3
) -> ET.Element:
    """Add a joint with its frame in the parent link."""
    joint = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(
        joint,
        "origin",
        xyz=exact_text(frame.translation),
        rpy=exact_text(pin.rpy.matrixToRpy(frame.rotation)),
    )
    return joint
