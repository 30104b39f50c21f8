"""Reader of the motion-captured clips of DeepMimic (Peng et al. 2018) that the pybullet wheel contains.

A clip is JSON, 44 numbers a frame for the humanoid of `pybullet_data/humanoid/humanoid.urdf` scaled by 0.25,
y up, x forward, z right: duration; root position; quaternions (w, x, y, z) of root, chest, neck; right hip
quaternion, knee angle, ankle quaternion, shoulder quaternion, elbow angle; the same for the left.
"""

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.json_document import parse_json
from simbench.files.text import read_text
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.human_motion import Actor, check_time
from simbench.motion.readers.marker_tables import LARGEST_NUMBER
from simbench.motion.recordings import SkeletonRecording, compute_world_poses
from simbench.motion.shipped import LARGEST_CLIP, clip_folder, clip_names
from simbench.robot.sides import SIDES

SCALE = 0.25
# Joint: parent, joint origin in the parent's frame (URDF units, y up), first column and number of columns.
SKELETON: dict[str, tuple[str | None, tuple[float, float, float], int, int]] = read_yaml(
    Path(__file__).with_suffix(".yaml"), MotionError
).value
# End sites: the wrist in the elbow's frame, the corners of the sole in the ankle's.
WRIST = (0.0, -1.035788, 0.0)
SOLE_CORNERS = tuple((x, -0.2, z) for x in (-0.174, 0.534) for z in (-0.18, 0.18))
COLUMNS, QUADRUPED_COLUMNS = 44, 20
# The published clips were interpolated without renormalising: lengths reach from 0.583 (`humanoid3d_kick`) to
# 1.07 (`humanoid3d_backflip`), yet the rotation is smooth. Outside this range the direction is meaningless.
QUATERNION_LENGTHS = (0.5, 1.5)
# Sum of the URDF's link masses, kg, and height from sole to crown when it stands straight, m.
MASS, HEIGHT = 45.0, 1.62


def read_deepmimic(source: str | Path) -> SkeletonRecording:
    """Read a DeepMimic clip.

    `source`: A clip's name (`humanoid3d_dance_b`, with or without the prefix) or the path of such a file.
    Returns the humanoid's joints, then wrists and corners of the soles as end sites; m, y up. The clips
    contain no pronation and no wrist motion. Raises MotionError unknown clip, unreadable file, wrong row
    length, NaN, quaternions that are not of unit length, time that does not increase.
    """
    folder, known, text = clip_folder(), clip_names(), str(source)
    path = Path(text)
    if not text.endswith(".txt"):
        if folder is None:
            raise MotionError(f"deepmimic:{text}: the clips are part of pybullet, which is not installed")
        found = next((name for name in (text, f"humanoid3d_{text}") if name in known), None)
        if found is None:
            raise MotionError(f"deepmimic:{text}: unknown clip; known: {', '.join(known)}")
        path = folder / f"{found}.txt"
    frames, loop = _read_frames(path)
    nodes: dict[str, tuple[str | None, tuple[float, ...]]] = {
        name: (parent, offset) for name, (parent, offset, _, _) in SKELETON.items()
    }
    for side in SIDES:
        nodes[f"{side}_wrist"] = (f"{side}_elbow", WRIST)
        for k, corner in enumerate(SOLE_CORNERS):
            nodes[f"{side}_sole_{k}"] = (f"{side}_ankle", corner)
    names = tuple(nodes)
    parents = np.array([-1 if parent is None else names.index(parent) for parent, _ in nodes.values()])
    offsets = SCALE * np.array([offset for _, offset in nodes.values()])
    local_positions = np.tile(offsets, (len(frames), 1, 1))
    local_positions[:, 0] = frames[:, 1:4]
    # From each joint's axes to its parent's.
    local_rotations = np.tile(np.eye(3), (len(frames), len(names), 1, 1))
    for joint, (_, _, column, width) in enumerate(SKELETON.values()):
        if width == 4:
            rotation = Rotation.from_quat(frames[:, column : column + 4], scalar_first=True)
        else:
            rotation = Rotation.from_rotvec(frames[:, column, None] * np.array([0.0, 0.0, 1.0]))
        local_rotations[:, joint] = rotation.as_matrix()
    positions, rotations = compute_world_poses(parents, local_positions, local_rotations)
    # The duration of a frame is the time until the next one, so the last one (mostly 0) carries no
    # information.
    time = np.concatenate([[0.0], np.cumsum(frames[:-1, 0])])
    check_time(time, f"deepmimic:{path.stem}")
    actor = Actor(name="deepmimic", height=HEIGHT, mass=MASS)
    notes = (f"loop: {loop}", "no forearm pronation and no wrist motion in this format")
    bodies = parents, offsets, positions, rotations
    return SkeletonRecording(time, names, *bodies, f"deepmimic:{path.stem}", "m", "y", actor, notes=notes)


def _read_frames(path: Path) -> tuple[Array, str]:
    """Read and check the (T, 44) numbers of a clip, and what it says about looping."""
    text = read_text(path, MotionError, LARGEST_CLIP)
    try:
        content = parse_json(text, str(path), MotionError, non_finite="kept")
    except MotionError as error:
        raise MotionError(f"{error}; a .txt file is read as a DeepMimic clip, which is JSON") from None
    rows = content.get("Frames") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise MotionError(f"{path}: not a DeepMimic clip, which has a non-empty list 'Frames'")
    for k, row in enumerate(rows):
        if not isinstance(row, list) or not all(type(value) in (int, float) for value in row):
            raise MotionError(f"{path}: frame {k} is not a list of numbers")
        if len(row) != COLUMNS:
            hint = " (a quadruped's clip)" if len(row) == QUADRUPED_COLUMNS else ""
            raise MotionError(
                f"{path}: frame {k} has {len(row)} numbers{hint}; one of a human clip has {COLUMNS}"
            )
    frames = np.array(rows, dtype=np.float64)
    bad = np.argwhere(~(np.abs(frames) <= LARGEST_NUMBER))
    if bad.size:
        k, column = bad[0]
        joints = (name for name, (_, _, start, width) in SKELETON.items() if start <= column < start + width)
        what = next(joints) if column >= 4 else ("duration", "root x", "root y", "root z")[column]
        raise MotionError(f"{path}: frame {k}, {what}: {frames[k, column]}; it must be a finite number")
    for joint, (_, _, column, width) in SKELETON.items():
        if width == 4:
            norm = np.linalg.norm(frames[:, column : column + 4], axis=1)
            low, high = QUATERNION_LENGTHS
            off = np.flatnonzero((norm < low) | (norm > high))
            if off.size:
                raise MotionError(
                    f"{path}: frame {off[0]}, {joint}: quaternion of length {norm[off[0]]:.4g}; "
                    f"it should be 1, and is accepted from {low} to {high}"
                )
    return frames, str(content.get("Loop", "unknown"))
