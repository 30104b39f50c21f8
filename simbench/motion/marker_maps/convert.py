"""Conversion of a recording of markers or of a skeleton to the motion of a person."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import transform
from simbench.motion.human_motion import Actor, Gap, HumanMotion, validate_motion
from simbench.motion.marker_maps.body_parts import (
    compute_known_joints,
    compute_segment_frames,
    enforce_bone_lengths,
    find_complete_arms,
    find_missing_parts,
)
from simbench.motion.marker_maps.body_size import BodySize
from simbench.motion.marker_maps.evaluation import RecordedBody
from simbench.motion.marker_maps.guessing import guess_map
from simbench.motion.marker_maps.initial_posture import find_initial_pose
from simbench.motion.marker_maps.reading import Guess, find_reading, make_body
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.marker_maps.world import (
    ANKLE_HEIGHT,
    WORLD_AXES,
    Declared,
    Feet,
    VerticalAxis,
    find_lean,
    find_vertical_axis,
    place_in_world,
)
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

STROKE_EVENTS = ("stroke start", "stroke end")


def to_human_motion(
    recording: MarkerRecording | SkeletonRecording,
    options: ReadOptions,
    filled: tuple[Gap, ...] = (),
    guess: Guess = guess_map,
) -> HumanMotion:
    """Convert a recording to human motion by the marker map that fits its names and its geometry.

    `recording`: the recording, without gaps; `options`: what the user declares; `marker_map` chooses the map;
    `filled`: gaps that were filled before; `guess`: function that guesses a marker map where no ready one
    fits. Returns the validated motion: world frame with z up, x along the heading at the start, origin below
    the pelvis (or the shoulders).
    """
    source = recording.source
    if len(recording.time) < 2:
        raise MotionError(f"{source}: {len(recording.time)} frame(s) found; a motion needs at least 2 frames")
    reading = find_reading(recording, options, guess)
    recording, marker_map = reading.recording, reading.marker_map
    skeleton = isinstance(recording, SkeletonRecording)
    body = make_body(recording, marker_map, reading.size.unit)
    notes, doubts = [*reading.notes, *reading.size.notes], [*reading.doubts, *reading.size.doubts]
    if not skeleton and not marker_map.in_place:
        notes += enforce_bone_lengths(body)
    joints = compute_known_joints(body)
    sides = find_complete_arms(joints, source)
    segments = compute_segment_frames(body, joints, sides)
    missing = find_missing_parts(body, joints, sides)
    # The arrays of an hour take gigabytes: each is released when it is not needed any more.
    body.frames.clear()
    vertical = _vertical_axis(recording, marker_map, joints, options)
    notes += [vertical.note] if vertical.note else []
    doubts += [vertical.doubt] if vertical.doubt else []
    world = _WorldFrame(WORLD_AXES[vertical.axis], np.zeros(3), reading.size.factor)
    markers = _markers(recording, marker_map, {**joints, **segments}, reading.size)
    if not marker_map.in_place:
        pelvis = segments.get("pelvis")
        upright = {name: world.transform(track) for name, track in joints.items()}
        rotation, origin, note = place_in_world(
            upright,
            None if pelvis is None else world.rotation @ pelvis[:, :3, :3],
            _feet(body, joints, world, reading.size.stature),
            skeleton,
        )
        world = _WorldFrame(rotation @ world.rotation, rotation @ origin, world.factor)
        notes.append(note)
        lean = find_lean(upright)
        doubts += [lean] if lean else []
        del upright, pelvis
    body.points.clear()
    joints = {name: world.transform(joints.pop(name)) for name in list(joints)}
    segments = {name: world.transform_frames(segments.pop(name)) for name in list(segments)}
    initial, note = find_initial_pose(recording.time, joints, segments)
    if "left" not in sides or "right" not in sides:
        notes.append(f"only the {sides[0]} arm is complete")
    return validate_motion(
        HumanMotion(
            time=recording.time,
            joints=joints,
            segments=segments,
            initial=initial,
            source=source,
            actor=_actor(recording),
            strokes=_strokes(recording),
            notes=(*recording.notes, f"marker map: {reading.map_name}", *body.notes, *notes, note),
            markers={name: world.transform(track) for name, track in markers.items()},
            missing=missing,
            filled=filled,
            doubts=(*recording.doubts, *doubts),
        )
    )


def _vertical_axis(
    recording: MarkerRecording | SkeletonRecording,
    marker_map: MarkerMap,
    joints: Mapping[str, Array],
    options: ReadOptions,
) -> VerticalAxis:
    """Find the vertical axis of a recording.

    Laboratories choose their axes, and files may be wrong about them; a skeleton format that defines its
    vertical axis is reliable.
    """
    skeleton = isinstance(recording, SkeletonRecording)
    by_format = recording.up if skeleton else None
    # A map is written for a laboratory: it knows more of its axes than the format of its files.
    by_file = recording.up or marker_map.up if marker_map.in_place else marker_map.up or recording.up
    declared = Declared(options.up, by_format, by_file)
    return find_vertical_axis(
        joints, declared, skeleton=skeleton, strict=options.strict, source=recording.source
    )


def _feet(body: RecordedBody, joints: Mapping[str, Array], world: "_WorldFrame", stature: float) -> Feet:
    """Collect the points of the feet, in axes with z up; where there is nothing below the ankles, those."""
    tracks = [track for track in map(body.point, body.marker_map.feet) if track is not None]
    ankles = [joints[name] for name in ("left_ankle", "right_ankle") if name in joints]
    height = 0.0
    if not any(_is_below(track, ankles) for track in tracks):
        tracks, height = ankles, ANKLE_HEIGHT * stature
    return Feet([world.transform(track) for track in tracks], height if tracks else 0.0)


def _is_below(track: Array, ankles: list[Array]) -> bool:
    """Tell whether a point of a foot is another one than the ankle."""
    return all(np.linalg.norm(track - ankle, axis=1).max() > 1e-3 for ankle in ankles)


@dataclass(frozen=True)
class _WorldFrame:
    """The world frame: its rotation from the file's axes, its origin in the rotated axes, m, and a scale."""

    rotation: Array
    origin: Array
    factor: float

    def transform(self, track: Array) -> Array:
        """Transform positions (T, 3) from the file's axes to the world frame."""
        return np.asarray(self.factor * track @ self.rotation.T - self.origin)

    def transform_frames(self, frames: Array) -> Array:
        """Transform poses (T, 4, 4) from the file's axes to the world frame."""
        return transform(self.rotation @ frames[:, :3, :3], self.transform(frames[:, :3, 3]))


