"""A marker map for any human skeleton, guessed from its joints' names, its tree and its geometry."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from simbench.errors import MotionError
from simbench.motion.marker_maps.map_evaluation import normalise
from simbench.motion.marker_maps.map_schema import MarkerMap
from simbench.motion.marker_maps.skeleton_axes import (
    body_axes,
    facing_agreement,
    find_reference_pose,
    find_segment_recipes,
)
from simbench.motion.marker_maps.skeleton_roles import (
    ARM,
    LEG,
    POOR_GEOMETRY,
    Roles,
    find_named_limb,
    find_triples,
)
from simbench.motion.marker_maps.skeleton_tree import (
    SkeletonGeometry,
    find_animal_parts,
    find_dialect,
    read_names,
)
from simbench.motion.recordings import SkeletonRecording
from simbench.robot.sides import SIDES

# Dialect of a skeleton whose names say nothing, and of one whose names are plain but no known program's.
UNKNOWN, OTHER = "unknown names", "other"
# Joints that a complete skeleton has.
LIMB_JOINTS = ("shoulder", "elbow", "wrist", "hip", "knee", "ankle", "toe")
SIDED = tuple(f"{side}_{joint}" for side in SIDES for joint in LIMB_JOINTS)
COMPLETE = ("pelvis", "chest", "neck", "head", *SIDED)
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


class SkeletonGuess:
    """What a person's skeleton was recognised as by names, tree and geometry, and the map that reads it."""

    def __init__(self, recording: SkeletonRecording) -> None:
        """Recognise the skeleton. `recording`: a recording of any skeleton."""
        if len(recording.names) < 3 or not len(recording.time):
            raise MotionError(
                f"{recording.source}: no human skeleton: {len(recording.names)} joints in "
                f"{len(recording.time)} frames"
            )
        skeleton = SkeletonGeometry(recording)
        roles = Roles(skeleton, read_names(skeleton.names, skeleton.is_end()), recording.source)
        agreement = _settle_sides(roles)
        posture = find_reference_pose(roles, recording.pose_before)
        recipes, notes, doubts, unsure = find_segment_recipes(roles, posture)
        # Name of its naming convention, such as `mixamo`, or `unknown names`.
        self.dialect = find_dialect(skeleton.names)
        if self.dialect == UNKNOWN and len(roles.named) > len(COMPLETE) // 2:
            self.dialect = OTHER
        animal = find_animal_parts(skeleton.names)
        if animal:
            roles.doubts.append(f"the skeleton has parts that no person has: {', '.join(animal[:4])}")
        known = [name for name in COMPLETE if name in roles.joints]
        names = sum(name in roles.named for name in known) / len(COMPLETE)
        geometry = float(np.mean([limb.geometry for limb in roles.limbs.values()]))
        geometry *= 1.0 if posture.kind else NO_POSTURE
        geometry *= FACING_BACKWARD if agreement < BACKWARD else NO_FACING if agreement < -BACKWARD else 1.0
        score = (0.5 * names + 0.5 * geometry) * DOUBTED ** min(len(roles.doubts), MOST_DOUBTS)
        # How sure the guess is, 0 to 1: half for the names, half for the geometry.
        self.score = round(score, 2)
        where = "of the hierarchy" if posture.where == "hierarchy" else f"in {posture.where}"
        # The reference posture and where it was found, in words.
        self.posture = f"{posture.kind} {where}"
        if not posture.kind:
            self.posture = "none, axes from hips, shoulders, toes and elbows"
            roles.doubts.append(
                "neither the rest pose nor a frame is a posture with known directions of the palms: the axes "
                "of the arms follow the elbows"
            )
        named = self.dialect if self.dialect == UNKNOWN else f"{self.dialect} names"
        # The map that reads it; it declares neither unit nor vertical axis.
        self.marker_map = _build_map(roles, recipes, self.dialect)
        # Joint of the file for each joint of a person.
        self.roles = {name: skeleton.names[joint] for name, joint in roles.joints.items()}
        # Joints and segments of a person that were guessed without a name or axis that says so; and joints of
        # a person that were not found.
        self.unsure = tuple(dict.fromkeys([*roles.unsure, *unsure]))
        self.missing = tuple(name for name in COMPLETE if name not in roles.joints)
        # What was found out, as text for the user; and what may well be wrong, one line each.
        self.notes = (
            f"skeleton: {named} ({self.score:.2f}), reference posture: {self.posture}; declare a marker map "
            "(--map) to overrule this guess",
            *notes,
        )
        self.doubts = (*roles.doubts, *doubts)


