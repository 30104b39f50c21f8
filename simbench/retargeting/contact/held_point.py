"""The point of a hand that holds a handle, as the recording shows it.

A robot's palm frame, scaled to the person, is not where the person's own palm is: the hand of one robot is
longer than that of another. But a hand that holds keeps the handle at one place in its own axes.
"""

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.motion.handles import HandlePath

_HAND_LENGTH = 0.12
"""Least distance of the held point from the palm frame up to which it may be in the hand, m: of a hand whose
palm is at its wrist."""
_CANDIDATES = 200
"""Samples whose offset is tried as the one that the hand keeps."""
_NEAR = 0.7
"""Part of the contact distance up to which the palm frame itself is taken for the held point."""
_RESTING_SPEED = 0.03
"""Speed below which a palm rests, m/s."""


def find_held_point(
    time: Array, palm: Array, handle: HandlePath, contact_distance: float, hand_length: float = 0.0
) -> Array:
    """Find where in a palm's axes the hand has its handle for the longest time.

    Along its path a handle may be anywhere, so that only the offset across the path can be seen in every
    sample. Where the hand comes to rest on the handle before it moves it, the handle is still where it was
    found: that gives the offset along the path.

    Parameters
    ----------
    time : (T,) array
        Time of each sample, s.
    palm : (T, 4, 4) array
        Pose of the scaled model's palm frame in the world, m.
    handle : HandlePath
        Handle that the hand holds.
    contact_distance : float
        Distance of palm and handle below which a hand is in contact, m: offsets within half of it are the
        same.
    hand_length : float
        Distance of the model's palm frame from its wrist, m: where the robot's hand is longer than the
        person's, the person's palm is nearer to the wrist.

    Returns
    -------
    (3,) array
        Offset from the palm frame's origin, in its axes, m. Zero where the palm frame itself is on the
        handle's path, within 70 % of the contact distance, or the handle never is in the hand.
    """
    farthest = max(hand_length, _HAND_LENGTH)
    path, rotation, position = handle.poses[:, :3, 3], palm[:, :3, :3], palm[:, :3, 3]
    between = path[None] - position[:, None]
    nearest = np.linalg.norm(between, axis=2).argmin(axis=1)
    offset = between[np.arange(len(palm)), nearest]
    far = np.linalg.norm(offset, axis=1) >= farthest
    if len(path) > 1:
        along = np.gradient(path, axis=0)
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
        offset = offset - (offset * along[nearest]).sum(axis=1, keepdims=True) * along[nearest]
    across = np.einsum("tij,ti->tj", rotation, offset)
    near = np.flatnonzero(~far)
    if not len(near):
        return np.zeros(3)
    candidates = across[near][:: -(-len(near) // _CANDIDATES)]
    same = np.linalg.norm(across[near, None] - candidates[None], axis=2) < 0.5 * contact_distance
    kept = near[same[:, same.sum(axis=0).argmax()]]
    held = across[kept].mean(axis=0)
    if np.linalg.norm(held) < _NEAR * contact_distance:
        return np.zeros(3)
    if handle.start is not None and len(time) > 1:
        speed = np.linalg.norm(np.gradient(position, time, axis=0), axis=1)
        found = np.einsum("tij,ti->tj", rotation, path[handle.start] - position)
        resting = (speed < _RESTING_SPEED) & (np.linalg.norm(found, axis=1) < farthest)
        first = kept[resting[kept]]
        held = found[first[0]] if len(first) else held
    return np.asarray(held)
