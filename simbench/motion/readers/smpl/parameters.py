"""The pose parameters of one person over time, from the names and shapes of an archive's arrays."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.readers.smpl.layouts import BODY_COUNT, LAYOUTS, SMPL, SMPL_H, SMPL_X, Layout
from simbench.motion.readers.smpl.persons import (
    BODY_POSE,
    FULL_POSE,
    RATE,
    ROOT_POSE,
    SEX,
    SHAPE,
    TRANSLATION,
    Person,
    as_numbers,
    as_text,
    drop_batch_axis,
    first_of,
)
from simbench.motion.readers.smpl.rotation_forms import (
    JointRotations,
    check_finite,
    find_rotations,
    knees_bend_backwards,
)

SEXES = {"male": "male", "m": "male", "female": "female", "f": "female"}
# Further parts of a pose: names, number of joints, and the joint of the layout with which the part begins.
HAND_COUNT = 15
PARTS = (
    (("pose_hand", "hand_pose"), 2 * HAND_COUNT, "left_index1"),
    (("left_hand_pose", "lhand_pose", "pose_left_hand"), HAND_COUNT, "left_index1"),
    (("right_hand_pose", "rhand_pose", "pose_right_hand"), HAND_COUNT, "right_index1"),
    (("jaw_pose", "pose_jaw"), 1, "jaw"),
    (("pose_eye", "eye_pose"), 2, "left_eye"),
    (("leye_pose", "left_eye_pose"), 1, "left_eye"),
    (("reye_pose", "right_eye_pose"), 1, "right_eye"),
)
FACE_NAMES = {
    name for names, _, joint in PARTS if joint in ("jaw", "left_eye", "right_eye") for name in names
}
# AIST++ divides its translations by this factor, and was recorded at this rate, Hz (Li et al. 2021).
AIST_SCALING, AIST_RATE = "smpl_scaling", 60.0
# Names that only estimates from video have.
CAMERA_NAMES = ("pred_cam", "orig_cam", "cam", "cam_trans", "pose_cam", "pred_trans", "bboxes", "img_focal")


@dataclass(frozen=True)
class PoseParameters:
    """Pose parameters of one person."""

    layout: Layout  # The joints.
    # Index of the first joint of each part, and the rotations of its joints; joints of no part do not move.
    parts: tuple[tuple[int, JointRotations], ...]
    translation: Array  # (T, 3): translation of the body, m.
    betas: Array  # (n,): shape parameters; none where the archive has none.
    sex: str | None  # `female` or `male`.
    rate: float | None  # Sampling rate, Hz, where the archive says so.
    # Whether only the joints of the body without hands are given, so that the model is not known.
    body_only: bool
    amass: bool  # Whether the names are those of AMASS, whose vertical axis is z.
    camera: bool  # Whether the names are those of estimates in a camera's axes.
    inverse: bool  # Whether the rotations are the inverses of those that are given.
    notes: tuple[str, ...]  # `notes`, `doubts`: what was left out or assumed, and what of it may be wrong.
    doubts: tuple[str, ...]

    def local_rotations(self, first: int, last: int, count: int) -> Array:
        """Compute the rotations of the first joints in a range of frames.

        `first`, `last`: the first frame, and the one after the last; `count`: number of joints, from the
        pelvis on. Returns (last - first, count, 3, 3): rotations from each joint's axes to its parent's.
        """
        rotations = np.empty((last - first, count, 3, 3))
        rotations[:] = np.eye(3)
        for start, part in self.parts:
            if start < count:
                kept = part._replace(values=part.values[:, : count - start])
                rotations[:, start : start + kept.joints] = kept.matrices(first, last)
        return rotations.swapaxes(-1, -2) if self.inverse else rotations


def read_parameters(person: Person, source: str) -> PoseParameters:
    """Read the pose parameters of a person. `source`: name of the recording, for messages."""
    where = f"{source}, {person.name}" if person.name else source
    values = person.values
    notes: list[str] = []
    doubts: list[str] = []
    layout, parts, body_only = _pose(values, where, notes)
    frames = len(parts[0][1].values)
    for start, part in parts:
        if len(part.values) != frames:
            raise MotionError(
                f"{where}: {len(part.values)} frames from {layout.names[start]} on, {frames} elsewhere; "
                "all arrays must have one row a frame"
            )
    forms = ", ".join(dict.fromkeys(part.form for _, part in parts))
    model = "SMPL family, the body's joints only" if body_only else layout.model
    notes.insert(0, f"{model}: {frames} frames of {forms}")
    inverse = _six_number_inverse(parts, notes, doubts)
    name = first_of(values, SEX)
    sex = None if name is None else SEXES.get((as_text(values[name]) or "").lower())
    translation = _translation(values, frames, where, doubts)
    keys = set(values)
    return PoseParameters(
        layout=layout,
        parts=tuple(parts),
        translation=translation,
        betas=_betas(values, where),
        sex=sex,
        rate=_rate(values, frames, where, notes),
        body_only=body_only,
        amass=("poses" in keys and "trans" in keys and any(key.startswith("mocap_") for key in keys))
        or "root_orient" in keys,
        camera=person.camera or (bool(keys & set(CAMERA_NAMES)) and not any("world" in key for key in keys)),
        inverse=inverse,
        notes=tuple(notes),
        doubts=tuple(doubts),
    )


def _pose(
    values: Mapping[str, Any], where: str, notes: list[str]
) -> tuple[Layout, list[tuple[int, JointRotations]], bool]:
    """Find the layout, the parts of the pose, and whether only the body's joints are given."""
    root, body = first_of(values, ROOT_POSE), first_of(values, BODY_POSE)
    full = first_of(values, FULL_POSE)
    if full is not None and not (full in ("pose", "pose_cam", "pred_pose") and root and body):
        whole = find_rotations(_array(values, full, where), {*LAYOUTS, BODY_COUNT}, f"{where}, {full}")
        layout = LAYOUTS.get(whole.joints, SMPL)
        return layout, [(0, whole)], whole.joints == BODY_COUNT
    if root is None or body is None:
        raise MotionError(f"{where}: no pose; needed: {FULL_POSE[0]}, or {ROOT_POSE[1]} and {BODY_POSE[0]}")
    parts = [(0, find_rotations(_array(values, root, where), {1}, f"{where}, {root}"))]
    found = find_rotations(
        _array(values, body, where), {BODY_COUNT - 1, len(SMPL.names) - 1}, f"{where}, {body}"
    )
    parts.append((1, found))
    if found.joints == len(SMPL.names) - 1:
        return SMPL, parts, False
    face = any(name in values for name in FACE_NAMES)
    layout = SMPL_X if face else SMPL_H
    hands = []
    for names, count, joint in PARTS:
        key = first_of(values, names)
        if key is None or joint not in layout.names:
            continue
        array = as_numbers(values[key])
        array = None if array is None else drop_batch_axis(array)
        width = 0 if array is None or array.ndim < 2 else array[0].size
        if array is None or width not in (3 * count, 6 * count, 9 * count):
            notes.append(
                f"{key} left out: its rows of {width} numbers are not the rotations of {count} joints"
            )
            continue
        hands.append((layout.names.index(joint), find_rotations(array, {count}, f"{where}, {key}")))
    if not hands:
        return SMPL, parts, True
    return layout, parts + hands, False


