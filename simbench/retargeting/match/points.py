"""Points of a matched body in many configurations at once, and their Jacobians."""

from dataclasses import dataclass

import numpy as np

from simbench.kinematics.arrays import Array
from simbench.kinematics.tree import KinematicTree, make_path_poses, place_path
from simbench.retargeting.match.body import MatchedBody


@dataclass(frozen=True)
class Placed:
    """A body in T configurations.

    Parameters
    ----------
    rotation : (T, n + 1, 3, 3) array
        Rotations of the bodies of the tree in the world frame.
    position : (T, n + 1, 3) array
        Positions of the bodies, m.
    points : (T, P, 3) array
        Positions of the body's points, m.
    """

    rotation: Array
    position: Array
    points: Array


def place_points(body: MatchedBody, q: Array) -> Placed:
    """Compute where the bodies and points are in configurations (T, 7 + n)."""
    rotation, position = make_path_poses(body.tree, len(q))
    place_path(body.tree, np.ascontiguousarray(q), rotation, position)
    points = position[:, body.body] + (rotation[:, body.body] @ body.position[:, :, None])[..., 0]
    return Placed(rotation, position, points)


def zero_points(body: MatchedBody) -> dict[str, Array]:
    """Positions of the points in the zero configuration, in the frame of the root or of a fixed base, m."""
    q = np.concatenate([np.zeros(6), [1.0], np.zeros(len(body.rest))])
    return dict(zip(body.names, place_points(body, q[None]).points[0], strict=True))


def arm_lengths(body: MatchedBody, side: str) -> tuple[float, float]:
    """Lengths of a robot's upper arm and forearm, m."""
    place = zero_points(body)
    shoulder, elbow, wrist = (place[f"{side}_{name}"] for name in ("shoulder", "elbow", "wrist"))
    return float(np.linalg.norm(elbow - shoulder)), float(np.linalg.norm(wrist - elbow))


def ancestors(tree: KinematicTree) -> Array:
    """Matrix (n + 1, n): 1 where a joint moves a body, else 0."""
    n = len(tree.parent)
    moves = np.zeros((n + 1, n))
    for k in range(n):
        moves[k + 1] = moves[tree.parent[k]]
        moves[k + 1, k] = 1.0
    return moves


def joint_screws(body: MatchedBody, placed: Placed) -> tuple[Array, Array]:
    """Axes and moments of the joints that follow: a point p moves by a × p + b as such a joint goes.

    Returns
    -------
    axes, moments : (T, m, 3) arrays
        a and b in the world frame, b = o × a with the joint's origin o, m; a = 0 for a sliding joint.
    """
    tree, chosen = body.tree, body.joints
    axis = (placed.rotation[:, chosen + 1] @ tree.axis[chosen][:, :, None])[..., 0]
    moment = _cross(placed.position[:, chosen + 1], axis)
    sliding = tree.sliding[chosen][None, :, None]
    return np.where(sliding, 0.0, axis), np.where(sliding, axis, moment)


def point_jacobians(screws: tuple[Array, Array], root: Array, points: Array, moves: Array) -> Array:
    """Derive points by the root's translation and rotation in world axes, and by the joints.

    Parameters
    ----------
    screws : ((T, m, 3) array, (T, m, 3) array)
        From `joint_screws`.
    root : (T, 3) array
        Position of the root, m, about which it rotates.
    points : (T, P, 3) array
        Positions of the points, m.
    moves : (P, m) array
        1 where a joint moves a point, else 0.

    Returns
    -------
    (T, P, 3, 6 + m) array
        m or m/rad.
    """
    axes, moments = screws
    count, number, m = len(points), points.shape[1], axes.shape[1]
    jacobian = np.zeros((count, number, 3, 6 + m))
    jacobian[:, :, 0, 0] = jacobian[:, :, 1, 1] = jacobian[:, :, 2, 2] = 1.0
    arm = points - root[:, None]
    x, y, z = arm[..., 0], arm[..., 1], arm[..., 2]
    # ω × arm.
    jacobian[:, :, 0, 4], jacobian[:, :, 0, 5] = z, -y
    jacobian[:, :, 1, 3], jacobian[:, :, 1, 5] = -z, x
    jacobian[:, :, 2, 3], jacobian[:, :, 2, 4] = y, -x
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        jacobian[:, :, i, 6:] = (
            axes[:, None, :, j] * points[:, :, None, k]
            - axes[:, None, :, k] * points[:, :, None, j]
            + moments[:, None, :, i]
        ) * moves
    return jacobian


def _cross(a: Array, b: Array) -> Array:
    """Cross products along the last axis; `np.cross` takes three times as long."""
    return np.stack(
        [
            a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1],
            a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
            a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0],
        ],
        axis=-1,
    )
