"""What a drawing process gets: the surfaces of all bodies, and their poses in every frame."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.sim.rendering.scene_view import Camera

MOST_CORNERS = 32
"""Largest number of vertices of a support polygon that is drawn."""


class Solid(NamedTuple):
    """Visible surface of a rigid body, in the body's frame."""

    points: NDArray[np.float32]  # (V, 3) of float32: vertices, m.
    normals: NDArray[np.float32]  # (V, 3) of float32: unit normals of the surface at the vertices, outward.
    colours: NDArray[np.uint8]  # (V, 3) of uint8: red, green and blue at the vertices.
    # (T, 3) of int32: vertices of each triangle, counter-clockwise seen from outside.
    triangles: NDArray[np.int32]


@dataclass(frozen=True)
class Content:
    """What stays the same in all pictures of a drawing process."""

    solids: tuple[Solid, ...]  # Surface of each body.
    casters: tuple[Solid, ...]  # Surface that casts the shadow of each body, which may be simpler.
    ghosts: int  # Number of bodies, the last ones, that are drawn half transparent.
    camera: Camera  # Viewpoint and size of the pictures.
    video: bool  # Whether pictures are frames of a video, in planes of luma and chroma; else they are RGB.
    # Whether bodies cast shadows. A video without them is a preview, whose edges are smoothed in a cheaper
    # way.
    shadows: bool


def record_type(bodies: int) -> np.dtype[np.void]:
    """Describe the record of one frame.

    `bodies`: number of bodies. Returns fields `poses`, first three rows of each body's transformation to the
    world, m; `shift`, by which the camera is displaced, m, and `turn_deg`, by which it is turned, degrees;
    `cog` and `zmp`, points on the floor, m, NaN where there are none; `support`, vertices of the support
    polygon on the floor, m, NaN beyond the last.
    """
    return np.dtype(
        [
            ("poses", np.float32, (bodies, 3, 4)),
            ("shift", np.float64, (3,)),
            ("turn_deg", np.float64),
            ("cog", np.float64, (2,)),
            ("zmp", np.float64, (2,)),
            ("support", np.float64, (MOST_CORNERS, 2)),
        ]
    )
