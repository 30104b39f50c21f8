"""What the positions of an array of joints tell about it: its unit, and whether it is one in space at all."""

from collections.abc import Mapping

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.read_options import UNITS, ReadOptions
from simbench.motion.readers.joint_layout_guess import measure_arm

# Standard deviation of the joints across the thinnest direction of the body, relative to the longest, below
# which they lie in a plane: a person standing still has about 0.1.
FLAT = 0.02
# Fewer points than this may well lie in a plane: an arm alone does.
FEWEST_POINTS = 5
# A point whose track stays within this fraction of the arm's length does not move.
STILL = 1e-3
# Landmarks whose x and y are fractions of an image lie in this range; their hips are farther from 0 than
# the second number, while landmarks in metres have them at 0.
IMAGE_RANGE, OFF_CENTRE = (-0.5, 1.5), 0.15
# Length of an arm from shoulder to wrist, m: from a child of two years to a giant.
ARM_LENGTHS = (0.27, 0.85)
# Units in which arrays are written; inches are not, and would make centimetres ambiguous.
ARRAY_UNITS = ("m", "cm", "mm")
# Largest distance of two points of a person along an axis, m: from a child's arms alone to spread arms. The
# ranges of the three units do not overlap.
BODY_EXTENTS = (0.3, 3.0)


def refuse_image_positions(positions: Array, tracks: Mapping[str, Array], source: str) -> None:
    """Refuse joints that lie in a plane, and landmarks in fractions of an image.

    `positions` (T, J, 3): positions of the joints, in any unit and axes; NaN where a joint was not seen;
    `tracks` mapping of str to (T, 3) array: the same positions by the name of the joint; `source`: name of
    the recording, for messages.
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
    middle = _middle_of_hips(tracks)
    if not len(middle):
        return
    size = np.sqrt((about**2).sum(axis=1).mean())
    low, high = IMAGE_RANGE
    inside = ((positions[seen][:, :2] > low) & (positions[seen][:, :2] < high)).all()
    depth_from_hips = np.abs(middle[:, 2]).max() < FLAT * size
    off_centre = np.abs(np.median(middle[:, :2], axis=0)).min() > OFF_CENTRE
    if inside and depth_from_hips and off_centre:
        raise MotionError(
            f"{source}: x and y are fractions of an image and z is relative to the hips: not metres; save "
            "the world landmarks instead (pose_world_landmarks)"
        )


def find_array_unit(
    tracks: Mapping[str, Array], options: ReadOptions
) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Find the unit of length of an array by the length of its arms.

    `tracks` mapping of str to (T, 3) array: positions by the name of the joint; NaN where a joint was not
    seen; `options`: what the user declares. Returns `unit`: name of the unit, a key of `UNITS`; metres where
    no unit makes the arms human; `notes`, `doubts`: how it was found, and what is doubtful about it.
    """
    if options.unit is not None:
        return options.unit, (), ()
    length = measure_arm(tracks)
    if length is None:
        return _unit_by_extent(tracks)
    low, high = ARM_LENGTHS
    for unit in ARRAY_UNITS:
        if low <= length * UNITS[unit] <= high:
            return unit, (f"unit {unit}: the one in which the arms are human",), ()
    # The body's size is found and told later, whatever the unit.
    return "m", (), ()


def _unit_by_extent(tracks: Mapping[str, Array]) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
    """Find the unit in which the points span a person, where no arm is known."""
    points = np.stack(list(tracks.values()), axis=1)
    seen = np.asarray(np.isfinite(points).all(axis=2))[..., None]
    highest = np.where(seen, points, -np.inf).max(axis=1)
    lowest = np.where(seen, points, np.inf).min(axis=1)
    extents = (highest - lowest).max(axis=1)
    extents = extents[np.isfinite(extents)]
    extent = float(np.median(extents)) if extents.size else 0.0
    low, high = BODY_EXTENTS
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
