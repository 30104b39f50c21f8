"""Joint centres from markers on the skin: vectorised over frames."""

import numpy as np

from simbench.kinematics.arrays import Array


def unit(vectors: Array) -> Array:
    """Directions of vectors (..., 3); a vanishing one stays zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def reject(vectors: Array, axis: Array) -> Array:
    """Part of vectors (..., 3) normal to unit vectors `axis` (..., 3)."""
    return np.asarray(vectors - (vectors * axis).sum(axis=-1, keepdims=True) * axis)


def chord(proximal: Array, marker: Array, towards: Array, offset: float) -> Array:
    """Place a joint centre beside a marker (the chord function of Plug-in Gait).

    The centre lies in the plane of `proximal`, `marker` and `towards`, sees the first two under a right
    angle, and is `offset` from the marker.

    Parameters
    ----------
    proximal, marker : (T, 3) array
        The proximal joint's centre and the marker on the joint's side, m.
    towards : (T, 3) array
        Roughly from the marker to the centre.
    offset : float
        Half the joint's width and the marker's radius, m.

    Returns
    -------
    (T, 3) array
        m.
    """
    along = unit(proximal - marker)
    distance = np.linalg.norm(proximal - marker, axis=-1, keepdims=True)
    cosine = np.minimum(offset / np.maximum(distance, offset), 1.0)
    inward = unit(reject(towards, along))
    return np.asarray(marker + offset * (cosine * along + np.sqrt(1.0 - cosine**2) * inward))


def hinge_centre(side: str, proximal: Array, marker: Array, distal: Array, offset: float) -> Array:
    """Place an elbow's centre inside its lateral marker.

    The marker lies on the elbow's axis, `offset` from the plane in which the arm bends. That plane contains
    `proximal` and `distal` and touches a sphere about the marker: the centre is where it touches, on the side
    to which elbows bend. (Plug-in Gait's chord function takes the plane through the marker instead, which at
    a right angle puts the centre about 8 mm off.)

    Parameters
    ----------
    side : str
        `left` or `right`.
    proximal, marker, distal : (T, 3) array
        Centre of the shoulder, lateral marker, centre of the wrist, m.
    offset : float
        Half the joint's width and the marker's radius, m.

    Returns
    -------
    (T, 3) array
        m.
    """
    line = unit(distal - proximal)
    outward = reject(marker - proximal, line)
    distance = np.linalg.norm(outward, axis=-1, keepdims=True)
    outward = unit(outward)
    cosine = np.minimum(offset / np.maximum(distance, offset), 1.0)
    sine = np.sqrt(1.0 - cosine**2) * (-1.0 if side == "left" else 1.0)
    return np.asarray(marker - offset * (cosine * outward + sine * np.cross(outward, line)))


def cluster_pose(markers: Array, model: Array) -> tuple[Array, Array]:
    """Fit the pose of a rigid cluster by least squares (Kabsch 1976).

    Parameters
    ----------
    markers : (T, N, 3) array
        Seen positions, m.
    model : (N, 3) array
        The same markers' coordinates in the cluster's axes, m.

    Returns
    -------
    rotation : (T, 3, 3) array
    origin : (T, 3) array
        m.
    """
    middle, model_middle = markers.mean(axis=1), model.mean(axis=0)
    covariance = (model - model_middle).T @ (markers - middle[:, None])
    u, _, vt = np.linalg.svd(covariance)
    # A reflection is no motion of a rigid body.
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    rotation = (u @ vt).transpose(0, 2, 1)
    return rotation, middle - rotation @ model_middle
