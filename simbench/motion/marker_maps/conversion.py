"""Conversion of a recording of markers or of a skeleton to the motion of a person."""

from collections.abc import Mapping

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import (
    ARM_JOINTS,
    ARM_SEGMENTS,
    HANGING_LIMB,
    Actor,
    Gap,
    HumanMotion,
    InitialPose,
    complete_arms,
    mean_frame,
    transform,
    validate_motion,
)
from simbench.motion.marker_maps.map_choice import find_reading, make_body
from simbench.motion.marker_maps.map_evaluation import RecordedBody, normalise
from simbench.motion.marker_maps.map_library import find_aliases, find_needs
from simbench.motion.marker_maps.recorded_body import (
    ANKLE_HEIGHT,
    LARGEST_LEAN,
    LEG_JOINTS,
    WORLD_AXES,
    compute_known_joints,
    compute_segment_frames,
    connect_means,
    enforce_bone_lengths,
    find_vertical_axis,
    place_in_world,
)
from simbench.motion.marker_maps.skeleton_tree import find_animal_parts
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.robot.sides import SIDES

# A recording begins with the posture when the arms point straight forward for at least this time (s):
# shoulder to wrist within 25 degrees of the heading (cosine), at least this fraction of the arm's length
# apart, and the hands slower than this (m/s).
HOLD_TIME, HEADING_COSINE, STRAIGHTNESS, HOLD_SPEED = 0.5, 0.906, 0.96, 0.05
# A hand's speed is its mean over this time, s, so that noise does not count.
SPEED_WINDOW = 0.2
SEGMENT_JOINTS = {"upper_arm": ("shoulder", "elbow"), "forearm": ("elbow", "wrist"), "hand": ("wrist", None)}
# Joints that are placed relative to the trunk and to the pelvis, as far as they are known.
TRUNK_JOINTS = ("chest", "neck", "head", "left_shoulder", "right_shoulder")
PELVIS_JOINTS = ("left_hip", "right_hip")


def find_initial_pose(
    time: Array, joints: Mapping[str, Array], segments: Mapping[str, Array]
) -> tuple[InitialPose, str]:
    """Find or compute the calibration posture of a recording.

    `time` (T,): times of the samples, s; `joints` mapping of str to (T, 3) array: joint centres in the world
    frame (z up, x along the heading at the start), m; at least one arm; `segments` mapping of str to (T, 4,
    4) array: poses of the segment frames in the world frame: those of the arms whose joints are known, and of
    `trunk` and `pelvis` where known. Returns `pose`: mean over the first seconds if the arms are held there,
    else computed: upright, heading along x, arms straight and horizontal, palms down, with the recording's
    mean bone lengths and mean positions of the frames; `note`: which of the two it is, in words.
    """
    arms = complete_arms(joints)
    if len(time) >= 2:
        # Samples, from the first one on, during which every known arm is held straight forward.
        held = np.ones(len(time), dtype=bool)
        reach = max(1, round(SPEED_WINDOW / 2 * (len(time) - 1) / (time[-1] - time[0])))
        index = np.arange(len(time))
        before, after = np.maximum(index - reach, 0), np.minimum(index + reach, len(time) - 1)
        for side in arms:
            shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
            arm = wrist - shoulder
            length = np.linalg.norm(elbow - shoulder, axis=1) + np.linalg.norm(wrist - elbow, axis=1)
            speed = np.linalg.norm(wrist[after] - wrist[before], axis=1) / (time[after] - time[before])
            held &= normalise(arm)[:, 0] > HEADING_COSINE
            held &= np.linalg.norm(arm, axis=1) > STRAIGHTNESS * length
            held &= speed < HOLD_SPEED
        # The window looks ahead, so the hand leaves later than the first sample that fails.
        end = len(time) if held.all() else int(held.argmin())
        if end > 1 and time[end - 1] - time[0] >= HOLD_TIME:
            pose = InitialPose(
                joints={name: track[:end].mean(axis=0) for name, track in joints.items()},
                segments={name: mean_frame(frames[:end]) for name, frames in segments.items()},
            )
            return pose, f"initial posture: held until {time[end - 1]:.2f} s, its mean"
    # Computed from mean lengths: upright, arms straight and horizontal forward, palms down.
    position, bases = _place_trunk(joints, segments)
    frames = {name: transform(np.eye(3), origin) for name, origin in bases.items()}
    for side in SIDES:
        for upper, lower in (("hip", "knee"), ("knee", "ankle")):
            if f"{side}_{upper}" in position and f"{side}_{lower}" in joints:
                length = np.array([0.0, 0.0, _mean_distance(joints, side, upper, lower)])
                position[f"{side}_{lower}"] = position[f"{side}_{upper}"] - length
    forward = Rotation.from_euler("y", -np.pi / 2).as_matrix()
    for side in arms:
        start = position[f"{side}_shoulder"]
        for segment, (proximal, distal) in SEGMENT_JOINTS.items():
            position[f"{side}_{proximal}"] = start
            # Shoulders flexed by 90 degrees without axial rotation, forearms pronated by 90 degrees.
            rotation = forward @ HANGING_LIMB[side] if segment == "upper_arm" else np.eye(3)
            origin = -_mean_position_in_frame(joints[f"{side}_{proximal}"], segments[f"{side}_{segment}"])
            frames[f"{side}_{segment}"] = transform(rotation, start + rotation @ origin)
            if distal is not None:
                start = start + np.array([_mean_distance(joints, side, proximal, distal), 0.0, 0.0])
    note = "initial posture: computed, the recording does not begin with it"
    return InitialPose(joints=position, segments=frames), note


