"""Surfaces and poses of a figure of balls and bars."""

from typing import NamedTuple

import numpy as np
import trimesh

from simbench.kinematics.arrays import Array
from simbench.sim.rendering.opengl.content import Solid
from simbench.sim.rendering.scene_frames import Figure
from simbench.sim.rendering.scene_look import FIGURE_BAR_COLOUR, FIGURE_COLOUR
from simbench.sim.rendering.solids import make_solid

_SIDES = 16
"""Number of sides of a bar."""


class FigureShape(NamedTuple):
    """What stays the same of a figure in all frames."""

    balls: tuple[float, ...]  # radius of each ball, m.
    bars: tuple[float, ...]  # radius of each bar, m.


def figure_shape(figure: Figure) -> FigureShape:
    """Take what stays the same out of a figure. Returns radii of its balls and bars."""
    count = figure.points.shape[1]
    return FigureShape(figure.radii[:count], figure.radii[count:])


def figure_solids(shape: FigureShape) -> list[Solid]:
    """Build the surfaces of a figure.

    `shape`: radii of its balls and bars. Returns balls about their centres, then bars along z from 0 to 1 m:
    their poses stretch them.
    """
    balls = [trimesh.creation.icosphere(subdivisions=3, radius=radius) for radius in shape.balls]
    tubes = [_tube(radius) for radius in shape.bars]
    return [make_solid(ball, FIGURE_COLOUR) for ball in balls] + [
        make_solid(tube, FIGURE_BAR_COLOUR) for tube in tubes
    ]


def figure_poses(figure: Figure) -> Array:
    """Compute the transformations of a figure's bodies.

    Returns (F, N + B, 4, 4): transformation of each ball and of each bar to the world. That of a bar
    stretches its z axis, across which its surface stands, so that normals stay unit vectors.
    """
    frames, count = figure.points.shape[:2]
    poses = np.tile(np.eye(4), (frames, count + len(figure.bars), 1, 1))
    poses[:, :count, :3, 3] = figure.points
    if figure.bars:
        first, last = (figure.points[:, list(ends)] for ends in zip(*figure.bars, strict=True))
        along = last - first
        length = np.linalg.norm(along, axis=2, keepdims=True)
        # A pelvis may be where the middle of the hips is: nothing is seen of a bar without length.
        z = np.where(length > 1e-9, along / np.maximum(length, 1e-9), [0.0, 0.0, 1.0])
        # Any axis that is not parallel to the bar.
        other = np.where(np.abs(z[..., :1]) < 0.9, [1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
        x = np.cross(other, z)
        x /= np.linalg.norm(x, axis=2, keepdims=True)
        poses[:, count:, :3, :3] = np.stack([x, np.cross(z, x), along], axis=-1)
        poses[:, count:, :3, 3] = first
    return poses


def _tube(radius: float) -> trimesh.Trimesh:
    """Mesh of a cylinder without ends, along z from 0 to 1 m."""
    angle = 2.0 * np.pi * np.arange(_SIDES) / _SIDES
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.vstack([np.column_stack([ring, np.full(_SIDES, z)]) for z in (0.0, 1.0)])
    k = np.arange(_SIDES)
    after = (k + 1) % _SIDES
    faces = np.vstack(
        [np.column_stack([k, after, after + _SIDES]), np.column_stack([k, after + _SIDES, k + _SIDES])]
    )
    return trimesh.Trimesh(points, faces, process=False)
