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
import trimesh
from numpy.typing import NDArray

from simbench.robot.mjcf.model import (
    Names,
    RobotPart,
    compile_mjcf,
    find_robot_part,
    joint_armature,
    joint_gains,
    list_left_out,
    listed,
    mesh_file,
    torque_limit,
)

_UNLIMITED_VELOCITY = 1e4  # MJCF has no limits of speed; this large one stands for none, rad/s or m/s.
_ROUNDING = 1e-4  # Distance outside its limits at which a joint of a keyframe counts as at them, rad or m.
_UNLIMITED_EFFORT = 1e6  # Limit of a joint whose actuators have none, N·m or N.
_HINGE, _SLIDE, _BALL = (
    int(getattr(mujoco.mjtJoint, f"mjJNT_{kind}")) for kind in ("HINGE", "SLIDE", "BALL")
)
_BOX, _SPHERE, _CYLINDER, _CAPSULE, _ELLIPSOID, _MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"))
    for kind in ("BOX", "SPHERE", "CYLINDER", "CAPSULE", "ELLIPSOID", "MESH")
)
_SEEN = 3  # Geoms of groups below this one are drawn by default.
_GREY = (0.5, 0.5, 0.5, 1.0)  # Colour of a geom that says none.
_UNIT_SPHERE = "unit_sphere.obj"


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
    robot = ET.Element("robot", name=name if name and name != "MuJoCo_Model" else path.stem, version="1.1")
    extension = ET.Element("mjcf", floating=str(part.floating).lower())
    meshes: dict[str, str] = {}
    # Link of each body, and the body's frame in the frame of the link.
    links: dict[int, tuple[str, pin.SE3]] = {}
    if part.world_link:
        links[0] = names.unique("world"), pin.SE3.Identity()
        ET.SubElement(robot, "link", name=links[0][0])
    for body in part.bodies:
        link, placement = names.body(body), pin.SE3.Identity()
        # The pose of the root link in the scene is not the robot's.
        if (parent := int(model.body_parentid[body])) in links:
            carrier, frame = links[parent]
            frame = frame * _pose(model.body_pos[body], model.body_quat[body])
            placement = _add_joints(robot, extension, model, names, body, carrier, frame)
        links[body] = link, placement
        element = ET.SubElement(robot, "link", name=link)
        inertia = placement.act(_inertia(model, body))
        if inertia.mass > 0.0 or inertia.inertia.any():
            inertial = ET.SubElement(element, "inertial")
            ET.SubElement(inertial, "origin", xyz=_text(inertia.lever), rpy="0 0 0")
            ET.SubElement(inertial, "mass", value=_text([inertia.mass]))
            i = inertia.inertia
            entries = {"ixx": i[0, 0], "iyy": i[1, 1], "izz": i[2, 2]}
            entries |= {"ixy": i[0, 1], "ixz": i[0, 2], "iyz": i[1, 2]}
            ET.SubElement(inertial, "inertia", {key: _text([value]) for key, value in entries.items()})
        notes += _add_shapes(element, model, spec, body, placement, folder, meshes)
    for signature in model.exclude_signature:
        pair = int(signature) >> 16, int(signature) & 0xFFFF
        if all(body in part.bodies for body in pair):
            first, second = map(names.body, pair)
            ET.SubElement(extension, "exclude", link1=first, link2=second)
    notes += _joint_notes(model, names, part)
    notes += _add_postures(model, names, part, extension)
    notes += list_left_out(model, names, part)
    for note in notes:
        ET.SubElement(extension, "note").text = note
    robot.append(extension)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode") + "\n", meshes


