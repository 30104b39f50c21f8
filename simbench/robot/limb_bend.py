"""What bends an arm or a leg, and where its bones are: from the axes of its joints, not from names."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simbench.kinematics.arrays import Array

# Squared sine of the angle between a joint's axis and a bone from which on the joint swings the bone. Below,
# it turns the bone about its own line.
_SWINGS = 0.25
# Rounds in which the joints that swing a bone, and with them its beginning, are found.
_ROUNDS = 4
# Distance of a joint's axis from the ends of a limb below which it does not bend the limb, m.
_SHORTEST_BONE = 0.01
# Shorter bone as a part of the longer one below which a second end, hand or toes, is looked at too, and the
# factor on how well a joint bends the limb up to there, before it is compared with that up to the first.
_UNLIKE, _SECOND_END = 0.4, 0.67


class Bend(NamedTuple):
    """The elbow or knee of a limb, and its root."""

    end: int  # Index of the end up to which the limb was looked at.
    joint: int  # Index of the joint that bends the limb.
    sign: float  # Sign of the angles by which it flexes.
    root_joint: int  # Index of the last joint that swings the upper bone.
    root: Array  # (3,): shoulder or hip, the point nearest to the axes of all joints that swing the bone, m.


def find_bend(
    origins: Array, axes: Array, limits: Array, ends: Sequence[Array], known: int | None = None
) -> Bend | None:
    """Find what bends a limb, and where its upper bone begins.

    It is the joint whose axis is farthest from both ends of the limb: that of a joint which turns a bone
    about its own line passes near one of them, and joints near an end hardly change the ends' distance.
    `origins`, `axes` (n, 3): origins of the joints, m, and unit vectors of their axes, zero for those that
    slide, in one frame; `limits` (n, 2): position limits, rad; `ends`: points (3,) where the limb may end:
    the wrist, then the hand; `known`: index of the joint that bends it, if that is known. Returns None if no
    joint bends it: the ends keep their distance.
    """
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    turns, best, found = np.linalg.norm(axes, axis=1) > 0.5, 0.0, None
    if known is not None:
        turns = turns & (np.arange(len(axes)) == known)
    for number, tip in enumerate(ends):
        root, end = ((across @ (point - origins)[:, :, None])[..., 0] for point in (origins[0], tip))
        distance = np.minimum(np.linalg.norm(root, axis=1), np.linalg.norm(end, axis=1)) * turns
        middle = int(np.round(distance, 9).argmax())
        worth = float(distance[middle]) * (1.0 if number == 0 else _SECOND_END)
        if distance[middle] >= _SHORTEST_BONE and worth > best:
            best, found = worth, (number, middle, end[middle], root[middle])
            lengths = np.linalg.norm(root[middle]), np.linalg.norm(end[middle])
            if min(lengths) >= _UNLIKE * max(lengths):
                break
    if found is None:
        return None
    chosen, middle, there, here = found
    # The angle by which the joint must turn for the limb to be straight.
    straight = float(np.arctan2(axes[middle] @ np.cross(there, -here), -(there @ here)))
    low, high = limits[middle]
    sign = 1.0 if 0.5 * (max(low, -np.pi) + min(high, np.pi)) > straight else -1.0
    # Which joints swing the bone depends on where it begins. A joint about the bone's own line does not swing
    # it, wherever its axis lies.
    end, centre, last = origins[0] + (origins[middle] - origins[0]), origins[0], middle - 1
    for _ in range(_ROUNDS):
        along = (end - centre) / np.linalg.norm(end - centre)
        swing = np.where(axes[:middle].any(axis=1), 1.0 - (axes[:middle] @ along) ** 2, 0.0)
        swinging = np.flatnonzero(swing > _SWINGS)[::-1]
        if not swinging.size:
            break
        last = int(swinging[0])
        centre = nearest_point(origins[swinging], axes[swinging], swing[swinging])
    return Bend(chosen, middle, sign, last, centre)


def bend_place(origin: Array, axis: Array, root: Array, end: Array) -> Array:
    """Place elbow or knee (3,): the point of the joint's axis nearest to the line from root to end."""
    along, offset = (end - root) / np.linalg.norm(end - root), origin - root
    cosine = float(axis @ along)
    distance = (cosine * (along @ offset) - axis @ offset) / max(1.0 - cosine**2, 1e-9)
    return np.asarray(origin + distance * axis)


def nearest_point(points: Array, axes: Array, weights: Array) -> Array:
    """Point (3,) nearest to axes (N, 3) through points (N, 3); of many the one nearest to the first point."""
    across = weights[:, None, None] * (np.eye(3) - axes[:, :, None] * axes[:, None, :])
    offsets = np.einsum("nij,nj->i", across, points - points[0])
    return np.asarray(points[0] + np.linalg.lstsq(across.sum(axis=0), offsets, rcond=1e-6)[0])
