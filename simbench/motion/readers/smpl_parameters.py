"""The pose parameters of the persons in an archive of the SMPL family: where they are, and in what form.

The forms of rotations, axis-angle, 6D, or matrices, are told by the shapes of the arrays.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.files.arrays import UNNAMED
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.robot.sides import SIDES
from simbench.system.limits import RATES

_BODY = {
    "pelvis": None, "left_hip": "pelvis", "right_hip": "pelvis", "spine1": "pelvis", "left_knee": "left_hip",
    "right_knee": "right_hip", "spine2": "spine1", "left_ankle": "left_knee", "right_ankle": "right_knee",
    "spine3": "spine2", "left_foot": "left_ankle", "right_foot": "right_ankle", "neck": "spine3",
    "left_collar": "spine3", "right_collar": "spine3", "head": "neck", "left_shoulder": "left_collar",
    "right_shoulder": "right_collar", "left_elbow": "left_shoulder", "right_elbow": "right_shoulder",
    "left_wrist": "left_elbow", "right_wrist": "right_elbow",
}  # fmt: skip
_HANDS = {"left_hand": "left_wrist", "right_hand": "right_wrist"}
_FACE = {"jaw": "head", "left_eye": "head", "right_eye": "head"}
FINGERS = ("index", "middle", "pinky", "ring", "thumb")
_FINGERS = {
    f"{side}_{finger}{k}": f"{side}_{finger}{k - 1}" if k > 1 else f"{side}_wrist"
    for side in SIDES
    for finger in FINGERS
    for k in (1, 2, 3)
}
BODY_COUNT = len(_BODY)  # Number of the joints that all three models begin with.


@dataclass(frozen=True)
class Layout:
    """The joints of one body model."""

    model: str  # `SMPL`, `SMPL-H` or `SMPL-X`.
    parent: Mapping[str, str | None]  # In the order of the pose parameters; parents before children.

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the joints in the order of the pose parameters."""
        return tuple(self.parent)

    @property
    def parents(self) -> NDArray[np.int64]:
        """Index (J,) of each joint's parent, -1 for the pelvis."""
        index = {name: number for number, name in enumerate(self.parent)}
        return np.array(
            [-1 if name is None else index[name] for name in self.parent.values()], dtype=np.int64
        )


SMPL = Layout("SMPL", {**_BODY, **_HANDS})
SMPL_H = Layout("SMPL-H", {**_BODY, **_FINGERS})
SMPL_X = Layout("SMPL-X", {**_BODY, **_FACE, **_FINGERS})
# Layouts by number of joints: 24, 52, 55.
LAYOUTS = {len(layout.parent): layout for layout in (SMPL, SMPL_H, SMPL_X)}
# Names of the same quantity in archives and in the output of programs.
_NAMES = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
FULL_POSE, ROOT_POSE, BODY_POSE = _NAMES["full_pose"], _NAMES["root_pose"], _NAMES["body_pose"]
TRANSLATION, SHAPE, SEX, RATE = (_NAMES[key] for key in ("translation", "shape", "sex", "rate"))
# Numbers of a row of a full pose, at least, and of the root's: 22 joints of axis-angle, one of any form.
BODY_WIDTH, ROOT_WIDTHS = 66, (3, 6, 9)
# Containers are looked into to this depth, and at most so many persons are listed.
DEPTH, MAX_PERSONS = 4, 1000
# A container of parameters has fewer names, and numbers in nested lists are fewer, than this.
MAX_NAMES, MAX_NUMBERS = 1000, 20_000_000
# Names that belong to all persons when they stand beside the containers of the persons.
SHARED = (*RATE, *SEX, *SHAPE, *TRANSLATION)
SEXES = {"male": "male", "m": "male", "female": "female", "f": "female"}
FACE_NAMES = {
    name for names, _, joint in _NAMES["parts"] if joint in ("jaw", "left_eye", "right_eye") for name in names
}
# AIST++ divides its translations by this factor, and was recorded at this rate, Hz (Li et al. 2021).
AIST_SCALING, AIST_RATE = "smpl_scaling", 60.0
FORMS = {3: "axis-angle", 6: "6D", 9: "rotation matrices"}
# Matrices and 6D numbers of estimators are orthonormal to about 1e-6, in single precision or with filtering
# less; beyond this they are no rotations.
ORTHONORMAL = 0.1
# Angle of a joint other than the root beyond which the numbers are degrees, rad: none of the body bends
# farther than half a turn, and some archives add a turn.
LARGEST_ANGLE = 3.2 * np.pi
# Larger than any number of a recording: a million radians, or metres.
LARGEST_NUMBER = 1e6
# Frames that are checked at a time, so that intermediate arrays stay small.
CHUNK = 4096
# Mean bend of the knees that tells a rotation from its inverse, rad.
KNEE_BEND = 0.05


