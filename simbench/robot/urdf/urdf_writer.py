"""Writers of URDF: of a robot description, with its meshes, and of a Denavit-Hartenberg table."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.robot.description import (
    CollisionShape,
    Description,
    FixedFrame,
    JointDescription,
    LinkDescription,
    Loft,
    Patch,
    Shell,
    add_mirrored_entries,
    mirror_frame,
    mirror_name,
)
from simbench.robot.dh import (
    BASE,
    DhTable,
    HayatiRow,
    JointLimits,
    Sigma,
    link_name,
    require_joints,
    row_end,
    row_placement,
)
from simbench.robot.urdf.elements import add_inertial, add_joint, inertia_matrix

Faces = NDArray[np.int64]

# Indices of u, v and the loft's axis in link axes, and whether (u, v, axis) is left-handed.
PLANES = {"x": ((1, 2, 0), False), "y": ((0, 2, 1), True), "z": ((0, 1, 2), False)}
LONG_DOME_ROWS, SHORT_DOME_ROWS = 6, 3
PLATE_RING_WIDTH = 11.0  # degrees a flat triangle may span without sinking into the surface
PLATE_RIM_DEPTH = 0.0006  # m below the surface, so that no gap shows under the rim


def build_loft_mesh(loft: Loft) -> trimesh.Trimesh:
    """Build the closed mesh of a loft, in link axes.

    Returns the mesh, m. The rims of flat ends are doubled, so that their smooth vertex normals keep the edge
    sharp.
    """
    angles = np.arange(loft.sides) * 2 * np.pi / loft.sides
    # Rows of the mesh from one end to the other (m, 5): position, centre u, v, half widths u, v.
    knots = np.array([ring[0] for ring in loft.rings])
    steps = loft.steps if len(knots) > 2 else 1
    cuts = np.arange(steps) / steps
    along = np.append((knots[:-1, None] + np.diff(knots)[:, None] * cuts).ravel(), knots[-1])
    stations = body = np.column_stack((along, _profile(loft, along)))
    for row, (depth, exponent), outward in ((0, loft.ends[0], -1), (-1, loft.ends[1], 1)):
        if depth == 0:
            continue
        count = LONG_DOME_ROWS if depth > body[row, 3:].min() / 2 else SHORT_DOME_ROWS
        width, height = _superellipse(np.arange(1, count) / count * np.pi / 2, exponent)
        dome = np.tile(body[row], (count - 1, 1))
        dome[:, 0] += outward * depth * height
        dome[:, 3:] *= width[:, None]
        stations = np.concatenate([dome[::-1], stations] if outward < 0 else [stations, dome])
    grid = _section(loft, stations[:, None, :], angles[None, :])
    vertices = [grid.reshape(-1, 3)]
    faces = [_quads(len(stations), loft.sides)]
    for row, ring, (depth, _), outward in (
        (0, loft.rings[0], loft.ends[0], -1),
        (len(stations) - 1, loft.rings[-1], loft.ends[1], 1),
    ):
        position, u, v = stations[row, :3]
        # The top of a dome, at its last row `position`.
        tip = _to_link(loft, np.array([u, v, position if depth == 0 else ring[0] + outward * depth]))
        start = sum(map(len, vertices))
        if depth == 0:
            vertices.append(grid[row])
            rim = start + np.arange(loft.sides)
        else:
            rim = row * loft.sides + np.arange(loft.sides)
        vertices.append(tip[None, :])
        center = np.full(loft.sides, sum(map(len, vertices)) - 1)
        following = np.roll(rim, -1)
        faces.append(np.stack((rim, following, center)[::outward], axis=1))
    return _mesh(loft, np.concatenate(vertices), np.concatenate(faces))


def build_patch_mesh(patch: Patch, loft: Loft) -> trimesh.Trimesh:
    """Build the open mesh of a plate that lies on a loft, in link axes.

    `loft`: the loft with the surface; the plate must be between its first and last ring. Returns the mesh, m.
    """
    parameter = np.arange(patch.sides) * 2 * np.pi / patch.sides
    outline = np.stack(_superellipse(parameter, patch.exponent), axis=-1)
    inner = max(2, int(np.ceil(patch.size[0] / PLATE_RING_WIDTH)))
    radii = np.append(np.arange(1, inner) / inner, (0.94, 1.0))
    spread = np.concatenate([np.zeros((1, 2)), (radii[:, None, None] * outline).reshape(-1, 2)])
    angle = np.radians(patch.center[0] + patch.size[0] * spread[:, 0])
    position = patch.center[1] + patch.size[1] * spread[:, 1]
    step = 1e-4
    surface = _surface(loft, angle, position)
    across = _surface(loft, angle + step, position) - _surface(loft, angle - step, position)
    along = _surface(loft, angle, position + step) - _surface(loft, angle, position - step)
    normal = np.cross(across, along) * (-1 if PLANES[loft.along][1] else 1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    height = np.full(len(spread), patch.lift)
    height[-patch.sides :] = -PLATE_RIM_DEPTH
    rim = 1 + np.arange(patch.sides)
    fan = np.stack((np.zeros_like(rim), rim, np.roll(rim, -1)), axis=1)
    bands = _quads(len(radii), patch.sides)[:, ::-1] + 1
    return _mesh(loft, surface + height[:, None] * normal, np.concatenate((fan, bands)))


def mirror_mesh(mesh: trimesh.Trimesh) -> trimesh.Trimesh:
    """Mirror a mesh in the xz-plane. Returns its mirror image."""
    return trimesh.Trimesh(mesh.vertices * [1.0, -1.0, 1.0], mesh.faces[:, ::-1], process=False)


def _mesh(loft: Loft, vertices: Array, faces: Faces) -> trimesh.Trimesh:
    """Mesh with its faces outward."""
    oriented = faces[:, ::-1] if PLANES[loft.along][1] else faces
    return trimesh.Trimesh(vertices, oriented, process=False)


def _superellipse(angle: Array, exponent: float) -> tuple[Array, Array]:
    """Coordinates u, v of a superellipse with half widths 1."""
    cosine, sine = np.cos(angle), np.sin(angle)
    power = 2 / exponent
    return np.sign(cosine) * np.abs(cosine) ** power, np.sign(sine) * np.abs(sine) ** power


def _profile(loft: Loft, position: Array) -> Array:
    """Centre u, v and half widths u, v between the first and the last ring, (..., 4)."""
    rings = np.array(loft.rings)
    if len(rings) == 1:
        return np.broadcast_to(rings[0, 1:], (*position.shape, 4))
    return np.asarray(PchipInterpolator(rings[:, 0], rings[:, 1:])(position))


def _section(loft: Loft, stations: Array, angle: Array) -> Array:
    """Points of the rings, (..., 3), for stations (..., 5) and angles that broadcast with them."""
    u, v = _superellipse(angle, loft.exponent)
    across = stations[..., 1] + stations[..., 3] * u
    up = stations[..., 2] + stations[..., 4] * v
    return _to_link(loft, np.stack(np.broadcast_arrays(across, up, stations[..., 0]), axis=-1))


def _surface(loft: Loft, angle: Array, position: Array) -> Array:
    """Points of the surface, (n, 3), at angles and positions, (n,)."""
    return _section(loft, np.column_stack((position, _profile(loft, position))), angle)


def _to_link(loft: Loft, points: Array) -> Array:
    """Transform points (..., 3) from (u, v, position) to link axes."""
    indices, _ = PLANES[loft.along]
    placed = np.empty_like(points)
    placed[..., list(indices)] = points
    return placed @ pin.rpy.rpyToMatrix(*loft.rpy).T + np.array(loft.at)


def _quads(rows: int, sides: int) -> Faces:
    """Two triangles per cell of a closed strip of rings, outward for (u, v, row) right-handed."""
    lower = (np.arange(rows - 1)[:, None] * sides + np.arange(sides)).ravel()
    right = (np.arange(rows - 1)[:, None] * sides + np.roll(np.arange(sides), -1)).ravel()
    upper, diagonal = lower + sides, right + sides
    return np.concatenate((np.stack((lower, right, diagonal), 1), np.stack((lower, diagonal, upper), 1)))


# Visual meshes of a link by colour, and its collision primitives and convex meshes; in its frame, m.
LinkShapes = tuple[dict[str, trimesh.Trimesh], tuple[CollisionShape | trimesh.Trimesh, ...]]


def build_link_shapes(
    visual: Mapping[str, tuple[Shell, ...]],
    collision: Mapping[str, tuple[CollisionShape, ...]],
    prefixes: Mapping[str, str],
) -> dict[str, LinkShapes]:
    """Build the shapes of all links; those of the right side are mirrored from the left.

    `visual`: visible parts by link name; `collision`: collision shapes by link name; `prefixes`: name
    prefixes of the left side and of the right side. Returns shapes by link name; shells of the same colour
    are joined. Raises RobotError if a patch names a shell that its link does not have.
    """
    result: dict[str, LinkShapes] = {}
    for link in {**visual, **collision}:
        shells = visual.get(link, ())
        lofts = {shell.name: shell.loft for shell in shells if shell.name and shell.loft}
        parts: dict[str, list[trimesh.Trimesh]] = {}
        for shell in shells:
            if shell.loft is not None:
                mesh = build_loft_mesh(shell.loft)
            elif shell.patch is not None:
                surface = shell.patch.shell
                if surface not in lofts:
                    known = ", ".join(lofts)
                    raise RobotError(f"visual.{link}: patch on unknown shell `{surface}`; allowed: {known}")
                mesh = build_patch_mesh(shell.patch, lofts[surface])
            parts.setdefault(shell.color, []).extend([mesh, mirror_mesh(mesh)] if shell.twin else [mesh])
        colored = {color: sum(meshes[1:], start=meshes[0]) for color, meshes in parts.items()}
        solids: tuple[CollisionShape | trimesh.Trimesh, ...] = tuple(
            solid if solid.loft is None else build_loft_mesh(solid.loft) for solid in collision.get(link, ())
        )
        result[link] = colored, solids
        other = mirror_name(link, prefixes)
        if other != link:
            result[other] = (
                {color: mirror_mesh(mesh) for color, mesh in colored.items()},
                tuple(
                    mirror_mesh(solid)
                    if isinstance(solid, trimesh.Trimesh)
                    else solid.model_copy(update={"at": (solid.at[0], -solid.at[1], solid.at[2])})
                    for solid in solids
                ),
            )
    return result


def write_obj(mesh: trimesh.Trimesh, path: Path) -> None:
    """Write a mesh as OBJ with smooth vertex normals.

    trimesh's own writer is not used, because a rebuild must give the same bytes with every version of trimesh
    and on every processor: numbers are shifted off the rounding ties, where the last bit of a sine would
    decide. `mesh`: the mesh, m; `path`: file to write.
    """
    vertices = np.round(mesh.vertices + 1.3e-9, 5) + 0.0
    normals = np.round(mesh.vertex_normals + 1.3e-6, 3) + 0.0
    lines = [f"v {x:g} {y:g} {z:g}" for x, y, z in vertices]
    lines += [f"vn {x:g} {y:g} {z:g}" for x, y, z in normals]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}" for a, b, c in mesh.faces + 1]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
MESHES = "meshes"


def write_urdf(description: Description, folder: Path) -> list[Path]:
    """Write a robot's URDF and `meshes/*.obj`.

    `description`: description with the sections from which a URDF is built (`root`, `links`, `joints`, ...);
    `folder`: existing folder, to which the files are written. Returns the files that were written.
    """
    prefixes = description.mirror
    joints = add_mirrored_entries(description.joints, prefixes, lambda joint: mirror_joint(joint, prefixes))
    links = subtract_carved_links(
        add_mirrored_entries(description.links, prefixes, lambda link: mirror_link(link, prefixes)), joints
    )
    frames = add_mirrored_entries(
        description.fixed_frames, prefixes, lambda frame: mirror_frame(frame, prefixes)
    )
    shapes = build_link_shapes(description.visual, description.collision, prefixes)

    robot = ET.Element("robot", name=description.name)
    for name, color in description.colors.items():
        material = ET.SubElement(robot, "material", name=name)
        ET.SubElement(material, "color", rgba=_numbers((*color, 1.0)))
    meshes: dict[str, trimesh.Trimesh] = {}
    for name, link in links.items():
        element = ET.SubElement(robot, "link", name=name)
        add_inertial(element, link.mass, link.cog, link.inertia, _numbers)
        colored, solids = shapes.get(name, ({}, ()))
        for material_name, mesh in colored.items():
            file_name = f"{MESHES}/{name}_{material_name}.obj"
            meshes[file_name] = mesh
            part = ET.SubElement(element, "visual")
            _add_geometry(part, file_name)
            ET.SubElement(part, "material", name=material_name)
        for number, solid in enumerate(solids):
            part = ET.SubElement(element, "collision")
            if isinstance(solid, CollisionShape):
                _add_geometry(part, solid)
            else:
                file_name = f"{MESHES}/{name}_collision{number}.obj"
                meshes[file_name] = solid
                _add_geometry(part, file_name)
    for name, joint in joints.items():
        element = _add_joint(robot, name, "revolute", _placement(joint), joint.child)
        ET.SubElement(element, "axis", xyz=AXES[joint.axis])
        bounds = {"lower": joint.limits[0], "upper": joint.limits[1]}
        bounds |= {"velocity": joint.velocity, "effort": joint.effort}
        ET.SubElement(element, "limit", {key: _numbers([value]) for key, value in bounds.items()})
    for name, frame in frames.items():
        add_inertial(ET.SubElement(robot, "link", name=name), 0.0, (0.0,) * 3, (0.0,) * 6, _numbers)
        _add_joint(robot, f"{name}_joint", "fixed", frame, name)

    for file_name in (description.urdf, *meshes):
        if not (folder / file_name).resolve().is_relative_to(folder.resolve()):
            raise RobotError(
                f"{description.name}: {file_name} must lie in {folder}, where the robot is written"
            )
    (folder / MESHES).mkdir(exist_ok=True)
    for file_name, mesh in meshes.items():
        write_obj(mesh, folder / file_name)
    path = folder / description.urdf
    ET.indent(robot)
    text = ET.tostring(robot, encoding="unicode", xml_declaration=True)
    path.write_text(text + "\n", encoding="utf-8")
    return [path, *(folder / file_name for file_name in meshes)]


def subtract_carved_links(
    links: Mapping[str, LinkDescription], joints: Mapping[str, JointDescription]
) -> dict[str, LinkDescription]:
    """Subtract each link with `carved_from` from the link whose published mass properties include it.

    `links`: all links by name; `joints`: all joints by name. Returns all links, with reduced mass properties
    where a part was subtracted.
    """
    result = dict(links)
    for name, part in links.items():
        if part.carved_from is None:
            continue
        joint = next(joint for joint in joints.values() if joint.child == name)
        at = _placement(joint)
        placement = pin.SE3(pin.rpy.rpyToMatrix(*at.rpy), np.array(at.xyz))
        rest = _inertia(result[part.carved_from]) - placement.act(_inertia(part))
        x, y, z = (round(float(value), 9) for value in rest.lever)
        (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = np.round(rest.inertia, 12).tolist()
        result[part.carved_from] = LinkDescription(
            mass=round(rest.mass, 9), cog=(x, y, z), inertia=(ixx, iyy, izz, ixy, ixz, iyz)
        )
    return result


def _inertia(link: LinkDescription) -> pin.Inertia:
    """Inertia of a link in its frame."""
    return pin.Inertia(link.mass, np.array(link.cog), inertia_matrix(link.inertia))


def _numbers(values: Iterable[float], digits: int = 9) -> str:
    """Write numbers with a given number of digits."""
    return " ".join(f"{value + 0.0:.{digits}g}" for value in values)


def _add_joint(robot: ET.Element, name: str, kind: str, frame: FixedFrame, child: str) -> ET.Element:
    """Add a joint."""
    # Twelve digits, because a right angle with an error of 1e-9 is visible in comparisons with closed forms.
    return add_joint(robot, name, kind, frame.parent, child, _numbers(frame.xyz, 12), _numbers(frame.rpy, 12))


def _placement(joint: JointDescription) -> FixedFrame:
    """Placement of a joint, from its Denavit-Hartenberg row if it has one."""
    if joint.dh is None:
        return joint
    placement = row_placement(joint.dh)
    x, y, z = placement.translation.tolist()
    roll, pitch, yaw = pin.rpy.matrixToRpy(placement.rotation).tolist()
    return FixedFrame(parent=joint.parent, xyz=(x, y, z), rpy=(roll, pitch, yaw))


def _add_geometry(element: ET.Element, shape: CollisionShape | str) -> None:
    """Add origin and geometry: a primitive, or the mesh in the file named."""
    at = (0.0, 0.0, 0.0) if isinstance(shape, str) else shape.at
    ET.SubElement(element, "origin", xyz=_numbers(at), rpy="0 0 0")
    geometry = ET.SubElement(element, "geometry")
    if isinstance(shape, str):
        ET.SubElement(geometry, "mesh", filename=shape)
    elif shape.box:
        ET.SubElement(geometry, "box", size=_numbers(shape.box))
    elif shape.sphere:
        ET.SubElement(geometry, "sphere", radius=_numbers([shape.sphere]))


# Colour of all meshes. A mesh without one gets an arbitrary colour from a renderer, and a different one for
# each link from Bullet.
MESH_COLOR = "0.80 0.68 0.60 1"

TYPES = {Sigma.REVOLUTE: "revolute", Sigma.PRISMATIC: "prismatic", Sigma.FIXED: "fixed"}


def table_urdf(
    table: DhTable,
    name: str,
    limits: Mapping[str, JointLimits],
    inertias: Mapping[str, pin.Inertia] | None = None,
    meshes: Mapping[str, str] | None = None,
) -> str:
    """Write a table as URDF text.

    `name`: name of the robot; `limits`: limits by joint name, for every moving joint, as URDF requires;
    `inertias`: inertia of the link with a joint's frame, in that frame, by joint name; other links have no
    mass; `meshes`: file name of the link's mesh in the same frame, relative to the URDF, by joint name.
    Returns the URDF. Its links are named by `link_name`. A `HayatiRow` with a length has an additional link
    on the joint, so that no moving link is without mass only because its frame is at the far end.
    """
    inertias, meshes = inertias or {}, meshes or {}
    names = (BASE, *(joint.name for joint in table.joints))
    for where, given in (("inertias", inertias), ("meshes", meshes)):
        require_joints(given, names, where)
    require_joints(limits, table.moving, "limits")
    missing = [joint for joint in table.moving if joint not in limits]
    if missing:
        raise RobotError(f"limits: none for {', '.join(missing)}; in a URDF every moving joint needs them")

    robot = ET.Element("robot", name=name)
    _add_link(robot, BASE, inertias.get(BASE), pin.SE3.Identity(), meshes.get(BASE))
    for joint in table.joints:
        placement, end = row_placement(joint.row), row_end(joint.row)
        link = link_name(joint.name)
        jointed = f"{joint.name}_joint_link" if isinstance(joint.row, HayatiRow) and joint.row.a else link
        origin = _origin(placement)
        element = add_joint(robot, joint.name, TYPES[joint.sigma], link_name(joint.parent), jointed, *origin)
        if joint.sigma != Sigma.FIXED:
            ET.SubElement(element, "axis", xyz="0 0 1")
            values = {key: _exact([value]) for key, value in limits[joint.name].items()}
            ET.SubElement(element, "limit", values)
        _add_link(robot, jointed, inertias.get(joint.name), end, meshes.get(joint.name))
        if jointed != link:
            add_joint(robot, f"{joint.name}_length", "fixed", jointed, link, *_origin(end))
            _add_link(robot, link, None, pin.SE3.Identity(), None)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode", xml_declaration=True) + "\n"


def _add_link(
    robot: ET.Element, name: str, inertia: pin.Inertia | None, frame: pin.SE3, mesh: str | None
) -> None:
    """Add a link whose inertia and mesh are given in `frame`, which is placed in the link."""
    element = ET.SubElement(robot, "link", name=name)
    # Zeros are written out, because Bullet gives a link without inertia 1 kg.
    body = pin.Inertia.Zero() if inertia is None else frame.act(inertia)
    (ixx, ixy, ixz), (_, iyy, iyz), (_, _, izz) = body.inertia.tolist()
    add_inertial(element, body.mass, body.lever, (ixx, iyy, izz, ixy, ixz, iyz), _exact)
    if mesh is not None:
        visual = ET.SubElement(element, "visual")
        xyz, rpy = _origin(frame)
        ET.SubElement(visual, "origin", xyz=xyz, rpy=rpy)
        ET.SubElement(ET.SubElement(visual, "geometry"), "mesh", filename=mesh)
        ET.SubElement(ET.SubElement(visual, "material", name="mesh"), "color", rgba=MESH_COLOR)


def _origin(placement: pin.SE3) -> tuple[str, str]:
    """Write a placement as the attributes of `<origin>`."""
    return _exact(placement.translation), _exact(pin.rpy.matrixToRpy(placement.rotation))


def _exact(values: Iterable[float]) -> str:
    """Write numbers as the shortest text that reads back as the same doubles."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def mirror_link(link: LinkDescription, prefixes: Mapping[str, str]) -> LinkDescription:
    """Mirror a link: y of the centre of gravity and the products of inertia with y change sign.

    `link`: link of the left side; `prefixes`: name prefixes of the left side and of the right side. Returns
    link of the right side.
    """
    ixx, iyy, izz, ixy, ixz, iyz = link.inertia
    return link.model_copy(
        update={
            "cog": (link.cog[0], -link.cog[1], link.cog[2]),
            "inertia": (ixx, iyy, izz, -ixy, ixz, -iyz),
            "carved_from": link.carved_from and mirror_name(link.carved_from, prefixes),
        }
    )


def mirror_joint(joint: JointDescription, prefixes: Mapping[str, str]) -> JointDescription:
    """Mirror a joint: it keeps its axis, so a roll or yaw joint swaps and negates its limits.

    `joint`: joint of the left side; `prefixes`: name prefixes of the left side and of the right side. Returns
    joint of the right side.
    """
    lower, upper = joint.limits
    framed = joint.model_copy(
        update=mirror_frame(joint, prefixes).model_dump(include={"parent", "xyz", "rpy"})
    )
    return framed.model_copy(
        update={
            "child": mirror_name(joint.child, prefixes),
            "limits": (lower, upper) if joint.axis == "y" else (-upper, -lower),
        }
    )
