"""Where hands go while they hold equipment: on the handles, as near as can be to where the actor had them."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from simbench.kinematics.arrays import Array
from simbench.kinematics.rotation import ROTATION_WEIGHT
from simbench.motion.anatomy import transform
from simbench.motion.handles import Handle

_NEWTON_STEPS = 4


def grip_path(
    palms: Mapping[str, Array], contact: Mapping[str, NDArray[np.bool_]], handles: Mapping[str, Handle]
) -> dict[str, Array]:
    """Put the palms in contact onto their handles.

    Motion capture sees a hand some millimetres and degrees beside where the equipment holds it: skin moves,
    markers are noisy. The equipment knows better. Handles with the same number of poses are taken as parts of
    one mechanism: while both hands hold, they are at the same place of its way. A hand that may turn about
    its handle keeps the actor's turn.

    Parameters
    ----------
    palms : {side: (T, 4, 4) array}
        The actor's, world.
    contact : {side: (T,) bool array}
    handles : {side: Handle}

    Returns
    -------
    {side: (T, 4, 4) array}
        The same outside contact and for hands without a handle.
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
            place = _nearest([handles[side]], [palms[side][alone]])
            held[side][alone] = _on_handle(handles[side], place, palms[side][alone])
    if together is not None:
        place = _nearest([handles[side] for side in sides], [palms[side][together] for side in sides])
        for side in sides:
            held[side][together] = _on_handle(handles[side], place, palms[side][together])
    return held


def _way(handle: Handle) -> CubicSpline:
    """Lay a smooth curve through a handle's poses, over their index: position and rotation, 12 numbers."""
    poses = handle.poses
    closed = len(poses) > 3 and bool(np.abs(poses[0] - poses[-1]).max() < 1e-9)
    values = poses[:, :3, :].reshape(len(poses), 12)
    if closed:
        values = np.vstack([values[:-1], values[:1]])
    return CubicSpline(np.arange(len(poses)), values, bc_type="periodic" if closed else "natural")


def _nearest(handles: list[Handle], palms: list[Array]) -> Array:
    """Find where on their common way the handles are nearest to the palms: fractional index (T,)."""
    if len(handles[0].poses) == 1:
        return np.zeros(len(palms[0]))
    # What of a pose counts: its place, and its rotation where the hand cannot turn on the handle.
    weights = [
        np.tile(np.r_[np.full(3, ROTATION_WEIGHT if handle.turn_axis is None else 0.0), 1.0], 3)
        for handle in handles
    ]
    wanted = [palm[:, :3, :].reshape(-1, 12) * weight for palm, weight in zip(palms, weights, strict=True)]
    squares = sum(
        ((goal[:, None, :] - (handle.poses[:, :3, :].reshape(-1, 12) * weight)[None]) ** 2).sum(axis=2)
        for goal, handle, weight in zip(wanted, handles, weights, strict=True)
    )
    place = np.argmin(squares, axis=1).astype(float)
    ways = [_way(handle) for handle in handles]
    last = len(handles[0].poses) - 1
    closed = ways[0].extrapolate == "periodic"
    for _ in range(_NEWTON_STEPS):
        along, across = np.zeros(len(place)), np.zeros(len(place))
        for way, goal, weight in zip(ways, wanted, weights, strict=True):
            slope = way(place, 1) * weight
            along += ((goal - way(place) * weight) * slope).sum(axis=1)
            across += (slope**2).sum(axis=1)
        place += np.clip(along / np.maximum(across, 1e-12), -1.0, 1.0)
        if not closed:
            place = place.clip(0.0, last)
    return place


def _on_handle(handle: Handle, place: Array, palms: Array) -> Array:
    """Poses (T, 4, 4) of the handle at fractional indices, turned about its axis as the palms are."""
    if len(handle.poses) == 1:
        rotation = np.repeat(handle.poses[:, :3, :3], len(place), axis=0)
        position = np.repeat(handle.poses[:, :3, 3], len(place), axis=0)
    else:
        values = _way(handle)(place).reshape(-1, 3, 4)
        left, _, right = np.linalg.svd(values[:, :, :3])
        rotation, position = left @ right, values[:, :, 3]
    if handle.turn_axis is not None:
        rotation = rotation @ _turn_about(handle.turn_axis, rotation.transpose(0, 2, 1) @ palms[:, :3, :3])
    return transform(rotation, position)


def _turn_about(axis: Array, rotation: Array) -> Array:
    """Part of rotations (T, 3, 3) that turns about an axis (3,): the nearest such rotation."""
    skew = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    across = np.eye(3) - np.outer(axis, axis)
    cosine = np.einsum("ij,tij->t", across, rotation)
    sine = np.einsum("ij,tij->t", skew, rotation)
    length = np.hypot(sine, cosine)
    # Turned over about an axis across: no turn is nearer than another.
    safe = np.where(length < 1e-9, 1.0, length)
    s, c = np.where(length < 1e-9, 0.0, sine / safe), np.where(length < 1e-9, 1.0, cosine / safe)
    outer = np.outer(axis, axis)
    return outer + c[:, None, None] * (np.eye(3) - outer) + s[:, None, None] * skew
