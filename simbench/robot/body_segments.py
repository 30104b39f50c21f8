"""The modified Hanavan body: sixteen segments computed from a person's measures (Tomić 2018, appendix B)."""

from copy import copy
from dataclasses import dataclass, replace
from math import pi, prod

import numpy as np
import pinocchio as pin
from numpy.polynomial import Polynomial
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.robot.anthropometry import Measures
from simbench.robot.sides import SIDES


@dataclass(frozen=True)
class EllipticalSolid:
    """A solid with an elliptical section whose semi-axes change linearly along its length."""

    a0: float  # `a0`, `b0`: semi-axes along x and y of the section at z = 0, m.
    b0: float
    a1: float  # `a1`, `b1`: semi-axes along x and y of the section at z = `length`, m.
    b1: float
    length: float  # Length along z, m.


@dataclass(frozen=True)
class Ellipsoid:
    """An ellipsoid; its poles are at z = 0 and z = 2c."""

    a: float  # `a`, `b`, `c`: semi-axes along x, y and z, m.
    b: float
    c: float


BodySolid = EllipticalSolid | Ellipsoid


def solid_length(solid: BodySolid) -> float:
    """Compute the extent of a solid along z. Returns length, m."""
    return solid.length if isinstance(solid, EllipticalSolid) else 2.0 * solid.c


def solid_volume(solid: BodySolid) -> float:
    """Compute the volume of a solid: pi L A1 for an elliptical solid (Tomić 2018, eq. B.6).

    Returns volume, m³.
    """
    if isinstance(solid, EllipticalSolid):
        return pi * solid.length * _moment(_axis_a(solid), _axis_b(solid))
    return 2.0 * (2.0 / 3.0 * pi * solid.a * solid.b * solid.c)


def solid_centre(solid: BodySolid) -> float:
    """Compute the position of the centre of mass along z: L A2 / A1, or c.

    A2 is the integral of s a(s) b(s), so its middle term is B2/3 where the thesis prints B2/5. Returns
    distance of the centre of mass from z = 0, m.
    """
    if isinstance(solid, EllipticalSolid):
        a, b = _axis_a(solid), _axis_b(solid)
        return solid.length * _moment(a, b, power=1) / _moment(a, b)
    return solid.c


def solid_inertia(solid: BodySolid, mass: float) -> NDArray[np.float64]:
    """Compute the inertia of a homogeneous solid about its centre of mass.

    The formulas are those of Tomić (2018), appendix B.2. `mass`: mass, kg. Returns (3, 3): inertia in the
    solid's axes, kg·m².
    """
    centre = solid_centre(solid)
    if isinstance(solid, EllipticalSolid):
        a, b = _axis_a(solid), _axis_b(solid)
        area = _moment(a, b)
        along_x = _moment(a, a, a, b) / (4.0 * area)
        along_y = _moment(a, b, b, b) / (4.0 * area)
        along_z = solid.length**2 * _moment(a, b, power=2) / area - centre**2
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


TRUNK = ("upper_trunk", "middle_trunk", "lower_trunk")
LIMBS = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot")

# Relative densities of the trunk's segments; the upper one holds the lungs.
TRUNK_DENSITY = {"upper_trunk": 0.92, "middle_trunk": 1.01, "lower_trunk": 1.01}


@dataclass(frozen=True)
class BodySegment:
    """A segment of the body: a homogeneous solid with a mass.

    Its axes: z from the proximal (trunk: upper, foot: heel) end at the origin to the distal end, x to the
    left or right, y to the front or back (foot: up or down). The head's z points to the vertex.
    """

    solid: BodySolid  # Shape of the segment.
    mass: float  # Mass of the segment, kg.


class HanavanBody:
    """The modified Hanavan body of a person: sixteen segments (Tomić 2018, tables B.2 and B.3).

    The masses of the segments, predicted from measures and body mass, do not add up to that of the body: see
    `residual` for the difference, and `scale_to_body_mass` to remove it. `mass`: mass of the whole body, kg.
    `segments` by name: `head`, `upper_trunk`, `middle_trunk`, `lower_trunk`, and with `left_` or `right_`
    before: `upper_arm`, `forearm`, `hand`, `thigh`, `shank`, `foot`.
    """

    def __init__(self, measures: Measures, mass: float) -> None:
        solids, masses = _solids(measures), _masses(measures, mass)
        for name, solid in solids.items():
            for axis, value in vars(solid).items():
                if value <= 0.0:
                    raise RobotError(
                        f"body segment {name}: semi-axis {axis} {value:.4f} m; allowed: above 0 (its width "
                        "or depth is too large for its circumference)"
                    )
        for name, predicted in masses.items():
            if predicted <= 0.0:
                raise RobotError(
                    f"body segment {name}: predicted mass {predicted:.3f} kg; allowed: above 0 (the "
                    "regressions are for adults)"
                )
        weights = {name: TRUNK_DENSITY[name] * solid_volume(solids[name]) for name in TRUNK}
        scale = masses["trunk"] / sum(weights.values())  # eq. B.1
        masses |= {name: scale * weight for name, weight in weights.items()}
        segments = {name: BodySegment(solids[name], masses[name]) for name in ("head", *TRUNK)}
        for side in SIDES:
            segments |= {f"{side}_{name}": BodySegment(solids[name], masses[name]) for name in LIMBS}
        self.measures, self.mass, self.segments = measures, mass, segments

    @property
    def residual(self) -> float:
        """Sum of the segments' masses minus the mass of the body, kg.

        The mass of each segment has its own regression, from thirteen male cadavers (Clauser, McConville &
        Young 1969), so the sum differs from the mass of a living person: by 3.7 % for the average man and by
        4.7 % for the average woman of `average_measures`, mostly in the thighs.
        """
        return sum(segment.mass for segment in self.segments.values()) - self.mass


