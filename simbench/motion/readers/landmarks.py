"""Reader of landmarks in JSON, as programs around MediaPipe Pose write them: frames of points `{x, y, z}`.

There is no format that all of them share. A frame is a list of points, or an object that holds one under a
telling name, perhaps with a time; a point is an object or a list of three to five numbers, of which the
fourth is its visibility.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from simbench.errors import MotionError
from simbench.files.json_document import parse_json
from simbench.files.text import parse_whole_number, read_text
from simbench.motion.read_options import ReadOptions
from simbench.motion.readers.csv_reader import FRACTIONS, LARGEST_TIME, STEPS
from simbench.motion.readers.joint_array import ASSUMED_RATE, FEWEST_JOINTS, read_joint_array
from simbench.motion.readers.marker_tables import find_times
from simbench.motion.recordings import MarkerRecording
from simbench.system.limits import MOST_NUMBERS, require_at_most

MEDIAPIPE = 33  # Landmarks of MediaPipe Pose.
LARGEST_FILE = 200_000_000  # Size, bytes: five minutes at 120 Hz.
# Where landmarks are, world landmarks first: those of an image are refused.
POSES = (
    *("pose_world_landmarks", "poseWorldLandmarks", "world_landmarks", "worldLandmarks", "keypoints3D"),
    *("pose_landmarks_world", "keypoints_3d", "landmark", "landmarks", "pose_landmarks", "poseLandmarks"),
    *("pose", "keypoints", "joints", "points"),
)
FRAMES = ("frames", "results", "poses", "sequence", "data", *POSES)
TIMES = ("timestamp_ms", "timestampMs", "timestamp", "time_ms", "time_s", "time", "t")
VISIBILITY = ("visibility", "score", "confidence")
KNOWN = (
    "frames of landmarks: a list, perhaps under frames, of lists of points {x, y, z, visibility}, as the 33 "
    "of MediaPipe, perhaps under pose_world_landmarks"
)


def read_landmarks(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read the landmarks of one person in every frame.

    `options`: what the user declares, as for arrays of joints. Returns the landmarks as named points, m.
    """
    source = str(path)
    content = parse_json(read_text(path, MotionError, LARGEST_FILE), source, MotionError, non_finite="kept")
    frames = _find_frames(content)
    poses = [_find_pose(frame) for frame in frames]
    names = next((tuple(pose) for pose in poses if pose), ())
    if len(frames) < 2 or not names:
        keys = (
            f"an object of {', '.join(map(repr, content))[:100]}" if isinstance(content, dict) else "a list"
        )
        raise MotionError(f"{source}: holds {keys if content else 'nothing'}; known: {KNOWN}")
    odd = next((k for k, pose in enumerate(poses) if pose and tuple(pose) != names), None)
    if odd is not None:
        raise MotionError(
            f"{source}: frame {odd + 1} has other points than the first; all need the same {len(names)}"
        )
    require_at_most(len(frames) * len(names) * 4, MOST_NUMBERS, f"{source}: numbers", MotionError)
    table = np.array(
        [[*pose.values()] if pose else [(np.nan, np.nan, np.nan, 1.0)] * len(names) for pose in poses]
    )
    arrays = {"keypoints_3d": table if (table[..., 3] != 1.0).any() else table[..., :3]}
    scalars = content.items() if isinstance(content, dict) else ()
    arrays |= {key: np.array(value, dtype=float) for key, value in scalars if _is_number(value)}
    if not all(name.isdecimal() for name in names):
        arrays["joint_names"] = np.array([name.lower() for name in names])
    elif len(names) == MEDIAPIPE:
        options = replace(options, skeleton=options.skeleton or "mediapipe")
    # Times of the frames in any unit, NaN where a frame has none.
    written = [
        [frame[key] for key in TIMES if _is_number(frame.get(key))] if isinstance(frame, dict) else []
        for frame in frames
    ]
    times = np.array([float(each[0]) if each and abs(each[0]) < LARGEST_TIME else np.nan for each in written])
    if options.fps is not None or not np.isfinite(times).all():
        return read_joint_array(arrays, "keypoints_3d", source, options)
    step, (low, high) = float(np.median(np.diff(times))), STEPS
    fraction = next((each for each in FRACTIONS.values() if low <= step * each <= high), 1.0)
    time = find_times((times - times[0]) * fraction, None, source)
    return replace(
        read_joint_array(arrays, "keypoints_3d", source, replace(options, fps=ASSUMED_RATE)), time=time
    )


def _find_frames(value: Any) -> list[Any]:
    """Find the list of frames; an object may have them by number."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    if value and all(parse_whole_number(key) is not None for key in value):
        return [value[key] for key in sorted(value, key=int)]
    return _find_frames(next((value[key] for key in FRAMES if isinstance(value.get(key), list | dict)), None))


def _find_pose(frame: Any) -> dict[str, tuple[float, ...]]:
    """Find the landmarks of the first person in a frame: x, y, z and visibility, by name or number."""
    listed = isinstance(frame, list)
    items = [*frame.items()] if isinstance(frame, dict) else [*enumerate(frame)] if listed else []
    points: dict[str, tuple[float, ...]] = {}
    for key, point in items:
        name, numbers = str(key), point
        if isinstance(point, dict):
            name = str(point.get("name", key)) if listed else name
            seen = next((point[word] for word in VISIBILITY if word in point), 1.0)
            numbers = [*(point.get(axis) for axis in "xyz"), seen]
        if isinstance(numbers, list) and 3 <= len(numbers) <= 5 and all(_is_number(each) for each in numbers):
            points[name] = tuple(float(each) for each in (*numbers, 1.0)[:4])
    if len(points) >= FEWEST_JOINTS and (len(points) == len(items) or not listed):
        return points
    inner = (frame[:1] or [None])[0] if listed else None
    if isinstance(frame, dict):
        inner = next((frame[key] for key in POSES if frame.get(key)), None)
    return _find_pose(inner) if inner else {}


def _is_number(value: Any) -> bool:
    """Tell whether a value of a JSON text is a number; one that is not finite is no error."""
    return isinstance(value, int | float) and not isinstance(value, bool)
