"""The schema of `robot.yaml`: what a robot description holds, read and checked."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import Field, ValidationError

from simbench.errors import RobotError
from simbench.robot.shapes import Pair, Positive, Shell, Solid, Strict, Triple

NonNegative = Annotated[float, Field(ge=0)]


class Link(Strict):
    """Mass (kg), centre of gravity (m) and inertia about it (ixx, iyy, izz, ixy, ixz, iyz; kg·m²) of a link.

    `carved_from` names a link whose published numbers include this one: they are reduced so that both
    together, at zero joint position, keep the published mass, centre of gravity and inertia.
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


class Joint(FixedFrame):
    """A revolute joint: limits in rad, velocity in rad/s, effort in N·m."""

    child: str
    axis: Literal["x", "y", "z"]
    limits: Pair
    velocity: Positive
    effort: Positive


class Sole(Strict):
    """The sole's rectangle in the foot frame, m."""

    x: Pair
    y: Pair


class Hand(Strict):
    """The links of a hand and the joint that closes it."""

    joint: str
    palm: str
    fingers: str


class Description(Strict):
    """A whole `robot.yaml`.

    The sections from `root` on serve to build the URDF; a robot whose URDF comes from elsewhere omits them.
    """

    name: str
    urdf: str
    mirror: Mapping[str, str] = {}
    groups: Mapping[str, tuple[str, ...]]
    frames: Mapping[str, str]
    soles: Mapping[str, Sole] = {}
    hands: Mapping[str, Hand] = {}
    postures: Mapping[str, Mapping[str, float]]
    motors: Mapping[str, tuple[NonNegative, NonNegative]]
    gains: Mapping[str, tuple[NonNegative, NonNegative]]
    self_collision: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = ()
    root: str | None = None
    links: Mapping[str, Link] = {}
    joints: Mapping[str, Joint] = {}
    fixed_frames: Mapping[str, FixedFrame] = {}
    colors: Mapping[str, Triple] = {}
    visual: Mapping[str, tuple[Shell, ...]] = {}
    collision: Mapping[str, tuple[Solid, ...]] = {}


def read_description(path: Path) -> Description:
    """Read and check a `robot.yaml`.

    Parameters
    ----------
    path : Path

    Returns
    -------
    Description

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
