"""Joints, segments, size and world frame of a person from a recording to which a marker map is applied."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import ARM_JOINTS, complete_arms, hang_arm, transform
from simbench.motion.marker_maps.map_evaluation import RecordedBody, build_axes_frame, normalise
from simbench.motion.read_options import AXES, UNITS, ReadOptions
from simbench.robot.sides import SIDES

# Relative variance of the centres of shoulder, elbow and wrist, or hip, knee and ankle: the centre inside the
# shoulder or the hip, estimated from markers at some distance, is about twice as uncertain as the others.
CENTRE_VARIANCE = np.array([2.0, 1.0, 1.0])
# Convergence tolerance, m, which a correction of a centimetre meets after about five steps, and most steps.
TOLERANCE, MAX_STEPS = 1e-12, 50

LIMBS = {"arm": ("shoulder", "elbow", "wrist"), "leg": ("hip", "knee", "ankle")}
LEG_JOINTS = tuple(f"{side}_{joint}" for side in SIDES for joint in LIMBS["leg"])
# Joints that are closer than the first number coincide, m; bone lengths are constant to the second, m.
SHORTEST_BONE, LENGTH_TOLERANCE = 1e-3, 1e-9


def compute_known_joints(body: RecordedBody) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Compute all joints of the marker map that the recording gives; arms where it has legs and no arm.

    Returns tracks (T, 3) of the joint centres in the file's axes, m, and the sides whose arm is complete.
    """
    tracks = {name: body.point(name) for name in body.marker_map.joints}
    joints = {name: track for name, track in tracks.items() if track is not None}
    sides = complete_arms(joints)
    pelvis = body.frame("pelvis")
    if pelvis is not None and all(name in joints for name in LEG_JOINTS) and (body.arms_assumed or not sides):
        # Both arms hang beside a trunk that is upright: along the mean direction from ankles to hips.
        body.arms_assumed, sides = True, SIDES
        ends = {ends: share for ends, share in STATURE_SHARES.items() if ends[0] in LIMBS["leg"]}
        bones = [joints[f"left_{end}"] - joints[f"left_{start}"] for start, end in ends]
        stature = sum(float(np.median(np.linalg.norm(bone, axis=1))) for bone in bones) / sum(ends.values())
        hips = np.mean([joints["left_hip"], joints["right_hip"]], axis=0)
        ankles = np.mean([joints["left_ankle"], joints["right_ankle"]], axis=0)
        up = np.broadcast_to(normalise(np.mean(hips - ankles, axis=0)), hips.shape)
        axes = build_axes_frame("z", up, "y", pelvis[0][:, :, 1])
        left = axes[:, :, 1]
        for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
            place = hips + stature * (SHOULDER_OVER_HIP * up + sign * SHOULDER_HALF_WIDTH * left)
            upper, fore = (stature * STATURE_SHARES[ends] for ends in pairwise(LIMBS["arm"]))
            arm, turned = hang_arm(axes, side, place, upper, fore)
            joints |= arm
            body.points |= arm
            body.frames |= {name: (rotation, None) for name, rotation in turned.items()}
    if not sides:
        absent = ", ".join(name for name in ARM_JOINTS if name not in joints)
        raise MotionError(f"{body.source}: no complete arm: the recording does not give {absent}")
    return joints, sides


def enforce_bone_lengths(body: RecordedBody) -> list[str]:
    """Correct the joint centres of the limbs, in place, so that the bones keep their length.

    `body`: the recording and its marker map; its points are corrected. Returns notes that say by how much the
    centres of the arms and of the legs were moved. Raises MotionError two joints coincide, or no bone of
    constant length fits.
    """
    notes = []
    for limb, parts in LIMBS.items():
        moved = []
        for side in SIDES:
            names = [f"{side}_{part}" for part in parts]
            tracks = [track for track in map(body.point, names) if track is not None]
            if len(tracks) < len(names):
                continue
            for (first, second), bone in zip(pairwise(names), np.diff(tracks, axis=0), strict=True):
                close = np.flatnonzero(np.linalg.norm(bone, axis=1) < SHORTEST_BONE)
                if close.size:
                    raise MotionError(
                        f"{body.source}: joints {first} and {second} coincide at frame {close[0]}; they must "
                        "be apart"
                    )
            corrected = project_to_lengths(*tracks)
            for bone in np.diff(corrected, axis=0):
                length = np.linalg.norm(bone, axis=1)
                off = np.abs(length - np.median(length))
                if off.max() > LENGTH_TOLERANCE:
                    raise MotionError(
                        f"{body.source}: the {side} {limb}'s joints are so far off at frame {off.argmax()} "
                        f"that no {limb} of constant length fits; look for swapped markers there"
                    )
            body.points.update(zip(names, corrected, strict=True))
            moved.append(np.linalg.norm(np.subtract(corrected, tracks), axis=2))
        if moved:
            distance = 1000 * np.concatenate(moved)
            notes.append(
                f"skin motion: joint centres of the {limb}s moved by {np.sqrt((distance**2).mean()):.1f} mm "
                f"RMS, {distance.max():.1f} mm at most, so that bones keep their length"
            )
    # Frames that are known already were computed from the uncorrected centres.
    body.frames.clear()
    return notes