def _array(values: Mapping[str, Any], key: str, where: str) -> np.ndarray[Any, Any]:
    """Return an array of numbers with one row a frame."""
    array = as_numbers(values[key])
    if array is None:
        raise MotionError(f"{where}, {key}: not an array of numbers")
    return drop_batch_axis(array)


def _six_number_inverse(parts: list[tuple[int, JointRotations]], notes: list[str], doubts: list[str]) -> bool:
    """Tell by the knees whether rotations of six numbers are to be inverted: rows or columns of a matrix."""
    body = next((part for start, part in parts if start <= 4 < start + part.joints), None)
    if body is None or body.order != "rows":
        return False
    first = next(start for start, part in parts if part is body)
    step = max(1, len(body.values) // 2000)
    knees = body._replace(values=body.values[::step, 4 - first : 6 - first])
    backwards = knees_bend_backwards(knees.matrices(0, len(knees.values)))
    if backwards is None:
        doubts.append(
            "rotations of six numbers are read as the first two rows of the matrices; the knees do not bend "
            "enough to tell whether they are the columns"
        )
        return False
    kind = "columns" if backwards else "rows"
    notes.append(f"rotations of six numbers: the first two {kind} of the matrices, by the bend of the knees")
    return backwards


def _translation(values: Mapping[str, Any], frames: int, where: str, doubts: list[str]) -> Array:
    """Read the translation (T, 3), m; zero where there is none."""
    key = first_of(values, TRANSLATION)
    if key is None:
        doubts.append("no translation in the file: the pelvis stays in place")
        return np.zeros((frames, 3))
    array = _array(values, key, where)
    if array.size != 3 * frames or len(array) != frames:
        raise MotionError(f"{where}, {key}: shape {array.shape}; it must be ({frames}, 3), one row a frame")
    check_finite(array, f"{where}, {key}")
    scaling = as_numbers(values[AIST_SCALING]) if AIST_SCALING in values else None
    factor = 1.0
    if scaling is not None:
        factor = float(scaling.reshape(-1)[0]) if scaling.size else 0.0
        if not 1e-3 < factor < 1e5:
            raise MotionError(f"{where}, {AIST_SCALING}: {factor:g}; allowed: 0.001 to 100000")
    return array.reshape(frames, 3).astype(np.float64) / factor


def _betas(values: Mapping[str, Any], where: str) -> Array:
    """Read the shape parameters (n,): their mean where there is one row a frame."""
    key = first_of(values, SHAPE)
    array = None if key is None else as_numbers(values[key])
    if array is None or array.size == 0 or array.ndim > 3:
        return np.zeros(0)
    betas = array.reshape(-1, array.shape[-1]).astype(np.float64) if array.ndim else np.zeros((1, 0))
    check_finite(betas, f"{where}, {key}")
    return np.asarray(betas.mean(axis=0))


def _rate(values: Mapping[str, Any], frames: int, where: str, notes: list[str]) -> float | None:
    """Read the sampling rate, Hz, or find it by the names."""
    key = first_of(values, RATE)
    if key is None:
        if AIST_SCALING in values:
            notes.append(f"{AIST_RATE:g} frames a second, those of AIST++, whose names the file has")
            return AIST_RATE
        return None
    array = as_numbers(values[key])
    rate = float(array.reshape(-1)[0]) if array is not None and array.size == 1 else float("nan")
    if not 1.0 <= rate <= 10_000.0:
        raise MotionError(f"{where}, {key}: {rate:g}; it must be one number of frames a second, 1 to 10000")
    return rate