def _add_joints(
    robot: ET.Element,
    extension: ET.Element,
    model: Any,
    names: Names,
    body: int,
    carrier: str,
    frame: pin.SE3,
) -> pin.SE3:
    """Add the joints of a body, and links without mass between them, to the URDF and its extension.

    `carrier`: link of the body's parent; `frame`: frame of the body in it, before its joints move. Returns
    the frame of the body in its link.
    """
    link, first = names.body(body), int(model.body_jntadr[body])
    joints = range(first, first + int(model.body_jntnum[body]))
    steps = [step for joint in joints for step in _elementary_joints(model, names, joint)]
    if not steps:
        _add_joint(robot, names.unique(f"{link}_fixed"), "fixed", carrier, link, frame)
        return pin.SE3.Identity()
    for number, (joint, name, axis, anchor, zero) in enumerate(steps, start=1):
        child = link
        if number < len(steps):
            child = names.unique(f"{link}_{name}")
            ET.SubElement(robot, "link", name=child)
        limits = _limits(model, joint)
        kind = "prismatic" if model.jnt_type[joint] == _SLIDE else "revolute"
        kind = "continuous" if kind == "revolute" and limits is None else kind
        before = frame * pin.SE3(np.eye(3), anchor) * zero
        element = _add_joint(robot, name, kind, carrier, child, before)
        ET.SubElement(element, "axis", xyz=_text(axis))
        limit = {} if limits is None else {"lower": limits[0], "upper": limits[1]}
        limit["effort"] = torque_limit(model, joint)[0] or _UNLIMITED_EFFORT
        limit["velocity"] = _UNLIMITED_VELOCITY
        ET.SubElement(element, "limit", {key: _text([value]) for key, value in limit.items()})
        _add_mimic(model, names, joint, element)
        dof, gains = int(model.jnt_dofadr[joint]), joint_gains(model, joint)
        values = {
            "armature": joint_armature(model, joint),
            "damping": float(model.dof_damping[dof]),
            "frictionloss": float(model.dof_frictionloss[dof]),
            **({} if gains is None else {"kp": gains[0], "kv": gains[1]}),
        }
        texts = {key: _text([value]) for key, value in values.items()}
        ET.SubElement(extension, "joint", {"name": name, **texts})
        carrier, frame = child, pin.SE3(np.eye(3), -anchor)
    return frame


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
            values = {"multiplier": _text([slope]), "offset": _text([offset + zero - slope * of_leader])}
            ET.SubElement(element, "mimic", {"joint": names.joint(leader), **values})
            return


def _joint_notes(model: Any, names: Names, part: RobotPart) -> Iterator[str]:
    """Say what is known of the joints' limits, and which are replaced."""
    joints = [j for j in range(model.njnt) if model.jnt_bodyid[j] in part.bodies]
    balls = [names.joint(joint) for joint in joints if model.jnt_type[joint] == _BALL]
    bounds = {
        names.joint(joint): torque_limit(model, joint)
        for joint in joints
        if model.jnt_type[joint] in (_HINGE, _SLIDE, _BALL)
    }
    free = [name for name, (limit, _) in bounds.items() if limit is None]
    weaker = [name for name, (limit, control) in bounds.items() if limit is not None and control < limit]
    if free and model.nu:
        yield f"joints {listed(free)}: no actuator limits their torque; taken as unlimited"
    elif free:
        yield "joints: the file has no actuators; their torque is taken as unlimited"
    if weaker:
        yield f"joints {listed(weaker)}: ctrlrange allows less than the limits in N·m; these hold"
    yield "joints: MJCF has no limits of speed; taken as unlimited"
    if balls:
        yield f"joints {listed(balls)}: ball joints; three revolute joints about x, y and z instead"


def _add_postures(model: Any, names: Names, part: RobotPart, extension: ET.Element) -> Iterator[str]:
    """Add the keyframes as postures; yield a line for each that is none within the joints' limits."""
    own = [j for j in range(model.njnt) if model.jnt_bodyid[j] in part.bodies]
    joints = [joint for joint in own if model.jnt_type[joint] in (_HINGE, _SLIDE)]
    has_ball = any(model.jnt_type[joint] == _BALL for joint in own)
    for number in range(model.nkey):
        name = model.key(number).name or f"key{number}"
        q, outside = {}, []
        for joint in joints:
            value = float(model.key_qpos[number, model.jnt_qposadr[joint]])
            low, high = _limits(model, joint) or (-np.inf, np.inf)
            q[names.joint(joint)] = float(np.clip(value, low, high))
            # Files write limits and positions with few digits.
            if not abs(value - q[names.joint(joint)]) <= _ROUNDING:
                outside.append(names.joint(joint))
        if has_ball or outside:
            why = "positions of ball joints" if has_ball else f"{listed(outside)} outside the limits"
            yield f"keyframe `{name}`: {why}; left out"
            continue
        posture = ET.SubElement(extension, "posture", name=name)
        for joint_name, value in q.items():
            ET.SubElement(posture, "joint", name=joint_name, position=_text([value]))


def _inertia(model: Any, body: int) -> pin.Inertia:
    """Inertia of a body in its frame."""
    rotation = _pose(np.zeros(3), model.body_iquat[body]).rotation
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
        joint, "origin", xyz=_text(frame.translation), rpy=_text(pin.rpy.matrixToRpy(frame.rotation))
    )
    return joint


