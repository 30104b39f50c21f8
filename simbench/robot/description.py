"""The schema of `robot.yaml`, the description of a robot, its reader, and the mirroring of its left side."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    ModelWrapValidatorHandler,
    Tag,
    ValidationError,
    field_validator,
    model_validator,
)

from simbench.errors import RobotError
from simbench.files.text import is_plain_name
from simbench.files.yaml_document import read_yaml
from simbench.robot.dh import DhRow

Pair = tuple[float, float]
Triple = tuple[float, float, float]
Ring = tuple[float, float, float, float, float]
Positive = Annotated[float, Field(gt=0)]
# Coordinate in a link, m. A larger number is not in metres.
Coordinate = Annotated[float, Field(ge=-10.0, le=10.0, json_schema_extra={"unit": "m"})]
# Length of a part of a robot, m. A larger number is not in metres.
Length = Annotated[float, Field(gt=0.0, le=10.0, json_schema_extra={"unit": "m"})]
# Angle up to a full turn, rad. A larger number is not in radians.
Angle = Annotated[float, Field(ge=-6.2832, le=6.2832, json_schema_extra={"unit": "rad"})]
Position = tuple[Coordinate, Coordinate, Coordinate]
# Rotations about the fixed axes x, y and z, in this order, rad, as in URDF.
RollPitchYaw = tuple[Angle, Angle, Angle]


class Strict(BaseModel):
    """Base of all sections of a description: immutable, with finite numbers; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True)


SomeForm = TypeVar("SomeForm", bound="OneForm")


class OneForm(Strict):
    """Base of sections that have one of several forms."""

    forms: ClassVar[tuple[str, ...]]

    @model_validator(mode="after")
    def _one_form(self: "SomeForm") -> "SomeForm":
        if sum(getattr(self, form) is not None for form in self.forms) != 1:
            raise ValueError(f"give one of {', '.join(self.forms)}")
        return self


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


class Shell(OneForm):
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

    forms = ("loft", "patch")


class CollisionShape(OneForm):
    """One convex collision shape: a box, a sphere or a loft."""

    box: tuple[Length, Length, Length] | None = None
    """Side lengths of a box."""
    sphere: Length | None = None
    """Radius of a sphere."""
    loft: Loft | None = None
    """Convex hull of a surface over rings."""
    at: Position = (0.0, 0.0, 0.0)
    """Position of the centre of a box or sphere in the link."""

    forms = ("box", "sphere", "loft")


NonNegative = Annotated[float, Field(ge=0)]
Torque = Annotated[float, Field(ge=0.0, json_schema_extra={"unit": "N·m"})]
# Limit of a joint, rad: up to three turns. A larger number is not in radians.
JointAngle = Annotated[float, Field(ge=-20.0, le=20.0, json_schema_extra={"unit": "rad"})]
# Value of an argument of a xacro file, whose conditions know `true` and `false`.
XacroValue = Annotated[
    str,
    BeforeValidator(
        # In YAML `true` and `0.5` are no text.
        lambda value: json.dumps(value) if isinstance(value, bool | int | float) else value
    ),
    Field(json_schema_extra={"type": ["string", "number", "boolean"]}),
]
# Stiffness and damping by joint, or `auto`; told apart so that an error is about the intended form.
Gains = Annotated[
    Annotated[Mapping[str, tuple[NonNegative, NonNegative]], Tag("rows")]
    | Annotated[Literal["auto"], Tag("auto")],
    Discriminator(lambda data: "auto" if isinstance(data, str) else "rows"),
]


class LinkDescription(Strict):
    """Mass properties of a link."""

    mass: Annotated[float, Field(gt=0.0, le=1000.0, json_schema_extra={"unit": "kg"})]
    """Mass. A larger number is not in kilograms."""
    cog: Position
    """Centre of gravity in the link."""
    inertia: Annotated[
        tuple[float, float, float, float, float, float], Field(json_schema_extra={"unit": "kg·m²"})
    ]
    """Inertia about the centre of gravity, in link axes: `[ixx, iyy, izz, ixy, ixz, iyz]`."""
    carved_from: str | None = None
    """Link whose published mass properties include this one: they are reduced so that both together, at zero
    joint position, have the published mass, centre of gravity and inertia."""


