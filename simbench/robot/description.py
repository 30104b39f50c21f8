"""The schema of `robot.yaml`, the description of a robot, and its reader."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Discriminator, Field, Tag, ValidationError, model_validator

from simbench.errors import RobotError
from simbench.robot.dh.dh import DhRow
from simbench.robot.shapes import CollisionShape, Pair, Positive, Shell, Strict, Triple

NonNegative = Annotated[float, Field(ge=0)]
Gains = Annotated[
    Annotated[Mapping[str, tuple[NonNegative, NonNegative]], Tag("rows")]
    | Annotated[Literal["auto"], Tag("auto")],
    Discriminator(lambda data: "auto" if isinstance(data, str) else "rows"),
]
"""Stiffness and damping by joint, or `auto`; told apart so that an error is about the intended form."""


class LinkDescription(Strict):
    """Mass (kg), centre of gravity (m) and inertia about it (ixx, iyy, izz, ixy, ixz, iyz; kg·m²) of a link.

    `carved_from` names a link whose published mass properties include this one: they are reduced so that both
    together, at zero joint position, have the published mass, centre of gravity and inertia.
    """

    mass: Positive
    cog: Triple
    inertia: tuple[float, float, float, float, float, float]
    carved_from: str | None = None


class FixedFrame(Strict):
    """A massless frame fixed to a link."""

    parent: str
    xyz: Triple
    rpy: Triple = (0.0, 0.0, 0.0)


class JointDescription(FixedFrame):
    """A revolute joint: limits in rad, velocity in rad/s, effort in N·m.

    Its frame at zero position is placed in the parent link by `xyz` and `rpy`, or by a row of modified
    Denavit-Hartenberg parameters (`dh`), whose axis is z.
    """

    xyz: Triple = (0.0, 0.0, 0.0)
    dh: DhRow | None = None
    child: str
    axis: Literal["x", "y", "z"] = "z"
    limits: Pair
    velocity: Positive
    effort: Positive

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
    """The sole's rectangle in the foot frame, m."""

    x: Pair
    y: Pair


class Hand(Strict):
    """The links of a hand and the joints that close it; a flange that clamps a tool has no fingers."""

    palm: str
    fingers: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()


class Drive(Strict):
    """A motor with a gear: its reduction, and its inertia, at the rotor or as the joint feels it.

    Short form: `[reduction, rotor]` with the rotor's inertia in g·cm². Otherwise `reflected_inertia`, kg·m²,
    which includes the inertia of the gear where it was measured at the joint.
    """

    reduction: NonNegative = 0.0
    rotor: NonNegative | None = None
    reflected_inertia: NonNegative | None = None

    @model_validator(mode="before")
    @classmethod
    def _in_short(cls, data: Any) -> Any:
        return dict(zip(("reduction", "rotor"), data, strict=True)) if _is_pair(data) else data

    @model_validator(mode="after")
    def _one_inertia(self) -> "Drive":
        if (self.rotor is None) == (self.reflected_inertia is None):
            raise ValueError("give [reduction, rotor inertia in g·cm²], or reflected_inertia in kg·m²")
        return self


class JointFriction(Strict):
    """Friction of a joint: `coulomb` (N·m) and `viscous` (N·m·s/rad) in motion, up to `breakaway` at rest."""

    coulomb: NonNegative = 0.0
    viscous: NonNegative = 0.0
    breakaway: NonNegative = 0.0

    @model_validator(mode="after")
    def _rest_holds_more(self) -> "JointFriction":
        if self.breakaway < self.coulomb:
            raise ValueError(f"breakaway {self.breakaway:g} must not be less than coulomb {self.coulomb:g}")
        return self


class Bandwidth(Strict):
    """Natural frequencies and damping ratio of the joints with `gains: auto`.

    A joint gets stiffness J ω² and damping 2 ζ J ω, where J is the inertia that it moves, reflected inertia
    included: the inertia of its limb, or, for a joint of a standing leg, that of the body above it.
    """

    limb_hz: Positive = 6.0
    stance_hz: Positive = 2.5
    damping_ratio: Positive = 0.7


class Description(Strict):
    """A whole `robot.yaml`.

    The sections from `root` on are used to build the URDF; a robot whose URDF comes from elsewhere omits
    them.
    """

    name: str
    urdf: str
    base: Literal["floating", "fixed"] = "floating"
    mirror: Mapping[str, str] = {}
    groups: Mapping[str, tuple[str, ...]]
    frames: Mapping[str, str] = {}
    soles: Mapping[str, Sole] = {}
    hands: Mapping[str, Hand] = {}
    postures: Mapping[str, Mapping[str, float]] = {}
    motors: Mapping[str, Drive] = {}
    friction: Mapping[str, JointFriction] = {}
    gains: Gains
    bandwidth: Bandwidth = Bandwidth()
    self_collision: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    root: str | None = None
    links: Mapping[str, LinkDescription] = {}
    joints: Mapping[str, JointDescription] = {}
    fixed_frames: Mapping[str, FixedFrame] = {}
    colors: Mapping[str, Triple] = {}
    visual: Mapping[str, tuple[Shell, ...]] = {}
    collision: Mapping[str, tuple[CollisionShape, ...]] = {}


def _is_pair(data: Any) -> bool:
    return isinstance(data, list | tuple) and len(data) == 2


def read_description(path: Path) -> Description:
    """Read and check a `robot.yaml`.

    Parameters
    ----------
    path : Path
        File to read.

    Returns
    -------
    Description
        The description.

    Raises
    ------
    RobotError
        If the file is missing, is not YAML, or has a wrong, missing or unknown key.
    """
    try:
        raw: Any = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    except OSError as error:
        raise RobotError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise RobotError(f"{path}, line {line}: not valid YAML: {error.problem}") from error
    if not isinstance(raw, dict):
        raise RobotError(f"{path}: expected a mapping with the keys {', '.join(Description.model_fields)}")
    try:
        return Description.model_validate(raw)
    except ValidationError as error:
        raise RobotError(f"{path}: {_first_problem(error)}") from error


def _first_problem(error: ValidationError) -> str:
    """One line from a pydantic error: the key, what is wrong, and how many more there are."""
    problems = error.errors()
    first = problems[0]
    key = ".".join(str(part) for part in first["loc"])
    text = f"unknown key `{key}`" if first["type"] == "extra_forbidden" else f"`{key}`: {first['msg']}"
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        text += f"; allowed: {', '.join(Description.model_fields)}"
    return text if len(problems) == 1 else f"{text} (and {len(problems) - 1} more)"