def compute_segment_frames(
    body: RecordedBody, joints: Mapping[str, Array], sides: tuple[str, ...]
) -> dict[str, Array]:
    """Compute the frames of the segments; a hand that is not recorded is assumed in line with its forearm.

    `body`: the recording and its marker map; `joints` mapping of str to (T, 3) array: tracks of the joint
    centres in the file's axes, m; `sides`: sides whose arm is complete. Returns dict of str to (T, 4, 4)
    array: poses of the segment frames in the file's axes, m.
    """
    segments: dict[str, Array] = {}
    for side in sides:
        shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
        origins = {"upper_arm": (shoulder + elbow) / 2, "forearm": (elbow + wrist) / 2, "hand": wrist}
        for segment, origin in origins.items():
            frame = body.frame(f"{side}_{segment}")
            if frame is None and segment == "hand":
                frame = segments[f"{side}_forearm"][:, :3, :3], None
                body.notes[f"{side} hand: not recorded, assumed in line with the forearm"] = None
            if frame is None:
                raise MotionError(
                    f"{body.source}: the marker map has no recipe for the frame {side}_{segment} that these "
                    "points allow"
                )
            rotation, position = frame
            segments[f"{side}_{segment}"] = transform(rotation, origin if position is None else position)
    for name in ("trunk", "pelvis"):
        frame = body.frame(name)
        if frame is None:
            continue
        rotation, position = frame
        if position is None:
            position = joints.get("pelvis" if name == "pelvis" else "chest")
        if position is not None:
            segments[name] = transform(rotation, position)
    return segments


def project_to_lengths(proximal: Array, middle: Array, distal: Array) -> tuple[Array, Array, Array]:
    """Move the joint centres of a limb as little as possible so that its two bones have their median lengths.

    In each frame the nearest centres with these lengths, by the norm weighted with `CENTRE_VARIANCE`:
    Lagrange's conditions, solved by Newton steps on the two constraints of all frames at once. `proximal`,
    `middle`, `distal` (T, 3): measured centres of shoulder, elbow and wrist, or hip, knee and ankle, m.
    Returns `proximal`, `middle`, `distal` (T, 3): corrected centres of the same joints, m.
    """
    measured = np.stack([proximal, middle, distal], axis=1)
    lengths = np.median(np.linalg.norm(np.diff(measured, axis=1), axis=2), axis=0)
    points = measured.copy()
    for _ in range(MAX_STEPS):
        bones = np.diff(points, axis=1)
        # Half the errors of the squared lengths; their gradients are minus and plus the bones.
        error = ((bones**2).sum(axis=2) - lengths**2) / 2
        gradient = np.zeros((len(points), 2, 3, 3))
        for bone in (0, 1):
            gradient[:, bone, bone], gradient[:, bone, bone + 1] = -bones[:, bone], bones[:, bone]
        weighted = gradient * CENTRE_VARIANCE[:, None]
        matrix = np.einsum("tajk,tbjk->tab", weighted, gradient)
        slack = error + np.einsum("tajk,tjk->ta", gradient, measured - points)
        factor = np.linalg.solve(matrix, slack[..., None])[..., 0]
        moved = measured - np.einsum("ta,tajk->tjk", factor, weighted)
        change, points = np.abs(moved - points).max(), moved
        if change < TOLERANCE:
            break
    return points[:, 0], points[:, 1], points[:, 2]


# Lengths between joint centres as fractions of stature (Drillis and Contini 1966, in Winter, Biomechanics and
# Motor Control of Human Movement, fig. 4.1).
STATURE_SHARES = {
    ("shoulder", "elbow"): 0.186,
    ("elbow", "wrist"): 0.146,
    ("hip", "knee"): 0.245,
    ("knee", "ankle"): 0.246,
}
# Statures, m, that are clearly those of people, and those that a small child or a character may have. Units
# differ by a factor of 2.2 or more, so that at most one unit makes a body clearly human.
CLEAR_STATURES, POSSIBLE_STATURES = (1.2, 2.2), (0.75, 2.5)
# A body that no unit makes human is scaled to this stature, m, unless the user says which.
USUAL_STATURE = 1.7


