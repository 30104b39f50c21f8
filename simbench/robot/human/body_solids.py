"""The solids of the modified Hanavan body: volume, centre of mass and inertia in closed form."""

from dataclasses import dataclass
from math import pi, prod

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import NDArray


@dataclass(frozen=True)
class EllipticalSolid:
    """A solid with an elliptical section whose semi-axes change linearly along its length."""

    a0: float  # `a0`, `b0`: semi-axes along x and y of the section at z = 0, m.
    b0: float
    a1: float  # `a1`, `b1`: semi-axes along x and y of the section at z = `length`, m.
    b1: float
    length: float  # Length along z, m.


@dataclass(frozen=True)
class SemiEllipsoid:
    """Half an ellipsoid; its base is at z = 0, its pole at z = c."""

    a: float  # `a`, `b`, `c`: semi-axes along x, y and z, m.
    b: float
    c: float


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid, as two semi-ellipsoids base to base; its poles are at z = 0 and z = 2c."""

    a: float  # `a`, `b`, `c`: semi-axes along x, y and z, m.
    b: float
    c: float


BodySolid = EllipticalSolid | SemiEllipsoid | Ellipsoid


def solid_length(solid: BodySolid) -> float:
    """Compute the extent of a solid along z. Returns length, m."""
    if isinstance(solid, EllipticalSolid):
        return solid.length
    return solid.c if isinstance(solid, SemiEllipsoid) else 2.0 * solid.c


def solid_volume(solid: BodySolid) -> float:
    """Compute the volume of a solid: pi L A1 for an elliptical solid (Tomić 2018, eq. B.6).

    Returns volume, m³.
    """
    if isinstance(solid, EllipticalSolid):
        return pi * solid.length * _moment(_axis_a(solid), _axis_b(solid))
    half = 2.0 / 3.0 * pi * solid.a * solid.b * solid.c
    return half if isinstance(solid, SemiEllipsoid) else 2.0 * half


def solid_centre(solid: BodySolid) -> float:
    """Compute the position of the centre of mass along z: L A2 / A1, 3c/8, or c.

    A2 is the integral of s a(s) b(s), so its middle term is B2/3 where the thesis prints B2/5. Returns
    distance of the centre of mass from z = 0, m.
    """
    if isinstance(solid, EllipticalSolid):
        a, b = _axis_a(solid), _axis_b(solid)
        return solid.length * _moment(a, b, power=1) / _moment(a, b)
    return 3.0 * solid.c / 8.0 if isinstance(solid, SemiEllipsoid) else solid.c


def solid_inertia(solid: BodySolid, mass: float) -> NDArray[np.float64]:
    """Compute the inertia of a homogeneous solid about its centre of mass.

    The formulas are those of Tomić (2018), appendix B.2; for the semi-ellipsoid the whole term m (3c/8)² is
    subtracted, which the thesis multiplies by 1/5. `mass`: mass, kg. Returns (3, 3): inertia in the solid's
    axes, kg·m².
    """
    centre = solid_centre(solid)
    if isinstance(solid, EllipticalSolid):
        a, b = _axis_a(solid), _axis_b(solid)
        area = _moment(a, b)
        along_x = _moment(a, a, a, b) / (4.0 * area)
        along_y = _moment(a, b, b, b) / (4.0 * area)
        along_z = solid.length**2 * _moment(a, b, power=2) / area - centre**2
    elif isinstance(solid, SemiEllipsoid):
        along_x, along_y = solid.a**2 / 5.0, solid.b**2 / 5.0
        along_z = solid.c**2 / 5.0 - centre**2
    else:
        along_x, along_y, along_z = solid.a**2 / 5.0, solid.b**2 / 5.0, solid.c**2 / 5.0
    return mass * np.diag([along_y + along_z, along_x + along_z, along_x + along_y])


def _axis_a(solid: EllipticalSolid) -> Polynomial:
    """Semi-axis a, m, as a polynomial in s, the fraction of the length."""
    return Polynomial([solid.a0, solid.a1 - solid.a0])


def _axis_b(solid: EllipticalSolid) -> Polynomial:
    """Semi-axis b, m, as a polynomial in s, the fraction of the length."""
    return Polynomial([solid.b0, solid.b1 - solid.b0])


def _moment(*axes: Polynomial, power: int = 0) -> float:
    """Integrate s to a power times the product of linear semi-axes over s from 0 to 1: A1 to A4."""
    antiderivative = (prod(axes, start=Polynomial([1.0])) * Polynomial.basis(power)).integ()
    return float(antiderivative(1.0) - antiderivative(0.0))
