"""Positions of joints among other columns of an array: velocities, rotations, and the features of HumanML3D.

Programs that learn motion keep positions, velocities and rotations of the joints side by side in one array
without names. What a column is follows from its numbers: rotations are orthonormal, velocities are the
differences of other columns.
"""

from itertools import groupby
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.readers.smpl_parameters import LARGEST_NUMBER, check_finite

# Joints of the features of HumanML3D and KIT-ML (Guo et al. 2022) by the number of columns: the root's
# turning, velocity and height (4), then of the other joints positions (3 each) and rotations (6 each), the
# velocities of all (3 each), and contacts of the feet (4).
FEATURES = {263: 22, 251: 21}
# Fewest columns of a block of positions or velocities: five joints.
FEWEST_COLUMNS = 15
# At most so many frames are looked at, and arrays with more columns are no features of one person.
FRAMES, MOST_COLUMNS = 100, 1000
# Largest departure of a rotation from one, and of the quaternions' length from 1; their length varies by less
# than this fraction of their parts' variation.
ORTHONORMAL, QUATERNION, STEADY = 0.02, 1e-3, 0.1
# Velocities: squared correlation of their changes with those of the differences of the positions, part of the
# columns of a block that have it, because some hardly move, and what is nothing.
CORRELATED, MOST_OF_THEM, TINY = 0.75, 0.6, 1e-30
POSITIONS, ROTATIONS, QUATERNIONS, VELOCITIES = range(4)
KINDS = ("positions or other numbers", "rotations (6D or matrices)", "quaternions", "velocities")
ADVICE = "save the positions of the joints alone, as (frames, joints, 3)"


def select_positions(array: NDArray[np.generic], source: str) -> tuple[NDArray[np.generic], tuple[str, ...]]:
    """Select the positions of joints of an array that also holds their velocities and rotations.

    `array` (T, C) or (T, J, C): what a file holds; `source`: name of the recording, for messages. Returns the
    array itself where all of it may be positions, else positions (T, 3 J); and notes.
    """
    columns = prod(array.shape[1:])
    if columns > MOST_COLUMNS or len(array) < 4:
        return array, ()
    flat = array.reshape(len(array), columns)
    kinds = classify_columns(flat)
    joints = FEATURES.get(columns) if array.ndim == 2 else None
    if joints is not None:
        rotations = kinds[1 + 3 * joints :][: 6 * (joints - 1)]
        if not (rotations == ROTATIONS).all():
            raise MotionError(
                f"{source}: {columns} columns, as the features of HumanML3D have, but columns "
                f"{2 + 3 * joints} to {9 * joints - 5} are no rotations: of normalised features, multiply by "
                "Std.npy and add Mean.npy of the data set"
            )
        check_finite(flat, source)
        note = f"{columns} features of HumanML3D: {joints} joints, by the root's velocities and heights"
        return recover_joints(np.asarray(flat, dtype=np.float64), joints), (note,)
    if not kinds.any():
        return array, ()
    blocks = [(kind, [*block]) for kind, block in groupby(range(columns), key=lambda k: int(kinds[k]))]
    seen = ", ".join(f"columns {block[0] + 1} to {block[-1] + 1} {KINDS[kind]}" for kind, block in blocks[:8])
    left = [block for kind, block in blocks if kind == POSITIONS and len(block) >= FEWEST_COLUMNS]
    if len(left) != 1 or len(left[0]) % 3 or (array.ndim == 3 and array.shape[2] != 3):
        raise MotionError(f"{source}: {columns} columns hold more than positions: {seen}; {ADVICE}")
    return flat[:, left[0]], (f"{seen}: only the positions are read",)


def classify_columns(flat: NDArray[np.generic]) -> NDArray[np.int64]:
    """Tell what the columns of an array (T, C) are, by indices of `KINDS`."""
    frames = np.unique(np.linspace(0, len(flat) - 3, FRAMES).astype(int))
    with np.errstate(all="ignore"):
        rows = np.array([flat[frames + k] for k in range(3)], dtype=np.float64)
        first, then, last = rows[:, (np.abs(rows) <= LARGEST_NUMBER).all(axis=(0, 2))]
    count = flat.shape[1]
    kinds = np.zeros(count, dtype=np.int64)
    if len(first) < 3:
        return kinds
    for k in range(count - 5):
        for one, other in (((0, 1, 2), (3, 4, 5)), ((0, 2, 4), (1, 3, 5))):
            u, v = first[:, np.add(k, one)], first[:, np.add(k, other)]
            products = (u * u).sum(axis=1) - 1.0, (v * v).sum(axis=1) - 1.0, (u * v).sum(axis=1)
            if np.abs(products).max() < ORTHONORMAL:
                kinds[k : k + 6] = ROTATIONS
    for k in range(count - 3):
        length = np.linalg.norm(first[:, k : k + 4], axis=1)
        varied = np.linalg.norm(first[:, k : k + 4].std(axis=0))
        unit = np.abs(length - 1.0).max() < QUATERNION and length.std() < STEADY * varied
        if unit and not kinds[k : k + 4].any():
            kinds[k : k + 4] = QUATERNIONS
    # Rows: a column that may be a position; columns: one that may be its velocity. Changes of velocity are
    # compared, because positions that go on steadily are like the velocities of others.
    steps, bends = then - first, last - 2.0 * then + first
    # Differences to the next frame, or from the one before.
    for values, changes in ((first, then - first), (then, last - then)):
        products = bends.T @ changes
        rates = products / np.maximum((bends**2).sum(axis=0), TINY)[:, None]
        offsets = values.mean(axis=0) - rates * steps.mean(axis=0)[:, None]
        squares = np.outer((bends**2).sum(axis=0), (changes**2).sum(axis=0))
        fits = (products > 0.0) & (products**2 > CORRELATED * np.maximum(squares, TINY))
        fits &= offsets**2 <= np.maximum(values.var(axis=0), TINY)
        for lag in range(1 - count, count):
            fitting = np.diagonal(fits, lag)
            if fitting.sum() < MOST_OF_THEM * FEWEST_COLUMNS:
                continue
            # Columns of the windows most of whose columns fit.
            window = np.ones(min(FEWEST_COLUMNS, len(fitting)))
            dense = np.convolve(fitting, window, "valid") >= MOST_OF_THEM * FEWEST_COLUMNS
            found = np.flatnonzero(fitting & (np.convolve(dense, window) > 0.0)) + max(lag, 0)
            if len(found):
                kinds[found[0] : found[-1] + 1] = VELOCITIES
    return kinds


def recover_joints(features: Array, joints: int) -> Array:
    """Compute positions (T, 3 J) of the joints from the features (T, 12 J - 1) of HumanML3D, m, y up.

    The root turns about y by the angles that the first column sums up, half of them in its quaternion; its
    velocities and the positions of the other joints are in its axes, x and z relative to the root.
    """
    frames = len(features)
    heading = np.zeros(frames)
    heading[1:] = np.cumsum(features[:-1, 0])
    back = Rotation.from_rotvec(np.outer(-2.0 * heading, [0.0, 1.0, 0.0])).as_matrix()
    steps = np.zeros((frames, 3))
    steps[1:, [0, 2]] = features[:-1, 1:3]
    root = np.cumsum(np.einsum("tij,tj->ti", back, steps), axis=0)
    others = features[:, 4 : 1 + 3 * joints].reshape(frames, joints - 1, 3)
    positions = np.einsum("tij,tkj->tki", back, others)
    positions[..., [0, 2]] += root[:, None, [0, 2]]
    root[:, 1] = features[:, 3]
    return np.concatenate([root, positions.reshape(frames, -1)], axis=1)
