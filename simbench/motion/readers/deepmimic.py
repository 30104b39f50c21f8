"""The motion-captured clips of DeepMimic (Peng et al. 2018) that the pybullet wheel carries.

A clip is JSON, 44 numbers a frame for the humanoid of `pybullet_data/humanoid/humanoid.urdf` scaled by 0.25,
y up, x forward, z right: duration; root position; quaternions (w, x, y, z) of root, chest, neck; right hip
quaternion, knee angle, ankle quaternion, shoulder quaternion, elbow angle; the same for the left.
"""

import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.motion.anatomy import HANGING_LIMB, transform
from simbench.motion.human_motion import Actor, HumanMotion, InitialPose, validate_motion

Array = NDArray[np.float64]

SCALE = 0.25
# Joint: parent, joint origin in the parent's frame (URDF units, y up), first column in a frame, columns used.
SKELETON: dict[str, tuple[str | None, tuple[float, float, float], int, int]] = {
    "pelvis": (None, (0.0, 0.0, 0.0), 4, 4),
    "chest": ("pelvis", (0.0, 0.944604, 0.0), 8, 4),
    "neck": ("chest", (0.0, 0.895576, 0.0), 12, 4),
    "right_hip": ("pelvis", (0.0, 0.0, 0.339548), 16, 4),
    "right_knee": ("right_hip", (0.0, -1.686184, 0.0), 20, 1),
    "right_ankle": ("right_knee", (0.0, -1.639480, 0.0), 21, 4),
    "right_shoulder": ("chest", (-0.096200, 0.974000, 0.732440), 25, 4),
    "right_elbow": ("right_shoulder", (0.0, -1.099152, 0.0), 29, 1),
    "left_hip": ("pelvis", (0.0, 0.0, -0.339548), 30, 4),
    "left_knee": ("left_hip", (0.0, -1.686184, 0.0), 34, 1),
    "left_ankle": ("left_knee", (0.0, -1.639480, 0.0), 35, 4),
    "left_shoulder": ("chest", (-0.096200, 0.974000, -0.732440), 39, 4),
    "left_elbow": ("left_shoulder", (0.0, -1.099152, 0.0), 43, 1),
}
WRIST = np.array([0.0, -1.035788, 0.0])
SOLE_CORNERS = np.array([(x, -0.2, z) for x in (-0.174, 0.534) for z in (-0.18, 0.18)])
COLUMNS, QUADRUPED_COLUMNS = 44, 20
# The published clips were interpolated without renormalising: lengths reach from 0.583 (`humanoid3d_kick`) to
# 1.07 (`humanoid3d_backflip`), yet turn smoothly. Outside this range the direction means nothing.
QUATERNION_LENGTHS = (0.5, 1.5)
# The URDF's sum of link masses, and sole to crown when it stands straight.
MASS, HEIGHT = 45.0, 1.62

# Y_UP rows: our x, y, z (forward, left, up) in the clip's axes.
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def clip_folder() -> Path | None:
    """Where the pybullet wheel keeps its clips, found without importing it; None when it is not installed."""
    spec = find_spec("pybullet_data")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "data" / "motions"


def clip_names() -> list[str]:
    """Names of the human clips in the installed pybullet wheel, sorted."""
    folder = clip_folder()
    return [] if folder is None else sorted(path.stem for path in folder.glob("humanoid3d_*.txt"))


