"""Mirroring the left half of a robot description in the xz-plane to get the right half."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from simbench.robot.description import FixedFrame, JointDescription, LinkDescription

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


def mirror_link(link: LinkDescription, prefixes: Mapping[str, str]) -> LinkDescription:
    """Mirror a link: y of the centre of gravity and the products of inertia with y change sign.

    `link`: link of the left side; `prefixes`: name prefixes of the left side and of the right side. Returns
    link of the right side.
    """
    ixx, iyy, izz, ixy, ixz, iyz = link.inertia
    return link.model_copy(
        update={
            "cog": (link.cog[0], -link.cog[1], link.cog[2]),
            "inertia": (ixx, iyy, izz, -ixy, ixz, -iyz),
            "carved_from": link.carved_from and mirror_name(link.carved_from, prefixes),
        }
    )


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


def mirror_joint(joint: JointDescription, prefixes: Mapping[str, str]) -> JointDescription:
    """Mirror a joint: it keeps its axis, so a roll or yaw joint swaps and negates its limits.

    `joint`: joint of the left side; `prefixes`: name prefixes of the left side and of the right side. Returns
    joint of the right side.
    """
    lower, upper = joint.limits
    framed = joint.model_copy(
        update=mirror_frame(joint, prefixes).model_dump(include={"parent", "xyz", "rpy"})
    )
    return framed.model_copy(
        update={
            "child": mirror_name(joint.child, prefixes),
            "limits": (lower, upper) if joint.axis == "y" else (-upper, -lower),
        }
    )