def _place_trunk(
    joints: Mapping[str, Array], segments: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Place the joints of trunk and pelvis of a standing body, and the origins of their frames.

    The pelvis is where the recording begins, the trunk over it; without a trunk, only the shoulders' distance
    is known.
    """
    position: dict[str, Array] = {}
    origins: dict[str, Array] = {}
    shoulders = [joints[f"{side}_shoulder"] for side in SIDES if f"{side}_shoulder" in joints]
    centre = np.mean(shoulders, axis=0)
    pelvis, trunk = segments.get("pelvis"), segments.get("trunk")
    if "pelvis" in joints:
        position["pelvis"] = joints["pelvis"][0]
    if pelvis is not None:
        root = position.get("pelvis", pelvis[0, :3, 3])
        offset = -_mean_position_in_frame(joints["pelvis"], pelvis) if "pelvis" in joints else np.zeros(3)
        origins["pelvis"] = root + offset
        for name in PELVIS_JOINTS:
            if name in joints:
                position[name] = origins["pelvis"] + _mean_position_in_frame(joints[name], pelvis)
    if trunk is not None:
        if pelvis is not None:
            origin = origins["pelvis"] + _mean_position_in_frame(trunk[:, :3, 3], pelvis)
        else:
            origin = centre[0] - _mean_position_in_frame(centre, trunk)
        origins = {"trunk": origin, **origins}
        for name in TRUNK_JOINTS:
            if name in joints:
                position[name] = origin + _mean_position_in_frame(joints[name], trunk)
    else:
        distance = np.linalg.norm(shoulders[0] - shoulders[-1], axis=1).mean()
        for side, sign in (("left", 0.5), ("right", -0.5)):
            if f"{side}_shoulder" in joints:
                position[f"{side}_shoulder"] = centre[0] + sign * distance * np.array([0.0, 1.0, 0.0])
    return position, origins


def _mean_distance(joints: Mapping[str, Array], side: str, proximal: str, distal: str) -> float:
    """Mean distance of two joints of one side, m."""
    return float(np.linalg.norm(joints[f"{side}_{distal}"] - joints[f"{side}_{proximal}"], axis=1).mean())


def _mean_position_in_frame(track: Array, frames: Array) -> Array:
    """Mean position (3,), m, of a track (T, 3) in moving frames (T, 4, 4), in their axes."""
    return np.asarray(np.einsum("tji,tj->ti", frames[:, :3, :3], track - frames[:, :3, 3]).mean(axis=0))


NO_ARMS = "no arm was recorded: both hang beside the trunk, and only the legs follow the person"
STROKE_EVENTS = ("stroke start", "stroke end")


def _say_what_lacks(recording: MarkerRecording, body: RecordedBody, joints: Mapping[str, Array]) -> list[str]:
    """Say which joints and frames a missing marker costs or changes, unless the other side lacks it too."""
    marker_map = body.marker_map
    recorded = {*recording.names, *(known for known, _ in find_aliases(recording.names, marker_map))}
    said = []
    for name in dict.fromkeys((*marker_map.joints, *marker_map.segments)):
        side, _, part = name.partition("_")
        twin = f"{SIDES[1 - SIDES.index(side)]}_{part}" if side in SIDES else ""
        for kind in ("point", "frame"):
            first = body.second_choices.get(f"{kind} {name}")
            if first is not None and f"{kind} {twin}" not in body.second_choices:
                lacking = find_needs(marker_map, recorded, first.named_points()).lacking
                said.append(f"{name}: without {', '.join(lacking)}")
        needs = find_needs(marker_map, recorded, [name])
        if (
            name in marker_map.joints
            and name not in joints
            and needs.lacking
            and (needs.used or twin in joints)
        ):
            said.append(f"{name}: not given, without {', '.join(needs.lacking)}")
    return said


def _find_lean(recording: MarkerRecording | SkeletonRecording, upright: Mapping[str, Array]) -> str:
    """Doubt a body whose shoulders are not over its feet in the median; refuse that of an animal.

    `upright`: tracks (T, 3) of the joints with z up, m. Returns the doubt, or nothing.
    """
    along = connect_means(upright, ("left_ankle", "right_ankle"), ("left_shoulder", "right_shoulder"))
    mean = np.array([0.0, 0.0, 1.0]) if along is None else np.median(normalise(along), axis=0)
    lean = float(np.degrees(np.arctan2(np.hypot(mean[0], mean[1]), mean[2])))
    if lean < LARGEST_LEAN:
        return ""
    animal = find_animal_parts(recording.names) if isinstance(recording, SkeletonRecording) else []
    if animal:
        raise MotionError(
            f"{recording.source}: an animal's skeleton, no person's: it has {', '.join(animal[:4])}, and its "
            f"shoulders are {lean:.0f}° from over its hind feet in the median"
        )
    return (
        f"the body leans {lean:.0f}° from the vertical in the median: the file's axes are oblique, or the "
        "person does not stand"
    )


def to_human_motion(
    recording: MarkerRecording | SkeletonRecording, options: ReadOptions, filled: tuple[Gap, ...] = ()
) -> HumanMotion:
    """Convert a recording to human motion by the marker map that fits its names and its geometry.

    `recording`: the recording, without gaps; `options`: what the user declares; `marker_map` chooses the map;
    `filled`: gaps that were filled before. Returns the validated motion: world frame with z up, x along the
    heading at the start, origin below the pelvis (or the shoulders).
    """
    source = recording.source
    if len(recording.time) < 2:
        raise MotionError(f"{source}: {len(recording.time)} frame(s) found; a motion needs at least 2 frames")
    reading = find_reading(recording, options)
    recording, marker_map, size = reading.recording, reading.marker_map, reading.size
    skeleton = isinstance(recording, SkeletonRecording)
    body = make_body(recording, marker_map, size.unit)
    notes, doubts = [*reading.notes, *size.notes], [*reading.doubts, *size.doubts]
    if not skeleton and not marker_map.in_place:
        notes += enforce_bone_lengths(body)
    joints, sides = compute_known_joints(body)
    segments = compute_segment_frames(body, joints, sides)
    # Joints and segments of a person that the recording does not give.
    absent = {*ARM_JOINTS, *ARM_SEGMENTS} if body.arms_assumed else set()
    missing = [name for name in (*ARM_JOINTS, "pelvis", *LEG_JOINTS) if name not in joints or name in absent]
    missing += [
        name
        for name in (*ARM_SEGMENTS, "trunk", "pelvis")
        if body.frame(name) is None
        or name in absent
        or (name[0] in "lr" and name.partition("_")[0] not in sides)
    ]
    doubts += [NO_ARMS] if absent else []
    # The arrays of an hour take gigabytes: each is released when it is not needed any more.
    body.frames.clear()
    # Laboratories choose their axes, and files may be wrong about them; a skeleton format that defines its
    # vertical axis is reliable. A map is written for a laboratory: it knows more of its axes than the format
    # of its files.
    vertical, note, doubt = find_vertical_axis(
        joints,
        by_user=options.up,
        by_format=recording.up if skeleton else None,
        by_file=recording.up or marker_map.up if marker_map.in_place else marker_map.up or recording.up,
        skeleton=skeleton,
        strict=options.strict,
        source=source,
    )
    notes += [note] if note else []
    doubts += [doubt] if doubt else []
    # Rotation from the file's axes to the world frame, and its origin in the rotated axes, m.
    turn, origin = WORLD_AXES[vertical], np.zeros(3)
    markers: dict[str, Array] = {}
    if not isinstance(recording, SkeletonRecording):
        notes += _say_what_lacks(recording, body, joints)
        metres = UNITS[size.unit] / UNITS[recording.unit]
        # If simbench wrote the recording, some of its points are joints and frames.
        endings = ("", "_o", "_x", "_y") if marker_map.in_place else ()
        written = {f"{name}{end}" for name in (*joints, *segments) for end in endings}
        for k, name in enumerate(recording.names):
            if name not in written:
                markers[name] = metres * recording.positions[:, k]
    if not marker_map.in_place:
        pelvis = segments.get("pelvis")
        upright = {name: np.asarray(size.factor * track @ turn.T) for name, track in joints.items()}
        # Where there is nothing below the ankles, those stand on the floor.
        feet = [track for track in map(body.point, marker_map.feet) if track is not None]
        ankles = [joints[name] for name in ("left_ankle", "right_ankle") if name in joints]
        height = 0.0
        if not any(all(np.linalg.norm(foot - a, axis=1).max() > 1e-3 for a in ankles) for foot in feet):
            feet, height = ankles, ANKLE_HEIGHT * size.stature
        rotation, origin, note = place_in_world(
            upright,
            None if pelvis is None else turn @ pelvis[:, :3, :3],
            [size.factor * foot @ turn.T for foot in feet],
            height,
            skeleton,
        )
        turn, origin = rotation @ turn, rotation @ origin
        notes.append(note)
        doubt = _find_lean(recording, upright)
        doubts += [doubt] if doubt else []
        del upright, pelvis, feet, ankles
    body.points.clear()
    for name, track in joints.items():
        joints[name] = np.asarray(size.factor * track @ turn.T - origin)
    for name, frames in segments.items():
        position = size.factor * frames[:, :3, 3] @ turn.T - origin
        segments[name] = transform(turn @ frames[:, :3, :3], position)
    initial, note = find_initial_pose(recording.time, joints, segments)
    if "left" not in sides or "right" not in sides:
        notes.append(f"only the {sides[0]} arm is complete")
    actor, strokes = recording.actor if isinstance(recording, SkeletonRecording) else None, None
    if isinstance(recording, MarkerRecording):
        details = recording.details
        if "actor" in details and "height" in details:
            mass, age = (float(details[key]) if key in details else None for key in ("mass", "age"))
            actor = Actor(details["actor"], float(details["height"]), mass, details.get("sex"), age)
        # Repetitions are between the events of their starts and ends.
        starts, ends = (sorted(t for label, t in recording.events if label == name) for name in STROKE_EVENTS)
        if starts and len(starts) == len(ends):
            nearest = np.abs(recording.time - np.array([starts, ends])[..., None]).argmin(axis=-1)
            strokes = nearest.T.astype(np.int64)
    return validate_motion(
        HumanMotion(
            time=recording.time,
            joints=joints,
            segments=segments,
            initial=initial,
            source=source,
            actor=actor,
            strokes=strokes,
            notes=(*recording.notes, f"marker map: {reading.map_name}", *body.notes, *notes, note),
            markers={name: size.factor * track @ turn.T - origin for name, track in markers.items()},
            missing=tuple(dict.fromkeys(missing)),
            filled=filled,
            doubts=(*recording.doubts, *doubts),
        )
    )