def read_deepmimic(source: str | Path) -> HumanMotion:
    """Read a DeepMimic clip.

    World frame: z up, x along the pelvis's heading in the first frame, origin on the floor below that pelvis;
    the floor is the lowest point the soles reach in the clip. Each limb frame has x along the limb distally,
    and z lateral while the arm hangs with the palm at the thigh: z is dorsal at the hand, and the elbow
    flexes about -z at the left upper arm, about z at the right. Upper-arm and forearm frames lie in mid
    segment, the hand's at the wrist. The clips hold no pronation and no wrist: the hand is rigid with the
    forearm.

    Parameters
    ----------
    source : str or pathlib.Path
        A clip's name (`humanoid3d_dance_b`, with or without the prefix) or the path of such a file.

    Returns
    -------
    HumanMotion
        With `trunk` (at the chest joint) and `pelvis` segments: x forward, y left, z up when upright.

    Raises
    ------
    MotionError
        Unknown clip, unreadable file, wrong row length, NaN, quaternions that are not of unit length.
    """
    path = _find(str(source))
    frames, loop = _read_frames(path)
    rotations, joints = _forward_kinematics(frames)
    rotations, joints = _in_actor_frame(rotations, joints)
    # A frame's duration lasts until the next one, so the last one (mostly 0) carries no information.
    time = np.concatenate([[0.0], np.cumsum(frames[:-1, 0])])
    return validate_motion(
        HumanMotion(
            time=time,
            joints=joints,
            segments=_segments(rotations, joints),
            initial=_initial_pose(joints["pelvis"][0]),
            source=f"deepmimic:{path.stem}",
            actor=Actor(name="deepmimic", height=HEIGHT, mass=MASS),
            notes=(f"loop: {loop}", "no forearm pronation and no wrist motion in this format"),
        )
    )


def _find(source: str) -> Path:
    if source.endswith(".txt"):
        return Path(source)
    folder, names = clip_folder(), clip_names()
    if folder is None:
        raise MotionError(f"deepmimic:{source}: the clips are part of pybullet, which is not installed")
    for name in (source, f"humanoid3d_{source}"):
        if name in names:
            return folder / f"{name}.txt"
    raise MotionError(f"deepmimic:{source}: unknown clip; known: {', '.join(names)}")


def _read_frames(path: Path) -> tuple[Array, str]:
    """Read and check the (T, 44) numbers of a clip, and what it says of looping."""
    try:
        # As floats: an integer of hundreds of digits has no float64, its float is infinite and named below.
        content = json.loads(path.read_text(encoding="utf-8"), parse_int=float)
    except OSError as error:
        raise MotionError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise MotionError(f"{path}: not a DeepMimic clip, which is JSON: {error}") from error
    rows = content.get("Frames") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not rows:
        raise MotionError(f"{path}: not a DeepMimic clip, which has a non-empty list 'Frames'")
    for k, row in enumerate(rows):
        if not isinstance(row, list) or not all(isinstance(value, float) for value in row):
            raise MotionError(f"{path}: frame {k} is not a list of numbers")
        if len(row) != COLUMNS:
            hint = " (a quadruped's clip)" if len(row) == QUADRUPED_COLUMNS else ""
            raise MotionError(
                f"{path}: frame {k} has {len(row)} numbers{hint}; one of a human clip has {COLUMNS}"
            )
    frames = np.array(rows, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(frames))
    if bad.size:
        k, column = bad[0]
        what = _column_name(int(column))
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


def _column_name(column: int) -> str:
    if column < 4:
        return ("duration", "root x", "root y", "root z")[column]
    return next(name for name, (_, _, first, width) in SKELETON.items() if first <= column < first + width)


def _forward_kinematics(frames: Array) -> tuple[dict[str, Array], dict[str, Array]]:
    """Link rotations (T, 3, 3) and joint positions (T, 3), z up, in the clip's own world."""
    rotations: dict[str, Array] = {}
    joints: dict[str, Array] = {}
    for name, (parent, offset, column, width) in SKELETON.items():
        if width == 4:
            w, x, y, z = frames[:, column : column + 4].T
            local = Rotation.from_quat(np.stack([x, y, z, w], axis=1))
        else:
            local = Rotation.from_rotvec(frames[:, column, None] * np.array([0.0, 0.0, 1.0]))
        turn = Y_UP @ local.as_matrix() @ Y_UP.T
        if parent is None:
            rotations[name], joints[name] = turn, frames[:, 1:4] @ Y_UP.T
        else:
            rotations[name] = rotations[parent] @ turn
            joints[name] = joints[parent] + rotations[parent] @ _metres(offset)
    for side in ("left", "right"):
        joints[f"{side}_wrist"] = joints[f"{side}_elbow"] + rotations[f"{side}_elbow"] @ _metres(WRIST)
    return rotations, joints


