"""How a recording is read: the marker map whose frames fit the body, its unit and scale, and its sides.

The checks of a map compare what it gives with the body's own joints: directions of bones and segment frames,
proportions of limbs, symmetry. A map whose names match and whose frames do not is found by them.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import ARM_SEGMENTS, complete_arms
from simbench.motion.marker_maps.map_evaluation import RecordedBody, normalise, reject
from simbench.motion.marker_maps.map_library import describe_missing_names, find_aliases, list_fitting_maps
from simbench.motion.marker_maps.map_schema import MarkerMap, Mean
from simbench.motion.marker_maps.marker_guess import guess_marker_map
from simbench.motion.marker_maps.recorded_body import (
    MAJORITY,
    STATURE_SHARES,
    BodySize,
    compute_known_joints,
    compute_segment_frames,
    compute_upward_directions,
    connect_means,
    find_body_size,
    leftward_vectors,
)
from simbench.motion.marker_maps.skeleton_guess import SkeletonGuess, guess_legs
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
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
# A facing is shown where the mean of the forward vectors has at least this part along it; a knee that is this
# fraction of the leg's length off the line from hip to ankle (flexed by 23 degrees) points forward.
SHOWN_FACING, KNEE_OFFSET = 0.1, 0.1


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
    misfits = _check_proportions(joints)

    # What is measured, its angle, the largest plausible one, what it is compared with, and the possible one.
    checks: list[tuple[str, float, float, str, float]] = []
    up = compute_upward_directions(joints)
    for name, joint, lean, twist in (
        ("trunk", "shoulder", TRUNK_LEAN, TRUNK_TWIST),
        ("pelvis", "hip", IMPOSSIBLE_ANGLE, PELVIS_TWIST),
    ):
        if name not in frames:
            continue
        if up is not None:
            angle = _angle(frames[name][:, :, 2], up)
            checks.append((f"the {name}'s upward axis", angle, lean, "pelvis to shoulders", IMPOSSIBLE_ANGLE))
        left, right = joints.get(f"left_{joint}"), joints.get(f"right_{joint}")
        if left is not None and right is not None:
            angle = _angle(frames[name][:, :, 1], left - right)
            checks.append((f"the {name}'s left", angle, twist, f"the line of the {joint}s", IMPOSSIBLE_ANGLE))
    legs = connect_means(joints, ("left_ankle", "right_ankle"), ("left_hip", "right_hip"))
    if up is not None and legs is not None:
        checks.append(
            ("the line from the ankles to the hips", _angle(legs, up), 100.0, "pelvis to shoulders", 180.0)
        )
    for side in complete_arms(joints):
        shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
        arm, fore = elbow - shoulder, wrist - elbow
        upper, forearm, hand = (frames.get(f"{side}_{name}") for name in ("upper_arm", "forearm", "hand"))
        for what, frame, bone in (("upper arm", upper, arm), ("forearm", forearm, fore)):
            if frame is not None:
                angle, line = _angle(frame[:, :, 0], bone), "the line through its joints"
                checks.append((f"the {side} {what}'s axis", angle, BONE_AXIS, line, IMPOSSIBLE_ANGLE))
        if hand is not None:
            checks.append(
                (f"the {side} hand's axis", _angle(hand[:, :, 0], fore), HAND_BEND, "the forearm", 180.0)
            )
        # The rotations of the frames about their axes.
        flexion = np.cross(normalise(arm), normalise(fore))
        flexed = np.linalg.norm(flexion, axis=1) > FLEXED
        # The lateral axis z points against the axis of flexion on the left, along it on the right.
        lateral = -flexion if side == "left" else flexion
        if upper is not None and flexed.sum() >= FEWEST_FLEXED:
            angle = _angle(reject(upper[flexed, :, 2], normalise(arm[flexed])), lateral[flexed])
            checks.append(
                (f"the {side} upper arm's lateral axis", angle, ELBOW_AXIS, "the axis of the elbow", 180.0)
            )
            # Where the elbow is straight, the rotation of an upper arm about its axis is not known well.
            if forearm is not None:
                angle = _twist(upper[flexed], forearm[flexed])
                checks.append(
                    (f"the {side} forearm", angle, PRONATION, "the upper arm about its axis", 180.0)
                )
        if forearm is not None and hand is not None:
            checks.append(
                (f"the {side} hand", _twist(forearm, hand), WRIST_TWIST, "the forearm about its axis", 180.0)
            )
    misfits += [
        Misfit(f"{what} is {angle:.0f}° off {reference}; at most {most:.0f}° is plausible", angle > possible)
        for what, angle, most, reference, possible in checks
        if angle > most
    ]
    return tuple(misfits)


def _check_proportions(joints: Mapping[str, Array]) -> list[Misfit]:
    """Check ratios of bones and the likeness of the two sides."""
    misfits = []

    limbs: dict[str, list[float]] = {"arm": [], "leg": []}
    for limb, (name, (distal, proximal, usual, possible)) in zip(limbs, RATIOS.items(), strict=True):
        for side in SIDES:
            bones = [[joints.get(f"{side}_{end}") for end in bone] for bone in (proximal, distal)]
            known = [(first, end) for first, end in bones if first is not None and end is not None]
            if len(known) < 2:
                continue
            upper, lower = (float(np.median(np.linalg.norm(end - first, axis=1))) for first, end in known)
            limbs[limb].append(lower + upper)
            # No number is outside all bounds: NaN is.
            if not usual[0] <= (ratio := lower / max(upper, 1e-9)) <= usual[1]:
                text = f"{side} {name} is {ratio:.2f}; people have {usual[0]} to {usual[1]}"
                misfits.append(Misfit(text, not possible[0] <= ratio <= possible[1]))
    for limb, sizes in limbs.items():
        if len(sizes) == 2 and (off := abs(sizes[0] - sizes[1]) / max(*sizes, 1e-9)) > ASYMMETRY:
            text = f"left and right {limb} differ by {off:.0%} in length; they are alike to {ASYMMETRY:.0%}"
            misfits.append(Misfit(text, off > IMPOSSIBLE_ASYMMETRY))
    arms, legs = limbs.values()
    if arms and legs:
        ratio, (low, high) = float(np.mean(arms) / max(np.mean(legs), 1e-9)), ARM_TO_LEG
        if not low <= ratio <= high:
            text = f"arm to leg is {ratio:.2f}; people have {low} to {high}"
            misfits.append(Misfit(text, not IMPOSSIBLE_ARM_TO_LEG[0] <= ratio <= IMPOSSIBLE_ARM_TO_LEG[1]))
    return misfits


def _angle(first: Array, second: Array) -> float:
    """Median angle between directions (T, 3), degrees."""
    first, second = normalise(first), normalise(second)
    sine = np.linalg.norm(np.cross(first, second), axis=1)
    return float(np.degrees(np.median(np.arctan2(sine, (first * second).sum(axis=1)))))


def _twist(proximal: Array, distal: Array) -> float:
    """Median size of the rotation about x between frames (T, 3, 3), beside the swing of x, degrees."""
    relative = np.einsum("tji,tjk->tik", proximal, distal)
    # The quaternion's part about x, against its scalar part: the twist of a swing-twist decomposition.
    scalar = 1.0 + relative[:, 0, 0] + relative[:, 1, 1] + relative[:, 2, 2]
    about_x = relative[:, 2, 1] - relative[:, 1, 2]
    angle = 2.0 * np.arctan2(np.abs(about_x), np.abs(scalar))
    return float(np.degrees(np.median(np.minimum(angle, 2.0 * np.pi - angle))))


Recording = MarkerRecording | SkeletonRecording
# Frames on which maps are compared: enough for every posture of a recording, however long it is.
MOST_FRAMES = 400
# What may be the side in a name: a word, or a letter at the beginning or the end of a word.
SIDE_WORD = re.compile(r"left|right|(?<![a-z])[lr]|[lr](?![a-z])", re.IGNORECASE)
OTHER_SIDE = {"left": "right", "right": "left", "l": "r", "r": "l"}


class GuessedMap(NamedTuple):
    """A marker map that was guessed for a recording."""

    name: str  # What it was guessed from, for the note that says which map was used.
    marker_map: MarkerMap
    # `notes`, `doubts`: how it was guessed, for the user; doubts are what may be wrong.
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


class Reading(NamedTuple):
    """How a recording is read."""

    # The recording, with the names of its sides exchanged where they contradict the body.
    recording: Recording
    map_name: str  # Name of the marker map, or its path.
    marker_map: MarkerMap
    size: BodySize  # Unit and scale.
    misfits: tuple[Misfit, ...]  # Where the map contradicts the body.
    backward: float  # Fraction of the frames in which the body faces backward.
    # `notes`, `doubts`: what was found out or assumed, for the user; doubts are what may be wrong.
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def find_reading(recording: Recording, options: ReadOptions) -> Reading:
    """Find the marker map that fits the names and the geometry of a recording, its unit and its sides.

    Shipped maps whose names fit are tried first, those with the most names first, then `guess_map`. The first
    one that no geometry contradicts is taken, else the one with the fewest contradictions, which are doubts.
    `recording`: the recording, without gaps; `options`: what the user declares. Returns how the recording is
    read.
    """
    reading = _best_reading(recording, options)
    if reading.backward > MAJORITY and not reading.marker_map.in_place:
        reading = _with_sides_exchanged(reading, options)
    wrong = [misfit for misfit in reading.misfits if misfit.impossible or options.strict]
    if wrong and not reading.marker_map.in_place:
        raise MotionError(
            f"{recording.source}: read by the marker map {reading.map_name}, {wrong[0].text}; declare "
            "another map (--map); `simbench motion map` writes one to begin with"
        )
    texts = tuple(misfit.text for misfit in reading.misfits)
    return reading._replace(doubts=(*reading.doubts, *texts))


def _best_reading(recording: Recording, options: ReadOptions) -> Reading:
    """Find the reading with the fewest contradictions; what is impossible counts before what is doubtful."""
    skeleton = isinstance(recording, SkeletonRecording)
    fitting = list_fitting_maps(recording.names, options.marker_map, skeleton)
    # Strictly, the map that fits the names best is the only one, and nothing is guessed.
    makers = [partial(GuessedMap, *each) for each in (fitting[:1] if options.strict else fitting)]
    if options.marker_map is None and not options.strict:
        makers.append(partial(guess_map, recording))
    best: tuple[tuple[int, int], Reading] | None = None
    fault: MotionError | None = None
    rejected: list[str] = []
    step = -(-len(recording.time) // MOST_FRAMES)
    few = replace(recording, time=recording.time[::step], positions=recording.positions[::step])
    if isinstance(few, SkeletonRecording):
        few = replace(few, rotations=few.rotations[::step])
    for make in makers:
        try:
            candidate = make()
            reading = _examine(few, candidate, options)
        except MotionError as error:
            fault = fault or error
            continue
        badness = sum(misfit.impossible for misfit in reading.misfits), len(reading.misfits)
        if best is None or badness < best[0]:
            best = badness, reading
        if not reading.misfits or candidate.marker_map.in_place:
            break
        rejected.append(f"marker map {candidate.name} fits by name, but {reading.misfits[0].text}")
    if best is None:
        missing = describe_missing_names(recording.names, options.marker_map, skeleton)
        raise fault or MotionError(f"{recording.source}: {missing}")
    reading = best[1]
    notes = tuple(text for text in rejected if f"marker map {reading.map_name} " not in text)
    return reading._replace(recording=recording, notes=(*reading.notes, *notes))


def _examine(recording: Recording, candidate: GuessedMap, options: ReadOptions) -> Reading:
    """Read some frames by a map: find unit and scale, and compare what it gives with the body."""
    marker_map, source = candidate.marker_map, recording.source
    declared = recording.unit or marker_map.unit
    statures = {}
    for unit in [options.unit or declared or "m"] if marker_map.in_place else UNITS:
        body = make_body(recording, marker_map, unit)
        joints, _ = compute_known_joints(body)
        # The sum of the median lengths of the recorded bones by the sum of their shares of the stature.
        lengths, shares = 0.0, 0.0
        for (ends, share), side in product(STATURE_SHARES.items(), SIDES):
            first, second = (joints.get(f"{side}_{end}") for end in ends)
            if first is not None and second is not None:
                lengths += float(np.median(np.linalg.norm(second - first, axis=1)))
                shares += share
        statures[unit] = lengths / shares
    if marker_map.in_place:
        size = BodySize(unit, 1.0, statures[unit])
    else:
        size = find_body_size(statures, declared, options, source)
    body = make_body(recording, marker_map, size.unit)
    joints, sides = compute_known_joints(body)
    segments = compute_segment_frames(body, joints, sides)
    assumed = frozenset(name for name in segments if body.frame(name) is None)
    if body.arms_assumed:
        assumed |= {*ARM_SEGMENTS}
    misfits = find_misfits(joints, segments, assumed=assumed)
    # What a map puts right, by weights, are the files of one source.
    recipes = [recipe for each in marker_map.joints.values() for recipe in each]
    if any(isinstance(recipe, Mean) and recipe.weights for recipe in recipes):
        own = marker_map.unit if options.unit is None else None
        if own is not None and own != size.unit:
            text = f"in {own}, the unit of its files, the person would be {statures[own]:.2f} m tall"
            misfits = (*misfits, Misfit(text, impossible=False))

    # How often the body faces backward: left, forward and up must make a right-handed system. Forward is
    # where the toes point, or the pelvis, and where the knees bend to.
    facing = ((body.point(start), body.point(end)) for start, end in marker_map.facing)
    forward = [normalise(end - start) for start, end in facing if start is not None and end is not None]
    for side in SIDES:
        hip, knee, ankle = (joints.get(f"{side}_{joint}") for joint in ("hip", "knee", "ankle"))
        if hip is not None and knee is not None and ankle is not None:
            offset = reject(knee - hip, normalise(ankle - hip))
            flexed = np.linalg.norm(offset, axis=1) > KNEE_OFFSET * np.linalg.norm(ankle - hip, axis=1)
            forward.append(normalise(offset) * flexed[:, None])
    left, up, backward = leftward_vectors(joints), compute_upward_directions(joints), 0.0
    if left is not None and up is not None and forward:
        ahead = normalise(np.cross(left, up))
        agreement = np.mean([(vector * ahead).sum(axis=1) for vector in forward], axis=0)
        shown = np.abs(agreement) > SHOWN_FACING
        backward = float((agreement[shown] < 0.0).mean()) if shown.any() else 0.0
    return Reading(
        recording, candidate.name, marker_map, size, misfits, backward, candidate.notes, candidate.doubts
    )


def make_body(recording: Recording, marker_map: MarkerMap, unit: str) -> RecordedBody:
    """Convert the points of a recording to metres and apply a marker map to them.

    `unit`: unit of the recording, a key of `UNITS`. Returns the body at its recorded size, in the file's
    axes.
    """
    index = {name: k for k, name in enumerate(recording.names)}
    for known, alias in find_aliases(recording.names, marker_map):
        index[known] = index[alias]
    rate = (len(recording.time) - 1) / (recording.time[-1] - recording.time[0])
    metres = UNITS[unit]
    rotations: dict[str, Array] = {}
    rest: dict[str, Array] = {}
    if isinstance(recording, SkeletonRecording):
        rotations = {name: recording.rotations[:, k] for name, k in index.items()}
        positions = np.array(recording.offsets)
        for k, parent in enumerate(recording.parents):
            if parent >= 0:
                positions[k] += positions[parent]
        rest = {name: metres * positions[k] for name, k in index.items()}
    else:
        metres /= UNITS[recording.unit]
    points = {name: recording.positions[:, k] for name, k in index.items()}
    return RecordedBody(marker_map, points, rate, recording.source, rotations, rest, metres)


def _with_sides_exchanged(reading: Reading, options: ReadOptions) -> Reading:
    """Read a recording whose sides contradict the body with their names exchanged."""
    recording, share = reading.recording, f"{reading.backward:.0%}"
    fault = MotionError(
        f"{recording.source}: the body faces backward in {share} of the frames: left and right are swapped, "
        "or the axes are left-handed (a mirrored body); they must be right-handed"
    )
    known = set(recording.names)
    other: dict[str, str] = {}
    for name in known:
        # The name, among the known ones, that differs in the side only.
        for found in SIDE_WORD.finditer(name):
            word = OTHER_SIDE[found[0].lower()]
            if found[0][0].isupper():
                word = word.upper() if found[0].isupper() else word.capitalize()
            mirrored = name[: found.start()] + word + name[found.end() :]
            if mirrored in known:
                other[name] = mirrored
                break
    other |= {left: right for left, right in _other_sides(reading.marker_map).items() if right in known}
    names = tuple(other.get(name, name) for name in recording.names)
    if options.strict or names == recording.names or set(names) != set(recording.names):
        raise fault
    exchanged = _best_reading(replace(recording, names=names), options)
    if exchanged.backward > MAJORITY:
        raise fault
    doubt = (
        f"left and right are exchanged: by the names, the body would face backward in {share} of the frames; "
        "if the file's axes are left-handed instead, the motion is a mirror image of the person's"
    )
    return exchanged._replace(doubts=(doubt, *exchanged.doubts))


def _other_sides(marker_map: MarkerMap) -> Mapping[str, str]:
    """Names of points by that of the same point on the other side, from the map's entries for both sides."""
    pairs: dict[str, str] = {}
    for section in (marker_map.joints, marker_map.points, marker_map.frames, marker_map.segments):
        for name, recipes in section.items():
            side, _, part = name.partition("_")
            if side != "left" or f"right_{part}" not in section:
                continue
            lefts = [point for recipe in recipes for point in recipe.named_points()]
            rights = [point for recipe in section[f"right_{part}"] for point in recipe.named_points()]
            for left, right in zip(lefts, rights, strict=False):
                if left != right:
                    pairs |= {left: right, right: left}
    ends = {f"{left}_end": f"{right}_end" for left, right in pairs.items()}
    aliases = {
        alias: other
        for known, others in marker_map.aliases.items()
        if known in pairs
        for alias, other in zip(others, marker_map.aliases.get(pairs[known], []), strict=False)
    }
    return {**ends, **aliases, **pairs}


# How the names of guessed maps begin.
GUESSED = "guessed"


def guess_map(recording: MarkerRecording | SkeletonRecording) -> GuessedMap:
    """Guess the marker map of a recording. Returns the map, how it was guessed, and what may be wrong."""
    if isinstance(recording, SkeletonRecording):
        try:
            guess = SkeletonGuess(recording)
        except MotionError:
            legs = guess_legs(recording)
            if legs is None:
                raise
            return GuessedMap("legs by their names", legs)
        return GuessedMap(f"{GUESSED} ({guess.dialect})", guess.marker_map, guess.notes, guess.doubts)
    markers = guess_marker_map(recording)
    if markers is None:
        raise MotionError(
            f"{recording.source}: {describe_missing_names(recording.names, None, skeleton=False)}"
        )
    doubt = "the marker set is not known: its map was guessed from words in the names"
    return GuessedMap(f"{GUESSED} (markers)", *markers, (doubt,))
