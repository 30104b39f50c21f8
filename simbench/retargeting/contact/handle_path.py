"""Palm poses while hands hold equipment: on the handles, as near as possible to the actor's."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.motion.anatomy import transform
from simbench.motion.handles import HandlePath

_NEWTON_STEPS = 4


def grip_path(
    palms: Mapping[str, Array], contact: Mapping[str, NDArray[np.bool_]], handles: Mapping[str, HandlePath]
) -> dict[str, Array]:
    """Put the palms in contact onto their handles.

    Motion capture sees a hand some millimetres and degrees beside where the equipment holds it: skin moves,
    markers are noisy. The handle's pose is the better measurement. Handles with the same number of poses are
    taken as parts of one mechanism: while both hands hold, they are at the same position of its path. A hand
    that may rotate about its handle keeps the actor's rotation about it.

    Parameters
    ----------
    palms : {side: (T, 4, 4) array}
        Palm poses of the actor in the world frame, m.
    contact : {side: (T,) bool array}
        Whether the hand is on its handle.
    handles : {side: HandlePath}
        Handle that each hand holds.

    Returns
    -------
    {side: (T, 4, 4) array}
        Palm poses in the world frame, m; the same outside contact and for hands without a handle.
    """
    held = {side: palm.copy() for side, palm in palms.items()}
    sides = [side for side in palms if side in handles]
    joined = (
        len(sides) == 2
        and len(handles[sides[0]].poses) == len(handles[sides[1]].poses)
        and bool((contact[sides[0]] & contact[sides[1]]).any())
    )
    together = contact[sides[0]] & contact[sides[1]] if joined else None
    for side in sides:
        alone = contact[side] if together is None else contact[side] & ~together
        if alone.any():
            index = _nearest_index([handles[side]], [palms[side][alone]])
            held[side][alone] = _on_handle(handles[side], index, palms[side][alone])
    if together is not None:
        index = _nearest_index([handles[side] for side in sides], [palms[side][together] for side in sides])
        for side in sides:
            held[side][together] = _on_handle(handles[side], index, palms[side][together])
    return held


def _fit_path(handle: HandlePath) -> CubicSpline:
    """Fit a smooth curve to a handle's poses, over their index: position and rotation, 12 numbers."""
    poses = handle.poses
    closed = len(poses) > 3 and bool(np.abs(poses[0] - poses[-1]).max() < 1e-9)
    values = poses[:, :3, :].reshape(len(poses), 12)
    if closed:
        values = np.vstack([values[:-1], values[:1]])
    return CubicSpline(np.arange(len(poses)), values, bc_type="periodic" if closed else "natural")


def _nearest_index(handles: list[HandlePath], palms: list[Array]) -> Array:
    """Find the fractional index (T,) on their common path where the handles are nearest to the palms."""
    if len(handles[0].poses) == 1:
        return np.zeros(len(palms[0]))
    # Of a pose its position counts, and its rotation where the hand cannot rotate on the handle.
    weights = [
        np.tile(np.r_[np.full(3, ROTATION_WEIGHT if handle.turn_axis is None else 0.0), 1.0], 3)
        for handle in handles
    ]
    targets = [palm[:, :3, :].reshape(-1, 12) * weight for palm, weight in zip(palms, weights, strict=True)]
    squares = sum(
        ((target[:, None, :] - (handle.poses[:, :3, :].reshape(-1, 12) * weight)[None]) ** 2).sum(axis=2)
        for target, handle, weight in zip(targets, handles, weights, strict=True)
    )
    index = np.argmin(squares, axis=1).astype(float)
    curves = [_fit_path(handle) for handle in handles]
    last = len(handles[0].poses) - 1
    closed = curves[0].extrapolate == "periodic"
    for _ in range(_NEWTON_STEPS):
        gradient, curvature = np.zeros(len(index)), np.zeros(len(index))
        for curve, target, weight in zip(curves, targets, weights, strict=True):
            slope = curve(index, 1) * weight
            gradient += ((target - curve(index) * weight) * slope).sum(axis=1)
            curvature += (slope**2).sum(axis=1)
        index += np.clip(gradient / np.maximum(curvature, 1e-12), -1.0, 1.0)
        if not closed:
            index = index.clip(0.0, last)
    return index


def _on_handle(handle: HandlePath, index: Array, palms: Array) -> Array:
    """Poses (T, 4, 4) of the handle at fractional indices, rotated about its axis as the palms are."""
    if len(handle.poses) == 1:
        rotation = np.repeat(handle.poses[:, :3, :3], len(index), axis=0)
        position = np.repeat(handle.poses[:, :3, 3], len(index), axis=0)
    else:
        values = _fit_path(handle)(index).reshape(-1, 3, 4)
        left, _, right = np.linalg.svd(values[:, :, :3])
        rotation, position = left @ right, values[:, :, 3]
    if handle.turn_axis is not None:
        rotation = rotation @ _rotation_about(
            handle.turn_axis, rotation.transpose(0, 2, 1) @ palms[:, :3, :3]
        )
    return transform(rotation, position)


def _rotation_about(axis: Array, rotation: Array) -> Array:
    """Project rotations (T, 3, 3) on those about an axis (3,): the nearest such rotations."""
    skew = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    across = np.eye(3) - np.outer(axis, axis)
    cosine = np.einsum("ij,tij->t", across, rotation)
    sine = np.einsum("ij,tij->t", skew, rotation)
    length = np.hypot(sine, cosine)
    # Half a turn about a perpendicular axis: no angle is nearer than another.
    safe = np.where(length < 1e-9, 1.0, length)
    s, c = np.where(length < 1e-9, 0.0, sine / safe), np.where(length < 1e-9, 1.0, cosine / safe)
    outer = np.outer(axis, axis)
    return outer + c[:, None, None] * (np.eye(3) - outer) + s[:, None, None] * skew
