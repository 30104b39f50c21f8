"""Recordings in files of named arrays (`.npz`, `.npy`, `.pkl`), and the reader of joints-only arrays.

Whose recording a file holds is told by the names of its arrays. Pose estimators and data sets write positions
of joints without names and rate: an array has the shape (T, J, 3), also transposed or flat, with a confidence
beside the coordinates, or with several persons. Which joint is which follows from a declared skeleton or from
the bones; the marker maps `smpl_joints`, `h36m`, `coco`, `mediapipe`, `openpose` and `named_joints` make
segment frames of the joints.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.arrays import UNNAMED, read_array_file
from simbench.files.yaml_document import read_yaml
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers.joint_names import (
    LAYOUTS,
    JointNaming,
    guess_layout,
    measure_arm,
    name_joints,
    read_declared_names,
)
from simbench.motion.readers.marker_tables import LARGEST_NUMBER
from simbench.motion.readers.motion_features import ADVICE, select_positions
from simbench.motion.readers.poselib import is_poselib, read_poselib
from simbench.motion.readers.smpl import read_smpl
from simbench.motion.readers.smpl_parameters import has_smpl_parameters
from simbench.motion.recordings import MarkerRecording, SkeletonRecording
from simbench.system.limits import MOST_NUMBERS, RATES, require_at_most

# At most this many names are listed in an error.
LISTED = 12
# Names of arrays that are looked for.
_KEYS = read_yaml(Path(__file__).with_suffix(".yaml"), MotionError).value
# Rate of most videos, Hz, taken where neither file nor user says one.
ASSUMED_RATE = 30.0
# Rates of the data sets that hold most arrays of these joints, Hz (Guo et al. 2022).
ASSUMED_RATES = {
    LAYOUTS["smpl"][1]: (20.0, "HumanML3D's 22 joints have"),
    LAYOUTS["kit"][0]: (12.5, "KIT-ML's 21 joints have"),
}
# The last axis is the frames' where neighbours along it are nearer than this fraction of the distance along
# the first; a person at 30 Hz has 0.13, and the inverse where the frames come first. So many are looked at.
FRAMES_LAST, SEVERAL = 0.5, 500
# Keypoints below this confidence are not used.
LEAST_CONFIDENCE = 0.3
# Fewest joints of a body with one arm and hips.
FEWEST_JOINTS = 5
# Standard deviation of the joints across the thinnest direction of the body, relative to the longest, below
# which they lie in a plane: a person standing still has about 0.1.
FLAT = 0.02
# Fewer points than this may well lie in a plane: an arm alone does.
FEWEST_POINTS = 5
# A point whose track stays within this fraction of the arm's length does not move.
STILL = 1e-3
# Landmarks whose x and y are fractions of an image lie in this range, most of them at least; their hips are
# farther from 0 than the third number, while landmarks in metres have them at 0.
IMAGE_RANGE, MOST_INSIDE, OFF_CENTRE = (-0.5, 1.5), 0.95, 0.15
# Length of an arm from shoulder to wrist, m: from a child of two years to a giant.
ARM_LENGTHS = (0.27, 0.85)
# Units in which arrays are written; inches are not, and would make centimetres ambiguous.
ARRAY_UNITS = ("m", "cm", "mm")
# Largest distance of two points of a person along an axis, m: from a child's arms alone to spread arms. The
# ranges of the three units do not overlap.
BODY_EXTENTS = (0.3, 3.0)


def read_archive(path: Path, options: ReadOptions) -> MarkerRecording | SkeletonRecording:
    """Read a recording from a file of named arrays.

    `options`: what the user declares. Returns what the file holds.
    """
    content = read_array_file(path, MotionError)
    if has_smpl_parameters(content):
        return read_smpl(content, str(path), options)
    notes: tuple[str, ...] = ()
    if content and all(isinstance(value, Mapping) for value in content.values()):
        notes = (f"{next(iter(content))[:40]}, the first of {len(content)} motions, is read",)
        content = next(iter(content.values()))
    if is_poselib(content):
        return read_poselib(content, str(path), options)
    found = ", ".join(
        f"{name[:40]} {value.shape}" if isinstance(value, np.ndarray) and value.ndim else name[:40]
        for name, value in list(content.items())[:LISTED]
    )
    for keys, advice in _KEYS["refused"]:
        if all(key in content for key in keys):
            raise MotionError(f"{path}: {advice.format(path=path)} (it holds {found})")
    # Arrays by key, also of numbers, texts, and lists of texts or of arrays with equal shapes.
    arrays: dict[str, NDArray[Any]] = {}
    for key, value in content.items():
        items = value if isinstance(value, list) and value else [None]
        shapes = {
            each.shape if isinstance(each, np.ndarray) and each.dtype.kind in "fiu" else None
            for each in items
        }
        regular = all(isinstance(each, str) for each in items) or (len(shapes) == 1 and shapes != {None})
        if isinstance(value, np.ndarray | int | float | str) or regular:
            arrays[key] = np.asarray(value)
    # One by its telling name, or the only one.
    fitting = [key for key, array in arrays.items() if _can_hold_joints(array)]
    lower = {key.lower(): key for key in reversed(fitting)}
    # A flat array with another name may hold anything, such as the angles of all joints.
    others = [key for key in fitting if key == UNNAMED or arrays[key].ndim > 2]
    chosen = next((lower[name] for name in _KEYS["positions"] if name in lower), None)
    if chosen is None and len(others) == 1:
        chosen = others[0]
    if chosen is not None:
        recording = read_joint_array(arrays, chosen, str(path), options)
        return replace(recording, notes=(*notes, *recording.notes))
    found = found.replace(f"{UNNAMED} (", "(", 1) if UNNAMED in content else found or "nothing"
    raise MotionError(
        f"{path}: holds {found}; known: SMPL, SMPL-H or SMPL-X parameters (poses and trans, or "
        "global_orient, body_pose and transl); poselib's skeleton motions; features of HumanML3D; positions "
        "of joints (frames, joints, 3), such as keypoints_3d: save these alone, with fps, and declare the "
        "order of the joints (--skeleton FILE)"
    )


def _can_hold_joints(array: NDArray[Any]) -> bool:
    """Tell whether an array has the shape and type of one of joint positions."""
    if array.dtype.kind not in "fiu" or array.size < 2 * FEWEST_JOINTS * 3:
        return False
    shape = array.shape
    if array.ndim == 2:
        return shape[0] >= 2 and shape[1] >= 3 * FEWEST_JOINTS
    if array.ndim < 3:
        return False
    return (shape[-1] in (3, 4, 5) and shape[-2] >= FEWEST_JOINTS) or (
        shape[-2] in (3, 4) and shape[-1] >= FEWEST_JOINTS
    )


def read_joint_array(
    arrays: Mapping[str, NDArray[Any]], key: str, source: str, options: ReadOptions
) -> MarkerRecording:
    """Read the positions of joints in one of the arrays of a file.

    Besides the positions, a rate (`fps`, `mocap_framerate`, ...) and names of the joints are looked for.
    `options`: what the user declares: `skeleton` names the joints, `fps` is the rate. Returns the joints as
    named points, m.
    """
    found, notes = _one_person(arrays[key], source)
    refuse_plane(found, source)
    naming = name_array_joints(arrays, found, options, source)
    doubts: tuple[str, ...] = ()
    lower = {name.lower(): array for name, array in arrays.items()}
    rates = ((name, lower[name]) for name in _KEYS["rate"] if name in lower)
    said = next(((n, each) for n, each in rates if each.size == 1 and each.dtype.kind in "fiu"), None)
    if options.fps is not None:
        rate = options.fps
    elif said is not None:
        rate = float(said[1].reshape(()))
        if not RATES[0] <= rate <= RATES[1]:
            allowed = f"{RATES[0]:g} to {RATES[1]:g} Hz, or declare it (--fps)"
            raise MotionError(f"{source}: {said[0]} is {rate:g}; allowed: {allowed}")
    elif options.strict:
        raise MotionError(f"{source}: the file does not say its rate; declare it (--fps)")
    else:
        rate, whose = ASSUMED_RATES.get(naming.names, (ASSUMED_RATE, "most videos have"))
        doubts = (f"rate {rate:g} Hz assumed, as {whose}: the file does not say it (--fps)",)
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
    time, positions = np.arange(len(positions)) / rate, UNITS[unit] * positions
    notes, doubts = (*notes, *assumed), (*doubts, *naming.doubts, *more, *doubt_still_pelvis(tracks))
    return MarkerRecording(time, names, positions, source, options.up, unit, notes=notes, doubts=doubts)


def _one_person(array: NDArray[Any], source: str) -> tuple[Array, tuple[str, ...]]:
    """Bring an array to (T, J, 3) of one person, with NaN for what was not seen; and notes."""
    require_at_most(array.size, MOST_NUMBERS, f"{source}: numbers", MotionError)
    notes: tuple[str, ...] = ()
    while array.ndim > 3 and 1 in array.shape[:-2]:
        array = array.squeeze(array.shape.index(1))
    if array.ndim == 4:
        array = np.moveaxis(array, int(np.argmin(array.shape[:2])), 0)
        seen = [int((np.isfinite(each) & (each != 0)).sum()) for each in array]
        chosen = int(np.argmax(seen))
        notes += (f"{len(array)} persons: number {chosen + 1} is read, which is seen most",)
        array = array[chosen]
    if array.ndim not in (2, 3):
        raise MotionError(
            f"{source}: an array of shape {array.shape}; joints have the shape (frames, joints, 3)"
        )
    if array.ndim == 3 and array.shape[2] not in (3, 4, 5):
        # The frames may come last: neighbours are nearer in time than in a body.
        with np.errstate(all="ignore"):
            first = array[:SEVERAL, :, :SEVERAL].astype(np.float64)
            steps = [np.abs(np.diff(first, axis=axis)) for axis in (0, 2)]
        apart = [float(np.median(np.append(step[np.isfinite(step)], np.inf))) for step in steps]
        array = array.transpose((2, 0, 1) if apart[1] < FRAMES_LAST * apart[0] else (0, 2, 1))
    array, more = select_positions(array, source)
    notes += more
    if array.ndim == 2:
        if array.shape[1] % 3:
            raise MotionError(f"{source}: {array.shape[1]} columns are no positions, three a joint; {ADVICE}")
        array = array.reshape(len(array), -1, 3)
    # Damaged numbers may be signalling NaNs, which are no error: they are not seen.
    with np.errstate(invalid="ignore"):
        positions = np.array(array[..., :3], dtype=np.float64)
        confidence = np.asarray(array[..., 3:4], dtype=np.float64)[..., 0] if array.shape[2] > 3 else None
    positions[~(np.abs(positions) <= LARGEST_NUMBER).all(axis=2)] = np.nan
    if confidence is not None and ((confidence >= 0.0) & (confidence <= 1.0)).all():
        hidden = confidence < LEAST_CONFIDENCE
        positions[hidden] = np.nan
        share = f"{hidden.mean():.1%} of the joints' samples have a confidence below {LEAST_CONFIDENCE:g}"
        notes += (f"{share}: not seen",)
    elif confidence is not None:
        notes += ("the fourth number of a joint is ignored: it is no confidence between 0 and 1",)
    # Joints at exactly zero together with another joint were not seen; one alone may be the origin.
    zero = (positions == 0.0).all(axis=2)
    positions[zero & (zero.sum(axis=1, keepdims=True) > 1)] = np.nan
    if not np.isfinite(positions).any():
        raise MotionError(
            f"{source}: no joint is seen in any of {len(positions)} frame(s); there is nothing to read"
        )
    return positions, notes


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
    for key in _KEYS["joint_names"]:
        value = lower.get(key)
        if value is not None and value.dtype.kind == "U" and value.shape == (count,):
            return JointNaming(name_joints(tuple(map(str, value))), ("joints named by the file",))
    if options.strict:
        raise MotionError(f"{source}: {count} joints without names; declare their order (--skeleton)")
    return guess_layout(positions, source)


def refuse_plane(positions: Array, source: str) -> Array:
    """Refuse joints that lie in a plane.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `source`: name of the recording, for messages. Returns (N, 3): the seen ones relative to the mean of
    their frame.
    """
    seen = np.asarray(np.isfinite(positions).all(axis=2))
    count = np.maximum(seen.sum(axis=1), 1)[:, None]
    centre = np.where(seen[..., None], positions, 0.0).sum(axis=1) / count
    about = (positions - centre[:, None])[seen]
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(about.T @ about), 0.0))
    if positions.shape[1] >= FEWEST_POINTS and not spread[0] > FLAT * spread[2]:
        raise MotionError(
            f"{source}: the joints lie in a plane: these are positions in an image, not in space; joints in "
            "three dimensions are needed"
        )
    return about


def refuse_image_positions(positions: Array, tracks: Mapping[str, Array], source: str) -> None:
    """Refuse joints that lie in a plane, and landmarks in fractions of an image.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `tracks` mapping of str to (T, 3) array: the same positions by the name of the joint; `source`: name of
    the recording, for messages.
    """
    about = refuse_plane(positions, source)
    middle = _middle_of_hips(tracks)
    if not len(middle):
        return
    size = np.sqrt((about**2).sum(axis=1).mean())
    low, high = IMAGE_RANGE
    seen = positions[np.isfinite(positions).all(axis=2)]
    inside = ((seen[:, :2] > low) & (seen[:, :2] < high)).mean() > MOST_INSIDE
    length, (short, long) = measure_arm(tracks), ARM_LENGTHS
    human = length is not None and any(short <= length * UNITS[unit] <= long for unit in ARRAY_UNITS)
    depth_from_hips = np.abs(middle[:, 2]).max() < FLAT * size
    off_centre = np.abs(np.median(middle[:, :2], axis=0)).min() > OFF_CENTRE
    if (inside or not human) and depth_from_hips and off_centre:
        what = "fractions" if inside else "pixels"
        raise MotionError(
            f"{source}: x and y are {what} of an image and z is relative to the hips: not metres; save the "
            "world landmarks instead (pose_world_landmarks)"
        )


def find_array_unit(
    tracks: Mapping[str, Array], options: ReadOptions
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Find the unit of length of an array by the length of its arms, or by its extent where no arm is known.

    `tracks` mapping of str to (T, 3) array: positions by the name of the joint; NaN where a joint was not
    seen; `options`: what the user declares. Returns `unit`: name of the unit, a key of `UNITS`; metres where
    no unit makes the arms human; `notes`, `doubts`: how it was found, and what is doubtful about it.
    """
    if options.unit is not None:
        return options.unit, (), ()
    length, (low, high) = measure_arm(tracks), ARM_LENGTHS
    if length is not None:
        for unit in ARRAY_UNITS:
            if low <= length * UNITS[unit] <= high:
                return unit, (f"unit {unit}: the one in which the arms are human",), ()
        # The body's size is found and told later, whatever the unit.
        return "m", (), ()
    points = np.stack(list(tracks.values()), axis=1)
    seen = np.asarray(np.isfinite(points).all(axis=2))[..., None]
    highest = np.where(seen, points, -np.inf).max(axis=1)
    lowest = np.where(seen, points, np.inf).min(axis=1)
    extents = (highest - lowest).max(axis=1)
    extents = extents[np.isfinite(extents)]
    extent, (low, high) = float(np.median(extents)) if extents.size else 0.0, BODY_EXTENTS
    for unit in ARRAY_UNITS:
        if low <= extent * UNITS[unit] < high:
            return unit, (f"unit {unit}: the one in which the points span a person",), ()
    return "m", (), ("unit m assumed: the points span a person in no unit (--unit)",)


def doubt_still_pelvis(tracks: Mapping[str, Array]) -> tuple[str, ...]:
    """Doubt a body whose pelvis never moves: its positions are relative to the pelvis.

    `tracks` mapping of str to (T, 3) array: positions by the name of the joint; NaN where a joint was not
    seen. Returns the doubt, or nothing.
    """
    length = measure_arm(tracks)
    root = tracks.get("pelvis")
    middle = _middle_of_hips(tracks) if root is None else root[np.isfinite(root).all(axis=1)]
    if length is None or len(middle) < 2 or np.ptp(middle, axis=0).max() > STILL * length:
        return ()
    return (
        "the pelvis never moves: positions are relative to it, so the body's path is lost and feet slide",
    )


def _middle_of_hips(tracks: Mapping[str, Array]) -> Array:
    """Middle of the hips in the frames in which both were seen (N, 3)."""
    if "left_hip" not in tracks or "right_hip" not in tracks:
        return np.empty((0, 3))
    middle = (tracks["left_hip"] + tracks["right_hip"]) / 2
    return np.asarray(middle[np.isfinite(middle).all(axis=1)])