class FixedFrame(Strict):
    """A massless frame fixed to a link."""

    parent: str
    """Link that carries the frame."""
    xyz: Position
    """Origin of the frame in the parent link."""
    rpy: RollPitchYaw = (0.0, 0.0, 0.0)
    """Roll, pitch and yaw of the frame in the parent link."""


class JointDescription(FixedFrame):
    """A revolute joint.

    Its frame at zero position is placed in the parent link by `xyz` and `rpy`, or by a row of modified
    Denavit-Hartenberg parameters (`dh`), whose axis is z.
    """

    parent: str
    """Link that carries the joint."""
    xyz: Position = (0.0, 0.0, 0.0)
    """Origin of the joint's frame in the parent link."""
    rpy: RollPitchYaw = (0.0, 0.0, 0.0)
    """Roll, pitch and yaw of the joint's frame in the parent link, at zero position."""
    dh: DhRow | None = None
    """Modified Denavit-Hartenberg parameters; instead of `xyz`, `rpy` and `axis`."""
    child: str
    """Link that the joint moves; its frame is the joint's."""
    axis: Literal["x", "y", "z"] = "z"
    """Axis of the joint in its frame."""
    limits: tuple[JointAngle, JointAngle]
    """Lower and upper limit of the position."""
    velocity: Annotated[float, Field(gt=0.0, json_schema_extra={"unit": "rad/s"})]
    """Limit of the speed."""
    effort: Annotated[float, Field(gt=0.0, json_schema_extra={"unit": "N·m"})]
    """Limit of the torque at the joint."""

    @model_validator(mode="before")
    @classmethod
    def _place_by_row(cls, data: Any) -> Any:
        if not isinstance(data, dict) or "dh" not in data:
            return data
        clash = {"xyz", "rpy", "axis"} & data.keys()
        if clash:
            raise ValueError(f"give dh or {', '.join(sorted(clash))}, not both")
        return data


class Sole(Strict):
    """The sole's rectangle in the foot frame."""

    x: tuple[Coordinate, Coordinate]
    """Positions of heel and toe."""
    y: tuple[Coordinate, Coordinate]
    """Positions of the right and the left edge."""


class Hand(Strict):
    """The links of a hand and the joints that close it; a flange that clamps a tool has no fingers."""

    palm: str
    """Link of the palm."""
    fingers: tuple[str, ...] = ()
    """Links of the fingers."""
    joints: tuple[str, ...] = ()
    """Joints that close the hand."""


class Coupling(Strict):
    """A joint that another one's motor moves too: multiplier · its position + offset."""

    joint: str
    """Joint that moves it."""
    multiplier: float = 1.0
    """Its travel for a travel of 1 of that joint."""
    offset: float = 0.0
    """Its position where that joint is at 0, rad or m."""


class Drive(Strict):
    """A motor with a gear: its reduction, and its inertia, at the rotor or as the joint feels it.

    Short form: `[reduction, rotor]`.
    """

    reduction: NonNegative = 0.0
    """Ratio of the motor's speed to the joint's."""
    rotor: Annotated[float, Field(ge=0.0, json_schema_extra={"unit": "g·cm²"})] | None = None
    """Inertia of the rotor; instead of `reflected_inertia`."""
    reflected_inertia: Annotated[float, Field(ge=0.0, json_schema_extra={"unit": "kg·m²"})] | None = None
    """Inertia as the joint feels it, which includes the inertia of the gear where it was measured at the
    joint; instead of `rotor`."""

    @model_validator(mode="wrap")
    @classmethod
    def _in_short(cls, data: Any, validate: ModelWrapValidatorHandler["Drive"]) -> "Drive":
        if isinstance(data, list | tuple) and len(data) == 2:
            data = dict(zip(("reduction", "rotor"), data, strict=True))
        drive = validate(data)
        if (drive.rotor is None) == (drive.reflected_inertia is None):
            raise ValueError("give [reduction, rotor inertia in g·cm²], or reflected_inertia in kg·m²")
        return drive


