"""Joint places from the user's own SMPL, SMPL-H or SMPL-X model file, with NumPy alone."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from simbench.errors import MotionError
from simbench.files.arrays.array_file import read_array_file
from simbench.files.arrays.plain_values import SparseMatrix
from simbench.kinematics.arrays import Array
from simbench.motion.readers.smpl.layouts import BODY_COUNT, LAYOUTS, SMPL_X, Layout

KEYS = ("J_regressor", "v_template", "shapedirs", "kintree_table")
# The published models have at most 10475 vertices.
MAX_VERTICES = 200_000
# Larger than any number of a model: its lengths are metres, its weights at most 1, and betas a few units.
LARGEST_NUMBER = 1e3
# A body is this tall, m, from an infant to a giant; lengths in other units are not.
STATURES = (0.4, 3.0)
# Shape comes before expression in `shapedirs` of SMPL-X: 300 dimensions where there are at least that many,
# else 10.
SMPL_X_SHAPE, SMPL_X_SHORT_SHAPE = 300, 10


class RestBody(NamedTuple):
    """A body in the T-pose."""

    joints: Array  # (J, 3): positions of the joints in the model's axes, m; x left, y up, z forward.
    stature: float  # Height from the lowest to the highest vertex, m.
    used: int  # Number of shape parameters that were used.


def read_rest_body(path: Path, betas: Array, layout: Layout, body_only: bool) -> RestBody:
    """Compute the joints of a person in the T-pose: J = J_regressor (v_template + shapedirs betas).

    `path`: `.npz` or `.pkl` file of the body model; `betas` (n,): shape parameters of the person; more than
    the model has are left out; `layout`: joints of the motion, which the model must have; `body_only`:
    whether the motion has no hands, so that a model of any layout will do; then the joints are those of the
    body. Returns joints and stature.
    """
    content = read_array_file(path, MotionError, KEYS)
    missing = [key for key in KEYS if key not in content]
    if missing:
        found = ", ".join(list(content)[:8]) or "none of these"
        raise MotionError(
            f"{path}: not a body model of the SMPL family: lacks {', '.join(missing)} (found: {found})"
        )
    vertices = _numbers(content["v_template"], 2, "v_template", path)
    directions = _numbers(content["shapedirs"], 3, "shapedirs", path)
    count = len(vertices)
    if vertices.shape[1] != 3 or not 0 < count <= MAX_VERTICES or directions.shape[:2] != (count, 3):
        raise MotionError(
            f"{path}: v_template has shape {vertices.shape} and shapedirs {directions.shape}; "
            "they must be (V, 3) and (V, 3, n)"
        )
    regressor = _regressor(content["J_regressor"], count, path)
    model = _check_layout(content["kintree_table"], len(regressor), path)
    if body_only:
        regressor = regressor[:BODY_COUNT]
    elif model.model != layout.model:
        raise MotionError(
            f"{path}: a {model.model} model ({len(model.names)} joints), but the poses are those of "
            f"{layout.model} ({len(layout.names)} joints); give the file of a {layout.model} model"
        )
    dimensions = directions.shape[2]
    if model is SMPL_X:
        dimensions = min(dimensions, SMPL_X_SHAPE if dimensions >= SMPL_X_SHAPE else SMPL_X_SHORT_SHAPE)
    used = min(dimensions, len(betas))
    for name, part in (
        ("v_template", vertices),
        ("shapedirs", directions[:, :, :used]),
        ("J_regressor", regressor),
        ("betas", betas),
    ):
        if not (np.abs(part) <= LARGEST_NUMBER).all():
            raise MotionError(
                f"{path}: {name} has a number that is NaN, infinite or beyond {LARGEST_NUMBER:g}"
            )
    shaped = vertices + directions[:, :, :used] @ betas[:used]
    joints = regressor @ shaped
    stature = float(np.ptp(shaped[:, 1]))
    low, high = STATURES
    farthest = float(np.abs(joints).max())
    if not low <= stature <= high or farthest > high:
        raise MotionError(
            f"{path}: the body is {stature:.3g} m tall along y, its farthest joint {farthest:.3g} m "
            f"from the origin; allowed: {low} to {high} m tall, y up, in metres"
        )
    return RestBody(joints, stature, used)


def _numbers(value: Any, dimensions: int, name: str, path: Path) -> Array:
    """Check that a value is an array of numbers with so many dimensions."""
    if not isinstance(value, np.ndarray) or value.ndim != dimensions or value.dtype.kind not in "iuf":
        raise MotionError(f"{path}: {name} must be an array of numbers with {dimensions} dimensions")
    return value.astype(np.float64) if value.size < 10_000_000 else np.asarray(value)


def _regressor(value: Any, count: int, path: Path) -> Array:
    """Return the matrix (J, V) that gives joints from vertices."""
    if isinstance(value, SparseMatrix):
        if value.shape[0] > len(LAYOUTS) * 100 or value.shape[1] != count:
            raise MotionError(f"{path}: J_regressor has shape {value.shape}; it must be (J, {count})")
        try:
            return value.to_dense()
        except ValueError as reason:
            raise MotionError(f"{path}: J_regressor: {reason}") from None
    matrix = _numbers(value, 2, "J_regressor", path)
    if matrix.shape[1] != count:
        raise MotionError(f"{path}: J_regressor has shape {matrix.shape}; it must be (J, {count})")
    return matrix


def _check_layout(table: Any, count: int, path: Path) -> Layout:
    """Find the layout of a model by its number of joints, and check their parents."""
    layout = LAYOUTS.get(count)
    if layout is None:
        known = ", ".join(f"{number} ({known.model})" for number, known in LAYOUTS.items())
        raise MotionError(f"{path}: a body model with {count} joints; known: {known}")
    tree = _numbers(table, 2, "kintree_table", path)
    # The parent of the root is written as the largest unsigned number, or -1.
    if tree.shape != (2, count) or not np.array_equal(tree[0, 1:], layout.parents[1:]):
        raise MotionError(f"{path}: kintree_table is not that of {layout.model}: other parents of the joints")
    return layout
