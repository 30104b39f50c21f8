"""The floor of a picture: pale tiles that fade into the background."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from simbench.kinematics.arrays import Array
from simbench.sim.engine import World
from simbench.sim.rendering.scene_look import HORIZON_HALF, PLAIN, TEXTURE_HALF, TILE, floor_middle

TEXTURE_PIXELS = 2048


def add_floor(world: World, center: Sequence[float], light: Array) -> None:
    """Put a floor that nothing collides with at z = 0.

    `world`: world to put it into; `center`: point on the ground around which the tiles are seen, world frame,
    m; the tiles stay aligned with the world's origin; `light` (3,): vector from the world's origin to the
    light, m.
    """
    # Uncompressed: packing and unpacking it would take longer than drawing it.
    texture = world.scratch / "floor.bmp"
    Image.fromarray(_tiles()).save(texture)
    middle = floor_middle(center)
    square = TEXTURE_HALF * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    tiles = world.scratch / "tiles.obj"
    _write_flat_mesh(tiles, square, [(0, 1, 2), (0, 2, 3)], light)
    rim = np.vstack([square, HORIZON_HALF / TEXTURE_HALF * square])
    around = [
        triangle
        for k in range(4)
        for triangle in ((k, k + 4, (k + 1) % 4), ((k + 1) % 4, k + 4, (k + 1) % 4 + 4))
    ]
    horizon = world.scratch / "horizon.obj"
    _write_flat_mesh(horizon, rim, around, light)
    world.add_surface(tiles, 1.0, middle, texture)
    world.add_surface(horizon, PLAIN, middle, None)


def _tiles() -> NDArray[np.uint8]:
    """Two pale greys with darker joints, fading to `PLAIN` before the edge."""
    # In single precision: every process that draws makes them.
    pixels = np.arange(TEXTURE_PIXELS, dtype=np.float32)
    axis = ((pixels + 0.5) / TEXTURE_PIXELS * 2.0 - 1.0) * TEXTURE_HALF
    odd = np.floor(axis / TILE) % 2
    gap = np.abs(axis / TILE - np.round(axis / TILE)) * TILE
    joint = 0.14 * np.clip((0.009 - gap) / 0.005, 0.0, 1.0)
    level = np.where(odd != odd[:, None], np.float32(0.895), np.float32(0.86))
    level -= np.maximum(joint, joint[:, None])
    # One quarter and its mirror images: the power takes most of the time.
    half = axis[TEXTURE_PIXELS // 2 :]
    fade = np.clip((np.hypot(half, half[:, None]) - 1.2) / (TEXTURE_HALF - 1.4), 0.0, 1.0) ** 0.7
    fade = np.pad(fade, ((len(half), 0), (len(half), 0)), mode="symmetric")
    level += fade * (PLAIN - level)
    return np.repeat(np.rint(255.0 * level).astype(np.uint8)[:, :, None], 3, axis=2)


def _write_flat_mesh(
    path: Path, corners: Array, triangles: Sequence[tuple[int, int, int]], light: Array
) -> None:
    """Write triangles that lie on the ground; the picture of the tiles spans the texture's square."""
    # The EGL plugin adds a highlight that it cannot switch off, and computes it for a camera elsewhere.
    # Normals that lie in the floor, toward the light, keep it out of sight.
    toward = light[:2] / np.linalg.norm(light[:2])
    lines = [f"v {x:g} {y:g} 0" for x, y in corners]
    lines += [f"vt {0.5 + 0.5 * x:g} {0.5 - 0.5 * y:g}" for x, y in corners / TEXTURE_HALF]
    lines.append(f"vn {toward[0]:g} {toward[1]:g} 0")
    lines += ["f " + " ".join(f"{k + 1}/{k + 1}/1" for k in triangle) for triangle in triangles]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
