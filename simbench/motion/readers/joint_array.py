"""Reader of joints-only arrays, as pose estimators and data sets of human motion hold them: no names, no rate.

An array has the shape (T, J, 3), also transposed or flat, with a confidence beside the coordinates, or with several
persons. Which joint is which follows from a declared skeleton or from the bones; the marker maps `smpl_joints`,
`h36m`, `coco`, `mediapipe`, `openpose` and `named_joints` make segment frames of the joints.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simbench.errors import MotionError
from simbench.files.documents.text_file import read_text
from simbench.files.documents.yaml_document import parse_yaml
from simbench.files.input_files import require_regular_file
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.unit_check import ARM_LENGTHS
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers.joint_layout_guess import declared_layout, guess_layout, limb_length
from simbench.motion.readers.joint_layouts import ALIASES, LAYOUTS
from simbench.motion.readers.joint_words import canonical_joint_names
from simbench.motion.readers.text_table import LARGEST_NUMBER, quote
from simbench.motion.recordings import MarkerRecording

# Keys under which archives hold positions of joints, the most telling first.
POSITION_KEYS = (
    "keypoints_3d", "keypoints3d", "kp3d", "kpts3d", "joints_3d", "joints3d", "joint_positions", "positions_3d",
    "pred_joints", "j3d", "poses_3d", "pose_3d", "keypoints", "joints", "positions", "motion", "xyz", "data",
)  # fmt: skip
RATE_KEYS = (
    "fps", "mocap_framerate", "mocap_frame_rate", "framerate", "frame_rate", "rate", "sampling_rate", "frequency", "hz",
)  # fmt: skip
NAME_KEYS = ("joint_names", "keypoint_names", "joints_names", "names", "labels")
# Rate of most videos, Hz, taken where neither file nor user says one.
ASSUMED_RATE = 30.0
# Keypoints below this confidence are not used.
LEAST_CONFIDENCE = 0.3
# Fewest joints of a body with one arm and hips; most numbers that are read (a gigabyte).
FEWEST_JOINTS, MOST_NUMBERS = 5, 120_000_000
# Standard deviation of the joints across the thinnest direction of the body, relative to the longest, below which
# they lie in a plane: a person standing still has about 0.1.
FLAT = 0.02
# A point whose track stays within this fraction of the arm's length does not move.
STILL = 1e-3
# Landmarks whose x and y are fractions of an image lie in this range, with the hips away from zero by the second number.
IMAGE_RANGE, OFF_CENTRE = (-0.5, 1.5), 0.15
# Units in which arrays are written; inches are not, and would make centimetres ambiguous.
ARRAY_UNITS = ("m", "cm", "mm")


class _Joints(NamedTuple):
    """Positions of one person's joints (T, J, 3), in the file's unit, and what was chosen to get them."""

    positions: Array
    notes: tuple[str, ...]


def read_joint_array(path: Path, options: ReadOptions) -> MarkerRecording:
    """Read an array of joint positions from a NumPy file.

    Parameters
    ----------
    path : pathlib.Path
        File ending in `.npy`.
    options : ReadOptions
        What the user declares: `skeleton` names the joints, `fps` is the rate.

    Returns
    -------
    MarkerRecording
        The joints as named points, m.

    Raises
    ------
    MotionError
        Not an array of numbers, or not one of a person's joints in space.
    """
    require_regular_file(path, MotionError)
    try:
        # Mapped, an array is no larger than its file, whatever its header declares.
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError, SyntaxError, MemoryError, OverflowError) as error:
        reason = " ".join(str(error).split())[:120]
        if "Object arrays" in reason or "pickle" in reason:
            reason = "it holds Python objects; save the numbers alone"
        raise MotionError(f"{path}: not a NumPy array of numbers: {reason}") from None
    if not isinstance(array, np.ndarray):
        raise MotionError(f"{path}: an archive of several arrays; its name must end in .npz")
    return build_joint_recording({"": np.asarray(array)}, str(path), options)


def find_joint_array(arrays: Mapping[str, NDArray[Any]]) -> str | None:
    """Find the array of joint positions in an archive.

    Parameters
    ----------
    arrays : mapping of str to array
        The archive's arrays by key.

    Returns
    -------
    str or None
        Key of the array; None if no array, or more than one without a telling key, has the shape of one.
    """
    fitting = [key for key, array in arrays.items() if _can_hold_joints(array)]
    lower = {key.lower(): key for key in reversed(fitting)}
    named = next((lower[key] for key in POSITION_KEYS if key in lower), None)
    if named is not None:
        return named
    return fitting[0] if len(fitting) == 1 else None


def build_joint_recording(
    arrays: Mapping[str, NDArray[Any]], source: str, options: ReadOptions
) -> MarkerRecording:
    """Build a recording from arrays of which one holds the positions of joints.

    Parameters
    ----------
    arrays : mapping of str to array
        Arrays by key; besides the positions, a rate (`fps`, `mocap_framerate`, ...) and names of the joints are
        looked for.
    source : str
        Name of the recording, for messages.
    options : ReadOptions
        What the user declares.

    Returns
    -------
    MarkerRecording
        The joints as named points, m.

    Raises
    ------
    MotionError
        No array of a person's joints in space, joints without a known order, with `strict` also a rate or an order
        that would have to be assumed.
    """
    key = find_joint_array(arrays)
    if key is None:
        shapes = ", ".join(
            f"{quote(k)} {v.shape}" if k else str(v.shape) for k, v in list(arrays.items())[:6]
        )
        raise MotionError(
            f"{source}: no array of joint positions (frames, joints, 3), but {shapes or 'no array'}; called one of "
            f"{', '.join(POSITION_KEYS[:6])}, ..., or alone in its file"
        )
    joints = _one_person(arrays[key], source)
    rate, doubts = _rate(arrays, options, source)
    names, notes, more = _names(arrays, joints.positions, options, source)
    doubts += more
    kept = [k for k, name in enumerate(names) if name]
    positions = np.array(joints.positions[:, kept])
    names = tuple(names[k] for k in kept)
    _hide_zeros(positions)
    ignored = joints.positions.shape[1] - len(kept)
    if ignored:
        notes += (f"{ignored} joints beyond those of the skeleton ignored",)
    tracks = {name: positions[:, k] for k, name in enumerate(names)}
    _refuse_flat(positions, tracks, source)
    unit, notes_on_unit, more = _unit(tracks, options)
    doubts += more + _still_pelvis(tracks)
    return MarkerRecording(
        time=np.arange(len(positions)) / rate,
        names=names,
        positions=UNITS[unit] * positions,
        source=source,
        up=options.up,
        unit=unit,
        notes=(*joints.notes, *notes, *notes_on_unit),
        doubts=doubts,
    )


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


def _one_person(array: NDArray[Any], source: str) -> _Joints:
    """Bring an array to (T, J, 3) of one person, with NaN for what was not seen."""
    if array.size > MOST_NUMBERS:
        raise MotionError(f"{source}: {array.size} numbers; at most {MOST_NUMBERS} are read")
    if array.ndim == 2:
        array = array.reshape(len(array), -1, 3)
    notes: tuple[str, ...] = ()
    while array.ndim > 3 and 1 in array.shape[:-2]:
        array = array.reshape(_without_first_one(array.shape))
    if array.ndim == 4:
        persons = int(np.argmin(array.shape[:2]))
        array = np.moveaxis(array, persons, 0)
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
    values = np.array(array, dtype=np.float64)
    positions = values[..., :3]
    positions[~np.isfinite(positions).all(axis=2)] = np.nan
    if positions.size and np.nanmax(np.abs(positions), initial=0.0) > LARGEST_NUMBER:
        raise MotionError(f"{source}: coordinates beyond {LARGEST_NUMBER:g}; no person is there")
    if values.shape[2] > 3:
        confidence = values[..., 3]
        inside = np.isfinite(confidence) & (confidence >= 0.0) & (confidence <= 1.0)
        if not inside.all():
            raise MotionError(
                f"{source}: the fourth number of a joint must be a confidence between 0 and 1, found "
                f"{confidence[~inside][0]:g}"
            )
        hidden = (confidence < LEAST_CONFIDENCE) & np.isfinite(positions).all(axis=2)
        positions[hidden] = np.nan
        if hidden.any():
            notes += (
                f"{hidden.mean():.1%} of the joints' samples have a confidence below {LEAST_CONFIDENCE:g}: not seen",
            )
    if not np.isfinite(positions).any():
        raise MotionError(
            f"{source}: no joint is seen in any of {len(positions)} frame(s); there is nothing to read"
        )
    return _Joints(positions, notes)


def _without_first_one(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Leave out the first axis of length 1."""
    k = shape.index(1)
    return (*shape[:k], *shape[k + 1 :])


