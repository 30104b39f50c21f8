"""Refusal of keys of a robot.yaml that would have no effect, so that a misplaced one is noticed."""

from collections.abc import Iterable, Iterator

from simbench.errors import RobotError
from simbench.robot.description import Description
from simbench.robot.mirror import mirror_name

LIMBS = ("arm", "leg", "grip")
SINGLE_GROUPS = ("trunk", "head")
SINGLE_ROLES = ("pelvis", "trunk", "head")
SIDED_ROLES = ("shoulder", "elbow", "wrist", "hand", "thigh", "foot")
_BUILDING = ("links", "joints", "colors", "visual", "collision")
"""Keys from which only a URDF is built."""


def require_used_keys(description: Description, where: str) -> None:
    """Refuse keys that no part of simbench would read.

    `description`: description of a robot; `where`: its file, for messages.
    """
    problem = next(_find_unused(description), None)
    if problem is not None:
        raise RobotError(f"{where}: {problem}")


def _find_unused(description: Description) -> Iterator[str]:
    """Yield what is given but not used, one line each."""
    given = f"the URDF {description.urdf} is given"
    for key in _BUILDING:
        if description.root is None and getattr(description, key):
            yield f"{key}: not used: it builds a URDF, which needs `root` too; {given}"
    if description.root is not None and not description.links:
        yield f"root: not used: it builds a URDF, which needs `links` too; {given}"
    if description.root is not None and description.fixed_joints:
        yield "fixed_joints: not used: it fixes joints of a URDF from elsewhere, and this one is built here"
    if description.base == "floating" and description.base_height_m is not None:
        yield "base_height_m: not used: it holds for a fixed base, and this robot's is floating"
    if description.gains != "auto" and "bandwidth" in description.model_fields_set:
        yield "bandwidth: not used: it holds for `gains: auto`, and gains are given joint by joint"
    sided = [f"{side}_{part}" for part in LIMBS for side in ("left", "right")]
    yield from _find_unknown("groups", description.groups, [*SINGLE_GROUPS, *sided])
    sided = [f"{side}_{part}" for part in SIDED_ROLES for side in ("left", "right")]
    yield from _find_unknown("frames", description.frames, [*SINGLE_ROLES, *sided])
    yield from _find_unknown("soles", description.soles, ["left_foot", "right_foot"])
    yield from _find_unknown("hands", description.hands, ["left_hand", "right_hand"])
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
            yield f"mirror.{left}: not used: no name of a link, joint, frame, motor or gain begins with it"


def _find_unknown(key: str, given: Iterable[str], allowed: list[str]) -> Iterator[str]:
    """Yield the entries of a section that nothing reads."""
    for name in given:
        if name not in allowed:
            yield f"{key}.{name}: not used; allowed: {', '.join(allowed)}"