def _add_shapes(
    link: ET.Element,
    model: Any,
    spec: Any,
    body: int,
    placement: pin.SE3,
    folder: Path,
    meshes: dict[str, str],
) -> Iterator[str]:
    """Add the geoms of a body to its link.

    A geom that can touch anything (`contype` or `conaffinity`) is a collision shape; one that cannot, or that
    is drawn by default (`group` 0 to 2) is a visual one. `placement`: frame of the body in that of the link;
    `folder`: where the meshes without a file will be written, which are added to `meshes`. Yields a line for
    each geom that is left out.
    """
    first = int(model.body_geomadr[body])
    for geom in range(first, first + int(model.body_geomnum[body])):
        frame = placement * _pose(model.geom_pos[geom], model.geom_quat[geom])
        form, frame = _geometry(model, spec, geom, frame, folder, meshes)
        if form is None:
            kind = mujoco.mjtGeom(int(model.geom_type[geom])).name.removeprefix("mjGEOM_").lower()
            if kind not in ("plane", "hfield"):
                yield f"link `{link.get('name')}`: geom of type {kind}: left out"
            continue
        solid = bool(model.geom_contype[geom] or model.geom_conaffinity[geom])
        rgba = tuple(map(float, model.geom_rgba[geom]))
        if model.geom_matid[geom] >= 0 and np.allclose(rgba, _GREY, atol=1e-6):
            rgba = tuple(map(float, model.mat_rgba[model.geom_matid[geom]]))
        roles = ["collision"] if solid else []
        roles += ["visual"] if rgba[3] > 0.0 and (not solid or model.geom_group[geom] < _SEEN) else []
        for role in roles:
            shape = ET.SubElement(link, role)
            rpy = pin.rpy.matrixToRpy(frame.rotation)
            ET.SubElement(shape, "origin", xyz=_text(frame.translation), rpy=_text(rpy))
            ET.SubElement(ET.SubElement(shape, "geometry"), form[0], form[1])
            if role == "visual":
                color = " ".join(f"{np.clip(value, 0.0, 1.0):.6g}" for value in rgba)
                material = ET.SubElement(shape, "material", name=f"rgba {color}")
                ET.SubElement(material, "color", rgba=color)


def _geometry(
    model: Any, spec: Any, geom: int, frame: pin.SE3, folder: Path, meshes: dict[str, str]
) -> tuple[tuple[str, dict[str, str]] | None, pin.SE3]:
    """Describe a geom by an element of a URDF; None if it has no counterpart. Returns it and its frame."""
    kind, size = int(model.geom_type[geom]), np.array(model.geom_size[geom])
    if kind == _BOX:
        return ("box", {"size": _text(2.0 * size)}), frame
    if kind == _SPHERE:
        return ("sphere", {"radius": _text(size[:1])}), frame
    if kind in (_CYLINDER, _CAPSULE):
        name = "cylinder" if kind == _CYLINDER else "capsule"
        return (name, {"radius": _text(size[:1]), "length": _text(2.0 * size[1:2])}), frame
    if kind == _ELLIPSOID:
        sphere = trimesh.creation.icosphere(subdivisions=2)
        meshes[_UNIT_SPHERE] = _obj(sphere.vertices, sphere.faces)
        return ("mesh", {"filename": str(folder / _UNIT_SPHERE), "scale": _text(size)}), frame
    if kind != _MESH:
        return None, frame
    number = int(model.geom_dataid[geom])
    mesh = spec.meshes[number]
    path = mesh_file(spec, mesh.file) if mesh.file else None
    moved = np.any(mesh.refpos) or not np.array_equal(mesh.refquat, (1.0, 0.0, 0.0, 0.0))
    if path is not None and path.suffix.lower() in (".obj", ".stl") and not moved:
        # MuJoCo has moved the vertices to the mesh's principal axes of inertia, and the geom with them.
        moved_by = _pose(model.mesh_pos[number], model.mesh_quat[number])
        scale = {} if np.all(mesh.scale == 1.0) else {"scale": _text(mesh.scale)}
        return ("mesh", {"filename": str(path), **scale}), frame * moved_by.inverse()
    name = f"mesh{number}.obj"
    if name not in meshes:
        at, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
        face, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
        meshes[name] = _obj(model.mesh_vert[at : at + count], model.mesh_face[face : face + faces])
    return ("mesh", {"filename": str(folder / name)}), frame


def _obj(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> str:
    """Write triangles as OBJ."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces.tolist()]
    return "\n".join(lines) + "\n"


def _pose(position: NDArray[np.float64], quaternion: NDArray[np.float64]) -> pin.SE3:
    """Make a pose of MuJoCo's position (m) and quaternion w, x, y, z."""
    return pin.SE3(pin.Quaternion(*map(float, quaternion)).normalized().matrix(), np.array(position))


def _text(values: Any) -> str:
    """Write numbers as the shortest text that reads back as the same doubles."""
    return " ".join(repr(float(value) + 0.0) for value in values)
