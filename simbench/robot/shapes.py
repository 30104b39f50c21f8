"""The schema of a robot's shapes in `robot.yaml`: smooth visual shells and simple convex collision shapes."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Ring = tuple[float, float, float, float, float]
Positive = Annotated[float, Field(gt=0)]


class Strict(BaseModel):
    """Base of all sections of a description: immutable, with finite numbers; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Loft(Strict):
    """A surface over superellipse rings along a link axis.

    Parameters
    ----------
    along : str
        The link axis; the rings lie in the plane of the two other axes, u and v in alphabetical order.
    rings : tuple of [position, centre u, centre v, half width u, half width v]
        Rings, m, with increasing positions. Between the rings every number is interpolated by a monotone
        cubic.
    exponent : float
        Exponent of the superellipses: 2 gives ellipses, larger numbers rounded rectangles.
    ends : two of [depth, exponent]
        Domes before the first and beyond the last ring; depth 0 is a flat end.
    at, rpy : Triple
        Position, m, and roll-pitch-yaw angles, rad, in the link.
    sides, steps : int
        Number of vertices around the axis, and of mesh rows between two rings (a loft with only two rings is
        straight).
    """

    along: Literal["x", "y", "z"]
    rings: Annotated[tuple[Ring, ...], Field(min_length=1)]
    exponent: Positive = 2.0
    ends: tuple[Pair, Pair] = ((0.0, 2.0), (0.0, 2.0))
    at: Triple = (0.0, 0.0, 0.0)
    rpy: Triple = (0.0, 0.0, 0.0)
    sides: Annotated[int, Field(ge=3)] = 18
    steps: Annotated[int, Field(ge=1)] = 2

    @model_validator(mode="after")
    def _positions_increase(self) -> "Loft":
        if any(a[0] >= b[0] for a, b in zip(self.rings, self.rings[1:], strict=False)):
            raise ValueError("the positions of the rings must increase")
        return self


class Patch(Strict):
    """A thin plate that follows the surface of a loft: a visor, an eye, a seam.

    Parameters
    ----------
    shell : str
        Name of the shell of the same link on which the plate lies.
    center : [angle, position]
        Centre of the plate: degrees from u towards v, and m along the loft.
    size : [angle, position]
        Half widths of the plate, in the same units.
    exponent : float
        Exponent of the superellipse that is its outline.
    lift : float
        Height above the surface, m.
    sides : int
        Number of vertices of the outline.
    """

    shell: str
    center: Pair
    size: Pair
    exponent: Positive = 2.0
    lift: Positive = 0.0015
    sides: Annotated[int, Field(ge=3)] = 20


class Shell(Strict):
    """One visible part of a link: a loft or a patch, in a colour; `twin` adds its mirror image."""

    color: str
    name: str | None = None
    loft: Loft | None = None
    patch: Patch | None = None
    twin: bool = False

    @model_validator(mode="after")
    def _one_form(self) -> "Shell":
        if (self.loft is None) == (self.patch is None):
            raise ValueError("give one of loft, patch")
        return self


class CollisionShape(Strict):
    """One convex collision shape: a box (side lengths) or sphere (radius) centred at `at`, or a loft; m."""

    box: Triple | None = None
    sphere: Positive | None = None
    loft: Loft | None = None
    at: Triple = (0.0, 0.0, 0.0)

    @model_validator(mode="after")
    def _one_form(self) -> "CollisionShape":
        if [self.box, self.sphere, self.loft].count(None) != 2:
            raise ValueError("give one of box, sphere, loft")
        return self