# Shoulders over the hips, and half the breadth between them, of the same source.
SHOULDER_OVER_HIP, SHOULDER_HALF_WIDTH = 0.818 - 0.530, 0.259 / 2.0


class BodySize(NamedTuple):
    """Unit of length of a recording, and how its body is scaled."""

    unit: str  # Unit of the recording, a key of `UNITS`.
    factor: float  # Factor by which the body is scaled after its positions were converted to metres.
    stature: float  # Stature of the scaled body, m, from the lengths of its bones.
    # `notes`, `doubts`: how unit and scale were found, for the user; doubts are what may be wrong.
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def find_body_size(
    statures: Mapping[str, float], declared: str | None, options: ReadOptions, source: str
) -> BodySize:
    """Find the unit of length in which a recorded body has a human stature, and scale the body.

    `statures`: by unit, a key of `UNITS`, the stature of the body if positions are in that unit, m. It is not
    just proportional to the unit, because a marker map may contain lengths in metres. `declared`: unit that
    the file or the marker map declares; None if none does. `options`: what the user declares: `unit`,
    `scale`, `stature`, `strict`. `source`: name of the recording, for messages. Returns unit and scale. A
    unit that the user declares is kept; a body that no unit makes human is scaled. Raises MotionError the
    user declares a unit in which the body is not human, and no scale; or, with `strict`, the file's unit does
    not fit, or none fits.
    """
    (least, most), (lowest, highest) = CLEAR_STATURES, POSSIBLE_STATURES
    resized = options.scale is not None or options.stature is not None
    unit = options.unit or declared
    clear = [name for name, stature in statures.items() if least <= stature <= most]
    factor, notes, doubts = 1.0, [], []
    if unit is not None and not (resized or lowest <= statures[unit] <= highest):
        if options.unit is not None or options.strict:
            advice = (
                f"no known unit ({', '.join(UNITS)}) makes it human: declare its size (--scale or --height)"
            )
            if clear:
                advice = f"it would be {statures[clear[0]]:.2f} m in {clear[0]}: declare that unit (--unit)"
            raise MotionError(
                f"{source}: the person is {statures[unit]:.4g} m tall by the bones with lengths in {unit}; "
                f"people are {CLEAR_STATURES[0]} to {CLEAR_STATURES[1]} m; {advice}"
            )
        if clear:
            doubts.append(
                f"unit {clear[0]}, in which the person is {statures[clear[0]]:.2f} m tall: in {unit}, which "
                f"is declared, it would be {statures[unit]:.4g} m"
            )
        unit = clear[0] if clear else None
    elif unit is None and clear:
        unit = clear[0]
        notes.append(f"unit {unit}: in it the person is {statures[unit]:.2f} m tall")
    if unit is None:
        possible = [name for name, stature in statures.items() if lowest <= stature <= highest]
        values = list(statures.values())
        if options.strict or not np.isfinite(values).all() or not min(values) > 0.0:
            tall = ", ".join(f"{stature:.3g} m in {name}" for name, stature in statures.items())
            raise MotionError(
                f"{source}: no known unit gives the body a human height ({tall}); declare its size: --scale, "
                "or --height and --unit"
            )
        if resized or len(possible) == 1:
            unit = possible[0] if possible else "m"
        else:
            unit = min(statures, key=lambda name: abs(np.log(statures[name] / USUAL_STATURE)))
            factor = USUAL_STATURE / statures[unit]
            doubts.append(
                f"no known unit gives the body a human height ({statures[unit]:.3g} m in {unit}): scaled to "
                f"{USUAL_STATURE:g} m; --height or --scale declares its size"
            )
    stature = statures[unit] if factor == 1.0 else USUAL_STATURE
    if not resized and not least <= stature <= most:
        doubts.append(
            f"the person is {stature:.2f} m tall with lengths in {unit}: a child or a character; --height or "
            "--scale changes its size"
        )
    if options.scale is not None:
        factor, stature = options.scale, statures[unit] * options.scale
        notes.append(f"scaled by {factor:g}, as declared: {stature:.2f} m tall")
    elif options.stature is not None:
        factor, stature = options.stature / statures[unit], options.stature
        notes.append(f"scaled by {factor:.4g} to the declared height of {stature:g} m")
    return BodySize(unit, factor, stature, tuple(notes), tuple(doubts))


Points = Mapping[str, Array]

