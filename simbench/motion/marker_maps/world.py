"""Where a recording's body stands: vertical axis, handedness, heading and floor."""

from collections.abc import Mapping

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.centres import unit
from simbench.motion.read_options import AXES

Points = Mapping[str, Array]

# A trunk is along an axis when it is within 37 degrees of it, and is so on the whole when most frames agree.
ALONG, MOST = 0.8, 0.9
# A laboratory's zero is its floor when the lowest foot markers, which have a radius and sit on shoes, are in
# this range above it, m.
CALIBRATED_FLOOR = (-0.03, 0.12)
# Rows: our x, y, z (forward, left, up) in the axes of a file whose vertical axis is the key. With y up, x is
# taken for forward, as the ISB recommends; the heading decides later unless the recording is in place.
TURNS = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}


def find_vertical(joints: Points, declared: str | None, sure: bool, source: str) -> tuple[str, str | None]:
    """Find the file's vertical axis.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        In the file's axes.
    declared : str or None
    sure : bool
        Whether the user or the format's definition declares it: then a person may lie, and a note says so.
    source : str
        For messages.

    Returns
    -------
    axis : str
        `x`, `y` or `z`.
    note : str or None
        How it was found, if it was not declared, or that the body does not stand along it.

    Raises
    ------
    MotionError
        The body contradicts the declaration, or there is none and the body is not upright along an axis.
    """
    trunk = _upwards(joints)
    if trunk is None:
        if declared is None:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and without a pelvis or hips it cannot be "
                "found; declare it (--up), x, y or z"
            )
        return declared, None
    shares = {
        f"{sign}{axis}": float((factor * trunk[:, k] > ALONG).mean())
        for k, axis in enumerate(AXES)
        for sign, factor in (("", 1.0), ("-", -1.0))
    }
    seeming = max(shares, key=lambda name: shares[name])
    if declared is None:
        if shares[seeming] < 0.5 or seeming not in AXES:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and the trunk is upright along none of x, y "
                f"and z (most often along {seeming}, {shares[seeming]:.0%} of the frames); declare it (--up)"
            )
        return seeming, f"vertical axis {seeming}: the trunk points along it"
    if seeming != declared and shares[seeming] >= MOST:
        if sure:
            return declared, (
                f"vertical axis {declared}, as declared: the trunk lies along {seeming} in "
                f"{shares[seeming]:.0%} of the frames"
            )
        other = (
            f"if {seeming} is vertical, declare that (--up {seeming})"
            if seeming in AXES
            else f"{seeming} cannot be vertical: turn the file's axes"
        )
        raise MotionError(
            f"{source}: {declared} is declared vertical, yet the trunk points along {seeming} in "
            f"{shares[seeming]:.0%} of the frames; {other}; if the person lies, declare --up {declared}"
        )
    return declared, None


def _upwards(joints: Points) -> Array | None:
    """Directions (T, 3) from pelvis to shoulders."""
    below = middle(joints, ("pelvis",)) if "pelvis" in joints else middle(joints, ("left_hip", "right_hip"))
    shoulders = middle(joints, ("left_shoulder", "right_shoulder"))
    above = shoulders if shoulders is not None else joints.get("neck")
    if below is None or above is None:
        return None
    return unit(above - below)


def middle(joints: Points, names: tuple[str, ...]) -> Array | None:
    """Mean track (T, 3) of joints; None if one is missing."""
    if any(name not in joints for name in names):
        return None
    return np.asarray(np.mean([joints[name] for name in names], axis=0))


def leftwards(joints: Points) -> Array | None:
    """Vectors (T, 3) from the right shoulder, or hip, to the left one, m."""
    for name in ("shoulder", "hip"):
        if f"left_{name}" in joints and f"right_{name}" in joints:
            return np.asarray(joints[f"left_{name}"] - joints[f"right_{name}"])
    return None


def check_mirror(joints: Points, facing: list[Array], source: str) -> None:
    """Refuse a mirrored body: left, forward and up must make a right-handed system.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        In any right-handed axes.
    facing : list of (T, 3) arrays
        Forward vectors of the body: heel to toe, back to front of the pelvis, ...
    source : str
        For messages.

    Raises
    ------
    MotionError
        Most frames and vectors contradict.
    """
    left, up = leftwards(joints), _upwards(joints)
    if left is None or up is None or not facing:
        return
    forward = unit(np.cross(left, up))
    agreement = np.mean([(unit(vector) * forward).sum(axis=1) for vector in facing], axis=0)
    wrong = float((agreement < 0.0).mean())
    if wrong > MOST:
        raise MotionError(
            f"{source}: the body faces backward in {wrong:.0%} of the frames: left and right are swapped, or "
            "the axes are left-handed (a mirrored body); they must be right-handed"
        )


def placement(
    joints: Points, pelvis: Array | None, feet: list[Array], skeleton: bool
) -> tuple[Array, Array, str]:
    """Turn and origin of our world: x along the heading at the start, z = 0 on the floor.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        z up.
    pelvis : (T, 3, 3) array or None
        Rotation of the pelvis.
    feet : list of (T, 3) arrays
        Points that touch the floor.
    skeleton : bool
        Whether the recording is a skeleton's, which has no calibrated floor.

    Returns
    -------
    turn : (3, 3) array
    origin : (3,) array
        In the axes of `joints`, m.
    note : str
        What was done.
    """
    forward, whose = _heading(joints, pelvis)
    turn = np.array([[forward[0], forward[1], 0.0], [-forward[1], forward[0], 0.0], [0.0, 0.0, 1.0]])
    start = joints["pelvis"][0] if "pelvis" in joints else _above(joints)[0]
    lowest = min((float(foot[:, 2].min()) for foot in feet), default=None)
    if lowest is None:
        floor, note = 0.0, "floor: the file's zero, for there are no feet"
    elif not skeleton and CALIBRATED_FLOOR[0] <= lowest <= CALIBRATED_FLOOR[1]:
        floor, note = 0.0, f"floor: the laboratory's zero (lowest foot point {1000 * lowest:.0f} mm above it)"
    else:
        floor, note = lowest, f"floor: lowest point of the feet (at {lowest:.3f} m in the file)"
    return turn, np.array([start[0], start[1], floor]), f"x axis: {whose} at the start; {note}"


def _above(joints: Points) -> Array:
    """Mean of the known shoulders, to start from in a recording without a pelvis."""
    shoulders = [joints[name] for name in ("left_shoulder", "right_shoulder") if name in joints]
    return np.asarray(np.mean(shoulders, axis=0))


def _heading(joints: Points, pelvis: Array | None) -> tuple[Array, str]:
    """Horizontal unit vector (2,) of the first frame, and what it belongs to."""
    if pelvis is not None:
        # The hip line gives a heading even to an actor who lies on the back, whose forward axis points up.
        left = pelvis[0, :, 1]
        forward = np.array([left[1], -left[0]]) if np.hypot(*left[:2]) > 0.1 else pelvis[0, :2, 0]
        if np.hypot(*forward) > 1e-6:
            return forward / np.hypot(*forward), "heading of the pelvis"
    across = leftwards(joints)
    if across is not None and np.hypot(*across[0, :2]) > 0.1 * np.linalg.norm(across[0]):
        forward = np.array([across[0, 1], -across[0, 0]])
        return forward / np.hypot(*forward), "heading of the shoulders"
    return np.array([1.0, 0.0]), "the file's, for the body's heading is unknown"