class JointFriction(Strict):
    """Friction of a joint."""

    coulomb: Torque = 0.0
    """Coulomb friction in motion."""
    viscous: Annotated[float, Field(ge=0.0, json_schema_extra={"unit": "N·m·s/rad"})] = 0.0
    """Viscous friction in motion."""
    breakaway: Torque = 0.0
    """Friction that holds the joint at rest; at least `coulomb`."""

    @model_validator(mode="after")
    def _rest_holds_more(self) -> "JointFriction":
        if self.breakaway < self.coulomb:
            raise ValueError(f"breakaway {self.breakaway:g} must not be less than coulomb {self.coulomb:g}")
        return self


class Bandwidth(Strict):
    """Numbers of the rule by which `gains: auto` chooses stiffness and damping.

    A joint gets stiffness J ω² and damping 2 ζ √(K J), where J is the inertia that it moves with its limb,
    reflected inertia included; joints of the legs also what the body above needs. Torque limits and the
    stability of light feet bound both.
    """

    limb_hz: Annotated[float, Field(gt=0, json_schema_extra={"unit": "Hz"})] = 6.0
    """Natural frequency of a limb."""
    stance_hz: Annotated[float, Field(gt=0, json_schema_extra={"unit": "Hz"})] | None = None
    """Natural frequency of the standing body on its legs; by default 4 times its pendulum's, √(g / h) / 2π
    with h the height of the COG."""
    damping_ratio: Positive = 0.7
    """Damping ratio ζ of all joints, as far as the stability of light feet allows it."""
    saturation_error_rad: Annotated[float, Field(gt=0, json_schema_extra={"unit": "rad"})] = 0.02
    """Position error up to which the stiffness alone does not saturate the motor."""
    timestep_s: Annotated[float, Field(gt=0, le=0.01, json_schema_extra={"unit": "s"})] = 0.001
    """Physics step for which the legs' gains must be stable."""


class Description(Strict):
    """A whole `robot.yaml`.

    The sections from `root` on are used to build the URDF; a robot whose URDF comes from elsewhere omits
    them, except `fixed_frames`, which are added to that URDF.
    """

    name: str
    """Name of the robot in logs."""
    urdf: str
    """URDF, xacro or MJCF of the robot: relative to this file, or `package://PACKAGE/PATH` in an installed
    package."""
    xacro: Mapping[str, XacroValue] = {}
    """Arguments of a xacro file, by name."""
    license: str | None = None
    """Licence of the URDF and its meshes, as an SPDX identifier."""
    base: Literal["floating", "fixed"] = "floating"
    """Whether the root link moves freely, or is fixed to the world."""
    base_height_m: Annotated[float, Field(ge=0.0, le=10.0)] | None = None
    """Height of the root link of a robot with a fixed base above the floor; what is below it is a pedestal.
    By default the lowest part of the robot is on the floor, and an arm that would hang through it stands on a
    pedestal that keeps it clear."""
    fixed_joints: Mapping[str, float] = {}
    """Joints of a URDF from elsewhere that stay where they are, rad or m: wheels, or a gripper's fingers. The
    link that such a joint moves becomes part of the link that carries it; so does that of a fixed joint."""
    coupled_joints: Mapping[str, Coupling] = {}
    """Joints without a motor of their own, which another joint moves through a gear, a belt or a rod, as
    fingers and hips that share a motor. In a limb neither such a joint nor the one that moves it can be part
    of a group."""
    mirror: Mapping[str, str] = {}
    """Beginning of names on the left side to their beginning on the right: what is written for the left side
    alone holds for the right, mirrored in the xz plane."""
    groups: Mapping[str, tuple[str, ...]]
    """Joints of each part of the body: `trunk`, `head`, `left_arm`, `right_arm`, `left_leg`, `right_leg`,
    `left_grip`, `right_grip`."""
    frames: Mapping[str, str] = {}
    """Frame of the URDF for each role: `pelvis`, `trunk`, `head`, and `shoulder`, `elbow`, `wrist`, `hand`,
    `thigh`, `foot` with `left_` and `right_`."""
    soles: Mapping[str, Sole] = {}
    """Rectangle of each sole, by the role of its foot."""
    hands: Mapping[str, Hand] = {}
    """Hands that hold equipment: `left_hand`, `right_hand`."""
    postures: Mapping[str, Mapping[str, float]] = {}
    """Named postures: position of each joint, rad or m; joints that are left out are at 0."""
    motors: Mapping[str, Drive] = {}
    """Drive of each joint: `[reduction, rotor]` with the rotor's inertia in g·cm², or a section."""
    friction: Mapping[str, JointFriction] = {}
    """Friction of each joint."""
    gains: Gains
    """Gains of the joint control, `[stiffness, damping]` of each joint in N·m/rad and N·m·s/rad; or `auto`,
    which derives them from section `bandwidth`."""
    bandwidth: Bandwidth = Bandwidth()
    """Natural frequencies and damping ratio for `gains: auto`."""
    self_collision: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] | None = None
    """Pairs of groups of links: each link of the first group can collide with each of the second. Without
    this key the pairs are derived; an empty list means that no links collide."""
    root: str | None = None
    """Root link of the URDF to build."""
    links: Mapping[str, LinkDescription] = {}
    """Mass properties of each link."""
    joints: Mapping[str, JointDescription] = {}
    """Joints of the URDF to build."""
    fixed_frames: Mapping[str, FixedFrame] = {}
    """Massless frames: of the URDF to build, or added to a URDF from elsewhere."""
    colors: Mapping[str, Triple] = {}
    """Colours by name: red, green and blue from 0 to 1."""
    visual: Mapping[str, tuple[Shell, ...]] = {}
    """Visible parts of each link."""
    collision: Mapping[str, tuple[CollisionShape, ...]] = {}
    """Collision shapes of each link."""

    @field_validator("name")
    @classmethod
    def _check_name(cls, name: str) -> str:
        if not name or not is_plain_name(name) or "/" in name:
            raise ValueError("must be a name of printable characters without a slash")
        return name


