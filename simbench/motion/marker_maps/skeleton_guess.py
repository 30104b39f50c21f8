"""A marker map for any human skeleton, guessed from its joints' names, its tree and its geometry."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.skeleton_axes import (
    ReferencePosture,
    SegmentAxes,
    facing_agreement,
    find_reference_pose,
    find_segment_axes,
)
from simbench.motion.marker_maps.skeleton_roles import Roles, assign_roles
from simbench.motion.marker_maps.skeleton_tree import (
    SkeletonGeometry,
    find_animal_parts,
    find_dialect,
    read_names,
    sample_geometry,
)
from simbench.motion.recordings import SkeletonRecording
from simbench.robot.sides import SIDES

# Constants of a map are rounded to this many decimals, a millionth of a radian, so that they can be read.
DECIMALS = 6
# Dialect of a skeleton whose names say nothing, and of one whose names are plain but no known program's.
UNKNOWN, OTHER = "unknown names", "other"
# Joints that a complete skeleton has.
COMPLETE = (
    "pelvis",
    "chest",
    "neck",
    "head",
    *(
        f"{side}_{joint}"
        for side in SIDES
        for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")
    ),
)
# Below this cosine, toes or knees contradict the sides that the names say.
BACKWARD = -0.2
# The score of what is not a reference posture, of a body whose facing nothing tells, and of one that faces
# backward, as factors.
NO_POSTURE, NO_FACING, FACING_BACKWARD = 0.8, 0.85, 0.3
# Factor of the score for each doubt, and so many count.
DOUBTED, MOST_DOUBTS = 0.93, 4
# Put before the name of a joint of the file in a map in which that name means another joint of the person.
FILE = "file: "
# So many points below an ankle touch the floor.
MOST_FOOT_POINTS = 6


@dataclass(frozen=True)
class SkeletonGuess:
    """What a skeleton was recognised as."""

    marker_map: MarkerMap  # The map that reads it; it declares neither unit nor vertical axis.
    dialect: str  # Name of its naming convention, such as `mixamo`, or `unknown names`.
    score: float  # How sure the guess is, 0 to 1: half for the names, half for the geometry.
    roles: Mapping[str, str]  # Joint of the file for each joint of a person.
    posture: str  # The reference posture and where it was found, in words.
    # Joints and segments of a person that were guessed without a name or axis that says so.
    unsure: tuple[str, ...]
    missing: tuple[str, ...]  # Joints of a person that were not found.
    notes: tuple[str, ...]  # What was found out, as text for the user.
    doubts: tuple[str, ...]  # What may well be wrong, one line each.


def recognise_skeleton(recording: SkeletonRecording) -> SkeletonGuess:
    """Recognise the skeleton of a person by names, tree and geometry, and make the marker map that reads it.

    `recording`: A recording of any skeleton. Returns the map, how sure it is and why.
    """
    if len(recording.names) < 3 or not len(recording.time):
        raise MotionError(
            f"{recording.source}: no human skeleton: {len(recording.names)} joints in "
            f"{len(recording.time)} frames"
        )
    skeleton = sample_geometry(recording)
    votes = read_names(skeleton.names, skeleton.is_end())
    roles = assign_roles(skeleton, votes, recording.source)
    agreement = _settle_sides(roles, skeleton)
    posture = find_reference_pose(skeleton, roles, recording.pose_before)
    axes = find_segment_axes(skeleton, roles, votes, posture)
    dialect = find_dialect(skeleton.names)
    if dialect == UNKNOWN and len(roles.named) > len(COMPLETE) // 2:
        dialect = OTHER
    animal = find_animal_parts(skeleton.names)
    if animal:
        roles.doubts.append(f"the skeleton has parts that no person has: {', '.join(animal[:4])}")
    score = _score(roles, posture, agreement)
    where = "of the hierarchy" if posture.where == "hierarchy" else f"in {posture.where}"
    words = f"{posture.kind} {where}" if posture.kind else "none, axes from hips, shoulders, toes and elbows"
    if not posture.kind:
        roles.doubts.append(
            "neither the rest pose nor a frame is a posture with known directions of the palms: the axes of "
            "the arms follow the elbows"
        )
    named = dialect if dialect == UNKNOWN else f"{dialect} names"
    return SkeletonGuess(
        marker_map=_build_map(skeleton, roles, axes, dialect),
        dialect=dialect,
        score=score,
        roles={name: skeleton.names[joint] for name, joint in roles.joints.items()},
        posture=words,
        unsure=tuple(dict.fromkeys([*roles.unsure, *axes.unsure])),
        missing=tuple(name for name in COMPLETE if name not in roles.joints),
        notes=(
            f"skeleton: {named} ({score:.2f}), reference posture: {words}; declare a marker map (--map) to "
            "overrule this guess",
            *axes.notes,
        ),
        doubts=(*roles.doubts, *axes.doubts),
    )


def _settle_sides(roles: Roles, skeleton: SkeletonGeometry) -> float:
    """Find left and right where no name says them, or check them; return how the feet agree."""
    agreement, evidence = facing_agreement(skeleton, roles)
    if not roles.sided:
        if agreement < 0.0:
            _swap_sides(roles)
        roles.doubts.append(
            f"left and right: by the {evidence}, for no name says them"
            if evidence
            else "left and right: assumed, for neither names nor toes, knees or elbows say them"
        )
        return abs(agreement)
    if agreement < BACKWARD:
        roles.doubts.append(
            f"the {evidence} point backward: left and right are swapped, or the axes are mirrored"
        )
    return agreement


def _swap_sides(roles: Roles) -> None:
    """Exchange left and right."""

    def other(name: str) -> str:
        side, rest = name.split("_", 1)
        return f"{'right' if side == 'left' else 'left'}_{rest}"

    sided = {name: joint for name, joint in roles.joints.items() if name.startswith(SIDES)}
    roles.joints.update({other(name): joint for name, joint in sided.items()})
    roles.limbs = {
        ("right" if side == "left" else "left", kind): limb for (side, kind), limb in roles.limbs.items()
    }


def _score(roles: Roles, posture: ReferencePosture, agreement: float) -> float:
    """Score the guess, from 0 to 1."""
    known = [name for name in COMPLETE if name in roles.joints]
    names = sum(name in roles.named for name in known) / len(COMPLETE)
    geometry = float(np.mean([limb.geometry for limb in roles.limbs.values()]))
    geometry *= 1.0 if posture.kind else NO_POSTURE
    geometry *= FACING_BACKWARD if agreement < BACKWARD else NO_FACING if agreement < -BACKWARD else 1.0
    return round((0.5 * names + 0.5 * geometry) * DOUBTED ** min(len(roles.doubts), MOST_DOUBTS), 2)


def _build_map(skeleton: SkeletonGeometry, roles: Roles, axes: SegmentAxes, dialect: str) -> MarkerMap:
    """Write roles and axes as a marker map."""
    points: dict[str, Any] = {}
    facing = []
    recorded = dict(enumerate(skeleton.names))
    # A joint of the file with the name of another joint of the person is called differently in the map.
    taken = {name for name, joint in roles.joints.items() if skeleton.names[joint] != name}
    aliases = {f"{FILE}{name}": [name] for name in skeleton.names if name in taken}
    recorded |= {k: f"{FILE}{name}" for k, name in recorded.items() if name in taken}
    for side in SIDES:
        if roles.has(f"{side}_toe", f"{side}_ankle"):
            facing.append([recorded[roles.joints[f"{side}_{part}"]] for part in ("ankle", "toe")])
        elif roles.has(f"{side}_hip"):
            points[f"{side}_leg_middle"] = {"mean": [f"{side}_hip", f"{side}_ankle"]}
            facing.append([f"{side}_leg_middle", f"{side}_knee"])
    return MarkerMap.model_validate(
        {
            "description": f"Guessed from the names and the geometry of a skeleton: {dialect}.",
            "identified_by": [[skeleton.names[joint] for joint in dict.fromkeys(roles.joints.values())]],
            "aliases": aliases,
            "points": points,
            "joints": {part: recorded[joint] for part, joint in roles.joints.items()},
            "segments": _segments(skeleton, roles, axes),
            "feet": [recorded[joint] for joint in _feet(skeleton, roles)],
            "facing": facing,
        }
    )


def _segments(skeleton: SkeletonGeometry, roles: Roles, axes: SegmentAxes) -> dict[str, Any]:
    """Recipes of the segments' frames."""
    segments: dict[str, Any] = {}
    for body, columns in (("trunk", axes.trunk), ("pelvis", axes.pelvis)):
        if columns is not None:
            segments[body] = {
                "turns_with": skeleton.names[axes.turns_with[body]],
                "axes": {"z": _constant(columns[:, 2]), "x": _constant(columns[:, 0])},
            }
    for side in SIDES:
        for part, ends in (
            ("upper_arm", ("shoulder", "elbow")),
            ("forearm", ("elbow", "wrist")),
            ("hand", ("elbow", "wrist")),
        ):
            segment = f"{side}_{part}"
            if segment in axes.thumb:
                segments[segment] = {
                    "turns_with": skeleton.names[axes.turns_with[segment]],
                    "along": _constant(axes.along[segment]),
                    "thumb": _constant(axes.thumb[segment]),
                }
            elif roles.has(f"{side}_shoulder"):
                segments[segment] = {
                    "along": [f"{side}_{end}" for end in ends],
                    "bends_at": [f"{side}_{end}" for end in ("shoulder", "elbow", "wrist")],
                    "note": f"{segment.replace('_', ' ')}: its axial rotation is not known, taken from "
                    "the plane of the elbow",
                }
    return segments


def _feet(skeleton: SkeletonGeometry, roles: Roles) -> list[int]:
    """List the joints of the feet that touch the floor."""
    feet: list[int] = []
    for side in SIDES:
        if f"{side}_ankle" in roles.joints:
            below = skeleton.subtree(roles.joints[f"{side}_ankle"])
            ends = [k for k in below if not skeleton.children[k]][:MOST_FOOT_POINTS]
            chosen = [below[0], *(roles.joints[n] for n in (f"{side}_toe", f"{side}_heel") if roles.has(n))]
            feet += dict.fromkeys([*chosen, *ends])
    return feet


def _constant(vector: Array) -> list[float]:
    """Write a direction as constants of a map."""
    return [round(float(value), DECIMALS) + 0.0 for value in vector]
