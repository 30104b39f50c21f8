"""Segment axes from directions in the body: vectorised over frames."""

import numpy as np
from scipy.linalg import solve_banded

from simbench.kinematics.arrays import Array
from simbench.motion.marker_maps.centres import reject, unit

# The plane of an elbow bent by less than about 6 degrees (sine 0.1) is as uncertain as its markers: there its
# axis follows from this much time before and after, s.
BENT, MEMORY = 0.1, 0.1
# What the reference counts against the bend: as much where the sine is 0.03.
REFERENCE_WEIGHT = 1e-5


def axes_frame(first: str, primary: Array, second: str, secondary: Array) -> Array:
    """Build rotations from two axes.

    Parameters
    ----------
    first, second : str
        Of `x`, `y`, `z`, different.
    primary : (..., 3) array
        The first axis's direction, kept.
    secondary : (..., 3) array
        The second axis's direction, made normal to the first.

    Returns
    -------
    (..., 3, 3) array
    """
    i, j = "xyz".index(first), "xyz".index(second)
    k = 3 - i - j
    columns: list[Array] = [np.empty(0)] * 3
    columns[i] = unit(primary)
    columns[j] = unit(reject(secondary, columns[i]))
    columns[k] = np.cross(columns[i], columns[j])
    if (j - i) % 3 == 2:
        columns[k] = -columns[k]
    return np.stack(columns, axis=-1)


def limb_frame(side: str, along: Array, *, thumb: Array | None = None, lateral: Array | None = None) -> Array:
    """Build the rotations of a limb's frame, conventions of `simbench.motion.anatomy`.

    Parameters
    ----------
    side : str
        `left` or `right`.
    along : (..., 3) array
        Distally.
    thumb, lateral : (..., 3) array or None
        One of them: towards the thumb's side, or the lateral side.

    Returns
    -------
    (..., 3, 3) array
    """
    if lateral is not None:
        return axes_frame("x", along, "z", lateral)
    if thumb is None:
        raise TypeError("a limb's frame needs thumb or lateral")
    return axes_frame("x", along, "y", -thumb if side == "left" else thumb)


def flexion_axis(
    proximal: Array, joint: Array, distal: Array, rate: float, reference: Array | None = None
) -> Array:
    """Axis about which a hinge bends, also where it is straight.

    It is normal to the plane of the three points while they are well bent. Towards a straight joint, where
    noise turns that plane about, the axis is carried along with the proximal limb without axial rotation from
    and to the times when it bends, by weighted least squares.

    Parameters
    ----------
    proximal, joint, distal : (T, 3) array
        m.
    rate : float
        Hz.
    reference : (T, 3) array or None
        Where the axis would be, as unit vectors, if the joint never bent.

    Returns
    -------
    (T, 3) array
        Unit vectors normal to the proximal limb; the distal limb bends about them in the positive sense.
    """
    limb = unit(joint - proximal)
    normal = np.cross(limb, unit(distal - joint))
    basis = _carried(limb)
    bend = np.einsum("tik,ti->tk", basis, normal) @ np.array([1.0, 1.0j])
    sine = np.abs(bend)
    weight = sine**6 / BENT**4
    right = sine**5 / BENT**4 * bend
    if reference is not None:
        aim = np.einsum("tik,ti->tk", basis, reference) @ np.array([1.0, 1.0j])
    else:
        aim = np.ones(len(limb), dtype=complex)
    weight = weight + REFERENCE_WEIGHT
    right = right + REFERENCE_WEIGHT * aim
    stiffness = (MEMORY * BENT * rate) ** 2
    bands = np.zeros((3, len(limb)))
    bands[0, 1:] = bands[2, :-1] = -stiffness
    bands[1] = weight + 2.0 * stiffness
    bands[1, [0, -1]] -= stiffness
    axis = solve_banded((1, 1), bands, right)
    return unit(np.einsum("tik,tk->ti", basis, np.stack([axis.real, axis.imag], axis=1)))


def swung_axis(limb: Array, trunk: Array) -> Array:
    """Where the elbow's axis is when the arm swings from hanging to its direction without axial rotation.

    Parameters
    ----------
    limb : (T, 3) array
        The upper arm's direction, unit vectors.
    trunk : (T, 3, 3) array
        x forward, y left, z up.

    Returns
    -------
    (T, 3) array
        Unit vectors.
    """
    return np.einsum("tij,tj->ti", _shortest_turn(-trunk[:, :, 2], limb), -trunk[:, :, 1])


def _carried(limb: Array) -> Array:
    """Two unit vectors (T, 3, 2) normal to the limb that turn with it but never about it."""
    start = np.eye(3)[np.abs(limb[0]).argmin()]
    first = unit(reject(start, limb[0]))
    turns = np.concatenate([np.eye(3)[None], _shortest_turn(limb[:-1], limb[1:])])
    # All products of the first t turns, by doubling.
    step = 1
    while step < len(turns):
        turns[step:] = turns[step:] @ turns[:-step]
        step *= 2
    first = unit(reject(turns @ first, limb))
    return np.stack([first, np.cross(limb, first)], axis=-1)


def _shortest_turn(start: Array, end: Array) -> Array:
    """Rotations (T, 3, 3) that take unit vectors to others the shortest way."""
    axis = np.cross(start, end)
    cross = np.zeros((len(axis), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]] = axis
    cross[:, [1, 2, 0], [2, 0, 1]] = -axis
    cosine = (start * end).sum(axis=1)
    return np.asarray(np.eye(3) + cross + cross @ cross / np.maximum(1.0 + cosine, 1e-9)[:, None, None])
