"""Targets: what a recording asks of a robot's body: directions of lines, heights and contacts over time."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import HumanMotion
from simbench.motion.person_body import (
    find_person_contacts,
    foot_points,
    has_only_ankles,
    standing_heights,
    with_heels,
)
from simbench.retargeting.match.body import BONES, MatchedBody, zero_points
from simbench.robot.sides import SIDES

LINE_WEIGHTS = {
    "upper arm": 1.0,
    "forearm": 1.0,
    "thigh": 1.0,
    "shank": 1.0,
    "trunk": 2.0,
    "shoulders": 0.3,
    "hips": 0.3,
    "pelvis": 0.02,
    "head": 0.1,
    "hand": 0.03,
    "foot": 0.1,
}
"""Weights of squared errors of direction, 1/rad². Bones make the posture; girdles, hands and head turn it."""


@dataclass(frozen=True)
class BodyTargets:
    """Targets of a matched body over T samples."""

    time: Array  # (T,): times, s.
    parts: tuple[str, ...]  # Part of the body of each line: keys of `LINE_WEIGHTS`.
    lines: Array  # (B, P): line b runs along Σ_p `lines[b, p]` · (position of point p).
    weights: Array  # (B,): weights of the lines' squared errors, 1/rad².
    directions: Array  # (T, B, 3): unit vectors in the world frame that the lines are to have.
    # (P,): the root is at Σ_p `root_point[p]` · (position of point p): the middle between the hips.
    root_point: Array
    root: Array  # (T, 3): position of the root in the world frame, m.
    root_weight: Array  # (3,): weights of its squared error, 1/m².
    clearance: Array  # (T, F, 2): height over the floor of heel and toe of F feet, m.
    contact: NDArray[np.bool_]  # (T, F, 2) bool: whether heel and toe stand on the floor.
    scale: float  # Length of the robot's legs by the person's.
    notes: tuple[str, ...]  # What was assumed, one line each.


ROOT_WEIGHT = np.array([8.0, 8.0, 2.0])
"""Weights of the squared error of the root's position, 1/m²: where feet stand, they and the bones say where
the root is."""
UPPER_BODY = ("upper arm", "forearm", "trunk", "shoulders", "head", "hand")
"""Parts of the body that a robot imitates whose root and legs do something else."""


PersonMeasures: TypeAlias = tuple[Mapping[str, float], Mapping[str, float], float, float]
"""What the size of person and robot decides: heights of the joints of the feet over the floor while a foot
stands, m, of those that are recorded and of those with heels that were added; length of the robot's legs by
the person's; height of the robot's ankles over its soles, m."""


def select_parts(targets: BodyTargets, parts: tuple[str, ...]) -> BodyTargets:
    """Keep the targets of some parts of the body; the root and the feet have none."""
    kept = np.array([part in parts for part in targets.parts])
    feet = np.zeros((len(targets.time), 0, 2))
    return replace(
        targets,
        parts=tuple(part for part in targets.parts if part in parts),
        lines=targets.lines[kept],
        weights=targets.weights[kept],
        directions=targets.directions[:, kept],
        root_weight=np.zeros(3),
        clearance=feet,
        contact=feet.astype(bool),
    )


def targets_at(targets: BodyTargets, samples: NDArray[np.int64]) -> BodyTargets:
    """Keep some samples (K,) of the targets."""
    parts = ("time", "directions", "root", "clearance", "contact")
    return replace(targets, **{part: getattr(targets, part)[samples] for part in parts})


def measure_person(body: MatchedBody, motion: HumanMotion) -> PersonMeasures:
    """Measure what a recording says of the person: heights of standing feet, and the scale of the robot."""
    place, lengths, person, ankle = zero_points(body), [], [], 0.0
    for side in SIDES:
        for start, end in (("hip", "knee"), ("knee", "ankle")):
            a, b = f"{side}_{start}", f"{side}_{end}"
            if a in place and b in place:
                lengths.append(float(np.linalg.norm(place[b] - place[a])))
            if a in motion.joints and b in motion.joints:
                person.append(float(np.median(np.linalg.norm(motion.joints[b] - motion.joints[a], axis=1))))
    if "left_ankle" in place and "left_sole_0" in place:
        ankle = float(place["left_ankle"][2] - place["left_sole_0"][2])
    scale = float(np.mean(lengths) / np.mean(person)) if lengths and person else 1.0
    return standing_heights(motion), standing_heights(with_heels(motion)), scale, ankle


def find_targets(
    body: MatchedBody, motion: HumanMotion, measures: PersonMeasures | None = None
) -> BodyTargets:
    """Turn a recording into targets of a robot's body.

    Directions are the person's. The root's way and the feet's heights are the person's, scaled by the length
    of the legs, over the height of ankles and soles. `motion`: recording with T samples; `measures`: from
    another recording of the same person, for one that is too short to tell. Returns targets at the
    recording's samples.
    """
    heights, heel_heights, scale, ankle = measures or measure_person(body, motion)
    person = with_heels(motion, heights)
    joints, count = person.joints, len(motion.time)
    hips = [f"{side}_hip" for side in SIDES]
    feet = [side for side in SIDES if f"{side}_sole_0" in body.names]
    flags, notes = find_person_contacts(person, heel_heights), []
    lines = _find_lines(body, motion)
    clearance, contact = np.zeros((count, len(feet), 2)), np.ones((count, len(feet), 2), dtype=bool)
    root, root_weight = np.zeros((count, 3)), np.zeros(3)
    if flags and all(f"{side}_{name}" in joints for side in SIDES for name in ("hip", "knee", "ankle")):
        for foot, side in enumerate(feet):
            names, whole = foot_points(person, side), f"{side}_heel" in joints and f"{side}_toe" in joints
            parts = ("heel", "toe") if whole else ("ankle", "ankle")
            # A heel that was added stands at 0.
            above = [joints[f"{side}_{part}"][:, 2] - heights.get(f"{side}_{part}", 0.0) for part in parts]
            for k, part in enumerate(parts):
                clearance[:, foot, k] = scale * np.maximum(above[k], 0.0)
                contact[:, foot, k] = flags[side][:, names.index(f"{side}_{part}")]
            if whole:
                along = joints[f"{side}_toe"] - joints[f"{side}_heel"]
                along[:, 2] = above[1] - above[0]
                soles = {f"{side}_sole_{k}": 0.5 if k in (1, 2) else -0.5 for k in range(4)}
                lines.append(("foot", soles, along))
        middle = 0.5 * (joints["left_hip"] + joints["right_hip"])
        below = min(heights[f"{side}_ankle"] for side in SIDES)
        root = scale * (middle - [0.0, 0.0, below]) + [0.0, 0.0, ankle]
        root_weight = ROOT_WEIGHT
        notes.append(
            f"the way of the root and the heights of the feet are {scale:.3f} times the person's, "
            "as the length of the legs is"
        )
        if has_only_ankles(motion):
            notes.append("only ankles are recorded of the feet: each sole stands whole or not at all")
    else:
        notes.append("legs are not recorded: both feet stand where they are")
    lines = [line for line in lines if all(name in body.names for name in line[1])]
    if not lines:
        raise RetargetError(f"{motion.source}: no bone is recorded that {body.robot.name} has too")
    vectors = np.stack([vector for _, _, vector in lines], axis=1)
    roots = [name for name in hips if name in body.names] or ["pelvis_base"]
    return BodyTargets(
        motion.time - motion.time[0],
        tuple(part for part, _, _ in lines),
        np.array([[points.get(name, 0.0) for name in body.names] for _, points, _ in lines]),
        np.array([LINE_WEIGHTS[part] for part, _, _ in lines]),
        vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9),
        np.array([(name in roots) / len(roots) for name in body.names]),
        root,
        root_weight,
        clearance,
        contact,
        scale,
        tuple(notes),
    )


def _find_lines(body: MatchedBody, motion: HumanMotion) -> list[tuple[str, dict[str, float], Array]]:
    """List the lines of the body but the feet: part, the robot's points with factors, vectors (T, 3)."""
    joints, lines = motion.joints, []
    hips, shoulders = ([f"{side}_{name}" for side in SIDES] for name in ("hip", "shoulder"))
    for bone, (start, end) in BONES.items():
        for side in SIDES:
            a, b = f"{side}_{start}", f"{side}_{end}"
            if a in joints and b in joints:
                lines.append((bone, {b: 1.0, a: -1.0}, joints[b] - joints[a]))
    trunk = {**dict.fromkeys(shoulders, 0.5), **dict.fromkeys(hips, -0.5)}
    if all(name in joints for name in trunk):
        along = sum((sign * joints[name] for name, sign in trunk.items()), np.zeros(3))
        lines.append(("trunk", trunk, along))
    elif "trunk" in motion.segments and "trunk" in motion.initial.segments:
        lines.append(("trunk", trunk, _carried(motion, "trunk", 2)))
    for part, (left, right) in (("shoulders", shoulders), ("hips", hips)):
        if left in joints and right in joints:
            lines.append((part, {left: 1.0, right: -1.0}, joints[left] - joints[right]))
    if "pelvis" in motion.segments and "pelvis" in motion.initial.segments:
        lines.append(("pelvis", {"pelvis_up": 1.0, "pelvis_base": -1.0}, _carried(motion, "pelvis", 2)))
        if not all(name in joints for name in hips):
            lines.append(("hips", {"pelvis_left": 1.0, "pelvis_base": -1.0}, _carried(motion, "pelvis", 1)))
    recorded = "neck" in joints and "head" in joints and "head" in motion.initial.joints
    if recorded and body.robot.groups.get("head"):
        # The head carries along the line that the person's neck and head have in the initial posture.
        x, _, z = motion.initial.joints["head"] - motion.initial.joints["neck"]
        ends = {"head_front": x, "head_top": z, "head_base": -x - z}
        lines.append(("head", ends, joints["head"] - joints["neck"]))
    for side in SIDES:
        hand = f"{side}_hand"
        if hand in motion.segments and hand in motion.initial.segments and hand not in motion.missing:
            for point, axis in (("fingers", 0), ("back", 2)):
                ends = {f"{side}_{point}": 1.0, f"{side}_palm": -1.0}
                lines.append(("hand", ends, _carried(motion, hand, axis)))
    return lines


def _carried(motion: HumanMotion, segment: str, axis: int) -> Array:
    """Direction (T, 3) of a world axis of the initial posture that a segment carries along."""
    initial = motion.initial.segments[segment][:3, :3].T[:, axis]
    return np.asarray(motion.segments[segment][:, :3, :3] @ initial)
