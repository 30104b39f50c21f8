"""Surfaces of robots and equipment as coloured triangles."""

import contextlib
import importlib
import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray
from PIL import Image
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from simbench.robot.robot import Robot
from simbench.robot.urdf.elements import LARGEST_LENGTH, UrdfShape, UrdfTree, parse_numbers
from simbench.robot.urdf.mesh_files import MESH_READ_ERRORS
from simbench.sim.fixtures.mechanism import Part
from simbench.sim.fixtures.shapes import Board, make_mesh
from simbench.sim.rendering.scene_view import Solid, UndrawableShapeError

# How fast the error that is allowed grows while there are too many triangles: slower than the library's
# default of 7 takes a little longer, and spends the triangles where they are seen.
AGGRESSIVENESS = 3


def simplify_together(meshes: Sequence[trimesh.Trimesh], triangles: int) -> list[trimesh.Trimesh]:
    """Reduce the triangles of meshes so that all lose about the same accuracy.

    Quadric error metric: Garland and Heckbert, Surface simplification using quadric error metrics, SIGGRAPH
    1997.

    `meshes`: meshes in one unit, whose vertices are merged where triangles meet; `triangles`: number of
    triangles to keep in all, about. Returns the simpler meshes; the given ones if they have no more triangles
    than that, or the library that simplifies is not installed.
    """
    if sum(len(mesh.faces) for mesh in meshes) <= triangles:
        return list(meshes)
    try:
        from fast_simplification import simplify
    except ImportError:
        return list(meshes)
    # The library takes one mesh: each is put into a cell of a grid of its own.
    middles = np.array([mesh.bounds.mean(axis=0) for mesh in meshes])
    cell = 1.5 * max(float(mesh.extents.max()) for mesh in meshes)
    side = int(np.ceil(len(meshes) ** (1.0 / 3.0)))
    shape = (side, side, side)
    shifts = cell * np.stack(np.unravel_index(np.arange(len(meshes)), shape), axis=1) - middles
    starts = np.cumsum([0, *(len(mesh.vertices) for mesh in meshes[:-1])])
    points = np.concatenate([mesh.vertices + shift for mesh, shift in zip(meshes, shifts, strict=True)])
    faces = np.concatenate([mesh.faces + start for mesh, start in zip(meshes, starts, strict=True)])
    points, faces = simplify(
        (points / cell).astype(np.float32), faces.astype(np.int32), target_count=triangles, agg=AGGRESSIVENESS
    )
    owners = np.ravel_multi_index(tuple(np.rint(points[faces[:, 0]]).astype(int).T), shape)
    simpler = []
    for number, (mesh, shift) in enumerate(zip(meshes, shifts, strict=True)):
        own = faces[owners == number]
        used, renumbered = np.unique(own, return_inverse=True)
        vertices = points[used].astype(float) * cell - shift
        simpler.append(
            trimesh.Trimesh(vertices, renumbered.reshape(-1, 3), process=False) if len(own) else mesh
        )
    return simpler


# Red, green and blue of a shape for which neither the URDF nor its mesh file gives a colour.
PLAIN_COLOUR = (0.9, 0.9, 0.9)
# Largest angle between a triangle and the smoothed surface at its corner, degrees: sharper edges stay.
SMOOTH_ANGLE = 40.0
SECTIONS = 24  # Number of sides of a round primitive.

Colour = Sequence[float]
ColouredMesh = tuple[trimesh.Trimesh, Colour]


def read_robot_meshes(robot: Robot, *, average_textures: bool = False) -> dict[str, list[ColouredMesh]]:
    """Read the visible shapes of a robot's links.

    Links without visual shapes show their collision shapes, as in Bullet. `robot`: robot with its URDF;
    `average_textures`: whether a surface with a texture gets the texture's mean colour. Returns meshes of
    each link in its frame, m, with red, green and blue, 0..1; without links that have no shape. Raises
    UndrawableShapeError if a mesh file cannot be read, or has a texture and `average_textures` is false.
    """
    root = ET.fromstring(robot.urdf_text)
    materials = {each.get("name"): each for each in root.findall("material")}
    meshes: dict[str, list[ColouredMesh]] = {}
    for link, element in zip(UrdfTree(root).links, root.findall("link"), strict=True):
        shapes = [each for each in element if each.tag in ("visual", "collision")]
        role = "visual" if any(shape.role == "visual" for shape in link.shapes) else "collision"
        for shape, part in zip(link.shapes, shapes, strict=True):
            if shape.role == role:
                colour = _material_colour(part, materials, average_textures)
                found = _shape_meshes(shape, colour, average_textures)
                meshes.setdefault(link.name, []).extend(each for each in found if each[0].bounds is not None)
    return {name: parts for name, parts in meshes.items() if parts}


