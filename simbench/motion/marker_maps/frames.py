"""Axes of segment frames from directions in the body, vectorised over frames."""

import numpy as np
from scipy.linalg import solve_banded

from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.centres import normalise, reject

# The plane of an elbow flexed by less than about 6 degrees (sine 0.1) is as uncertain as its markers: there
# the axis is smoothed over this much time before and after, s.
FLEXED_SINE, SMOOTHING_TIME = 0.1, 0.1
# Weight of the reference axis relative to the measured one: both weigh the same where the sine is 0.03.
REFERENCE_WEIGHT = 1e-5


def build_axes_frame(first: str, primary: Array, second: str, secondary: Array) -> Array:
    """Build rotations from the directions of two axes.

    `first`, `second`: names of the two axes, of `x`, `y`, `z`, different; `primary` (..., 3): direction of
    the first axis, which is kept; `secondary` (..., 3): direction of the second axis, which is made normal to
    the first. Returns (..., 3, 3): rotation matrices whose columns are the axes x, y, z.
    """
    i, j = "xyz".index(first), "xyz".index(second)
    k = 3 - i - j
    columns: list[Array] = [np.empty(0)] * 3
    columns[i] = normalise(primary)
    columns[j] = normalise(reject(secondary, columns[i]))
    columns[k] = np.cross(columns[i], columns[j])
    if (j - i) % 3 == 2:
        columns[k] = -columns[k]
    return np.stack(columns, axis=-1)


def build_limb_frame(
    side: str, along: Array, *, thumb: Array | None = None, lateral: Array | None = None
) -> Array:
    """Build the rotations of the frame of a limb by the conventions of `simbench.motion.anatomy`.

    `side`: `left` or `right`; `along` (..., 3): direction of the limb's axis, distally; `thumb`, `lateral`
    (..., 3) or None: one of them: direction towards the side of the thumb, or towards the lateral side.
    Returns (..., 3, 3): rotation matrices whose columns are the axes x, y, z.
    """
    if lateral is not None:
        return build_axes_frame("x", along, "z", lateral)
    if thumb is None:
        raise TypeError("a limb's frame needs thumb or lateral")
    return build_axes_frame("x", along, "y", -thumb if side == "left" else thumb)


def estimate_flexion_axis(
    proximal: Array, joint: Array, distal: Array, rate: float, reference: Array | None = None
) -> Array:
    """Estimate the axis about which a hinge joint flexes, also while the joint is straight.

    The axis is normal to the plane of the three points while the joint is clearly flexed. When it is nearly
    straight, noise rotates that plane arbitrarily; there the axis is moved along with the proximal limb by
    parallel transport, without axial rotation, from and to the times when the joint is flexed, by weighted
    least squares. `proximal`, `joint`, `distal` (T, 3): centres of the proximal joint, the hinge joint and
    the distal joint, m; `rate`: sampling rate, Hz; `reference` (T, 3) or None: axis, as unit vectors, that is
    assumed if the joint never flexes. Returns (T, 3): unit vectors normal to the proximal limb; the distal
    limb flexes about them in the positive sense.
    """
    limb = normalise(joint - proximal)
    normal = np.cross(limb, normalise(distal - joint))
    basis = transport_along(limb)
    bend = np.einsum("tik,ti->tk", basis, normal) @ np.array([1.0, 1.0j])
    sine = np.abs(bend)
    weight = sine**6 / FLEXED_SINE**4
    right = sine**5 / FLEXED_SINE**4 * bend
    if reference is not None:
        aim = np.einsum("tik,ti->tk", basis, reference) @ np.array([1.0, 1.0j])
    else:
        aim = np.ones(len(limb), dtype=complex)
    weight = weight + REFERENCE_WEIGHT
    right = right + REFERENCE_WEIGHT * aim
    stiffness = (SMOOTHING_TIME * FLEXED_SINE * rate) ** 2
    bands = np.zeros((3, len(limb)))
    bands[0, 1:] = bands[2, :-1] = -stiffness
    bands[1] = weight + 2.0 * stiffness
    bands[1, [0, -1]] -= stiffness
    axis = solve_banded((1, 1), bands, right)
    return normalise(np.einsum("tik,tk->ti", basis, np.stack([axis.real, axis.imag], axis=1)))


def compute_swung_axis(limb: Array, trunk: Array) -> Array:
    """Compute the elbow's axis for an arm that swings from hanging to its direction without axial rotation.

    `limb` (T, 3): directions of the upper arm, unit vectors; `trunk` (T, 3, 3): rotations of the trunk; its
    axes are x forward, y left, z up. Returns (T, 3): axes of the elbow, unit vectors.
    """
    return np.einsum("tij,tj->ti", _shortest_rotation(-trunk[:, :, 2], limb), -trunk[:, :, 1])


def transport_along(limb: Array) -> Array:
    """Move two directions along with a limb by parallel transport, without axial rotation.

    `limb` (T, 3): directions of the limb, unit vectors. Returns (T, 3, 2): two unit vectors normal to the
    limb and to each other, which rotate with it but never about it.
    """
    start = np.eye(3)[np.abs(limb[0]).argmin()]
    first = normalise(reject(start, limb[0]))
    rotations = np.concatenate([np.eye(3)[None], _shortest_rotation(limb[:-1], limb[1:])])
    # Products of the first t rotations for all t, by doubling.
    step = 1
    while step < len(rotations):
        rotations[step:] = rotations[step:] @ rotations[:-step]
        step *= 2
    first = normalise(reject(rotations @ first, limb))
    return np.stack([first, np.cross(limb, first)], axis=-1)


def _shortest_rotation(start: Array, end: Array) -> Array:
    """Rotations (T, 3, 3) by the smallest angle that take unit vectors to others."""
    axis = np.cross(start, end)
    cross = np.zeros((len(axis), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]] = axis
    cross[:, [1, 2, 0], [2, 0, 1]] = -axis
    cosine = (start * end).sum(axis=1)
    return np.asarray(np.eye(3) + cross + cross @ cross / np.maximum(1.0 + cosine, 1e-9)[:, None, None])
