"""A tree of one-degree-of-freedom joints as arrays, and where its bodies are."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from simbench.errors import RobotError
from simbench.kinematics.arrays import Array
from simbench.kinematics.compiled import compiled, compiled_entry
from simbench.kinematics.rotation import quaternion_to_matrix


class KinematicTree(NamedTuple):
    """Joints of a model, parents before children. Body 0 is the root, body k + 1 hangs on joint k."""

    parent: NDArray[np.int64]  # (n,) int: body that carries the joint.
    rotation: Array  # (n, 3, 3): rotation of the joint's frame in the parent body.
    translation: Array  # (n, 3): m.
    axis: Array  # (n, 3): unit vector in the joint's frame.
    sliding: NDArray[np.bool_]  # (n,) bool: whether the joint moves along its axis, m, or about it, rad.


def kinematic_tree(model: pin.Model) -> KinematicTree:
    """Take the tree out of a Pinocchio model, with a free-flyer root or a fixed one.

    Joint k of the tree is the model's joint `first_joint(model) + k`. `model`: each of its joints, but a
    free-flyer root, has one degree of freedom. Returns tree of all joints but the root's.
    """
    first = first_joint(model)
    ids = range(first, model.njoints)
    axes, sliding = [], []
    data = model.createData()
    pin.computeJointJacobians(model, data, pin.neutral(model))
    for joint in ids:
        if model.joints[joint].nv != 1 or model.joints[joint].nq != 1:
            raise RobotError(f"{model.name}: joint {model.names[joint]} must have one degree of freedom")
        # Pinocchio gives a model of one joint a vector.
        jacobian = pin.getJointJacobian(model, data, joint, pin.ReferenceFrame.LOCAL).reshape(6, -1)
        column = jacobian[:, model.joints[joint].idx_v]
        sliding.append(bool(np.linalg.norm(column[3:]) < 0.5))
        axes.append(column[:3] if sliding[-1] else column[3:])
    return KinematicTree(
        np.array([max(0, model.parents[joint] - first + 1) for joint in ids], dtype=np.int64),
        np.array([model.jointPlacements[joint].rotation for joint in ids]).reshape(-1, 3, 3),
        np.array([model.jointPlacements[joint].translation for joint in ids]).reshape(-1, 3),
        np.array(axes).reshape(-1, 3),
        np.array(sliding, dtype=np.bool_),
    )


def first_joint(model: pin.Model) -> int:
    """Find the first joint after the root.

    `model`: model with a free-flyer root or a fixed one. Returns id of the joint: 2 with a free-flyer, 1
    without.
    """
    return 2 if model.njoints > 1 and model.joints[1].nq == 7 else 1


def frame_on_body(model: pin.Model, frame: int) -> tuple[int, Array, Array]:
    """Find the body of a tree that carries a frame, and the frame's pose on it.

    `model`: from which the tree is taken; `frame`: id of the frame. Returns `body`: index of the body in the
    tree; `rotation` (3, 3); `translation` (3,): position of the frame on the body, m.
    """
    placement = model.frames[frame].placement
    body = max(0, int(model.frames[frame].parentJoint) - first_joint(model) + 1)
    return body, placement.rotation.copy(), placement.translation.copy()


def frame_poses(model: pin.Model, frames: Sequence[int], path: Array) -> list[Array]:
    """Compute the poses of frames in every sample of a motion.

    `model`: model with n joints of one degree of freedom; `frames`: ids of the frames; `path` (T, 7 + n):
    configurations: position of the root (m), quaternion x y z w, joints (rad or m); or (T, n): joints of a
    model that stands at the origin. Returns list of (T, 4, 4) arrays: homogeneous poses of each frame in the
    world, m.
    """
    tree = kinematic_tree(model)
    if path.shape[1] == len(tree.parent):
        path = np.hstack([np.tile([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], (len(path), 1)), path])
    bodies = len(tree.parent) + 1
    rotation, position = np.empty((len(path), bodies, 3, 3)), np.empty((len(path), bodies, 3))
    place_path(tree, np.ascontiguousarray(path), rotation, position)
    found = []
    for body, turn, centre in (frame_on_body(model, frame) for frame in frames):
        poses = np.tile(np.eye(4), (len(path), 1, 1))
        poses[:, :3, :3] = rotation[:, body] @ turn
        poses[:, :3, 3] = position[:, body] + rotation[:, body] @ centre
        found.append(poses)
    return found


@compiled_entry("tree.parent (n), joints (n), rotation (n + 1, 3, 3), position (n + 1, 3)")
def place_bodies(tree: KinematicTree, joints: Array, rotation: Array, position: Array) -> None:
    """Compute the pose of every body in the world.

    `tree`: kinematic tree of n joints; `joints` (n,): joint positions, rad or m; `rotation` (n + 1, 3, 3):
    entry 0 is the root's; the others are overwritten; `position` (n + 1, 3): the same, m.
    """
    turn = np.empty((3, 3))
    frame = np.empty((3, 3))
    for k in range(len(tree.parent)):
        carrier = tree.parent[k]
        x, y, z = tree.axis[k, 0], tree.axis[k, 1], tree.axis[k, 2]
        if tree.sliding[k]:
            s, c = 0.0, 1.0
            along = joints[k]
        else:
            s, c = np.sin(joints[k]), np.cos(joints[k])
            along = 0.0
        # Rodrigues' formula.
        v = 1.0 - c
        turn[0, 0], turn[0, 1], turn[0, 2] = c + x * x * v, x * y * v - z * s, x * z * v + y * s
        turn[1, 0], turn[1, 1], turn[1, 2] = x * y * v + z * s, c + y * y * v, y * z * v - x * s
        turn[2, 0], turn[2, 1], turn[2, 2] = x * z * v - y * s, y * z * v + x * s, c + z * z * v
        for i in range(3):
            for j in range(3):
                frame[i, j] = (
                    rotation[carrier, i, 0] * tree.rotation[k, 0, j]
                    + rotation[carrier, i, 1] * tree.rotation[k, 1, j]
                    + rotation[carrier, i, 2] * tree.rotation[k, 2, j]
                )
        for i in range(3):
            position[k + 1, i] = (
                position[carrier, i]
                + rotation[carrier, i, 0] * tree.translation[k, 0]
                + rotation[carrier, i, 1] * tree.translation[k, 1]
                + rotation[carrier, i, 2] * tree.translation[k, 2]
                + along * (frame[i, 0] * x + frame[i, 1] * y + frame[i, 2] * z)
            )
            for j in range(3):
                rotation[k + 1, i, j] = (
                    frame[i, 0] * turn[0, j] + frame[i, 1] * turn[1, j] + frame[i, 2] * turn[2, j]
                )


@compiled_entry("tree.parent (n), path (T, 7 + n), rotation (T, n + 1, 3, 3), position (T, n + 1, 3)")
def place_path(tree: KinematicTree, path: Array, rotation: Array, position: Array) -> None:
    """Compute the pose of every body in the world in every frame of a motion.

    `tree`: kinematic tree of n joints; `path` (T, 7 + n): configurations: position (m), quaternion x y z w,
    joints (rad or m); `rotation` (T, n + 1, 3, 3): overwritten; `position` (T, n + 1, 3): overwritten, m.
    """
    for t in range(len(path)):
        for i in range(3):
            position[t, 0, i] = path[t, i]
        quaternion_to_matrix(path[t, 3], path[t, 4], path[t, 5], path[t, 6], rotation[t, 0])
        place_bodies(tree, path[t, 7:], rotation[t], position[t])


def ancestors(tree: KinematicTree) -> Array:
    """Matrix (n + 1, n): 1 where a joint moves a body, else 0."""
    n = len(tree.parent)
    moves = np.zeros((n + 1, n))
    for k in range(n):
        moves[k + 1] = moves[tree.parent[k]]
        moves[k + 1, k] = 1.0
    return moves


@compiled_entry(
    "tree.parent (n), joints (m), moves (P, m), rotation (T, n + 1, 3, 3), position (T, n + 1, 3), "
    "points (T, P, 3), jacobian (T, P, 3, 6 + m)"
)
def point_jacobians(
    tree: KinematicTree,
    joints: NDArray[np.int64],
    moves: Array,
    rotation: Array,
    position: Array,
    points: Array,
    jacobian: Array,
) -> None:
    """Derive points on bodies by the root's translation and rotation, in world axes, and by some joints.

    A point p changes by (p − o) of the root o as ω × (p − o), and by a × (p − o) of a joint with axis a
    through o. `tree`: kinematic tree of n joints; `joints` (m,) int; `moves` (P, m): 0 where a joint does not
    move a point; `rotation` (T, n + 1, 3, 3): rotations of the bodies, from `place_path`; `position` (T, n +
    1, 3): positions of the bodies, m; `points` (T, P, 3): positions of the points in the world, m; `jacobian`
    (T, P, 3, 6 + m): overwritten, m or m/rad.
    """
    jacobian[:] = 0.0
    for t in range(len(points)):
        for p in range(points.shape[1]):
            x, y, z = points[t, p] - position[t, 0]
            for i in range(3):
                jacobian[t, p, i, i] = 1.0
            jacobian[t, p, 0, 4], jacobian[t, p, 0, 5] = z, -y
            jacobian[t, p, 1, 3], jacobian[t, p, 1, 5] = -z, x
            jacobian[t, p, 2, 3], jacobian[t, p, 2, 4] = y, -x
        for c in range(len(joints)):
            k = joints[c]
            turn, origin = rotation[t, k + 1], position[t, k + 1]
            a = turn[:, 0] * tree.axis[k, 0] + turn[:, 1] * tree.axis[k, 1] + turn[:, 2] * tree.axis[k, 2]
            for p in range(points.shape[1]):
                if moves[p, c] == 0.0:
                    continue
                if tree.sliding[k]:
                    jacobian[t, p, :, 6 + c] = a
                    continue
                x, y, z = points[t, p] - origin
                jacobian[t, p, 0, 6 + c] = a[1] * z - a[2] * y
                jacobian[t, p, 1, 6 + c] = a[2] * x - a[0] * z
                jacobian[t, p, 2, 6 + c] = a[0] * y - a[1] * x


@compiled
def joint_axes(tree: KinematicTree, rotation: Array, position: Array, origin: Array, axes: Array) -> None:
    """Compute the unit twist of every joint: velocity at a point of the world, and angular velocity.

    `tree`: kinematic tree of n joints; `rotation` (n + 1, 3, 3): rotations of the bodies, from
    `place_bodies`; `position` (n + 1, 3): positions of the bodies, from `place_bodies`, m; `origin` (3,): the
    point, m, world; `axes` (n, 6): overwritten: velocity, then angular velocity.
    """
    for k in range(len(tree.parent)):
        for i in range(3):
            # A joint's own turn leaves its axis where it is.
            axes[k, 3 + i] = (
                rotation[k + 1, i, 0] * tree.axis[k, 0]
                + rotation[k + 1, i, 1] * tree.axis[k, 1]
                + rotation[k + 1, i, 2] * tree.axis[k, 2]
            )
        if tree.sliding[k]:
            for i in range(3):
                axes[k, i] = axes[k, 3 + i]
                axes[k, 3 + i] = 0.0
        else:
            x = position[k + 1, 0] - origin[0]
            y = position[k + 1, 1] - origin[1]
            z = position[k + 1, 2] - origin[2]
            axes[k, 0] = y * axes[k, 5] - z * axes[k, 4]
            axes[k, 1] = z * axes[k, 3] - x * axes[k, 5]
            axes[k, 2] = x * axes[k, 4] - y * axes[k, 3]
