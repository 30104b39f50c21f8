"""Targets: what a recording asks of a robot's body, as directions of lines, heights and contacts in every sample."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from simbench.errors import RetargetError
from simbench.kinematics.arrays import Array
from simbench.motion.foot_motion import (
    find_person_contacts,
    foot_points,
    has_only_ankles,
    standing_heights,
    with_heels,
)
from simbench.motion.human_motion import HumanMotion
from simbench.retargeting.match.body import BONES, MatchedBody
from simbench.retargeting.match.points import zero_points
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
    """Targets of a matched body over T samples.

    Parameters
    ----------
    time : (T,) array
        Times, s.
    parts : tuple of str, length B
        Part of the body of each line: keys of `LINE_WEIGHTS`.
    lines : (B, P) array
        Line b runs along Σ_p `lines[b, p]` · (position of point p).
    weights : (B,) array
        Weights of the lines' squared errors, 1/rad².
    directions : (T, B, 3) array
        Unit vectors in the world frame that the lines are to have.
    root_point : (P,) array
        The root is at Σ_p `root_point[p]` · (position of point p): the middle between the hips.
    root : (T, 3) array
        Position of the root in the world frame, m.
    root_weight : (3,) array
        Weights of its squared error, 1/m².
    clearance : (T, F, 2) array
        Height over the floor of heel and toe of F feet, m.
    contact : (T, F, 2) bool array
        Whether heel and toe stand on the floor.
    scale : float
        Length of the robot's legs by the person's.
    notes : tuple of str
        What was assumed, one line each.
    """

    time: Array
    parts: tuple[str, ...]
    lines: Array
    weights: Array
    directions: Array
    root_point: Array
    root: Array
    root_weight: Array
    clearance: Array
    contact: NDArray[np.bool_]
    scale: float
    notes: tuple[str, ...]


UPPER_BODY = ("upper arm", "forearm", "trunk", "shoulders", "head", "hand")
"""Parts of the body that a robot imitates whose root and legs do something else."""


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


def find_targets(body: MatchedBody, motion: HumanMotion) -> BodyTargets:
    """Turn a recording into targets of a robot's body.

    Directions are the person's. The root's way and the feet's heights are the person's, scaled by the length of
    the legs, over the height of ankles and soles.

    Parameters
    ----------
    body : MatchedBody
        The robot.
    motion : HumanMotion
        Recording with T samples.

    Returns
    -------
    BodyTargets
        Targets at the recording's samples.
    """
    joints, count = with_heels(motion).joints, len(motion.time)
    parts: list[str] = []
    rows: list[Array] = []
    directions: list[Array] = []

    def add(part: str, ends: tuple[str, ...], starts: tuple[str, ...], vectors: Array) -> None:
        """Add a line from the mean of some points to the mean of others, if the robot has them all."""
        if all(name in body.names for name in (*ends, *starts)):
            row = np.zeros(len(body.names))
            for names, sign in ((ends, 1.0), (starts, -1.0)):
                for name in names:
                    row[body.index(name)] += sign / len(names)
            parts.append(part)
            rows.append(row)
            directions.append(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9))

    def recorded(*names: str) -> bool:
        return all(name in joints for name in names)

    for bone, (start, end) in BONES.items():
        for side in SIDES:
            a, b = f"{side}_{start}", f"{side}_{end}"
            if recorded(a, b):
                add(bone, (b,), (a,), joints[b] - joints[a])
    hips, shoulders = (tuple(f"{side}_{name}" for side in SIDES) for name in ("hip", "shoulder"))
    if recorded(*hips, *shoulders):
        up = [joints[f"left_{n}"] + joints[f"right_{n}"] for n in ("shoulder", "hip")]
        add("trunk", shoulders, hips, up[0] - up[1])
    elif "trunk" in motion.segments:
        add("trunk", shoulders, hips, _carried(motion, "trunk", np.array([0.0, 0.0, 1.0])))
    for part, pair in (("shoulders", shoulders), ("hips", hips)):
        if recorded(*pair):
            add(part, (pair[0],), (pair[1],), joints[pair[0]] - joints[pair[1]])
    if "pelvis" in motion.segments and "pelvis" in motion.initial.segments:
        add("pelvis", ("pelvis_up",), ("pelvis_base",), _carried(motion, "pelvis", np.array([0.0, 0.0, 1.0])))
        if not recorded(*hips):
            add(
                "hips",
                ("pelvis_left",),
                ("pelvis_base",),
                _carried(motion, "pelvis", np.array([0.0, 1.0, 0.0])),
            )
    if body.robot.groups.get("head") and recorded("neck", "head") and "head" in motion.initial.joints:
        # The head carries along the line that the person's neck and head have in the initial posture.
        upright = motion.initial.joints["head"] - motion.initial.joints["neck"]
        turn = _turn_between(upright, np.array([0.0, 0.0, 1.0]))
        add("head", ("head_top",), ("head_base",), (joints["head"] - joints["neck"]) @ turn.T)
    for side in SIDES:
        hand = f"{side}_hand"
        if hand in motion.segments and hand in motion.initial.segments and hand not in motion.missing:
            for point, axis in (("fingers", 0), ("back", 2)):
                add("hand", (f"{side}_{point}",), (f"{side}_palm",), _carried(motion, hand, np.eye(3)[axis]))
    heights = standing_heights(motion)
    flags = find_person_contacts(with_heels(motion))
    feet = [side for side in SIDES if f"{side}_sole_0" in body.names]
    clearance = np.zeros((count, len(feet), 2))
    contact = np.ones((count, len(feet), 2), dtype=bool)
    scale, ankle = _leg_scale(body, motion)
    notes: list[str] = []
    legs = bool(flags) and recorded(*hips, "left_knee", "right_knee", "left_ankle", "right_ankle")
    for foot, side in enumerate(feet if legs else ()):
        names = foot_points(with_heels(motion), side)
        points = ("heel", "toe") if recorded(f"{side}_heel", f"{side}_toe") else ("ankle", "ankle")
        above = []
        for k, point in enumerate(points):
            name = f"{side}_{point}"
            rise = joints[name][:, 2] - _stand_height(heights, motion, side, point)
            above.append(rise)
            clearance[:, foot, k] = scale * np.maximum(rise, 0.0)
            contact[:, foot, k] = flags[side][:, names.index(name)]
        if points[0] == "heel":
            along = joints[f"{side}_toe"] - joints[f"{side}_heel"]
            along[:, 2] = above[1] - above[0]
            add("foot", (f"{side}_sole_1", f"{side}_sole_2"), (f"{side}_sole_0", f"{side}_sole_3"), along)
    if has_only_ankles(motion):
        notes.append("only ankles are recorded of the feet: each sole stands whole or not at all")
    if legs:
        root = 0.5 * (joints["left_hip"] + joints["right_hip"])
        below = min(heights[f"{side}_ankle"] for side in SIDES)
        root = scale * (root - np.array([0.0, 0.0, below])) + np.array([0.0, 0.0, ankle])
        root_weight = np.array([8.0, 8.0, 2.0])
    else:
        notes.append("legs are not recorded: both feet stand where they are")
        root, root_weight = np.zeros((count, 3)), np.zeros(3)
    root_point = np.zeros(len(body.names))
    middle = [name for name in hips if name in body.names] or ["pelvis_base"]
    root_point[[body.index(name) for name in middle]] = 1.0 / len(middle)
    if not parts:
        raise RetargetError(f"{motion.source}: no bone is recorded that {body.robot.name} has too")
    return BodyTargets(
        motion.time - motion.time[0],
        tuple(parts),
        np.array(rows),
        np.array([LINE_WEIGHTS[part] for part in parts]),
        np.stack(directions, axis=1),
        root_point,
        root,
        root_weight,
        clearance,
        contact,
        scale,
        tuple(notes),
    )


def _carried(motion: HumanMotion, segment: str, axis: Array) -> Array:
    """Direction (T, 3) of an axis that a segment carries along, given in the initial posture's world frame."""
    return motion.segments[segment][:, :3, :3] @ (motion.initial.segments[segment][:3, :3].T @ axis)


