"""From a recording of points or of a skeleton to a person who moved."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.motion.anatomy import SIDES, transform
from simbench.motion.human_motion import (
    ARM_JOINTS,
    ARM_SEGMENTS,
    Gap,
    HumanMotion,
    validate_motion,
)
from simbench.motion.marker_maps.evaluation import Body
from simbench.motion.marker_maps.initial_posture import initial_pose
from simbench.motion.marker_maps.library import choose_map, renamed
from simbench.motion.marker_maps.rigid_bones import keep_lengths
from simbench.motion.marker_maps.schema import MarkerMap
from simbench.motion.marker_maps.world import (
    TURNS,
    arm_length,
    check_mirror,
    check_unit,
    detect_unit,
    find_vertical,
    placement,
)
from simbench.motion.marker_recording import MarkerRecording
from simbench.motion.readers.options import UNITS, ReadOptions
from simbench.motion.skeleton_recording import SkeletonRecording

Array = NDArray[np.float64]

LEG_JOINTS = tuple(f"{side}_{joint}" for side in SIDES for joint in ("hip", "knee", "ankle"))
# A bone of this length is two joints in one place, m; lengths are kept to the second number.
NO_BONE, KEPT = 1e-3, 1e-9


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
        notes += _keep_bones(body)
    joints = _joints(body)
    sides = _arms(joints, source)
    segments = _segments(body, joints, sides)
    facing = [
        end - start
        for start, end in ((body.point(a), body.point(b)) for a, b in marker_map.facing)
        if start is not None and end is not None
    ]
    check_mirror(joints, facing, source)
    declared = options.up or recording.up or marker_map.up
    up, note = find_vertical(joints, declared, options.up is not None, source)
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
    missing = _missing(body, joints, sides)
    if "left" not in sides or "right" not in sides:
        notes.append(f"only the {sides[0]} arm is complete")
    return validate_motion(
        HumanMotion(
            time=recording.time,
            joints=joints,
            segments=segments,
            initial=initial,
            source=source,
            actor=None,
            strokes=None,
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
    """The recording's points in metres, with a human arm."""
    index = {name: k for k, name in enumerate(recording.names)}
    for known, alias in renamed(recording.names, marker_map):
        index[known] = index[alias]
    time, source = recording.time, recording.source
    rate = (len(time) - 1) / (time[-1] - time[0])
    if isinstance(recording, MarkerRecording):
        seen = {name: recording.positions[:, k] for name, k in index.items()}
        body = Body(marker_map, seen, rate, source)
        check_unit(arm_length(_arm_joints(body)), recording.unit, source)
        return body, []
    notes = []
    unit_name = options.unit or recording.unit or marker_map.unit
    if unit_name is None:
        raw = Body(marker_map, {name: recording.positions[:, k] for name, k in index.items()}, rate, source)
        unit_name = detect_unit(arm_length(_arm_joints(raw)), source)
        notes.append(f"unit {unit_name}: the one in which the arms are human")
    metres = UNITS[unit_name]
    rest = np.array(recording.offsets)
    for k, parent in enumerate(recording.parents):
        if parent >= 0:
            rest[k] += rest[parent]
    body = Body(
        marker_map,
        {name: metres * recording.positions[:, k] for name, k in index.items()},
        rate,
        source,
        turns={name: recording.rotations[:, k] for name, k in index.items()},
        rest={name: metres * rest[k] for name, k in index.items()},
    )
    check_unit(arm_length(_arm_joints(body)), unit_name, source)
    return body, notes


def _joints(body: Body) -> dict[str, Array]:
    tracks = {name: body.point(name) for name in body.marker_map.joints}
    return {name: track for name, track in tracks.items() if track is not None}


def _arm_joints(body: Body) -> dict[str, Array]:
    joints = {name: body.point(name) for name in ARM_JOINTS}
    known = {name: track for name, track in joints.items() if track is not None}
    _arms(known, body.source)
    return known


def _arms(joints: Mapping[str, Array], source: str) -> tuple[str, ...]:
    """Sides whose arm is complete; at least one."""
    sides = tuple(
        side
        for side in SIDES
        if all(f"{side}_{joint}" in joints for joint in ("shoulder", "elbow", "wrist"))
    )
    if not sides:
        absent = ", ".join(name for name in ARM_JOINTS if name not in joints)
        raise MotionError(f"{source}: no complete arm: the recording does not give {absent}")
    return sides


def _keep_bones(body: Body) -> list[str]:
    """Correct the arms' centres in place, so that bones keep their length; says by how much."""
    moved = []
    for side in SIDES:
        names = [f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist")]
        tracks = [track for track in map(body.point, names) if track is not None]
        if len(tracks) < 3:
            continue
        for (first, second), bone in zip((names[:2], names[1:]), np.diff(tracks, axis=0), strict=True):
            close = np.flatnonzero(np.linalg.norm(bone, axis=1) < NO_BONE)
            if close.size:
                raise MotionError(
                    f"{body.source}: joints {first} and {second} coincide at frame {close[0]}; they must be apart"
                )
        kept = keep_lengths(*tracks)
        for bone in np.diff(kept, axis=0):
            length = np.linalg.norm(bone, axis=1)
            off = np.abs(length - np.median(length))
            if off.max() > KEPT:
                raise MotionError(
                    f"{body.source}: the {side} arm's joints are so far off at frame {off.argmax()} that no arm "
                    "of constant length fits; look for swapped markers there"
                )
        moved.append(np.linalg.norm(np.subtract(kept, tracks), axis=2))
        body.points.update(zip(names, kept, strict=True))
    distance = np.concatenate(moved)
    # Frames were worked out from the centres before.
    body.frames.clear()
    rms, largest = 1000 * np.sqrt((distance**2).mean()), 1000 * distance.max()
    return [
        f"skin motion: joint centres of the arms moved by {rms:.1f} mm RMS, {largest:.1f} mm at most, so that "
        "bones keep their length"
    ]


def _segments(body: Body, joints: Mapping[str, Array], sides: tuple[str, ...]) -> dict[str, Array]:
    """Frames (T, 4, 4): those of the map, and a hand in line with the forearm where it has none."""
    segments = {}
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
                    f"{body.source}: the marker map has no way to the frame {side}_{segment} with these points"
                )
            rotation, place = frame
            segments[f"{side}_{segment}"] = transform(rotation, origin if place is None else place)
    for name in ("trunk", "pelvis"):
        frame = body.frame(name)
        if frame is None:
            continue
        rotation, place = frame
        if place is None:
            place = joints.get("pelvis" if name == "pelvis" else "chest")
        if place is not None:
            segments[name] = transform(rotation, place)
    return segments


def _markers(
    recording: MarkerRecording | SkeletonRecording, marker_map: MarkerMap, known: Mapping[str, Array]
) -> dict[str, Array]:
    """Tracks of the markers; of a recording of our own only those that are neither joints nor frames."""
    if isinstance(recording, SkeletonRecording):
        return {}
    ours = {f"{name}{end}" for name in known for end in ("", "_o", "_x", "_y")} if marker_map.in_place else set()
    return {name: recording.positions[:, k] for k, name in enumerate(recording.names) if name not in ours}


def _missing(body: Body, joints: Mapping[str, Array], sides: tuple[str, ...]) -> tuple[str, ...]:
    absent = [name for name in (*ARM_JOINTS, "pelvis", *LEG_JOINTS) if name not in joints]
    absent += [name for name in ARM_SEGMENTS if name.partition("_")[0] not in sides or body.frame(name) is None]
    absent += [name for name in ("trunk", "pelvis") if body.frame(name) is None]
    return tuple(dict.fromkeys(absent))
