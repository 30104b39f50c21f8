"""Fewer triangles for meshes that are seen small."""

from collections.abc import Sequence

import numpy as np
import trimesh

AGGRESSIVENESS = 3
"""How fast the error that is allowed grows while there are too many triangles: slower than the library's
default of 7 takes a little longer, and spends the triangles where they are seen."""


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
