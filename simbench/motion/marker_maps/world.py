"""The world frame of a recording: vertical axis, handedness, heading and floor."""

from collections.abc import Mapping

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.centres import normalise
from simbench.motion.read_options import AXES

Points = Mapping[str, Array]

# A trunk points along an axis when it is within 37 degrees of it (cosine); a statement about all frames holds
# when at least this fraction of them agree.
ALIGNED_COSINE, MAJORITY = 0.8, 0.9
# The zero height of a laboratory is its floor when the lowest foot markers, which have a radius and sit on
# shoes, are in this range above it, m.
CALIBRATED_FLOOR = (-0.03, 0.12)
# Rows: axes x, y, z (forward, left, up) of the world frame in the axes of a file whose vertical axis is the
# key. With y up, x is taken for forward, as the ISB recommends; the heading at the start decides later,
# unless the marker map says that the recording is already in the world frame.
WORLD_AXES = {
    "x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "z": np.eye(3),
}


def find_vertical_axis(
    joints: Points, declared: str | None, sure: bool, source: str
) -> tuple[str, str | None]:
    """Find the vertical axis of a file.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        Tracks of the joint centres in the file's axes, m.
    declared : str or None
        Vertical axis that the user, the file or the marker map declares, `x`, `y` or `z`; None if none does.
    sure : bool
        Whether the user or the definition of the format declares it: then it is kept even if the body
        contradicts it, because the person may be lying, and a note says so.
    source : str
        Name of the recording, for messages.

    Returns
    -------
    axis : str
        Vertical axis, `x`, `y` or `z`.
    note : str or None
        How the axis was found, if it was not declared, or that the body does not stand along it.

    Raises
    ------
    MotionError
        The body contradicts the declaration, or there is none and the body is not upright along an axis.
    """
    trunk = _upward_directions(joints)
    if trunk is None:
        if declared is None:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and without a pelvis or hips it cannot be "
                "found; declare it (--up), x, y or z"
            )
        return declared, None
    fractions = {
        f"{sign}{axis}": float((factor * trunk[:, k] > ALIGNED_COSINE).mean())
        for k, axis in enumerate(AXES)
        for sign, factor in (("", 1.0), ("-", -1.0))
    }
    seeming = max(fractions, key=lambda name: fractions[name])
    if declared is None:
        if fractions[seeming] < 0.5 or seeming not in AXES:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and the trunk is upright along none of x, y "
                f"and z (most often along {seeming}, {fractions[seeming]:.0%} of the frames); "
                "declare it (--up)"
            )
        return seeming, f"vertical axis {seeming}: the trunk points along it"
    if seeming != declared and fractions[seeming] >= MAJORITY:
        if sure:
            return declared, (
                f"vertical axis {declared}, as declared: the trunk lies along {seeming} in "
                f"{fractions[seeming]:.0%} of the frames"
            )
        other = (
            f"if {seeming} is vertical, declare that (--up {seeming})"
            if seeming in AXES
            else f"{seeming} cannot be vertical: turn the file's axes"
        )
        raise MotionError(
            f"{source}: {declared} is declared vertical, yet the trunk points along {seeming} in "
            f"{fractions[seeming]:.0%} of the frames; {other}; if the person lies, declare --up {declared}"
        )
    return declared, None


def _upward_directions(joints: Points) -> Array | None:
    """Compute unit vectors (T, 3) from pelvis to shoulders; None if either is not recorded."""
    below = (
        mean_track(joints, ("pelvis",))
        if "pelvis" in joints
        else mean_track(joints, ("left_hip", "right_hip"))
    )
    shoulders = mean_track(joints, ("left_shoulder", "right_shoulder"))
    above = shoulders if shoulders is not None else joints.get("neck")
    if below is None or above is None:
        return None
    return normalise(above - below)


def mean_track(joints: Points, names: tuple[str, ...]) -> Array | None:
    """Average the tracks of joints.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        Tracks of the joint centres, m.
    names : tuple of str
        Names of the joints to average.

    Returns
    -------
    (T, 3) array or None
        Mean of the tracks, m; None if a joint is missing.
    """
    if any(name not in joints for name in names):
        return None
    return np.asarray(np.mean([joints[name] for name in names], axis=0))