def _hide_zeros(positions: Array) -> None:
    """Write NaN for joints at exactly zero together with another joint, which means that they were not seen."""
    zero = (positions == 0.0).all(axis=2)
    zero &= zero.sum(axis=1, keepdims=True) > 1
    positions[zero] = np.nan


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


def _names(
    arrays: Mapping[str, NDArray[Any]], positions: Array, options: ReadOptions, source: str
) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Names of the first joints, empty for those without one, with notes and doubts."""
    count = positions.shape[1]
    if options.skeleton is not None:
        word = options.skeleton.lower()
        if word in LAYOUTS or word in ALIASES or not ("." in word or "/" in word or "\\" in word):
            return declared_layout(options.skeleton, count, source), (f"skeleton {word}, as declared",), ()
        names = _listed_names(Path(options.skeleton))
        if len(names) > count:
            raise MotionError(f"{source}: {count} joints, but {options.skeleton} names {len(names)}")
        return _in_words(names), (f"joints named by {options.skeleton}",), ()
    written = _written_names(arrays, count)
    if written is not None:
        return _in_words(written), ("joints named by the file",), ()
    if options.strict:
        raise MotionError(f"{source}: {count} joints without names; declare their order (--skeleton)")
    guess = guess_layout(positions, source)
    notes = (
        f"skeleton {guess.layout}: {count} joints, whose bones are a person's in that order (misfit {guess.misfit:.2f})",
    )
    rivals = ", ".join(f"{layout} ({misfit:.2f})" for layout, misfit in guess.rivals)
    doubts = (f"skeleton {guess.layout} ({guess.misfit:.2f}) is a guess; as likely: {rivals} (--skeleton)",)
    return guess.names, notes, doubts if rivals else ()


def _listed_names(path: Path) -> tuple[str, ...]:
    """Read names of joints from a list in YAML or JSON, or a text with one a line."""
    text = read_text(path, MotionError)
    value: object = None
    if path.suffix.lower() in (".json", ".yaml", ".yml"):
        value = parse_yaml(text, str(path), MotionError).value
        if isinstance(value, dict) and len(value) == 1:
            value = next(iter(value.values()))
    else:
        value = [
            line.strip().strip(",") for line in text.splitlines() if line.strip() and line.strip()[0] != "#"
        ]
        if len(value) == 1:
            value = [word.strip() for word in value[0].split(",")]
    if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
        raise MotionError(
            f"{path}: a list of the joints' names is needed, one for each joint in the array's order"
        )
    names = tuple("" if name in ("-", "none") else name for name in value)
    twice = next((name for name in names if name and names.count(name) > 1), None)
    if twice is not None:
        raise MotionError(f"{path}: {quote(twice)} is there twice; names must differ")
    return names


def _written_names(arrays: Mapping[str, NDArray[Any]], count: int) -> tuple[str, ...] | None:
    """Names of the joints that the archive holds beside them; None if it has none for each joint."""
    lower = {key.lower(): array for key, array in arrays.items()}
    for key in NAME_KEYS:
        value = lower.get(key)
        if value is not None and value.dtype.kind == "U" and value.shape == (count,):
            names = tuple(str(name) for name in value)
            if len(set(names)) == count:
                return names
    return None


def _in_words(names: tuple[str, ...]) -> tuple[str, ...]:
    """Write names of joints as the marker maps do, where they are understood."""
    known = canonical_joint_names(name for name in names if name)
    return tuple(known.get(name, name) for name in names)


def _refuse_flat(positions: Array, tracks: Mapping[str, Array], source: str) -> None:
    """Refuse joints that lie in a plane, and landmarks in fractions of an image."""
    about = positions - np.nanmean(np.where(np.isfinite(positions), positions, np.nan), axis=1, keepdims=True)
    known = about[np.isfinite(about).all(axis=2)]
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(known.T @ known), 0.0))
    if not spread[2] > 0.0 or spread[0] < FLAT * spread[2]:
        raise MotionError(
            f"{source}: the joints lie in a plane: these are positions in an image, not in space; joints in three "
            "dimensions are needed"
        )
    hips = [tracks[f"{side}_hip"] for side in ("left", "right") if f"{side}_hip" in tracks]
    if len(hips) < 2:
        return
    middle = (hips[0] + hips[1]) / 2
    middle = middle[np.isfinite(middle).all(axis=1)]
    if not len(middle):
        return
    size = np.sqrt((known**2).sum(axis=1).mean())
    low, high = IMAGE_RANGE
    inside = (positions[..., :2] > low) & (positions[..., :2] < high)
    depth_from_hips = np.abs(middle[:, 2]).max() < FLAT * size
    off_centre = np.abs(np.median(middle[:, :2], axis=0)).min() > OFF_CENTRE
    if depth_from_hips and off_centre and inside[np.isfinite(positions[..., :2])].all():
        raise MotionError(
            f"{source}: x and y are fractions of an image and z is relative to the hips: not metres; save the world "
            "landmarks instead (pose_world_landmarks)"
        )


def _unit(tracks: Mapping[str, Array], options: ReadOptions) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Find the unit of length by the arms, with notes and doubts; metres where no unit makes them human."""
    if options.unit is not None:
        return options.unit, (), ()
    length = limb_length(tracks)
    if length is None:
        return "m", (), ("unit m assumed: no arm is complete",)
    low, high = ARM_LENGTHS
    for unit in ARRAY_UNITS:
        if low <= length * UNITS[unit] <= high:
            return unit, (f"unit {unit}: the one in which the arms are human",), ()
    return (
        "m",
        (),
        (
            f"an arm is {length:.3g} long in the file's unit, a person's in none of {', '.join(ARRAY_UNITS)}: declare the "
            "person's height (--height)",
        ),
    )


def _still_pelvis(tracks: Mapping[str, Array]) -> tuple[str, ...]:
    """Doubt about a body whose pelvis never moves while the body does."""
    root = tracks.get("pelvis", tracks.get("mid_hip"))
    if root is None and "left_hip" in tracks and "right_hip" in tracks:
        root = (tracks["left_hip"] + tracks["right_hip"]) / 2
    length = limb_length(tracks)
    if root is None or length is None:
        return ()
    root = root[np.isfinite(root).all(axis=1)]
    if len(root) < 2 or np.ptp(root, axis=0).max() > STILL * length:
        return ()
    return (
        "the pelvis never moves: positions are relative to it, so the body's path is lost and the feet slide",
    )
