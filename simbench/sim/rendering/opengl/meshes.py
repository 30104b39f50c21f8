"""Vertex and index buffers of all bodies."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import moderngl
import numpy as np

from simbench.kinematics.arrays import Array
from simbench.sim.rendering.opengl.content import Solid

GROUP = 256
"""Number of bodies whose poses are in one block of uniforms: OpenGL guarantees 16 KiB."""
_POSE_BYTES = 48


class Meshes(NamedTuple):
    """All bodies in the graphics library's memory."""

    vertices: moderngl.Buffer  # Points, normals, colours and body of each vertex.
    indices: moderngl.Buffer  # Vertices of all triangles.
    first: list[int]  # First index of each body, and the number of all.
    poses: moderngl.Buffer  # Poses of all bodies, first three rows each.


_VERTEX = np.dtype(
    [
        ("position", np.float32, 3),
        ("normal", np.int8, 3),
        ("_", np.int8),
        ("colour", np.uint8, 3),
        ("__", np.uint8),
        ("body", np.int32),
    ]
)


def load_poses(context: moderngl.Context, count: int) -> moderngl.Buffer:
    """Reserve memory for poses.

    `context`: openGL; `count`: number of bodies. Returns room for the first three rows of each body's
    transformation to the world.
    """
    return context.buffer(reserve=-(-count // GROUP) * GROUP * _POSE_BYTES)


def load_meshes(context: moderngl.Context, solids: Sequence[Solid], poses: moderngl.Buffer) -> Meshes:
    """Copy bodies to the graphics library.

    `context`: openGL; `solids`: surface of each body. Returns buffers.
    """
    starts = np.cumsum([0, *(len(solid.points) for solid in solids)])
    vertices = np.zeros(starts[-1], _VERTEX)
    for number, solid in enumerate(solids):
        part = vertices[starts[number] : starts[number + 1]]
        part["position"], part["colour"], part["body"] = solid.points, solid.colours, number
        part["normal"] = np.rint(127.0 * solid.normals)
    triangles = [solid.triangles + start for solid, start in zip(solids, starts, strict=False)]
    first = np.cumsum([0, *(3 * len(each) for each in triangles)]).tolist()
    return Meshes(
        context.buffer(vertices.tobytes()),
        context.buffer(np.concatenate(triangles).astype(np.int32).tobytes()),
        first,
        poses,
    )


def connect_meshes(
    context: moderngl.Context, program: moderngl.Program, meshes: Meshes
) -> moderngl.VertexArray:
    """Connect bodies to a shader.

    `context`: openGL; `program`: shader with the inputs `position`, `body` and perhaps `normal` and `colour`.
    Returns what draws them.
    """
    layout: tuple[Any, ...] = (
        meshes.vertices,
        "3f 3i1 1x1 3f1 1x1 1i",
        "position",
        "normal",
        "colour",
        "body",
    )
    if "normal" not in program:
        layout = (meshes.vertices, "3f 8x1 1i", "position", "body")
    return context.vertex_array(program, [layout], meshes.indices)


def draw_bodies(array: moderngl.VertexArray, meshes: Meshes, shown: Sequence[bool]) -> None:
    """Draw bodies with the poses in their buffer. `array`: from `connect_meshes`."""
    count = len(shown)
    for group in range(0, count, GROUP):
        meshes.poses.bind_to_uniform_block(0, offset=group * _POSE_BYTES, size=GROUP * _POSE_BYTES)
        array.program["first_body"] = group
        body, last = group, min(group + GROUP, count)
        while body < last:
            end = body
            while end < last and shown[end]:
                end += 1
            if end > body:
                start = meshes.first[body]
                array.render(vertices=meshes.first[end] - start, first=start)
            body = end + 1


def box_corners(solids: Sequence[Solid]) -> Array:
    """Compute the bounding boxes of bodies.

    `solids`: surface of each body. Returns (B, 8, 3): corners in each body's frame, m.
    """
    bounds = np.array([[solid.points.min(axis=0), solid.points.max(axis=0)] for solid in solids], dtype=float)
    signs = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    return bounds[:, signs, np.arange(3)]