def read_description(path: Path) -> Description:
    """Read and check a `robot.yaml`. `path`: file to read."""
    raw = read_yaml(path, RobotError).value
    if not isinstance(raw, dict):
        raise RobotError(f"{path}: expected a mapping with the keys {', '.join(Description.model_fields)}")
    try:
        return Description.model_validate(raw)
    except ValidationError as error:
        # The key, what is wrong, and how many more there are.
        problems = error.errors()
        first = problems[0]
        key = ".".join(str(part) for part in first["loc"])
        text = f"unknown key `{key}`" if first["type"] == "extra_forbidden" else f"`{key}`: {first['msg']}"
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            text += f"; allowed: {', '.join(Description.model_fields)}"
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise RobotError(f"{path}: {text}{more}") from error


T = TypeVar("T")


def mirror_name(name: str, prefixes: Mapping[str, str]) -> str:
    """Replace the prefix of the left side in a name by that of the right side.

    `name`: name of a link, joint or frame; `prefixes`: name prefixes of the left side, and those of the right
    side that replace them. Returns name on the right side; a name without a prefix of the left side stays as
    it is.
    """
    for left, right in prefixes.items():
        tail = name[len(left) :]
        if name.startswith(left) and (left.endswith("_") or tail[:1].isupper()):
            return right + tail
    return name


def add_mirrored_entries(
    section: Mapping[str, T], prefixes: Mapping[str, str], mirror: Callable[[T], T] = lambda entry: entry
) -> dict[str, T]:
    """Complete a section of a description by the mirror images of the left side.

    `section`: entries by name; `prefixes`: name prefixes of the left side and of the right side; `mirror`:
    function from an entry to its mirror image. Returns the given entries, and the mirror image of each entry
    of the left side for which none is given.
    """
    mirrored = {mirror_name(name, prefixes): mirror(entry) for name, entry in section.items()}
    return {**section, **{name: entry for name, entry in mirrored.items() if name not in section}}