def _markers(
    recording: MarkerRecording | SkeletonRecording,
    marker_map: MarkerMap,
    known: Mapping[str, Array],
    size: BodySize,
) -> dict[str, Array]:
    """Tracks of the markers; if simbench wrote the recording, without those of joints and frames."""
    if isinstance(recording, SkeletonRecording):
        return {}
    metres = UNITS[size.unit] / UNITS[recording.unit]
    tracks = {name: metres * recording.positions[:, k] for k, name in enumerate(recording.names)}
    if not marker_map.in_place:
        return tracks
    written = {f"{name}{end}" for name in known for end in ("", "_o", "_x", "_y")}
    return {name: track for name, track in tracks.items() if name not in written}


def _actor(recording: MarkerRecording | SkeletonRecording) -> Actor | None:
    """Read who moved from the details of the file."""
    if isinstance(recording, SkeletonRecording):
        return recording.actor
    details = recording.details
    if "actor" not in details or "height" not in details:
        return None
    mass, height, age = (float(details[key]) if key in details else None for key in ("mass", "height", "age"))
    return Actor(details["actor"], float(height or 0.0), mass, details.get("sex"), age)


def _strokes(recording: MarkerRecording | SkeletonRecording) -> NDArray[np.int64] | None:
    """First and last sample (N, 2) of each repetition, between the events of its start and end."""
    events = recording.events if isinstance(recording, MarkerRecording) else ()
    starts, ends = (sorted(t for label, t in events if label == name) for name in STROKE_EVENTS)
    if not starts or len(starts) != len(ends):
        return None
    nearest = np.abs(recording.time - np.array([starts, ends])[..., None]).argmin(axis=-1)
    return nearest.T.astype(np.int64)