def _turn_between(start: Array, end: Array) -> Array:
    """Smallest rotation (3, 3) that takes the direction of one vector to that of another."""
    a, b = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis, cosine = np.cross(a, b), float(a @ b)
    skew = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + skew + skew @ skew / max(1.0 + cosine, 1e-9)


def _stand_height(heights: dict[str, float], motion: HumanMotion, side: str, point: str) -> float:
    """Height over z = 0 of a joint of the foot while the foot stands, m; a heel that was added is at 0."""
    return heights.get(f"{side}_{point}", 0.0)


def _leg_scale(body: MatchedBody, motion: HumanMotion) -> tuple[float, float]:
    """Length of the robot's legs by the person's, and height of the robot's ankles over its soles, m."""
    place = zero_points(body)
    lengths, person = [], []
    for side in SIDES:
        for start, end in (("hip", "knee"), ("knee", "ankle")):
            a, b = f"{side}_{start}", f"{side}_{end}"
            if a in place and b in place:
                lengths.append(float(np.linalg.norm(place[b] - place[a])))
            if a in motion.joints and b in motion.joints:
                person.append(float(np.median(np.linalg.norm(motion.joints[b] - motion.joints[a], axis=1))))
    ankle = 0.0
    if "left_ankle" in place and "left_sole_0" in place:
        ankle = float(place["left_ankle"][2] - place["left_sole_0"][2])
    if not lengths or not person:
        return 1.0, ankle
    return float(np.mean(lengths) / np.mean(person)), ankle
