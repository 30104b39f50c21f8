"""Mirroring the left half of a robot description in the xz-plane to get the right half."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from simbench.robot.description import FixedFrame, Joint, Link

T = TypeVar("T")


def mirrored_name(name: str, prefixes: Mapping[str, str]) -> str:
    """Right-side name of a left-side one; a name that carries no prefix stays as it is."""
    for left, right in prefixes.items():
        tail = name[len(left) :]
        if name.startswith(left) and (left.endswith("_") or tail[:1].isupper()):
            return right + tail
    return name


def both_sides(
    section: Mapping[str, T], prefixes: Mapping[str, str], mirror: Callable[[T], T] = lambda entry: entry
) -> dict[str, T]:
    """Entries of both sides: those given, and the mirror image of each left one whose right one is not."""
    mirrored = {mirrored_name(name, prefixes): mirror(entry) for name, entry in section.items()}
    return {**section, **{name: entry for name, entry in mirrored.items() if name not in section}}


def mirrored_link(link: Link, prefixes: Mapping[str, str]) -> Link:
    """Mirror image of a link: y of the centre of gravity and the products of inertia with y change sign."""
    ixx, iyy, izz, ixy, ixz, iyz = link.inertia
    return link.model_copy(
        update={
            "cog": (link.cog[0], -link.cog[1], link.cog[2]),
            "inertia": (ixx, iyy, izz, -ixy, ixz, -iyz),
            "carved_from": link.carved_from and mirrored_name(link.carved_from, prefixes),
        }
    )


def mirrored_frame(frame: FixedFrame, prefixes: Mapping[str, str]) -> FixedFrame:
    """Mirror image of a frame: y, roll and yaw change sign."""
    return frame.model_copy(
        update={
            "parent": mirrored_name(frame.parent, prefixes),
            "xyz": (frame.xyz[0], -frame.xyz[1], frame.xyz[2]),
            "rpy": (-frame.rpy[0], frame.rpy[1], -frame.rpy[2]),
        }
    )


def mirrored_joint(joint: Joint, prefixes: Mapping[str, str]) -> Joint:
    """Mirror image of a joint: it keeps its axis, so a roll or yaw joint swaps and negates its limits."""
    lower, upper = joint.limits
    framed = joint.model_copy(
        update=mirrored_frame(joint, prefixes).model_dump(include={"parent", "xyz", "rpy"})
    )
    return framed.model_copy(
        update={
            "child": mirrored_name(joint.child, prefixes),
            "limits": (lower, upper) if joint.axis == "y" else (-upper, -lower),
        }
    )