def require_known(names: Iterable[str], allowed: Sequence[str], kind: str, where: str) -> None:
    """Refuse names that are not allowed.

    `names`: names to check; `kind`: kind of thing that is named, for the message; `where`: file and key, for
    the message.
    """
    for name in names:
        if name not in allowed:
            raise RobotError(f"{where}: unknown {kind} `{name}`; allowed: {', '.join(sorted(allowed))}")


def read_joint_rows(
    section: Mapping[str, T], mirror: Mapping[str, str], joint_names: Sequence[str], where: str
) -> dict[str, T]:
    """Read the rows of both sides, of which there must be one for every joint or none at all.

    `section`: rows by joint; those of the right side may be left out; `mirror`: name prefixes of the left
    side and of the right side; `where`: file and key, for messages.
    """
    rows = add_mirrored_entries(section, mirror)
    require_known(rows, joint_names, "joint", where)
    missing = [name for name in joint_names if name not in rows]
    if rows and missing:
        raise RobotError(f"{where}: no row for {', '.join(missing)}; every joint of the URDF needs one")
    return rows


def mirror_frame(frame: FixedFrame, prefixes: Mapping[str, str]) -> FixedFrame:
    """Mirror a frame: y, roll and yaw change sign.

    `frame`: frame of the left side; `prefixes`: name prefixes of the left side and of the right side. Returns
    frame of the right side.
    """
    return frame.model_copy(
        update={
            "parent": mirror_name(frame.parent, prefixes),
            "xyz": (frame.xyz[0], -frame.xyz[1], frame.xyz[2]),
            "rpy": (-frame.rpy[0], frame.rpy[1], -frame.rpy[2]),
        }
    )


LIMBS = ("arm", "leg", "grip")
SINGLE_GROUPS = ("trunk", "head")
SINGLE_ROLES = ("pelvis", "trunk", "head")
SIDED_ROLES = ("shoulder", "elbow", "wrist", "hand", "thigh", "foot")
_BUILDING = ("links", "joints", "colors", "visual", "collision")  # Keys from which only a URDF is built.


def require_used_keys(description: Description, where: str) -> None:
    """Refuse keys that no part of simbench would read.

    `description`: description of a robot; `where`: its file, for messages.
    """
    problems: list[str] = []
    given = f"the URDF {description.urdf} is given"
    for key in _BUILDING:
        if description.root is None and getattr(description, key):
            problems.append(f"{key}: not used: it builds a URDF, which needs `root` too; {given}")
    if description.root is not None and not description.links:
        problems.append(f"root: not used: it builds a URDF, which needs `links` too; {given}")
    if description.root is not None and description.fixed_joints:
        problems.append(
            "fixed_joints: not used: it fixes joints of a URDF from elsewhere, and this one is built here"
        )
    if description.base == "floating" and description.base_height_m is not None:
        problems.append("base_height_m: not used: it holds for a fixed base, and this robot's is floating")
    if description.gains != "auto" and "bandwidth" in description.model_fields_set:
        problems.append("bandwidth: not used: it holds for `gains: auto`, and gains are given joint by joint")
    both = [("groups", [*SINGLE_GROUPS], LIMBS), ("frames", [*SINGLE_ROLES], SIDED_ROLES)]
    for key, single, parts in (*both, ("soles", [], ("foot",)), ("hands", [], ("hand",))):
        allowed = [*single, *(f"{side}_{part}" for part in parts for side in ("left", "right"))]
        problems += [
            f"{key}.{name}: not used; allowed: {', '.join(allowed)}"
            for name in getattr(description, key)
            if name not in allowed
        ]
    named = [
        name
        for section in (
            *(description.links, description.joints, description.fixed_frames),
            *(description.visual, description.collision, description.motors, description.friction),
            *([] if description.gains == "auto" else [description.gains]),
        )
        for name in section
    ]
    for left, right in description.mirror.items():
        if all(mirror_name(name, {left: right}) == name for name in named):
            problems.append(
                f"mirror.{left}: not used: no name of a link, joint, frame, motor or gain begins with it"
            )
    if problems:
        raise RobotError(f"{where}: {problems[0]}")