def first_of(values: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Find the first name that is there; None if there is none."""
    return next((name for name in names if name in values and values[name] is not None), None)


def has_smpl_parameters(content: Mapping[str, Any]) -> bool:
    """Tell whether a file's contents are pose parameters of the SMPL family.

    `content`: contents by name. Returns whether at least one person is found.
    """
    return next(_persons(content, (), {}, set()), None) is not None


def find_persons(content: Mapping[str, Any]) -> list["Person"]:
    """Find the persons of a file.

    `content`: contents by name. Returns persons in the order of the file; where a person is there in the axes
    of the world and of a camera, only the former.
    """
    found = list(islice(_persons(content, (), {}, set()), MAX_PERSONS))
    in_world = [person for person in found if not person.camera]
    return in_world or found


def _persons(
    content: Any, path: tuple[str, ...], outer: Mapping[str, Any], seen: set[int]
) -> Iterator["Person"]:
    """Find persons in nested containers.

    `outer` holds the values of the containers around that belong to all persons, `seen` the identities of the
    containers that were looked into, because one may be there many times.
    """
    if not isinstance(content, list | Mapping) or id(content) in seen or len(path) > DEPTH:
        return
    seen.add(id(content))
    if isinstance(content, list):
        for k, item in enumerate(content):
            yield from _persons(item, (*path, str(k)), outer, seen)
        return
    pose = first_of(content, FULL_POSE)
    root, body = first_of(content, ROOT_POSE), first_of(content, BODY_POSE)
    key = pose if pose is not None else root if body is not None else None
    if key is not None and len(content) <= MAX_NAMES:
        poses = content[key]
        if (
            isinstance(poses, list)
            and poses
            and all(isinstance(p, np.ndarray) and p.ndim >= 2 for p in poses)
        ):
            # One array, and one item of the other lists, for each of several persons.
            for k in range(min(len(poses), MAX_PERSONS)):
                items = {
                    name: value[k] if isinstance(value, list) and len(value) == len(poses) else value
                    for name, value in content.items()
                }
                yield from _persons(items, (*path, str(k)), outer, seen)
            return
        array = as_numbers(poses)
        if array is not None and array.ndim >= 2 and len(array):
            # The rows may be rotations: of all joints, or of the root.
            rows = drop_batch_axis(array)
            width = rows[0].size
            if (width >= BODY_WIDTH and width % 3 == 0) if pose is not None else width in ROOT_WIDTHS:
                words = "_".join(path).lower()
                camera = any(word in words for word in _NAMES["camera_words"])
                camera &= not any(word in words for word in _NAMES["world_words"])
                yield Person("/".join(path), {**outer, **content}, len(rows), camera)
                return
    shared = {name: content[name] for name in SHARED if name in content}
    for name, value in content.items():
        label = () if name == UNNAMED else (name,)
        yield from _persons(value, (*path, *label), {**outer, **shared}, seen)


def drop_batch_axis(array: NDArray[Any]) -> NDArray[Any]:
    """Remove the axis that programs keep for a batch of one row."""
    return array[0] if array.ndim > 2 and len(array) == 1 and array.shape[1] > 1 else array


def as_numbers(value: Any) -> NDArray[Any] | None:
    """Return an array, a number, or lists of them, as an array of numbers; None if it is anything else."""
    if isinstance(value, list):
        # The numbers of nested lists whose items have equal lengths.
        count, inner = 1, cast(Any, value)
        while isinstance(inner, list) and inner:
            count *= len(inner)
            inner = inner[0]
        if isinstance(inner, np.ndarray):
            count *= inner.size
        elif not isinstance(inner, int | float | np.generic):
            count = 0
        if not 0 < count <= MAX_NUMBERS:
            return None
        try:
            value = np.array(value)
        except ValueError:
            return None
    if isinstance(value, bool | int | float | np.generic):
        value = np.asarray(value)
    return value if isinstance(value, np.ndarray) and value.dtype.kind in "iufb" else None


class JointRotations(NamedTuple):
    """Rotations of several joints over time in one form."""

    values: NDArray[Any]  # (T, n, k): numbers of each joint.
    # Where a 6D form has its six numbers: `rows` (the first two rows of the matrix), `columns` (its first two
    # columns one after the other), `pairs` (the same columns, row by row); empty for other forms.
    order: str = ""

    @property
    def joints(self) -> int:
        """Number of joints."""
        return int(self.values.shape[1])

    @property
    def form(self) -> str:
        """Name of the form."""
        return FORMS[self.values.shape[2]]

    def matrices(self, first: int, last: int) -> Array:
        """Compute rotation matrices of a range of frames.

        `first`, `last`: the first frame, and the one after the last. Returns (last - first, n, 3, 3):
        rotations from each joint's axes to its parent's. Six numbers are completed by Gram-Schmidt (Zhou et
        al. 2019).
        """
        # A copy, because SciPy refuses arrays that are read-only, as those of files are.
        values = np.array(self.values[first:last], dtype=np.float64)
        flat = values.reshape(-1, values.shape[2])
        if values.shape[2] == 3:
            matrices = Rotation.from_rotvec(flat).as_matrix()
        elif values.shape[2] == 9:
            matrices = Rotation.from_matrix(flat.reshape(-1, 3, 3)).as_matrix()
        else:
            one, other = _split_vectors(flat, self.order)
            one = one / np.maximum(np.linalg.norm(one, axis=1, keepdims=True), 1e-9)
            other = other - (one * other).sum(axis=1, keepdims=True) * one
            other = other / np.maximum(np.linalg.norm(other, axis=1, keepdims=True), 1e-9)
            matrices = np.stack([one, other, np.cross(one, other)], axis=-2 if self.order == "rows" else -1)
        return np.asarray(matrices.reshape(*values.shape[:2], 3, 3))


class Person(NamedTuple):
    """The parameters of one person."""

    name: str  # Where in the file they are, as the names of the containers; empty at the top.
    values: Mapping[str, Any]  # Arrays and other values by name, those of the containers included.
    frames: int  # Number of frames.
    camera: bool  # Whether the name of a container says that the axes are a camera's.

    def read_rows(self, key: str, where: str) -> NDArray[Any]:
        """Return an array of numbers with one row a frame."""
        array = as_numbers(self.values[key])
        if array is None:
            raise MotionError(f"{where}, {key}: not an array of numbers")
        return drop_batch_axis(array)

    def read_pose(
        self, where: str, notes: list[str]
    ) -> tuple[Layout, list[tuple[int, JointRotations]], bool]:
        """Find the layout, the parts of the pose, and whether only the body's joints are given."""
        root, body = first_of(self.values, ROOT_POSE), first_of(self.values, BODY_POSE)
        full = first_of(self.values, FULL_POSE)
        if full is not None and not (full in ("pose", "pose_cam", "pred_pose") and root and body):
            whole = find_rotations(self.read_rows(full, where), {*LAYOUTS, BODY_COUNT}, f"{where}, {full}")
            return LAYOUTS.get(whole.joints, SMPL), [(0, whole)], whole.joints == BODY_COUNT
        if root is None or body is None:
            raise MotionError(
                f"{where}: no pose; needed: {FULL_POSE[0]}, or {ROOT_POSE[1]} and {BODY_POSE[0]}"
            )
        counts = {BODY_COUNT - 1, len(SMPL.names) - 1}
        first = find_rotations(self.read_rows(root, where), {1}, f"{where}, {root}")
        found = find_rotations(self.read_rows(body, where), counts, f"{where}, {body}")
        parts = [(0, first), (1, found)]
        if found.joints == len(SMPL.names) - 1:
            return SMPL, parts, False
        layout = SMPL_X if any(name in self.values for name in FACE_NAMES) else SMPL_H
        hands = []
        for names, count, joint in _NAMES["parts"]:
            key = first_of(self.values, names)
            if key is None or joint not in layout.names:
                continue
            array = as_numbers(self.values[key])
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

    def read_translation(self, frames: int, where: str, doubts: list[str]) -> Array:
        """Read the translation (T, 3), m; zero where there is none."""
        key = first_of(self.values, TRANSLATION)
        if key is None:
            doubts.append("no translation in the file: the pelvis stays in place")
            return np.zeros((frames, 3))
        array = self.read_rows(key, where)
        if array.size != 3 * frames or len(array) != frames:
            raise MotionError(
                f"{where}, {key}: shape {array.shape}; it must be ({frames}, 3), one row a frame"
            )
        check_finite(array, f"{where}, {key}")
        scaling = as_numbers(self.values[AIST_SCALING]) if AIST_SCALING in self.values else None
        factor = 1.0
        if scaling is not None:
            factor = float(scaling.reshape(-1)[0]) if scaling.size else 0.0
            if not 1e-3 < factor < 1e5:
                raise MotionError(f"{where}, {AIST_SCALING}: {factor:g}; allowed: 0.001 to 100000")
        return array.reshape(frames, 3).astype(np.float64) / factor


class PoseParameters:
    """Pose parameters of one person."""

    def __init__(self, person: Person, source: str) -> None:
        """Read the parameters. `source`: name of the recording, for messages."""
        where = f"{source}, {person.name}" if person.name else source
        values = person.values
        notes: list[str] = []
        doubts: list[str] = []
        layout, parts, body_only = person.read_pose(where, notes)
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
        # A text, bytes, or an array or list of one of them.
        sex = None if name is None else values[name]
        sex = sex.reshape(-1)[0] if isinstance(sex, np.ndarray) and sex.size == 1 else sex
        sex = sex[0] if isinstance(sex, list) and len(sex) == 1 else sex
        sex = sex.decode("latin1").strip("\x00") if isinstance(sex, bytes) else sex
        translation = person.read_translation(frames, where, doubts)
        keys = set(values)
        # The mean of the shape parameters where there is one row a frame.
        key = first_of(values, SHAPE)
        shape = None if key is None else as_numbers(values[key])
        betas = np.zeros(0)
        if shape is not None and shape.size and 0 < shape.ndim <= 3:
            rows = shape.reshape(-1, shape.shape[-1]).astype(np.float64)
            check_finite(rows, f"{where}, {key}")
            betas = np.asarray(rows.mean(axis=0))
        rate = None
        if (key := first_of(values, RATE)) is not None:
            array = as_numbers(values[key])
            rate = float(array.reshape(-1)[0]) if array is not None and array.size == 1 else float("nan")
            if not RATES[0] <= rate <= RATES[1]:
                allowed = f"one number of frames a second, {RATES[0]:g} to {RATES[1]:g}"
                raise MotionError(f"{where}, {key}: {rate:g}; allowed: {allowed}")
        elif AIST_SCALING in values:
            notes.append(f"{AIST_RATE:g} frames a second, those of AIST++, whose names the file has")
            rate = AIST_RATE
        # The joints; and whether only those of the body without hands are given, so that the model is not
        # known.
        self.layout, self.body_only = layout, body_only
        # Index of the first joint of each part, and the rotations of its joints; joints of no part do not
        # move. They may be the inverses of those that are given.
        self.parts, self.inverse = parts, inverse
        # Translation of the body (T, 3), m; shape parameters (n,), none where the archive has none; sampling
        # rate, Hz, where the archive says so.
        self.translation, self.betas, self.rate = translation, betas, rate
        # `female` or `male`.
        self.sex = SEXES.get(sex.lower()) if isinstance(sex, str) else None
        # Whether the names are those of AMASS, whose vertical axis is z.
        self.amass = "root_orient" in keys or (
            {"poses", "trans"} <= keys and any(key.startswith("mocap_") for key in keys)
        )
        # Whether the names are those of estimates in a camera's axes.
        estimated = bool(keys & set(_NAMES["camera_names"])) and not any("world" in key for key in keys)
        self.camera = person.camera or estimated
        # What was left out or assumed, and what of it may be wrong.
        self.notes, self.doubts = notes, doubts

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


def _six_number_inverse(parts: list[tuple[int, JointRotations]], notes: list[str], doubts: list[str]) -> bool:
    """Tell by the knees whether rotations of six numbers are to be inverted: rows or columns of a matrix."""
    found = next(((start, part) for start, part in parts if start <= 4 < start + part.joints), None)
    if found is None or found[1].order != "rows":
        return False
    first, body = found
    step = max(1, len(body.values) // 2000)
    knees = body._replace(values=body.values[::step, 4 - first : 6 - first])
    # The axis of flexion is x.
    matrices = knees.matrices(0, len(knees.values)).reshape(-1, 3, 3)
    bend = float(Rotation.from_matrix(matrices).as_rotvec()[:, 0].mean())
    if abs(bend) < KNEE_BEND:
        doubts.append(
            "rotations of six numbers are read as the first two rows of the matrices; the knees do not bend "
            "enough to tell whether they are the columns"
        )
        return False
    kind = "columns" if bend < 0.0 else "rows"
    notes.append(f"rotations of six numbers: the first two {kind} of the matrices, by the bend of the knees")
    return bend < 0.0


def find_rotations(values: NDArray[Any], counts: Collection[int], where: str) -> JointRotations:
    """Find the form of rotations by the shape of their array, and check the numbers.

    `values` (T, ...): rotations; joints and numbers may be one axis or several; `counts`: numbers of joints
    that are possible; `where`: file and name of the array, for messages.
    """
    width = prod(values.shape[1:])
    sizes = [size for size in FORMS if width % size == 0 and width // size in counts]
    if values.ndim >= 3 and values.shape[-1] in (3, 6):
        last = 9 if values.shape[-2:] == (3, 3) and width // 9 in counts else values.shape[-1]
        sizes = [size for size in sizes if size == last]
    if values.ndim < 2 or values.dtype.kind not in "iuf" or not sizes:
        numbers = ", ".join(str(3 * count) for count in sorted(counts))
        raise MotionError(
            f"{where}: shape {values.shape}; allowed: one row a frame with {numbers} numbers (axis-angle), "
            "or twice (6D) or three times (rotation matrices) as many"
        )
    found = values.reshape(len(values), width // sizes[0], sizes[0])
    check_finite(found, where)
    if sizes[0] == 3 and found.shape[1] > 1:
        sample = found[:: len(found) // CHUNK + 1, 1:].astype(np.float64)
        angle = float(np.median(np.linalg.norm(sample, axis=2).max(axis=1)))
        if angle > LARGEST_ANGLE:
            raise MotionError(
                f"{where}: the largest angle of a joint is {angle:.3g} rad in half of the frames; they "
                "seem to be degrees and must be radians"
            )
    if sizes[0] == 6:
        # Two vectors one after the other, or in pairs.
        sample = found[:: max(1, len(found) // 512)].reshape(-1, 6).astype(np.float64)
        errors = {}
        for order in ("rows", "pairs"):
            first, second = _split_vectors(sample, order)
            lengths = [np.abs(np.linalg.norm(each, axis=1) - 1.0) for each in (first, second)]
            errors[order] = float(
                np.median(np.maximum.reduce([*lengths, np.abs((first * second).sum(axis=1))]))
            )
        order = min(errors, key=lambda name: errors[name])
        if errors[order] > ORTHONORMAL:
            raise MotionError(f"{where}: rotations of six numbers that are not two orthonormal vectors")
        return JointRotations(found, order)
    for first_frame in range(0, len(found) if sizes[0] == 9 else 0, CHUNK):
        matrices = found[first_frame : first_frame + CHUNK].reshape(-1, 3, 3).astype(np.float64)
        error = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        bad = np.flatnonzero((error > ORTHONORMAL) | (np.linalg.det(matrices) < 0.5))
        if bad.size:
            frame = first_frame + bad[0] // found.shape[1]
            raise MotionError(f"{where}: a matrix at frame {frame} is not a rotation (orthonormal to 0.1)")
    return JointRotations(found)


def check_finite(values: NDArray[Any], where: str) -> None:
    """Refuse numbers that are not finite. `values` (T, ...): numbers, by frame."""
    for first in range(0, len(values), CHUNK):
        # A half-precision number cannot be compared with the limit, which it cannot hold.
        rows = values[first : first + CHUNK].astype(np.float64)
        bad = np.flatnonzero(~(np.abs(rows.reshape(len(rows), -1)) <= LARGEST_NUMBER).all(axis=1))
        if bad.size:
            raise MotionError(
                f"{where}: a number at frame {first + bad[0]} is NaN, infinite or beyond {LARGEST_NUMBER:g}"
            )


def _split_vectors(flat: Array, order: str) -> tuple[Array, Array]:
    """Split six numbers (n, 6) into the two vectors."""
    if order == "pairs":
        return flat[:, 0::2], flat[:, 1::2]
    return flat[:, :3], flat[:, 3:]
