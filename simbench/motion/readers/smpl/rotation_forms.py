"""Rotations of joints in the forms that archives use, told by shape: axis-angle, 6D, or matrices."""

from collections.abc import Collection
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array

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
        rotations from each joint's axes to its parent's.
        """
        # A copy, because SciPy refuses arrays that are read-only, as those of files are.
        values = np.array(self.values[first:last], dtype=np.float64)
        flat = values.reshape(-1, values.shape[2])
        if values.shape[2] == 3:
            matrices = Rotation.from_rotvec(flat).as_matrix()
        elif values.shape[2] == 9:
            matrices = Rotation.from_matrix(flat.reshape(-1, 3, 3)).as_matrix()
        else:
            matrices = _complete(flat, self.order)
        return np.asarray(matrices.reshape(*values.shape[:2], 3, 3))


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
    if sizes[0] == 3:
        _check_angles(found, where)
        return JointRotations(found)
    if sizes[0] == 6:
        return JointRotations(found, _find_order(found, where))
    _check_matrices(found, where)
    return JointRotations(found)


def knees_bend_backwards(knees: Array) -> bool | None:
    """Tell by the bend of the knees whether rotations are those of the body or their inverses.

    `knees` (T, n, 3, 3): rotations of the knees; the axis of flexion is x. Returns true if the knees bend to
    the wrong side, None if they do not bend enough to tell.
    """
    bend = float(Rotation.from_matrix(knees.reshape(-1, 3, 3)).as_rotvec()[:, 0].mean())
    return None if abs(bend) < KNEE_BEND else bend < 0.0


def check_finite(values: NDArray[Any], where: str) -> None:
    """Refuse numbers that are not finite.

    `values` (T, ...): numbers, by frame; `where`: file and name of the array, for the message.
    """
    for first in range(0, len(values), CHUNK):
        # A half-precision number cannot be compared with the limit, which it cannot hold.
        rows = values[first : first + CHUNK].astype(np.float64)
        bad = np.flatnonzero(~(np.abs(rows.reshape(len(rows), -1)) <= LARGEST_NUMBER).all(axis=1))
        if bad.size:
            raise MotionError(
                f"{where}: a number at frame {first + bad[0]} is NaN, infinite or beyond {LARGEST_NUMBER:g}"
            )


def _check_angles(values: NDArray[Any], where: str) -> None:
    """Refuse axis-angle vectors in degrees."""
    if values.shape[1] > 1:
        sample = values[:: len(values) // CHUNK + 1, 1:].astype(np.float64)
        angle = float(np.median(np.linalg.norm(sample, axis=2).max(axis=1)))
        if angle > LARGEST_ANGLE:
            raise MotionError(
                f"{where}: the largest angle of a joint is {angle:.3g} rad in half of the frames; they "
                "seem to be degrees and must be radians"
            )


def _check_matrices(values: NDArray[Any], where: str) -> None:
    """Refuse matrices that are no rotations."""
    for first in range(0, len(values), CHUNK):
        matrices = values[first : first + CHUNK].reshape(-1, 3, 3).astype(np.float64)
        error = np.abs(matrices @ matrices.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
        bad = np.flatnonzero((error > ORTHONORMAL) | (np.linalg.det(matrices) < 0.5))
        if bad.size:
            frame = first + bad[0] // values.shape[1]
            raise MotionError(f"{where}: a matrix at frame {frame} is not a rotation (orthonormal to 0.1)")


def _find_order(values: NDArray[Any], where: str) -> str:
    """Find how six numbers are arranged: two vectors one after the other, or in pairs."""
    sample = values[:: max(1, len(values) // 512)].reshape(-1, 6).astype(np.float64)
    errors = {
        order: float(np.median(_orthonormal_error(*_vectors(sample, order)))) for order in ("rows", "pairs")
    }
    order = min(errors, key=lambda name: errors[name])
    if errors[order] > ORTHONORMAL:
        raise MotionError(f"{where}: rotations of six numbers that are not two orthonormal vectors")
    return order


def _vectors(flat: Array, order: str) -> tuple[Array, Array]:
    """Split six numbers (n, 6) into the two vectors."""
    if order == "pairs":
        return flat[:, 0::2], flat[:, 1::2]
    return flat[:, :3], flat[:, 3:]


def _orthonormal_error(first: Array, second: Array) -> Array:
    """Largest deviation (n,) of pairs of vectors from being orthonormal."""
    return np.asarray(
        np.maximum.reduce(
            [
                np.abs(np.linalg.norm(first, axis=1) - 1.0),
                np.abs(np.linalg.norm(second, axis=1) - 1.0),
                np.abs((first * second).sum(axis=1)),
            ]
        )
    )


def _complete(flat: Array, order: str) -> Array:
    """Complete six numbers (n, 6) to rotation matrices (n, 3, 3) by Gram-Schmidt (Zhou et al. 2019)."""
    first, second = _vectors(flat, order)
    first = first / np.maximum(np.linalg.norm(first, axis=1, keepdims=True), 1e-9)
    second = second - (first * second).sum(axis=1, keepdims=True) * first
    second = second / np.maximum(np.linalg.norm(second, axis=1, keepdims=True), 1e-9)
    axis = -2 if order == "rows" else -1
    return np.stack([first, second, np.cross(first, second)], axis=axis)
