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
    compute_arm_joints,
    compute_known_joints,
    compute_segment_frames,
    enforce_bone_lengths,
    find_complete_arms,
    find_missing_parts,
)
from simbench.motion.marker_maps.evaluation import RecordedBody
from simbench.motion.marker_maps.initial_posture import find_initial_pose
from simbench.motion.marker_maps.library import choose_map, find_aliases
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.marker_maps.unit_check import check_unit, detect_unit, measure_arm_length
from simbench.motion.marker_maps.world import (
    WORLD_AXES,
    check_not_mirrored,
    find_vertical_axis,
    place_in_world,
)
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

STROKE_EVENTS = ("stroke start", "stroke end")


def to_human_motion(
    recording: MarkerRecording | SkeletonRecording, options: ReadOptions, filled: tuple[Gap, ...] = ()
) -> HumanMotion:
    """Convert a recording to human motion by the marker map that fits.

    Parameters
    ----------
    recording : MarkerRecording or SkeletonRecording
        The recording, without gaps.
    options : ReadOptions
        What the user declares; `marker_map` chooses the map.
    filled : tuple of Gap
        Gaps that were filled before.

    Returns
    -------
    HumanMotion
        The validated motion: world frame with z up, x along the heading at the start, origin below the pelvis
        (or the shoulders).

    Raises
    ------
    MotionError
        No map fits, no complete arm, a unit or a vertical axis that the body contradicts, a mirrored body.
    """
    source = recording.source
    if len(recording.time) < 2:
        raise MotionError(f"{source}: {len(recording.time)} frame(s) found; a motion needs at least 2 frames")
    skeleton = isinstance(recording, SkeletonRecording)
    map_name, marker_map = choose_map(recording.names, options.marker_map, source, skeleton)
    body, notes = _body(recording, marker_map, options)
    if not skeleton and not marker_map.in_place:
        notes += enforce_bone_lengths(body)
    joints = compute_known_joints(body)
    sides = find_complete_arms(joints, source)
    segments = compute_segment_frames(body, joints, sides)
    facing = [
        end - start
        for start, end in ((body.point(a), body.point(b)) for a, b in marker_map.facing)
        if start is not None and end is not None
    ]
    check_not_mirrored(joints, facing, source)
    declared = options.up or recording.up or marker_map.up
    # Laboratories choose their axes, and files may be wrong about them; a skeleton format that defines its
    # vertical axis is reliable.
    sure = options.up is not None or (skeleton and recording.up is not None)
    up, note = find_vertical_axis(joints, declared, sure, source)
    notes += [note] if note else []
    world = _WorldFrame(WORLD_AXES[up], np.zeros(3))
    markers = _markers(recording, marker_map, {**joints, **segments})
    if not marker_map.in_place:
        pelvis = segments.get("pelvis")
        feet = [track for track in map(body.point, marker_map.feet) if track is not None]
        rotation, origin, note = place_in_world(
            {name: world.transform(track) for name, track in joints.items()},
            None if pelvis is None else world.rotation @ pelvis[:, :3, :3],
            [world.transform(foot) for foot in feet],
            skeleton,
        )
        world = _WorldFrame(rotation @ world.rotation, rotation @ origin)
        notes.append(note)
    joints = {name: world.transform(track) for name, track in joints.items()}
    segments = {
        name: transform(world.rotation @ frames[:, :3, :3], world.transform(frames[:, :3, 3]))
        for name, frames in segments.items()
    }
    initial, note = find_initial_pose(recording.time, joints, segments)
    missing = find_missing_parts(body, joints, sides)
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
            notes=(*recording.notes, f"marker map: {map_name}", *body.notes, *notes, note),
            markers={name: world.transform(track) for name, track in markers.items()},
            missing=missing,
            filled=filled,
            doubts=recording.doubts,
        )
    )


@dataclass(frozen=True)
class _WorldFrame:
    """The world frame: its rotation from the file's axes, and its origin in the rotated axes, m."""

    rotation: Array
    origin: Array

    def transform(self, track: Array) -> Array:
        """Transform positions (T, 3) from the file's axes to the world frame."""
        return np.asarray(track @ self.rotation.T - self.origin)


def _body(
    recording: MarkerRecording | SkeletonRecording, marker_map: MarkerMap, options: ReadOptions
) -> tuple[RecordedBody, list[str]]:
    """Scale the recording's points to metres, in a unit in which the arms have human length; and notes."""
    index = {name: k for k, name in enumerate(recording.names)}
    for known, alias in find_aliases(recording.names, marker_map):
        index[known] = index[alias]
    rate = (len(recording.time) - 1) / (recording.time[-1] - recording.time[0])
    rotations, rest = {}, {}
    if isinstance(recording, SkeletonRecording):
        unit = options.unit or recording.unit or marker_map.unit
        in_file = 1.0
        rotations = {name: recording.rotations[:, k] for name, k in index.items()}
        positions = np.array(recording.offsets)
        for k, parent in enumerate(recording.parents):
            if parent >= 0:
                positions[k] += positions[parent]
        rest = {name: positions[k] for name, k in index.items()}
    else:
        unit, in_file = recording.unit, UNITS[recording.unit]

    def scaled(name: str) -> RecordedBody:
        metres = UNITS[name] / in_file
        return RecordedBody(
            marker_map,
            {point: metres * recording.positions[:, k] for point, k in index.items()},
            rate,
            recording.source,
            rotations,
            {point: metres * position for point, position in rest.items()},
        )

    def length_in(name: str) -> float:
        return measure_arm_length(compute_arm_joints(scaled(name)))

    notes = []
    if unit is None:
        unit = detect_unit(length_in, recording.source)
        notes.append(f"unit {unit}: the one in which the arms are human")
    else:
        check_unit(length_in, unit, recording.source)
    return scaled(unit), notes


def _markers(
    recording: MarkerRecording | SkeletonRecording, marker_map: MarkerMap, known: Mapping[str, Array]
) -> dict[str, Array]:
    """Tracks of the markers; if simbench wrote the recording, without those of joints and frames."""
    if isinstance(recording, SkeletonRecording):
        return {}
    tracks = {name: recording.positions[:, k] for k, name in enumerate(recording.names)}
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