def segment_inertia(segment: BodySegment) -> pin.Inertia:
    """Compute the inertia of a segment.

    Returns mass, kg, centre of mass, m, and inertia about it, kg·m², in the segment's axes.
    """
    lever = np.array([0.0, 0.0, solid_centre(segment.solid)])
    return pin.Inertia(segment.mass, lever, solid_inertia(segment.solid, segment.mass))


def scale_to_body_mass(body: HanavanBody) -> HanavanBody:
    """Scale all segments by one factor, so that their masses add up to the mass of the body.

    This is for dynamics, where the weight must be right. One factor for all distributes the residual in
    proportion and changes no segment's centre of mass or radius of gyration. `body`: the body as predicted.
    Returns the body with zero residual.
    """
    factor = body.mass / (body.mass + body.residual)
    exact = copy(body)
    exact.segments = {
        name: replace(segment, mass=factor * segment.mass) for name, segment in body.segments.items()
    }
    return exact


def _masses(p: Measures, mass: float) -> dict[str, float]:
    """Masses of the segments by table B.2, kg; its regressions take centimetres.

    The thesis prints the forearm's first term with the body mass M in place of the wrist circumference P15,
    which would give an adult a forearm of 6 kg.
    """

    def cm(length: float) -> float:
        return 100.0 * length

    return {
        "hand": 0.038 * cm(p.wrist_circumference) + 0.080 * cm(p.wrist_width) - 0.660,
        "forearm": 0.081 * cm(p.wrist_circumference) + 0.052 * cm(p.forearm_circumference) - 1.650,
        "upper_arm": 0.007 * mass
        + 0.092 * cm(p.axillary_arm_circumference)
        + 0.050 * cm(p.elbow_to_acromion_length)
        - 3.101,
        "foot": 0.003 * mass + 0.048 * cm(p.ankle_circumference) + 0.027 * cm(p.foot_length) - 0.869,
        "shank": 0.135 * cm(p.shank_circumference) - 1.318,
        "thigh": 0.074 * mass + 0.138 * cm(p.upper_thigh_circumference) - 4.641,
        "head": 0.104 * cm(p.head_circumference) + 0.015 * mass - 2.189,
        "trunk": 0.349 * mass + 0.423 * cm(p.hip_to_chin) + 0.229 * cm(p.chest_circumference) - 35.460,
    }


def _solids(p: Measures) -> dict[str, BodySolid]:
    """Solids of the segments by table B.3.

    A semi-axis b follows from the circumference, taken as pi (a + b). The thesis prints the foot's b1 without
    the `- a1` that this requires.
    """
    wrist, elbow = p.wrist_circumference / (2 * pi), p.elbow_circumference / (2 * pi)
    knee, ankle = p.knee_circumference / (2 * pi), p.ankle_circumference / (2 * pi)
    arm, heel = p.axillary_arm_circumference / (2 * pi), p.foot_circumference / (2 * pi)
    fist, skull = p.fist_circumference / (2 * pi), p.head_circumference / (2 * pi)
    toe_width = (p.foot_width + p.toe_width) / 4
    toe_height = (p.ball_of_foot_circumference + p.toe_circumference) / (2 * pi) - toe_width
    thigh_depth = p.hip_depth / 2
    thigh_width = p.upper_thigh_circumference / pi - thigh_depth
    chest_width = (p.chest_width + p.xiphion_width) / 4
    chest_depth = (p.chest_circumference + p.xiphion_circumference) / (2 * pi) - chest_width
    top_width, waist_width = p.xiphion_width / 2, p.omphalion_width / 2
    top_depth = p.xiphion_circumference / pi - top_width
    waist_depth = p.omphalion_circumference / pi - waist_width
    hip_width = (p.omphalion_width + p.coxae_width) / 4
    hip_depth = (p.omphalion_circumference + p.buttock_circumference) / (2 * pi) - hip_width
    return {
        "hand": Ellipsoid(fist, fist, p.wrist_to_knuckle_length / 2),
        "forearm": EllipticalSolid(elbow, elbow, wrist, wrist, p.forearm_length),
        "upper_arm": EllipticalSolid(arm, arm, elbow, elbow, p.elbow_to_acromion_length),
        "foot": EllipticalSolid(heel, heel, toe_width, toe_height, p.foot_length),
        "shank": EllipticalSolid(knee, knee, ankle, ankle, p.shank_length),
        "thigh": EllipticalSolid(thigh_width, thigh_depth, knee, knee, p.thigh_length),
        "head": Ellipsoid(skull, skull, p.head_length / 2),
        "upper_trunk": EllipticalSolid(
            chest_width, chest_depth, chest_width, chest_depth, p.xiphion_to_acromion_length
        ),
        "middle_trunk": EllipticalSolid(
            top_width, top_depth, waist_width, waist_depth, p.middle_trunk_length
        ),
        "lower_trunk": EllipticalSolid(hip_width, hip_depth, hip_width, hip_depth, p.lower_trunk_length),
    }
