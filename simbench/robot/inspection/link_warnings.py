"""Warnings about masses and inertias that no rigid body of a link's size has."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.robot.urdf.elements import UrdfLink

REACH = 1.2
"""Largest ratio of the radius of gyration to the reach of a link's geometry, which is often simplified."""
CONCENTRATED = 0.05
"""Smallest ratio of the radius of gyration to the reach of the geometry.

Even a link with a motor at the end of a long shell exceeds it.
"""
FAR_TOO_LARGE = 1e12
"""Number that is reported as an error whatever it means."""
COG_MARGIN = 0.25
"""Largest distance of a centre of gravity outside the geometry, in diagonals of its bounding box."""


@dataclass(frozen=True)
class MassProperties:
    """Mass properties of a link."""

    mass: float  # Mass, kg.
    cog: tuple[float, float, float]  # Centre of gravity in the link frame, m.
    principal: tuple[float, float, float]  # Principal moments of inertia, kg·m², smallest first.


def mass_properties(link: UrdfLink) -> MassProperties:
    """Compute the mass properties of a link.

    Returns the mass properties; NaN where the URDF gives no number.
    """
    ixx, iyy, izz, ixy, ixz, iyz = link.inertia
    matrix = np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])
    moments = np.linalg.eigvalsh(matrix) if np.isfinite(matrix).all() else np.full(3, np.nan)
    x, y, z = link.cog
    small, middle, large = moments.tolist()
    return MassProperties(link.mass, (x, y, z), (small, middle, large))


def find_link_warnings(link: UrdfLink, extent: NDArray[np.float64] | None) -> Iterator[str]:
    """Find what looks wrong with a link's mass and inertia.

    The radius of gyration, the square root of (I₁ + I₂ + I₃) / 2m, is the root mean square distance of the
    mass from the centre of gravity: it is at most the distance of the geometry's farthest point. `extent` (2,
    3) or None: lowest and highest corner of the bounding box of its geometry in the link frame, m; None if
    unknown. Yields warning of one line, with the link's name.
    """
    where, body = f"link `{link.name}`", mass_properties(link)
    moments = np.array(body.principal)
    known = np.abs([body.mass, *body.cog, *moments]) < FAR_TOO_LARGE
    if not known.all() or body.mass < 0:
        return
    if body.mass == 0:
        if moments.any():
            yield f"{where}: has inertia but no mass"
        elif link.shapes:
            yield f"{where}: has a shape but no mass"
        return
    if not moments.any():
        yield f"{where}: has a mass of {body.mass:g} kg but no inertia"
        return
    listed = ", ".join(f"{moment:.3g}" for moment in moments)
    if moments[0] <= 0:
        yield f"{where}: inertia is not positive definite (principal moments {listed} kg·m²)"
        return
    if moments[2] > (moments[0] + moments[1]) * (1 + 1e-9):
        yield (
            f"{where}: no rigid body has principal moments of {listed} kg·m²: "
            "the largest exceeds the sum of the others"
        )
    if extent is not None:
        yield from _size_warnings(where, body, extent)


def _size_warnings(where: str, body: MassProperties, extent: NDArray[np.float64]) -> Iterator[str]:
    """Compare the radius of gyration and the centre of gravity with the geometry."""
    cog = np.array(body.cog)
    reach = float(np.linalg.norm(np.maximum(extent[1] - cog, cog - extent[0])))
    gyration = float(np.sqrt(0.5 * sum(body.principal) / body.mass))
    if gyration > REACH * reach:
        yield (
            f"{where}: inertia is too large: {body.mass:g} kg at {gyration:.2g} m from their centre, "
            f"where the geometry ends at {reach:.2g} m"
        )
    elif gyration < CONCENTRATED * reach:
        yield (
            f"{where}: inertia is too small: {body.mass:g} kg at {gyration:.2g} m from their centre, "
            f"while the geometry reaches {reach:.2g} m"
        )
    outside = float(np.linalg.norm(np.maximum(np.maximum(extent[0] - cog, cog - extent[1]), 0.0)))
    if outside > COG_MARGIN * float(np.linalg.norm(extent[1] - extent[0])):
        yield f"{where}: centre of gravity lies {outside:.2g} m outside its geometry"