def _metres(offset: Array | tuple[float, float, float]) -> Array:
    """URDF lengths, y up, as metres, z up."""
    return np.asarray(SCALE * np.asarray(offset) @ Y_UP.T)


def _in_actor_frame(
    rotations: Mapping[str, Array], joints: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """Turn and shift: the actor starts above the origin, looking along x, and the soles reach z = 0."""
    # The hip line gives a heading even to an actor who lies on the back, whose forward axis points up.
    left = rotations["pelvis"][0][:, 1]
    forward = np.array([left[1], -left[0]]) if np.hypot(*left[:2]) > 0.1 else rotations["pelvis"][0][:2, 0]
    turn = Rotation.from_euler("z", -np.arctan2(forward[1], forward[0])).as_matrix()
    soles = [
        joints[ankle][:, None] + _metres(SOLE_CORNERS) @ rotations[ankle].transpose(0, 2, 1)
        for ankle in ("left_ankle", "right_ankle")
    ]
    origin = np.array([*joints["pelvis"][0][:2], min(sole[..., 2].min() for sole in soles)])
    return (
        {name: turn @ rotation for name, rotation in rotations.items()},
        {name: (position - origin) @ turn.T for name, position in joints.items()},
    )


def _segments(rotations: Mapping[str, Array], joints: Mapping[str, Array]) -> dict[str, Array]:
    segments = {}
    for side, hanging in HANGING_LIMB.items():
        shoulder, elbow, wrist = (joints[f"{side}_{joint}"] for joint in ("shoulder", "elbow", "wrist"))
        upper_arm = rotations[f"{side}_shoulder"] @ hanging
        forearm = rotations[f"{side}_elbow"] @ hanging
        segments[f"{side}_upper_arm"] = transform(upper_arm, (shoulder + elbow) / 2)
        segments[f"{side}_forearm"] = transform(forearm, (elbow + wrist) / 2)
        segments[f"{side}_hand"] = transform(forearm, wrist)
    segments["trunk"] = transform(rotations["chest"], joints["chest"])
    segments["pelvis"] = transform(rotations["pelvis"], joints["pelvis"])
    return segments


def _initial_pose(pelvis: Array) -> InitialPose:
    """Upright with the pelvis at `pelvis` (3,), heading along x, arms straight and horizontal, palms down.

    The clips do not hold this posture, so it follows from the skeleton: shoulders flexed by 90 degrees
    without axial rotation, forearms pronated by 90 degrees.
    """
    position: dict[str, Array] = {}
    for name, (parent, offset, _, _) in SKELETON.items():
        position[name] = pelvis if parent is None else position[parent] + _metres(offset)
    segments = {}
    palm_down = np.eye(3)
    for side, hanging in HANGING_LIMB.items():
        shoulder = position[f"{side}_shoulder"]
        forward = Rotation.from_euler("y", -np.pi / 2).as_matrix() @ hanging
        elbow = shoulder + np.array([-_metres(SKELETON[f"{side}_elbow"][1])[2], 0.0, 0.0])
        wrist = elbow + np.array([-_metres(WRIST)[2], 0.0, 0.0])
        position[f"{side}_elbow"], position[f"{side}_wrist"] = elbow, wrist
        segments[f"{side}_upper_arm"] = transform(forward, (shoulder + elbow) / 2)
        segments[f"{side}_forearm"] = transform(palm_down, (elbow + wrist) / 2)
        segments[f"{side}_hand"] = transform(palm_down, wrist)
    segments["trunk"] = transform(np.eye(3), position["chest"])
    segments["pelvis"] = transform(np.eye(3), position["pelvis"])
    return InitialPose(joints=position, segments=segments)