def leftward_vectors(joints: Points) -> Array | None:
    """Compute the vectors from the right shoulder to the left one, or between the hips.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        Tracks of the joint centres, m.

    Returns
    -------
    (T, 3) array or None
        Vectors to the left, m; None if neither both shoulders nor both hips are recorded.
    """
    for name in ("shoulder", "hip"):
        if f"left_{name}" in joints and f"right_{name}" in joints:
            return np.asarray(joints[f"left_{name}"] - joints[f"right_{name}"])
    return None


def check_not_mirrored(joints: Points, facing: list[Array], source: str) -> None:
    """Refuse a mirrored body: left, forward and up must make a right-handed system.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        Tracks of the joint centres in any right-handed axes, m.
    facing : list of (T, 3) arrays
        Forward vectors of the body: heel to toe, back to front of the pelvis, ...
    source : str
        Name of the recording, for messages.

    Raises
    ------
    MotionError
        In most frames the mean of the forward vectors points backward.
    """
    left, up = leftward_vectors(joints), _upward_directions(joints)
    if left is None or up is None or not facing:
        return
    forward = normalise(np.cross(left, up))
    agreement = np.mean([(normalise(vector) * forward).sum(axis=1) for vector in facing], axis=0)
    wrong = float((agreement < 0.0).mean())
    if wrong > MAJORITY:
        raise MotionError(
            f"{source}: the body faces backward in {wrong:.0%} of the frames: left and right are swapped, or "
            "the axes are left-handed (a mirrored body); they must be right-handed"
        )


def place_in_world(
    joints: Points, pelvis: Array | None, feet: list[Array], skeleton: bool
) -> tuple[Array, Array, str]:
    """Find the world frame of a recording: x along the heading at the start, z = 0 on the floor.

    Parameters
    ----------
    joints : mapping of str to (T, 3) array
        Tracks of the joint centres in axes with z up, m.
    pelvis : (T, 3, 3) array or None
        Rotations of the pelvis in the same axes; None where it is not recorded.
    feet : list of (T, 3) arrays
        Tracks of points of which the lowest touch the floor, m.
    skeleton : bool
        Whether the recording is that of a skeleton, which has no calibrated floor.

    Returns
    -------
    rotation : (3, 3) array
        Rotation from the axes of `joints` to those of the world frame.
    origin : (3,) array
        Origin of the world frame in the axes of `joints`, m.
    note : str
        How heading and floor were found.
    """
    forward, whose = _heading(joints, pelvis)
    rotation = np.array([[forward[0], forward[1], 0.0], [-forward[1], forward[0], 0.0], [0.0, 0.0, 1.0]])
    start = joints["pelvis"][0] if "pelvis" in joints else _mean_shoulder(joints)[0]
    lowest = min((float(foot[:, 2].min()) for foot in feet), default=None)
    if lowest is None:
        floor, note = 0.0, "floor: the file's zero, for there are no feet"
    elif not skeleton and CALIBRATED_FLOOR[0] <= lowest <= CALIBRATED_FLOOR[1]:
        floor, note = 0.0, f"floor: the laboratory's zero (lowest foot point {1000 * lowest:.0f} mm above it)"
    else:
        floor, note = lowest, f"floor: lowest point of the feet (at {lowest:.3f} m in the file)"
    return rotation, np.array([start[0], start[1], floor]), f"x axis: {whose} at the start; {note}"


def _mean_shoulder(joints: Points) -> Array:
    """Mean (T, 3) of the known shoulders, the reference point of a recording without a pelvis."""
    shoulders = [joints[name] for name in ("left_shoulder", "right_shoulder") if name in joints]
    return np.asarray(np.mean(shoulders, axis=0))


def _heading(joints: Points, pelvis: Array | None) -> tuple[Array, str]:
    """Find the heading (2,) in the first frame, a horizontal unit vector, and say what it belongs to."""
    if pelvis is not None:
        # The line through the hips gives a heading even if the actor lies on the back and the forward axis
        # points up.
        left = pelvis[0, :, 1]
        forward = np.array([left[1], -left[0]]) if np.hypot(*left[:2]) > 0.1 else pelvis[0, :2, 0]
        if np.hypot(*forward) > 1e-6:
            return forward / np.hypot(*forward), "heading of the pelvis"
    across = leftward_vectors(joints)
    if across is not None and np.hypot(*across[0, :2]) > 0.1 * np.linalg.norm(across[0]):
        forward = np.array([across[0, 1], -across[0, 0]])
        return forward / np.hypot(*forward), "heading of the shoulders"
    return np.array([1.0, 0.0]), "the file's, for the body's heading is unknown"
