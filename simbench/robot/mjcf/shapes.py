"""Geoms of an MJCF as visual and collision shapes of a URDF."""

import functools
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from simbench.robot.mjcf.model import mesh_file

_BOX, _SPHERE, _CYLINDER, _CAPSULE, _ELLIPSOID, _MESH = (
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"))
    for kind in ("BOX", "SPHERE", "CYLINDER", "CAPSULE", "ELLIPSOID", "MESH")
)
_SEEN = 3  # Geoms of groups below this one are drawn by default.
_GREY = (0.5, 0.5, 0.5, 1.0)  # Colour of a geom that says none.
_UNIT_SPHERE = "unit_sphere.obj"


def add_shapes(
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
        frame = placement * pose(model.geom_pos[geom], model.geom_quat[geom])
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
            ET.SubElement(shape, "origin", xyz=exact_text(frame.translation), rpy=exact_text(rpy))
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
        return ("box", {"size": exact_text(2.0 * size)}), frame
    if kind == _SPHERE:
        return ("sphere", {"radius": exact_text(size[:1])}), frame
    if kind in (_CYLINDER, _CAPSULE):
        name = "cylinder" if kind == _CYLINDER else "capsule"
        return (name, {"radius": exact_text(size[:1]), "length": exact_text(2.0 * size[1:2])}), frame
    if kind == _ELLIPSOID:
        meshes.setdefault(_UNIT_SPHERE, _unit_sphere())
        return ("mesh", {"filename": str(folder / _UNIT_SPHERE), "scale": exact_text(size)}), frame
    if kind != _MESH:
        return None, frame
    number = int(model.geom_dataid[geom])
    mesh = spec.meshes[number]
    path = mesh_file(spec, mesh.file) if mesh.file else None
    moved = np.any(mesh.refpos) or not np.array_equal(mesh.refquat, (1.0, 0.0, 0.0, 0.0))
    if path is not None and path.suffix.lower() in (".obj", ".stl") and not moved:
        # MuJoCo has moved the vertices to the mesh's principal axes of inertia, and the geom with them.
        moved_by = pose(model.mesh_pos[number], model.mesh_quat[number])
        scale = {} if np.all(mesh.scale == 1.0) else {"scale": exact_text(mesh.scale)}
        return ("mesh", {"filename": str(path), **scale}), frame * moved_by.inverse()
    name = f"mesh{number}.obj"
    if name not in meshes:
        at, count = int(model.mesh_vertadr[number]), int(model.mesh_vertnum[number])
        face, faces = int(model.mesh_faceadr[number]), int(model.mesh_facenum[number])
        meshes[name] = _obj(model.mesh_vert[at : at + count], model.mesh_face[face : face + faces])
    return ("mesh", {"filename": str(folder / name)}), frame


@functools.cache
def _unit_sphere() -> str:
    """Write a sphere of radius 1 as OBJ, from which ellipsoids are scaled."""
    sphere = trimesh.creation.icosphere(subdivisions=2)
    return _obj(sphere.vertices, sphere.faces)


def _obj(vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> str:
    """Write triangles as OBJ."""
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces.tolist()]
    return "\n".join(lines) + "\n"


def pose(position: NDArray[np.float64], quaternion: NDArray[np.float64]) -> pin.SE3:
    """Make a pose of MuJoCo's position (m) and quaternion w, x, y, z."""
    return pin.SE3(pin.Quaternion(*map(float, quaternion)).normalized().matrix(), np.array(position))


def exact_text(values: Any) -> str:
    """Write numbers as the shortest text that reads back as the same doubles."""
    return " ".join(repr(float(value) + 0.0) for value in values)