def guess_legs(recording: SkeletonRecording) -> MarkerMap | None:
    """Guess the marker map of a skeleton whose names say two legs and no arm; None if they do not.

    The pelvis turns with the joint that carries both hips, which is upright while all rotations are zero.
    """
    skeleton = SkeletonGeometry(recording)
    votes, triples = read_names(skeleton.names, skeleton.is_end()), find_triples(skeleton)
    arms, legs = ([find_named_limb(triples, votes, parts, side) for side in SIDES] for parts in (ARM, LEG))
    found = [leg for leg in legs if leg is not None and leg.geometry >= POOR_GEOMETRY]
    if any(arm is not None for arm in arms) or len(found) < len(legs):
        return None
    names = skeleton.names
    hips, _, ankles = np.array([leg.joints for leg in found]).T
    joints = {
        f"{side}_{part}": names[joint]
        for side, leg in zip(SIDES, found, strict=True)
        for part, joint in zip(LEG, leg.joints, strict=True)
    }
    ends = [[k for k in skeleton.subtree(ankle)[1:] if skeleton.is_end()[k]] for ankle in ankles]
    up = normalise(skeleton.rest[hips].mean(axis=0) - skeleton.rest[ankles].mean(axis=0))
    root = names[skeleton.common_ancestor([*hips])]
    axes = {"z": [*map(float, up)], "y": [joints["right_hip"], joints["left_hip"]]}
    return MarkerMap.model_validate(
        {
            "description": "Guessed from the names of a skeleton without arms.",
            "identified_by": [[root, *joints.values()]],
            "joints": {"pelvis": root, **joints},
            "segments": {"pelvis": {"turns_with": root, "axes": axes}},
            "feet": [names[k] for ankle, below in zip(ankles, ends, strict=True) for k in (ankle, *below)],
        }
    )


def _build_map(roles: Roles, recipes: Mapping[str, Any], dialect: str) -> MarkerMap:
    """Write joints and recipes of the segments as a marker map."""
    skeleton, joints, names = roles.skeleton, roles.joints, roles.skeleton.names
    # A joint of the file with the name of another joint of the person is called differently in the map.
    taken = {name for name, joint in joints.items() if names[joint] != name}
    recorded = [f"{FILE}{name}" if name in taken else name for name in names]
    points: dict[str, Any] = {}
    facing = []
    feet: list[int] = []
    for side in SIDES:
        ankle, toe, heel = (joints.get(f"{side}_{part}") for part in ("ankle", "toe", "heel"))
        if toe is not None and ankle is not None:
            facing.append([recorded[ankle], recorded[toe]])
        elif roles.has(f"{side}_hip"):
            points[f"{side}_leg_middle"] = {"mean": [f"{side}_hip", f"{side}_ankle"]}
            facing.append([f"{side}_leg_middle", f"{side}_knee"])
        if ankle is not None:
            # The ends below an ankle touch the floor.
            ends = [k for k in skeleton.subtree(ankle) if not skeleton.children[k]][:MOST_FOOT_POINTS]
            feet += dict.fromkeys([*(k for k in (ankle, toe, heel) if k is not None), *ends])
    return MarkerMap.model_validate(
        {
            "description": f"Guessed from the names and the geometry of a skeleton: {dialect}.",
            "identified_by": [[names[joint] for joint in dict.fromkeys(joints.values())]],
            "aliases": {f"{FILE}{name}": [name] for name in names if name in taken},
            "points": points,
            "joints": {part: recorded[joint] for part, joint in joints.items()},
            "segments": recipes,
            "feet": [recorded[joint] for joint in feet],
            "facing": facing,
        }
    )


def _settle_sides(roles: Roles) -> float:
    """Find left and right where no name says them, or check them; return how the feet agree."""
    positions = roles.skeleton.positions
    tracks = {joint: positions[:, k] for joint, k in roles.joints.items()}
    agreement, evidence = facing_agreement(tracks, body_axes(positions, roles)[0][:, :, 0])
    if roles.sided:
        if agreement < BACKWARD:
            roles.doubts.append(
                f"the {evidence} point backward: left and right are swapped, or the axes are mirrored"
            )
        return agreement
    if agreement < 0.0:
        opposite = dict(zip(SIDES, SIDES[::-1], strict=True))
        sided = {name: joint for name, joint in roles.joints.items() if name.startswith(SIDES)}
        for name, joint in sided.items():
            side, _, part = name.partition("_")
            roles.joints[f"{opposite[side]}_{part}"] = joint
        roles.limbs = {(opposite[side], kind): limb for (side, kind), limb in roles.limbs.items()}
    roles.doubts.append(
        f"left and right: by the {evidence}, for no name says them"
        if evidence
        else "left and right: assumed, for neither names nor toes, knees or elbows say them"
    )
    return abs(agreement)
