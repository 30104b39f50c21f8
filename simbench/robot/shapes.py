"""The schema of a robot's shapes in `robot.yaml`: smooth visual shells and simple convex collision shapes."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Ring = tuple[float, float, float, float, float]
Positive = Annotated[float, Field(gt=0)]
Coordinate = Annotated[float, Field(ge=-10.0, le=10.0, json_schema_extra={"unit": "m"})]
"""Coordinate in a link, m. A larger number is not in metres."""
Length = Annotated[float, Field(gt=0.0, le=10.0, json_schema_extra={"unit": "m"})]
"""Length of a part of a robot, m. A larger number is not in metres."""
Angle = Annotated[float, Field(ge=-6.2832, le=6.2832, json_schema_extra={"unit": "rad"})]
"""Angle up to a full turn, rad. A larger number is not in radians."""
Position = tuple[Coordinate, Coordinate, Coordinate]
RollPitchYaw = tuple[Angle, Angle, Angle]
"""Rotations about the fixed axes x, y and z, in this order, rad, as in URDF."""


class Strict(BaseModel):
    """Base of all sections of a description: immutable, with finite numbers; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


class Loft(Strict):
    """A surface over superellipse rings along a link axis."""

    along: Literal["x", "y", "z"]
    """The link axis; the rings lie in the plane of the two other axes, u and v in alphabetical order."""
    rings: Annotated[tuple[Ring, ...], Field(min_length=1, json_schema_extra={"unit": "m"})]
    """Rings, each `[position, centre u, centre v, half width u, half width v]`, with increasing positions.
    Between the rings every number is interpolated by a monotone cubic."""
    exponent: Positive = 2.0
    """Exponent of the superellipses: 2 gives ellipses, larger numbers rounded rectangles."""
    ends: tuple[Pair, Pair] = ((0.0, 2.0), (0.0, 2.0))
    """Domes before the first and beyond the last ring, each `[depth, exponent]`; the depth is in m, and
    depth 0 is a flat end."""
    at: Position = (0.0, 0.0, 0.0)
    """Position in the link."""
    rpy: RollPitchYaw = (0.0, 0.0, 0.0)
    """Roll, pitch and yaw in the link."""
    sides: Annotated[int, Field(ge=3)] = 18
    """Number of vertices around the axis."""
    steps: Annotated[int, Field(ge=1)] = 2
    """Number of mesh rows between two rings; a loft with only two rings is straight."""

    @model_validator(mode="after")
    def _positions_increase(self) -> "Loft":
        if any(a[0] >= b[0] for a, b in zip(self.rings, self.rings[1:], strict=False)):
            raise ValueError("the positions of the rings must increase")
        return self


class Patch(Strict):
    """A thin plate that follows the surface of a loft: a visor, an eye, a seam."""

    shell: str
    """Name of the shell of the same link on which the plate lies."""
    center: Pair
    """Centre of the plate, `[angle, position]`: degrees from u towards v, and m along the loft."""
    size: Pair
    """Half widths of the plate, `[angle, position]`: degrees, and m along the loft."""
    exponent: Positive = 2.0
    """Exponent of the superellipse that is its outline."""
    lift: Length = 0.0015
    """Height above the surface."""
    sides: Annotated[int, Field(ge=3)] = 20
    """Number of vertices of the outline."""


class Shell(Strict):
    """One visible part of a link: a loft or a patch, in a colour."""

    color: str
    """Name of one of the colours of section `colors`."""
    name: str | None = None
    """Name by which a patch refers to this shell."""
    loft: Loft | None = None
    """Surface over rings; instead of `patch`."""
    patch: Patch | None = None
    """Plate on the surface of another shell; instead of `loft`."""
    twin: bool = False
    """Whether the shell's mirror image in the xz plane is added."""

    @model_validator(mode="after")
    def _one_form(self) -> "Shell":
        if (self.loft is None) == (self.patch is None):
            raise ValueError("give one of loft, patch")
        return self


class CollisionShape(Strict):
    """One convex collision shape: a box, a sphere or a loft."""

    box: tuple[Length, Length, Length] | None = None
    """Side lengths of a box."""
    sphere: Length | None = None
    """Radius of a sphere."""
    loft: Loft | None = None
    """Convex hull of a surface over rings."""
    at: Position = (0.0, 0.0, 0.0)
    """Position of the centre of a box or sphere in the link."""

    @model_validator(mode="after")
    def _one_form(self) -> "CollisionShape":
        if [self.box, self.sphere, self.loft].count(None) != 2:
            raise ValueError("give one of box, sphere, loft")
        return self