def robot_solids(meshes: Mapping[str, Sequence[ColouredMesh]], triangles: int) -> dict[str, Solid]:
    """Build the visible surfaces of a robot's links.

    `meshes`: from `read_robot_meshes`; `triangles`: number of triangles to which they are simplified
    together, about. Returns surface of each link in its frame, by link.
    """
    flat = [mesh for parts in meshes.values() for mesh, _ in parts]
    simpler = iter(simplify_together(flat, triangles))
    return {
        name: join_solids([make_solid(next(simpler), colour) for _, colour in parts])
        for name, parts in meshes.items()
    }


def part_solid(part: Part) -> Solid:
    """Build the visible surface of a part of a mechanism.

    Returns surface in the mechanism's frame with all joints at 0.
    """
    return join_solids(
        [
            make_solid(
                make_mesh(shape), shape.color, smooth_angle=0.0 if isinstance(shape, Board) else SMOOTH_ANGLE
            )
            for shape in part.shapes
        ]
    )


def make_solid(mesh: trimesh.Trimesh, colour: Colour, *, smooth_angle: float = SMOOTH_ANGLE) -> Solid:
    """Convert a mesh, with smooth normals but for its sharp edges.

    `mesh`: the mesh, m. The triangles of closed surfaces are turned outward; open ones get a back. `colour`:
    red, green and blue, 0..1. `smooth_angle`: largest angle between a triangle and the smoothed surface at
    its corner, degrees. Returns the surface.
    """
    points = np.asarray(mesh.vertices, dtype=float)
    faces, is_open = _turn_outward(points, np.asarray(mesh.faces, dtype=np.int64))
    oriented = trimesh.Trimesh(points, faces, process=False)
    flat = np.asarray(oriented.face_normals)[:, None, :]
    smooth = np.asarray(oriented.vertex_normals)[faces]
    near = (smooth * flat).sum(axis=2, keepdims=True) > np.cos(np.radians(smooth_angle))
    normals = np.where(near, smooth, flat)
    front = np.concatenate([points[faces], normals], axis=2)
    back = (front[is_open] * [1, 1, 1, -1, -1, -1])[:, ::-1]
    corners = np.concatenate([front, back]).reshape(-1, 6).astype(np.float32)
    keys = np.ascontiguousarray(corners).view(np.dtype((np.void, 24))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    # In the order of the file, in which neighbours are near each other.
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    vertices = corners[first[order]]
    shade = np.rint(255.0 * np.clip(np.asarray(colour[:3], dtype=float), 0.0, 1.0)).astype(np.uint8)
    return Solid(
        vertices[:, :3],
        vertices[:, 3:],
        np.tile(shade, (len(vertices), 1)),
        rank[inverse].reshape(-1, 3).astype(np.int32),
    )


def join_solids(solids: Sequence[Solid]) -> Solid:
    """Join surfaces of the same body. `solids`: at least one surface."""
    starts = np.cumsum([0, *(len(each.points) for each in solids[:-1])]).astype(np.int32)
    return Solid(
        np.concatenate([each.points for each in solids]),
        np.concatenate([each.normals for each in solids]),
        np.concatenate([each.colours for each in solids]),
        np.concatenate([each.triangles + start for each, start in zip(solids, starts, strict=True)]),
    )


def tint_solid(solid: Solid, colour: Colour) -> Solid:
    """Give a surface one colour. `colour`: red, green and blue, 0..1. Returns the same in the colour."""
    shade = np.rint(255.0 * np.asarray(colour)).astype(np.uint8)
    return solid._replace(colours=np.tile(shade, (len(solid.points), 1)))


def _turn_outward(
    points: NDArray[np.float64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Turn the triangles of closed surfaces outward; return them, and which are of open surfaces."""
    count = len(points)
    edges = faces[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    graph = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(count, count))
    pieces, labels = connected_components(graph, directed=False)
    piece = labels[faces[:, 0]]
    # On a closed surface, each edge has a neighbour that runs along it the other way.
    there, back = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    alone = ~np.isin(there, back)
    is_open = np.bincount(labels[edges[:, 0]], alone, pieces) > 0
    triangles = points[faces]
    signed = np.einsum("ti,ti->t", triangles[:, 0], np.cross(triangles[:, 1], triangles[:, 2]))
    inward = (np.bincount(piece, signed, pieces) < 0.0) & ~is_open
    return np.where(inward[piece][:, None], faces[:, ::-1], faces), is_open[piece]


def _material_colour(
    element: ET.Element, materials: Mapping[str | None, ET.Element], average_textures: bool
) -> Colour | None:
    """Read red, green, blue and opacity of a shape in a URDF; None if it gives none."""
    material = element.find("material")
    if material is None:
        return None
    given = materials.get(material.get("name"), material)
    for each in (material, given):
        texture = each.find("texture")
        if texture is None:
            continue
        if not average_textures:
            raise UndrawableShapeError(f"material {each.get('name')} has a texture")
        try:
            with Image.open(texture.get("filename", "")) as picture:
                return [*_mean_colour(picture), 1.0]
        except (OSError, ValueError, Image.DecompressionBombError):
            return None
    color = material.find("color")
    color = given.find("color") if color is None else color
    numbers = parse_numbers(color.get("rgba", "")) if color is not None else ()
    return numbers if len(numbers) == 4 else None


def _mean_colour(picture: Image.Image) -> list[float]:
    """Mean red, green and blue of a picture, 0..1."""
    return (np.asarray(picture.convert("RGB"), dtype=float).mean((0, 1)) / 255.0).tolist()


def _shape_meshes(shape: UrdfShape, colour: Colour | None, average_textures: bool) -> list[ColouredMesh]:
    """Build the meshes of a shape in the link's frame, m, with their colours; none of an invisible one."""
    if colour is not None and colour[3] == 0.0:
        return []
    numbers = np.array([*shape.size, *shape.scale, *shape.xyz, *shape.rpy])
    if not (np.abs(numbers) <= LARGEST_LENGTH).all():
        raise UndrawableShapeError("a shape is too large or not a number")
    pose = np.eye(4)
    pose[:3, :3], pose[:3, 3] = pin.rpy.rpyToMatrix(*shape.rpy), shape.xyz
    if shape.kind != "mesh":
        mesh = _primitive(shape)
        mesh.apply_transform(pose)
        return [(mesh, colour or PLAIN_COLOUR)]
    pose[:3, :3] *= np.array(shape.scale)
    path = Path(shape.file_name or "")
    errors: tuple[type[Exception], ...] = MESH_READ_ERRORS
    if path.suffix.lower() == ".dae":
        with contextlib.suppress(ImportError):
            errors = (*errors, importlib.import_module("collada.common").DaeError)
    try:
        scene: Any = trimesh.load(path, process=False, force="scene")
        meshes = [each for each in scene.dump() if isinstance(each, trimesh.Trimesh) and len(each.faces)]
    except errors as error:
        raise UndrawableShapeError(f"{path}: {error}") from error
    if not meshes:
        raise UndrawableShapeError(f"{path}: no mesh in it")
    own = [_own_colour(mesh, path, average_textures) for mesh in meshes]
    for mesh in meshes:
        # Not `apply_transform`, which turns triangles over that a mirrored scale has already turned.
        mesh.vertices = mesh.vertices @ pose[:3, :3].T + pose[:3, 3]
        if np.linalg.det(pose[:3, :3]) < 0.0:
            mesh.faces = mesh.faces[:, ::-1]
        mesh.merge_vertices(merge_norm=True, merge_tex=True)
    return [(mesh, colour or given) for mesh, given in zip(meshes, own, strict=True)]


def _primitive(shape: UrdfShape) -> trimesh.Trimesh:
    """Mesh of a box, sphere, cylinder or capsule about its own middle, m."""
    if shape.kind == "box":
        return trimesh.creation.box(shape.size)
    if shape.kind == "sphere":
        return trimesh.creation.uv_sphere(shape.size[0], count=[SECTIONS, SECTIONS])
    if shape.kind == "cylinder":
        radius, length = shape.size
        return trimesh.creation.cylinder(radius, length, sections=SECTIONS)
    if shape.kind == "capsule":
        radius, length = shape.size
        capsule = trimesh.creation.capsule(length, radius, count=[SECTIONS, SECTIONS])
        return capsule.apply_translation(-capsule.bounds.mean(axis=0))
    raise UndrawableShapeError(f"a shape is a {shape.kind}")


def _own_colour(mesh: trimesh.Trimesh, path: Path, average_textures: bool) -> Colour:
    """Red, green and blue that a mesh file gives a mesh."""
    visual: Any = mesh.visual
    if not visual.defined:
        return PLAIN_COLOUR
    material = getattr(visual, "material", None)
    if material is None:
        return (np.asarray(visual.main_color[:3], dtype=float) / 255.0).tolist()
    pictures = (getattr(material, name, None) for name in ("image", "baseColorTexture"))
    picture = next((each for each in pictures if each is not None), None)
    if picture is not None:
        if not average_textures:
            raise UndrawableShapeError(f"{path} has a texture")
        # Mean over the area of the mesh; of the picture where corners have no place in it.
        if visual.uv is None or len(visual.uv) != len(mesh.vertices):
            return _mean_colour(picture)
        corners = trimesh.visual.color.uv_to_color(visual.uv, picture)[:, :3] / 255.0
        areas = mesh.area_faces
        if not areas.sum() > 0.0:
            return corners.mean(0).tolist()
        return np.average(corners[mesh.faces].mean(1), axis=0, weights=areas).tolist()
    return (np.asarray(material.main_color[:3], dtype=float) / 255.0).tolist()
