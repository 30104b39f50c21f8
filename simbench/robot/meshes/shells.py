"""Smooth shells: triangle meshes over lofted superellipses, and plates that follow their surface."""

import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from simbench.kinematics.arrays import Array
from simbench.robot.shapes import Loft, Patch

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
    stations = _stations(loft)
    grid = _section(loft, stations[:, None, :], angles[None, :])
    vertices = [grid.reshape(-1, 3)]
    faces = [_quads(len(stations), loft.sides)]
    for row, (depth, _), outward in ((0, loft.ends[0], -1), (len(stations) - 1, loft.ends[1], 1)):
        position, u, v = stations[row, :3]
        tip = _to_link(loft, np.array([u, v, position if depth == 0 else _tip(loft, outward)]))
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


def _tip(loft: Loft, outward: int) -> float:
    """Position of the top of the dome at the last (1) or first (-1) ring."""
    row = 0 if outward < 0 else -1
    return loft.rings[row][0] + outward * loft.ends[row][0]


def _stations(loft: Loft) -> Array:
    """Rows of the mesh from one end to the other: position, centre u, v, half widths u, v; (m, 5)."""
    ends = np.array([ring[0] for ring in loft.rings])
    steps = loft.steps if len(ends) > 2 else 1
    cuts = np.arange(steps) / steps
    position = np.append((ends[:-1, None] + np.diff(ends)[:, None] * cuts).ravel(), ends[-1])
    body = np.column_stack((position, _profile(loft, position)))
    rows = [body]
    for row, (depth, exponent), outward in ((0, loft.ends[0], -1), (-1, loft.ends[1], 1)):
        if depth == 0:
            continue
        count = LONG_DOME_ROWS if depth > body[row, 3:].min() / 2 else SHORT_DOME_ROWS
        width, height = _superellipse(np.arange(1, count) / count * np.pi / 2, exponent)
        dome = np.tile(body[row], (count - 1, 1))
        dome[:, 0] += outward * depth * height
        dome[:, 3:] *= width[:, None]
        rows = [dome[::-1], *rows] if outward < 0 else [*rows, dome]
    return np.concatenate(rows)


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
