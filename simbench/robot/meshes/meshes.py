"""The meshes of a robot's links, from the shapes in its description, and their files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import trimesh

from simbench.errors import RobotError
from simbench.robot.meshes.shells import build_loft_mesh, build_patch_mesh, mirror_mesh
from simbench.robot.mirror import mirror_name
from simbench.robot.shapes import CollisionShape, Shell


@dataclass(frozen=True)
class LinkShapes:
    """Visual and collision shapes of a link."""

    visual: Mapping[str, trimesh.Trimesh]  # Visual meshes in the link frame, m, by colour.
    # Collision shapes in the link frame: primitives and convex meshes.
    collision: tuple[CollisionShape | trimesh.Trimesh, ...]


def build_link_shapes(
    visual: Mapping[str, tuple[Shell, ...]],
    collision: Mapping[str, tuple[CollisionShape, ...]],
    prefixes: Mapping[str, str],
) -> dict[str, LinkShapes]:
    """Build the shapes of all links; those of the right side are mirrored from the left.

    `visual`: visible parts by link name; `collision`: collision shapes by link name; `prefixes`: name
    prefixes of the left side and of the right side. Returns shapes by link name. Raises RobotError if a patch
    names a shell that its link does not have.
    """
    result = {}
    for link in {**visual, **collision}:
        shapes = LinkShapes(
            _colored(link, visual.get(link, ())),
            tuple(
                solid if solid.loft is None else build_loft_mesh(solid.loft)
                for solid in collision.get(link, ())
            ),
        )
        result[link] = shapes
        other = mirror_name(link, prefixes)
        if other != link:
            result[other] = LinkShapes(
                {color: mirror_mesh(mesh) for color, mesh in shapes.visual.items()},
                tuple(_mirrored(shape) for shape in shapes.collision),
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


def _colored(link: str, shells: tuple[Shell, ...]) -> dict[str, trimesh.Trimesh]:
    """Visual meshes of a link by colour; shells of the same colour are joined."""
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
    return {color: sum(meshes[1:], start=meshes[0]) for color, meshes in parts.items()}


def _mirrored(shape: CollisionShape | trimesh.Trimesh) -> CollisionShape | trimesh.Trimesh:
    """Mirror image of a collision shape."""
    if isinstance(shape, trimesh.Trimesh):
        return mirror_mesh(shape)
    return shape.model_copy(update={"at": (shape.at[0], -shape.at[1], shape.at[2])})
