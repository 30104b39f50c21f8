"""Reader of joints-only arrays, which pose estimators and data sets write: no names, no rate.

An array has the shape (T, J, 3), also transposed or flat, with a confidence beside the coordinates, or with
several persons. Which joint is which follows from a declared skeleton or from the bones; the marker maps
`smpl_joints`, `h36m`, `coco`, `mediapipe`, `openpose` and `named_joints` make segment frames of the joints.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.arrays.array_file import UNNAMED
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers.joint_array_checks import (
    doubt_still_pelvis,
    find_array_unit,
    refuse_image_positions,
)
from simbench.motion.readers.joint_layout_guess import guess_layout
from simbench.motion.readers.joint_naming import JointNaming, read_declared_names
from simbench.motion.readers.joint_words import name_joints
from simbench.motion.readers.text_table import LARGEST_NUMBER
from simbench.motion.recordings import MarkerRecording

# Keys under which archives hold positions of joints, the most telling first.
POSITION_KEYS = (
    "keypoints_3d", "keypoints3d", "kp3d", "kpts3d", "joints_3d", "joints3d",
    "joint_positions", "positions_3d", "pred_joints", "j3d", "poses_3d", "pose_3d",
    "keypoints", "joints", "positions", "motion", "xyz", "data",
)  # fmt: skip
RATE_KEYS = (
    "fps", "mocap_framerate", "mocap_frame_rate", "framerate", "frame_rate", "rate", "sampling_rate",
    "frequency", "hz",
)  # fmt: skip
NAME_KEYS = ("joint_names", "keypoint_names", "joints_names", "names", "labels")
# Rate of most videos, Hz, taken where neither file nor user says one.
ASSUMED_RATE = 30.0
# Keypoints below this confidence are not used.
LEAST_CONFIDENCE = 0.3
# Fewest joints of a body with one arm and hips; most numbers that are read (a gigabyte).
FEWEST_JOINTS, MOST_NUMBERS = 5, 120_000_000


def holds_joint_array(content: Mapping[str, Any]) -> bool:
    """Tell whether a file of arrays holds positions of joints.

    `content`: contents of the file by name. Returns whether one array has the shape of joints' positions: by
    its telling name, or as the only one.
    """
    return _find_positions(_as_arrays(content)) is not None


def read_joint_array(content: Mapping[str, Any], source: str, options: ReadOptions) -> MarkerRecording:
    """Read the positions of joints in a file of arrays.

    `content`: contents of the file by name; besides the positions, a rate (`fps`, `mocap_framerate`, ...) and
    names of the joints are looked for; `source`: name of the recording, for messages; `options`: what the
    user declares: `skeleton` names the joints, `fps` is the rate. Returns the joints as named points, m.
    """
    arrays = _as_arrays(content)
    key = _find_positions(arrays)
    if key is None:
        raise MotionError(
            f"{source}: no array of joint positions (frames, joints, 3), called "
            f"{', '.join(POSITION_KEYS[:6])}, ..., or alone in its file"
        )
    found, notes = _one_person(arrays[key], source)
    rate, doubts = _rate(arrays, options, source)
    naming = name_array_joints(arrays, found, options, source)
    kept = [k for k, name in enumerate(naming.names) if name]
    positions = np.array(found[:, kept])
    names = tuple(naming.names[k] for k in kept)
    notes += naming.notes
    ignored = found.shape[1] - len(kept)
    if ignored:
        notes += (f"{ignored} joints beyond those of the skeleton ignored",)
    tracks = {name: positions[:, k] for k, name in enumerate(names)}
    refuse_image_positions(positions, tracks, source)
    unit, assumed, more = find_array_unit(tracks, options)
    return MarkerRecording(
        time=np.arange(len(positions)) / rate,
        names=names,
        positions=UNITS[unit] * positions,
        source=source,
        up=options.up,
        unit=unit,
        notes=(*notes, *assumed),
        doubts=(*doubts, *naming.doubts, *more, *doubt_still_pelvis(tracks)),
    )


def _as_arrays(content: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Arrays by key, also of numbers, texts, and lists of arrays with equal shapes."""
    arrays: dict[str, NDArray[Any]] = {}
    for key, value in content.items():
        if isinstance(value, np.ndarray):
            arrays[key] = value
        elif isinstance(value, int | float | str) or _is_regular(value):
            arrays[key] = np.asarray(value)
    return arrays


def _is_regular(values: Any) -> bool:
    """Tell whether a value is a list of texts, or of arrays of numbers with equal shapes."""
    if not isinstance(values, list) or not values:
        return False
    if all(isinstance(value, str) for value in values):
        return True
    shape = values[0].shape if isinstance(values[0], np.ndarray) else None
    return shape is not None and all(
        isinstance(value, np.ndarray) and value.shape == shape and value.dtype.kind in "fiu"
        for value in values
    )


