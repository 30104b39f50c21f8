"""Whether a marker map fits the geometry of a recorded body, and not only the names of its points.

Every check compares what the map gives with the body's own joints: directions of bones and segment frames,
proportions of limbs, symmetry. A map whose names match and whose frames do not is found by them.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.centres import normalise, reject
from simbench.motion.marker_maps.world import compute_upward_directions, mean_track
from simbench.robot.sides import SIDES

# Ratios of bones between joint centres: people and animated characters have them within the first pair of
# bounds (0.78 and 1.00 are means of Drillis and Contini 1966); beyond the second pair nothing human has them.
RATIOS = {
    "forearm to upper arm": (("elbow", "wrist"), ("shoulder", "elbow"), (0.60, 1.25), (0.35, 2.2)),
    "shank to thigh": (("knee", "ankle"), ("hip", "knee"), (0.65, 1.45), (0.40, 2.5)),
}
# An arm from shoulder to wrist is 0.68 of a leg from hip to ankle.
ARM_TO_LEG, IMPOSSIBLE_ARM_TO_LEG = (0.45, 1.0), (0.30, 1.6)
# Left and right bones of a body differ by a few per cent, recorded joint centres by a centimetre or two.
ASYMMETRY, IMPOSSIBLE_ASYMMETRY = 0.20, 0.50
# Angles, degrees, that frames may be off the joints in the median. The trunk bends between pelvis and neck; a
# segment's axis runs through its joints; the axis of an elbow is known to 30 degrees from skin markers.
TRUNK_LEAN, TRUNK_TWIST, PELVIS_TWIST = 40.0, 50.0, 40.0
BONE_AXIS, HAND_BEND, ELBOW_AXIS = 25.0, 80.0, 60.0
IMPOSSIBLE_ANGLE = 75.0
# Rotation of a forearm about its axis against the upper arm: people pronate and supinate by about 85 degrees.
PRONATION, WRIST_TWIST = 120.0, 60.0
# An elbow shows its axis where it is flexed by more than this (sine), in at least this many frames.
FLEXED, FEWEST_FLEXED = 0.40, 5


class Misfit(NamedTuple):
    """Something about a map that a body contradicts."""

    text: str  # What is wrong, with its number and what is expected.
    impossible: bool  # Whether no human body can be like that.


def find_misfits(
    joints: Mapping[str, Array], segments: Mapping[str, Array], *, assumed: frozenset[str] = frozenset()
) -> tuple[Misfit, ...]:
    """Find where a marker map's joints and frames contradict each other or a human body.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres in any right-handed axes, m;
    `segments` mapping of str to (T, 4, 4) array: poses of the segment frames in the same axes; `assumed`:
    segments whose frames are assumed from others, and say nothing. Returns what is wrong; empty if the map
    fits.
    """
    frames = {name: poses[:, :3, :3] for name, poses in segments.items() if name not in assumed}
    return (*_proportions(joints), *_trunk(joints, frames), *_arms(joints, frames))


def _length(joints: Mapping[str, Array], side: str, bone: tuple[str, str]) -> float | None:
    """Median length of a bone, m, or None if it is not recorded."""
    first, second = (joints.get(f"{side}_{end}") for end in bone)
    if first is None or second is None:
        return None
    return float(np.median(np.linalg.norm(second - first, axis=1)))


def _outside(value: float, usual: tuple[float, float]) -> bool:
    """Tell whether a value is outside bounds; no number is."""
    return not usual[0] <= value <= usual[1]


def _proportions(joints: Mapping[str, Array]) -> Iterator[Misfit]:
    """Check ratios of bones and the likeness of the two sides."""
    for name, (distal, proximal, usual, possible) in RATIOS.items():
        for side in SIDES:
            upper, lower = _length(joints, side, proximal), _length(joints, side, distal)
            if upper is None or lower is None or not _outside(ratio := lower / max(upper, 1e-9), usual):
                continue
            yield Misfit(
                f"{side} {name} is {ratio:.2f}; people have {usual[0]} to {usual[1]}",
                _outside(ratio, possible),
            )
    limbs = {}
    for limb, bones in (("arm", RATIOS["forearm to upper arm"]), ("leg", RATIOS["shank to thigh"])):
        for side in SIDES:
            parts = [_length(joints, side, bone) for bone in bones[:2]]
            known = [part for part in parts if part is not None]
            if len(known) == 2:
                limbs[limb, side] = sum(known)
    for limb in ("arm", "leg"):
        sizes = [limbs[limb, side] for side in SIDES if (limb, side) in limbs]
        if len(sizes) == 2 and (off := abs(sizes[0] - sizes[1]) / max(*sizes, 1e-9)) > ASYMMETRY:
            text = f"left and right {limb} differ by {off:.0%} in length; they are alike to {ASYMMETRY:.0%}"
            yield Misfit(text, off > IMPOSSIBLE_ASYMMETRY)
    arms = [size for (limb, _), size in limbs.items() if limb == "arm"]
    legs = [size for (limb, _), size in limbs.items() if limb == "leg"]
    if arms and legs and _outside(ratio := float(np.mean(arms) / max(np.mean(legs), 1e-9)), ARM_TO_LEG):
        text = f"arm to leg is {ratio:.2f}; people have {ARM_TO_LEG[0]} to {ARM_TO_LEG[1]}"
        yield Misfit(text, _outside(ratio, IMPOSSIBLE_ARM_TO_LEG))


def _angle(first: Array, second: Array) -> float:
    """Median angle between directions (T, 3), degrees."""
    first, second = normalise(first), normalise(second)
    sine = np.linalg.norm(np.cross(first, second), axis=1)
    return float(np.degrees(np.median(np.arctan2(sine, (first * second).sum(axis=1)))))


def _off(
    what: str, angle: float, allowed: float, from_what: str, possible: float = 180.0
) -> Iterator[Misfit]:
    """Report an angle that is too large; beyond `possible` no body has it."""
    if angle > allowed:
        text = f"{what} is {angle:.0f}° off {from_what}; at most {allowed:.0f}° is plausible"
        yield Misfit(text, angle > possible)


def _trunk(joints: Mapping[str, Array], frames: Mapping[str, Array]) -> Iterator[Misfit]:
    """Check the frames of trunk and pelvis against pelvis, neck, shoulders and hips."""
    up = compute_upward_directions(joints)
    across = {
        "trunk": ("shoulder", "the line of the shoulders", TRUNK_TWIST),
        "pelvis": ("hip", "the line of the hips", PELVIS_TWIST),
    }
    for name, (joint, line, allowed) in across.items():
        if name not in frames:
            continue
        if up is not None:
            yield from _off(
                f"the {name}'s upward axis",
                _angle(frames[name][:, :, 2], up),
                TRUNK_LEAN if name == "trunk" else IMPOSSIBLE_ANGLE,
                "pelvis to shoulders",
                IMPOSSIBLE_ANGLE,
            )
        left, right = joints.get(f"left_{joint}"), joints.get(f"right_{joint}")
        if left is not None and right is not None:
            angle = _angle(frames[name][:, :, 1], left - right)
            yield from _off(f"the {name}'s left", angle, allowed, line, IMPOSSIBLE_ANGLE)
    if up is not None and (legs := _legs_up(joints)) is not None:
        yield from _off(
            "the line from the ankles to the hips", _angle(legs, up), 100.0, "pelvis to shoulders"
        )


def _legs_up(joints: Mapping[str, Array]) -> Array | None:
    """Vectors (T, 3) from the middle of the ankles to that of the hips, if they are recorded."""
    ankles = mean_track(joints, ("left_ankle", "right_ankle"))
    hips = mean_track(joints, ("left_hip", "right_hip"))
    return None if ankles is None or hips is None else hips - ankles


def _arms(joints: Mapping[str, Array], frames: Mapping[str, Array]) -> Iterator[Misfit]:
    """Check the frames of the arms against their joints, and their rotation about their axes."""
    for side in SIDES:
        if any(f"{side}_{joint}" not in joints for joint in ("shoulder", "elbow", "wrist")):
            continue
        shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
        bones = {"upper_arm": elbow - shoulder, "forearm": wrist - elbow, "hand": wrist - elbow}
        for segment, bone in bones.items():
            frame = frames.get(f"{side}_{segment}")
            if frame is not None:
                what, allowed = segment.replace("_", " "), HAND_BEND if segment == "hand" else BONE_AXIS
                yield from _off(
                    f"the {side} {what}'s axis",
                    _angle(frame[:, :, 0], bone),
                    allowed,
                    "the forearm" if segment == "hand" else "the line through its joints",
                    180.0 if segment == "hand" else IMPOSSIBLE_ANGLE,
                )
        own = {segment: frames.get(f"{side}_{segment}") for segment in bones}
        yield from _rotations(side, bones, own)


def _rotations(side: str, bones: Mapping[str, Array], frames: Mapping[str, Array | None]) -> Iterator[Misfit]:
    """Check the rotations of an arm's frames about their axes: elbow axis, pronation, twist of the wrist."""
    upper, forearm, hand = (frames[name] for name in ("upper_arm", "forearm", "hand"))
    flexion = np.cross(normalise(bones["upper_arm"]), normalise(bones["forearm"]))
    flexed = np.linalg.norm(flexion, axis=1) > FLEXED
    # The lateral axis z points against the axis of flexion on the left, along it on the right.
    lateral = -flexion if side == "left" else flexion
    enough = flexed.sum() >= FEWEST_FLEXED
    if upper is not None and enough:
        angle = _angle(reject(upper[flexed, :, 2], normalise(bones["upper_arm"][flexed])), lateral[flexed])
        yield from _off(f"the {side} upper arm's lateral axis", angle, ELBOW_AXIS, "the axis of the elbow")
    # Where the elbow is straight, the rotation of an upper arm about its axis is not known well.
    if upper is not None and forearm is not None and enough:
        twist = _twist(upper[flexed], forearm[flexed])
        yield from _off(f"the {side} forearm", twist, PRONATION, "the upper arm about its axis")
    if forearm is not None and hand is not None:
        yield from _off(f"the {side} hand", _twist(forearm, hand), WRIST_TWIST, "the forearm about its axis")


def _twist(proximal: Array, distal: Array) -> float:
    """Median size of the rotation about x between frames (T, 3, 3), beside the swing of x, degrees."""
    relative = np.einsum("tji,tjk->tik", proximal, distal)
    # The quaternion's part about x, against its scalar part: the twist of a swing-twist decomposition.
    scalar = 1.0 + relative[:, 0, 0] + relative[:, 1, 1] + relative[:, 2, 2]
    about_x = relative[:, 2, 1] - relative[:, 1, 2]
    angle = 2.0 * np.arctan2(np.abs(about_x), np.abs(scalar))
    return float(np.degrees(np.median(np.minimum(angle, 2.0 * np.pi - angle))))
