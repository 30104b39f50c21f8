"""The world frame of a recording: vertical axis, handedness, heading and floor."""

from collections.abc import Mapping, Sequence

import numpy as np

from simbench.errors import MotionError
from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.map_evaluation import normalise
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
    "-x": np.array([[0.0, 1.0, 0.0], [0.0, 0.0, -1.0], [-1.0, 0.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "-z": np.array([[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, -1.0]]),
}
# The vertical axis that a format has in most files, where a body shows none.
USUAL_AXIS = {True: "y", False: "z"}
# A person on two feet holds the shoulders above the ankles: the median of their line leans less than this,
# degrees, unless the axes are oblique, or the person lies, sits or crawls.
LARGEST_LEAN = 25.0
# The lowest points of feet are taken for the floor; samples this far below nearly all others are not, m.
OUTLIER_DEPTH, OUTLIER_SHARE = 0.03, 0.02
# Height of the ankle's centre over the sole as a fraction of stature (Drillis and Contini 1966, in Winter,
# Biomechanics and Motor Control of Human Movement, fig. 4.1).
ANKLE_HEIGHT = 0.039


def find_vertical_axis(
    joints: Points,
    *,
    by_user: str | None,
    by_format: str | None,
    by_file: str | None,
    skeleton: bool,
    strict: bool,
    source: str,
) -> tuple[str, str, str]:
    """Find the vertical axis of a file from how the body stands in it and from what is declared.

    The trunk points up from pelvis to shoulders and the legs from ankles to hips; the axis along which both
    do in most frames is vertical. What the user or the definition of the format declares is kept. `joints`
    mapping of str to (T, 3) array: tracks of the joint centres in the file's axes, m; `by_user`, `by_format`,
    `by_file`: axis that the user, the definition of the format, and the file or the marker map declare;
    `skeleton`: whether the recording is that of a skeleton, which has y up in most files; else z; `strict`:
    whether to refuse what the body contradicts or does not show; `source`: name of the recording, for
    messages. Returns the axis, a key of `WORLD_AXES`, how it was found, and what may be wrong about it, for
    the user, both empty where there is nothing to say.
    """
    known = by_user or by_format or by_file
    trunk = compute_upward_directions(joints)
    if trunk is None:
        if known is not None:
            return known, "", ""
        if strict:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and without a pelvis or hips it cannot be "
                "found; declare it (--up), one of x, y, z, -x, -y, -z"
            )
        axis = USUAL_AXIS[skeleton]
        return axis, "", f"vertical axis {axis}: a guess, without pelvis and legs; --up declares it"
    legs = connect_means(joints, ("left_ankle", "right_ankle"), ("left_hip", "right_hip"))
    parts = [trunk] if legs is None else [trunk, normalise(legs)]
    fractions = {
        f"{sign}{axis}": float(np.mean([(factor * part[:, k] > ALIGNED_COSINE).mean() for part in parts]))
        for k, axis in enumerate(AXES)
        for sign, factor in (("", 1.0), ("-", -1.0))
    }
    seeming = max(fractions, key=lambda name: fractions[name])
    share = f"{fractions[seeming]:.0%}"
    if known is None:
        if fractions[seeming] >= 0.5:
            return seeming, f"vertical axis {seeming}: the body is upright along it", ""
        if strict:
            raise MotionError(
                f"{source}: the vertical axis is not declared, and the trunk is upright along none of x, y "
                f"and z (most often along {seeming}, {share} of the frames); declare it (--up)"
            )
        axis = seeming if fractions[seeming] > 0.0 else USUAL_AXIS[skeleton]
        return axis, "", f"vertical axis {axis}: a guess, for the body is seldom upright; --up declares it"
    if seeming == known or fractions[seeming] < MAJORITY:
        return known, "", ""
    if by_user is not None or by_format is not None:
        text = f"vertical axis {known}, as declared: the body lies along {seeming} in {share} of the frames"
        return (known, text, "") if by_user else (known, "", text)
    if strict:
        raise MotionError(
            f"{source}: {known} is declared vertical, yet the trunk points along {seeming} in {share} of the "
            f"frames; if {seeming} is vertical, declare that (--up {seeming}); if the person lies, declare "
            f"--up {known}"
        )
    doubt = (
        f"vertical axis {seeming}, for the body stands along it in {share} of the frames, though the file "
        f"says {known}; if the person lies: --up {known}"
    )
    return seeming, "", doubt


def connect_means(joints: Points, below: tuple[str, ...], above: tuple[str, ...]) -> Array | None:
    """Vectors (T, 3) from the mean of some joints to the mean of others, if all are recorded."""
    start, end = mean_track(joints, below), mean_track(joints, above)
    return None if start is None or end is None else end - start


def compute_upward_directions(joints: Points) -> Array | None:
    """Compute the unit vectors from pelvis to shoulders.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m. Returns (T, 3) or None:
    directions in the axes of `joints`; None if either end is not recorded.
    """
    hips = mean_track(joints, ("left_hip", "right_hip"))
    below = joints.get("pelvis") if hips is None else hips
    shoulders = mean_track(joints, ("left_shoulder", "right_shoulder"))
    above = shoulders if shoulders is not None else joints.get("neck")
    if below is None or above is None:
        return None
    return normalise(above - below)


def mean_track(joints: Points, names: tuple[str, ...]) -> Array | None:
    """Average the tracks of joints.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m. Returns (T, 3) or None: mean of
    the tracks, m; None if a joint is missing.
    """
    if any(name not in joints for name in names):
        return None
    return np.asarray(np.mean([joints[name] for name in names], axis=0))


def leftward_vectors(joints: Points) -> Array | None:
    """Compute the vectors from the right shoulder to the left one, or between the hips.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres, m. Returns (T, 3) or None: vectors
    to the left, m; None if neither both shoulders nor both hips are recorded.
    """
    for name in ("shoulder", "hip"):
        if f"left_{name}" in joints and f"right_{name}" in joints:
            return np.asarray(joints[f"left_{name}"] - joints[f"right_{name}"])
    return None


def place_in_world(
    joints: Points, pelvis: Array | None, feet: Sequence[Array], height: float, skeleton: bool
) -> tuple[Array, Array, str]:
    """Find the world frame of a recording: x along the heading at the start, z = 0 on the floor.

    `joints` mapping of str to (T, 3) array: tracks of the joint centres in axes with z up, m; `pelvis` (T, 3,
    3) or None: rotations of the pelvis in the same axes; None where it is not recorded; `feet` sequence of
    (T, 3) arrays: points of which the lowest touch the floor, in the same axes, m; empty where no foot is
    recorded; `height`: height of these points over the sole while they are lowest, m: that of the ankles
    where nothing is below them, else 0; `skeleton`: whether the recording is that of a skeleton, which has no
    calibrated floor. Returns `rotation` (3, 3): rotation from the axes of `joints` to those of the world
    frame; `origin` (3,): origin of the world frame in the axes of `joints`, m; `note`: how heading and floor
    were found.
    """
    across = leftward_vectors(joints)
    forward, whose = np.array([1.0, 0.0]), "the file's, for the body's heading is unknown"
    if across is not None and np.hypot(*across[0, :2]) > 0.1 * np.linalg.norm(across[0]):
        forward, whose = np.array([across[0, 1], -across[0, 0]]), "heading of the shoulders"
    if pelvis is not None:
        # The line through the hips gives a heading even if the actor lies on the back and the forward axis
        # points up.
        left = pelvis[0, :, 1]
        ahead = np.array([left[1], -left[0]]) if np.hypot(*left[:2]) > 0.1 else pelvis[0, :2, 0]
        if np.hypot(*ahead) > 1e-6:
            forward, whose = ahead, "heading of the pelvis"
    forward = forward / np.hypot(*forward)
    rotation = np.array([[forward[0], forward[1], 0.0], [-forward[1], forward[0], 0.0], [0.0, 0.0, 1.0]])
    shoulders = [joints[name] for name in ("left_shoulder", "right_shoulder") if name in joints]
    start = joints["pelvis"][0] if "pelvis" in joints else np.mean(shoulders, axis=0)[0]
    floor, note = 0.0, "the file's zero, for there are no feet"
    if feet:
        heights = np.min([track[:, 2] for track in feet], axis=0) - height
        lowest, usual = float(heights.min()), float(np.quantile(heights, OUTLIER_SHARE))
        if not skeleton and CALIBRATED_FLOOR[0] <= lowest <= CALIBRATED_FLOOR[1]:
            note = f"the laboratory's zero (lowest foot point {1000 * lowest:.0f} mm above it)"
        elif lowest < usual - OUTLIER_DEPTH:
            floor = usual
            note = (
                f"height of the feet's lowest points (at {usual:.3f} m in the file), single samples up to "
                f"{usual - lowest:.3f} m below"
            )
        else:
            below = f", {height:.3f} m below the ankles" if height else ""
            floor, note = lowest, f"lowest point of the feet (at {lowest:.3f} m in the file{below})"
    return rotation, np.array([start[0], start[1], floor]), f"x axis: {whose} at the start; floor: {note}"