def _find_positions(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Key of the array of joint positions; None if there is none, or more than one without a telling name."""
    fitting = [key for key, array in arrays.items() if _can_hold_joints(array)]
    lower = {key.lower(): key for key in reversed(fitting)}
    named = next((lower[key] for key in POSITION_KEYS if key in lower), None)
    if named is not None:
        return named
    # A flat array with another name may hold anything, such as the angles of all joints.
    fitting = [key for key in fitting if key == UNNAMED or arrays[key].ndim > 2]
    return fitting[0] if len(fitting) == 1 else None


def _can_hold_joints(array: NDArray[Any]) -> bool:
    """Tell whether an array has the shape and type of one of joint positions."""
    if array.dtype.kind not in "fiu" or array.size < 2 * FEWEST_JOINTS * 3:
        return False
    shape = array.shape
    if array.ndim == 2:
        return shape[0] >= 2 and shape[1] % 3 == 0 and shape[1] >= 3 * FEWEST_JOINTS
    if array.ndim < 3:
        return False
    return (shape[-1] in (3, 4, 5) and shape[-2] >= FEWEST_JOINTS) or (
        shape[-2] in (3, 4) and shape[-1] >= FEWEST_JOINTS
    )


def _one_person(array: NDArray[Any], source: str) -> tuple[Array, tuple[str, ...]]:
    """Bring an array to (T, J, 3) of one person, with NaN for what was not seen; and notes."""
    if array.size > MOST_NUMBERS:
        raise MotionError(f"{source}: {array.size} numbers; at most {MOST_NUMBERS} are read")
    if array.ndim == 2:
        array = array.reshape(len(array), -1, 3)
    notes: tuple[str, ...] = ()
    while array.ndim > 3 and 1 in array.shape[:-2]:
        first = array.shape.index(1)
        array = array.reshape(*array.shape[:first], *array.shape[first + 1 :])
    if array.ndim == 4:
        array = np.moveaxis(array, int(np.argmin(array.shape[:2])), 0)
        seen = [int((np.isfinite(each) & (each != 0)).sum()) for each in array]
        chosen = int(np.argmax(seen))
        notes = (f"{len(array)} persons: number {chosen + 1} is read, which is seen most",)
        array = array[chosen]
    if array.ndim != 3:
        raise MotionError(
            f"{source}: an array of shape {array.shape}; joints have the shape (frames, joints, 3)"
        )
    if array.shape[2] not in (3, 4, 5):
        array = array.transpose(0, 2, 1)
    # Damaged numbers may be signalling NaNs, which are no error: they are not seen.
    with np.errstate(invalid="ignore"):
        positions = np.array(array[..., :3], dtype=np.float64)
    positions[~(np.abs(positions) <= LARGEST_NUMBER).all(axis=2)] = np.nan
    if array.shape[2] > 3:
        with np.errstate(invalid="ignore"):
            confidence = np.asarray(array[..., 3], dtype=np.float64)
        notes += (_hide_uncertain(positions, confidence),)
    # Joints at exactly zero together with another joint were not seen; one alone may be the origin.
    zero = (positions == 0.0).all(axis=2)
    positions[zero & (zero.sum(axis=1, keepdims=True) > 1)] = np.nan
    if not np.isfinite(positions).any():
        raise MotionError(
            f"{source}: no joint is seen in any of {len(positions)} frame(s); there is nothing to read"
        )
    return positions, notes


def _hide_uncertain(positions: Array, confidence: Array) -> str:
    """Write NaN for joints of low confidence; say how many they are."""
    if not ((confidence >= 0.0) & (confidence <= 1.0)).all():
        return "the fourth number of a joint is ignored: it is no confidence between 0 and 1"
    hidden = confidence < LEAST_CONFIDENCE
    positions[hidden] = np.nan
    return (
        f"{hidden.mean():.1%} of the joints' samples have a confidence below {LEAST_CONFIDENCE:g}: not seen"
    )


def _rate(
    arrays: Mapping[str, NDArray[Any]], options: ReadOptions, source: str
) -> tuple[float, tuple[str, ...]]:
    """Find the sampling rate, Hz, and the doubt about it where it is assumed."""
    if options.fps is not None:
        return options.fps, ()
    lower = {key.lower(): array for key, array in arrays.items()}
    for key in RATE_KEYS:
        value = lower.get(key)
        if value is not None and value.size == 1 and value.dtype.kind in "fiu":
            rate = float(value.reshape(()))
            if not 1.0 <= rate <= 10_000.0:
                raise MotionError(
                    f"{source}: {key} is {rate:g}; a rate is 1 to 10000 Hz, or declare it (--fps)"
                )
            return rate, ()
    if options.strict:
        raise MotionError(f"{source}: the file does not say its rate; declare it (--fps)")
    return ASSUMED_RATE, (f"rate {ASSUMED_RATE:g} Hz assumed: the file does not say it (--fps)",)


def name_array_joints(
    arrays: Mapping[str, NDArray[Any]], positions: Array, options: ReadOptions, source: str
) -> JointNaming:
    """Name the joints of an array: by the user, by the file, or by the bones.

    `arrays`: arrays of the file, among which names of the joints are looked for; `positions` (T, J, 3):
    positions of the joints, in any unit and axes; NaN where a joint was not seen; `options`: what the user
    declares; `source`: name of the recording, for messages.
    """
    count = positions.shape[1]
    if options.skeleton is not None:
        return read_declared_names(options.skeleton, count, source)
    lower = {key.lower(): array for key, array in arrays.items()}
    for key in NAME_KEYS:
        value = lower.get(key)
        if value is not None and value.dtype.kind == "U" and value.shape == (count,):
            return JointNaming(name_joints(tuple(map(str, value))), ("joints named by the file",))
    if options.strict:
        raise MotionError(f"{source}: {count} joints without names; declare their order (--skeleton)")
    guess = guess_layout(positions, source)
    note = (
        f"skeleton {guess.layout}: in its order, the bones of the {count} joints are a person's "
        f"(misfit {guess.misfit:.2f})"
    )
    rivals = ", ".join(f"{layout} ({misfit:.2f})" for layout, misfit in guess.rivals)
    doubt = f"skeleton {guess.layout} ({guess.misfit:.2f}) is a guess; as likely: {rivals} (--skeleton)"
    return JointNaming(guess.names, (note,), (doubt,) if rivals else ())
