"""From a recording of points or of a skeleton to a person who moved."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.anatomy import transform
from simbench.motion.human_motion import Actor, Gap, HumanMotion, validate_motion
from simbench.motion.marker_maps.body_parts import (
    arm_joints,
    complete_arms,
    keep_bones,
    known_joints,
    missing_parts,
    segment_frames,
)
from simbench.motion.marker_maps.evaluation import Body
from simbench.motion.marker_maps.initial_posture import initial_pose
from simbench.motion.marker_maps.library import choose_map, renamed
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.marker_maps.unit_check import arm_length, check_unit, detect_unit
from simbench.motion.marker_maps.world import TURNS, check_mirror, find_vertical, placement
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.recordings import MarkerRecording, SkeletonRecording

STROKE_EVENTS = ("stroke start", "stroke end")


def to_human_motion(
    recording: MarkerRecording | SkeletonRecording, options: ReadOptions, filled: tuple[Gap, ...] = ()
) -> HumanMotion:
    """Apply the marker map that fits.

    Parameters
    ----------
    recording : MarkerRecording or SkeletonRecording
        Without gaps.
    options : ReadOptions
        What the user declared; `marker_map` chooses the map.
    filled : tuple of Gap
        Gaps that were filled before.

    Returns
    -------
    HumanMotion
        Validated: world z up, x along the heading at the start, origin below the pelvis (or the shoulders).

    Raises
    ------
    MotionError
        No map fits, no complete arm, a unit or a vertical axis that the body contradicts, a mirrored body.
    """
    source = recording.source
    if len(recording.time) < 2:
        raise MotionError(f"{source}: {len(recording.time)} frame(s) found; a motion needs at least 2 frames")
    map_name, marker_map = choose_map(recording.names, options.marker_map, source)
    skeleton = isinstance(recording, SkeletonRecording)
    body, notes = _body(recording, marker_map, options)
    if not skeleton and not marker_map.in_place:
        notes += keep_bones(body)
    joints = known_joints(body)
    sides = complete_arms(joints, source)
    segments = segment_frames(body, joints, sides)
    facing = [
        end - start
        for start, end in ((body.point(a), body.point(b)) for a, b in marker_map.facing)
        if start is not None and end is not None
    ]
    check_mirror(joints, facing, source)
    declared = options.up or recording.up or marker_map.up
    # Laboratories choose their axes and files are wrong about them; a skeleton format that has one knows.
    sure = options.up is not None or (skeleton and recording.up is not None)
    up, note = find_vertical(joints, declared, sure, source)
    notes += [note] if note else []
    world = _World(TURNS[up], np.zeros(3))
    markers = _markers(recording, marker_map, {**joints, **segments})
    if not marker_map.in_place:
        pelvis = segments.get("pelvis")
        feet = [track for track in map(body.point, marker_map.feet) if track is not None]
        turn, origin, note = placement(
            {name: world.move(track) for name, track in joints.items()},
            None if pelvis is None else world.turn @ pelvis[:, :3, :3],
            [world.move(foot) for foot in feet],
            skeleton,
        )
        world = _World(turn @ world.turn, turn @ origin)
        notes.append(note)
    joints = {name: world.move(track) for name, track in joints.items()}
    segments = {
        name: transform(world.turn @ frames[:, :3, :3], world.move(frames[:, :3, 3]))
        for name, frames in segments.items()
    }
    initial, note = initial_pose(recording.time, joints, segments)
    missing = missing_parts(body, joints, sides)
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
            markers={name: world.move(track) for name, track in markers.items()},
            missing=missing,
            filled=filled,
        )
    )


@dataclass(frozen=True)
class _World:
    """Our world from the file's axes: a turn, then an origin in the turned axes."""

    turn: Array
    origin: Array

    def move(self, track: Array) -> Array:
        return np.asarray(track @ self.turn.T - self.origin)


def _body(
    recording: MarkerRecording | SkeletonRecording, marker_map: MarkerMap, options: ReadOptions
) -> tuple[Body, list[str]]:
    """Scale the recording's points to metres; the arms must be human."""
    index = {name: k for k, name in enumerate(recording.names)}
    for known, alias in renamed(recording.names, marker_map):
        index[known] = index[alias]
    rate = (len(recording.time) - 1) / (recording.time[-1] - recording.time[0])
    turns, rest = {}, {}
    if isinstance(recording, SkeletonRecording):
        unit = options.unit or recording.unit or marker_map.unit
        in_file = 1.0
        turns = {name: recording.rotations[:, k] for name, k in index.items()}
        places = np.array(recording.offsets)
        for k, parent in enumerate(recording.parents):
            if parent >= 0:
                places[k] += places[parent]
        rest = {name: places[k] for name, k in index.items()}
    else:
        unit, in_file = recording.unit, UNITS[recording.unit]

    def scaled(name: str) -> Body:
        metres = UNITS[name] / in_file
        return Body(
            marker_map,
            {point: metres * recording.positions[:, k] for point, k in index.items()},
            rate,
            recording.source,
            turns,
            {point: metres * place for point, place in rest.items()},
        )

    def length_in(name: str) -> float:
        return arm_length(arm_joints(scaled(name)))

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
    """Tracks of the markers; of a recording of our own only those that are neither joints nor frames."""
    if isinstance(recording, SkeletonRecording):
        return {}
    tracks = {name: recording.positions[:, k] for k, name in enumerate(recording.names)}
    if not marker_map.in_place:
        return tracks
    ours = {f"{name}{end}" for name in known for end in ("", "_o", "_x", "_y")}
    return {name: track for name, track in tracks.items() if name not in ours}


def _actor(recording: MarkerRecording | SkeletonRecording) -> Actor | None:
    """Whom the file names."""
    if isinstance(recording, SkeletonRecording):
        return recording.actor
    details = recording.details
    if "actor" not in details or "height" not in details:
        return None
    mass, height, age = (float(details[key]) if key in details else None for key in ("mass", "height", "age"))
    return Actor(details["actor"], float(height or 0.0), mass, details.get("sex"), age)


def _strokes(recording: MarkerRecording | SkeletonRecording) -> NDArray[np.int64] | None:
    """Repetitions between events of their start and end."""
    events = recording.events if isinstance(recording, MarkerRecording) else ()
    starts, ends = (sorted(t for label, t in events if label == name) for name in STROKE_EVENTS)
    if not starts or len(starts) != len(ends):
        return None
    nearest = np.abs(recording.time - np.array([starts, ends])[..., None]).argmin(axis=-1)
    return nearest.T.astype(np.int64)
