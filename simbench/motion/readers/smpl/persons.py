"""The persons of an archive: where a file of any layout holds the pose parameters of each."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from simbench.files.arrays.array_file import UNNAMED

# Names of the same quantity in archives and in the output of programs; the first that is there counts.
# What is in the world's axes comes before what is in a camera's.
FULL_POSE = (
    "poses",
    "pose_world",
    "poses_world",
    "fullpose",
    "full_pose",
    "smpl_poses",
    "smpl_pose",
    "smpl_thetas",
    "thetas",
    "pose",
    "pred_rotmat",
    "pred_pose",
    "pose_cam",
)
ROOT_POSE = (
    "global_orient_world",
    "root_orient",
    "global_orient",
    "root_orient_world",
    "root_pose",
    "global_orient_cam",
)
BODY_POSE = ("pose_body", "body_pose", "smpl_body_pose")
TRANSLATION = (
    "trans_world",
    "trans",
    "transl_world",
    "transl",
    "smpl_trans",
    "translation",
    "root_trans",
    "pred_trans",
    "trans_cam",
    "cam_trans",
)
SHAPE = ("betas", "beta", "smpl_betas", "shape", "shapes", "pred_shape")
SEX = ("gender", "genders", "sex")
RATE = ("mocap_framerate", "mocap_frame_rate", "framerate", "frame_rate", "fps", "mocap_fps")
# Words in the names of containers: parameters in a camera's axes are taken where there are no others.
CAMERA_WORDS, WORLD_WORDS = ("incam", "cam", "camera"), ("global", "world")
# Numbers of a row of a full pose, at least, and of the root's: 22 joints of axis-angle, one of any form.
BODY_WIDTH, ROOT_WIDTHS = 66, (3, 6, 9)
# Containers are looked into to this depth, and at most so many persons are listed.
DEPTH, MAX_PERSONS = 4, 1000
# A container of parameters has fewer names, and numbers in nested lists are fewer, than this.
MAX_NAMES, MAX_NUMBERS = 1000, 20_000_000
# Names that belong to all persons when they stand beside the containers of the persons.
SHARED = (*RATE, *SEX, *SHAPE, *TRANSLATION)


class Person(NamedTuple):
    """The parameters of one person."""

    name: str  # Where in the file they are, as the names of the containers; empty at the top.
    values: Mapping[str, Any]  # Arrays and other values by name, those of the containers included.
    frames: int  # Number of frames.
    camera: bool  # Whether the name of a container says that the axes are a camera's.


def first_of(values: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """Find the first name that is there.

    `names`: names in order of preference. Returns the name; None if there is none.
    """
    return next((name for name in names if name in values and values[name] is not None), None)


def has_smpl_parameters(content: Mapping[str, Any]) -> bool:
    """Tell whether a file's contents are pose parameters of the SMPL family.

    `content`: contents by name. Returns whether at least one person is found.
    """
    return next(_persons(content, (), {}, set()), None) is not None


def find_persons(content: Mapping[str, Any]) -> list[Person]:
    """Find the persons of a file.

    `content`: contents by name. Returns persons in the order of the file; where a person is there in the axes
    of the world and of a camera, only the former.
    """
    found = []
    for person in _persons(content, (), {}, set()):
        found.append(person)
        if len(found) == MAX_PERSONS:
            break
    in_world = [person for person in found if not person.camera]
    return in_world or found


def _persons(
    content: Any, path: tuple[str, ...], outer: Mapping[str, Any], seen: set[int]
) -> Iterator[Person]:
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
        if _is_list_of_arrays(content[key]):
            for k in range(min(len(content[key]), MAX_PERSONS)):
                yield from _persons(_share(content, len(content[key]), k), (*path, str(k)), outer, seen)
            return
        array = as_numbers(content[key])
        if array is not None and _has_rotations(array, pose is not None):
            words = "_".join(path).lower()
            camera = any(w in words for w in CAMERA_WORDS) and not any(w in words for w in WORLD_WORDS)
            yield Person("/".join(path), {**outer, **content}, len(drop_batch_axis(array)), camera)
            return
    shared = {name: content[name] for name in SHARED if name in content}
    for name, value in content.items():
        label = () if name == UNNAMED else (name,)
        yield from _persons(value, (*path, *label), {**outer, **shared}, seen)


def _has_rotations(array: np.ndarray[Any, Any], full: bool) -> bool:
    """Tell whether the rows of an array may be rotations: of all joints, or of the root."""
    if array.ndim < 2 or not len(array):
        return False
    width = drop_batch_axis(array)[0].size
    return width >= BODY_WIDTH and width % 3 == 0 if full else width in ROOT_WIDTHS


def _is_list_of_arrays(value: Any) -> bool:
    """Tell whether a value is one array for each of several persons."""
    return (
        isinstance(value, list)
        and len(value) > 0
        and all(isinstance(item, np.ndarray) and item.ndim >= 2 for item in value)
    )


def _share(content: Mapping[str, Any], count: int, k: int) -> dict[str, Any]:
    """Take one person's items of the lists of a container that has one item for each person."""
    return {
        name: value[k] if isinstance(value, list) and len(value) == count else value
        for name, value in content.items()
    }


def drop_batch_axis(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Remove the axis that programs keep for a batch of one.

    `array`: array of rows, or of one batch of rows. Returns array of rows.
    """
    return array[0] if array.ndim > 2 and len(array) == 1 and array.shape[1] > 1 else array


def as_numbers(value: Any) -> np.ndarray[Any, Any] | None:
    """Return a value as an array of numbers.

    `value`: an array, a number, or lists of them. Returns the array; None if the value is anything else.
    """
    if isinstance(value, list):
        if not 0 < _count_numbers(value) <= MAX_NUMBERS:
            return None
        try:
            value = np.array(value)
        except ValueError:
            return None
    if isinstance(value, bool | int | float):
        value = np.array(value)
    if isinstance(value, np.generic):
        value = np.asarray(value)
    return value if isinstance(value, np.ndarray) and value.dtype.kind in "iufb" else None


def _count_numbers(value: Any) -> int:
    """Count the numbers of nested lists whose items have equal lengths; 0 if they hold anything else."""
    count = 1
    while isinstance(value, list) and value:
        count *= len(value)
        value = value[0]
    if isinstance(value, np.ndarray):
        return count * value.size
    return count if isinstance(value, int | float | np.generic) else 0


def as_text(value: Any) -> str | None:
    """Return a value as a text.

    `value`: A text, bytes, or an array of one of them. Returns the text; None if the value is anything else.
    """
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.reshape(-1)[0]
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, bytes):
        return value.decode("latin1").strip("\x00")
    return str(value) if isinstance(value, str) else None
