"""Joint centres and cluster poses from markers on the skin, vectorised over frames."""

import numpy as np

from simbench.kinematics.arrays import Array


def normalise(vectors: Array) -> Array:
    """Scale vectors to unit length; a zero vector stays zero.

    `vectors` (..., 3). Returns (..., 3): their directions.
    """
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0.0, length, 1.0))


def reject(vectors: Array, axis: Array) -> Array:
    """Compute the components of vectors that are normal to axes.

    `vectors` (..., 3); `axis` (..., 3): unit vectors. Returns (..., 3).
    """
    return np.asarray(vectors - (vectors * axis).sum(axis=-1, keepdims=True) * axis)


def compute_chord_centre(proximal: Array, marker: Array, towards: Array, offset: float) -> Array:
    """Compute a joint centre beside a marker by the chord function of Plug-in Gait.

    The centre lies in the plane of `proximal`, `marker` and `towards`, at a distance of `offset` from the
    marker, and the directions from it to `proximal` and to the marker are at a right angle. `proximal`,
    `marker` (T, 3): centre of the proximal joint, and marker on the side of the joint, m; `towards` (T, 3):
    vectors that point roughly from the marker to the centre; `offset`: half the joint's width plus the
    marker's radius, m. Returns (T, 3): joint centres, m.
    """
    along = normalise(proximal - marker)
    distance = np.linalg.norm(proximal - marker, axis=-1, keepdims=True)
    cosine = np.minimum(offset / np.maximum(distance, offset), 1.0)
    inward = normalise(reject(towards, along))
    return np.asarray(marker + offset * (cosine * along + np.sqrt(1.0 - cosine**2) * inward))


def compute_hinge_centre(side: str, proximal: Array, marker: Array, distal: Array, offset: float) -> Array:
    """Compute the centre of an elbow from its lateral marker.

    The marker lies on the elbow's axis, `offset` from the plane in which the arm bends. That plane contains
    `proximal` and `distal` and is tangent to the sphere with radius `offset` about the marker: the centre is
    the point of contact, on the side to which elbows bend. (Plug-in Gait's chord function takes the plane
    through the marker instead, which at a right angle puts the centre about 8 mm off.) `side`: `left` or
    `right`; `proximal`, `marker`, `distal` (T, 3): centre of the shoulder, lateral marker of the elbow,
    centre of the wrist, m; `offset`: half the joint's width plus the marker's radius, m. Returns (T, 3):
    centres of the elbow, m.
    """
    line = normalise(distal - proximal)
    outward = reject(marker - proximal, line)
    distance = np.linalg.norm(outward, axis=-1, keepdims=True)
    outward = normalise(outward)
    cosine = np.minimum(offset / np.maximum(distance, offset), 1.0)
    sine = np.sqrt(1.0 - cosine**2) * (-1.0 if side == "left" else 1.0)
    return np.asarray(marker - offset * (cosine * outward + sine * np.cross(outward, line)))


def fit_cluster_pose(markers: Array, model: Array) -> tuple[Array, Array]:
    """Fit the pose of a rigid cluster by least squares (Kabsch 1976).

    `markers` (T, N, 3): measured positions of the markers, m; `model` (N, 3): coordinates of the same markers
    in the cluster's axes, m. Returns `rotation` (T, 3, 3): rotations from the cluster's axes to those of the
    measured positions; `origin` (T, 3): origin of the cluster's axes, m.
    """
    middle, model_middle = markers.mean(axis=1), model.mean(axis=0)
    covariance = (model - model_middle).T @ (markers - middle[:, None])
    u, _, vt = np.linalg.svd(covariance)
    # A rigid body cannot be reflected.
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    rotation = (u @ vt).transpose(0, 2, 1)
    return rotation, middle - rotation @ model_middle