# A trunk points along an axis when it is within 37 degrees of it (cosine); a statement about all frames holds
# when at least this fraction of them agree.
ALIGNED_COSINE, MAJORITY = 0.8, 0.9
# The zero height of a laboratory is its floor when the lowest foot markers, which have a radius and sit on
# shoes, are in this range above it, m.
CALIBRATED_FLOOR = (-0.03, 0.12)
# Rows: axes x, y, z (forward, left, up) of the world frame in the axes of a file whose vertical axis is the
# key. With y up, x is taken for forward, as the ISB recommends; the heading at the start decides later,
# unless the marker map says that the recording is already in the world frame.
WORLD_AXES = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
    "-x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "-z": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]),
}
# The vertical axis that a format has in most files, where a body shows none.
USUAL_AXIS = {True: "y", False: "z"}
# A person on two feet holds the shoulders above the ankles: the median of their line leans less than this,
# degrees, unless the axes are oblique, or the person lies, sits or crawls.
LARGEST_LEAN = 25.0
# The lowest points of feet are taken for the floor; samples this far below nearly all others are not, m.
OUTLIER_DEPTH, OUTLIER_SHARE = 0.03, 0.02
# Height of the ankle's centre over the sole as a fraction of stature (Drillis and Contini 1966, in Winter,
# Biomechanics and Motor Control of Human Movement, fig. 4.1).
ANKLE_HEIGHT = 0.039


def find_vertical_axis(
    joints: Points,
    *,
    by_user: str | None,
    by_format: str | None,
    by_file: str | None,
    skeleton: bool,
    strict: bool,
    source: str,
) -> tuple[str, str, str]:
    """Find the vertical axis of a file from how the body stands in it and from what is declared.

    The trunk points up from pelvis to shoulders and the legs from ankles to hips; the axis along which both
    do in most frames is vertical. What the user or the definition of the format declares is kept. `joints`
    mapping of str to (T, 3) array: tracks of the joint centres in the file's axes, m; `by_user`, `by_format`,
    `by_file`: axis that the user, the definition of the format, and the file or the marker map declare;
    `skeleton`: whether the recording is that of a skeleton, which has y up in most files; else z; `strict`:
    whether to refuse what the body contradicts or does not show; `source`: name of the recording, for
    messages. Returns the axis, a key of `WORLD_AXES`, how it was found, and what may be wrong about it, for
    the user, both empty where there is nothing to say.
    """
    known = by_user or by_format or by_file
    trunk = compute_upward_directions(joints)
    if trunk is None:
        if known is not None:
            return known, "", ""
        if strict:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and without a pelvis or hips it cannot be "
                "found; declare it (--up), one of x, y, z, -x, -y, -z"
            )
        axis = USUAL_AXIS[skeleton]
        return axis, "", f"vertical axis {axis}: a guess, without pelvis and legs; --up declares it"
    legs = connect_means(joints, ("left_ankle", "right_ankle"), ("left_hip", "right_hip"))
    parts = [trunk] if legs is None else [trunk, normalise(legs)]
    fractions = {
        f"{sign}{axis}": float(np.mean([(factor * part[:, k] > ALIGNED_COSINE).mean() for part in parts]))
        for k, axis in enumerate(AXES)
        for sign, factor in (("", 1.0), ("-", -1.0))
    }
    seeming = max(fractions, key=lambda name: fractions[name])
    share = f"{fractions[seeming]:.0%}"
    if known is None:
        if fractions[seeming] >= 0.5:
            return seeming, f"vertical axis {seeming}: the body is upright along it", ""
        if strict:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and the trunk is upright along none of x, y "
                f"and z (most often along {seeming}, {share} of the frames); declare it (--up)"
            )
        axis = seeming if fractions[seeming] > 0.0 else USUAL_AXIS[skeleton]
        return axis, "", f"vertical axis {axis}: a guess, for the body is seldom upright; --up declares it"
    if seeming == known or fractions[seeming] < MAJORITY:
        return known, "", ""
    if by_user is not None or by_format is not None:
        text = f"vertical axis {known}, as declared: the body lies along {seeming} in {share} of the frames"
        return (known, text, "") if by_user else (known, "", text)
    if strict:
        raise MotionError(
            f"{source}: {known} is declared vertical, yet the trunk points along {seeming} in {share} of the "
            f"frames; if {seeming} is vertical, declare that (--up {seeming}); if the person lies, declare "
            f"--up {known}"
        )
    doubt = (
        f"vertical axis {seeming}, for the body stands along it in {share} of the frames, though the file "
        f"says {known}; if the person lies: --up {known}"
    )
    return seeming, "", doubt


