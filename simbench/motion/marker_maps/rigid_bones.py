"""Joint centres moved as little as possible, so that bones keep their length."""

import numpy as np

from simbench.kinematics.arrays import Array

# How readily shoulder, elbow and wrist, or hip, knee and ankle, give way: the centre inside the shoulder or
# the hip, estimated from markers at some distance, is about twice as uncertain (in variance) as the others.
MOBILITY = np.array([2.0, 1.0, 1.0])
# m; the constraints of a centimetre's correction are met to this after about five steps.
TOLERANCE, MOST_STEPS = 1e-12, 50


def keep_lengths(proximal: Array, middle: Array, distal: Array) -> tuple[Array, Array, Array]:
    """Give the two bones of a limb their median lengths in every frame.

    Frame by frame the nearest centres (weighted by `MOBILITY`) with these lengths: Lagrange's conditions, by
    Newton steps on the two constraints of all frames at once.

    Parameters
    ----------
    proximal, middle, distal : (T, 3) array
        Shoulder, elbow and wrist, or hip, knee and ankle, m.

    Returns
    -------
    proximal, middle, distal : (T, 3) array
        m.
    """
    measured = np.stack([proximal, middle, distal], axis=1)
    lengths = np.median(np.linalg.norm(np.diff(measured, axis=1), axis=2), axis=0)
    points = measured.copy()
    for _ in range(MOST_STEPS):
        bones = np.diff(points, axis=1)
        # Half the squared lengths' errors; their gradients are minus and plus the bones.
        error = ((bones**2).sum(axis=2) - lengths**2) / 2
        gradient = np.zeros((len(points), 2, 3, 3))
        for bone in (0, 1):
            gradient[:, bone, bone], gradient[:, bone, bone + 1] = -bones[:, bone], bones[:, bone]
        weighted = gradient * MOBILITY[:, None]
        matrix = np.einsum("tajk,tbjk->tab", weighted, gradient)
        slack = error + np.einsum("tajk,tjk->ta", gradient, measured - points)
        factor = np.linalg.solve(matrix, slack[..., None])[..., 0]
        moved = measured - np.einsum("ta,tajk->tjk", factor, weighted)
        change, points = np.abs(moved - points).max(), moved
        if change < TOLERANCE:
            break
    return points[:, 0], points[:, 1], points[:, 2]