def connect_means(joints: Points, below: tuple[str, ...], above: tuple[str, ...]) -> Array | None:
    """Vectors (T, 3) from the mean of some joints to the mean of others, if all are recorded."""
    start, end = mean_track(joints, below), mean_track(joints, above)
    return None if start is None or end is None else end - start


def compute_upward_directions(joints: Points) -> Array | None:
    """Compute the unit vectors from pelvis to shoulders.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m. Returns (T, 3) or None:
    directions in the axes of `joints`; None if either end is not recorded.
    """
    hips = mean_track(joints, ("left_hip", "right_hip"))
    below = joints.get("pelvis") if hips is None else hips
    shoulders = mean_track(joints, ("left_shoulder", "right_shoulder"))
    above = shoulders if shoulders is not None else joints.get("neck")
    if below is None or above is None:
        return None
    return normalise(above - below)


def mean_track(joints: Points, names: tuple[str, ...]) -> Array | None:
    """Average the tracks of joints.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m. Returns (T, 3) or None: mean of
    the tracks, m; None if a joint is missing.
    """
    if any(name not in joints for name in names):
        return None
    return np.asarray(np.mean([joints[name] for name in names], axis=0))


def leftward_vectors(joints: Points) -> Array | None:
    """Compute the vectors from the right shoulder to the left one, or between the hips.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m. Returns (T, 3) or None: vectors
    to the left, m; None if neither both shoulders nor both hips are recorded.
    """
    for name in ("shoulder", "hip"):
        if f"left_{name}" in joints and f"right_{name}" in joints:
            return np.asarray(joints[f"left_{name}"] - joints[f"right_{name}"])
    return None


def place_in_world(
    joints: Points, pelvis: Array | None, feet: Sequence[Array], height: float, skeleton: bool
) -> tuple[Array, Array, str]:
    """Find the world frame of a recording: x along the heading at the start, z = 0 on the floor.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres in axes with z up, m; `pelvis` (T, 3,
    3) or None: rotations of the pelvis in the same axes; None where it is not recorded; `feet` sequence of
    (T, 3) arrays: points of which the lowest touch the floor, in the same axes, m; empty where no foot is
    recorded; `height`: height of these points over the sole while they are lowest, m: that of the ankles
    where nothing is below them, else 0; `skeleton`: whether the recording is that of a skeleton, which has no
    calibrated floor. Returns `rotation` (3, 3): rotation from the axes of `joints` to those of the world
    frame; `origin` (3,): origin of the world frame in the axes of `joints`, m; `note`: how heading and floor
    were found.
    """
    across = leftward_vectors(joints)
    forward, whose = np.array([1.0, 0.0]), "the file's, for the body's heading is unknown"
    if across is not None and np.hypot(*across[0, :2]) > 0.1 * np.linalg.norm(across[0]):
        forward, whose = np.array([across[0, 1], -across[0, 0]]), "heading of the shoulders"
    if pelvis is not None:
        # The line through the hips gives a heading even if the actor lies on the back and the forward axis
        # points up.
        left = pelvis[0, :, 1]
        ahead = np.array([left[1], -left[0]]) if np.hypot(*left[:2]) > 0.1 else pelvis[0, :2, 0]
        if np.hypot(*ahead) > 1e-6:
            forward, whose = ahead, "heading of the pelvis"
    forward = forward / np.hypot(*forward)
    rotation = np.array([[forward[0], forward[1], 0.0], [-forward[1], forward[0], 0.0], [0.0, 0.0, 1.0]])
    shoulders = [joints[name] for name in ("left_shoulder", "right_shoulder") if name in joints]
    start = joints["pelvis"][0] if "pelvis" in joints else np.mean(shoulders, axis=0)[0]
    floor, note = 0.0, "the file's zero, for there are no feet"
    if feet:
        heights = np.min([track[:, 2] for track in feet], axis=0) - height
        lowest, usual = float(heights.min()), float(np.quantile(heights, OUTLIER_SHARE))
        if not skeleton and CALIBRATED_FLOOR[0] <= lowest <= CALIBRATED_FLOOR[1]:
            note = f"the laboratory's zero (lowest foot point {1000 * lowest:.0f} mm above it)"
        elif lowest < usual - OUTLIER_DEPTH:
            floor = usual
            note = (
                f"height of the feet's lowest points (at {usual:.3f} m in the file), single samples up to "
                f"{usual - lowest:.3f} m below"
            )
        else:
            below = f", {height:.3f} m below the ankles" if height else ""
            floor, note = lowest, f"lowest point of the feet (at {lowest:.3f} m in the file{below})"
    return rotation, np.array([start[0], start[1], floor]), f"x axis: {whose} at the start; floor: {note}"
